#!/usr/bin/perl
# plans.t - plans are shown, exported and read back.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my @base = ('--iterations=20', '--no-ops', '--quiet', '--json');

sub plan_of { return json_of(run_bench('plan', smoke(), '--json', @_),
     "plan @_ is one JSON document") }

my $plan = plan_of('--schedule=zb');
is(scalar @{ $plan->{stages} }, 4, 'a stage for each stage');
for my $stage (@{ $plan->{stages} }) {
	ok(exists $stage->{$_}, "stage $stage->{stage} has $_")
		for qw(stage warmup slack_to_next tolerated_delay_ms order);
	is(scalar(split ' ', $stage->{order}), 24,
		"stage $stage->{stage} has F, B and W of 8 microbatches");
}
ok(exists $plan->{$_}, "the plan has $_") for qw(makespan_ms bound_ms clamped);
is($plan->{bound_ms}, undef, 'there is no bound yet');

my $initial = plan_of('--schedule=adaptra');
my $adapted = plan_of('--schedule=adaptra', '--at=13');
isnt($adapted->{stages}[1]{warmup}, $initial->{stages}[1]{warmup},
     'adaptra changes its plan once the link is slow');
is_deeply(plan_of('--schedule=adaptra', '--at=5')->{stages}, $initial->{stages}, 'and not before');

my $shown = run_bench('plan', smoke(), '--schedule=hold');
ends_with_code($shown, 0, 'a plan as text');
like($shown->{out}, qr/warm-up/, 'shows the warm-up');

for my $schedule (qw(gpipe 1f1b zb hold)) {
	my $csv = home() . "/$schedule.csv";
	my $export = run_bench('plan', smoke(), "--schedule=$schedule", '--csv', $csv);

	ends_with_code($export, 0, "$schedule is exported");
	is(run_bench('plan', smoke(), "--schedule=$schedule", '--csv=-')->{out}, do { local (@ARGV,
		$/) = $csv; <> },
	   'to standard output the same');
	is(plan_of("--schedule=csv:$csv")->{makespan_ms},
		plan_of("--schedule=$schedule")->{makespan_ms},
	   "$schedule has the same makespan when it is read back");
}
ends_with_code(run_bench('plan', smoke(), '--schedule=zb', '--with-comms', '--csv', home()
     . '/comms.csv'), 0,
               'an export with sends and receives');
is(plan_of('--schedule=csv:' . home() . '/comms.csv')->{makespan_ms}, $plan->{makespan_ms},
   'is read back as the same order');

my $zb = json_of(run_bench('sim', smoke(), @base, '--schedule=zb', '--schedule=csv:' . home()
     . '/zb.csv'),
                 'a schedule beside its export');
is($zb->{schedules}[1]{total_s}, $zb->{schedules}[0]{total_s},
     'takes the same time to the nanosecond');

says(run_bench('plan', smoke(), '--schedule=zb', '--json', '--csv=-'), 2,
     qr/--json and --csv - both want standard output/, 'two documents on one stdout');
says(run_bench('plan', smoke(), '--schedule=zb', '--with-comms'), 2, qr/write --csv FILE/,
     'sends and receives without a CSV');

my $deadlock = file_of('deadlock.csv', "0F0,0I0,0W0,0F1,0I1,0W1\n1I0,1F0,1W0,1F1,1I1,1W1\n");
says(run_bench('sim', scenario_of('two.lua',
     workload => 'ab.profile "uniform-10ms" { microbatches = 2 }'),
               "--schedule=csv:$deadlock"), 2, qr/deadlock\.csv/, 'an order that cannot run');
ok(!-e home() . '/adaptra-bench/results.db' || !sql(home() . '/adaptra-bench/results.db',
	"SELECT count(*) FROM run WHERE schedule LIKE '%deadlock%'"), 'nothing of it ran');
says(run_bench('sim', smoke(), '--schedule=csv:' . file_of('short.csv', "0F0,0I0,0W0\n")), 2,
     qr/1 stages and 1 microbatches, the scenario has 4 and 8/, 'an order for another pipeline');
says(run_bench('sim', smoke(), '--schedule=csv:' . home() . '/missing.csv'), 2, qr/missing\.csv/,
     'an order from a file that is not there');
says(run_bench('sim', smoke(), '--schedule=csv:' . file_of('noise.csv', join '',
     map { chr } 0 .. 255)), 2,
     qr/noise\.csv/, 'an order that is noise');
says(run_bench('plan', smoke(), '--schedule=zb', '--csv', home() . '/no/such/folder/x.csv'), 2,
     qr/no\/such\/folder/, 'an export into a folder that is not there');
done_testing();
