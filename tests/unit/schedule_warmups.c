/* schedule_warmups.c - checks Algorithms 1 and 2 and what they say about what they clamped. */
#include <limits.h>
#include <stdio.h>

#include "tests/unit/schedule_fixture.h"

typedef int warmups_rule(const struct schedule_request *request, struct plan *plan,
                         struct err *err);

/* "7 5 3 1", then " | stage asked->given reason" for every clamp. */
static const char *counted(struct fixture *fixture, warmups_rule *rule, char *out, size_t n_bytes)
{
	struct err err = {0};
	struct plan plan;
	size_t n = 0;

	out[0] = '\0';
	if (plan_init(&plan, fixture->request.times.n_stages, fixture->request.n_microbatches,
	              &err))
		return err.text[0] ? "no plan" : "";
	if (rule(&fixture->request, &plan, &err))
		n += (size_t)snprintf(out, n_bytes, "failed: ");
	for (int s = 0; s < plan.n_stages; s++)
		n += (size_t)snprintf(out + n, n_bytes - n, "%s%d", s > 0 ? " " : "",
		                      plan.warmups[s]);
	for (size_t i = 0; i < plan.n_clamps; i++)
		n += (size_t)snprintf(out + n, n_bytes - n, " | %d %d->%d %s", plan.clamps[i].stage,
		                      plan.clamps[i].asked, plan.clamps[i].given,
		                      plan.clamps[i].reason);
	plan_fini(&plan);
	return out;
}

static void check(struct fixture *fixture, warmups_rule *rule, const char *wanted, const char *name)
{
	char text[1024];

	tap_is_str(counted(fixture, rule, text, sizeof(text)), wanted, "%s", name);
}

static void check_initial(void)
{
	struct fixture fixture;

	fixture_init(&fixture, 8, 32, 10);
	check(&fixture, warmups_initial, "16 13 11 9 7 5 3 1",
	      "without memory Algorithm 1 starts at 2 S, larger differences first");
	fixture.request.limits = fixture.limits;
	fixture.limits[0] = 8;
	check(&fixture, warmups_initial, "8 7 6 5 4 3 2 1", "with memory it starts at what fits");
	fixture.limits[0] = 4;
	check(&fixture, warmups_initial, "4 3 2 1 1 1 1 1", "differences of 0 come last");
	fixture.limits[0] = 16;
	fixture.limits[1] = 10;
	check(&fixture, warmups_initial,
	      "16 10 10 9 7 5 3 1 | 1 13->10 activation limit"
	      " | 2 11->10 activation limit of an earlier stage",
	      "a tight stage bounds those after it, and says so");
	fixture_init(&fixture, 4, 5, 10);
	check(&fixture, warmups_initial, "5 3 2 1 | 0 8->5 microbatches",
	      "no more than there are microbatches, differences spread over what is left");
	fixture_init(&fixture, 1, 5, 10);
	check(&fixture, warmups_initial, "1", "the only stage is the last one");
}

static void check_adapted(void)
{
	struct fixture fixture;

	fixture_init(&fixture, 4, 24, 10);
	check(&fixture, warmups_adapted, "7 5 3 1", "without delay differences are 2");
	/* (10 + 10 + 2 · 30) / (10 + 10) = 4. */
	fixture.link_ns[2] = 30;
	check(&fixture, warmups_adapted, "9 7 5 1", "a delay of 30 on ops of 10 needs 4");
	fixture.link_ns[2] = 31;
	check(&fixture, warmups_adapted, "10 8 6 1", "a little more needs one more");
	fixture.op_ns[OP_F][3] = 20;
	fixture.op_ns[OP_B][3] = 20;
	check(&fixture, warmups_adapted, "8 6 4 1", "a slower next stage needs fewer");
	fixture.link_ns[2] = 10000;
	check(&fixture, warmups_adapted,
	      "24 24 24 1 | 2 502->24 microbatches | 1 26->24 microbatches"
	      " | 0 26->24 microbatches",
	      "an endless delay is clamped to the microbatches");
	fixture.link_ns[2] = INT64_MAX / 100;
	fixture.op_ns[OP_F][3] = 0;
	fixture.op_ns[OP_B][3] = 0;
	fixture.request.limits = fixture.limits;
	fixture.limits[1] = 5;
	fixture.limits[3] = 2;
	check(&fixture, warmups_adapted,
	      "7 5 5 1 | 2 1073741824->5 activation limit of an earlier stage"
	      " | 1 7->5 activation limit",
	      "limits clamp, and a stage that takes no time divides nothing by 0");
}

static void check_published(void)
{
	struct fixture fixture;

	fixture_init(&fixture, 3, 6, 10);
	check(&fixture, warmups_published,
	      "1 1 1 | 1 3->1 published cap on the difference, N - 2S"
	      " | 0 3->1 published cap on the difference, N - 2S",
	      "at N = 2 S the published cap makes every count 1");
	fixture_init(&fixture, 3, 9, 10);
	fixture.link_ns[0] = 500;
	fixture.link_ns[1] = 60;
	check(&fixture, warmups_published,
	      "7 4 1 | 1 8->4 published cap on the difference, N - 2S"
	      " | 0 55->7 published cap on the difference, N - 2S",
	      "a difference is at most N - 2 S");
	fixture_init(&fixture, 3, 20, 10);
	fixture.link_ns[0] = 500;
	fixture.link_ns[1] = 60;
	check(&fixture, warmups_published,
	      "20 8 1 | 0 59->22 published cap on the difference, N - 2S"
	      " | 0 22->20 microbatches",
	      "it can ask for more than there are microbatches, which cannot be run");
}

/* Whatever is asked, counts never grow towards the last stage and stay within all caps. */
static void check_feasible(void)
{
	static warmups_rule *const rules[] = {warmups_initial, warmups_adapted, warmups_published};
	int n_wrong = 0;

	for (uint64_t seed = 0; seed < 1000; seed++) {
		struct fixture fixture;
		struct plan plan;

		fixture_random(&fixture, seed);
		if (plan_init(&plan, fixture.request.times.n_stages, fixture.request.n_microbatches,
		              NULL)) {
			n_wrong++;
			continue;
		}
		n_wrong += rules[seed % 3](&fixture.request, &plan, NULL) != 0;
		for (int s = 0; s < plan.n_stages; s++) {
			int limit = fixture.request.limits ? fixture.limits[s] : 0;
			int most = s > 0 ? plan.warmups[s - 1] : plan.n_microbatches;

			n_wrong += plan.warmups[s] < 1 || plan.warmups[s] > most ||
			           (limit > 0 && plan.warmups[s] > limit);
		}
		n_wrong += plan.warmups[plan.n_stages - 1] != 1;
		plan_fini(&plan);
	}
	tap_is_int(n_wrong, 0, "counts are feasible for a thousand random requests");
}

int main(void)
{
	check_initial();
	check_adapted();
	check_published();
	check_feasible();
	return tap_done();
}
