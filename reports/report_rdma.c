/* report_rdma.c - what outages the retries of RNICs outlast, beside those that the scenario asks
 * for. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/scenario/rdma.h"
#include "reports/report_internal.h"
#include "reports/settings.h"

/* An RNIC that goes down, as the settings tell it: "down 1->1 start iteration 3 end 5000 ns rail
 * 0". */
struct down {
	int stage, rail;
	int64_t lasts_ns; /* −1: not by time */
};

static int64_t time_after(const char *text, const char *word)
{
	const char *at = strstr(text, word);
	long long ns;
	char unit[3];

	return at && sscanf(at + strlen(word), "%lld %2s", &ns, unit) == 2 &&
	                       strcmp(unit, "ns") == 0
	               ? ns
	               : -1;
}

static bool read_down(const char *text, struct down *out)
{
	const char *rail = strstr(text, " rail ");
	int64_t start_ns = time_after(text, " start "), end_ns = time_after(text, " end ");

	if (sscanf(text, "down %d->", &out->stage) != 1 || !rail ||
	    sscanf(rail, " rail %d", &out->rail) != 1)
		return false;
	/* One that starts at an iteration or an op ends so long after its start. */
	out->lasts_ns = end_ns < 0 || start_ns < 0 ? end_ns : end_ns - start_ns;
	return true;
}

static void add_down(const struct down *down, double speed, struct strbuf *out)
{
	char profile[UNITS_TEXT_BYTES], real[UNITS_TEXT_BYTES];

	strbuf_addf(out, "; stage %d, rail %d is down", down->stage, down->rail);
	if (down->lasts_ns < 0)
		strbuf_add(out, " for whole iterations");
	else
		strbuf_addf(out, " for %s, here %s", units_format_duration(down->lasts_ns, profile),
		            units_format_duration(llround((double)down->lasts_ns / speed), real));
}

/* The texts of a JSON list; none of them has a quotation mark. */
static void add_downs(const char *list, double speed, struct strbuf *out)
{
	char text[256];
	int n;

	while ((list = strchr(list, '"'))) {
		struct down down;

		n = (int)strcspn(++list, "\"");
		(void)snprintf(text, sizeof(text), "%.*s", n, list);
		if (read_down(text, &down))
			add_down(&down, speed, out);
		list += n + (list[n] == '"');
	}
}

void report_rdma_add(const char *settings_json, double speed, struct strbuf *out)
{
	double timeout = settings_number(settings_json, "recovery.rdma_timeout");
	double n_retries = settings_number(settings_json, "recovery.rdma_retries");
	struct setting *settings = NULL;
	char budget[UNITS_TEXT_BYTES];
	size_t n = 0;

	if (!(timeout >= 1 && timeout <= RDMA_TIMEOUT_MOST && n_retries >= 0 &&
	      n_retries <= RDMA_RETRIES_MOST))
		return;
	units_format_duration(
		rdma_outage_budget_ns(&(struct rdma_retry){(int)timeout, (int)n_retries}), budget);
	strbuf_addf(out,
	            "RNICs try for %s (timeout %d, %d retries) before they give a connection up: "
	            "where packets are lost for less, it stalls, for more, the rail is lost",
	            budget, (int)timeout, (int)n_retries);
	if (settings_read(settings_json, &settings, &n, NULL))
		return;
	for (size_t i = 0; i < n; i++)
		if (strcmp(settings[i].path, "faults") == 0)
			add_downs(settings[i].value, speed, out);
	settings_free(settings, n);
}

void report_rdma(const struct comparison *comparison, double speed,
                 const struct report_style *style, struct strbuf *out)
{
	struct strbuf text = {0};

	if (!strstr(comparison->backends, "transport verbs,") &&
	    !strstr(comparison->backends, ",verbs,"))
		return;
	if (comparison->rnics && *comparison->rnics)
		report_sentence(out, TONE_PLAIN, style, "RNICs: %s.", comparison->rnics);
	report_rdma_add(comparison->settings_json, speed, &text);
	if (text.length > 0)
		report_sentence(out, TONE_PLAIN, style, "%s", strbuf_text(&text));
	out->is_failed |= text.is_failed;
	strbuf_fini(&text);
}
