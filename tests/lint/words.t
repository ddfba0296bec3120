#!/usr/bin/perl
# words.t - files say what they are, notes say what would settle them, comments name files that
# there are, no path is of one machine.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use lint;

my $note = join '|', 'TO' . 'DO', 'FIX' . 'ME', 'X' . 'XX';
my $workplace = qr~(?<![\w.\-}/])/(?:work|root|home|Users)/\w~;

sub text_files_of {
	my ($root) = @_;
	return grep { -T "$root/$_" && -s "$root/$_" < 1_000_000 } files_of($root);
}

# A note needs a few words on what would settle it.
sub notes {
	my ($root) = @_;
	return matching($root, qr/\b(?:$note)\b(?!\W+\w+\W+\w+\W+\w+)/,
	                'a note without what would settle it');
}

sub machine_paths {
	my ($root) = @_;
	return matching($root, $workplace, 'a path of one machine');
}

sub matching {
	my ($root, $pattern, $why) = @_;
	my @complaints;

	for my $path (text_files_of($root)) {
		my $line = 0;
		for (split /\n/, text_of("$root/$path")) {
			$line++;
			push @complaints, "$path:$line: $why" if $_ =~ $pattern;
		}
	}
	return @complaints;
}

# How a file opens: the mark of its comment, its own name, a dash and its job.
sub opening_of {
	my ($path) = @_;
	my ($name) = $path =~ m{([^/]+)$};

	return qr{^/\* \Q$name\E - \S} if $path =~ /\.(?:c|h|cu|S)$/;
	return qr{^-- \Q$name\E - \S} if $path =~ /\.sql$/ || $path =~ m{^lua/.*\.lua$};
	return qr{^(?:#!.*\n)?# \Q$name\E - \S} if $path =~ /\.(?:sh|t|pm)$/ || $name eq 'Makefile';
	return;
}

sub openings {
	my ($root) = @_;
	my @complaints;

	for my $path (text_files_of($root)) {
		my $opening = opening_of($path);
		push @complaints, "$path:1: does not open with its name, ' - ' and its job"
			if $opening && text_of("$root/$path") !~ $opening;
	}
	return @complaints;
}

# What a file is called may change; what others say of it has to change with it.
sub strange_names {
	my ($root) = @_;
	my %is_there = map { (m{([^/]+)$} => 1) } files_of($root);
	my @complaints;

	for my $path (grep { /\.(?:c|h|cu)$/ } text_files_of($root)) {
		my $text = text_of("$root/$path");

		while ($text =~ m{/\*.*?\*/}gs) {
			my ($comment, $at) = ($&, $-[0]);
			my $line = 1 + (substr($text, 0, $at) =~ tr/\n//);

			push @complaints, map { "$path:$line: names $_, which there is not" }
				grep { !$is_there{$_} } $comment =~ /\b([a-z]\w*\.(?:c|h|cu))\b/g;
		}
	}
	return @complaints;
}

my $root = source_root();
holds('every note says what would settle it', notes($root));
holds('no file names a path of one machine', machine_paths($root));
holds('every file opens with its name and its job', openings($root));
holds('comments name files that there are', strange_names($root));

my ($todo, $place) = ('TO' . 'DO', '/wo' . 'rk');
fails('a bare note', qr{^a\.c:2: a note}, notes(tree_of('a.c' => "\n/* $todo: later */\n")));
fails('a workplace', qr{^a\.md:1: a path}, machine_paths(tree_of('a.md' => "see $place/main\n")));
fails('a nameless file', qr{^engine/base/a\.c:1: does not open},
      openings(tree_of('engine/base/a.c' => "/* b.c - another file. */\n")));
fails('a nameless script', qr{^tests/x\.sh:1: does not open},
      openings(tree_of('tests/x.sh' => "#!/bin/sh\necho\n")));
fails('a file that is gone', qr{^a\.c:2: names b\.c, which there is not},
      strange_names(tree_of('a.c' => "/* a.c - does it. */\n/* As b.c does. */\n")));
is_deeply([map { $_->(tree_of(
	'a.c' => "/* a.c - does it. */\n/* $todo when the kernel has netem, use it. */\n",
	'b.sh' => "#!/bin/sh\n# b.sh - does it.\ncd some$place/here\n",
)) } \&notes, \&machine_paths, \&openings, \&strange_names], [], 'a tree that keeps the rules passes');
done_testing();
