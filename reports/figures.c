/* figures.c - the table of figures, and the page that shows them. */
#include <stdio.h>
#include <string.h>

#include "reports/figure_internal.h"
#include "reports/markup.h"
#include "reports/page_internal.h"

static const struct figure *const figures[] = {
	&figure_delay,     &figure_single,  &figure_multiple, &figure_domino,
	&figure_slackness, &figure_dynamic, &figure_overhead, &figure_trace,
};

enum { N_FIGURES = sizeof(figures) / sizeof(figures[0]) };

/* In the order of the colours; the artefact's names beside ours. */
static const struct {
	const char *name, *measured;
} schedules[] = {
	{"1f1b", "1F1B"},      {"zb", "ZB"},   {"adaptra", "ZB-CPU-ReSchedule"},
	{"zb-cpu", "ZB-CPU"},  {"hold", NULL}, {"adaptra-static", NULL},
	{"adaptra-cpu", NULL},
};

_Static_assert(sizeof(schedules) / sizeof(schedules[0]) == FIGURE_COLOURS, "a colour each");

size_t figures_count(void)
{
	return N_FIGURES;
}

const struct figure *figures_at(size_t i)
{
	return figures[i];
}

size_t figure_colour(const char *schedule)
{
	size_t i = 0;

	while (i < FIGURE_COLOURS && strcmp(schedules[i].name, schedule) != 0)
		i++;
	return i;
}

const char *figure_measured_name(const char *schedule)
{
	size_t i = figure_colour(schedule);

	return i < FIGURE_COLOURS ? schedules[i].measured : NULL;
}

struct bars figure_bars(const char *label)
{
	return (struct bars){
		.label = label,
		.unit = "ms an iteration",
		.value_head = "here",
		.mark_head = "measured",
	};
}

void figure_mark(struct bar *bar, const struct measurements *measured,
                 const struct measured_key *key, enum figure_phase phase)
{
	struct measured_run run;

	if (!key->schedule || !measurements_find(measured, key, &run))
		return;
	bar->mark = phase == FIGURE_CLEAN ? run.clean_ms : run.steady_ms;
	snprintf(bar->source, sizeof(bar->source), "ms, run %d of summary.csv", run.run_id);
}

void figure_add_event(struct bars *bars, const struct figure_source *source, size_t run,
                      size_t event, struct measured_key key)
{
	const struct comparison *comparison = source->pages[run].comparison;

	if (event >= comparison->n_events)
		return;
	for (size_t i = 0; i < comparison->n_schedules; i++) {
		const char *name = comparison->schedules[i].name;
		struct bar *bar = bars_add(bars, name, figure_colour(name),
		                           comparison->events[event].p50_ms[i]);

		key.schedule = figure_measured_name(name);
		figure_mark(bar, source->measured, &key, FIGURE_STEADY);
	}
}

void figures_begin(const char *version, struct strbuf *out)
{
	html_begin(out, "The studies of the paper - adaptra-bench");
	page_definitions(out);
	html_sentence(out, "eyebrow", "adaptra-bench %s", version);
	strbuf_add(out, "<h1>What was published of Adaptra, run again in virtual time</h1>\n");
	html_sentence(out, "caption",
	              "Bars are iteration times of this program's simulator; a diamond stands "
	              "where the authors of Adaptra (arXiv 2504.19232; PipeMorph at NSDI '26) "
	              "measured the same on real GPUs. Where the two part, the text says what "
	              "is known of the reason. A shorter bar is better.");
	html_contents(out);
	for (size_t i = 0; i < N_FIGURES; i++)
		html_contents_link(out, figures[i]->id, figures[i]->title);
	html_contents_end(out);
}

/* The command for every run. */
static void add_commands(const struct figure *figure, struct strbuf *out)
{
	struct strbuf commands = {0};

	for (size_t i = 0; i < figure->n_runs; i++) {
		const struct figure_run *run = &figure->runs[i];

		strbuf_addf(&commands, "adaptra-bench sim %s", run->scenario);
		for (int j = 0; j < FIGURE_ASSIGNMENTS && run->assignments[j]; j++)
			strbuf_addf(&commands, " --set %s", run->assignments[j]);
		for (int j = 0; j < FIGURE_SCHEDULES && run->schedules[j]; j++)
			strbuf_addf(&commands, " --schedule %s", run->schedules[j]);
		strbuf_add_char(&commands, '\n');
	}
	html_details(out, "The commands that give these numbers");
	html_command(out, strbuf_text(&commands));
	html_details_end(out);
	out->is_failed |= commands.is_failed;
	strbuf_fini(&commands);
}

void figures_add(const struct figure *figure, const struct figure_source *source,
                 struct strbuf *out)
{
	html_section(out, figure->id, figure->title);
	html_sentence(out, "caption", "%s", figure->question);
	figure->draw(source, out);
	html_sentence(out, "dim", "%s", figure->caveats);
	html_sentence(out, "dim", "Marks: %s", figure->source);
	add_commands(figure, out);
	html_section_end(out);
}

void figures_end(struct strbuf *out)
{
	html_end(out);
}
