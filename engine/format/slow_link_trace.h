/* slow_link_trace.h - the published artefact's .trace files of slow links, in and out.
 *
 * FORMATS.md section 6. */
#ifndef ENGINE_FORMAT_SLOW_LINK_TRACE_H
#define ENGINE_FORMAT_SLOW_LINK_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "engine/base/strbuf.h"
#include "engine/scenario/fault.h"

/* DETECT: by the first line, and the others must agree. A file whose times are all whole seconds
 * needs BY_TIME. */
enum trace_kind { TRACE_DETECT, TRACE_BY_ITERATION, TRACE_BY_TIME };

/* One state of all links: it holds until the next. delays_ns[link]; is_rnic_lost: "iteration;;inf",
 * and then all links are healthy. */
struct slow_link_state {
	int line;
	int64_t moment;           /* iteration, or ns since the window's start */
	const int64_t *delays_ns; /* n_links of the trace's cells */
	bool is_rnic_lost;
};

/* Owns states and cells. */
struct slow_link_trace {
	enum trace_kind kind; /* never TRACE_DETECT */
	int n_links;
	struct slow_link_state *states;
	size_t n_states;
	int64_t *cells;    /* n_states * n_links */
	size_t n_warnings; /* "0.00" lines without links, read as "all healthy" */
};

/* What the reader knows of a trace. */
struct trace_rules {
	int n_links; /* of the pipeline */
	enum trace_kind kind;
};

/* A link beyond the pipeline is an error that names the line, as is everything else. -EFBIG: more
 * than 64 MiB, or than 16 Mi lines times links. */
int slow_link_trace_parse(const char *name, const char *text, size_t n_bytes,
                          struct trace_rules rules, struct slow_link_trace *out, struct err *err);
void slow_link_trace_fini(struct slow_link_trace *trace);

/* Delay faults, model occupancy, one per direction, link and unbroken stretch of one delay; those
 * that start and end together with one delay share an event number, from 0 in order of time. Times
 * are shifted by origin_ns. A lost RNIC becomes a DOWN of rail 0 of down_stage without an end,
 * once: later ones say nothing more. The caller frees *faults_out. -EINVAL: an RNIC is lost and
 * down_stage isn't a stage. */
int slow_link_trace_faults(const struct slow_link_trace *trace, int down_stage, int64_t origin_ns,
                           struct fault **faults_out, size_t *n_out, struct err *err);

/* Write a scenario's delay faults as a trace by iteration. -ENOTSUP: a fault the format cannot say
 * (one direction, jitter, rate, slow stage, by time, an RNIC that comes back), named in err. The
 * delay model and the lost RNIC's stage aren't written: whoever reads the trace says them. */
int slow_link_trace_write(const struct fault *faults, size_t n_faults, struct strbuf *out,
                          struct err *err);

#endif
