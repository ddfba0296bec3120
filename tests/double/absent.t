#!/usr/bin/perl
# absent.t - a build without CUDA has no trace of it, and says so where it is asked for.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../cli";
use Test::More;
use cli;

plan skip_all => 'CUDA is in this build; make check-without makes one without'
	if ($ENV{ADAPTRA_CFLAGS} || '') =~ /-DHAVE_(?:CUDA|NCCL)\b/;

my $program = $ENV{ADAPTRA_BENCH};
my @symbols = split /\n/, `nm '$program'`;
cmp_ok(scalar @symbols, '>', 1000, 'the program has symbols');
is_deeply([grep { /\b(?:cuda|cublas|nccl|cu[A-Z])\w*/ } @symbols], [], 'none of them is of CUDA');
unlike(`ldd '$program'`, qr/libcu|libnccl/, 'it needs no library of CUDA');
says(run_bench('run', smoke(), '--device', 'cuda'), 3,
     qr/device cuda is left out of this build; build where the CUDA toolkit is/, 'device cuda is refused');
like(run_bench('doctor')->{out}, qr/GPU +device cuda is left out of this build/, 'doctor says the same');
like(run_bench('doctor')->{out}, qr/exchanges +nccl is not in this build;/, 'and that NCCL is not there');
unlike(run_bench('list', 'devices')->{out}, qr/cuda/, 'and it is in no list');
done_testing();
