#!/usr/bin/perl
# live_trace.t - the trace in miniature on hosts of a lab, under each meaning of a slow link: two of its
# events and its dead RNIC, moved into a few iterations.
#
# How close totals are to those in virtual time is for tests/benchmark/lab_trace.sh to say, on a machine
# that does nothing else; here they are no shorter, and not out of proportion where others leave the
# machine to them.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../cli";
use Test::More;
use cli;

my ($N_TRIES, $SHORTER_MOST, $LONGER_MOST, $CROWDED_CORES, $LONGER_CROWDED) = (3, -0.05, 0.6, 0.4, 4);

my $runtime = home() . '/runtime';
mkdir $runtime or die "$runtime: $!\n";
$ENV{XDG_RUNTIME_DIR} = $runtime;

my $scenario = file_of('trace.lua', <<'END');
local ab = require "adaptra"
local model = ab.option("model", "latency", "what is slow")
return ab.scenario {
   title = "Two slow-link events and a dead RNIC, on four hosts",
   topology = ab.pipeline { stages = 4, hosts = 4, rails = 2, link = { delay = "5us" } },
   workload = ab.profile "uniform-10ms" { microbatches = 4 },
   schedules = { "1f1b", "zb", "adaptra" },
   live = { speed = 1, payload = "64KiB" },
   iterations = 8, warmup = 1, seed = 42,
   recovery = ab.recovery { checkpoint_every = 3, restart = "500ms" },
   faults = {
      ab.delay { at = ab.iter(1), lasts = ab.iter(2), link = "1-2", delay = "30ms", model = model },
      ab.delay { at = ab.iter(4), lasts = ab.iter(2), link = { "0-1", "2-3" }, delay = "40ms", model = model },
      ab.down { at = ab.iter(7), stage = 3 },
   },
}
END

sub run_lab {
	my ($database, @options) = @_;
	unlink glob "$database*";
	return run_bench('run', $scenario, '--lab=netns', '--speed=' . speed(1), "--store=$database", @options);
}

my $probe = run_lab(home() . '/probe.db', '--dry-run', '--injector=shaped');
plan skip_all => "no lab here: $probe->{err}" if $probe->{code} == 3;
my $delays = run_lab(home() . '/probe.db', '--dry-run', '--injector=netem')->{code} == 0 ? 'netem' : 'relay';

# Total and events of each schedule beside those in virtual time; a sentence that begins with "no: "
# where they are not what they should be. Other programs may have made anything last longer.
sub compare_times {
	my ($document, $is_last) = @_;
	my $simulated = $document->{simulated};
	my (@texts, $is_off);
	for my $i (0 .. $#{ $document->{schedules} }) {
		my ($name, $foreign) = ($document->{schedules}[$i]{name}, $document->{schedules}[$i]{facts}{foreign_cores});
		my $error = $simulated->{schedules}[$i]{total_error_ratio};
		my @live = map { $_->{p50_ms}{$name} } @{ $document->{events} }[0, 1];
		my @sim = map { $_->{p50_ms}{$name} } @{ $simulated->{events} }[0, 1];
		my $is_excused = $is_last && $foreign > $CROWDED_CORES;
		$is_off = 1 if $error < $SHORTER_MOST || $error > ($is_excused ? $LONGER_CROWDED : $LONGER_MOST);
		# Where one event is much worse than the other, it is so in real time.
		$is_off = 1 if $sim[1] > 1.2 * $sim[0] && $live[1] <= $live[0] && !$is_excused;
		push @texts, sprintf '%s %+.1f %%, events %.0f and %.0f ms (%.0f and %.0f), %.2f foreign cores',
			$name, 100 * $error, @live, @sim, $foreign;
	}
	return ($is_off ? 'no: ' : '') . join '; ', @texts;
}

my %digests;

sub check_model {
	my ($model, $injector) = @_;
	my $database = home() . "/$model.db";
	my $document;
	for my $try (1 .. $N_TRIES) {
		my $call = run_lab($database, '--json', "--set=model=$model");
		ends_with_code($call, 0, "$model: the trace runs in a lab") or return;
		$document = JSON::PP::decode_json($call->{out});
		like(($call->{err} =~ /^(.*)$/m)[0], qr/; lab netns; injector $injector: .*RNICs by link/,
		     "$model: the first line says who makes links slow, and who takes RNICs down");
		my $text = compare_times($document, $try == $N_TRIES);
		note("$model: $text");
		last if $text !~ /^no: /;
		is($text, 'yes', "$model: times are as in virtual time, at most longer") if $try == $N_TRIES;
	}
	$digests{ $_->{loss_digest} // 'none' }++ for @{ $document->{schedules} };
	is(join(' ', map { $_->{restarts} } @{ $document->{schedules} }), '1 1 0',
	   "$model: streams start again, delegates go over to the other rail");
	is(sql($database, "SELECT DISTINCT injector FROM run WHERE mode = 'live'"), $injector, "$model: the record names it");
	is(sql($database, "SELECT sum(facts_json ->> '\$.dropped') FROM run WHERE mode = 'live'"), 0, "$model: no packet was dropped");
	is(sql($database, "SELECT count(*) FROM fault_applied JOIN fault USING (run, fault) JOIN run USING (run) " .
		"WHERE mode = 'live' AND kind = 'down' AND detected_ns IS NOT NULL AND recovered_ns > applied_ns"), 3,
	   "$model: every schedule notices the dead RNIC, and gets over it");
}

check_model('latency', $delays);
check_model('rate', 'rate');
check_model('occupancy', 'shaped');
is(join(' ', values %digests), 9, 'losses are bit for bit the same under all of them') or diag(explain(\%digests));
is(join(' ', glob "$runtime/adaptra-bench/*"), '', 'no journal is left');
done_testing();
