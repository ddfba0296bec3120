/* page_definitions.c - the patterns that tell areas apart without colour, and the head of arrows.
 */
#include "reports/markup.h"
#include "reports/page_internal.h"

/* What is drawn over the colour, in a square of so many px that repeats. */
static const struct {
	const char *id, *ink;
	int px;
	const char *shape;
} patterns[] = {
	{"wait", "wait-ink", 8, ""},
	{"transfer", "transfer-ink", 6,
         "<circle class=\"pattern-dot\" cx=\"3\" cy=\"3\" r=\"1.2\"/>"},
	{"blocked", "blocked-ink", 7, "<path class=\"pattern-line\" d=\"M0 7L7 0\"/>"},
	{"lost", "lost-ink", 8, "<path class=\"pattern-line\" d=\"M0 0L8 8M0 8L8 0\"/>"},
	{"backward", "backward-ink", 6, "<path class=\"pattern-line\" d=\"M0 6L6 0\"/>"},
	{"weight", "weight-ink", 5,
         "<circle class=\"pattern-dot\" cx=\"2.5\" cy=\"2.5\" r=\".9\"/>"},
};

void page_definitions(struct strbuf *out)
{
	strbuf_add(out, "<svg class=\"defs\" aria-hidden=\"true\"><defs>\n");
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		strbuf_addf(out,
		            "<pattern id=\"%s\" width=\"%d\" height=\"%d\" "
		            "patternUnits=\"userSpaceOnUse\">"
		            "<rect class=\"%s\" width=\"%d\" height=\"%d\"/>%s</pattern>\n",
		            patterns[i].id, patterns[i].px, patterns[i].px, patterns[i].ink,
		            patterns[i].px, patterns[i].px, patterns[i].shape);
	strbuf_add(out,
	           "<marker id=\"arrow\" viewBox=\"0 0 6 6\" refX=\"5\" refY=\"3\" "
	           "markerWidth=\"5\" markerHeight=\"5\" markerUnits=\"userSpaceOnUse\" "
	           "orient=\"auto\"><path class=\"arrow-head\" d=\"M0 0L6 3L0 6Z\"/></marker>\n"
	           "</defs></svg>\n");
}
