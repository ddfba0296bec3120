/* report_csv.c - the tables of a report as CSV: one row a thing, one column a number.
 *
 * Where the terminal has a column a schedule, CSV has a row each: columns are then the same
 * whatever was compared, and tools group by them. */
#include "reports/report_csv.h"

#include <math.h>

#include "engine/base/units.h"
#include "engine/format/csv_write.h"
#include "reports/beside.h"

struct source {
	const struct comparison *comparison;
	const struct comparison *simulated; /* NULL: none */
};

static void add_schedule(struct csv_write *csv, const struct comparison_schedule *schedule)
{
	csv_text(csv, schedule->name);
	csv_count(csv, schedule->run > 0 ? schedule->run : -1);
	csv_text(csv, schedule->plane);
	csv_text(csv, schedule->status);
	csv_int(csv, schedule->n_repeats);
	csv_int(csv, schedule->n_iterations);
	csv_number(csv, schedule->total_s);
	csv_number(csv, schedule->p50_ms);
	csv_number(csv, schedule->p95_ms);
	csv_number(csv, schedule->samples_per_s);
	csv_number(csv, schedule->bubble_ratio);
	csv_number(csv, schedule->blocked_ratio);
	csv_number(csv, schedule->mean_ms);
	csv_number(csv, schedule->compute_ms);
	csv_number(csv, schedule->wait_ms);
	csv_number(csv, schedule->blocked_ms);
	csv_int(csv, schedule->n_restarts);
	csv_number(csv, schedule->repeated_s);
	csv_text(csv, schedule->loss_digest);
	csv_end_row(csv);
}

static void add_schedules(const struct source *source, struct csv_write *csv)
{
	for (size_t i = 0; i < source->comparison->n_schedules; i++)
		add_schedule(csv, &source->comparison->schedules[i]);
}

static void add_repeats(const struct source *source, struct csv_write *csv)
{
	for (size_t i = 0; i < source->comparison->n_schedules; i++) {
		const struct comparison_schedule *schedule = &source->comparison->schedules[i];

		for (int repeat = 0; repeat < schedule->n_repeats; repeat++) {
			csv_text(csv, schedule->name);
			csv_int(csv, repeat);
			csv_number(csv, schedule->repeat_total_s[repeat]);
			csv_number(csv, schedule->repeat_p50_ms[repeat]);
			csv_end_row(csv);
		}
	}
}

static void add_paired(struct csv_write *csv, const struct paired *paired)
{
	csv_number(csv, paired->ratio);
	csv_number(csv, paired->low);
	csv_number(csv, paired->high);
	csv_number(csv, paired->least);
	csv_number(csv, paired->most);
	csv_int(csv, paired->pairs);
	csv_int(csv, paired_is_wide(paired));
	csv_end_row(csv);
}

static void add_speedups(const struct source *source, struct csv_write *csv)
{
	const struct comparison *comparison = source->comparison;

	for (size_t i = 0; i < comparison->n_speedups; i++) {
		const struct comparison_speedup *speedup = &comparison->speedups[i];

		csv_text(csv, comparison->schedules[speedup->of].name);
		csv_text(csv, comparison->schedules[speedup->over].name);
		csv_number(csv, speedup->ratio);
		csv_number(csv, speedup->low);
		csv_number(csv, speedup->high);
		add_paired(csv, &speedup->steady);
	}
}

/* The columns of the speedups: a schedule over itself. */
static void add_control(const struct source *source, struct csv_write *csv)
{
	const struct comparison_control *control = &source->comparison->control;

	if (!control->schedule)
		return;
	csv_text(csv, control->schedule);
	csv_text(csv, control->schedule);
	csv_number(csv, control->total.ratio);
	csv_number(csv, control->total.low);
	csv_number(csv, control->total.high);
	add_paired(csv, &control->steady);
}

static void add_events(const struct source *source, struct csv_write *csv)
{
	const struct comparison *comparison = source->comparison;

	for (size_t e = 0; e < comparison->n_events; e++) {
		const struct comparison_event *event = &comparison->events[e];

		for (size_t i = 0; i < comparison->n_schedules; i++) {
			csv_int(csv, event->event);
			csv_text(csv, event->label);
			csv_text(csv, event->links);
			csv_count(csv, event->first_iteration);
			csv_count(csv, event->last_iteration);
			csv_text(csv, comparison->schedules[i].name);
			csv_number(csv, event->p50_ms[i]);
			csv_number(csv, event->published_ms[i]);
			csv_end_row(csv);
		}
	}
}

static void add_iterations(const struct source *source, struct csv_write *csv)
{
	const struct comparison *comparison = source->comparison;

	for (size_t i = 0; i < comparison->n_schedules; i++)
		for (int n = 0; n < comparison->n_iterations_asked; n++) {
			csv_text(csv, comparison->schedules[i].name);
			csv_int(csv, n);
			csv_int(csv, n < comparison->n_warmup);
			csv_number(csv, comparison->schedules[i].iteration_ms[n]);
			csv_end_row(csv);
		}
}

static void add_facts(const struct source *source, struct csv_write *csv)
{
	for (size_t i = 0; i < source->comparison->n_schedules; i++) {
		const struct comparison_schedule *schedule = &source->comparison->schedules[i];
		const struct comparison_facts *facts = &schedule->facts;

		if (!schedule->has_facts)
			continue;
		csv_text(csv, schedule->name);
		csv_number(csv, facts->n_workers);
		csv_number(csv, facts->speed);
		csv_number(csv, facts->payload_bytes);
		csv_number(csv, facts->n_ops);
		csv_number(csv, facts->late_mean_us);
		csv_number(csv, facts->late_max_us);
		csv_number(csv, facts->n_overruns);
		csv_number(csv, facts->op_cpu_us);
		csv_number(csv, facts->foreign_cores);
		csv_number(csv, facts->between_s);
		csv_end_row(csv);
	}
}

static void add_links(const struct source *source, struct csv_write *csv)
{
	const struct comparison *comparison = source->comparison;

	for (size_t i = 0; i < comparison->n_links; i++)
		for (size_t s = 0; s < comparison->n_schedules; s++) {
			const struct comparison_link *link = &comparison->links[i];
			const struct comparison_passed *passed = &link->passed[s];
			const double numbers[] = {
				link->delay_ms,
				link->jitter_ms,
				link->loss_ratio,
				link->rate_mbit_per_s,
				passed->n_messages,
				passed->extra_ms,
				passed->extra_p50_ms,
				passed->extra_p95_ms,
				passed->n_packets,
				passed->n_lost,
				passed->held_ms,
				passed->n_resent,
				passed->goodput_mbit_per_s,
			};

			csv_int(csv, link->from_stage);
			csv_int(csv, link->to_stage);
			csv_text(csv, comparison->schedules[s].name);
			csv_text(csv, link->delay_model);
			for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
				csv_number(csv, numbers[k]);
			csv_end_row(csv);
		}
}

static void add_losses(const struct source *source, struct csv_write *csv)
{
	const struct comparison *comparison = source->comparison;

	for (size_t i = 0; i < comparison->n_schedules; i++) {
		const struct comparison_schedule *schedule = &comparison->schedules[i];

		for (size_t j = 0; j < schedule->n_losses; j++)
			for (int n = 0; n < comparison->n_iterations_asked; n++) {
				csv_text(csv, schedule->name);
				csv_int(csv, schedule->losses[j].repeat);
				csv_int(csv, n);
				csv_number(csv, schedule->losses[j].loss[n]);
				csv_end_row(csv);
			}
	}
}

static void add_beside(struct csv_write *csv, const char *schedule, const char *what,
                       struct beside beside, double unit_ms)
{
	csv_text(csv, schedule);
	csv_text(csv, what);
	csv_number(csv, unit_ms * beside.measured);
	csv_number(csv, unit_ms * beside.simulated);
	csv_number(csv, beside.error_ratio);
	csv_end_row(csv);
}

static void add_simulated(const struct source *source, struct csv_write *csv)
{
	const struct comparison *live = source->comparison, *simulated = source->simulated;

	if (!simulated)
		return;
	for (size_t i = 0; i < live->n_schedules; i++) {
		const char *name = live->schedules[i].name;

		add_beside(csv, name, "total", beside_total_s(live, simulated, i),
		           (double)NS_PER_S / NS_PER_MS);
		add_beside(csv, name, "p50", beside_p50_ms(live, simulated, i), 1);
		for (size_t e = 0; e < live->n_events; e++)
			add_beside(csv, name, live->events[e].label,
			           beside_event_ms(live, simulated, e, i), 1);
	}
}

enum { COLUMNS_MOST = 20 };

#define SPEEDUP_COLUMNS                                                         \
	"schedule", "over", "ratio", "low_ratio", "high_ratio", "steady_ratio", \
		"steady_low_ratio", "steady_high_ratio", "steady_least_ratio",  \
		"steady_most_ratio", "pairs", "is_wide"

static const struct {
	const char *name;
	const char *columns[COLUMNS_MOST]; /* NULL after the last */
	void (*add)(const struct source *source, struct csv_write *csv);
} tables[] = {
	{"schedules",
         {"schedule", "run", "plane", "status", "n_repeats", "n_iterations", "total_s", "p50_ms",
          "p95_ms", "samples_per_s", "bubble_ratio", "blocked_ratio", "mean_ms", "compute_ms",
          "wait_ms", "blocked_ms", "n_restarts", "repeated_s", "loss_digest"},
         add_schedules},
	{"repeats", {"schedule", "repeat", "total_s", "p50_ms"}, add_repeats},
	{"speedups", {SPEEDUP_COLUMNS}, add_speedups},
	{"control", {SPEEDUP_COLUMNS}, add_control},
	{"events",
         {"event", "label", "links", "first_iteration", "last_iteration", "schedule", "p50_ms",
          "published_ms"},
         add_events},
	{"iterations", {"schedule", "iteration", "is_warmup", "duration_ms"}, add_iterations},
	{"facts",
         {"schedule", "n_workers", "speed_ratio", "payload_bytes", "n_ops", "late_mean_us",
          "late_max_us", "n_overruns", "op_cpu_us", "foreign_cores", "between_s"},
         add_facts},
	{"links",
         {"from_stage", "to_stage", "schedule", "delay_model", "delay_ms", "jitter_ms",
          "loss_ratio", "rate_mbit_per_s", "n_messages", "extra_ms", "extra_p50_ms", "extra_p95_ms",
          "n_packets", "n_lost", "held_ms", "n_resent", "goodput_mbit_per_s"},
         add_links},
	{"losses", {"schedule", "repeat", "iteration", "loss"}, add_losses},
	{"simulated",
         {"schedule", "what", "measured_ms", "simulated_ms", "error_ratio"},
         add_simulated},
};

size_t report_csv_n_tables(void)
{
	return sizeof(tables) / sizeof(tables[0]);
}

const char *report_csv_name(size_t i)
{
	return tables[i].name;
}

void report_csv(const struct comparison *comparison, const struct report_extras *extras, size_t i,
                struct strbuf *out)
{
	const struct source source = {comparison, extras->simulated};
	struct csv_write csv = {.out = out};

	for (int c = 0; c < COLUMNS_MOST && tables[i].columns[c]; c++)
		csv_text(&csv, tables[i].columns[c]);
	csv_end_row(&csv);
	tables[i].add(&source, &csv);
}
