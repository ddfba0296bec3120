#!/usr/bin/perl
# layering.t - a file includes its own folder and the folders above it in the list, nothing else.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use lint;

my @folders = qw(
	engine/base engine/scenario engine/schedule engine/record engine/format engine/model
	engine/device engine/transport injectors engine/dataplane engine/monitor engine/sim engine/validate
	engine/replay engine/store reports engine/script engine/cli
);
my %rank = map { $folders[$_] => $_ } 0 .. $#folders;

# Above, and all the same not to be known.
my %forbidden = ('engine/script' => { map { $_ => 1 } 'reports', 'engine/store' });

# Libraries that belong to one folder, or to a few; the command line may name their versions.
my %library_of = (
	'lua.h' => 'engine/script', 'lauxlib.h' => 'engine/script', 'lualib.h' => 'engine/script',
	'sqlite3.h' => 'engine/store', 'zlib.h' => 'engine/format',
	'infiniband/verbs.h' => 'engine/transport',
	(map { ("netlink/$_.h" => 'injectors') } qw(attr handlers msg netlink socket)),
	(map { ("$_.h" => 'engine/device or engine/transport') } qw(cuda cuda_runtime_api nccl)),
	'cublas_v2.h' => 'engine/device',
);

sub folder_of { my ($path) = @_; return $path =~ m{^(.*)/[^/]+$} ? $1 : '' }

sub complaint_about {
	my ($path, $included) = @_;
	my ($own, $other) = (folder_of($path), folder_of($included));

	return "is not written from the root" if !exists $rank{$other};
	return if $own eq $other;
	return "is private to $other" if $included =~ /_internal\.h$/;
	return "is below $own" if $rank{$other} > $rank{$own};
	return "may not be known in $own" if $forbidden{$own}{$other};
	return;
}

sub complaints_of_file {
	my ($root, $path) = @_;
	my ($line, @complaints) = (0);

	for (split /\n/, text_of("$root/$path")) {
		$line++;
		if (/^\s*#\s*include\s+"([^"]+)"/) {
			my $why = complaint_about($path, $1);
			push @complaints, "$path:$line: \"$1\" $why" if $why;
		} elsif (/^\s*#\s*include\s+<([^>]+)>/ && $library_of{$1}) {
			push @complaints, "$path:$line: <$1> belongs to $library_of{$1}"
				if !grep { folder_of($path) eq $_ } split(/ or /, $library_of{$1}), 'engine/cli';
		}
	}
	return @complaints;
}

sub sources_of { return grep { m{^(?:engine|injectors|reports)/.*\.(?:c|h|cu|S)$} } files_of($_[0]) }

sub layering {
	my ($root) = @_;
	my @complaints;

	for my $path (sources_of($root)) {
		push @complaints, exists $rank{ folder_of($path) }
			? complaints_of_file($root, $path)
			: "$path: its folder is not in the list of layering.t";
	}
	return @complaints;
}

sub compiling {
	my ($root) = @_;
	my @headers = grep { /\.h$/ } sources_of($root);
	# Where the toolkit is missing, what includes its headers cannot compile.
	@headers = grep { !m{/cuda\w*\.h$} } @headers
		if ($ENV{ADAPTRA_CFLAGS} || '') !~ /-DHAVE_CUDA\b/;
	@headers = grep { !m{/nccl\w*\.h$} } @headers
		if ($ENV{ADAPTRA_CFLAGS} || '') !~ /-DHAVE_NCCL\b/;
	my $cc = $ENV{ADAPTRA_CC} || 'gcc';
	my $flags = $ENV{ADAPTRA_CFLAGS} ||
		'-std=gnu17 -D_GNU_SOURCE= -Wall -Wextra -I. ' . `pkg-config --cflags lua5.4 sqlite3`;
	chomp $flags;
	return if !@headers;
	my $out = `cd '$root' && $cc $flags -Werror -fsyntax-only -x c @headers 2>&1`;
	return if $? == 0;
	my @complaints = grep { /\b(?:error|warning):/ } split /\n/, $out;
	return @complaints ? @complaints : "$cc ends with $?: $out";
}

my $root = source_root();
cmp_ok(scalar(sources_of($root)), '>', 100, 'there are sources to look at');
holds('files include only folders above their own', layering($root));
holds('every header compiles alone', compiling($root));

fails('base includes sim', qr{^engine/base/a\.c:1: "engine/sim/sim\.h" is below engine/base},
      layering(tree_of('engine/base/a.c' => qq(#include "engine/sim/sim.h"\n))));
fails('injectors includes dataplane', qr{is below injectors},
      layering(tree_of('injectors/a.c' => qq(#include "engine/dataplane/dataplane.h"\n))));
fails('script includes store', qr{may not be known in engine/script},
      layering(tree_of('engine/script/a.c' => qq(#include "engine/store/store.h"\n))));
fails('script includes reports', qr{may not be known in engine/script},
      layering(tree_of('engine/script/a.c' => qq(#include "reports/report.h"\n))));
fails('cli includes what is private to replay', qr{is private to engine/replay},
      layering(tree_of('engine/cli/a.c' => qq(#include "engine/replay/x_internal.h"\n))));
fails('an include is not written from the root', qr{is not written from the root},
      layering(tree_of('engine/base/a.c' => qq(int x;\n# include "err.h"\n))));
fails('a folder is not in the list', qr{^engine/misc/a\.c: its folder},
      layering(tree_of('engine/misc/a.c' => "int x;\n")));
fails('Lua in sim', qr{<lua\.h> belongs to engine/script},
      layering(tree_of('engine/sim/a.c' => "#include <lua.h>\n")));
fails('libnl in transport', qr{<netlink/msg\.h> belongs to injectors},
      layering(tree_of('engine/transport/a.c' => "#include <netlink/msg.h>\n")));
fails('CUDA in replay', qr{<cuda_runtime_api.h> belongs to engine/device or engine/transport},
      layering(tree_of('engine/replay/a.c' => "#include <cuda_runtime_api.h>\n")));
fails('a header needs another one', qr{engine/base/a\.h:1},
      compiling(tree_of('engine/base/a.h' => "int f(size_t n);\n")));
is_deeply([layering(tree_of(
	'engine/cli/a.c' => qq(#include "engine/store/store.h"\n#include "engine/cli/b_internal.h"\n),
	'engine/replay/a.c' => qq(#include "engine/sim/sim.h"\n#include <stdio.h>\n),
))], [], 'a tree that keeps the rules passes');
done_testing();
