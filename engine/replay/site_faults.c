/* site_faults.c - what sites that put faults on interfaces have in common: a journal, injectors,
 * and what those count. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "engine/base/array.h"
#include "engine/replay/site_internal.h"
#include "injectors/relay.h"

enum { MESSAGE_EXTRA_BYTES = 104 /* header and digest of transport tcp */ };

int site_keep_first(int first, int rc, const struct err *own, struct err *err)
{
	if (first || rc == 0)
		return first;
	return err_set(err, rc, "%s", own->text);
}

int site_faults_begin(const struct site_config *config, struct site_faults *out, struct err *err)
{
	char *folder;
	int rc = journal_default_folder(&folder, err);

	out->config = *config;
	if (rc)
		return rc;
	rc = journal_open(folder, &out->journal, err);
	free(folder);
	return rc ? rc : egress_open(out->journal, &out->egress, err);
}

int site_faults_open(struct site_faults *faults,
                     int (*locate)(void *context, const struct injector_target *target,
                                   struct egress_port *out, struct err *err),
                     void *context, struct site *site, struct err *err)
{
	const struct scenario *scenario = faults->config.scenario;
	const struct injector_config config = {
		.topology = &scenario->topology,
		.faults = scenario->faults,
		.n_faults = scenario->n_faults,
		.message_bytes = faults->config.message_bytes + MESSAGE_EXTRA_BYTES,
		.journal = faults->journal,
		.egress = faults->egress,
		.timeline = faults->config.timeline,
		.locate = locate,
		.locate_context = context,
	};
	int rc;

	faults->is_taken = array_new(scenario->n_faults, sizeof(*faults->is_taken));
	if (!faults->is_taken)
		return err_set(err, -ENOMEM, "no memory for the faults of a lab");
	rc = site_injectors_open(&faults->config, &config, &faults->injectors, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < scenario->n_faults; i++)
		faults->is_taken[i] = faults->injectors.of_fault[i] >= 0;
	site->is_taken = faults->is_taken;
	site_injectors_describe(&faults->config, &faults->injectors, site);
	return 0;
}

static struct injector *injector_of(const struct site_faults *faults, size_t fault)
{
	return faults->injectors.items[faults->injectors.of_fault[fault]].injector;
}

int site_faults_set(struct site_faults *faults, size_t fault, bool is_on, struct err *err)
{
	const struct fault *real = &faults->injectors.faults[fault];

	return is_on ? injector_apply(injector_of(faults, fault), real, err)
	             : injector_clear(injector_of(faults, fault), real, err);
}

static int add_counts(const struct injector *injector, struct site_report *report, struct err *err)
{
	struct injector_counts counts;
	struct delay_accuracy accuracy;
	int rc = injector_count(injector, NULL, &counts, err);

	if (rc)
		return rc;
	report->sent_packets += counts.sent_packets;
	report->lost_packets += counts.lost_packets;
	report->dropped_packets += counts.dropped_packets;
	/* The others are the kernel's, and do not say. */
	if (relay_accuracy(injector, &accuracy, NULL))
		return 0;
	report->delayed_packets = accuracy.n_packets;
	report->late_mean_ns = accuracy.mean_ns;
	report->late_p99_ns = accuracy.p99_ns;
	report->late_max_ns = accuracy.max_ns;
	return 0;
}

int site_faults_report(const struct site_faults *faults, struct site_report *out, struct err *err)
{
	struct site_report report = {0};
	int rc = 0;

	for (int i = 0; rc == 0 && i < faults->injectors.n_items; i++)
		if (faults->injectors.items[i].injector)
			rc = add_counts(faults->injectors.items[i].injector, &report, err);
	if (rc == 0)
		*out = report;
	return rc;
}

/* A way's faults are all of one injector. */
int site_faults_count(const struct site_faults *faults, size_t fault, struct site_counts *out,
                      struct err *err)
{
	struct injector_counts counts;
	int rc = injector_count(injector_of(faults, fault), &faults->injectors.faults[fault],
	                        &counts, err);

	if (rc == 0)
		*out = (struct site_counts){.sent_packets = counts.sent_packets,
		                            .lost_packets = counts.lost_packets,
		                            .delayed_packets = counts.delayed_packets,
		                            .delay_sum_ns = counts.delay_sum_ns};
	return rc;
}

int site_faults_close(struct site_faults *faults, struct err *err)
{
	struct err own = {0};
	int first = site_keep_first(0, site_injectors_close(&faults->injectors, &own), &own, err);

	first = site_keep_first(first, egress_close(faults->egress, &own), &own, err);
	faults->egress = NULL;
	return first;
}

void site_faults_end(struct site_faults *faults)
{
	if (faults->journal)
		journal_close(faults->journal);
	free(faults->is_taken);
}

/* The first caller in a worker makes the socket, which the kernel asks for; it goes with the
 * worker. */
bool site_interface_is_up(const char *name)
{
	static int fd = -1;
	struct ifreq request = {0};

	if (fd < 0)
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (ioctl(fd, SIOCGIFFLAGS, &request))
		return true;
	return (request.ifr_flags & IFF_UP) && (request.ifr_flags & IFF_RUNNING);
}
