/* openmetrics.c - metrics as OpenMetrics 1.0 text. */
#include "engine/format/openmetrics.h"

#include <math.h>

#include "engine/base/utf8.h"

static void add_number(struct strbuf *out, double value)
{
	if (isfinite(value))
		strbuf_add_number(out, value);
	else
		strbuf_add(out, isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
}

/* What is not UTF-8 becomes U+FFFD. */
static void add_escaped(struct strbuf *out, const char *text, const char *quote)
{
	const unsigned char *p = (const unsigned char *)(text ? text : "");

	while (*p) {
		size_t n = utf8_length(p);

		if (n == 0)
			strbuf_add(out, "\xef\xbf\xbd");
		else if (*p == '\n')
			strbuf_add(out, "\\n");
		else if (*p == '\\')
			strbuf_add(out, "\\\\");
		else if (*p == '"')
			strbuf_add(out, quote);
		else
			strbuf_add_bytes(out, (const char *)p, n);
		p += n ? n : 1;
	}
}

static const char *kind_name(enum openmetrics_kind kind)
{
	switch (kind) {
	case OPENMETRICS_GAUGE:
		return "gauge";
	case OPENMETRICS_COUNTER:
		return "counter";
	case OPENMETRICS_HISTOGRAM:
		return "histogram";
	}
	return "unknown";
}

void openmetrics_begin(struct strbuf *out, const struct openmetrics_family *family)
{
	strbuf_addf(out, "# TYPE %s %s\n", family->name, kind_name(family->kind));
	if (family->unit)
		strbuf_addf(out, "# UNIT %s %s\n", family->name, family->unit);
	strbuf_addf(out, "# HELP %s ", family->name);
	/* An escaped quote is right here, and refused by readers of the format before. */
	add_escaped(out, family->help, "'");
	strbuf_add_char(out, '\n');
}

/* The name and its labels; le: one more of a bucket, NULL: none. */
static void add_name(struct strbuf *out, const struct openmetrics_family *family,
                     const char *suffix, struct openmetrics_labels labels, const double *le)
{
	const char *separator = "{";

	strbuf_addf(out, "%s%s", family->name, suffix);
	for (size_t i = 0; i < labels.n_items; i++) {
		strbuf_addf(out, "%s%s=\"", separator, labels.items[i].name);
		add_escaped(out, labels.items[i].value, "\\\"");
		strbuf_add_char(out, '"');
		separator = ",";
	}
	if (le) {
		strbuf_addf(out, "%sle=\"", separator);
		add_number(out, *le);
		strbuf_add_char(out, '"');
	}
	strbuf_add(out, labels.n_items > 0 || le ? "} " : " ");
}

void openmetrics_sample(struct strbuf *out, const struct openmetrics_family *family,
                        struct openmetrics_labels labels, double value)
{
	add_name(out, family, family->kind == OPENMETRICS_COUNTER ? "_total" : "", labels, NULL);
	add_number(out, value);
	strbuf_add_char(out, '\n');
}

static size_t count_up_to(const struct openmetrics_values *values, double bound)
{
	size_t n = 0;

	for (size_t i = 0; i < values->n_values; i++)
		n += values->values[i] <= bound;
	return n;
}

void openmetrics_histogram(struct strbuf *out, const struct openmetrics_family *family,
                           struct openmetrics_labels labels,
                           const struct openmetrics_values *values)
{
	size_t n = count_up_to(values, INFINITY);
	double sum = 0;

	for (size_t i = 0; i <= values->n_bounds; i++) {
		double bound = i < values->n_bounds ? values->bounds[i] : INFINITY;

		add_name(out, family, "_bucket", labels, &bound);
		strbuf_addf(out, "%zu\n", count_up_to(values, bound));
	}
	for (size_t i = 0; i < values->n_values; i++)
		sum += isnan(values->values[i]) ? 0 : values->values[i];
	add_name(out, family, "_count", labels, NULL);
	strbuf_addf(out, "%zu\n", n);
	add_name(out, family, "_sum", labels, NULL);
	add_number(out, sum);
	strbuf_add_char(out, '\n');
}

void openmetrics_end(struct strbuf *out)
{
	strbuf_add(out, "# EOF\n");
}
