/* double_nccl_transfer.c - what a group does: both ranks say what they ask for, which has to match,
 * and then everything moves at once, in both directions. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "tests/cuda_double/double_nccl_internal.h"

/* What a rank says of its group. */
struct head {
	int n_parts;
	int is_send[DOUBLE_PARTS_MAX];
	size_t n_bytes[DOUBLE_PARTS_MAX];
};

/* Bytes on their way, heads included. */
struct flow {
	char *bytes;
	size_t n_bytes, n_moved;
};

static size_t bytes_of(const struct double_group *group, int is_send)
{
	size_t n_bytes = 0;

	for (int i = 0; i < group->n_parts; i++)
		n_bytes += group->parts[i].is_send == is_send ? group->parts[i].n_bytes : 0;
	return n_bytes;
}

static struct flow new_flow(const struct double_group *group, int is_send)
{
	struct flow flow = {.n_bytes = sizeof(struct head) + bytes_of(group, is_send)};

	flow.bytes = calloc(1, flow.n_bytes);
	if (!flow.bytes)
		double_violation("out of memory");
	return flow;
}

/* What all parts of one direction held when the group began, in a row. */
static void keep(const struct double_group *group, int is_send, char *out)
{
	for (int i = 0; i < group->n_parts; i++)
		if (group->parts[i].is_send == is_send) {
			memcpy(out, double_seen(group->parts[i].at), group->parts[i].n_bytes);
			out += group->parts[i].n_bytes;
		}
}

static void check_kept(const struct double_group *group, int is_send, const char *kept)
{
	for (int i = 0; i < group->n_parts; i++)
		if (group->parts[i].is_send == is_send) {
			if (memcmp(kept, double_seen(group->parts[i].at),
			           group->parts[i].n_bytes) != 0)
				double_violation("memory has changed while a group %s it",
				                 is_send ? "sent" : "received into");
			kept += group->parts[i].n_bytes;
		}
}

static void fill(const struct double_group *group, const char *received)
{
	for (int i = 0; i < group->n_parts; i++)
		if (!group->parts[i].is_send) {
			memcpy(double_seen(group->parts[i].at), received, group->parts[i].n_bytes);
			received += group->parts[i].n_bytes;
		}
}

static void write_head(const struct double_group *group, char *out)
{
	struct head head = {.n_parts = group->n_parts};

	for (int i = 0; i < group->n_parts; i++) {
		head.is_send[i] = group->parts[i].is_send;
		head.n_bytes[i] = group->parts[i].n_bytes;
	}
	memcpy(out, &head, sizeof(head));
}

/* The next part of that direction, from i on; n_parts: there is none. */
static int next_part(const struct head *head, int i, int is_send)
{
	while (i < head->n_parts && head->is_send[i] != is_send)
		i++;
	return i;
}

/* What one sends the other receives, in the same order. */
static void check_direction(const struct head *sender, const struct head *receiver, int rank)
{
	int from = next_part(sender, 0, 1), to = next_part(receiver, 0, 0);

	while (from < sender->n_parts && to < receiver->n_parts) {
		if (sender->n_bytes[from] != receiver->n_bytes[to])
			double_violation("rank %d sends %zu bytes where %zu are received", rank,
			                 sender->n_bytes[from], receiver->n_bytes[to]);
		from = next_part(sender, from + 1, 1);
		to = next_part(receiver, to + 1, 0);
	}
	if (from < sender->n_parts)
		double_violation("rank %d sends what is not received", rank);
	if (to < receiver->n_parts)
		double_violation("rank %d does not send what is received", rank);
}

static void check_match(const struct double_group *group, const char *mine, const char *theirs)
{
	struct head own, other;
	int rank = group->communicator->rank;

	memcpy(&own, mine, sizeof(own));
	memcpy(&other, theirs, sizeof(other));
	check_direction(&own, &other, rank);
	check_direction(&other, &own, !rank);
}

static bool is_whole(const struct flow *flow)
{
	return flow->n_moved == flow->n_bytes;
}

/* Count what was moved; false: the other side is gone. */
static bool note_moved(struct flow *flow, ssize_t n)
{
	if (n > 0)
		flow->n_moved += (size_t)n;
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool move(int descriptor, struct flow *out, struct flow *in)
{
	struct pollfd polled = {.fd = descriptor,
	                        .events = (short)((is_whole(out) ? 0 : POLLOUT) |
	                                          (is_whole(in) ? 0 : POLLIN))};

	if (poll(&polled, 1, -1) < 0)
		return errno == EINTR;
	if (!is_whole(out) &&
	    !note_moved(out, send(descriptor, out->bytes + out->n_moved,
	                          out->n_bytes - out->n_moved, MSG_DONTWAIT | MSG_NOSIGNAL)))
		return false;
	return is_whole(in) || note_moved(in, recv(descriptor, in->bytes + in->n_moved,
	                                           in->n_bytes - in->n_moved, MSG_DONTWAIT));
}

/* The other side may send nothing but its head, or more than is expected. */
static bool move_all(const struct double_group *group, struct flow *out, struct flow *in)
{
	size_t n_whole = in->n_bytes;
	bool is_there = true;

	in->n_bytes = sizeof(struct head);
	while (is_there && !is_whole(in))
		is_there = move(group->communicator->data, out, in);
	if (!is_there)
		return false;
	check_match(group, out->bytes, in->bytes);
	in->n_bytes = n_whole;
	while (is_there && !(is_whole(out) && is_whole(in)))
		is_there = move(group->communicator->data, out, in);
	return is_there;
}

/* From here on others leave the memory alone. */
static void begin_regions(const struct double_group *group)
{
	double_lock();
	for (int i = 0; i < group->n_parts; i++)
		double_region_run(group->parts[i].at, group->parts[i].n_bytes);
	double_tell_change();
	double_unlock();
}

bool double_nccl_transfer(const struct double_group *group)
{
	struct flow out = new_flow(group, 1), in = new_flow(group, 0);
	char *before = malloc(in.n_bytes);
	bool is_done;

	if (!before)
		double_violation("out of memory");
	write_head(group, out.bytes);
	keep(group, 1, out.bytes + sizeof(struct head));
	keep(group, 0, before);
	begin_regions(group);
	is_done = move_all(group, &out, &in);
	if (is_done) {
		check_kept(group, 1, out.bytes + sizeof(struct head));
		check_kept(group, 0, before);
		fill(group, in.bytes + sizeof(struct head));
	}
	free(before);
	free(out.bytes);
	free(in.bytes);
	return is_done;
}
