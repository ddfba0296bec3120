# browser.pm - pages as a browser without a screen shows them: what is too wide, cut off or in the way.
package browser;

use strict;
use warnings;
use Exporter 'import';
use FindBin;
use lib "$FindBin::Bin/../cli";
use JSON::PP ();
use cli;

our @EXPORT = qw(has_browser shown_at);

my $program = (grep { -x } map { "$_/chromium" } split /:/, $ENV{PATH})[0];

sub has_browser { return defined $program }

# In each page, once it is laid out. What scrolls by itself may be wider than the page.
my $inspect = <<'END';
<script>
addEventListener('load', function () {
	var all = [], right = innerWidth + 1;
	function name(element) {
		return element.tagName + '.' + (element.getAttribute('class') || '') + ' "' +
			element.textContent.slice(0, 40).replace(/\s+/g, ' ') + '"';
	}
	function box(element) { return element.getBoundingClientRect() }
	document.querySelectorAll('body *').forEach(function (element) {
		if (!element.closest('.scroll, .pan, svg') && box(element).right > right)
			all.push('too wide: ' + name(element));
	});
	document.querySelectorAll('svg text').forEach(function (text) {
		var inner = box(text), outer = box(text.closest('svg'));
		if (inner.width > 0 && (inner.left < outer.left - 1 || inner.right > outer.right + 1 ||
		    inner.top < outer.top - 2 || inner.bottom > outer.bottom + 2))
			all.push('cut off: ' + name(text));
	});
	document.querySelectorAll('svg .axis').forEach(function (axis) {
		var boxes = Array.from(axis.querySelectorAll('text')).map(box);
		boxes.forEach(function (a, i) {
			boxes.slice(i + 1).forEach(function (b) {
				if (a.width > 0 && b.width > 0 && a.left < b.right && b.left < a.right &&
				    a.top + 3 < b.bottom && b.top + 3 < a.bottom)
					all.push('on top of each other: ' + name(axis));
			});
		});
	});
	parent.postMessage({
		width: innerWidth, scroll: document.documentElement.scrollWidth,
		pictures: Array.from(document.querySelectorAll('svg')).filter(function (svg) {
			return box(svg).width > 100;
		}).length,
		complaints: all,
	}, '*');
});
</script>
END

# A browser window is never narrower than 500 px, a frame is.
my $frame = <<'END';
<!DOCTYPE html><html><body><script>
addEventListener('message', function (event) {
	document.body.dataset.seen = JSON.stringify(event.data);
	document.body.append('seen:' + JSON.stringify(event.data) + ':end');
});
</script><iframe src="inspected.html" style="border:0;width:WIDTHpx;height:900px"></iframe></body></html>
END

# The page (text of an HTML file) at so many px: { width, scroll, pictures, complaints, console }, the
# last being what the browser's console says.
sub shown_at {
	my ($page, $width) = @_;
	my $home = home();
	(my $outer = $frame) =~ s/WIDTH/$width/;

	$page =~ s{</body>}{$inspect</body>} or die "a page without an end\n";
	file_of('inspected.html', $page);
	file_of('frame.html', $outer);
	my $call = run_shell("timeout 120 '$program' --headless --no-sandbox --disable-gpu " .
		"--enable-logging=stderr --user-data-dir='$home/profile' --window-size=1400,1000 " .
		"--virtual-time-budget=10000 --dump-dom 'file://$home/frame.html'");
	my ($seen) = $call->{out} =~ /seen:(\{.*?\}):end/s;
	die "the browser shows nothing: $call->{out}\n$call->{err}\n" if !defined $seen;
	$seen =~ s/&lt;/</g;
	$seen =~ s/&gt;/>/g;
	$seen =~ s/&amp;/&/g;
	my $shown = JSON::PP->new->utf8->decode($seen);
	$shown->{console} = join "\n", $call->{err} =~ /^(.*\bCONSOLE\b.*)$/mg;
	return $shown;
}

1;
