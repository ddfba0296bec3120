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

my $good = json_of(run_lab('good', '--json', '--set=lossy=false'), 'the same over a good one');
my $document = json_of(run_bench('report', '--json', '--store', home() . '/bad.db'), 'reported again');
is(join(' ', map { $_->{loss_digest} } @{ $document->{schedules} }), join(' ', map { $_->{loss_digest} } @{ $good->{schedules} }),
   'what was learned is bit for bit the same');

says(run_lab('no', '--quiet', '--injector=shaped'), 3, qr/injector shaped holds whole messages/,
     'who holds whole messages cannot lose packets, in a lab neither');
says(run_lab('no', '--quiet', '--injector=rate'), 3, qr/injector rate cannot do '2 % of packets lost on 1->2'; netem and relay do/,
     'nor can who limits a rate');
is(join(' ', glob "$runtime/adaptra-bench/*"), '', 'no journal is left');
done_testing();
