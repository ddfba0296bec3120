/* doctor_faults.c - which faults this machine can have for real, tried out where nobody is hurt. */
#include <errno.h>
#include <stdlib.h>

#include "engine/cli/doctor.h"
#include "injectors/injector.h"
#include "injectors/undo.h"

/* What a kernel may lack, and what then. */
static const struct {
	enum qdisc_kind kind;
	const char *good, *cost, *option;
} qdiscs[] = {
	{QDISC_NETEM, "the kernel holds and loses packets",
         "delays and losses are the relay's, 0.1 ms late and on a core of its own",
         "CONFIG_NET_SCH_NETEM"},
	{QDISC_TBF, "the kernel holds packets to a rate", "rates are the relay's",
         "CONFIG_NET_SCH_TBF"},
	{QDISC_SORTER, "the kernel tells destinations apart",
         "no injector but shaped and link can act", "CONFIG_NET_SCH_HTB"},
};

/* A line only where there is no such place. */
static void examine_journals(struct doctor *doctor)
{
	struct err err = {0};
	char *folder;

	if (journal_default_folder(&folder, &err) == 0)
		free(folder);
	else
		doctor_find(doctor, FINDING_MISSING, "journals",
		            "%s; until then --lab netns is refused", err.text);
}

static void examine_qdisc(struct doctor *doctor, size_t i)
{
	const char *name = qdisc_kind_name(qdiscs[i].kind);
	struct err err = {0};
	int rc;

	if (!doctor->has_namespaces) {
		doctor_find(doctor, FINDING_MISSING, name,
		            "cannot be tried: that takes a namespace");
		return;
	}
	rc = qdisc_probe(qdiscs[i].kind, &err);
	if (rc == 0)
		doctor_find(doctor, FINDING_GOOD, name, "%s", qdiscs[i].good);
	else if (rc == -ENOTSUP)
		doctor_find(doctor, FINDING_MISSING, name,
		            "not in this kernel: %s; modprobe sch_%s, or a kernel with %s such as "
		            "Debian's linux-image-amd64",
		            qdiscs[i].cost, name, qdiscs[i].option);
	else
		doctor_find(doctor, FINDING_MISSING, name, "cannot be tried: %s", err.text);
}

static void try_injectors(struct doctor *doctor)
{
	const struct topology topology = {
		.n_stages = 2, .n_hosts = 2, .n_replicas = 1, .n_rails = 1};
	const struct injector_config config = {.topology = &topology};
	struct strbuf text = {0};

	for (const struct injector_ops *const *ops = injector_list(); *ops; ops++) {
		struct injector *injector;

		if ((*ops)->open(&config, &injector, NULL))
			continue;
		(void)injector_close(injector, NULL); /* it changed nothing */
		strbuf_addf(&text, "%s, ", (*ops)->name);
	}
	doctor_find(doctor, FINDING_FACT, "injectors",
	            "in a lab %sshaped; elsewhere shaped, which needs no right",
	            strbuf_text(&text));
	strbuf_fini(&text);
}

static void examine_injectors(struct doctor *doctor)
{
	if (doctor->has_namespaces)
		try_injectors(doctor);
	else
		doctor_find(doctor, FINDING_FACT, "injectors",
		            "shaped, which needs no right; the others act in a lab");
}

void doctor_examine_faults(struct doctor *doctor)
{
	examine_journals(doctor);
	for (size_t i = 0; i < sizeof(qdiscs) / sizeof(qdiscs[0]); i++)
		examine_qdisc(doctor, i);
	examine_injectors(doctor);
}

void doctor_examine_left_over(struct doctor *doctor)
{
	struct undo_summary summary = {0};
	struct err err = {0};
	char *folder;
	int rc;

	/* Without a folder nothing was ever changed. */
	if (journal_default_folder(&folder, NULL))
		return;
	rc = undo_look(folder, &summary, &err);
	free(folder);
	if (rc)
		doctor_find(doctor, FINDING_MISSING, "left over", "%s", err.text);
	if (summary.n_pending > 0)
		doctor_find(
			doctor, FINDING_MISSING, "left over",
			"runs that are over left %d changes of the network, which doctor --undo "
			"undoes",
			summary.n_pending);
	doctor->has_left_over = summary.n_pending > 0;
}
