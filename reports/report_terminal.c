/* report_terminal.c - the first screen of a comparison, from the answer down to where it is kept.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/quantity.h"
#include "reports/report_internal.h"

void report_sentence(struct strbuf *out, enum tone tone, const struct report_style *style,
                     const char *format, ...)
{
	struct strbuf text = {0};
	va_list args;

	va_start(args, format);
	strbuf_vaddf(&text, format, args);
	va_end(args);
	display_begin(out, tone, style);
	display_add_wrapped(out, strbuf_text(&text), 0, 0, style);
	display_end_line(out, tone, style);
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

char *report_name(const struct comparison *comparison, size_t schedule,
                  const struct report_style *style, char *out)
{
	struct strbuf text = {0};

	display_add_cut_middle(&text, comparison->schedules[schedule].name, REPORT_NAME_COLUMNS,
	                       style);
	snprintf(out, REPORT_NAME_BYTES, "%s", strbuf_text(&text));
	strbuf_fini(&text);
	return out;
}

/* "in virtual time", "live, 16 times faster than the profile" */
static void add_mode(const struct comparison *comparison, struct strbuf *out)
{
	double speed = comparison->speed;
	char text[QUANTITY_BYTES];

	if (strcmp(comparison->mode, "sim") == 0)
		strbuf_add(out, "in virtual time");
	else
		strbuf_add(out, comparison->mode);
	if (strcmp(comparison->mode, "live") != 0 || !(speed > 0) || !isfinite(speed))
		return;
	strbuf_addf(out, ", %s", quantity_speed(speed, text));
}

static void add_scenario(const struct comparison *comparison, const struct report_style *style,
                         struct strbuf *out)
{
	struct strbuf text = {0};

	if (*comparison->scenario_title)
		strbuf_addf(&text, "%s: ", comparison->scenario_title);
	strbuf_addf(&text, "%d stage%s, %d microbatch%s", comparison->n_stages,
	            comparison->n_stages == 1 ? "" : "s", comparison->n_microbatches,
	            comparison->n_microbatches == 1 ? "" : "es");
	if (comparison->n_replicas > 1)
		strbuf_addf(&text, ", %d replicas", comparison->n_replicas);
	strbuf_add(&text, "; ");
	add_mode(comparison, &text);
	strbuf_addf(&text, " (%s)", comparison->backends);
	report_sentence(out, TONE_DIM, style, "%s", strbuf_text(&text));
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}

/* The note's own line feeds stay. */
static void add_note(const struct comparison *comparison, const struct report_style *style,
                     struct strbuf *out)
{
	const char *line = comparison->note;

	while (line && *line) {
		size_t n = strcspn(line, "\n");

		report_sentence(out, TONE_PLAIN, style, "%.*s", (int)n, line);
		line += n + (line[n] == '\n');
	}
}

/* Where it is kept. A path may be longer than the page: its end tells more than its middle. */
static void add_store(const struct comparison *comparison, const struct report_style *style,
                      struct strbuf *out)
{
	struct strbuf which = {0};
	int room;

	if (comparison->comparison)
		strbuf_addf(&which, ", comparison %" PRId64, comparison->comparison);
	room = display_columns(style) - (int)strlen("Database: ") - (int)which.length;
	strbuf_add(out, "Database: ");
	display_add_cut_middle(out, *comparison->store_path ? comparison->store_path : "none", room,
	                       style);
	strbuf_addf(out, "%s\n", strbuf_text(&which));
	out->is_failed |= which.is_failed;
	strbuf_fini(&which);
}

void report_checks(const struct report_check *checks, size_t n_checks,
                   const struct report_style *style, struct strbuf *out)
{
	if (n_checks > 0)
		strbuf_add(out, "\nChecks\n");
	for (size_t i = 0; i < n_checks; i++) {
		const struct report_check *check = &checks[i];
		enum tone tone = check->has_held ? TONE_GOOD : TONE_BAD;

		display_begin(out, tone, style);
		if (style->has_unicode)
			strbuf_add(out, check->has_held ? "✓ " : "✗ ");
		else
			strbuf_add(out, check->has_held ? "ok     " : "failed ");
		display_end(out, tone, style);
		report_sentence(out, TONE_PLAIN, style, "%s%s%s", check->name,
		                *check->detail ? ": " : "", check->detail);
	}
}

/* Put a section below a blank line, if there is something in it. */
static void add_section(struct strbuf *out, struct strbuf *section)
{
	if (section->length > 0)
		strbuf_addf(out, "\n%s", strbuf_text(section));
	out->is_failed |= section->is_failed;
	strbuf_clear(section);
}

bool report_has_numbers(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->n_schedules; i++)
		if (comparison->schedules[i].n_iterations > 0 ||
		    isfinite(comparison->schedules[i].total_s))
			return true;
	return false;
}

static void add_numbers(const struct comparison *comparison, const struct report_extras *extras,
                        const struct report_style *style, struct strbuf *out)
{
	struct strbuf section = {0};

	report_schedules(comparison, style, &section);
	add_section(out, &section);
	report_speedups(comparison, style, &section);
	add_section(out, &section);
	report_repeats(comparison, style, &section);
	add_section(out, &section);
	report_picture(comparison, style, &section);
	add_section(out, &section);
	report_losses(comparison, style, &section);
	add_section(out, &section);
	report_events(comparison, style, &section);
	add_section(out, &section);
	report_simulated(comparison, extras->simulated, style, &section);
	add_section(out, &section);
	report_facts(comparison, style, &section);
	add_section(out, &section);
	report_links(comparison, style, &section);
	add_section(out, &section);
	strbuf_fini(&section);
}

void report_terminal(const struct comparison *comparison, const struct report_extras *extras,
                     const struct report_style *style, struct strbuf *out)
{
	struct strbuf section = {0};

	report_headline(comparison, style, out);
	add_scenario(comparison, style, out);
	if (comparison->warning)
		report_sentence(out, TONE_BAD, style, "%s.", comparison->warning);
	if (report_has_numbers(comparison))
		add_numbers(comparison, extras, style, out);
	report_variants(comparison, extras->variants, extras->n_variants, style, &section);
	add_section(out, &section);
	add_note(comparison, style, &section);
	add_store(comparison, style, &section);
	add_section(out, &section);
	strbuf_fini(&section);
}
