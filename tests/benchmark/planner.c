/* planner.c - how long each schedule takes to make a plan for 8 stages and 32 microbatches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/schedule/schedule.h"
#include "tests/measure.h"

enum { N_STAGES = 8, N_MICROBATCHES = 32 };

/* A plan to be made. link 3-4 is slow; times differ a little from stage to stage, as measured ones
 * do. */
struct job {
	const struct schedule_ops *schedule;
	struct schedule_request request;
	int64_t op_ns[OP_KINDS][N_STAGES];
	int64_t link_ns[N_STAGES];
	int64_t healthy_ns[N_STAGES];
};

static void fill(struct job *job)
{
	for (int stage = 0; stage < N_STAGES; stage++) {
		job->op_ns[OP_F][stage] = (9 + stage % 3) * NS_PER_MS;
		job->op_ns[OP_B][stage] = (10 + stage % 2) * NS_PER_MS;
		job->op_ns[OP_W][stage] = 6 * NS_PER_MS;
		job->healthy_ns[stage] = job->link_ns[stage] = 5 * NS_PER_US;
	}
	job->link_ns[3] = 30 * NS_PER_MS;
	job->request.times.n_stages = N_STAGES;
	for (int kind = 0; kind < OP_KINDS; kind++)
		job->request.times.op_ns[kind] = job->op_ns[kind];
	job->request.times.link_ns = job->link_ns;
	job->request.healthy_link_ns = job->healthy_ns;
	job->request.n_microbatches = N_MICROBATCHES;
}

static void make_plan(void *context)
{
	struct job *job = context;
	struct err err = {0};
	struct plan plan;

	if (schedule_make(job->schedule, &job->request, &plan, &err)) {
		fprintf(stderr, "%s: %s\n", job->schedule->name, err.text);
		exit(1);
	}
	plan_fini(&plan);
}

static void show(const char *name, bool has_straggler, const char *target)
{
	struct job job = {0};
	struct err err = {0};
	char what[80];
	int64_t call_ns;

	fill(&job);
	job.schedule = schedule_find(name, &err);
	job.request.has_straggler = has_straggler;
	call_ns = measure_ns(make_plan, &job);
	snprintf(what, sizeof(what), "%s%s", name, has_straggler ? ", link 3-4 takes 30 ms" : "");
	measure_row(what, target, call_ns, measure_text("%.3f ms", (double)call_ns / NS_PER_MS));
}

int main(void)
{
	measure_header();
	for (const struct schedule_ops *const *ops = schedule_list(); *ops; ops++) {
		bool is_published = strcmp((*ops)->name, "adaptra") == 0 ||
		                    strcmp((*ops)->name, "adaptra-published") == 0;
		const char *target = is_published ? "0.3 ms" : "";

		if (strncmp((*ops)->name, "csv", 3) == 0)
			continue;
		show((*ops)->name, false, target);
		if ((*ops)->adaptation == SCHEDULE_REPLANS)
			show((*ops)->name, true, target);
	}
	return 0;
}
