/* cli_backend.c - checks what is known of a live run that did not begin. */
#include "engine/cli/backend.h"

#include <stdlib.h>

#include "tests/tap.h"

int main(void)
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
	return tap_done();
}
