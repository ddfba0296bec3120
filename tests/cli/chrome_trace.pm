# chrome_trace.pm - holds a Chrome trace to the format's rules and to those of its viewers.
package chrome_trace;

use strict;
use warnings;
use B ();
use Exporter 'import';

our @EXPORT = qw(complaints_about_trace events_of);

my %fields_of = (
	X => [qw(name pid tid ts dur)], i => [qw(name pid tid ts s)], C => [qw(name pid ts args)],
	M => [qw(name pid args)], s => [qw(name cat id pid tid ts)], f => [qw(name cat id pid tid ts bp)],
);

# Times to the nanosecond, as whole numbers: sums of doubles would lie about what touches.
sub ns { my ($us) = @_; return int($us * 1000 + 0.5) }

# A JSON number, not a string that looks like one.
sub is_number {
	my ($value) = @_;
	return defined $value && !ref $value &&
		B::svref_2object(\$value)->FLAGS & (B::SVf_IOK | B::SVf_NOK) &&
		!(B::svref_2object(\$value)->FLAGS & B::SVf_POK);
}

sub events_of {
	my ($document, $phase) = @_;
	return grep { $_->{ph} eq $phase } @{ $document->{traceEvents} };
}

sub lane_of { my ($event) = @_; return "$event->{pid}/$event->{tid}" }

sub about_fields {
	my ($event) = @_;
	my $phase = $event->{ph};
	return 'an event without a phase' if !defined $phase;
	return "a phase that we do not write: $phase" if !$fields_of{$phase};
	my @complaints = map { "$phase without $_" } grep { !defined $event->{$_} } @{ $fields_of{$phase} };
	for (grep { exists $event->{$_} } qw(ts dur pid tid id)) {
		push @complaints, "$phase has a $_ that is no number" if !is_number($event->{$_});
		push @complaints, "$phase has a negative $_" if $event->{$_} < 0;
	}
	push @complaints, "a scope $event->{s}" if $phase eq 'i' && $event->{s} !~ /^[gpt]$/;
	push @complaints, "f binds to $event->{bp}" if $phase eq 'f' && ($event->{bp} // 'e') ne 'e';
	return @complaints;
}

sub about_counters {
	my ($document) = @_;
	my @complaints;
	for my $event (events_of($document, 'C')) {
		push @complaints, "counter $event->{name} without a series" if !%{ $event->{args} };
		push @complaints, "counter $event->{name} is no number"
			if grep { !is_number($_) } values %{ $event->{args} };
	}
	return @complaints;
}

sub about_names {
	my ($document) = @_;
	my (%named, %seen, @complaints);
	for (events_of($document, 'M')) {
		my $key = $_->{name} =~ /^process_/ ? "$_->{name} $_->{pid}" : "$_->{name} " . lane_of($_);
		push @complaints, "$key is given twice" if $named{$key}++;
	}
	for my $event (grep { $_->{ph} ne 'M' } @{ $document->{traceEvents} }) {
		my @keys = map { "process_$_ $event->{pid}" } qw(name sort_index);
		push @keys, map { "thread_$_ " . lane_of($event) } qw(name sort_index) if defined $event->{tid};
		push @complaints, map { "no $_" } grep { !$named{$_} && !$seen{$_}++ } @keys;
	}
	return @complaints;
}

sub slices_by_lane {
	my ($document) = @_;
	my %lanes;
	push @{ $lanes{ lane_of($_) } }, [ns($_->{ts}), ns($_->{ts}) + ns($_->{dur}), $_]
		for events_of($document, 'X');
	return \%lanes;
}

# Slices of a lane nest or are disjoint.
sub about_overlaps {
	my ($lanes) = @_;
	my @complaints;
	for my $lane (sort keys %$lanes) {
		my @open;
		for my $slice (sort { $a->[0] <=> $b->[0] || $b->[1] <=> $a->[1] } @{ $lanes->{$lane} }) {
			pop @open while @open && $open[-1][1] <= $slice->[0];
			push @complaints, "$slice->[2]{name} and $open[-1][2]{name} overlap in lane $lane"
				if @open && $slice->[1] > $open[-1][1];
			push @open, $slice;
		}
	}
	return @complaints;
}

sub is_inside {
	my ($lanes, $event) = @_;
	my $at = ns($event->{ts});
	return grep { $_->[0] <= $at && $at < $_->[1] } @{ $lanes->{ lane_of($event) } || [] };
}

sub about_arrows {
	my ($document, $lanes) = @_;
	my (%tails, %heads, @complaints);
	for my $event (events_of($document, 's'), events_of($document, 'f')) {
		my $ends = $event->{ph} eq 's' ? \%tails : \%heads;
		push @complaints, "id $event->{id} has two $event->{ph}" if $ends->{ $event->{id} };
		$ends->{ $event->{id} } = $event;
		push @complaints, "$event->{ph} $event->{id} is in no slice" if !is_inside($lanes, $event);
	}
	for my $id (sort { $a <=> $b } keys %tails) {
		my ($tail, $head) = ($tails{$id}, $heads{$id});
		push @complaints, "s $id has no f" and next if !$head;
		push @complaints, "arrow $id goes back in time" if ns($head->{ts}) <= ns($tail->{ts});
		push @complaints, "the ends of arrow $id differ in $_"
			for grep { $head->{$_} ne $tail->{$_} } qw(name cat);
	}
	push @complaints, map { "f $_ has no s" } grep { !$tails{$_} } sort keys %heads;
	return @complaints;
}

# What is wrong with a decoded trace; nothing when it keeps all rules.
sub complaints_about_trace {
	my ($document) = @_;
	return 'it is no object' if ref $document ne 'HASH';
	return 'there is no list of events' if ref $document->{traceEvents} ne 'ARRAY';
	return 'no event is in the list' if !@{ $document->{traceEvents} };
	my @complaints = map { about_fields($_) } @{ $document->{traceEvents} };
	return @complaints if @complaints;
	push @complaints, 'displayTimeUnit is neither ms nor ns'
		if ($document->{displayTimeUnit} // '') !~ /^[mn]s$/;
	my $lanes = slices_by_lane($document);
	return (@complaints, about_counters($document), about_names($document), about_overlaps($lanes),
		about_arrows($document, $lanes));
}

1;
