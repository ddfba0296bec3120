#!/usr/bin/perl
# output.t - what a terminal, a pipe, a full disk and a closed descriptor get to see.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my $few = 'scenarios/smoke.lua --iterations 12 --no-ops';
my $piped = run_shell("\$BENCH sim $few");
ends_with_code($piped, 0, 'a run into files');
unlike($piped->{out} . $piped->{err}, qr/\e/, 'has no escape sequences');
unlike($piped->{out}, qr/[^\x00-\x7f]/, 'and nothing but ASCII in the C locale');
like($piped->{err}, qr/^\Q$_\E: done after 12 of 12 iterations, in \d/m,
     "a line says that $_ has run") for qw(1f1b zb adaptra);
my $quiet = run_shell("\$BENCH sim $few --quiet");
ends_with_code($quiet, 0, '--quiet runs');
is($quiet->{err}, '', 'with nothing on stderr');
for my $columns (60, 80, 120) {
	my $page = run_shell("\$BENCH sim $few --columns $columns")->{out};
	like($page, qr/^adaptra /m, "--columns $columns is a page");
	is(join("\n", grep { length > $columns } split /\n/, $page), '', 'and keeps to the width');
}

for my $call ('help', 'help trace', 'help compare', 'sim --help trace1200', 'list scenarios') {
	my $text = run_shell("COLUMNS=80 LC_ALL=C \$BENCH $call")->{out};
	my @long = grep { length > 80 } split /\n/, $text;
	is("@long", '', "$call fits into 80 columns");
	unlike($text, qr/[^\x00-\x7f]/, "$call is ASCII in the C locale");
}
my $validation = run_shell("COLUMNS=80 LC_ALL=C \$BENCH validate")->{out};
unlike($validation, qr/\d{4}\.\d|\d{5}|\d\.\d{4}/, 'validate shows four digits at most');
unlike($validation, qr/\.\.| $/m, 'and neither a title that is cut nor blanks at an end');
like(run_shell("LC_ALL=C \$BENCH compare")->{err}, qr/compare SCENARIO \| RUN RUN\.\.\.$/,
     'an ellipsis in a sentence, too');

SKIP: {
	skip 'no C.UTF-8 locale here', 1 if `locale -a 2>/dev/null` !~ /^C\.utf-?8$/mi;
	like(run_shell("LC_ALL=C.UTF-8 \$BENCH sim $few")->{out}, qr/[^\x00-\x7f]/,
		'a UTF-8 locale gets more than ASCII');
}

SKIP: {
	skip 'script(1) makes a terminal; it cannot here',
		11 if system('script -qec true /dev/null >/dev/null 2>&1 </dev/null') != 0;
	my $on_terminal = sub {
		my $page = run_shell("$_[0] script -qec \"\$BENCH $_[1]\" /dev/null")->{out};
		like($page, qr/adaptra finishes/i, "$_[0]: there is a page on the terminal");
		return $page;
	};

	like($on_terminal->('TERM=xterm', "sim $few"), qr/\e\[\d+m/, 'a terminal gets colours');
	unlike($on_terminal->('TERM=xterm NO_COLOR=1', "sim $few"), qr/\e\[\d+m/, 'NO_COLOR: no colours');
	unlike($on_terminal->('TERM=dumb', "sim $few"), qr/\e/,
		'a dumb terminal gets no escape sequences');
	unlike($on_terminal->('TERM=xterm', "sim $few"), qr/iteration \d+ of 12/,
		'no progress for what is over at once');
	my $order = home() . "/" . 'a' x 20 . "\e[31m.csv";
	run_bench('plan', 'scenarios/smoke.lua', '--schedule=1f1b', '--quiet', "--csv=$order");
	my $long = run_shell("export ORDER='$order'; TERM=xterm script -qec 'timeout --foreground -s " .
		"INT 2 \$BENCH sim scenarios/smoke.lua --iterations 10000000 --no-ops --columns 80 " .
	                     "--schedule=\"csv:\$ORDER\"' /dev/null");
	like($long->{out}, qr/\r\e\[Kcsv:.*\?\[31m\.csv: iteration \d+ of 10000000, .* left/,
		'progress for what takes longer than a second');
	my @shown = $long->{out} =~ /\r\e\[K(csv:.*? left)/g;
	is(join(' ', grep { length > 80 || /\e/ } @shown), '',
	   'on one line, without what a name could do to the terminal');
	my $n_shown = @shown;
	ok($n_shown > 0 && $n_shown <= 8, "at most four times a second ($n_shown)");
}

my $full = run_shell("\$BENCH sim $few > /dev/full");
ends_with_code($full, 4, 'a full disk behind stdout');
like($full->{err}, qr/cannot write the result to standard output: No space left/, 'is told');
is(sql(home() . '/adaptra-bench/results.db',
     'SELECT count(*) FROM run WHERE status = "done" AND comparison = ' .
	'(SELECT max(comparison) FROM run)'), 3, 'and every run is stored');
ends_with_code(run_shell("\$BENCH list schedules >&-"), 4, 'a closed stdout');
my $lone = home() . '/lone.db';
is(run_shell("\$BENCH sim scenarios/smoke.lua --iterations 10000000 --no-ops --store '$lone' 2>&- >&- & " .
	"while [ ! -e '$lone' ]; do sleep 0.1; done; readlink /proc/\$!/fd/1 /proc/\$!/fd/2; " .
	"kill -INT \$!; wait")->{out}, "/dev/null\n/dev/null\n",
   'no file takes the place of a closed stdout or stderr');
like(run_shell("\$BENCH list schedules | true; echo \${PIPESTATUS[0]}")->{out}, qr/^[04]$/m,
   'a reader that goes away is no crash');
is(join(' ', grep { length > 60 } split /\n/, run_shell("\$BENCH list runs --columns 60")->{out}), '',
   'a list of runs keeps to the columns');
is(run_shell("\$BENCH list schedules 2>/dev/full >/dev/null; echo \$?")->{out},
   "0\n", 'a full disk behind stderr changes nothing');
my $strange = run_shell("\$BENCH sim \$'/x\\e[2J.lua'");
like($strange->{err}, qr/\[2J\.lua/, 'a name with control characters is named');
unlike($strange->{err}, qr/\e/, 'but they are not passed on to the terminal');
for my $call ('list', 'list scenarios', 'list schedules', 'list profiles', 'list devices', 'list transports', 'list runs', 'doctor',
     'report --json',
              'report', "sim $few", "plan scenarios/smoke.lua --schedule zb") {
	my $result = run_shell("\$BENCH $call");
	like($result->{out} . $result->{err}, qr/^next: adaptra-bench \S/mi,
		"$call ends by naming the next command");
}
done_testing();
