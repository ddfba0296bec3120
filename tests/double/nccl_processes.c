/* nccl_processes.c - the stages of an exchange in two processes, of which one ends when it should
 * not. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/child.h"
#include "tests/exchange_case.h"
#include "tests/unit/device_fixture.h"

enum { N_BYTES = 1 << 20, N_ROUNDS = 5 };

static const struct exchange_ops *exchanges;
static const struct device_ops *devices;

/* A process that is stage 1, started before anything of CUDA was called. */
struct other {
	pid_t pid;
	int to, from; /* pipes */
};

/* Stage i, whose id comes along. */
static struct exchange_case open_alone(int i, const struct exchange_id *id)
{
	struct exchange_case c = {exchanges, devices, 2, {{0}}};

	(void)exchange_case_open_stage(&c, i);
	if (i == 0)
		c.stages[0].behind = exchange_case_open_end(&c, 0, 1, id);
	else
		c.stages[1].before = exchange_case_open_end(&c, 1, 0, id);
	return c;
}

/* The middle of the test: stage i sends and receives, by turns. */
static bool exchange_rounds(struct exchange_case *c, int i)
{
	struct exchange_case_stage *stage = &c->stages[i];
	struct exchange *exchange = i == 0 ? stage->behind : stage->before;
	bool is_right = true;

	for (int round = 0; round < N_ROUNDS; round++) {
		const struct exchange_part parts[] = {
			{.is_send = true, .memory = stage->own, .n_bytes = N_BYTES},
			{.memory = stage->own + N_BYTES, .n_bytes = N_BYTES},
		};
		struct device_event *received;

		exchange_case_put(stage, 0, N_BYTES, 10 * round + i);
		exchange_case_post(exchange, stage->stream, parts, 2);
		received = exchange_case_get(stage, N_BYTES, N_BYTES);
		is_right = is_right && exchange_case_finish(c, received) &&
		           exchange_case_holds(stage, N_BYTES, N_BYTES, 10 * round + !i);
	}
	return is_right;
}

static void tell(int descriptor, const void *what, size_t n_bytes)
{
	if (write(descriptor, what, n_bytes) != (ssize_t)n_bytes)
		_exit(9);
}

/* Exchange, say so, and close when told to; ended by then: who waits for it is the test. */
static void run_whole(int from, int to)
{
	struct exchange_id id;
	struct exchange_case c;
	char is_right, go_on;

	if (!child_read(from, &id, sizeof(id)))
		_exit(8);
	c = open_alone(1, &id);
	exchange_case_meet(&c);
	is_right = exchange_rounds(&c, 1);
	tell(to, &is_right, 1);
	if (!child_read(from, &go_on, 1))
		_exit(7);
	exchange_case_close(&c);
	_exit(!is_right);
}

/* Make an id, and be gone. */
static void run_maker(int from, int to)
{
	const struct exchange_case c = {exchanges, devices, 0, {{0}}};
	struct exchange_id id = exchange_case_make_id(&c);
	char go_on;

	tell(to, &id, sizeof(id));
	(void)child_read(from, &go_on, 1);
	_exit(0);
}

static struct other start(void (*run)(int from, int to))
{
	int there[2], back[2];
	struct other other = {0};

	if (pipe(there) || pipe(back))
		return other;
	other = (struct other){child_start(), there[1], back[0]};
	if (other.pid == 0) {
		(void)close(there[1]);
		(void)close(back[0]);
		run(there[0], back[1]);
	}
	(void)close(there[0]);
	(void)close(back[1]);
	return other;
}

static struct exchange_case open_with(const struct other *other)
{
	const struct exchange_case none = {exchanges, devices, 0, {{0}}};
	struct exchange_id id = exchange_case_make_id(&none);
	struct exchange_case c;
	char is_right = 0;

	tell(other->to, &id, sizeof(id));
	c = open_alone(0, &id);
	exchange_case_meet(&c);
	tap_ok(exchange_rounds(&c, 0), "stage 0 receives what another process sends");
	tap_ok(child_read(other->from, &is_right, 1) && is_right, "and stage 1, what it sends");
	return c;
}

static void check_closing(const struct other *other)
{
	struct exchange_case c = open_with(other);
	struct err err = {0};

	tell(other->to, "", 1);
	tap_is_int(child_wait(other->pid), 0, "stage 1 closes, and ends");
	tap_is_int(exchange_progress(c.stages[0].behind, &err), 1, "who has left is not missed: %s",
	           err.text);
	exchange_case_close(&c);
}

static void check_kill(const struct other *other)
{
	struct exchange_case c = open_with(other);
	struct exchange_case_stage *low = &c.stages[0];
	struct device_event *event;
	struct err err = {0};

	exchange_case_receive(low->behind, low, 0, N_BYTES);
	event = fixture_record(low->stream);
	tap_ok(fixture_stands(event), "stage 0 waits for stage 1");
	child_kill(other->pid);
	tap_is_int(exchange_case_see_end(low->behind, &err), -ENETDOWN,
	           "when that is killed, it is told");
	tap_contains(err.text,
	             "stage 0 cannot exchange with stage 1 over NCCL: remote process exited",
	             "why: %s", err.text);
	tap_ok(fixture_stands(event), "its stream stands all the same");
	exchange_abort(low->behind);
	tap_ok(exchange_case_finish(&c, event), "until the exchange is aborted");
	exchange_case_close(&c);
}

static void check_maker(const struct other *other)
{
	struct exchange_case c;
	struct exchange_id id;
	struct err err = {0};

	tap_ok(child_read(other->from, &id, sizeof(id)), "another process makes an id");
	c = open_alone(0, &id);
	tap_is_int(exchange_progress(c.stages[0].behind, &err), 0, "stage 0 waits for the other");
	child_kill(other->pid);
	tap_is_int(exchange_case_see_end(c.stages[0].behind, &err), -ENETDOWN,
	           "when its maker is killed, nobody meets");
	tap_contains(err.text, "stage 0 cannot meet stage 1 over NCCL: ", "which is said: %s",
	             err.text);
	exchange_case_close(&c);
}

int main(void)
{
	struct other closing, killed, maker;

	(void)setenv("CUDA_DOUBLE_GPUS", "2", 1);
	(void)exchange_find("nccl", &exchanges, NULL);
	(void)device_find("cuda", &devices, NULL);
	closing = start(run_whole);
	killed = start(run_whole);
	maker = start(run_maker);
	check_closing(&closing);
	check_kill(&killed);
	check_maker(&maker);
	return tap_done();
}
