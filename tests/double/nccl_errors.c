/* nccl_errors.c - whatever NCCL refuses becomes a sentence with both stages, and the exchange stays
 * in error until it is closed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda_double/cuda_double.h"
#include "tests/exchange_case.h"
#include "tests/unit/device_fixture.h"

static const struct exchange_ops *exchanges;
static const struct device_ops *devices;

static struct exchange_case open_met(void)
{
	return exchange_case_open_met(exchanges, devices, 2);
}

static struct exchange *exchange_of(const struct exchange_case *c, int stage)
{
	return stage == 0 ? c->stages[0].behind : c->stages[1].before;
}

/* A post that meets one of the other stage. */
static int post(struct exchange_case *c, int stage, struct err *err)
{
	struct exchange_case_stage *own = &c->stages[stage];
	const struct exchange_part parts[] = {
		{.is_send = true, .memory = own->own, .n_bytes = 100},
		{.memory = own->own + 100, .n_bytes = 100},
	};

	return exchange_post(exchange_of(c, stage), own->stream, parts, 2, err);
}

static int progress(struct exchange_case *c, int stage, struct err *err)
{
	return exchange_progress(exchange_of(c, stage), err);
}

/* The exchange has failed for good, for a reason that names both stages unless it is CUDA's. */
static void check_end(struct exchange_case *c, int stage, const struct err *said, int code,
                      const char *sentence)
{
	struct err again = {0};

	tap_is_int(said->code, code, "that is the end of the exchange");
	tap_contains(said->text, sentence, "which is said plainly: %s", said->text);
	tap_is_int(post(c, stage, &again), code, "no post is taken any more");
	tap_is_str(again.text, said->text, "for the same reason");
	tap_is_int(progress(c, stage, &again), code, "and there is no progress");
	tap_is_str(again.text, said->text, "for the same reason");
}

static const struct {
	const char *function;
	int (*act)(struct exchange_case *c, int stage, struct err *err);
	int code;
	const char *sentence;
} failures[] = {
	{"ncclCommGetAsyncError", progress, -EIO,
         "stage 0 cannot exchange with stage 1 over NCCL: unhandled cuda error"},
	{"ncclAsyncError", progress, -ENETDOWN,
         "stage 0 cannot exchange with stage 1 over NCCL: unhandled system error (as it was told "
         "to)"},
	{"ncclGroupStart", post, -EIO, "stage 0 cannot begin a group with stage 1 over NCCL: "},
	{"ncclSend", post, -EIO, "stage 0 cannot add to a group with stage 1 over NCCL: "},
	{"ncclRecv", post, -EIO, "stage 0 cannot add to a group with stage 1 over NCCL: "},
	{"ncclGroupEnd", post, -EIO, "stage 0 cannot end a group with stage 1 over NCCL: "},
	{"ncclCommGetAsyncError", post, -EIO,
         "stage 0 cannot exchange with stage 1 over NCCL: unhandled cuda error"},
	{"ncclLaunch", post, -ETIMEDOUT,
         "stage 0 cannot exchange with stage 1 over NCCL: the GPU has not taken a group for 10 s"},
	{"cudaSetDevice", post, -EIO, "the GPU cannot be chosen: "},
	{"cudaEventRecord", post, -EIO, "the GPU cannot record an event: "},
};

static void check_failure(size_t i)
{
	struct exchange_case c = open_met();
	struct err err = {0};

	cuda_double_fail(failures[i].function, 1);
	(void)failures[i].act(&c, 0, &err);
	cuda_double_fail(NULL, 0);
	tap_note("%s fails", failures[i].function);
	check_end(&c, 0, &err, failures[i].code, failures[i].sentence);
	exchange_case_close(&c);
}

/* Go on until a stage fails; which. */
static int greet(struct exchange_case *c, struct err *err)
{
	int64_t end_ns = exchange_case_deadline_ns();
	int stage = 0;

	while (progress(c, stage, err) >= 0 && clock_monotonic_ns() < end_ns)
		stage = !stage;
	return stage;
}

/* what: that a stage cannot do, or what CUDA says that the GPU cannot. */
static void check_greeting(const char *function, const char *what)
{
	struct exchange_case c = exchange_case_open(exchanges, devices, 2);
	struct err err = {0};
	char sentence[128];
	int stage;

	cuda_double_fail(function, 1);
	stage = greet(&c, &err);
	cuda_double_fail(NULL, 0);
	tap_note("%s fails before the stages are ready", function);
	snprintf(sentence, sizeof(sentence), "stage %d cannot %s stage %d over NCCL: ", stage, what,
	         !stage);
	check_end(&c, stage, &err, -EIO, strncmp(what, "the GPU", 7) == 0 ? what : sentence);
	exchange_case_close(&c);
}

static int open_low(const struct exchange_case *c, const struct exchange_id *id,
                    struct exchange **out, struct err *err)
{
	const struct exchange_config config = {c->stages[0].device, 0, 1, *id};

	return exchanges->open(&config, out, err);
}

static void check_opening(const char *function, int code, const char *sentence)
{
	struct exchange_case c = {exchanges, devices, 1, {{0}}};
	struct exchange_id id = exchange_case_make_id(&c);
	struct exchange *exchange = NULL;
	struct err err = {0};

	(void)exchange_case_open_stage(&c, 0);
	cuda_double_fail(function, 1);
	tap_is_int(open_low(&c, &id, &exchange, &err), code, "%s fails: nothing is opened",
	           function);
	cuda_double_fail(NULL, 0);
	tap_contains(err.text, sentence, "which is said plainly: %s", err.text);
	tap_ok(!exchange, "and nothing is given");
	exchange_case_close(&c);
}

static void check_strange_id(void)
{
	struct exchange_case c = {exchanges, devices, 1, {{0}}};
	const struct exchange_id id = {{'x'}};
	struct err err = {0};

	(void)exchange_case_open_stage(&c, 0);
	c.stages[0].behind = exchange_case_open_end(&c, 0, 1, &id);
	tap_is_int(exchange_case_see_end(c.stages[0].behind, &err), -ENETDOWN,
	           "an id that nobody has made leads nowhere");
	tap_contains(err.text, "stage 0 cannot meet stage 1 over NCCL: ", "which is said: %s",
	             err.text);
	exchange_case_close(&c);
}

static void check_library(void)
{
	struct exchange_id id;
	char version[EXCHANGE_VERSION_BYTES];
	struct err err = {0};

	cuda_double_fail("ncclGetUniqueId", 1);
	tap_is_int(exchanges->make_id(&id, &err), -EIO, "an id cannot be made: %s", err.text);
	tap_contains(err.text, "NCCL cannot make an id: unhandled cuda error", "which is said");
	cuda_double_fail("ncclGetVersion", 1);
	tap_is_int(exchanges->version(version, &err), -ENODEV, "no version is told: %s", err.text);
	tap_contains(err.text, "NCCL cannot say which version it is", "which is said");
}

/* How it ends does not matter, but that it does, and that the device can be closed. */
static void check_closing(const char *function)
{
	struct exchange_case c = open_met();
	struct device_event *event;

	if (post(&c, 0, NULL) == 0)
		event = fixture_record(c.stages[0].stream);
	else
		event = NULL;
	cuda_double_fail(function, 1);
	exchange_close(c.stages[0].behind);
	c.stages[0].behind = NULL;
	cuda_double_fail(NULL, 0);
	tap_ok(event && exchange_case_finish(&c, event), "%s fails: what was posted ends",
	       function);
	exchange_case_close(&c);
}

static void check_leaving(const char *function)
{
	struct exchange_case c = open_met();

	cuda_double_fail(function, 1);
	exchange_close(c.stages[0].behind);
	c.stages[0].behind = NULL;
	cuda_double_fail(NULL, 0);
	tap_ok(exchange_case_finish(&c, fixture_record(c.stages[0].stream)),
	       "%s fails: the device goes on without the exchange", function);
	exchange_case_close(&c);
}

static void check_number(void)
{
	struct err err = {0};
	struct device *device = exchange_case_open_device(devices, 0, &err);

	tap_is_int(exchanges->check(device, 4, &err), 0, "four stages can have four GPUs");
	tap_is_int(exchanges->check(device, 5, &err), -ENODEV, "but not five");
	tap_contains(err.text, "there are 5 stages, and 4 here", "which is said: %s", err.text);
	device_close(device);
}

int main(void)
{
	(void)setenv("CUDA_DOUBLE_GPUS", "4", 1);
	(void)exchange_find("nccl", &exchanges, NULL);
	(void)device_find("cuda", &devices, NULL);
	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
		check_failure(i);
	check_greeting("ncclCommGetAsyncError", "meet");
	check_greeting("ncclGroupStart", "begin a group with");
	check_greeting("cudaEventRecord", "the GPU cannot record an event: ");
	check_greeting("cudaEventQuery", "the GPU cannot say whether an event has ended: ");
	check_opening("cudaStreamCreateWithFlags", -EIO, "the GPU cannot make a stream: ");
	check_opening("cudaEventCreateWithFlags", -EIO, "the GPU cannot make an event: ");
	check_opening("cudaMalloc", -ENOMEM, "out of memory for an exchange");
	check_opening("ncclCommInitRankConfig", -EIO, "stage 0 cannot meet stage 1 over NCCL: ");
	check_strange_id();
	check_library();
	check_closing("ncclCommAbort");
	check_leaving("ncclCommFinalize");
	check_leaving("ncclCommDestroy");
	check_number();
	return tap_done();
}
