/* mixed.c - a transport whose rails are carried by different ones: "verbs,tcp" is rail 0 over RDMA
 * and all that follow over sockets.
 *
 * Each part is opened for its own rails, which it knows by their numbers here, and does nothing for
 * the others; so messages and events go through as they are. A payload has to go back to the part
 * that it is from, so those that are out are remembered. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/transport/payload.h"
#include "engine/transport/transport_internal.h"

enum { NAME_BYTES = 32 };

static const int64_t GRACE_NS = 1000000000;

/* A payload that the caller has. */
struct loan {
	void *payload;
	struct transport *part;
};

struct mixed {
	struct transport base;
	struct transport *parts[TRANSPORT_RAILS_MAX];
	int n_parts;
	int first; /* of the next poll, so that no part keeps another one waiting */
	struct loan *loans;
	size_t capacity, n_loans;
};

/* The next name of a list, and where the comma or the end behind it is; NULL: it is none that a
 * transport could have. */
static const char *read_name(const char *list, char *name)
{
	size_t n = strcspn(list, ",");

	if (n == 0 || n >= NAME_BYTES)
		return NULL;
	memcpy(name, list, n);
	name[n] = '\0';
	return list + n;
}

/* The transports of a list, at most n; *n_out is how many names it has. */
static int find_parts(const char *list, const struct transport_ops **ops, int n, int *n_out,
                      struct err *err)
{
	const char *at = list;
	char name[NAME_BYTES];

	for (*n_out = 0; *n_out == 0 || *at; (*n_out)++) {
		const struct transport_ops *found;
		int rc;

		at = read_name(at + (*at == ',' && *n_out > 0), name);
		if (!at)
			return err_set(err, -EINVAL,
			               "'%.64s' names no transports; write one for each rail, with "
			               "commas between: verbs,tcp",
			               list);
		rc = transport_find(name, &found, err);
		if (rc)
			return rc;
		if (*n_out < n)
			ops[*n_out] = found;
	}
	return 0;
}

int mixed_check(const char *list, struct err *err)
{
	int n;

	return find_parts(list, NULL, 0, &n, err);
}

static void mixed_close(struct transport *transport)
{
	struct mixed *mixed = (struct mixed *)transport;

	for (int i = 0; i < mixed->n_parts; i++)
		transport_close(mixed->parts[i]);
	free(mixed->loans);
	free(mixed);
}

/* The part whose rail it is; the last one has all that follow its own. */
static struct transport *part_of(const struct mixed *mixed, int rail)
{
	int i = rail < 0 ? 0 : rail < mixed->n_parts ? rail : mixed->n_parts - 1;

	return mixed->parts[i];
}

static void set_next(struct mixed *mixed)
{
	mixed->base.next_ns = INT64_MAX;
	for (int i = 0; i < mixed->n_parts; i++)
		if (transport_next_ns(mixed->parts[i]) < mixed->base.next_ns)
			mixed->base.next_ns = transport_next_ns(mixed->parts[i]);
}

/* All rails but those of part i. */
static uint32_t rails_of_others(int i, int n_parts)
{
	uint32_t own = UINT32_C(1) << i;

	if (i == n_parts - 1)
		own = ~(own - 1);
	return ~own;
}

enum { ALIGNMENT_BYTES = 64 };

/* Part i's share of the memory for payloads, which each fills as if it were its alone. */
static struct payload_area share_of(const struct payload_area *whole, int i, int n_parts)
{
	size_t n_bytes = whole->n_bytes / (size_t)n_parts / ALIGNMENT_BYTES * ALIGNMENT_BYTES;

	if (!whole->at)
		return *whole;
	return (struct payload_area){(char *)whole->at + (size_t)i * n_bytes, n_bytes};
}

static int open_parts(struct mixed *mixed, const struct transport_config *config,
                      struct transport_address *addresses_out, struct err *err)
{
	const struct transport_ops *ops[TRANSPORT_RAILS_MAX];
	int n = 0, rc = find_parts(config->parts, ops, config->n_rails, &n, err);

	n = n < config->n_rails ? n : config->n_rails;
	for (int i = 0; rc == 0 && i < n; i++) {
		struct transport_config part = *config;
		struct payload_area area;

		part.parts = NULL;
		if (config->payloads) {
			area = share_of(config->payloads, i, n);
			part.payloads = &area;
		}
		part.other_rails |= rails_of_others(i, n);
		rc = ops[i]->open(&part, addresses_out, &mixed->parts[i], err);
		mixed->n_parts += rc == 0;
	}
	return rc;
}

static int mixed_open(const struct transport_config *config,
                      struct transport_address *addresses_out, struct transport **out,
                      struct err *err)
{
	struct mixed *mixed;
	int rc = transport_check_config(config, err);

	if (rc)
		return rc;
	if (!config->parts)
		return err_set(err, -EINVAL, "transport mixed wants to know what it is made of");
	mixed = array_new(1, sizeof(*mixed));
	if (!mixed)
		return err_set(err, -ENOMEM, "no memory for transport mixed");
	mixed->base.ops = &mixed_ops;
	rc = open_parts(mixed, config, addresses_out, err);
	if (rc) {
		mixed_close(&mixed->base);
		return rc;
	}
	set_next(mixed);
	*out = &mixed->base;
	return 0;
}

/* In their order at all workers, like links and rails. Those behind one that could not be connected
 * are, if they can be at once. */
static int mixed_connect(struct transport *transport, const struct transport_address *addresses,
                         int64_t timeout_ns, struct err *err)
{
	struct mixed *mixed = (struct mixed *)transport;
	int64_t end_ns = clock_monotonic_ns() + timeout_ns;
	int first = 0;

	for (int i = 0; i < mixed->n_parts && (first == 0 || first == -ETIMEDOUT); i++) {
		int64_t left_ns = end_ns - clock_monotonic_ns();
		int rc = transport_connect(mixed->parts[i], addresses,
		                           left_ns > GRACE_NS ? left_ns : GRACE_NS,
		                           first ? NULL : err);

		if (first == 0)
			first = rc;
	}
	set_next(mixed);
	return first;
}

static int mixed_send(struct transport *transport, const struct message *message,
                      const void *payload, struct err *err)
{
	struct mixed *mixed = (struct mixed *)transport;
	int rc = transport_send(part_of(mixed, message->rail), message, payload, err);

	set_next(mixed);
	return rc;
}

/* So that to lend cannot fail. */
static int make_room(struct mixed *mixed, size_t n, struct err *err)
{
	struct loan *loans =
		array_grow(mixed->loans, &mixed->capacity, mixed->n_loans + n, sizeof(*loans));

	if (!loans)
		return err_set(err, -ENOMEM, "no memory for messages under way");
	mixed->loans = loans;
	return 0;
}

static void lend(struct mixed *mixed, struct transport *part, const struct transport_event *events,
                 size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (events[i].kind == TRANSPORT_RECEIVED)
			mixed->loans[mixed->n_loans++] = (struct loan){events[i].payload, part};
}

static int mixed_poll(struct transport *transport, struct transport_event *events, size_t n,
                      size_t *n_out, struct err *err)
{
	struct mixed *mixed = (struct mixed *)transport;
	int rc = make_room(mixed, n, err);
	size_t n_shown = 0;

	for (int i = 0; rc == 0 && i < mixed->n_parts && (n_shown < n || n == 0); i++) {
		struct transport *part = mixed->parts[(mixed->first + i) % mixed->n_parts];
		size_t n_new;

		rc = transport_poll(part, events + n_shown, n - n_shown, &n_new, err);
		if (rc)
			return rc;
		lend(mixed, part, events + n_shown, n_new);
		n_shown += n_new;
	}
	if (rc)
		return rc;
	mixed->first = (mixed->first + 1) % mixed->n_parts;
	*n_out = n_shown;
	set_next(mixed);
	return 0;
}

/* Few are out, and those that have been for longest come back first. */
static void mixed_release(struct transport *transport, void *payload)
{
	struct mixed *mixed = (struct mixed *)transport;
	size_t i = 0;

	while (i < mixed->n_loans && mixed->loans[i].payload != payload)
		i++;
	if (i == mixed->n_loans)
		return;
	transport_release(mixed->loans[i].part, payload);
	mixed->n_loans--;
	memmove(&mixed->loans[i], &mixed->loans[i + 1],
	        (mixed->n_loans - i) * sizeof(*mixed->loans));
}

static int mixed_set_rail(struct transport *transport, int stage, int rail, bool is_up,
                          struct err *err)
{
	struct mixed *mixed = (struct mixed *)transport;
	int rc = transport_set_rail(part_of(mixed, rail), stage, rail, is_up, err);

	set_next(mixed);
	return rc;
}

/* Any part may come to send from it. */
static void mixed_set_known(struct transport *transport, const void *memory, size_t n_bytes,
                            bool is_known)
{
	struct mixed *mixed = (struct mixed *)transport;

	for (int i = 0; i < mixed->n_parts; i++)
		transport_set_known(mixed->parts[i], memory, n_bytes, is_known);
	set_next(mixed);
}

/* -1 where any part does not say. */
static int64_t mixed_count_resent(struct transport *transport, int stage, int peer)
{
	struct mixed *mixed = (struct mixed *)transport;
	int64_t sum = 0;

	for (int i = 0; i < mixed->n_parts; i++) {
		int64_t n = transport_count_resent(mixed->parts[i], stage, peer);

		if (n < 0)
			return n;
		sum += n;
	}
	return sum;
}

const struct transport_ops mixed_ops = {
	.name = "mixed",
	.open = mixed_open,
	.connect = mixed_connect,
	.send = mixed_send,
	.poll = mixed_poll,
	.release = mixed_release,
	.set_rail = mixed_set_rail,
	.set_known = mixed_set_known,
	.count_resent = mixed_count_resent,
	.close = mixed_close,
};
