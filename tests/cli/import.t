#!/usr/bin/perl
# import.t - other programs' files become profiles, tables, orders and scenarios that run at once.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my $data = source_root() . '/tests/data';
my @logs = map { "$data/op_log/zb/GPU${_}_rank$_.log" } 0 .. 3;
my $training = "$data/training_log/two_runs.log";

sub text_in { my ($path) = @_; open my $file, '<', $path or return; local $/; return scalar <$file> }

# --- A profile, and a simulation of it beside what was measured.

mkdir home() . '/profiles';
my $made = run_bench('import', @logs, '--as', 'profile', '--out', home() . '/profiles/mine.lua');
ends_with_code($made, 0, 'a profile is made of operator logs');
is($made->{out}, '', 'and written where it was asked for');
like($made->{err}, qr/^read 4 runs, .*: 48 FWD, 48 BWD_IN, 48 BWD_W$/m, 'what was read is told');
like($made->{err}, qr/^next: adaptra-bench sim FILE\.lua, for 4 stages .*"mine"/m, 'and what it is good for');
like(text_in(home() . '/profiles/mine.lua'), qr/^-- mine\.lua - .*stage 3: F .*\bmicrobatches = 12,\n}\n$/s,
     'with its spread in a comment');

my $order = home() . '/order.csv';
ends_with_code(run_bench('import', @logs, '--as', 'schedule', '--out', $order), 0, 'an order is made of the same logs');
my $own = file_of('own.lua', <<"END");
local ab = require "adaptra"
return ab.scenario {
   title = "Imported", topology = ab.pipeline { stages = 4, link = { delay = "1ms" } },
   workload = ab.profile "mine" {}, schedules = { "csv:$order", "1f1b", "adaptra" },
   iterations = 3, warmup = 1,
}
END
my $run = run_bench('sim', $own, '--json', '--quiet');
my ($first) = @{ json_of($run, 'a scenario with both runs at once')->{schedules} };
# The logged iteration ended 1379.81 ms after it began (the last W of stage 2).
cmp_ok(abs($first->{p50_ms} / 1379.81 - 1), '<', 0.05, 'and takes what was measured, within a twentieth');

# --- Traces of the PyTorch profiler: two ranks whose clocks are half a second apart.

sub trace_of {
	my ($rank, $ahead_us) = @_;
	my $event = sub { sprintf '{"ph":"X","cat":"gpu_user_annotation","name":"PP:%s","pid":%d,"tid":7,' .
		'"ts":%.3f,"dur":%.3f}', $_[0], $rank, $_[1] + $ahead_us - 0.001, $_[2] + 0.002 };
	my @events;

	for my $step (0 .. 3) {
		for my $mb (0 .. 2) {
			my $at = $step * 100_000 + $mb * 25_000;

			push @events, $rank == 0
				? ($event->("0F$mb", $at, 3000), $event->("0SEND_F$mb", $at + 3000, 1100),
				   $event->("0RECV_B$mb", $at + 4200, 5900), $event->("0B$mb", $at + 10_100, 6000))
				: ($event->("1RECV_F$mb", $at + 3500, 600), $event->("1F$mb", $at + 4100, 2000),
				   $event->("1B$mb", $at + 6100, 3500), $event->("1SEND_B$mb", $at + 9600, 500));
		}
	}
	return file_of("rank$rank.json", qq({"schemaVersion":1,"distributedInfo":{"rank":$rank},) .
		qq("baseTimeNanoseconds":1700000000000000000,"traceEvents":[\n) . join(",\n", @events) . "\n]}\n");
}

my @traces = (trace_of(0, 0), trace_of(1, 500_000));
my $profile = run_bench('import', @traces, '--as', 'profile', '--out', home() . '/profiles/traced.lua');
ends_with_code($profile, 0, 'a profile is made of traces');
like($profile->{err}, qr/^2 of 2 ranks are on one clock to within [\d.]+ \wm?s, by 24 messages$/m,
     'whose clocks are put on one');
like($profile->{err}, qr/^only whole backwards were measured: B and W are half of them each$/m,
     'whole backwards are told');
like(text_in(home() . '/profiles/traced.lua'),
     qr/forward +\= \{ "3\.000ms", "2\.000ms" \},\n +backward += \{ "3\.000ms", "1\.750ms" \}.*microbatches = 3,/s,
     'with the times of the device');
ends_with_code(run_bench('sim', scenario_of('traced.lua', workload => 'ab.profile "traced" {}'), '--quiet'), 0,
               'and runs at once');
my ($received) = run_bench('import', @traces, '--as', 'table', '--quiet')->{out} =~ /^([^\n]*1,1,RECV_F,0,[^\n]*)/m;
my @fields = split /,/, $received;
cmp_ok(abs($fields[7] - 3_500_000), '<', 1_000_000, 'a receive of the other rank is on the first one\'s clock');
like(run_bench('import', file_of('named', text_in($traces[0]) =~ s/PP:0(\w+?)(\d+)"/mb$2 $1"/gr), '--as', 'table',
	       '--names', '^mb(?<mb>[0-9]+) (?<kind>.+)$', '--words', 'zero-bubble', '--quiet')->{out}, qr/,0,0,BWD_IN,0,/,
     'other names are read by a pattern, and their B by whose it is');
is(run_bench('import', @traces, '--as', 'schedule', '--quiet')->{out}, "0F0,0B0,0F1,0B1,0F2,0B2\n1F0,1B0,1F1,1B1,1F2,1B2\n",
   'an order is made of traces, too');

# --- Compressed, from standard input, whatever the name.

system("gzip -c '$logs[3]' >'" . home() . "/packed'") == 0 or die;
is(run_bench('import', @logs[0 .. 2], home() . '/packed', '--as', 'schedule', '--quiet')->{out}, text_in($order),
   'a compressed file is as good');
is(run_shell("\$BENCH import @logs[0 .. 2] - --as schedule --quiet <'" . home() . "/packed'")->{out}, text_in($order),
   'so is standard input');

# --- What the program itself exported.

run_bench('sim', scenario_of('exported.lua', iterations => 5), '--store', home() . '/own.db', '--quiet');
run_bench('trace', 'export', 1, home() . '/run1.json', '--all', '--store', home() . '/own.db', '--quiet');
like(run_bench('import', home() . '/run1.json', '--as', 'profile', '--quiet')->{out},
     qr/forward +\= \{ "10\.000ms", "10\.000ms" \},\n.*weight +\= \{ "10\.000ms".*microbatches = 4,/s,
     'a trace of a run gives back its profile');
is(run_bench('import', home() . '/run1.json', '--as', 'schedule', '--quiet')->{out},
   "0F0,0F1,0I0,0W0,0F2,0I1,0W1,0F3,0I2,0W2,0I3,0W3\n1F0,1I0,1W0,1F1,1I1,1W1,1F2,1I2,1W2,1F3,1I3,1W3\n",
   'and its order');

# --- Tables.

my $table = run_bench('import', $training, '--as', 'table');
ends_with_code($table, 0, 'a training log becomes a table');
is(scalar(() = $table->{out} =~ /\n/g), 31, 'with a header and its thirty iterations');
like($table->{out}, qr/two_runs\.log#1,15,1,iteration,,,\d+,[01],30\n$/, 'the second run apart');
my $record = run_bench('import', @logs, '--as', 'table', '--out', home() . '/ops.csv');
is($record->{out}, '', 'a table can go to a file');
like(text_in(home() . '/ops.csv'), qr/^run,iteration,stage,rank,kind,mb,.*\n.*GPU0_rank0\.log,6,0,0,FWD,0,0,/, 'of ops');

my $timers = file_of('timers.log', join '', map { " iteration $_/ 9 | elapsed time per iteration (ms): 300 |\n" .
	"times across ranks (ms):\n  forward-compute:\n     rank  0: 40.0\n     rank  1: 44.4\n" .
	"  backward-compute:\n     rank  0: 80.0\n     rank  1: 81\n" } 1 .. 5);
my $timed = run_bench('import', $timers, '--as', 'profile', '--microbatches', 4, '--out', home() . '/profiles/timed.lua');
ends_with_code($timed, 0, 'timers of ranks make a profile once the microbatches are known');
like($timed->{err}, qr/^timers that stop the devices were on/m, 'which says that they took time themselves');
like(text_in(home() . '/profiles/timed.lua'), qr/forward +\= \{ "10\.000ms", "11\.100ms" \}/, 'with a part of each timer');
ends_with_code(run_bench('sim', scenario_of('timed.lua', workload => 'ab.profile "timed" {}'), '--quiet'), 0,
               'and runs at once');
says(run_bench('import', $timers, '--as', 'profile', '--quiet'), 2, qr/no forwards or backwards of any stage.*--microbatches/,
     'and are of no use without');

# --- Orders and faults.

my $dump = file_of('dump.txt', "0, F, 0, 10\n0, B, 30, 45\n0, W, 45, 50\n1, F, 10, 21\n1, B, 21, 30\n1, W, 30, 36\n");
like(run_bench('import', $dump, '--as', 'profile', '--quiet')->{out}, qr/backward +\= \{ "15\.000ms", "9\.000ms" \}/,
     "a simulator's dump has times");
is(run_bench('import', $dump, '--as', 'schedule', '--quiet')->{out}, "0F0,0I0,0W0\n1F0,1I0,1W0\n", 'and an order');
my $again = run_bench('import', $order, '--as', 'schedule', '--quiet');
is($again->{out}, text_in($order), 'an order stays what it is');
like(run_bench('import', $order, '--as', 'schedule', '--with-comms', '--quiet')->{out}, qr/,0SEND_F0,/,
     'with transfers where asked for');
my $faults = run_bench('import', source_root() . '/scenarios/traces/dynamic_50-100.trace', '--as', 'faults',
                       '--out', home() . '/faults.lua');
ends_with_code($faults, 0, 'a slow-link trace becomes a scenario');
ends_with_code(run_bench('sim', home() . '/faults.lua', '--iterations', 10, '--quiet'), 0, 'which runs');

sub dump_of {
	my ($rank, $first, $second) = @_;
	my @ops = map { qq({"record_id":$_->[0],"process_group":["1","pp"],"p2p_seq_id":$_->[0],) .
		qq("profiling_name":"nccl:$_->[1]","state":"$_->[2]"}) } [0, @$first], [1, @$second];
	return file_of("dump$rank", qq({"version":"2.10","entries":[) . join(',', @ops) .
		qq(],"pg_config":{"1":{"name":"1","ranks":"[0, 4, 8]"}}}));
}

my @dumps = (dump_of(0, ['send 0->1', 'completed'], ['recv 0<-1', 'started']),
             dump_of(1, ['recv 1<-0', 'completed'], ['send 1->2', 'started']),
             dump_of(2, ['recv 2<-1', 'scheduled'], ['send 2->1', 'scheduled']));
my $hang = run_bench('import', @dumps, '--as', 'faults', '--out', home() . '/hang.lua');
ends_with_code($hang, 0, 'dumps of a hang become a scenario');
like($hang->{err}, qr/^3 ranks wait for a message from rank 1 to rank 2, which both asked for/m, 'with what it hangs on');
like(text_in(home() . '/hang.lua'), qr/^-- 3 ranks wait .*stages = 3 .*ab\.down \{ at = ab\.iter\(10\), stage = 1 \}/s,
     'in which the sender loses its RNIC');
ends_with_code(run_bench('sim', home() . '/hang.lua', '--quiet'), 0, 'which runs');
says(run_bench('import', dump_of(0, ['send 0->1', 'completed'], ['send 0->1', 'started']),
               dump_of(1, ['recv 1<-0', 'completed'], ['send 1->0', 'started']), '--as', 'faults'), 2,
     qr/2 ranks wait in a circle: 0 for 1 for 0; their orders do not match/, 'a circle is no fault');

# --- A user who has seen enough.

# Signals are caught once the bit of SIGINT is set; until then there is nothing to stop.
my $stopped = run_shell("exec 3< <(printf x; exec sleep 10); writer=\$!; \$BENCH import - --as table <&3 --out '" . home() . "/stopped' &\n" .
	"until (( 0x\$(awk '/SigCgt/ { print \$2 }' /proc/\$!/status) & 2 )); do sleep 0.05; done\n" .
	"kill -INT \$!; wait \$!; code=\$?; kill \$writer; exit \$code");
ends_with_code($stopped, 130, 'an import waits for its input, and can be stopped');
like($stopped->{err}, qr/standard input: interrupted/, 'which is told');
ok(!-e home() . '/stopped', 'and leaves nothing');

# --- Mistakes, and hostile files: one sentence, and nothing is written.

my $kept = file_of('kept', "as it was\n");
my %bad = (
	'a cut file' => ['cut', sub { substr(`gzip -c '$logs[0]'`, 0, 200) }, qr/compressed data breaks off after 200 bytes/],
	'a deep document' => ['deep', sub { '{"schemaVersion":' . '[' x 1_000_000 }, qr/nested deeper than 64/],
	'a time that is none' => ['nan', sub { '[{"ph":"X","cat":"kernel","name":"k","ts":NaN,"dur":1}]' }, qr/NaN/],
	'a time that is negative' => ['negative', sub {
		'[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":-1}]' }, qr/negative duration/],
	'a key that is twice there' => ['twice', sub { '[{"ph":"X","ts":1,"ts":2}]' }, qr/twice/],
	'two units' => ['units', sub { text_in($logs[0]) =~ s/^((?:.*\n){9}.*?)\(ms\)/$1(us)/r }, qr/line 10: found/],
	'seconds' => ['seconds', sub { text_in($training) =~ s/\(ms\): 902/(s): 902/r }, qr/line 2: .*wanted it in \(ms\)/],
	'a pickle' => ['pickle', sub { "\x80\x04\x95\x00" }, qr/is a pickle/],
	'nothing' => ['empty', sub { '' }, qr/is empty/],
	'a log that says nothing' => ['hello', sub { "hello, world\n" }, qr/no line such as .*, and it looks like nothing else that is imported/],
);
for my $name (sort keys %bad) {
	my ($file, $make, $want) = @{ $bad{$name} };
	my $path = file_of($file, $make->());

	for my $as ('profile', 'table', 'record') {
		my $call = run_bench('import', $path, '--as', $as, '--out', $kept);

		says($call, 2, $want, "$name makes no $as");
		is(scalar(() = $call->{err} =~ /\n/g), 1, 'and is one sentence');
	}
}
is(text_in($kept), "as it was\n", 'nothing of it was written');
is_deeply([glob(home() . '/*.tmp-*')], [], 'and nothing temporary is left');

says(run_bench('import', $logs[0]), 2, qr/import needs --as: profile, record, table, schedule or faults/, 'no --as');
says(run_bench('import', $logs[0], '--as', 'profil'), 2, qr/did you mean 'profile'/, 'one that is near');
says(run_bench('import', $logs[0], '--as', 'x'), 2, qr/there are profile, record/, 'and one that is not');
says(run_bench('import', $traces[0], '--as', 'table', '--names', '(?<kind>.*'), 2, qr/names: no group \(\?<mb>/,
     'a pattern without microbatches');
says(run_bench('import', $traces[0], '--as', 'table', '--names', '(?<kind>.*)(?<mb>.*)', '--words', 'pytorhc'), 2,
     qr/did you mean 'pytorch'/, 'words of nobody');
says(run_bench('import', $traces[0], '--as', 'table', '--words', 'megatron'), 2, qr/--names, which is missing/,
     'words without a pattern');
says(run_bench('import', 'no/such', '--as', 'table'), 2, qr/cannot open 'no\/such'/, 'a file that is not there');
says(run_bench('import', $logs[0], $training, '--as', 'table'), 2, qr/is a training log, but .* is an operator log/,
     'two formats at once');
says(run_bench('import', @traces, file_of('again.json', text_in($traces[1])), '--as', 'profile'), 2,
     qr/rank1\.json and .*again\.json are both of rank 1 and of iteration 0/, 'a trace under two names');
says(run_bench('import', $logs[0], $logs[0], '--as', 'table'), 2, qr/is named twice/, 'a file twice');
says(run_bench('import', $order, file_of('other.csv', text_in($order)), '--as', 'schedule'), 2,
     qr/order\.csv: one file is a whole pipeline's; wanted no other/, 'two orders');
says(run_bench('import', $logs[1], '--as', 'profile'), 2, qr/stage 0 has no forwards.*rank's file missing/, 'a missing rank');
says(run_bench('import', $order, '--as', 'profile'), 2, qr/is a pipeline order, which does not say how long/,
     'an order has no times');
says(run_bench('import', $logs[0], '--as', 'faults'), 2, qr/which says nothing of faults/, 'a log has no faults');
is(run_shell("\$BENCH import @logs --as table --out /dev/full --quiet")->{code}, 3, 'a full disk is told');
done_testing();
