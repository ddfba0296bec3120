#!/usr/bin/perl
# import_record.t - what other programs' files say happened becomes a run like any other: it is
# reported, compared, exported, and there whole or not at all.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my $data = source_root() . '/tests/data';
my @zb = map { "$data/op_log/zb/GPU${_}_rank$_.log" } 0 .. 3;
my @one_f_one_b = map { "$data/op_log/1f1b/GPU${_}_rank$_.log" } 0 .. 3;
my $training = "$data/training_log/two_runs.log";
my $database = home() . '/adaptra-bench/results.db';

# --- What is no good leaves nothing behind, not even a database.

says(run_bench('import', $training, '--as', 'record'), 2, qr/without ops, of which no record can be made; --as table/,
     'a training log has no ops');
says(run_bench('import', @zb[0, 2, 3], '--as', 'record'), 2, qr/stage 1 is run by 0 ranks.*missing\?/, 'a rank is missing');
(my $cut = text_of($zb[3])) =~ s/\n[^\n]*\n\z/\n/;
says(run_bench('import', @zb[0 .. 2], file_of('GPU3_rank3.log', $cut), '--as', 'record'), 2,
     qr/GPU0_rank0\.log: /, 'an op is missing');
says(run_bench('import', @zb, '--as', 'record', '--out', home() . '/x'), 2, qr/--store names; --out is for/, 'a file');
says(run_bench('import', "$data/script/style.lua", '--as', 'record'), 2, qr/looks like nothing else/, 'something else');
ok(!-e $database && !-e home() . '/x', 'nothing was made of any of them');

# --- Operator logs: two runs of one pipeline, which compare.

my $made = run_bench('import', @zb, '--as', 'record');
ends_with_code($made, 0, 'operator logs become a run');
is($made->{out}, '', 'which goes to the database');
like($made->{err}, qr/^run 1: Imported from an operator log: iteration 6 of the source, counted from 0 here\..*the plane is not known\.$/m,
     'what a reader has to know is said');
like($made->{err}, qr/^next: adaptra-bench report$/m, 'and what shows it');
is(sql($database, 'SELECT mode, status, n_stages, n_replicas, n_microbatches, timer, n_iterations FROM run'),
   'imported|done|4|1|12|host|1', 'the run says what it is');
is(sql($database, 'SELECT count(*), min(start_ns), max(end_ns) FROM op'), '144|0|1392560000',
   'with every op, from the first start, 2.09 ms, to the last end, 1394.65 ms');
my $document = json_of(run_bench('report', '--json', '--quiet'), 'report shows it as any other');
is("$document->{mode} $document->{schedules}[0]{name} $document->{schedules}[0]{p50_ms}", 'imported imported 1392.56',
   'with its mode and its time');
like($document->{note}, qr/^Imported from an operator log/, 'and its note');
my $shares = $document->{schedules}[0];
cmp_ok(abs($shares->{compute_ms} + $shares->{wait_ms} - 1392.56), '<', 1e-6, 'shares add up to it');
like(run_bench('report')->{out}, qr/4\s+stages,\s+12\s+microbatches;\s+imported\s/, 'the terminal says so, too');
my $page = run_bench('report', '--html', '-', '--quiet')->{out};
like($page, qr/12 microbatches, imported from another program&#39;s files/,
     'and the page');
like($page, qr{<code>adaptra-bench import \S*GPU0_rank0\.log \S*GPU1_rank1\.log \S*GPU2_rank2\.log \S*GPU3_rank3\.log --as record</code>},
     'which names the command that makes it again');
unlike($page, qr/profile time|Times are those of the profile/, 'and no profile');

ends_with_code(run_bench('import', @one_f_one_b, '--as', 'record', '--quiet'), 0, '1F1B of the same');
my $both = json_of(run_bench('compare', 1, 2, '--json', '--quiet'), 'two of one pipeline compare');
is(join(' ', map { $_->{name} } @{ $both->{schedules} }), 'imported #1 imported #2', 'by their numbers');
like(run_bench('report', '--json', '--quiet')->{out}, qr/B is the whole backward\./, 'whole backwards are told');

# --- Its own export, to and fro.

my $scenario = scenario_of('own.lua', iterations => 5, workload => 'ab.profile "uniform-10ms" { microbatches = 3 }',
	faults => '{ ab.delay { at = ab.iter(3), link = "0-1", delay = "7ms" } }', schedules => '{ "1f1b" }');
ends_with_code(run_bench('sim', $scenario, '--quiet', '--messages'), 0, 'a run of its own');
ends_with_code(run_bench('trace', 'export', 3, home() . '/own.json', '--all', '--quiet'), 0, 'exported');
my $imported = run_bench('import', home() . '/own.json', '--as', 'record');
ends_with_code($imported, 0, 'and imported');
my $ops = 'SELECT group_concat(stage || kind || microbatch || "@" || (start_ns - (SELECT start_ns FROM iteration i ' .
	'WHERE i.run = o.run AND i.iteration = o.iteration)) || "-" || (end_ns - start_ns), " ") FROM (SELECT * FROM op ' .
	'WHERE run = %d ORDER BY iteration, stage, start_ns) o';
is(sql($database, sprintf $ops, 4), sql($database, sprintf $ops, 3), 'is op for op what it was');
my $messages = 'SELECT count(*), sum(arrive_ns - request_ns) FROM message WHERE run = %d';
is(sql($database, sprintf $messages, 4), sql($database, sprintf $messages, 3), 'and message for message');
says(run_bench('compare', 1, 4), 2, qr/workloads of runs 1 and 4 differ in stages 4 and 2, microbatches 12 and 3/,
     'another pipeline is not compared');
says(run_bench('compare', 3, 4), 2, qr/workloads of runs 3 and 4 differ in /, 'nor is one that says what ops should take');
ends_with_code(run_bench('compare', 3, 4, '--force', '--quiet'), 0, 'unless it has to be');
ends_with_code(run_bench('trace', 'export', 4, home() . '/again.json', '--all', '--quiet'), 0, 'exported again');
ends_with_code(run_bench('import', home() . '/again.json', '--as', 'record', '--quiet'), 0, 'and imported again');
is(sql($database, sprintf $ops, 5), sql($database, sprintf $ops, 3), 'it is still the same');
is(sql($database, 'SELECT workload_fingerprint FROM run WHERE run = 5'),
   sql($database, 'SELECT workload_fingerprint FROM run WHERE run = 4'), 'of the same workload');

# --- Logs to which a second run was appended.

my @twice = map { file_of("twice$_.log", text_of($zb[$_]) x 2) } 0 .. 3;
my $twice = run_bench('import', @twice, '--as', 'record', '--store', home() . '/twice.db');
ends_with_code($twice, 0, 'logs with two runs');
like($twice->{err}, qr/^next: adaptra-bench report 1 2 --store \S+$/m, 'become two');
is(sql(home() . '/twice.db', 'SELECT count(DISTINCT comparison) FROM run WHERE status = "done"'), 2, 'each for itself');
my $short = file_of('twice3.log', text_of($zb[3]));
says(run_bench('import', @twice[0 .. 2], $short, '--as', 'record', '--store', home() . '/none.db'), 2,
     qr/run 2 of the files: /, 'where the second lacks a rank');
ok(!-e home() . '/none.db', 'not even the first is stored');

# --- What the disk or the user stops.

is(run_shell("ulimit -f 8; \$BENCH import @zb --as record --store '" . home() . "/full.db' --quiet")->{code}, 3, 'a full disk');
done_testing();
