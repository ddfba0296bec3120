#!/usr/bin/perl
# present.t - tells when the tests of this folder are not in the build, so that it is never silent.
use strict;
use warnings;
use Test::More;

my $root = $ENV{ADAPTRA_SOURCE} || '.';
my $build = $ENV{ADAPTRA_BUILD} || "$root/build/release";
my $flags = $ENV{ADAPTRA_CFLAGS} || '';

plan skip_all => 'without libnl (apt-get install libnl-3-dev) nothing is tested over netlink'
	if $flags !~ /-DHAVE_NETLINK\b/;
ok(-e "$build/obj/injectors/netlink.o", 'what speaks netlink is in the build');
done_testing();
