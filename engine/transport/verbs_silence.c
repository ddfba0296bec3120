/* verbs_silence.c - rails on which nobody answers any more. */
#include <errno.h>

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
