#!/usr/bin/perl
# page.t - the pages of reports and figures in a browser, on a desk and on a phone: nothing is too wide, cut off or
# in the way, and the console stays silent.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin, "$FindBin::Bin/../cli";
use Test::More;
use browser;
use cli;

plan skip_all => 'chromium is not here; apt-get install chromium' if !has_browser();

# A simulated run of the smoke test, with every op.
sub simulated {
	my $database = home() . '/page.db';

	ends_with_code(run_bench('sim', smoke(), '--store', $database, '--quiet'), 0, 'smoke runs');
	return page_of($database);
}

sub page_of {
	my ($database) = @_;
	my $path = home() . '/page.html';

	ends_with_code(run_bench('report', '--store', $database, '--html', $path), 0,
	               'report writes a page');
	return text_of($path);
}

# Six repeats that differ, and a schedule beside itself.
sub repeated {
	my $database = home() . '/repeated.db';
	my $scenario = scenario_of('repeated.lua', iterations => 20, faults => '{ ab.delay { at = ab.iter(2), link = "0-1", ' .
		'delay = "20ms", jitter = "8ms", distribution = "uniform", model = "occupancy" } }');

	ends_with_code(run_bench('sim', $scenario, '--store', $database, '--quiet', '--no-ops', '--repeat', 6, '--control'),
	               0, 'repeats run');
	return page_of($database);
}

# Names and numbers as long as they come.
sub long_names {
	my $database = home() . '/long.db';
	my $csv = home() . '/' . 'a_very_long_name_of_an_order' x 5 . '.csv';
	my $scenario = scenario_of('long.lua',
		title => '"' . 'Supercalifragilisticexpialidocious' x 4 . ' <b>&amp;</b>"',
		topology => 'ab.pipeline { stages = 40 }', iterations => 3000,
		schedules => '{ "1f1b", "zb", "gpipe", "hold", "adaptra" }',
		faults => '{ ' . join(', ', map {
			my $at = 20 + 40 * $_;
			qq(ab.delay { at = ab.iter($at), lasts = ab.iter(9), link = "$_-@{[$_ + 1]}", ) .
			qq(delay = "7s", model = "latency" })
		} 0 .. 30) . ' }');

	ends_with_code(run_bench('sim', $scenario, '--store', $database, '--quiet', '--no-ops'), 0,
	               'a scenario of long names runs');
	return page_of($database);
}

# Every study of the paper.
sub figures {
	my $path = home() . '/figures.html';

	ends_with_code(run_bench('figures', '--html', $path, '--quiet'), 0, 'figures writes a page');
	return text_of($path);
}

my %pages = (
	'the figures' => [figures(), 13],
	'a simulated run' => [simulated(), 8],
	'repeats with a control' => [repeated(), 5],
	'a live run' => [text_of(source_root() . '/tests/golden/reports/page.html'), 5],
	'histories' => [text_of(source_root() . '/tests/golden/reports/history.html'), 13],
	'long names' => [long_names(), 3],
);

for my $name (sort keys %pages) {
	my ($page, $n_pictures) = @{ $pages{$name} };
	for my $width (1280, 390) {
		my $shown = shown_at($page, $width);
		is($shown->{width}, $width, "$name is shown at $width px");
		cmp_ok($shown->{scroll}, '<=', $width, 'nothing makes the page scroll sideways');
		is(join("\n", @{ $shown->{complaints} }), '', 'nothing is too wide, cut off or in the way');
		cmp_ok($shown->{pictures}, '>=', $n_pictures, 'the pictures are there');
		is($shown->{console}, '', 'the console says nothing');
	}
}

# What is looked for would be found.
my $page = $pages{'a live run'}[0];
(my $wide = $page) =~ s{<main>}{<main><div style="width:2000px">wide</div>};
my $shown = shown_at($wide, 390);
cmp_ok($shown->{scroll}, '>', 390, 'a wide element makes the page scroll');
like($shown->{complaints}[0], qr/too wide/, 'and is named');
(my $cut = $page) =~ s{</svg>\n</div>}{<text x="999" y="20">a long text</text></svg></div>};
like(join(' ', @{ shown_at($cut, 1280)->{complaints} }), qr/cut off: text/, 'a text that is cut off is found');
(my $loud = $page) =~ s{<main>}{<main><script>console.error('oh')</script>};
like(shown_at($loud, 390)->{console}, qr/oh/, 'an error on the console is found');
done_testing();
