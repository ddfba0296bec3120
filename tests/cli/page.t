#!/usr/bin/perl
# page.t - report --html: where the page goes, and that it is there whole or not at all.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my $page = home() . '/page.html';

says(run_bench('report', '--html', $page), 2, qr/there are no results/, 'a page without results');
ends_with_code(run_bench('sim', smoke(), '--iterations=12', '--quiet'), 0, 'a run');
says(run_bench('report', '--html', $page, '--json'), 2, qr/--html and --json exclude each other/,
     'a page and a document at once');
ok(!-e $page, 'nothing was written so far');

my $call = run_bench('report', '--html', $page);
says($call, 0, qr/^the page is \Q$page\E; any browser opens it\nnext: adaptra-bench \S/, 'a page');
my $text = text_of($page);
like($text, qr{^<!DOCTYPE html>\n.*</html>\n\z}s, 'is there as a whole');
like($text, qr{<h1>Adaptra finishes the 12 iterations}, 'begins with the answer');
like($text, qr{adaptra-bench sim \S*scenarios/smoke\.lua --iterations 12 --seed 1 --repeat 1 --schedule 1f1b },
     'says how to make it again');
unlike($text, qr{<script|https?://(?!www\.w3\.org/2000/svg)}, 'has no script, and loads nothing');
is(run_bench('report', '--html', '-', '--quiet')->{out}, $text, '- is standard output');
ends_with_code(run_bench('report', 1, 3, '--html', $page), 0, 'a page of two runs');
isnt(text_of($page), $text, 'is another one');

ends_with_code(run_bench('sim', smoke(), '--iterations=12', '--quiet', '--seed=9'), 0, 'a run of another seed');
like(run_bench('report', 1, 3, 4, '--force', '--html', '-', '--quiet')->{out},
     qr{--seed 1 .*--schedule 1f1b --schedule adaptra\n.*--seed 9 .*--schedule 1f1b</code>},
     'each seed has a command of its own');
$text = text_of($page);
says(run_bench('report', 99, '--html', $page), 2, qr/there is no run 99/, 'a run that is not there');
is(text_of($page), $text, 'leaves the page as it was');
says(run_bench('report', '--html', home() . '/none/page.html'), 2, qr{/none/}, 'a folder that is not there');
ends_with_code(run_bench('report', '--html', '/dev/full'), 3, 'a full disk');
says(run_bench('list', 'runs', '--html', $page), 2, qr/list does not take --html/, 'no other command takes it');

my $bare = home() . '/bare.db';
ends_with_code(run_bench('sim', smoke(), '--iterations=12', '--no-ops', '--quiet', "--store=$bare"), 0, 'a run without ops');
ends_with_code(run_bench('report', '--html', $page, "--store=$bare"), 0, 'has a page as well');
unlike(text_of($page), qr/id="timelines"/, 'without timelines');
# --- Repeats and a control, whose numbers are the document's.

my $repeated = home() . '/repeated.db';
my $jittery = scenario_of('jitter.lua', iterations => 20, faults => '{ ab.delay { at = ab.iter(2), link = "0-1", ' .
	'delay = "20ms", jitter = "8ms", distribution = "uniform", model = "occupancy" } }');
my $document = json_of(run_bench('sim', $jittery, '--repeat', 6, '--control', '--json', '--quiet', '--no-ops',
                                 '--store', $repeated), 'six repeats with a control');
my $trust = run_bench('report', '--html', '-', '--quiet', '--store', $repeated)->{out};
my ($section) = $trust =~ m{<section id="repeats">(.*?)</section>}s;
my ($speedup) = grep { $_->{of} eq 'adaptra' } @{ $document->{speedups} };
cmp_ok($speedup->{steady_low}, '<', $speedup->{steady_high}, 'there is something to doubt');
my $row = sprintf '1f1b %.3f %.3f to %.3f %.3f to %.3f %.3f %.3f to %.3f 6',
	@$speedup{qw(steady_ratio steady_low steady_high steady_least steady_most ratio low high)};
(my $cells = $section) =~ s{</t[dh]>\n?<td[^>]*>}{ }g;
like($cells, qr{>\Q$row\E<}, 'speedups by median and by total with their intervals');
like($section, qr{Control: 1f1b beside itself is equal in all 6 pairs\.}, 'and what the control says');
like($section, qr{<line class="interval s0"}, 'and a picture of them');
unlike($text, qr{id="repeats"}, 'which a single run does not have');
done_testing();
