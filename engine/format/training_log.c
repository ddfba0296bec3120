/* training_log.c - reads logs of Megatron and of the zero-bubble runtime.
 *
 * Timers stand behind the line of the iteration they are of, in one of four shapes; which one is
 * said by the line above them. */
#include "engine/format/training_log.h"

#include <errno.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/format/log_line_internal.h"
#include "engine/format/vocabulary.h"
#include "engine/scenario/topology.h"

enum { MS_EXPONENT = 6, ITERATION_MAX = 1 << 30, RANK_MAX = INT16_MAX };

/* What the lines below a heading are. */
enum timer_shape { TIMERS_NONE, TIMERS_RANGE, TIMERS_MAX, TIMERS_BY_RANK };

struct training_log {
	struct input *input;
	struct observed *out;
	int n_microbatches; /* 0: timers are no ops */
	bool has_begun;
	int segment;
	int iteration;           /* of the last line; 0: there was none in this run */
	size_t first_of_segment; /* index of its first iteration */
	enum timer_shape shape;
	const char *timer; /* TIMERS_BY_RANK: of the lines below */
};

/* Those that say something about a pipeline; op kinds are in FORMATS.md 1.2. */
static const char *const timers[] = {
	"forward-backward",
	"forward-compute",
	"backward-compute",
	"batch-generator",
	"forward-recv",
	"forward-send",
	"backward-recv",
	"backward-send",
	"forward-send-backward-recv",
	"backward-send-forward-recv",
	"grads-all-reduce",
	"all-grads-sync",
	"optimizer",
	"interval-time",
};

static const char *find_timer(struct text_span name)
{
	for (size_t i = 0; i < sizeof(timers) / sizeof(*timers); i++)
		if (strlen(timers[i]) == name.length &&
		    memcmp(timers[i], name.text, name.length) == 0)
			return timers[i];
	return NULL;
}

static void skip(struct training_log *log, const char *name)
{
	observed_skip(log->out, name, strlen(name));
}

static bool contains(struct text_span line, const char *text)
{
	return memmem(line.text, line.length, text, strlen(text)) != NULL;
}

/* The line from the first place where text stands. */
static struct text_span from(struct text_span line, const char *text)
{
	const char *at = memmem(line.text, line.length, text, strlen(text));

	return (struct text_span){at, (size_t)(line.text + line.length - at)};
}

/* A time whose unit the key has said: not negative, and a number. */
static int take_ms(struct training_log *log, struct text_span *rest, const char *what, int64_t *out,
                   struct err *err)
{
	char shown[TEXT_SHOWN_BYTES];

	if (!log_take_decimal(rest, MS_EXPONENT, out))
		return log_fail(log->input, err, "%s is '%s'; wanted a number of ms", what,
		                text_show(text_trim(*rest), shown));
	if (*out < 0)
		return log_fail(log->input, err, "%s is negative", what);
	return 0;
}

/* N of "iteration N/ M": a repeated or smaller one begins another run in the same file. */
static int begin_iteration(struct training_log *log, int iteration, struct err *err)
{
	int rc = 0;

	if (!log->has_begun || iteration <= log->iteration) {
		rc = observed_begin(log->out, input_name(log->input), log->segment++, -1, err);
		log->has_begun = true;
		log->iteration = 0;
		log->first_of_segment = log->out->n_iterations;
	}
	return rc;
}

/* How many iterations a run's first line is the mean of is told by the second. */
static int add_iteration(struct training_log *log, struct observed_iteration iteration,
                         struct err *err)
{
	size_t first = log->first_of_segment;
	int rc;

	iteration.n_iterations = log->iteration > 0         ? iteration.iteration - log->iteration
	                         : iteration.iteration == 1 ? 1
	                                                    : 0;
	rc = observed_add_iteration(log->out, iteration, err);
	if (rc == 0 && log->out->n_iterations == first + 2 &&
	    log->out->iterations[first].n_iterations == 0)
		log->out->iterations[first].n_iterations = iteration.n_iterations;
	log->iteration = iteration.iteration;
	return rc;
}

/* The fields behind the iteration's number; *has_time: one was its time. */
static int read_fields(struct training_log *log, struct text_span rest,
                       struct observed_iteration *iteration, bool *has_time, struct err *err)
{
	bool has_more = true;

	while (has_more) {
		struct text_span field;
		int n_skipped, rc;

		has_more = text_cut(&rest, '|', &field);
		if (log_take_word(&field, "elapsed time per iteration")) {
			if (*has_time)
				return log_fail(log->input, err, "two elapsed times in one line");
			if (!log_take_word(&field, "(ms):"))
				return log_fail(log->input, err,
				                "elapsed time per iteration; wanted it in (ms)");
			rc = take_ms(log, &field, "elapsed time per iteration", &iteration->mean_ns,
			             err);
			if (rc < 0)
				return rc;
			*has_time = true;
		} else if (log_take_word(&field, "number of skipped iterations:") &&
		           log_take_count(&field, ITERATION_MAX, &n_skipped)) {
			iteration->was_skipped = n_skipped > 0;
		}
	}
	return 0;
}

/* "iteration 12/ 1000 | …", found by its keys. */
static int read_iteration(struct training_log *log, struct text_span line, struct err *err)
{
	struct observed_iteration iteration = {.place = input_line(log->input)};
	struct text_span rest = from(line, "iteration "), number;
	bool has_time = false;
	int rc;

	log->shape = TIMERS_NONE;
	if (!log_take_word(&rest, "iteration") ||
	    !log_take_count(&rest, ITERATION_MAX, &iteration.iteration) ||
	    !log_take_word(&rest, "/")) {
		skip(log, "other line");
		return 0;
	}
	if (!text_cut(&rest, '|', &number))
		return log_fail(log->input, err, "an iteration line without an elapsed time");
	rc = read_fields(log, rest, &iteration, &has_time, err);
	if (rc == 0 && !has_time)
		return log_fail(log->input, err, "an iteration line without an elapsed time");
	if (rc == 0)
		rc = begin_iteration(log, iteration.iteration, err);
	if (rc == 0)
		rc = add_iteration(log, iteration, err);
	return rc;
}

static int add_timer(struct training_log *log, const char *name, int rank, int64_t low_ns,
                     int64_t high_ns, struct err *err)
{
	struct observed_timer timer = {.name = name,
	                               .low_ns = low_ns,
	                               .high_ns = high_ns,
	                               .place = input_line(log->input),
	                               .iteration = log->iteration,
	                               .rank = (int16_t)rank};

	log->out->is_intrusive = true;
	return observed_add_timer(log->out, timer, err);
}

/* "(203.11, 218.40)" or "218.40", as the heading said. */
static int read_range(struct training_log *log, const char *name, struct text_span rest,
                      struct err *err)
{
	int64_t low_ns = -1, high_ns = 0;
	int rc;

	if (log->shape == TIMERS_MAX) {
		rc = take_ms(log, &rest, name, &high_ns, err);
		return rc < 0 ? rc : add_timer(log, name, -1, low_ns, high_ns, err);
	}
	if (!log_take_word(&rest, "("))
		return log_fail(log->input, err, "%s; wanted (smallest, largest)", name);
	rc = take_ms(log, &rest, name, &low_ns, err);
	if (rc == 0 && !log_take_word(&rest, ","))
		return log_fail(log->input, err, "%s; wanted (smallest, largest)", name);
	if (rc == 0)
		rc = take_ms(log, &rest, name, &high_ns, err);
	if (rc == 0 && high_ns < low_ns)
		return log_fail(log->input, err, "%s is (larger, smaller)", name);
	return rc < 0 ? rc : add_timer(log, name, -1, low_ns, high_ns, err);
}

/* A timer is of all microbatches of the iteration together. */
static int add_ops(struct training_log *log, int rank, int64_t all_ns, struct err *err)
{
	enum observed_kind kind;
	struct observed_op op;
	int rc = 0;

	if (rank >= TOPOLOGY_STAGES_MAX ||
	    !vocabulary_find(VOCABULARY_MEGATRON, log->timer, strlen(log->timer), &kind) ||
	    kind > OBSERVED_BACKWARD_WEIGHT)
		return 0;
	op = observed_op_of(kind);
	op.iteration = log->iteration;
	op.stage = op.rank = (int16_t)rank;
	op.place = input_line(log->input);
	op.clock = CLOCK_HOST_REALTIME;
	for (int i = 0; i < log->n_microbatches && rc == 0; i++) {
		op.microbatch = i;
		op.start_ns = all_ns / log->n_microbatches * i;
		op.end_ns = op.start_ns + all_ns / log->n_microbatches;
		rc = observed_add(log->out, op, err);
	}
	return rc;
}

/* "rank  0: 203.11" */
static int read_rank(struct training_log *log, struct text_span rest, struct err *err)
{
	int64_t value_ns;
	int rank, rc;

	if (!log_take_count(&rest, RANK_MAX, &rank) || !log_take_word(&rest, ":"))
		return log_fail(log->input, err, "wanted 'rank 0: 203.11'");
	if (log->timer == NULL) {
		skip(log, "other timer");
		return 0;
	}
	rc = take_ms(log, &rest, log->timer, &value_ns, err);
	if (rc == 0)
		rc = add_timer(log, log->timer, rank, value_ns, value_ns, err);
	return rc < 0 ? rc : add_ops(log, rank, value_ns, err);
}

/* A line below a heading: "    forward-compute ......: …". False: the block has ended. */
static bool read_timer(struct training_log *log, struct text_span line, int *rc, struct err *err)
{
	struct text_span rest = line, name;

	*rc = 0;
	if (line.length == 0 || !text_is_blank(line.text[0]))
		return false;
	if (log->shape == TIMERS_BY_RANK && log_take_word(&rest, "rank ")) {
		*rc = read_rank(log, rest, err);
		return true;
	}
	if (!text_cut(&rest, ':', &name))
		return false;
	name = text_trim(name);
	while (name.length > 0 && name.text[name.length - 1] == '.')
		name.length--;
	name = text_trim(name);
	log->timer = find_timer(name);
	if (log->shape == TIMERS_BY_RANK)
		return true;
	if (log->timer == NULL)
		skip(log, "other timer");
	else
		*rc = read_range(log, log->timer, rest, err);
	return true;
}

/* Older releases: "time (ms) | forward-compute: 53.79 | …". */
static int read_timer_line(struct training_log *log, struct text_span rest, struct err *err)
{
	bool has_more = true;
	int rc = 0;

	while (has_more && rc == 0) {
		struct text_span field, name;
		const char *timer;
		int64_t value_ns;

		has_more = text_cut(&rest, '|', &field);
		if (!text_cut(&field, ':', &name))
			continue;
		timer = find_timer(text_trim(name));
		if (timer == NULL) {
			skip(log, "other timer");
			continue;
		}
		rc = take_ms(log, &field, timer, &value_ns, err);
		if (rc == 0)
			rc = add_timer(log, timer, -1, -1, value_ns, err);
	}
	return rc;
}

/* "MnRtt/Rnk: 3453.08ms/8 | …": round trips in ms; the rest is power, clocks and the like. */
static int read_stragglers(struct training_log *log, struct text_span rest, struct err *err)
{
	static const char *const metrics[][2] = {{"MnRtt/Rnk:", "smallest round trip"},
	                                         {"MxRtt/Rnk:", "largest round trip"},
	                                         {"MnDRtt/Rnk:", "smallest device round trip"},
	                                         {"MxDRtt/Rnk:", "largest device round trip"}};
	bool has_more = true;
	int rc = 0;

	while (has_more && rc == 0) {
		struct text_span field;
		int64_t value_ns;
		size_t i = 0;
		int rank;

		has_more = text_cut(&rest, '|', &field);
		if (text_trim(field).length == 0)
			continue;
		while (i < 4 && !log_take_word(&field, metrics[i][0]))
			i++;
		if (i == 4) {
			skip(log, "other straggler metric");
			continue;
		}
		rc = take_ms(log, &field, metrics[i][1], &value_ns, err);
		if (rc == 0 &&
		    (!log_take_word(&field, "ms/") || !log_take_count(&field, RANK_MAX, &rank)))
			rc = log_fail(log->input, err, "%s; wanted 3453.08ms/8", metrics[i][1]);
		if (rc == 0)
			rc = add_timer(log, metrics[i][1], rank, value_ns, value_ns, err);
	}
	return rc;
}

/* A heading, and the shape of what is below it. */
static enum timer_shape heading(struct text_span line)
{
	if (contains(line, "(min, max) time across ranks (ms):"))
		return TIMERS_RANGE;
	if (contains(line, "max time across ranks (ms):"))
		return TIMERS_MAX;
	return contains(line, "times across ranks (ms):") ? TIMERS_BY_RANK : TIMERS_NONE;
}

static int read_line(struct training_log *log, struct text_span line, struct err *err)
{
	enum timer_shape shape = heading(line);
	int rc;

	if (contains(line, "elapsed time per iteration") && contains(line, "iteration "))
		return read_iteration(log, line, err);
	/* Timers before the first iteration line are of none. */
	if (!log->has_begun) {
		skip(log, "other line");
		return 0;
	}
	if (shape != TIMERS_NONE || contains(line, " across ranks (")) {
		log->shape = shape;
		log->timer = NULL;
		return shape != TIMERS_NONE
		               ? 0
		               : log_fail(log->input, err, "timers; wanted them in (ms)");
	}
	if (log->shape != TIMERS_NONE && read_timer(log, line, &rc, err))
		return rc;
	log->shape = TIMERS_NONE;
	if (contains(line, "time (ms) |"))
		return read_timer_line(log, from(line, "time (ms) |"), err);
	if (contains(line, "Rtt/Rnk:"))
		return read_stragglers(log, line, err);
	skip(log, "other line");
	return 0;
}

int training_log_read(struct input *input, int n_microbatches, struct observed *out,
                      struct err *err)
{
	struct training_log log = {.input = input, .out = out, .n_microbatches = n_microbatches};
	struct text_span line;
	int rc;

	while ((rc = input_next_line(input, &line.text, &line.length, err)) > 0) {
		rc = read_line(&log, line, err);
		if (rc < 0)
			return rc;
	}
	if (rc == 0 && !log.has_begun)
		return err_set(
			err, -EINVAL,
			"%s: no line such as 'iteration 1/ 10 | elapsed time per iteration "
			"(ms): 752.8 |', as in a training log, and it looks like nothing else that "
			"is imported",
			input_name(input));
	if (rc == 0)
		out->n_bytes += input_n_bytes(input);
	return rc;
}
