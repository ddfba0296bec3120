#!/usr/bin/perl
# figures.t - the page of the published studies: there whole or not at all, and every bar is what sim
# says when it is asked with the command that stands below it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my $page = home() . '/figures.html';
my $call = run_bench('figures', '--html', $page);
says($call, 0, qr/^the page is \Q$page\E; any browser opens it\nnext: adaptra-bench \S/m, 'a page');
my $text = text_of($page);
like($text, qr{^<!DOCTYPE html>\n.*</html>\n\z}s, 'is there as a whole');
unlike($text, qr{<script|https?://(?!www\.w3\.org/2000/svg)}, 'has no script, and loads nothing');
ok(!-e home() . '/adaptra-bench/results.db', 'and leaves nothing among the user\'s results');

my %sections = $text =~ m{<section id="(\w+)">(.*?)</section>}gs;
is(join(' ', sort keys %sections), 'delay domino dynamic multiple overhead single slackness trace',
   'with every study');

# A number as these pages show it, where there is one of a thousand and more in every figure.
sub shown {
	my $text = sprintf '%.0f', $_[0];
	1 while $text =~ s/^(\d+)(\d{3})/$1,$2/;
	return $text;
}

# The numbers at the bars of a section's picture for a desk, in its order.
sub bars_of {
	my ($section) = @_;
	my @bars;
	for my $picture ($sections{$section} =~ m{<div class="wide">(.*?)</div>}gs) {
		push @bars, $picture =~ m{<rect class="bar s\d"[^>]*/>\n<text class="end"[^>]*>([\d,.]+)</text>}g;
	}
	return @bars;
}

sub documents_of {
	my ($section) = @_;
	my ($commands) = $sections{$section} =~ m{<pre[^>]*><code>(.*?)</code>}s;
	return map { json_of(run_bench((split / /)[1 .. tr/ //], '--json', '--quiet', '--no-ops'), $_) }
		grep { length } split /\n/, $commands;
}

# By the first, or every, event; or by the schedules themselves.
sub medians {
	my ($document, $event) = @_;
	my @names = map { $_->{name} } @{ $document->{schedules} };
	return map { $_->{p50_ms} } @{ $document->{schedules} } if !defined $event;
	return map { $document->{events}[$event]{p50_ms}{$_} } @names;
}

my %wanted = (
	delay => sub { map { medians($_, 0) } @_ },
	single => sub { map { medians($_, 0) } @_ },
	multiple => sub { map { medians($_[0], $_) } 0 .. 2 },
	dynamic => sub { map { medians($_) } @_ },
	overhead => sub { map { medians($_) } @_ },
);
for my $section (sort keys %wanted) {
	my @numbers = $wanted{$section}->(documents_of($section));
	is(join(' ', bars_of($section)), join(' ', map { shown($_) } @numbers), "$section: every bar is sim's number");
}

my ($slackness) = documents_of('slackness');
is(join(' ', bars_of('slackness')),
   join(' ', map { my $e = $_; map { $slackness->{events}[$e]{p50_ms}{$_} - 910 } qw(adaptra-static hold adaptra) } 0 .. 6),
   'slackness: every bar is what sim has above a healthy iteration of 910 ms');
my @domino = documents_of('domino');
pop @domino;
is(join(' ', bars_of('domino')),
   join(' ', map { my $d = $_; map { $d->{events}[0]{p50_ms}{$_->{name}} - $_->{p50_ms} } @{ $d->{schedules} } } @domino),
   'domino: every bar is what sim has above a healthy iteration');
my ($trace) = documents_of('trace');
my @trace = bars_of('trace');
is(join(' ', @trace[3 .. $#trace]), join(' ', map { shown($_) } map { medians($trace, $_) } 0 .. 8),
   'trace: every bar is sim\'s number');
like($sections{delay}, qr{measured 1,581: ms, run 12 of summary\.csv}, 'a mark says where it is from');
like($sections{delay}, qr{per ms of delay, by so many ms \(measured\): 1f1b 25\.0 \(25\.0\), zb \d+\.\d \(45\.2\)},
     'growth stands beside what was measured');
like($sections{domino}, qr{ late: 1f1b \d+, zb \d+, adaptra-static \d+, hold \d+\.}, 'late ops are counted');

# --- Where it goes.

ends_with_code(run_bench('figures', '--quiet'), 0, 'without a name');
is(text_of(home() . '/adaptra-bench/figures.html'), $text, 'the page is beside the database, and the same');
says(run_bench('figures', '--html', home() . '/none/page.html'), 2, qr{/none/}, 'a folder that is not there');
ends_with_code(run_shell('$BENCH figures --html - --quiet >/dev/full'), 3, 'a full disk');
says(run_bench('figures', 'delay'), 2, qr/figures takes no arguments/, 'a word');
done_testing();
