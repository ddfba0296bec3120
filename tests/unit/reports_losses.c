/* reports_losses.c - losses that are not bit for bit what they must be are found and named. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/comparison_internal.h"
#include "tests/reports_live_sample.h"
#include "tests/tap.h"

/* comparison_losses_agree() says want, "" for yes. Frees the comparison. */
static void agree(struct comparison comparison, int difference, const char *want, const char *name)
{
	struct strbuf sentence = {0};
	struct comparison_loss loss = comparison_loss_of(&comparison);
	bool is_equal = comparison_losses_agree(&comparison, &sentence);

	tap_is_str(strbuf_text(&sentence), want, "%s", name);
	tap_ok(is_equal == !*want && loss.is_equal == is_equal, "and the answer is the same");
	tap_is_int(loss.difference, difference, "so is the iteration");
	strbuf_fini(&sentence);
	comparison_fini(&comparison);
}

/* Every schedule has 4.5 in the iteration, and this one the number below it. */
static void break_loss(struct comparison *comparison, size_t schedule, int iteration)
{
	for (size_t i = 0; i < comparison->n_schedules; i++)
		comparison->schedules[i].losses[0].loss[iteration] =
			i == schedule ? nextafter(4.5, 0) : 4.5;
}

/* Give a schedule the losses of a second repeat, all 1 higher. */
static void add_repeat(struct comparison_schedule *schedule)
{
	struct comparison_losses *losses = realloc(schedule->losses, 2 * sizeof(*losses));

	if (!losses)
		abort();
	schedule->losses = losses;
	losses[1] =
		(struct comparison_losses){8, 1, calloc(LIVE_ITERATIONS, sizeof(double)), -1, -1};
	for (int i = 0; losses[1].loss && i < LIVE_ITERATIONS; i++)
		losses[1].loss[i] = losses[0].loss[i] + 1;
	schedule->n_losses = 2;
}

static void test_schedules(void)
{
	struct comparison live = sample_smoke(3, true);
	struct comparison_loss loss = comparison_loss_of(&live);

	tap_ok(loss.first == 5.545 && loss.n_iterations == 60 && loss.n_compared == 60,
	       "the first loss, and how many were compared");
	tap_ok(loss.last == live.schedules[1].losses[0].loss[59], "and the last");
	agree(live, -1, "", "equal losses are equal");
	agree(sample_smoke(3, false), -1, "", "in virtual time nothing differs");
	live = sample_smoke(3, true);
	break_loss(&live, 2, 5);
	break_loss(&live, 1, 40);
	agree(live, 5,
	      "the losses of iteration 5 differ: 1f1b gives 4.5 and adaptra "
	      "4.4999999999999991, and they must be equal, bit for bit",
	      "one bit of one loss is found, the first of two");
	live = sample_smoke(3, true);
	break_loss(&live, 2, 5);
	live.schedules[0].losses[0].loss[5] = NAN; /* 1f1b did not get there */
	agree(live, 5,
	      "the losses of iteration 5 differ: zb gives 4.5 and adaptra "
	      "4.4999999999999991, and they must be equal, bit for bit",
	      "also when the first schedule has none");
	live = sample_smoke(2, true);
	live.schedules[0].losses[0].loss[3] = 0.0;
	live.schedules[1].losses[0].loss[3] = -0.0;
	agree(live, 3,
	      "the losses of iteration 3 differ: 1f1b gives 0 and zb -0, and they must be equal, "
	      "bit for bit",
	      "0 and -0 are not the same bits");
	live = sample_smoke(2, true);
	live.schedules[1].losses[0].subject++;
	break_loss(&live, 1, 5);
	agree(live, -1, "", "runs of another seed, workload or machine are not held to it");
}

static void test_repeats(void)
{
	struct comparison live = sample_smoke(2, true);

	add_repeat(&live.schedules[0]);
	add_repeat(&live.schedules[1]);
	agree(live, -1, "", "repeats have losses of their own");
	live = sample_smoke(2, true);
	add_repeat(&live.schedules[0]);
	add_repeat(&live.schedules[1]);
	live.schedules[0].losses[1].loss[9] = 3.25;
	live.schedules[1].losses[1].loss[9] = 1;
	agree(live, 9,
	      "the losses of iteration 9 differ: 1f1b (repeat 2) gives 3.25 and zb "
	      "(repeat 2) 1, and they must be equal, bit for bit",
	      "which are compared with those of the same repeat");
}

static void test_one_run(void)
{
	struct comparison live = sample_smoke(2, true);

	live.schedules[1].losses[0].conflict = 12;
	agree(live, 12, "the losses of iteration 12 differ before and after a restart of zb",
	      "a run that contradicts itself is found");
	live = sample_smoke(1, true);
	live.schedules[0].losses[0].missing = 4;
	agree(live, 4, "iteration 4 has no loss that is a number under 1f1b",
	      "so is a loss that is missing");
}

/* Iterations 0 to 2, a restart, 1 to 3 again. */
static void test_rows(void)
{
	static const int iterations[] = {0, 1, 2, 1, 2, 3};
	struct stored_run run = {.n_stages = 1, .n_replicas = 1, .n_iterations = 5};
	struct record_iteration rows[6];
	struct run_numbers numbers;
	struct err err = {0};

	for (int i = 0; i < 6; i++)
		rows[i] = (struct record_iteration){
			.attempt = i >= 3,
			.iteration = iterations[i],
			.is_complete = true,
			.start_ns = i * 10,
			.duration_ns = 10,
			.loss = 5 - iterations[i],
		};
	if (!tap_is_int(run_numbers_init(&numbers, &run, rows, 6, &err), 0, "a run has losses"))
		return;
	tap_ok(numbers.loss[0] == 5 && numbers.loss[3] == 2 && isnan(numbers.loss[4]),
	       "one an iteration that was completed");
	tap_is_int(numbers.conflicting_loss, -1, "repeated iterations give what they gave");
	tap_is_int(numbers.missing_loss, -1, "none is missing");
	run_numbers_fini(&numbers);
	rows[4].loss = 3.5;
	rows[5].loss = NAN;
	if (run_numbers_init(&numbers, &run, rows, 6, &err))
		return;
	tap_is_int(numbers.conflicting_loss, 2, "or the iteration is named");
	tap_is_int(numbers.missing_loss, 3, "as is one without a loss");
	tap_is_number(numbers.loss[2], 3.5, 0, "the last attempt's counts");
	run_numbers_fini(&numbers);
}

int main(void)
{
	test_schedules();
	test_repeats();
	test_one_run();
	test_rows();
	return tap_done();
}
