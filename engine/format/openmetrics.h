/* openmetrics.h - metrics as OpenMetrics 1.0 text, a family at a time.
 *
 * A family is begun, its samples follow, then the next; openmetrics_end() closes the text. No
 * timestamps, so that a node exporter may read the file as well. */
#ifndef ENGINE_FORMAT_OPENMETRICS_H
#define ENGINE_FORMAT_OPENMETRICS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/strbuf.h"

enum openmetrics_kind { OPENMETRICS_GAUGE, OPENMETRICS_COUNTER, OPENMETRICS_HISTOGRAM };

/* name: [a-zA-Z_:][a-zA-Z0-9_:]*, ending with _unit where there is one. */
struct openmetrics_family {
	const char *name;
	enum openmetrics_kind kind;
	const char *unit; /* NULL: none */
	const char *help;
};

/* name: [a-zA-Z_][a-zA-Z0-9_]*; value: any text. */
struct openmetrics_label {
	const char *name, *value;
};

struct openmetrics_labels {
	const struct openmetrics_label *items;
	size_t n_items;
};

void openmetrics_begin(struct strbuf *out, const struct openmetrics_family *family);

/* A sample of a gauge or, as a total, of a counter. */
void openmetrics_sample(struct strbuf *out, const struct openmetrics_family *family,
                        struct openmetrics_labels labels, double value);

/* All samples of a histogram: values, those that are no numbers left out, counted up to each of the
 * ascending bounds. */
struct openmetrics_values {
	const double *values;
	size_t n_values;
	const double *bounds;
	size_t n_bounds;
};

void openmetrics_histogram(struct strbuf *out, const struct openmetrics_family *family,
                           struct openmetrics_labels labels,
                           const struct openmetrics_values *values);

void openmetrics_end(struct strbuf *out);

#endif
