#!/usr/bin/perl
# list.t - `list --json` is one document that has everything which can be named.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Test::More;
use cli;

my %keys = (
	scenarios => [qw(mistake name options path summary)],
	schedules => [qw(argument name plane summary)],
	profiles => [qw(name path summary)],
	devices => [qw(name)],
	transports => [qw(name)],
	runs => [qw(comparison created host iterations mode path reason repeat run scenario schedule status version)],
);

sub names_of { return join ' ', map { $_->{name} } @{ $_[0] } }

my $empty = json_of(run_bench('list', '--json', '--quiet'), 'list --json is one document');
is_deeply([sort keys %$empty], [sort 'schema', keys %keys], 'with a list of every kind');
is_deeply($empty->{runs}, [], 'where no database is there are no runs');
says(run_bench('list', 'runs', '--json'), 2, qr/there are no results in/, 'unless runs were asked for');

ends_with_code(run_bench('sim', smoke(), '--iterations=6', '--quiet'), 0, 'a comparison is stored');
my $list = json_of(run_bench('list', '--json'), 'the same with runs');
is($list->{schema}, 1, 'its schema is 1');
for my $kind (sort keys %keys) {
	my @wrong = grep { "@{[sort keys %$_]}" ne "@{$keys{$kind}}" } @{ $list->{$kind} };
	ok(@{ $list->{$kind} } > 0, "there are $kind");
	is(scalar @wrong, 0, 'and each has its keys');
	my $one = json_of(run_bench('list', $kind, '--json'), "list $kind --json");
	is_deeply($one, { schema => 1, $kind => $list->{$kind} }, 'has that list alone');
}

my @files = sort map { s/.*\///r =~ s/\.lua$//r } glob source_root() . '/scenarios/*.lua';
is(names_of($list->{scenarios}), "@files", 'every scenario of the project is there');
is(scalar(grep { defined $_->{mistake} } @{ $list->{scenarios} }), 0, 'and can be loaded');
my ($slow) = grep { $_->{name} eq 'one_slow_link' } @{ $list->{scenarios} };
is_deeply([map { $_->{name} } @{ $slow->{options} }], [qw(delay link delay_model delegate_cost model hosts)],
	'options are those that the script declares');
is($slow->{options}[1]{default}, '6-7', 'with their defaults');
like($slow->{summary}, qr/^how does the iteration time grow/, 'a summary is the first comment');
like(names_of($list->{devices}), ($ENV{ADAPTRA_CFLAGS} || '') =~ /-DHAVE_CUDA\b/ ? qr/^paced cpu cuda\b/ : qr/^paced cpu$/,
     'devices are those that --device takes, with those of a GPU where the build has them');
like(names_of($list->{transports}), qr/^loopback tcp(?: verbs)?(?: nccl)?$/, 'transports those that --transport takes');
is(names_of([grep { defined $_->{argument} } @{ $list->{schedules} }]), 'csv', 'one schedule needs a file');

is_deeply([map { "$_->{run} $_->{comparison} $_->{mode} $_->{schedule} $_->{iterations} $_->{status}" }
	@{ $list->{runs} }], [map { "$_" } '1 1 sim 1f1b 6 done', '2 1 sim zb 6 done', '3 1 sim adaptra 6 done'],
	'runs are in the order of their numbers');

# A folder of the user's own comes first, and a script with mistakes does not spoil the document.
mkdir home() . '/scenarios' or die "scenarios: $!\n";
file_of('scenarios/broken.lua', "-- broken.lua - a \"quoted\" one.\nreturn 1 +\n");
chdir home() or die home() . ": $!\n";
my $own = json_of(run_bench('list', 'scenarios', '--json'), 'a folder with a broken scenario');
my ($broken) = grep { $_->{name} eq 'broken' } @{ $own->{scenarios} };
is($broken->{summary}, 'a "quoted" one.', 'texts are escaped');
like($broken->{mistake}, qr/^broken\.lua:3: \S/, 'and its mistake is told');
done_testing();
