#!/usr/bin/perl
# delegates.t - --delegates says where delegates work; the first line and the record say it, too, and
# losses do not depend on it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my $scenario = file_of('small.lua', <<'EOF');
local ab = require "adaptra"
return ab.scenario {
   title = "Small",
   topology = ab.pipeline { stages = 4, hosts = 2 },
   workload = ab.profile "uniform-10ms" { microbatches = 4 },
   schedules = { "zb", "zb-cpu" },
   iterations = 5, warmup = 0, seed = 1,
}
EOF
my %line = (
	threads => qr/; delegates in threads of their own, as asked for; /,
	loop => qr/; delegates in the workers' loops, as asked for; /,
	auto => qr/; delegates in (?:threads of their own|the workers' loops): \d+ cores for 2 workers, threads want 4; /,
);
my %digest;
for my $delegates (sort keys %line) {
	my $database = home() . "/$delegates.db";
	my $call = run_bench('run', $scenario, "--delegates=$delegates", '--device=cpu', '--json',
	                     "--store=$database");
	my $document = json_of($call, "--delegates $delegates runs");
	my ($first) = $call->{err} =~ /^(.*)$/m;
	like($first, $line{$delegates}, 'the first line says where delegates work');
	like(sql($database, "SELECT DISTINCT facts_json ->> '\$.delegates' FROM run WHERE mode = 'live'"),
	     qr/^in (?:threads of their own|the workers' loops)[:,] [^\n]+$/, 'and so does the record');
	$digest{$_->{loss_digest} // 'none'}++ for @{$document->{schedules}};
}
is(join(' ', values %digest), 6, 'all losses are the same') or diag(explain(\%digest));

# Whoever may use one core has none for threads.
my $call = run_shell("taskset -c 0 \"\$BENCH\" run $scenario --device=cpu --schedule=zb --iterations=1");
SKIP: {
	skip 'taskset is not here', 1 if $call->{code} == 127;
	like($call->{err}, qr/delegates in the workers' loops: 1 core for 2 workers, threads want 4;/,
	     'auto counts the cores that this process may use');
}
says(run_bench('run', $scenario, '--delegates=thread'), 2,
     qr/delegates are 'thread'; auto, threads and loop are possible/, 'a place that there is not');
says(run_bench('sim', $scenario, '--delegates=loop'), 2, qr/sim does not take --delegates/,
     'virtual time has no delegates to place');
done_testing();
