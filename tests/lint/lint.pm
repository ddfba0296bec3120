# lint.pm - what the lint tests share: the files of a tree, and small trees to fail on.
package lint;

use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter 'import';
use File::Basename qw(dirname);
use File::Find ();
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

our @EXPORT = qw(source_root files_of text_of code_of tree_of holds fails);

sub source_root { return $ENV{ADAPTRA_SOURCE} || abs_path(dirname(__FILE__) . '/../..') }

# Paths from the root, sorted: what git knows or would add; without git, all but what is built.
sub files_of {
	my ($root) = @_;
	my @files = -e "$root/.git"
		? split(/\n/, `git -C '$root' ls-files -co --exclude-standard 2>/dev/null`) : ();

	if (!@files) {
		File::Find::find({ no_chdir => 1, wanted => sub {
			my $path = substr($_, length("$root/") > length($_) ? length : length("$root/"));
			$File::Find::prune = 1 if $path =~ m{^(?:build|\.git)$};
			push @files, $path if -f && !$File::Find::prune && $path ne 'adaptra-bench';
		} }, $root);
	}
	@files = sort grep { -f "$root/$_" } @files;
	die "there is no file in $root\n" if !@files;
	return @files;
}

sub text_of {
	my ($path) = @_;
	open my $file, '<:encoding(UTF-8)', $path or die "$path: $!\n";
	local $/;
	no warnings 'utf8';
	my $text = <$file>;
	return defined $text ? $text : '';
}

sub blank { my ($text) = @_; $text =~ s/[^\n]//g; return $text }

# The same lines without comments, strings, character constants and preprocessor lines.
sub code_of {
	my ($text) = @_;

	$text =~ s{ ( /\*.*?\*/ | //[^\n]* ) | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' }
	          { defined $1 ? blank($1) : '0' }gsex;
	$text =~ s{^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*}{blank($&)}gme;
	return $text;
}

# A temporary tree with these files (path => text); returns its root.
sub tree_of {
	my (%files) = @_;
	my $root = tempdir(CLEANUP => 1);

	for my $path (keys %files) {
		make_path(dirname("$root/$path"));
		open my $file, '>', "$root/$path" or die "$path: $!\n";
		print $file $files{$path};
		close $file;
	}
	return $root;
}

# No complaints about the source tree.
sub holds {
	my ($name, @complaints) = @_;
	ok(!@complaints, $name) or diag(join "\n", @complaints);
}

# The rule can fail: exactly one complaint, and it says this.
sub fails {
	my ($name, $want, @complaints) = @_;
	is(scalar @complaints, 1, "a tree that breaks it is found: $name")
		or diag(join "\n", @complaints);
	like($complaints[0] || '', $want, 'and the complaint says where and why');
}

1;
