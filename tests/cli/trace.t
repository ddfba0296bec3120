#!/usr/bin/perl
# trace.t - traces of slow links become scenarios and the other way round; runs become pictures.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use chrome_trace;
use cli;

sub import_of {
	my ($trace, @options) = @_;
	my $call = run_bench('trace', 'import', $trace, @options);
	ends_with_code($call, 0, 'a trace is imported');
	return file_of('imported.lua', $call->{out});
}

my $text = "10;1_2;0.030\n40;1_2;0.00\n60;0_1,2_3;0.045\n75;0_1,2_3;0.045,0.020\n90;;inf\n";
my $scenario = import_of(file_of('by_iteration.trace', $text), '--stage', 2);
my $dry = json_of(run_bench('sim', $scenario, '--dry-run', '--json'),
     'what was imported can be loaded');
is_deeply([sort map { "$_->{when}: $_->{what}" } @{ $dry->{timeline} }], [
	'iteration 10 to 39: link 1-2: +30 ms a message (occupancy)',
	'iteration 60 to 74: link 2-3: +45 ms a message (occupancy)',
	'iteration 60 to 89: link 0-1: +45 ms a message (occupancy)',
	'iteration 75 to 89: link 2-3: +20 ms a message (occupancy)',
	'iteration 90 on: stage 2: rail 0 down',
], 'and has the faults of the trace') or diag(explain($dry->{timeline}));
ends_with_code(run_bench('sim', $scenario, '--no-ops', '--quiet'), 0, 'it runs');

my $export = run_bench('trace', 'export', $scenario);
ends_with_code($export, 0, 'a scenario is exported');
like($export->{err}, qr/^next: .*trace import FILE\.trace --stage 2,/m,
     'with the stage that whoever imports it has to name');
my $back = import_of(file_of('back.trace', $export->{out}), '--stage', 2);
is(run_bench('trace', 'export', $back)->{out}, $export->{out},
     'import and export are each other\'s inverse');
like($export->{out}, qr/^10;1_2;0\.03\d*\n/, 'the first line is the first fault');

my $by_time = import_of(file_of('by_time.trace',
     "0.125;0_1,1_2;0.020,0.035\n0.310;0_1,1_2;0.020,0.000\n"));
my $timed = json_of(run_bench('sim', $by_time, '--dry-run', '--json'),
     'a trace by time can be loaded');
is_deeply([map { $_->{when} } @{ $timed->{timeline} }], ['from 125 ms to 310 ms', 'from 125 ms on'],
     'and has its faults') or diag(explain($timed->{timeline}));
says(run_bench('trace', 'export', $by_time), 2, qr/by time/,
     'faults by time are not written as a trace by iteration');
says(run_bench('trace', 'export', smoke()), 2, qr/slow.*cannot say/, 'nor is a slow stage');

says(run_bench('trace', 'export', scenario_of('healthy.lua')), 2, qr/has no faults/,
     'nor is a trace made of nothing');

says(run_bench('trace', 'import', home() . '/missing.trace'), 2, qr/missing\.trace/,
     'a trace that is not there');
my %wrong = (
	'numbers that do not increase' => "10;0_1;0.01\n10;0_1;0.02\n",
	'a link between strangers' => "10;0_3;0.01\n",
	'a negative delay' => "10;0_1;-0.01\n",
	'two kinds of first field' => "10;0_1;0.01\n11.5;0_1;0.02\n",
	'a stage beyond every pipeline' => "10;99998_99999;0.01\n",
	'noise' => join('', map { chr } 1 .. 255),
);
says(run_bench('trace', 'import', file_of('wrong.trace', $wrong{$_})), 2, qr/wrong\.trace/,
     "a trace with $_")
	for sort keys %wrong;

# --- A stored run as a Chrome trace.

sub decoded {
	my ($text) = @_;
	return eval { JSON::PP->new->utf8->decode($text) } || diag($@);
}

sub trace_of {
	my ($run, @options) = @_;
	my $path = home() . '/trace.json';
	my $call = run_bench('trace', 'export', $run, $path, @options);
	ends_with_code($call, 0, "run $run is exported (@options)");
	is($call->{out}, '', 'stdout stays empty');
	open my $file, '<', $path or return ({}, $call);
	local $/;
	return (decoded(<$file>) || {}, $call);
}

sub keeps_the_rules {
	my ($document, $name) = @_;
	my @complaints = complaints_about_trace($document);
	my $most = $#complaints < 9 ? $#complaints : 9;
	return ok(!@complaints, $name) || diag(join "\n", @complaints[0 .. $most]);
}

sub iterations_in {
	my ($document) = @_;
	my %seen = map { $_->{args}{iteration} => 1 } grep { $_->{cat} ne 'fault' } events_of($document, 'X');
	return join ' ', sort { $a <=> $b } keys %seen;
}

sub slices_of { my ($document, $cat) = @_; return grep { $_->{cat} eq $cat } events_of($document, 'X') }

my $database = home() . '/traced.db';
ends_with_code(run_bench('sim', smoke(), '--store', $database, '--quiet'), 0, 'there are runs to draw');
my @of_it = ('--store', $database);
for my $run (1 .. 3) {
	my ($all) = trace_of($run, @of_it, '--all');
	keeps_the_rules($all, "all of run $run keeps the rules of the format");
	is(iterations_in($all), join(' ', sort { $a <=> $b } split ' ', sql($database,
	   "SELECT DISTINCT iteration FROM iteration WHERE run = $run AND n_ops > 0")),
	   'and has every iteration');
	is(scalar(slices_of($all, 'compute')), sql($database, "SELECT count(*) FROM op WHERE run = $run"),
	   'and every op');
	is(scalar(events_of($all, 's')),
	   sql($database, "SELECT count(message_arrive_ns) FROM op WHERE run = $run"),
	   'and an arrow for every message');
}

my ($chosen, $call) = trace_of(3, @of_it);
keeps_the_rules($chosen, 'so does what is chosen');
is(iterations_in($chosen), '5 10 30 47', 'chosen are the first healthy one and the first of each fault');
like($call->{err}, qr/5 \(healthy\), 10 \(1-2: 25 ms\), 30 \(stage 3: [^)]*\), 47 \(RNIC/, 'which it says');
like($call->{err}, qr/next: adaptra-bench report 3 --store/, 'and what to type next');
my ($op) = grep { $_->{name} eq '2I5' && $_->{args}{iteration} == 10 } events_of($chosen, 'X');
is("$op->{pid}/$op->{tid} $op->{cat} $op->{args}{mb} $op->{args}{measured_by}", '2/0 compute 5 virtual',
   'an op is named as PyTorch does, in the lane of computation of its stage');
is(sprintf('%.3f %.3f', $op->{ts}, $op->{dur}), sql($database, "SELECT printf('%.3f %.3f', start_ns / 1e3,
   (end_ns - start_ns) / 1e3) FROM op WHERE run = 3 AND iteration = 10 AND stage = 2 AND kind = 'B'
   AND microbatch = 5"), 'and stands where the database has it');
is_deeply([sort { $a <=> $b } map { $_->{args}{peer} } grep { $_->{name} =~ /^2SEND/ } events_of($chosen, 'X')],
	[(1) x 32, (3) x 32], 'a stage sends to both neighbours');
my ($delegated) = trace_of(3, @of_it, '--iterations', '12');
my %lane = map { $_->{args}{name} => 1 } grep { $_->{name} eq 'thread_name' } events_of($delegated, 'M');
is_deeply([grep { !$lane{$_} } 'compute', 'send', 'recv', 'host/delegate', 'faults'], [], 'the lanes are named');
is_deeply([grep { $_->{name} =~ /SEND/ && $_->{tid} % 5 != 3 } events_of($delegated, 'X')], [],
	'what the delegates send is in their lanes');
ok($lane{'host/delegate 2'}, 'which are several when messages overlap');
is_deeply([map { "$_->{pid} $_->{name}" } slices_of($chosen, 'fault')],
	['1 1-2: 25 ms', '2 1-2: 25 ms', '3 stage 3: 1.5 times slower', '2 RNIC of stage 2 down'],
	'a fault is drawn once on each of its stages');
is_deeply([map { "$_->{s} $_->{name}" } grep { $_->{cat} eq 'fault' } events_of($chosen, 'i')],
	['g 1-2: 25 ms', 'g stage 3: 1.5 times slower', 'g RNIC of stage 2 down'],
	'and once across the picture');
# Under --messages the way of each message is there: smoke's dead RNIC sends adaptra's over the spare.
my $ways = home() . '/ways.db';
ends_with_code(run_bench('sim', smoke(), '--quiet', '--messages', '--schedule=adaptra', "--store=$ways"), 0,
	'a run with messages');
my ($failover) = sql($ways, "SELECT iteration FROM decision WHERE kind = 'failover'");
my $after = $failover + 1;
is(run_bench('trace', 'export', 1, home() . '/ways.json', "--store=$ways", '--quiet', "--iterations=0-$after")->{code},
	0, 'is exported');
open my $ways_file, '<', home() . '/ways.json' or die "ways.json: $!\n";
my $ways_document = JSON::PP::decode_json(do { local $/; <$ways_file> });
sub ways_of {
	my ($stage, $iteration) = @_;
	my %seen = map { join('/', $_->{args}{rail} // '-', $_->{args}{queue} // '-') => 1 }
		grep { $_->{name} =~ /^${stage}SEND/ && $_->{args}{iteration} == $iteration } events_of($ways_document, 'X');
	return join ' ', sort keys %seen;
}
is(ways_of(3, 0), '0/-', 'before, messages go through a channel over the first rail');
like(ways_of(3, $after), qr/^1\/\d( 1\/\d)*$/, 'afterwards through queues over the spare');
like(ways_of(0, $after), qr/^0\/\d( 0\/\d)*$/, 'but not where the RNIC is alive');

is((grep { $_->{name} eq 'failover' } events_of($chosen, 'i'))[0]{args}{plane}, 'delegate',
   'a decision is drawn');
is($chosen->{otherData}{schedule}, 'adaptra', 'the file says what it is of');

is(iterations_in((trace_of(1, @of_it, '--iterations', '12-14'))[0]), '12 13 14', 'a range is drawn');
is(iterations_in((trace_of(1, @of_it, '--iterations', '7'))[0]), '7', 'or a single iteration');
my ($twice) = trace_of(1, @of_it, '--iterations', '44');
is_deeply([sort map { "$_->{args}{attempt}" } grep { $_->{name} eq '0F0' } events_of($twice, 'X')], [0, 1],
	'an iteration that was repeated is drawn as often');
my $piped = run_bench('trace', 'export', 2, '-', @of_it, '--quiet');
keeps_the_rules(decoded($piped->{out}), 'a trace can go to stdout');
is($piped->{err}, '', 'quietly');

my $sized = scenario_of('sized.lua', workload => 'ab.workload { name = "sized", source = "made up",
	forward = "10ms", backward = "10ms", weight = "10ms", activation = "3MiB", memory = "30MiB", message = "1MiB",
	microbatches = 4, samples_per_microbatch = 1 }');
ends_with_code(run_bench('sim', $sized, '--store', home() . '/sized.db', '--quiet'), 0,
	'there is a run whose profile has sizes');
my ($with_sizes) = trace_of(1, '--store', home() . '/sized.db');
keeps_the_rules($with_sizes, 'its picture keeps the rules');
is_deeply([sort { $a <=> $b } keys %{ { map { $_->{args}{bytes} => 1 } grep { $_->{name} eq 'activation_bytes' }
	events_of($with_sizes, 'C') } }], [0, 3 << 20, 6 << 20], '1F1B holds two activations of 3 MiB at most');
is((grep { $_->{name} eq '0SEND_F1' } events_of($with_sizes, 'X'))[0]{args}{bytes}, 1 << 20,
   'and a message has its size');

says(run_bench('trace', 'export', 3, @of_it), 2, qr/trace export 3 FILE/, 'a run without a file to write');
says(run_bench('trace', 'export', 9, home() . '/x.json', @of_it), 2, qr/no run 9/, 'a run that is not there');
says(run_bench('trace', 'export', 1, home() . '/x.json', @of_it, '--iterations', $_), 2, qr/--iterations \Q$_\E:.*A-B/,
     "iterations '$_'") for '5-3', 'x', '1-', '-3', '1-2-3', '99999999999';
says(run_bench('trace', 'export', 1, home() . '/x.json', @of_it, '--iterations', '60-99'), 2,
     qr/no iteration.*60-99.*last is 59/, 'iterations that it has not');
says(run_bench('trace', 'export', 1, home() . '/x.json', @of_it, '--all', '--iterations', '1-2'), 2,
     qr/exclude/, 'all and some');
says(run_bench('trace', 'export', 1, home(), @of_it, '--quiet'), 2, qr/directory/, 'a folder is no file');
says(run_bench('trace', 'export', smoke(), home() . '/x.json'), 2, qr/has a number/, 'a scenario is not drawn');
says(run_bench('trace', 'export', smoke(), '--all'), 2, qr/RUN FILE/, 'nor has it an --all');
my $bare = home() . '/bare.db';
ends_with_code(run_bench('sim', smoke(), '--store', $bare, '--no-ops', '--quiet'), 0, 'there is a run without ops');
says(run_bench('trace', 'export', 1, home() . '/x.json', '--store', $bare), 2, qr/no operators.*--no-ops/,
     'it is refused');
ok(!-e home() . '/x.json', 'none of these left a file');
is(run_shell("\$BENCH trace export 1 /dev/full --store '$database' --quiet")->{code}, 3, 'a full disk is told');
is_deeply([glob(home() . '/*.tmp-*')], [], 'and nothing temporary is left');

# --- The checker sees what is wrong.

sub broken {
	my ($name, $want, $break) = @_;
	my $copy = decoded(JSON::PP->new->utf8->encode($chosen));
	$break->($copy);
	like(join("\n", complaints_about_trace($copy)), $want, "the checker sees $name");
}

sub first_of { my ($document, $phase) = @_; return (events_of($document, $phase))[0] }

broken('an empty list', qr/no event/, sub { @{ $_[0]{traceEvents} } = () });
broken('a partial overlap', qr/overlap/, sub { my ($x) = slices_of($_[0], 'compute'); $x->{dur} += 1 });
broken('a tail outside', qr/s 1 is in no slice/, sub { first_of($_[0], 's')->{ts} = 0 });
broken('a head on its slice\'s end', qr/f 1 is in no slice/, sub { first_of($_[0], 'f')->{ts} += 0.001 });
broken('an arrow back in time', qr/goes back/, sub { first_of($_[0], 's')->{ts} = first_of($_[0], 'f')->{ts} });
broken('an id twice', qr/id 2 has two s/, sub { first_of($_[0], 's')->{id} = 2 });
broken('a missing head', qr/s 1 has no f/, sub { first_of($_[0], 'f')->{id} = 1e6 });
broken('a missing field', qr/X without dur/, sub { delete first_of($_[0], 'X')->{dur} });
broken('a negative time', qr/negative ts/, sub { first_of($_[0], 'X')->{ts} = -1 });
broken('a time in quotes', qr/ts that is no number/, sub { first_of($_[0], 'X')->{ts} = '12' });
broken('a counter of words', qr/is no number/, sub { first_of($_[0], 'C')->{args}{mb} = 'two' });
broken('a nameless lane', qr/no thread_name/, sub {
	@{ $_[0]{traceEvents} } = grep { $_->{name} ne 'thread_name' } @{ $_[0]{traceEvents} } });
broken('a head that binds to the next slice', qr/f without bp/, sub { delete first_of($_[0], 'f')->{bp} });
done_testing();
