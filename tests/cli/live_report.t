#!/usr/bin/perl
# live_report.t - a live run is reported beside the simulated one, with its losses and facts.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my $database = home() . "/live.db";
# Slow enough for a program under sanitizers on a busy machine.
my $speed = speed(3);
my $call = run_bench('run', smoke(), '--iterations=12', "--speed=$speed", '--json', '--quiet', "--store=$database");
ends_with_code($call, 0, 'a live run');
my $live = JSON::PP::decode_json($call->{out});
is($live->{mode}, 'live', 'its mode is live');
is($live->{speed}, $speed, 'its speed is what was asked for');
is($live->{loss}{equal}, JSON::PP::true, 'all schedules have the same losses');
is($live->{loss}{compared}, 12, 'every iteration was compared');
ok($live->{loss}{last} < $live->{loss}{first}, 'the model learns');
is(scalar(grep { $_->{facts}{workers} == 2 && $_->{facts}{ops} > 0 } @{ $live->{schedules} }), 3,
	'every schedule has facts');
is(join(' ', map { $_->{name} } @{ $live->{simulated}{schedules} }), '1f1b zb adaptra',
	'every schedule is beside its simulation');
is(scalar(grep { defined $_->{total_error_ratio} } @{ $live->{simulated}{schedules} }), 3,
	'with the error of its total');
is(scalar @{ $live->{simulated}{events} }, scalar @{ $live->{events} },
	'every event is there');

is(sql($database, "SELECT count(*) = 3 * 12 * 2 * 3 * 8 AND min(rail) = 0 AND max(rail) = 0 AND min(bytes) > 0 " .
	"AND min(end_ns >= start_ns) AND min(arrive_ns >= start_ns) FROM message JOIN run USING (run) " .
	"WHERE mode = 'live'"), 1, 'every message is stored');
is(sql($database, "SELECT count(*) FROM message JOIN run USING (run) WHERE mode = 'sim'"), 0,
	'but not those beside it in virtual time');

my $report = json_of(run_bench('report', '--json', "--store=$database"), 'it is reported again');
is_deeply($report->{simulated}, $live->{simulated}, 'with the same beside it');
like(run_bench('report', '--columns=100', "--store=$database")->{out},
	qr/live,\s+${\ join '\s+', split ' ', pace($speed)}\s+\(device\s+paced,\s+transport\s+tcp,\s+injector\s+shaped\)/,
	'the title line says how it was run');

# Workers hold messages here: what those took is measured, and nobody has seen packets.
my ($link) = @{ $report->{links} };
is($link->{from_stage} . $link->{to_stage}, '12', 'the link that was slow has a row');
ok($link->{measured}{$_}{extra_p50_ms} >= $link->{asked}{delay_ms} * 0.99 && !defined $link->{measured}{$_}{packets} &&
	$link->{measured}{$_}{resent} >= 0, "$_: with what its messages took longer, and no packets")
	for qw(1f1b zb adaptra);
unlike(run_bench('report', "--store=$database")->{out}, qr/packets/, 'which the terminal does not mention');

sql($database, 'DELETE FROM run WHERE comparison IN (SELECT simulated FROM comparison)');
my $alone = json_of(run_bench('report', '--json', "--store=$database"),
	'without the simulated runs it is reported, too');
ok(!$alone->{simulated}, 'with nothing beside it');
# The model is too slow for that speed, which shows when the workers have started.
my $refused = home() . '/refused.db';
$call = run_bench('run', smoke(), '--iterations=3', '--speed=1000', '--quiet', '--columns=100',
	"--store=$refused");
ends_with_code($call, 4, 'a speed that is too high');
like($call->{err}, qr/zb failed: the model's own time for an op is .*; use --speed [\d.]+ or less/,
	'is refused');
like($call->{out}, qr/^No schedule came to an iteration\. .*^Database: /ms, 'and says so');
unlike($call->{out}, qr/^(?:schedule|Measured|iterations|total)\b/m, 'without tables of nothing');
is(sql($refused, "SELECT group_concat(DISTINCT facts_json) FROM run WHERE mode = 'live'"), '{}',
	'nor stored');

# Where nobody has named it, the scenario's speed is lowered to one that this machine holds.
my $hasty = scenario_of('hasty.lua', schedules => '{ "zb" }', live => '{ speed = 1000 }', iterations => 3);
$call = run_bench('run', $hasty, '--columns=100', "--store=$refused", '--json');
ends_with_code($call, 0, 'a scenario\'s speed that is too high');
my $lowered = JSON::PP::decode_json($call->{out});
like($call->{err}, qr/^the speed is lowered from 1000, the scenario's, to [\d.]+: /m, 'is lowered, as is said at once');
cmp_ok($lowered->{speed}, '<', 1000, 'the run had the lower one');
is($lowered->{schedules}[0]{facts}{lowered_from}, 1000, 'its facts say from what');
is(sql($refused, "SELECT json_extract(facts_json, '\$.lowered_from') FROM run WHERE mode = 'live' ORDER BY run DESC LIMIT 1"),
	'1000', 'and so does the record');
like(run_bench('report', '--columns=100', "--store=$refused")->{out},
	qr/^The scenario's speed is 1000, which was too much for this machine; it was lowered\.$/m, 'a report tells it');
ends_with_code(run_bench('run', $hasty, '--speed=1000', '--quiet', "--store=$refused"), 4, 'named, it is refused');
unlike(run_bench('run', $hasty, '--dry-run')->{err}, qr/lowered/, 'a dry run does not try it out');

# A variant that changes nothing takes what the simulation beside the live run takes, although the
# profile's messages are much larger than the live ones.
my $variants = file_of('variants.lua', <<'END');
local ab = require "adaptra"
local link = ab.option("link", "5us", "delay of a healthy link")
return ab.scenario {
   title = "Variants below a live run",
   topology = ab.pipeline { stages = 2, hosts = 2, link = { delay = link, rate = "1Gbit" } },
   workload = ab.workload {
      name = "large messages", microbatches = 4, samples_per_microbatch = 1, message = "1MiB",
      forward = { "10ms", "10ms" }, backward = { "10ms", "10ms" }, weight = { "10ms", "10ms" },
   },
   schedules = { "zb" },
   live = { speed = 3 },
   variants = { ab.variant { label = "the same", set = { link = "5us" } } },
   iterations = 3, warmup = 0, seed = 1,
}
END
my $both = json_of(run_bench('run', $variants, "--speed=$speed", '--json', '--quiet',
	"--store=$refused"), 'a live run with variants');
cmp_ok($both->{variants}[0]{total_s}{zb} // -1, '==', $both->{simulated}{schedules}[0]{total_s} // -2,
	'a variant has messages of the live run\'s size');

# A loss that is not what the others have must be found, whoever changed it.
sql($database, 'UPDATE iteration SET loss = loss + 1e-9 WHERE iteration = 7 AND run = ' .
	"(SELECT run FROM run WHERE mode = 'live' AND schedule = 'zb')");
like(run_bench('report', '--columns=100', "--store=$database")->{out},
	qr/Failed: the losses of iteration 7 differ: 1f1b gives \S+ and zb/, 'losses that differ are named');
done_testing();
