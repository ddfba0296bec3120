#!/usr/bin/perl
# verbs.t - transport verbs over RDMA devices in software: the contract of all transports, and rails
# that die of their links and of lost packets.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use vm;

my $build = $ENV{ADAPTRA_BUILD} || source_root() . '/build/release';
my @programs = map { "$build/tests/unit/$_" }
	qw(transport_verbs transport_known transport_rails transport_processes transport_contract);

plan skip_all => missing_for_verbs() if missing_for_verbs();
plan skip_all => 'the guest is too slow for sanitizers' if ($ENV{ADAPTRA_VARIANT} || 'release') ne 'release';
chdir source_root() or die source_root() . ": $!\n";

# Rail r is pair r, on every link.
local @ENV{qw(ADAPTRA_TEST_TRANSPORT ADAPTRA_TEST_RDMA)} = ('verbs', 'rx{side}0,rx{side}1');
checks_in_guest(['-t', 500, '-m', 2048, '-M', 'sch_netem'], source_root() . '/tests/vm/three_pairs.sh',
                @programs);
done_testing();
