#!/usr/bin/perl
# size.t - functions, files, headers and lines stay small enough to be read.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use lint;

my %limit = (function => 60, file => 500, header => 150, columns => 100);

# Name, line and number of lines (from brace to brace, as clang-tidy counts) of every function. A
# function is a brace at the top level behind a closing parenthesis.
sub functions_of {
	my ($code) = @_;
	my ($line, $depth, $head, $start, $name, @functions) = (1, 0, '', 0, '');

	while ($code =~ /(\n|[{};]|[^{};\n]+)/g) {
		my $piece = $1;
		if ($piece eq "\n") {
			$line++;
			$head .= ' ';
		} elsif ($piece eq '{') {
			if ($depth++ == 0) {
				($start, $name) = $head =~ /(\w+)\s*\(.*\)\s*$/ ? ($line, $1) : (0, '');
				$name = $1 if $head =~ /(\w+)\s*\((?!\()/;
			}
		} elsif ($piece eq '}') {
			if (--$depth == 0) {
				push @functions, [$name, $start, $line - $start] if $start;
				$head = '';
			}
		} elsif ($piece eq ';') {
			$head = '' if $depth == 0;
		} elsif ($depth == 0) {
			$head .= $piece;
		}
	}
	return @functions;
}

sub columns_of {
	my ($line) = @_;
	1 while $line =~ s/^([^\t]*)\t/$1 . ' ' x (8 - length($1) % 8)/e;
	return length $line;
}

sub complaints_of_file {
	my ($root, $path) = @_;
	my $text = text_of("$root/$path");
	my @lines = split /\n/, $text;
	my $most = $path =~ /\.h$/ ? $limit{header} : $limit{file};
	my @complaints;

	push @complaints, sprintf("%s: %d lines, the limit is %d", $path, scalar @lines, $most)
		if @lines > $most;
	for my $i (0 .. $#lines) {
		my $n = columns_of($lines[$i]);
		push @complaints, sprintf("%s:%d: %d columns, the limit is %d", $path, $i + 1, $n,
		                          $limit{columns}) if $n > $limit{columns};
	}
	for (functions_of(code_of($text))) {
		my ($name, $line, $n) = @$_;
		push @complaints, sprintf("%s:%d: %s() has %d lines, the limit is %d", $path, $line,
		                          $name, $n, $limit{function}) if $n > $limit{function};
	}
	return @complaints;
}

sub sizes {
	my ($root) = @_;
	return map { complaints_of_file($root, $_) }
		grep { m{^(?:engine|injectors|reports)/.*\.(?:c|h|cu|S)$} } files_of($root);
}

# A function of n lines between its braces, with all that could confuse counting them.
sub function_of {
	my ($n) = @_;
	return "static int\nlong_one(int a, int (*f)(void))\n{\n" .
		qq(\tputs("}{");\n\tint c = '{'; /* } */\n) . "\tif (c) { c++; }\n" x ($n - 2) . "}\n";
}

holds('functions, files, headers and lines keep their limits', sizes(source_root()));

my $table = "static struct x y[] = {\n" . "\t{1, 2},\n" x 70 . "};\n";
fails('a function of 61 lines', qr{^engine/base/a\.c:3: long_one\(\) has 61 lines},
      sizes(tree_of('engine/base/a.c' => function_of(60))));
fails('a long function behind short ones and macros', qr{long_one\(\) has 62 lines},
      sizes(tree_of('injectors/a.c' => function_of(20) . "#define M(x) { \\\n{\n$table" .
                    "int other(void) __attribute__((unused));\n" . function_of(61))));
fails('a file of 501 lines', qr{^reports/a\.c: 501 lines}, sizes(tree_of('reports/a.c' => "\n" x 500 . "int x;\n")));
fails('a header of 151 lines', qr{^engine/sim/a\.h: 151 lines},
      sizes(tree_of('engine/sim/a.h' => "int x;\n" x 151)));
fails('a line of 101 columns', qr{:2: 101 columns},
      sizes(tree_of('engine/sim/a.c' => "\n\t" . 'x' x 93 . "\n")));
is_deeply([sizes(tree_of(
	'engine/sim/a.c' => function_of(59) . $table . "/* " . "\x{c2}\x{b5}" x 97 . "\n*/\n",
	'engine/sim/a.h' => "int x;\n" x 150,
))], [], 'a tree that keeps the limits passes');
done_testing();
