#!/usr/bin/perl
# verbs_live.t - live runs over RDMA devices in software: RNICs die, by the workers' doing and by their
# links', and losses are those of tcp.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use vm;

my $build = $ENV{ADAPTRA_BUILD} || source_root() . '/build/release';
my @programs = map { "$build/tests/unit/$_" }
	qw(replay_verbs replay_verbs_links);

plan skip_all => missing_for_verbs() if missing_for_verbs();
plan skip_all => 'the guest is too slow for sanitizers' if ($ENV{ADAPTRA_VARIANT} || 'release') ne 'release';
chdir source_root() or die source_root() . ": $!\n";

# Rail r is pair r, on every link, for those that do not name devices themselves.
local @ENV{qw(ADAPTRA_TEST_TRANSPORT ADAPTRA_TEST_RDMA)} = ('verbs', 'rx{side}0,rx{side}1');
checks_in_guest(['-t', 500, '-m', 2048, '-M', 'sch_netem'], source_root() . '/tests/vm/three_pairs.sh',
                @programs);
done_testing();
