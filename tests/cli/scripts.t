#!/usr/bin/perl
# scripts.t - wrong, hostile and endless scripts: a sentence, exit code 2, and nothing has run.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

sub refused {
	my ($name, $text, $want) = @_;
	my $path = file_of('script.lua', $text);
	my $call = run_bench('sim', $path);

	says($call, 2, $want, $name);
	ok(!-e home() . '/adaptra-bench', 'and no database was made');
}

sub refused_scenario {
	my ($name, $want, %changes) = @_;
	my $call = run_bench('sim', scenario_of('script.lua', %changes));

	says($call, 2, $want, $name);
}

refused('a syntax error', "local ab = = 1\n", qr/script\.lua:1: .*near '='/);
refused('a runtime error', "\n\nlocal x = nil + 1\n", qr/script\.lua:3: .*nil/);
refused('an empty script', '', qr/must end with return ab\.scenario/);
refused('a script that returns a number', 'return 7', qr/must end with return ab\.scenario/);
refused('bytecode', "\x1bLua\x54\x00", qr/\S/);
refused('a script that reaches for the system', 'return os.execute("true")',
     qr/script\.lua:1: .*os/);
refused('a script that loads code', 'return load("return 1")()', qr/script\.lua:1: .*load/);
refused('a 10 GB string', 'local s = string.rep("x", 10 * 1024 * 1024 * 1024) return s',
        qr/memory|resulting string too large/);
refused('strings that double', 'local s = "x" while true do s = s .. s end', qr/memory/);

{
	local $ENV{ADAPTRA_SCRIPT_SECONDS} = '0.3';
	my $limit = qr/did not end within its time limit/;

	refused('an endless loop', 'while true do end', $limit);
	refused('an endless loop in a coroutine',
	        'while true do coroutine.wrap(function() while true do end end)() end', $limit);
	refused('an error that is always caught', 'while true do pcall(error) end', $limit);
	SKIP: {
		# It holds signals back until the program calls something that it knows.
		skip 'the thread sanitizer delivers no signal inside string.find', 2 if build() eq 'tsan';
		refused('a pattern that takes for ever',
		        'return string.find(string.rep("a", 5000), string.rep(".-", 20) .. "b")',
		        $limit);
	}
}

refused_scenario('no stages', qr/stages is .*0; it must be 1 to/,
     topology => 'ab.pipeline { stages = 0 }');
refused_scenario('no microbatches', qr/microbatches is .*0; it must be 1 to/,
                 workload => 'ab.profile "uniform-10ms" { microbatches = 0 }');
refused_scenario('no iterations', qr/iterations is .*0; it must be 1 to/, iterations => 0);
refused_scenario('a fraction of a stage', qr/stages is .*2\.5/,
     topology => 'ab.pipeline { stages = 2.5 }');
refused_scenario('a negative delay', qr/script\.lua:\d+: .*-30ms/,
                 faults => '{ ab.delay { link = "0-1", delay = "-30ms" } }');
refused_scenario('a fault before the start', qr/script\.lua:\d+: .*-5/,
                 faults => '{ ab.delay { at = ab.iter(-5), link = "0-1", delay = "30ms" } }');
refused_scenario('a number without a unit', qr/script\.lua:\d+: .*30/,
                 faults => '{ ab.delay { link = "0-1", delay = 30 } }');
refused_scenario('a link that is not there',
     qr/link "1-2" does not join neighbours in a pipeline of 2 stages/,
                 faults => '{ ab.delay { link = "1-2", delay = "30ms" } }');
refused_scenario('a schedule that is not there', qr/no schedule 'zbb'; did you mean 'zb'/,
                 schedules => '{ "1f1b", "zbb" }');
refused_scenario('faults that overlap', qr/already has a delay fault/,
                 faults => '{ ab.delay { link = "0-1", delay = "1ms" }, ' .
                           'ab.delay { link = "0-1", delay = "2ms" } }');
refused_scenario('a check that is not a function', qr/check "x" is/, checks => '{ x = 1 }');

my $many = run_bench('sim', scenario_of('many.lua', iterashuns => 3, warmup => '"x"',
                                        topology => 'ab.pipeline { stages = 0, hosst = 1 }'));
ends_with_code($many, 2, 'several mistakes are one exit code');
like($many->{err}, $_, "all mistakes are listed: $_")
	for qr/"iterashuns"; did you mean "iterations"/, qr/warmup is/, qr/stages is .*0; it must/,
	    qr/"hosst"; did you mean "hosts"/, qr/4 mistakes in '.*many\.lua'; nothing ran/;

my $slow = source_root() . '/scenarios/one_slow_link.lua';
says(run_bench('sim', $slow, '--set', 'dealy=3ms'), 2, qr/no option "dealy"; did you mean "delay"/,
     '--set of what the script does not declare');
says(run_bench('sim', $slow, '--set', 'delay'), 2, qr/--set delay: write --set NAME=VALUE/,
     '--set without a value');
says(run_bench('sim', $slow, '--set', 'delay=soon'), 2, qr/soon/, '--set of what is no duration');
says(run_bench('sim', $slow, '--set', 'delay=1ms', '--set', 'delay=2ms'), 2, qr/delay is set twice/,
     '--set twice');
says(run_bench('sim', smoke(), '--set', 'delay=1ms'), 2, qr/declares no options/,
     '--set for a script without options');
ends_with_code(run_bench('sim', $slow, '--set', 'delay=20ms', '--set=link=2-3', '--iterations=20',
     '--no-ops'), 0,
               '--set of two options');
my $departs = scenario_of('departs.lua', stream => '{ channel_order = "request" }');
ends_with_code(run_bench('sim', $departs, '--no-ops', '--quiet'), 0,
     'departures from the presets of the stream plane are simulated');
says(run_bench('run', $departs), 2,
     qr/1f1b departs from the presets of the stream plane, so it runs in virtual time only/,
     'and not run for real, where they would have no effect');

# What the documents show has to be what the program reads.
for my $document ('README.md', 'lua/README.md') {
	my @examples = text_of(source_root() . "/$document") =~ /^```lua\n(.*?)^```$/msg;

	ok(@examples > 0, "$document has examples");
	for my $i (0 .. $#examples) {
		my ($faults) = $examples[$i] =~ /^faults = (.*)/s;
		my $script = !$faults ? file_of('example.lua', $examples[$i])
			: scenario_of('example.lua', faults => $faults, iterations => 100,
				topology => 'ab.pipeline { stages = 4, hosts = 2 }',
				workload => 'ab.profile "uniform-10ms" { message = "4MiB" }');
		my $number = $i + 1;

		ends_with_code(run_bench('sim', $script, '--dry-run', '--quiet'), 0,
		               "example $number of $document loads");
	}
}

my $gone = file_of('gone.lua', <<'LUA');
local ab = require "adaptra"
local dies = ab.option("dies", "no", "whether the RNIC dies for good")
return ab.scenario {
   title = "Gone", topology = ab.pipeline { stages = 2, hosts = 2, rails = 1 },
   workload = ab.profile "uniform-10ms" { microbatches = 4 },
   schedules = { "1f1b" }, iterations = 10, warmup = 1,
   faults = dies == "yes" and { ab.down { at = ab.iter(5), stage = 1, permanent = true } } or {},
   variants = { ab.variant { label = "dead", set = { dies = "yes" } } },
}
LUA
my $partly = run_bench('sim', $gone, '--no-ops', '--quiet');
ends_with_code($partly, 0, 'a variant that cannot end leaves the comparison as it is');
like($partly->{err}, qr/^adaptra-bench: dead, 1f1b failed: stage 1 has no rail left/m,
     'and says why it has no total, even with --quiet');
ok(-e home() . '/adaptra-bench/results.db', 'and what ran is in the database');
done_testing();
