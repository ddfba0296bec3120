/* verbs_silence.c - rails on which nobody answers any more.
 *
 * A message that is not acknowledged is the other side's silence, which the caller limits. What was
 * sent and never completes is the device's: it gives a connection up when its retries are over, but
 * devices round their timeouts up, and one that is software may have nothing to say for seconds, or
 * until it is asked to send something more. So here it is given up, too: real time goes by in
 * checks, of which one that comes late counts no more than any other, since who was kept from its
 * processor for long was so together with a device that is software. */
#include <errno.h>
#include <stdio.h>

#include "engine/base/units.h"
#include "engine/transport/verbs.h"
#include "engine/transport/verbs_internal.h"

enum { CHECKS_PER_SILENCE = 8, CHECK_NS_MAX = 1000000000 };

/* Pieces that still arrive at the other side are no silence. */
static bool is_progressing(struct verbs_queue *queue)
{
	bool is_so = queue->n_sent_done != queue->n_done_seen;

	queue->n_done_seen = queue->n_sent_done;
	return is_so;
}

void verbs_check_silence(struct verbs *verbs)
{
	int64_t every_ns = verbs->host.config.silence_ns / CHECKS_PER_SILENCE;
	int64_t limit_ns = verbs->host.now_ns - verbs->host.config.silence_ns;

	if (verbs->host.config.silence_ns == 0 || verbs->host.now_ns < verbs->next_check_ns)
		return;
	verbs->next_check_ns =
		verbs->host.now_ns + (every_ns > CHECK_NS_MAX ? CHECK_NS_MAX : every_ns);
	for (int i = 0; i < verbs->n_queues; i++) {
		struct verbs_queue *queue = &verbs->queues[i];

		if (!queue->end->port || queue->end->state != VERBS_UP)
			continue;
		if (framing_is_cut_off(&queue->framing, limit_ns))
			verbs_lose(verbs, queue->end, -ETIMEDOUT,
			           "half a message came and no more");
		else if (framing_is_unanswered(&queue->framing, limit_ns) && !is_progressing(queue))
			verbs_lose(verbs, queue->end, -ETIMEDOUT,
			           "a message was not acknowledged in time");
	}
}

/* Something is under way, and nothing has completed since the check before. */
static bool is_waiting(struct verbs_queue *queue)
{
	bool is_so =
		queue->n_sent != queue->n_sent_done && queue->n_sent_done == queue->n_done_checked;

	queue->n_done_checked = queue->n_sent_done;
	return is_so;
}

static void give_up(struct verbs *verbs, struct verbs_queue *queue)
{
	char text[UNITS_TEXT_BYTES], sentence[FRAMING_SENTENCE_BYTES];

	(void)snprintf(sentence, sizeof(sentence),
	               "the RDMA device said nothing of what was sent for %s",
	               units_format_duration(verbs_patience_ns(&verbs->retry), text));
	verbs_lose(verbs, queue->end, -ETIMEDOUT, sentence);
}

void verbs_check_device(struct verbs *verbs)
{
	int64_t now_ns = clock_monotonic_ns();

	if (now_ns < verbs->next_device_check_ns)
		return;
	verbs->next_device_check_ns =
		now_ns + verbs_patience_ns(&verbs->retry) / VERBS_CHECKS_PER_PATIENCE;
	for (int i = 0; i < verbs->n_queues; i++) {
		struct verbs_queue *queue = &verbs->queues[i];

		if (!queue->end->port || queue->end->state != VERBS_UP)
			continue;
		queue->n_waited = is_waiting(queue) ? queue->n_waited + 1 : 0;
		if (queue->n_waited > VERBS_CHECKS_PER_PATIENCE)
			give_up(verbs, queue);
	}
}
