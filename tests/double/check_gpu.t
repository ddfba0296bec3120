#!/usr/bin/perl
# check_gpu.t - the script that checks a GPU is whole: all of it but the hardware runs over the double.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../cli";
use Test::More;
use cli;

plan skip_all => 'without the CUDA toolkit there is nothing to try'
	if ($ENV{ADAPTRA_CFLAGS} || '') !~ /-DHAVE_CUDA\b/;
plan skip_all => 'the script is checked once, in the release build' if build() ne 'release';

my $script = source_root() . '/tests/gpu/check.sh';
my $folder = home() . '/gpu';
$ENV{GPU_CHECK_FOLDER} = $folder;
$ENV{GPU_CHECK_STAGES} = 8;
$ENV{GPU_CHECK_ITERATIONS} = 3;

SKIP: {
	skip 'shellcheck is not here', 1 if system('command -v shellcheck >/dev/null') != 0;
	is(`shellcheck '$script'`, '', 'shellcheck has nothing to say');
}
$ENV{CUDA_DOUBLE_GPUS} = 4;
my $run = run_shell("'$script' --double");
ends_with_code($run, 0, 'every check holds');
my $results = json_of({ code => $run->{code}, out => text_of("$folder/check.json") }, 'it writes JSON');
ok($results->{is_double}, 'which says that this was no GPU');
like($results->{gpu}, qr/^NOT A GPU: .*CUDA_DEVICE_MAX_CONNECTIONS=32$/, 'as does its name');
ok(exists $results->{$_} && !defined $results->{$_}, "nothing that was measured is in it: $_")
	for 'measured', 'exchanges';
is($results->{failed}, 0, 'no check has failed');
my %verdicts = map { ($_->{name} => $_->{verdict}) } @{ $results->{checks} };
is($verdicts{$_}, 'held', "$_: held")
	for 'contract of devices', 'copies of data planes', 'losses against the CPU',
	    '8 stages', '8 stages, a link 30 ms slower', '4 stages, a dead RNIC', '4 stages, as fast as the GPU is',
	    'contract of exchanges', map { "stages on GPUs of their own$_" } '', ', a link 30 ms slower', ', a dead RNIC';
is(sql("$folder/run.db", q(SELECT min(n) > 0 FROM (SELECT sum(late_ns > 0) AS n FROM run JOIN op USING (run)
   WHERE device = 'paced-cuda' GROUP BY run))), 1, 'how late ops were seen is in the record of every run');
is($verdicts{$_}, 'not run', "$_: not run, and named so")
	for 'exchanges between GPUs', 'compute-sanitizer memcheck';
like(text_of("$folder/check.txt"), qr/^NOT A GPU: .*^8 stages +held/ms, 'the text says the same');

$ENV{CUDA_DOUBLE_GPUS} = 0;
says(run_shell("'$script' --double"), 3, qr/check\.sh: no GPU can be used/, 'without a GPU it ends with 3');
delete $ENV{CUDA_DOUBLE_GPUS};
$ENV{CUDA_DOUBLE_FAIL} = 'cublasSgemm:20';
$ENV{GPU_CHECK_STAGES} = '';
is(run_shell("'$script' --double")->{code}, 1, 'when a check fails it ends with 1');
like(text_of("$folder/check.txt"), qr/^exchanges between GPUs +not run +it needs more than one GPU$/m,
     'of one GPU there is nothing to exchange');
like(text_of("$folder/check.txt"), qr/^stages on GPUs of their own +not run +it needs a GPU for each of 4 stages, and there are 1$/m,
     'nor for stages to have of their own');
like(text_of("$folder/check.json"), qr/"verdict": "failed", "text": ".*the GPU cannot multiply matrices/,
     'and says why');
done_testing();
