#!/usr/bin/perl
# netem.t - what faults do to packets, tested on a kernel that has netem.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use vm;

my $build = $ENV{ADAPTRA_BUILD} || source_root() . '/build/release';

# What a kernel has a say in. The relay is for those without netem; its taps are not loaded here.
my @programs = map { "$build/tests/net/$_" }
	qw(qdisc egress injector_contract paths lab interface undo kills netlink);

plan skip_all => 'without libnl (apt-get install libnl-3-dev) nothing is tested over netlink'
	if ($ENV{ADAPTRA_CFLAGS} || '-DHAVE_NETLINK') !~ /-DHAVE_NETLINK\b/;
checks_in_guest(["-t", 560], @programs);
done_testing();
