/* pair_exchange.c - an exchange between two stages of one process. */
#include "tests/pair_exchange.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SIDES = 2, GARBAGE = 0xee, END_LOOKS = 3 };

struct meeting;

/* What callbacks are given. */
struct turn {
	struct round *round;
	int side;
	struct device *device;
};

/* The k-th post of both ends. */
struct round {
	struct meeting *meeting;
	struct turn turns[SIDES];
	struct exchange_part parts[SIDES][EXCHANGE_PARTS_MAX];
	size_t n_parts[SIDES];
	struct device_flag has_come[SIDES], has_taken[SIDES];
};

struct pair_exchange {
	struct exchange base;
	struct exchange_config config;
	struct meeting *meeting;
	int side; /* 0: the lower stage */
	int n_posts;
	bool is_busy; /* has not been asked since the last post */
};

struct meeting {
	struct exchange_id id;
	struct pair_exchange *ends[SIDES];
	bool is_gone[SIDES]; /* aborted, or closed */
	int n_looks[SIDES];  /* since then; in these it takes its time */
	struct round **rounds;
	size_t n_rounds;
	struct meeting *next;
};

static struct meeting *meetings;
static uint64_t n_ids;
static struct counts {
	int n_open, n_posts, n_groups;
} own_counts, *counts = &own_counts;
static struct {
	int stage, peer_stage, nth_post;
} failure = {.nth_post = -1};

static bool end_together;

void pair_exchange_end_together(bool is_on)
{
	end_together = is_on;
}

int pair_exchange_n_open(void)
{
	return counts->n_open;
}

int pair_exchange_n_posts(void)
{
	return counts->n_posts;
}

int pair_exchange_n_groups(void)
{
	return counts->n_groups;
}

void pair_exchange_share_counts(void)
{
	void *shared = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE,
	                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		abort();
	counts = shared;
}

void pair_exchange_fail(int stage, int peer_stage, int nth_post)
{
	failure.stage = stage;
	failure.peer_stage = peer_stage;
	failure.nth_post = nth_post;
}

/* What only a wrong use of the exchange can cause. */
static void refuse(const struct pair_exchange *pair, const char *what)
{
	fprintf(stderr, "exchange of stage %d with stage %d: %s\n", pair->config.stage,
	        pair->config.peer_stage, what);
	abort();
}

static void *allocate(size_t n_bytes)
{
	void *memory = calloc(1, n_bytes);

	if (!memory)
		abort();
	return memory;
}

static int pair_version(char out[EXCHANGE_VERSION_BYTES], struct err *err)
{
	(void)err;
	snprintf(out, EXCHANGE_VERSION_BYTES, "pair");
	return 0;
}

static int pair_check(struct device *device, int n_stages, struct err *err)
{
	(void)n_stages;
	if (device->has_own_memory)
		return err_set(err, -ENODEV, "stages of one process exchange with a CPU each");
	return 0;
}

static int pair_make_id(struct exchange_id *out, struct err *err)
{
	(void)err;
	memset(out, 0, sizeof(*out));
	n_ids++;
	memcpy(out->bytes, &n_ids, sizeof(n_ids));
	return 0;
}

static struct meeting *meeting_of(const struct exchange_id *id)
{
	struct meeting *meeting = meetings;

	while (meeting && memcmp(&meeting->id, id, sizeof(*id)) != 0)
		meeting = meeting->next;
	if (meeting)
		return meeting;
	meeting = allocate(sizeof(*meeting));
	meeting->id = *id;
	meeting->next = meetings;
	meetings = meeting;
	return meeting;
}

static int pair_open(const struct exchange_config *config, struct exchange **out, struct err *err)
{
	struct pair_exchange *pair = allocate(sizeof(*pair));

	(void)err;
	pair->base.ops = &pair_exchange_ops;
	pair->config = *config;
	pair->side = config->stage > config->peer_stage;
	pair->meeting = meeting_of(&config->id);
	if (pair->meeting->ends[pair->side])
		refuse(pair, "opened twice");
	pair->meeting->ends[pair->side] = pair;
	counts->n_open++;
	*out = &pair->base;
	return 0;
}

static bool is_to_fail(const struct pair_exchange *pair)
{
	return failure.nth_post >= 0 && pair->n_posts >= failure.nth_post &&
	       pair->config.stage == failure.stage && pair->config.peer_stage == failure.peer_stage;
}

/* Everything open here is to end before anybody waits for the end of one. */
static void check_together(const struct pair_exchange *pair)
{
	for (const struct meeting *meeting = meetings; meeting; meeting = meeting->next)
		for (int side = 0; side < SIDES; side++)
			if (end_together && meeting->ends[side] && !meeting->is_gone[side])
				refuse(pair, "waited for before others were aborted");
}

static int pair_progress(struct exchange *exchange, struct err *err)
{
	struct pair_exchange *pair = (struct pair_exchange *)exchange;
	const struct meeting *meeting = pair->meeting;
	bool was_busy = pair->is_busy;

	if (meeting->is_gone[pair->side]) {
		check_together(pair);
		return ++pair->meeting->n_looks[pair->side] > END_LOOKS;
	}
	if (meeting->is_gone[!pair->side] || is_to_fail(pair))
		return err_set(err, -ENETDOWN,
		               "stage %d has lost its exchange with stage %d: it is gone",
		               pair->config.stage, pair->config.peer_stage);
	if (!meeting->ends[!pair->side])
		return 0;
	pair->is_busy = false;
	return was_busy ? 0 : 1;
}

/* On a CPU a callback issues as of the moment that its stream has come to. */
static void set(const struct turn *turn, struct device_flag *flag)
{
	if (!device_flag_is_set(flag))
		device_flag_set(flag, turn->device->issued_as_of);
}

static void come(void *argument)
{
	struct turn *turn = argument;

	/* What is aborted sends nothing. */
	if (!turn->round->meeting->is_gone[turn->side])
		set(turn, &turn->round->has_come[turn->side]);
}

/* Every receive takes the next of the other end's sends. */
static void receive(const struct round *round, int side)
{
	const struct exchange_part *from = round->parts[!side], *to = round->parts[side];
	size_t at = 0;

	for (size_t i = 0; i < round->n_parts[side]; i++) {
		if (to[i].is_send)
			continue;
		while (at < round->n_parts[!side] && !from[at].is_send)
			at++;
		if (at == round->n_parts[!side] || from[at].n_bytes != to[i].n_bytes)
			refuse(round->meeting->ends[side], "the other end sends something else");
		memcpy(to[i].memory, from[at++].memory, to[i].n_bytes);
	}
}

static void take(void *argument)
{
	struct turn *turn = argument;
	const struct round *round = turn->round;

	if (!round->meeting->is_gone[turn->side])
		receive(round, turn->side);
	set(turn, &turn->round->has_taken[turn->side]);
}

static struct round *round_of(struct meeting *meeting, size_t k)
{
	while (meeting->n_rounds <= k) {
		struct round **rounds =
			realloc(meeting->rounds, (meeting->n_rounds + 1) * sizeof(struct round *));

		if (!rounds)
			abort();
		meeting->rounds = rounds;
		rounds[meeting->n_rounds] = allocate(sizeof(struct round));
		rounds[meeting->n_rounds++]->meeting = meeting;
	}
	return meeting->rounds[k];
}

static size_t count_sends(const struct exchange_part *parts, size_t n)
{
	size_t n_sends = 0;

	for (size_t i = 0; i < n; i++)
		n_sends += parts[i].is_send;
	return n_sends;
}

/* As many sends on one side as receives on the other. */
static bool do_meet(const struct round *round)
{
	size_t n = round->n_parts[0];

	return round->n_parts[1] == n &&
	       count_sends(round->parts[0], n) + count_sends(round->parts[1], n) == n;
}

static int pair_post(struct exchange *exchange, struct device_stream *stream,
                     const struct exchange_part *parts, size_t n, struct err *err)
{
	struct pair_exchange *pair = (struct pair_exchange *)exchange;
	int side = pair->side, rc;
	struct round *round;
	struct turn *turn;

	if (n == 0 || n > EXCHANGE_PARTS_MAX)
		return err_set(err, -EINVAL, "%zu parts", n);
	if (pair->meeting->is_gone[side])
		refuse(pair, "used after its end");
	if (pair->is_busy)
		return err_set(err, -EAGAIN, "not ready");
	round = round_of(pair->meeting, (size_t)pair->n_posts++);
	memcpy(round->parts[side], parts, n * sizeof(*parts));
	round->n_parts[side] = n;
	pair->is_busy = true;
	counts->n_posts++;
	counts->n_groups += n > 1;
	if (round->n_parts[!side] > 0 && !do_meet(round))
		refuse(pair, "both ends post something else");
	turn = &round->turns[side];
	*turn = (struct turn){round, side, stream->device};
	rc = device_call(stream, come, turn, err);
	rc = rc ? rc : device_hold(stream, &round->has_come[!side], err);
	rc = rc ? rc : device_call(stream, take, turn, err);
	return rc ? rc : device_hold(stream, &round->has_taken[!side], err);
}

/* What it was to fill is filled with what nobody sent. */
static void spoil(const struct round *round, int side)
{
	for (size_t i = 0; i < round->n_parts[side]; i++)
		if (!round->parts[side][i].is_send && !device_flag_is_set(&round->has_taken[side]))
			memset(round->parts[side][i].memory, GARBAGE,
			       round->parts[side][i].n_bytes);
}

/* Items that wait for the other end go on; that one learns of it from progress(), and waits. */
static void pair_abort(struct exchange *exchange)
{
	struct pair_exchange *pair = (struct pair_exchange *)exchange;
	struct meeting *meeting = pair->meeting;

	if (meeting->is_gone[pair->side])
		return;
	meeting->is_gone[pair->side] = true;
	for (size_t k = 0; k < (size_t)pair->n_posts; k++) {
		struct round *round = meeting->rounds[k];

		spoil(round, pair->side);
		if (!device_flag_is_set(&round->has_come[!pair->side]))
			device_flag_set(&round->has_come[!pair->side], 0);
		if (!device_flag_is_set(&round->has_taken[!pair->side]))
			device_flag_set(&round->has_taken[!pair->side], 0);
	}
}

static void free_meeting(struct meeting *meeting)
{
	struct meeting **at = &meetings;

	while (*at != meeting)
		at = &(*at)->next;
	*at = meeting->next;
	for (size_t k = 0; k < meeting->n_rounds; k++)
		free(meeting->rounds[k]);
	free(meeting->rounds);
	free(meeting);
}

static void pair_close(struct exchange *exchange)
{
	struct pair_exchange *pair = (struct pair_exchange *)exchange;
	struct meeting *meeting = pair->meeting;

	pair_abort(exchange);
	meeting->ends[pair->side] = NULL;
	counts->n_open--;
	if (!meeting->ends[!pair->side])
		free_meeting(meeting);
	free(pair);
}

const struct exchange_ops pair_exchange_ops = {
	.name = "pair",
	.version = pair_version,
	.check = pair_check,
	.make_id = pair_make_id,
	.open = pair_open,
	.progress = pair_progress,
	.post = pair_post,
	.abort = pair_abort,
	.close = pair_close,
};
