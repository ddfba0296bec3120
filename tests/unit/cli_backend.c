/* cli_backend.c - checks what is known of a live run that did not begin, and of one whose lab
 * dropped packets. */
#include "engine/cli/backend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static void test_no_beginning(void)
{
	struct backend backend = {
		.is_live = true,
		.speed = 1,
		.scratch = {.pipe = -1},
		.facts = {.n_workers = 2, .foreign_cores = 1.5},
	};
	struct scenario scenario = {0};
	struct err err = {0};

	setenv("TMPDIR", "/dev/null/nowhere", 1);
	tap_ok(backend_begin(&backend, &scenario, 0, &err) < 0,
	       "without a folder for checkpoints nothing begins: %s", err.text);
	tap_is_int(backend_end(&backend, &err), 0, "and its end is none");
	tap_is_int(backend.facts.n_workers, 0, "the facts of the run before are not its own");
}

/* A lab of which only the end matters. */
struct fake {
	struct site base;
	int64_t dropped_packets;
	int close_code;
	bool is_closed;
};

static int fake_report(struct site *site, struct site_report *out, struct err *err)
{
	const struct fake *fake = (const struct fake *)site;

	(void)err;
	*out = (struct site_report){.sent_packets = 97, .dropped_packets = fake->dropped_packets};
	return 0;
}

static int fake_close(struct site *site, struct err *err)
{
	struct fake *fake = (struct fake *)site;

	fake->is_closed = true;
	return fake->close_code ? err_set(err, fake->close_code, "it stays") : 0;
}

static const struct site_ops fake_ops = {
	.name = "fake",
	.report = fake_report,
	.close = fake_close,
};

static void check_end(struct fake fake, int want, const char *sentence, const char *name)
{
	struct backend backend = {.is_live = true, .site = &fake.base, .scratch = {.pipe = -1}};
	struct err err = {0};

	fake.base.ops = &fake_ops;
	tap_is_int(backend_end(&backend, &err), want, "%s", name);
	tap_ok(strstr(err.text, sentence) != NULL, "with a sentence: %s", err.text);
	tap_ok(fake.is_closed && !backend.site, "and the lab is gone");
	tap_is_int(backend.site_report.sent_packets, 97, "what it counted is kept");
}

int main(void)
{
	check_end((struct fake){0}, 0, "", "a lab that dropped nothing");
	check_end((struct fake){.dropped_packets = 3}, -EIO, "3 of 100 packets",
	          "one that dropped packets makes its run a failed one");
	check_end((struct fake){.close_code = -EBUSY}, -EBUSY, "it stays",
	          "one that cannot be removed, too");
	check_end((struct fake){.dropped_packets = 3, .close_code = -EBUSY}, -EIO, "3 of 100",
	          "and what went wrong first is told");
	test_no_beginning();
	return tap_done();
}
