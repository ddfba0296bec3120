/* format_order_errors.c - an order that isn't one is refused, and the sentence says where it goes
 * wrong. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/strbuf.h"
#include "engine/format/order_file.h"
#include "tests/tap.h"

struct bad {
	const char *text;
	const char *want; /* in the sentence */
	const char *name;
};

static const struct bad bad_cells[] = {
	{"0F0,0F0x,0B0", "row 1, column 2: found '0F0x' with text after",
         "trailing text is refused"},
	{"0F0,0B0\n1F0,1B0 1W0", "row 2, column 2", "two actions in a cell are refused"},
	{"0F0,B0", "row 1, column 2", "an action without a stage is refused"},
	{"0F0,0B", "row 1, column 2: found '0B' without a microbatch", "a B needs a microbatch"},
	{"0F0,0X0", "row 1, column 2: found '0X0' of no known type", "an unknown type is refused"},
	{"0F0,0f0", "row 1, column 2", "types are upper case"},
	{"0F0,0RESHARD1", "row 1, column 2", "an FSDP action has no microbatch"},
	{"0F0,0", "row 1, column 2", "a stage alone is no action"},
	{"0F0,-1F0", "row 1, column 2", "negative numbers are refused"},
	{"0F0,1024F0", "row 1, column 2: found '1024F0': stages", "a stage past 1023 is refused"},
	{"0F0,0F65536", "microbatches are 0 to 65535", "a microbatch past 65535 is refused"},
	{"0F99999999999999999999,0B0", "row 1, column 1", "numbers that overflow are refused"},
	{"0F0,(0F1;0B0", "row 1, column 2: found '(0F1;0B0'", "an open overlap is refused"},
	{"0F0,(0F1;0B0)OVERLAP", "row 1, column 2", "an overlap needs its word"},
	{"0F0,(0F1;)OVERLAP_F_B", "row 1, column 2", "an overlap has no empty part"},
	{"0F0,\"0B0", "line 1, column 2", "an open quote is refused"},
	{"0F0,0B0\n\n1F0,1B0", "row 2: has no actions", "an empty line between ranks is refused"},
	{"0F0,0B0\n,,\n", "row 2: has no actions", "a rank of empty slots is refused"},
};

static const struct bad bad_sets[] = {
	{"0F0,0B0\n2F0,2B0", "row 2, column 1: stage 2 in a file of 2 rows", "stages have no gaps"},
	{"0F0,0B0\n0F1,0B1", "row 2, column 1: stage 0 is that of row 1", "a stage has one rank"},
	{"0F0,2F0,0B0\n1F0,1B0",
         "row 1, column 2: stage 2 on a rank that runs stage 0; several stages",
         "several stages a rank are refused by name"},
	{"0F0,0F0,0B0", "row 1, column 2: 0F0 for a second time", "a forward is there once"},
	{"0F0,0F1,0F1,0B0,0B1",
         "row 1, column 3: 0F1 for a second time; the first is 0F1 in row 1, column 2",
         "and its first place is named"},
	{"0F0,0B0,0B0", "row 1, column 3: 0B0 for a second time", "a second backward is refused"},
	{"0F0,0F1,0B0,0B1\n1F0,1B0", "row 2: 1 forwards of stage 1, but 2 of stage 0",
         "every stage has every microbatch"},
	{"0F0,0F7,0B0,0B7", "row 1, column 2: 0F7, but the stage has 2 forwards",
         "microbatches have no gaps"},
	{"0F0,0F1,0B0", "row 1: 0B1 is missing", "a missing backward is named"},
	{"0F0,0I0", "row 1: 0W0 is missing", "I needs its W"},
	{"0F0,0W0", "row 1: 0I0 is missing", "W needs its I"},
	{"0F0,0B0,0W0", "row 1, column 3: 0W0, but that microbatch has a whole backward",
         "B excludes W"},
	{"0F0,0I0,0B0,0W0", "row 1, column 2: 0I0, but that microbatch has a whole backward",
         "B excludes I"},
	{"0B0", "0 forwards of stage 0", "a stage needs forwards"},
	{"0B0,0F0", "row 1, column 1: 0B0 comes before 0F0 in row 1, column 2", "F precedes B"},
	{"0F0,0W0,0I0", "row 1, column 2: 0W0 comes before 0I0", "I precedes W"},
	{"0I0,0F0,0W0", "row 1, column 1: 0I0 comes before 0F0", "F precedes I"},
	{"0F0,0F1,0B1,0B0\n1F0,1B0,1F1,1B1", NULL, "backwards out of order across stages can run"},
	{"0F0,0B0,0F1,0B1\n1F1,1B1,1F0,1B0", "stage 0 at B0, stage 1 at F1",
         "an order that deadlocks is refused"},
};

static const struct bad bad_transfers[] = {
	{"0F0,0SEND_F0,0RECV_B0,0B0\n1F0,1B0,1SEND_B0", "row 2: 1RECV_F0 is missing",
         "a send needs its receive"},
	{"0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0", "row 1: 0SEND_F0 is missing",
         "a receive needs its send"},
	{"0F0,0SEND_F0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0", "row 1: 0RECV_B0 is missing",
         "a gradient has to be received"},
	{"0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0", "row 2: 1SEND_B0 is missing",
         "a gradient has to be sent"},
	{"0F0,0SEND_F0,0RECV_B0,0B0\n1F0,1RECV_F0,1B0,1SEND_B0",
         "row 2, column 1: 1F0 comes before 1RECV_F0 in row 2, column 2",
         "a receive precedes its consumer"},
	{"0F0,0SEND_F0,0B0,0RECV_B0\n1RECV_F0,1F0,1B0,1SEND_B0",
         "row 1, column 3: 0B0 comes before 0RECV_B0", "a gradient precedes its consumer"},
	{"0F0,0SEND_F0,0I0,0RECV_B0,0W0\n1RECV_F0,1F0,1B0,1SEND_B0",
         "row 1, column 3: 0I0 comes before 0RECV_B0", "a gradient precedes I"},
	{"0SEND_F0,0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0",
         "row 1, column 1: 0SEND_F0 comes before 0F0", "a send follows its producer"},
	{"0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1SEND_B0,1I0,1W0",
         "row 2, column 3: 1SEND_B0 comes before 1I0", "a gradient follows its producer"},
	{"0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1SEND_B0,1B0",
         "row 2, column 3: 1SEND_B0 comes before 1B0", "a gradient follows a whole backward too"},
	{"0F0,0SEND_F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0",
         "row 1, column 3: 0SEND_F0 for a second time", "a second send is refused"},
	{"0RECV_F0,0F0,0B0", "row 1, column 1: 0RECV_F0, but stage 0 has no neighbour",
         "the first stage receives no activation"},
	{"0F0,0SEND_F0,0B0", "row 1, column 2: 0SEND_F0, but stage 0 has no neighbour",
         "the last stage sends no activation"},
	{"0F0,,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0", "row 1, column 2: empty cell",
         "transfers leave no idle slots"},
	{"0F0,0RECV_B0,0SEND_F0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0",
         "deadlocks even when sends are buffered; waiting: 0RECV_B0 in row 1, column 2; "
         "1RECV_F0 in row 2, column 1",
         "a deadlock of transfers names who waits"},
};

static const struct bad bad_texts[] = {
	{"", "is empty", "an empty file is no order"},
	{" \n\t\r\n", "is empty", "blanks are no order"},
	{"hello world", "line 1: 'hello world' begins no order", "prose is no order"},
	{"1 2 1 3\n1 1 2 2", "numbers without letters", "the old numeric text is refused"},
	{"FFBxB", "row 1, column 4: found 'x'", "a grid has four characters"},
	{"FB\nF B", "row 2, column 2: found ' '", "a grid has no blanks"},
	{"FFBB\n....\n", "row 2: has no actions", "an idle stage is refused"},
	{"FFBWB\nFBFB", "row 1: 0W1 is missing", "B and W of a grid's stage are as many"},
	{"FWB", "row 1, column 2: 0W0 comes before 0I0", "a grid's W follows its B"},
	{"FFBB\nFB", "row 2: 1 forwards of stage 1, but 2 of stage 0", "a grid's stages agree"},
	{"F0 B0", "row 1, column 4: found 'B0'; wanted F<n>, Bi<n> or Bw<n>",
         "schedule text knows no B"},
	{"F0 Bi0 bw0", "row 1, column 8: found 'bw0'", "schedule text minds case"},
	{"F0 Bi0 Bw0x", "row 1, column 8", "schedule text refuses trailing text"},
	{"F1 Bi0 Bw0", "row 1, column 1: found 'F1'; wanted F0", "schedule text counts from 0"},
	{"F0 Bi0 Bw", "row 1, column 8: found 'Bw'", "schedule text needs numbers"},
	{"0, F, 0", "row 1, column 1", "a dump has four fields"},
	{"0,F,0,1\n0,B,1,2,3", "row 2, column 1", "and no more than four"},
	{"0,F,0,1\n0,B,0.5,2\n0,W,0.25,3", "row 3, column 1: starts before", "a dump is sorted"},
	{"1,F,0,1", "stage 1 after stage 0", "a dump begins with stage 0"},
	{"0,F,0,1\n2,F,0,1", "stage 2 after stage 0", "a dump's stages have no gaps"},
	{"0,F,2,1", "row 1, column 1", "a dump's op ends after its start"},
	{"0,F,nan,1", "row 1, column 1", "a dump's times are numbers"},
	{"\x1f\x8b\x08", "gunzip", "compressed data is refused with what to do"},
};

static void check_bad(const struct bad *bad, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct err err = {0};
		struct plan plan = {.n_stages = -1};
		int rc = order_file_parse("o", bad[i].text, strlen(bad[i].text), &plan, &err);

		if (bad[i].want == NULL) {
			tap_is_str(err.text, "", "%s", bad[i].name);
			plan_fini(&plan);
			continue;
		}
		tap_is_int(rc, -EINVAL, "%s", bad[i].name);
		tap_contains(err.text, bad[i].want, "and says where: %s", bad[i].name);
		tap_is_int(plan.n_stages, -1, "and sets no plan: %s", bad[i].name);
	}
}

static int parse_bytes(const char *text, size_t n_bytes, struct err *err)
{
	struct plan plan;
	int rc = order_file_parse("o", text, n_bytes, &plan, err);

	if (rc == 0)
		plan_fini(&plan);
	return rc;
}

static void check_limits(void)
{
	struct strbuf text = {0};
	struct err err = {0};
	char *line;

	tap_is_int(parse_bytes("F\0B", 3, &err), -EINVAL, "a NUL byte is refused");
	tap_contains(err.text, "line 1: has a NUL", "and said so");
	tap_is_int(parse_bytes("", ((size_t)64 << 20) + 1, &err), -EFBIG,
	           "more than 64 MiB are refused unseen");
	for (int i = 0; i < 1025; i++)
		strbuf_addf(&text, "%dF0,%dB0\n", i < 1024 ? i : 0, i < 1024 ? i : 0);
	tap_is_int(parse_bytes(strbuf_text(&text), text.length, &err), -EINVAL,
	           "more than 1024 ranks are refused");
	tap_contains(err.text, "row 1025: more than 1024 ranks", "at the row that is too many");
	strbuf_clear(&text);
	for (int i = 0; i <= 65536; i++)
		strbuf_add(&text, "FB");
	tap_is_int(parse_bytes(strbuf_text(&text), text.length, &err), -EINVAL,
	           "more than 65536 microbatches are refused");
	tap_contains(err.text, "65537 forwards", "and counted");
	tap_is_int(parse_bytes(strbuf_text(&text), text.length - 2, &err), 0,
	           "65536 microbatches are read");
	strbuf_fini(&text);

	line = malloc(9 << 20);
	memset(line, 'F', 9 << 20);
	tap_is_int(parse_bytes(line, 9 << 20, &err), -EFBIG, "nine million actions are refused");
	memset(line, 'x', 9 << 20);
	memcpy(line, "0F0,", 4);
	tap_is_int(parse_bytes(line, 9 << 20, &err), -EINVAL, "a cell of nine million letters too");
	tap_contains(err.text, "xxx...", "and its sentence stays short");
	free(line);
}

static void check_read(void)
{
	struct plan plan;
	struct err err = {0};

	tap_is_int(order_file_read("no/such/order.csv", &plan, &err), -ENOENT,
	           "a file that isn't there is reported");
	tap_contains(err.text, "no/such/order.csv", "and named");
}

int main(void)
{
	check_bad(bad_cells, sizeof(bad_cells) / sizeof(*bad_cells));
	check_bad(bad_sets, sizeof(bad_sets) / sizeof(*bad_sets));
	check_bad(bad_transfers, sizeof(bad_transfers) / sizeof(*bad_transfers));
	check_bad(bad_texts, sizeof(bad_texts) / sizeof(*bad_texts));
	check_limits();
	check_read();
	return tap_done();
}
