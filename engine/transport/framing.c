/* framing.c - what connections are called, how they are lost, fall silent and tell the time. */
#include "engine/transport/framing_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Two workers whose ids are equal read one clock: same boot, same time namespace. A clock that was
 * given to open() is shared inside a process at most; where nothing is known, nothing is shared. */
static uint64_t clock_id(const struct transport_config *config)
{
	char text[128] = {0};
	ssize_t n_boot, n_namespace;
	int fd;

	if (config->clock_ns)
		return (uint64_t)getpid();
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	n_boot = fd < 0 ? -1 : read(fd, text, sizeof(text) / 2);
	if (fd >= 0)
		(void)close(fd);
	if (n_boot <= 0)
		return (uint64_t)clock_monotonic_ns() << 16 ^ (uint64_t)getpid();
	/* A kernel without time namespaces has no such link, and one clock for all. */
	n_namespace = readlink("/proc/self/ns/time", text + n_boot, sizeof(text) - (size_t)n_boot);
	(void)n_namespace;
	return frame_digest(0, text, sizeof(text));
}

int framing_init_host(struct framing_host *host, const struct transport_config *config,
                      struct err *err)
{
	int rc = transport_copy_config(config, &host->config, err);

	if (rc)
		return rc;
	host->pool = pool_of(config);
	host->has_digests = true;
	host->clock_id = clock_id(config);
	host->now_ns = transport_now_ns(&host->config);
	return 0;
}

void framing_begin_poll(struct framing_host *host)
{
	host->polled_before_ns = host->polled_ns;
	host->polled_ns = transport_now_ns(&host->config);
}

void framing_fini_host(struct framing_host *host)
{
	free((void *)host->config.is_local);
	inbox_fini(&host->inbox);
	pool_fini(&host->pool);
}

void framing_name(const struct framing_host *host, int connection, struct framing *framing)
{
	int end = connection / host->config.n_queues, side = end / host->config.n_rails;

	framing->stage = side / 2;
	framing->peer = side % 2 ? framing->stage + 1 : framing->stage - 1;
	framing->rail = end % host->config.n_rails;
	framing->queue = connection % host->config.n_queues;
}

bool framing_is_ours(const struct framing_host *host, const struct framing *framing)
{
	return framing->peer >= 0 && framing->peer < host->config.n_stages &&
	       host->config.is_local[framing->stage];
}

void framing_lose(struct framing_host *host, struct framing_end *end, const struct framing *framing,
                  int reason, const char *sentence)
{
	int stage = framing->stage, peer = framing->peer, rail = framing->rail;
	struct transport_event event = {
		.kind = TRANSPORT_LOST,
		.reason = reason,
		.message = {.from_stage = stage, .to_stage = peer, .rail = rail},
		.arrived_ns = host->now_ns,
		.sentence = end->sentence,
	};

	inbox_lose(&host->inbox, &host->pool, stage, peer, rail);
	if (!end->is_live)
		return;
	end->is_live = false;
	(void)snprintf(end->sentence, sizeof(end->sentence),
	               "stage %d lost rail %d to stage %d: %s", stage, rail, peer, sentence);
	(void)inbox_add(&host->inbox, &event, 0, 0);
}

bool framing_is_cut_off(const struct framing *framing, int64_t limit_ns)
{
	const struct framing_receiver *in = &framing->in;

	return (in->payload || in->n_header > 0) && in->read_ns < limit_ns;
}

bool framing_is_unanswered(const struct framing *framing, int64_t limit_ns)
{
	const struct framing_sender *out = &framing->out;
	bool is_late = out->is_encoded && out->offset > 0 && out->wrote_ns < limit_ns;

	for (uint64_t i = out->first; !is_late && i < out->written; i++) {
		const struct framing_sending *sending = &out->ring[i & (out->capacity - 1)];

		is_late = !sending->is_acked && sending->written_ns < limit_ns &&
		          sending->message.due_ns < limit_ns;
	}
	return is_late;
}

void framing_reset(struct framing_host *host, struct framing *framing)
{
	struct framing_sender *out = &framing->out;

	out->first = out->written = out->next = 0;
	out->is_encoded = false;
	out->n_control = out->control_offset = 0;
	pool_give(&host->pool, framing->in.payload);
	framing->in = (struct framing_receiver){0};
	framing->awaits_hello = false;
}

void framing_fini(struct framing *framing)
{
	free(framing->out.ring);
	free(framing->out.control);
}
