#!/usr/bin/perl
# live_losses.t - a live run in a lab whose link loses, reorders and has a bottleneck: the record says
# how much was lost, and training is as without.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../cli";
use Test::More;
use cli;

my $runtime = home() . '/runtime';
mkdir $runtime or die "$runtime: $!\n";
$ENV{XDG_RUNTIME_DIR} = $runtime;

my $scenario = file_of('losses.lua', <<'END');
local ab = require "adaptra"
local lossy = ab.option("lossy", true, "whether the link is as bad as that")
local at = ab.iter(1)
return ab.scenario {
   title = "A bad link",
   topology = ab.pipeline { stages = 3, hosts = 3, link = { delay = "5us" } },
   workload = ab.profile "uniform-10ms" { microbatches = 6, message = "128KiB" },
   schedules = { "1f1b", "zb-cpu" },
   live = { speed = 1, payload = "128KiB" },
   iterations = 5, warmup = 1, seed = 1,
   faults = lossy and {
      ab.loss { link = "1->2", loss = "2%", at = at },
      ab.delay { link = "1->2", delay = "5ms", jitter = "1ms", distribution = "normal", reordering = true, at = at },
      ab.rate { link = "1->2", rate = "1Gbit", at = at },
   } or {},
}
END

sub run_lab {
	my ($name, @options) = @_;
	return run_bench('run', $scenario, '--lab=netns', '--speed=' . speed(1), '--store=' . home() . "/$name.db", @options);
}

my $probe = run_lab('probe', '--dry-run', '--set=lossy=false');
plan skip_all => "no lab here: $probe->{err}" if $probe->{code} == 3;

my $bad = run_lab('bad');
plan skip_all => "nobody loses packets here: $bad->{err}" if $bad->{code} == 3;
ends_with_code($bad, 0, 'a run over a bad link');
like($bad->{err}, qr/injector relay: delays by relay, losses by relay, rates by relay/,
     'one injector has the whole direction, and one that lets packets overtake beside a rate');
like($bad->{err}, qr/nothing is simulated beside this run/, 'virtual time has nothing to say of it');
like($bad->{out}, qr/none\s+was\s+dropped,\s+\d+\s+lost\s+as\s+asked/, 'the report tells losses from what nobody asked for');
my @shares = split /\n/, sql(home() . '/bad.db', "SELECT lost / (lost + facts_json ->> '\$.packets') FROM " .
	"(SELECT (facts_json ->> '\$.lost') * 1.0 AS lost, facts_json FROM run)");
is(scalar @shares, 2, 'the record says of both schedules how much was lost');
ok((!grep { $_ < 0.007 || $_ > 0.05 } @shares), "which is about what was asked for: @shares");
is(sql(home() . '/bad.db', "SELECT sum(facts_json ->> '\$.lost') > 20, sum(facts_json ->> '\$.dropped') FROM run"),
   '1|0', 'and that nothing else was');


# Of each way, what was asked for beside what was measured; the same in the table that stores it.
my $document = json_of(run_bench('report', '--json', '--store', home() . '/bad.db'), 'reported again');
my @links = @{ $document->{links} };
is(scalar @links, 1, 'faults that are in force together are one row');
is_deeply($links[0]{asked}, { delay_ms => 5, delay_model => 'latency', jitter_ms => 1, loss_ratio => 0.02,
	rate_mbit_per_s => 1000 }, 'which has all that was asked for');
for my $schedule ('1f1b', 'zb-cpu') {
	my $measured = $links[0]{measured}{$schedule};
	my $share = $measured->{lost} / ($measured->{lost} + $measured->{packets});
	is($measured->{messages}, 24, "$schedule: of all messages of four iterations");
	cmp_ok($measured->{extra_p50_ms}, '>=', 3, "$schedule: what they took longer ($measured->{extra_p50_ms} ms)");
	cmp_ok($measured->{extra_p95_ms}, '>=', $measured->{extra_p50_ms}, "$schedule: and the slowest");
	ok($share > 0.007 && $share < 0.05, "$schedule: the share of packets lost ($share)");
	cmp_ok($measured->{resent}, '>=', $measured->{lost} / 2, "$schedule: and TCP sent as many again ($measured->{resent})");
	ok($measured->{goodput_mbit_per_s} > 0 && $measured->{goodput_mbit_per_s} < 1000,
	   "$schedule: so goodput is below the rate ($measured->{goodput_mbit_per_s} Mbit/s)");
	# The kernel's netem does not say how long it holds packets.
	my $held = $measured->{held_ms};
	ok(defined $held ? $held >= 4 : $bad->{err} =~ /injector netem/, "$schedule: the relay says how long it held them");
}
is(sql(home() . '/bad.db', 'SELECT count(DISTINCT n_packets || n_resent) FROM fault_applied'), 2,
   'faults of one way and time say the same');
like(run_bench('report', '--store', home() . '/bad.db', '--html', '-')->{out},
     qr{>1→2<.*\+5\.000 ms ± 1\.000 ms, 2 % lost, 1,000 Mbit/s}s, 'the page has it, too');

my $good = json_of(run_lab('good', '--json', '--set=lossy=false'), 'the same over a good one');
is_deeply($good->{links}, [], 'where no link has a fault nothing is measured');
is(join(' ', map { $_->{loss_digest} } @{ $document->{schedules} }), join(' ', map { $_->{loss_digest} } @{ $good->{schedules} }),
   'what was learned is bit for bit the same');

says(run_lab('no', '--quiet', '--injector=shaped'), 3, qr/injector shaped holds whole messages/,
     'who holds whole messages cannot lose packets, in a lab neither');
says(run_lab('no', '--quiet', '--injector=rate'), 3, qr/injector rate cannot do '2 % of packets lost on 1->2'; netem and relay do/,
     'nor can who limits a rate');
is(join(' ', glob "$runtime/adaptra-bench/*"), '', 'no journal is left');
done_testing();
