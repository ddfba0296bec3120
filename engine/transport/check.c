/* check.c - what every backend refuses, with one sentence. */
#include <errno.h>
#include <stdlib.h>

#include "engine/base/array.h"
#include "engine/transport/transport_internal.h"

/* Far above any pipeline; keeps stages × rails × queues within an int. */
enum { STAGES_MAX = 4096 };

int transport_check_config(const struct transport_config *config, struct err *err)
{
	if (config->n_stages < 1 || config->n_stages > STAGES_MAX)
		return err_set(err, -EINVAL, "a transport between %d stages; 1 to %d are possible",
		               config->n_stages, STAGES_MAX);
	if (config->n_rails < 1 || config->n_rails > TRANSPORT_RAILS_MAX)
		return err_set(err, -EINVAL, "a transport with %d rails; 1 to %d are possible",
		               config->n_rails, TRANSPORT_RAILS_MAX);
	if (config->n_queues < 1 || config->n_queues > TRANSPORT_QUEUES_MAX)
		return err_set(err, -EINVAL, "a transport with %d queues; 1 to %d are possible",
		               config->n_queues, TRANSPORT_QUEUES_MAX);
	if (config->max_bytes < 0 || config->max_bytes > INT64_MAX / 4)
		return err_set(err, -EINVAL, "a transport for messages of up to %lld bytes",
		               (long long)config->max_bytes);
	if (config->silence_ns < 0)
		return err_set(err, -EINVAL, "a transport that allows %lld ns of silence",
		               (long long)config->silence_ns);
	return 0;
}

int transport_copy_config(const struct transport_config *config, struct transport_config *out,
                          struct err *err)
{
	bool *is_local = array_copy(config->is_local, (size_t)config->n_stages, sizeof(*is_local));

	if (!is_local)
		return err_set(err, -ENOMEM, "no memory for a transport");
	*out = *config;
	out->is_local = is_local;
	out->listen = NULL;
	out->verbs = NULL;
	out->payloads = NULL;
	out->parts = NULL;
	return 0;
}

int transport_check_rail(const struct transport_config *config, int stage, int rail,
                         struct err *err)
{
	if (stage < 0 || stage >= config->n_stages)
		return err_set(err, -EINVAL, "no stage %d in a pipeline of %d stages", stage,
		               config->n_stages);
	if (rail < 0 || rail >= config->n_rails)
		return err_set(err, -EINVAL, "stage %d has no rail %d, its rails are 0 to %d",
		               stage, rail, config->n_rails - 1);
	return 0;
}

static int check_content(const struct transport_config *config, const struct message *message,
                         const void *payload, struct err *err)
{
	if (message->run != config->run || message->replica != config->replica)
		return err_set(err, -EINVAL,
		               "a message of run %llx, replica %d on a transport of run %llx, "
		               "replica %d",
		               (unsigned long long)message->run, message->replica,
		               (unsigned long long)config->run, config->replica);
	if (message->n_bytes > config->max_bytes)
		return err_set(err, -EMSGSIZE,
		               "a message of %lld bytes where at most %lld were agreed on",
		               (long long)message->n_bytes, (long long)config->max_bytes);
	if (message->n_bytes < 0 || (message->n_bytes > 0 && !payload))
		return err_set(err, -EINVAL, "a message of %lld bytes without a payload",
		               (long long)message->n_bytes);
	if (message->sent_ns < 0 || message->due_ns < 0 || message->done_ns < 0 ||
	    message->acked_ns < 0)
		return err_set(err, -EINVAL, "a message with a moment before its clock began");
	return 0;
}

int transport_check_message(const struct transport_config *config, const struct message *message,
                            const void *payload, struct err *err)
{
	int from = message->from_stage, to = message->to_stage;
	int rc = transport_check_rail(config, from, message->rail, err);

	if (rc)
		return rc;
	if (!config->is_local[from])
		return err_set(err, -EINVAL, "stage %d sends, but this worker does not run it",
		               from);
	if (to < 0 || to >= config->n_stages || (to != from - 1 && to != from + 1))
		return err_set(err, -EINVAL, "stage %d is no neighbour of stage %d among %d stages",
		               to, from, config->n_stages);
	if (message->queue < 0 || message->queue >= config->n_queues)
		return err_set(err, -EINVAL, "no queue %d, there are 0 to %d", message->queue,
		               config->n_queues - 1);
	return check_content(config, message, payload, err);
}
