/* comparison_losses.c - are the losses of all live runs the same, bit for bit?
 *
 * They have to be, whatever the schedule, the data plane and the faults: that is the proof that no
 * message was lost, doubled or taken out of order. Only runs of one workload, seed and repeat on
 * one machine are held to it; elsewhere other numbers are multiplied, or by other code. */
#include "reports/comparison_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/rng.h"

/* What two runs must share for their losses to be the same. */
static uint64_t subject_of(const struct stored_run *run)
{
	uint64_t subject = rng_mix(run->workload_fingerprint, run->seed);

	subject = rng_mix(subject, (uint64_t)run->repeat);
	for (const char *c = run->host; c && *c; c++)
		subject = rng_mix(subject, (unsigned char)*c);
	return subject;
}

static int copy_one(const struct stored_run *run, const struct run_numbers *numbers, int n_asked,
                    struct comparison_losses *out)
{
	double *loss = array_new((size_t)n_asked, sizeof(*loss));

	if (!loss)
		return -ENOMEM;
	for (int i = 0; i < n_asked; i++)
		loss[i] = i < run->n_iterations ? numbers->loss[i] : NAN;
	*out = (struct comparison_losses){subject_of(run), run->repeat, loss, numbers->missing_loss,
	                                  numbers->conflicting_loss};
	return 0;
}

static int copy_group(const struct run_set *set, const struct run_group *group, int n_asked,
                      struct comparison_schedule *out)
{
	for (size_t i = 0; i < group->n_members; i++) {
		const struct stored_run *run = &set->runs[group->members[i]];

		if (!run->mode || strcmp(run->mode, "live") != 0)
			continue;
		if (copy_one(run, &set->numbers[group->members[i]], n_asked,
		             &out->losses[out->n_losses]))
			return -ENOMEM;
		out->n_losses++;
	}
	return 0;
}

int comparison_copy_losses(const struct run_set *set, size_t group, int n_asked,
                           struct comparison_schedule *out)
{
	const struct run_group *own = &set->groups[group];
	bool is_controlled = group == set->controlled && set->control.n_members > 0;
	size_t n = own->n_members + (is_controlled ? set->control.n_members : 0);
	int rc;

	out->losses = array_new(n, sizeof(*out->losses));
	if (!out->losses)
		return -ENOMEM;
	rc = copy_group(set, own, n_asked, out);
	return rc || !is_controlled ? rc : copy_group(set, &set->control, n_asked, out);
}

/* One run among all of the comparison's, in the order of its schedules. */
struct place {
	size_t schedule, run;
};

static const struct comparison_losses *losses_at(const struct comparison *comparison,
                                                 struct place place)
{
	return &comparison->schedules[place.schedule].losses[place.run];
}

/* Go to the next run; false: there is none. Starts at {0, SIZE_MAX}. */
static bool next_place(const struct comparison *comparison, struct place *place)
{
	for (place->run++; place->schedule < comparison->n_schedules;
	     place->schedule++, place->run = 0)
		if (place->run < comparison->schedules[place->schedule].n_losses)
			return true;
	return false;
}

static const struct place before_first = {0, SIZE_MAX};

/* The first run in front of place that has a loss of the iteration which must be the same. */
static bool find_witness(const struct comparison *comparison, struct place place, int iteration,
                         struct place *out)
{
	const struct comparison_losses *losses = losses_at(comparison, place);

	for (*out = before_first; next_place(comparison, out);) {
		const struct comparison_losses *other = losses_at(comparison, *out);

		if (other == losses)
			return false;
		if (other->subject == losses->subject && !isnan(other->loss[iteration]))
			return true;
	}
	return false;
}

/* What was found in one iteration. */
struct finding {
	bool is_compared;
	bool differs;
	struct place one, other;
};

static struct finding compare_iteration(const struct comparison *comparison, int iteration)
{
	struct finding finding = {0};

	for (struct place at = before_first; next_place(comparison, &at);) {
		const struct comparison_losses *losses = losses_at(comparison, at);
		struct place witness;

		if (isnan(losses->loss[iteration]) ||
		    !find_witness(comparison, at, iteration, &witness))
			continue;
		finding.is_compared = true;
		if (finding.differs ||
		    memcmp(&losses->loss[iteration],
		           &losses_at(comparison, witness)->loss[iteration], sizeof(double)) == 0)
			continue;
		finding.differs = true;
		finding.one = witness;
		finding.other = at;
	}
	return finding;
}

/* "zb", or "zb (repeat 2)" where there are several. */
static void add_name(const struct comparison *comparison, struct place place,
                     struct strbuf *sentence)
{
	const struct comparison_schedule *schedule = &comparison->schedules[place.schedule];

	strbuf_add(sentence, schedule->name);
	if (schedule->n_losses > 1)
		strbuf_addf(sentence, " (repeat %d)", schedule->losses[place.run].repeat + 1);
}

static void say_difference(const struct comparison *comparison, const struct finding *finding,
                           int iteration, struct strbuf *sentence)
{
	strbuf_addf(sentence, "the losses of iteration %d differ: ", iteration);
	add_name(comparison, finding->one, sentence);
	strbuf_addf(sentence, " gives %.17g and ",
	            losses_at(comparison, finding->one)->loss[iteration]);
	add_name(comparison, finding->other, sentence);
	strbuf_addf(sentence, " %.17g, and they must be equal, bit for bit",
	            losses_at(comparison, finding->other)->loss[iteration]);
}

/* A run that is not as it should be by itself; the iteration, or −1. */
static int check_run(const struct comparison *comparison, struct place place,
                     struct strbuf *sentence)
{
	const struct comparison_losses *losses = losses_at(comparison, place);

	if (losses->conflict >= 0) {
		strbuf_addf(sentence,
		            "the losses of iteration %d differ before and after a restart of ",
		            losses->conflict);
		add_name(comparison, place, sentence);
		return losses->conflict;
	}
	if (losses->missing >= 0) {
		strbuf_addf(sentence, "iteration %d has no loss that is a number under ",
		            losses->missing);
		add_name(comparison, place, sentence);
	}
	return losses->missing;
}

/* The first iteration that is not as it should be, −1: none. Differences between schedules come
 * first: what one run contradicts itself in shows there as well. */
static int find_difference(const struct comparison *comparison, int *n_compared_out,
                           struct strbuf *sentence)
{
	int difference = -1;

	*n_compared_out = 0;
	for (int i = 0; i < comparison->n_iterations_asked; i++) {
		struct finding finding = compare_iteration(comparison, i);

		*n_compared_out += finding.is_compared;
		if (!finding.differs || difference >= 0)
			continue;
		difference = i;
		say_difference(comparison, &finding, i, sentence);
	}
	for (struct place at = before_first; difference < 0 && next_place(comparison, &at);)
		difference = check_run(comparison, at, sentence);
	return difference;
}

bool comparison_losses_agree(const struct comparison *comparison, struct strbuf *sentence)
{
	int n_compared;

	return find_difference(comparison, &n_compared, sentence) < 0;
}

static int count_losses(const struct comparison *comparison, const double *loss)
{
	int n = 0;

	for (int i = 0; i < comparison->n_iterations_asked; i++)
		n += !isnan(loss[i]);
	return n;
}

struct comparison_loss comparison_loss_of(const struct comparison *comparison)
{
	struct comparison_loss out = {.first = NAN, .last = NAN};
	struct strbuf sentence = {0};

	for (struct place at = before_first; next_place(comparison, &at);) {
		const double *loss = losses_at(comparison, at)->loss;
		int n = count_losses(comparison, loss);

		if (n <= out.n_iterations)
			continue;
		out.loss = loss;
		out.n_iterations = n;
	}
	for (int i = 0; out.loss && i < comparison->n_iterations_asked; i++) {
		if (isnan(out.loss[i]))
			continue;
		out.first = isnan(out.first) ? out.loss[i] : out.first;
		out.last = out.loss[i];
	}
	out.difference = find_difference(comparison, &out.n_compared, &sentence);
	out.is_equal = out.difference < 0;
	strbuf_fini(&sentence);
	return out;
}
