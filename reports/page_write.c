/* page_write.c - the page from its answer down to how to make it again. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "reports/page_internal.h"
#include "reports/quantity.h"
#include "reports/report_internal.h"
#include "reports/svg.h"

/* As wide as text may be on a terminal, so that little is cut. */
const struct report_style page_style = {.columns = REPORT_COLUMNS_MAX, .has_unicode = true};

static const struct {
	const char *id, *title;
	void (*add)(const struct page *page, struct strbuf *out);
} sections[] = {
	{"schedules", "The schedules compared", page_schedules},
	{"repeats", "How far to trust the speedups", page_repeats},
	{"iterations", "Iteration time over the run", page_iterations},
	{"faults", "What each fault cost", page_events},
	{"shares", "Where the time went", page_shares},
	{"timelines", "One iteration, op by op", page_timelines},
	{"distribution", "How iteration times are distributed", page_distribution},
	{"links", "What the faults did to messages", page_links},
	{"loss", "Loss of the model", page_losses},
	{"simulated", "Measured beside simulated", page_simulated},
	{"variants", "The same with other options", page_variants},
	{"checks", "What the scenario claims", page_checks},
	{"settings", "Settings in force", page_settings},
	{"reproduce", "How to make this again", page_reproduce},
};

enum { N_SECTIONS = sizeof(sections) / sizeof(sections[0]) };

char *page_class(const char *words, size_t schedule, char *out)
{
	snprintf(out, PAGE_CLASS_BYTES, "%.24s s%zu", words, schedule % PAGE_COLOURS);
	return out;
}

char *page_name(const struct page *page, size_t schedule, char *out)
{
	return report_name(page->comparison, schedule, &page_style, out);
}

/* A section's own drawing, behind html_figure(). */
struct drawing {
	const struct page *page;
	void (*draw)(const struct page *page, double width, struct strbuf *out);
};

static void draw(const void *what, double width, struct strbuf *out)
{
	const struct drawing *drawing = what;

	drawing->draw(drawing->page, width, out);
}

void page_figure(const struct page *page, struct strbuf *out,
                 void (*section)(const struct page *page, double width, struct strbuf *out))
{
	const struct drawing drawing = {page, section};

	html_figure(out, draw, &drawing);
}

size_t page_event_of(const struct page *page, const struct stored_fault *fault)
{
	size_t i = 0;

	while (i < page->comparison->n_events && page->comparison->events[i].event != fault->event)
		i++;
	return i;
}

bool page_describe(const struct page *page, enum page_kind kind, struct strbuf *out)
{
	const struct comparison *comparison = page->comparison;
	char number[QUANTITY_BYTES];
	size_t i = 0;

	while (i < comparison->n_schedules && page->runs[i].chosen[kind].n_ops == 0)
		i++;
	if (i == comparison->n_schedules)
		return false;
	strbuf_addf(out, "Iteration %s, ",
	            quantity_count(page->runs[i].chosen[kind].iteration, number));
	if (kind == PAGE_HEALTHY)
		strbuf_add(out, "healthy");
	else if (page->event < comparison->n_events)
		strbuf_addf(out, "under %s", comparison->events[page->event].label);
	else
		strbuf_add(out, "under a fault");
	return true;
}

void page_headline(const struct page *page, struct strbuf *out)
{
	size_t from = out->length;

	report_headline(page->comparison, &page_style, out);
	for (size_t i = from; i < out->length; i++)
		if (out->text[i] == '\n')
			out->text[i] = i + 1 < out->length ? ' ' : '\0';
}

/* The answer, and in smaller type which schedules did not finish. */
static void add_headline(const struct page *page, struct strbuf *out)
{
	struct strbuf text = {0};
	const char *more;

	page_headline(page, &text);
	more = strstr(strbuf_text(&text), ". ");
	html_title(out, "%.*s", more ? (int)(more + 1 - text.text) : INT_MAX, strbuf_text(&text));
	if (more)
		html_sentence(out, "warning", "%s", more + 2);
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

static void add_what(const struct page *page, struct strbuf *out)
{
	const struct comparison *comparison = page->comparison;
	bool is_live = strcmp(comparison->mode, "live") == 0;
	bool is_imported = strcmp(comparison->mode, "imported") == 0;
	struct strbuf text = {0};
	char speed[QUANTITY_BYTES];

	strbuf_addf(&text, "%d stage%s, %d microbatch%s", comparison->n_stages,
	            comparison->n_stages == 1 ? "" : "s", comparison->n_microbatches,
	            comparison->n_microbatches == 1 ? "" : "es");
	if (comparison->n_replicas > 1)
		strbuf_addf(&text, ", %d replicas", comparison->n_replicas);
	if (is_live)
		strbuf_addf(&text, ", run for real, %s", quantity_speed(comparison->speed, speed));
	else if (is_imported)
		strbuf_add(&text, ", imported from another program's files");
	else
		strbuf_add(&text, ", in virtual time");
	html_sentence(out, "caption", "%s; made %s.%s", strbuf_text(&text), comparison->created,
	              is_imported ? "" : " Times are those of the profile.");
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

static void add_top(const struct page *page, struct strbuf *out)
{
	const struct comparison *comparison = page->comparison;

	html_sentence(out, "eyebrow", "%s",
	              *comparison->scenario_title ? comparison->scenario_title : "adaptra-bench");
	add_headline(page, out);
	add_what(page, out);
	if (comparison->warning)
		html_sentence(out, "warning", "%s.", comparison->warning);
	if (comparison->note)
		html_sentence(out, NULL, "%s", comparison->note);
}

/* The sections that have something to say, and links to them in front. */
static void add_sections(const struct page *page, struct strbuf *out)
{
	struct strbuf contents = {0}, section = {0}, all = {0};

	html_contents(&contents);
	for (size_t i = 0; i < N_SECTIONS; i++) {
		sections[i].add(page, &section);
		if (section.length > 0) {
			html_contents_link(&contents, sections[i].id, sections[i].title);
			html_section(&all, sections[i].id, sections[i].title);
			strbuf_add(&all, strbuf_text(&section));
			html_section_end(&all);
		}
		all.is_failed |= section.is_failed;
		strbuf_clear(&section);
	}
	html_contents_end(&contents);
	strbuf_add(out, strbuf_text(&contents));
	strbuf_add(out, strbuf_text(&all));
	out->is_failed |= contents.is_failed | all.is_failed;
	strbuf_fini(&contents);
	strbuf_fini(&section);
	strbuf_fini(&all);
}

void page_write(const struct page *page, struct strbuf *out)
{
	const char *title = page->comparison->scenario_title;
	struct strbuf name = {0};

	strbuf_addf(&name, "%s%sadaptra-bench", title, *title ? " - " : "");
	html_begin(out, strbuf_text(&name));
	page_definitions(out);
	add_top(page, out);
	add_sections(page, out);
	html_end(out);
	out->is_failed |= name.is_failed;
	strbuf_fini(&name);
}
