/* format_flight_recorder.c - dumps of the NCCL flight recorder say what a hang hangs on. */
#include "engine/format/flight_recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/strbuf.h"
#include "tests/tap.h"

static int read_text(const char *name, const char *text, struct flight_recorder *recorder,
                     struct observed *counts, struct err *err)
{
	struct input *input = NULL;
	int rc = input_open_bytes(name, text, strlen(text), &input, err);

	if (rc == 0)
		rc = flight_recorder_read(input, recorder, counts, err);
	input_close(input);
	return rc;
}

/* A dump in short: "sd>1 rs<0 …" is a send to 1 that is done and a receive from 0 that is scheduled
 * (s) or started (t). The first has record first_record. */
static void dump_text(int rank, int first_record, const char *ops, struct strbuf *out)
{
	strbuf_addf(out, "{\"version\":\"2.10\",\"pg_config\":{\"0\":{\"name\":\"0\",\"desc\":"
	                 "\"default_pg\",\"ranks\":\"[0, 1, 2, 3]\"}},\n\"entries\":[");
	for (int i = 0; *ops; i++, ops += strcspn(ops, " "), ops += *ops == ' ') {
		strbuf_addf(
			out,
			"%s{\"record_id\":%d,\"pg_id\":0,\"process_group\":[\"0\","
			"\"default_pg\"],\"p2p_seq_id\":%d,\"profiling_name\":\"nccl:%s %d%s%c\","
			"\"is_p2p\":true,\"state\":\"%s\",\"input_sizes\":[[2,4096]],"
			"\"frames\":[{\"name\":\"f\",\"line\":3}],\"retired\":false}",
			i > 0 ? ",\n" : "", first_record + i, i + 1,
			ops[0] == 's' ? "send" : "recv", rank, ops[0] == 's' ? "->" : "<-", ops[3],
			ops[1] == 'd'   ? "completed"
			: ops[1] == 't' ? "started"
					: "scheduled");
	}
	strbuf_add(out, "]}");
}

/* Up to four ranks' ops; NULL: no dump. The hang is the caller's to free. */
static struct hang find(const char *const ops[4], int first_record)
{
	struct flight_recorder recorder = {0};
	struct observed counts;
	struct hang hang = {.kind = HANG_NONE};
	struct err err = {0};

	observed_init(&counts, 0);
	for (int rank = 0; rank < 4; rank++) {
		struct strbuf text = {0};
		char name[] = "rank0";

		if (ops[rank] == NULL)
			continue;
		name[4] = (char)('0' + rank);
		dump_text(rank, first_record, ops[rank], &text);
		tap_is_int(read_text(name, strbuf_text(&text), &recorder, &counts, &err), 0,
		           "the dump of rank %d is read", rank);
		strbuf_fini(&text);
	}
	tap_is_int(recorder.n_ranks, 4, "the group's size is known");
	tap_is_int(flight_recorder_find_hang(&recorder, &hang, &err), 0, "and looked at");
	flight_recorder_fini(&recorder);
	observed_fini(&counts);
	return hang;
}

static void check_transfer(void)
{
	/* Link 1-2 is dead: 2 waits for what 1 sends, 0 for 1's gradient, 3 for 2. */
	static const char *const ops[4] = {"sd>1 sd>1 rt<1", "rd<0 st>2 rs<0 ss>2", "rt<1 ss>3",
	                                   "rt<2"};
	struct hang hang = find(ops, 0);

	tap_is_int(hang.kind, HANG_TRANSFER, "a message that both ends asked for does not end");
	tap_ok(hang.ranks[0] == 1 && hang.ranks[1] == 2, "it is the one from 1 to 2");
	tap_is_int(hang.n_waiting, 4, "and everybody waits for it");
	tap_is_int((int64_t)hang.n_sends, 1, "one pair has a send without a receive");
	tap_ok(hang.sends[0].from == 1 && hang.sends[0].to == 2 && hang.sends[0].sequence == 4,
	       "the second from 1 to 2, which 2 did not get to");
	hang_fini(&hang);
}

static void check_rank(void)
{
	static const char *const asked_nothing[4] = {"sd>1 rt<1", "rd<0 rt<2", "rd<3 sd>3", NULL};
	static const char *const no_dump[4] = {"sd>1 rt<1", "rd<0 rt<2", "rs<3", NULL};
	struct hang hang = find(asked_nothing, 0);

	tap_is_int(hang.kind, HANG_RANK, "a rank that asked for nothing more is waited for");
	tap_is_int(hang.ranks[0], 2, "it is rank 2");
	tap_is_int(hang.n_waiting, 2, "by two");
	hang_fini(&hang);
	hang = find(no_dump, 0);
	tap_ok(hang.kind == HANG_RANK && hang.ranks[0] == 3, "so is one that left no dump");
	hang_fini(&hang);
}

static void check_circle(void)
{
	static const char *const two[4] = {"st>1", "st>0", "", ""};
	static const char *const three[4] = {"rt<2", "rt<0", "rt<1", "rt<2"};
	struct hang hang = find(two, 0);

	tap_is_int(hang.kind, HANG_CIRCLE, "two that send to each other wait in a circle");
	tap_is_int(hang.n_ranks, 2, "of two");
	tap_is_int((int64_t)hang.n_sends, 2, "and neither send has a receive");
	hang_fini(&hang);
	hang = find(three, 0);
	tap_ok(hang.kind == HANG_CIRCLE && hang.n_ranks == 3 && hang.ranks[0] == 0 &&
	               hang.ranks[1] == 2 && hang.ranks[2] == 1,
	       "three that wait round do, each for the next");
	tap_is_int(hang.n_waiting, 4, "and who waits for one of them waits for all");
	hang_fini(&hang);
}

static void check_torn_buffer(void)
{
	/* The ring buffer of each has lost its start: 1 has fewer receives than 0 has sends. */
	static const char *const ops[4] = {"sd>1 sd>1 sd>1 st>1 ss>1", "rd<0 rt<0", "", ""};
	struct hang hang = find(ops, 7000);

	tap_is_int(hang.kind, HANG_TRANSFER, "a torn buffer hides no transfer that does not end");
	tap_ok(hang.n_sends == 1 && hang.sends[0].sequence == 5,
	       "of sends and receives those not done are matched");
	hang_fini(&hang);
}

static void check_healthy(void)
{
	static const char *const ops[4] = {"sd>1", "rd<0", "", ""};
	struct hang hang = find(ops, 0);

	tap_is_int(hang.kind, HANG_NONE, "where everything is done nothing hangs");
	tap_is_int((int64_t)hang.n_sends, 0, "and nothing is without its other end");
	hang_fini(&hang);
}

/* The example of FORMATS.md, with what else a dump may hold. */
static const char example[] =
	"{\"version\":\"2.10\",\"pg_status\":{\"0\":{\"last_completed_collective\":\"3\"}},\n"
	"\"entries\":[{\"record_id\":7,\"pg_id\":0,\"process_group\":[\"0\",\"default_pg\"],"
	"\"collective_seq_id\":2,\"p2p_seq_id\":4,\"op_id\":6,\"profiling_name\":\"nccl:send "
	"0->1\",\"is_p2p\":true,\"time_created_ns\":1700000000123456789,\"state\":\"started\","
	"\"input_sizes\":[[2,4096]],\"input_dtypes\":[\"Half\"],\"output_sizes\":[[2,4096]],"
	"\"output_dtypes\":[\"Half\"],\"time_discovered_started_ns\":1700000000125000000,"
	"\"time_discovered_completed_ns\":0,\"retired\":false,\"timeout_ms\":600000},"
	"{\"profiling_name\":\"nccl:all_reduce\",\"state\":\"started\"},"
	"{\"profiling_name\":\"nccl:coalesced\",\"state\":\"started\"},"
	"{\"profiling_name\":\"xccl:recv 0<-1\",\"state\":\"completed\",\"process_group\":[\"0\"]},"
	"{\"profiling_name\":\"nccl:recv 0<-1\",\"state\":\"paused\",\"process_group\":[\"0\"]},"
	"{\"profiling_name\":\"nccl:recv 9<-1\",\"state\":\"started\",\"process_group\":[\"5\"]}],"
	"\"pg_config\":{\"0\":{\"name\":\"0\",\"desc\":\"default_pg\",\"ranks\":\"[0, 1]\"}}}";

static void check_example(void)
{
	struct flight_recorder recorder = {0};
	struct observed counts;
	struct err err = {0};

	observed_init(&counts, 0);
	tap_is_int(read_text("x", example, &recorder, &counts, &err), 0, "a dump is read");
	tap_is_int((int64_t)recorder.dumps[0].n_ops, 2,
	           "with the sends and receives of the first group");
	tap_ok(recorder.dumps[0].rank == 0 && recorder.n_ranks == 2 &&
	               strcmp(recorder.group, "0") == 0,
	       "whose rank it is of is what they say");
	tap_ok(recorder.dumps[0].ops[0].sequence == 4 && !recorder.dumps[0].ops[0].is_done &&
	               recorder.dumps[0].ops[1].is_done,
	       "as are their numbers and states");
	tap_is_int((int64_t)observed_n_skipped(&counts), 4,
	           "collectives, unknown states and other groups are counted");
	tap_is_int(read_text("y", example, &recorder, &counts, &err), -EINVAL,
	           "a second dump of one rank is refused");
	tap_contains(err.text, "y: is of rank 0, as is x", "naming both");
	tap_is_int((int64_t)recorder.n_dumps, 1, "and nothing was added");
	flight_recorder_fini(&recorder);
	observed_fini(&counts);
}

#define ENTRY(fields) "{\"entries\":[{" fields "}]}"

static void check_refused(void)
{
	static const char *const cases[][2] = {
		{"{}", "neither 'entries' nor 'pg_config'"},
		{"[]", "wanted an object with 'entries'"},
		{"\x80\x04\x95...", "x: is a pickle, which could run anything"},
		{"{\"entries\":{}}", "'entries'; wanted an array"},
		{"{\"entries\":[],\"entries\":[]}", "'entries' is in its object twice"},
		{"{\"entries\":[5]}", "entry 1; wanted an object"},
		{ENTRY("\"state\":\"started\""), "entry 1 without its profiling_name"},
		{ENTRY("\"profiling_name\":\"nccl:send 0->1\""), "entry 1 without its state"},
		{ENTRY("\"state\":\"a\",\"state\":\"b\""), "'state' is in its object twice"},
		{ENTRY("\"profiling_name\":\"nccl:send 0->1\",\"state\":\"started\"},{"
	               "\"profiling_name\":\"nccl:send 1->2\",\"state\":\"started\""),
	         "entry 2 is of rank 1, those before it of rank 0"},
		{ENTRY("\"record_id\":NaN"), "NaN and Infinity"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct flight_recorder recorder = {0};
		struct observed counts;
		struct err err = {0};

		observed_init(&counts, 0);
		tap_is_int(read_text("x", cases[i][0], &recorder, &counts, &err), -EINVAL,
		           "case %zu is refused", i);
		tap_contains(err.text, cases[i][1], "because: %s", cases[i][1]);
		tap_is_int((int64_t)recorder.n_dumps, 0, "and nothing was kept");
		flight_recorder_fini(&recorder);
		observed_fini(&counts);
	}
}

int main(void)
{
	check_transfer();
	check_rank();
	check_circle();
	check_torn_buffer();
	check_healthy();
	check_example();
	check_refused();
	return tap_done();
}
