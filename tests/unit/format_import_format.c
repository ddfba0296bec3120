/* format_import_format.c - a file's format is told by its start, whatever the file is called. */
#include "engine/format/import_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/packed.h"
#include "tests/tap.h"

static const struct {
	const char *text;
	enum import_format format;
} cases[] = {
	{"{\"schemaVersion\": 1, \"distributedInfo\": {\"pg_config\": []}}", IMPORT_KINETO},
	{"\n [\n {\"ph\":\"X\"}]", IMPORT_KINETO},
	{"{}", IMPORT_KINETO},
	{"[]", IMPORT_KINETO},
	{"{\"version\":\"2.10\",\"pg_config\":{}}", IMPORT_FLIGHT_RECORDER},
	{"{\"entries\":[]}", IMPORT_FLIGHT_RECORDER},
	{"\x80\x04\x95", IMPORT_FLIGHT_RECORDER},
	{"[RANK3] Iteration 7\n", IMPORT_OP_LOG},
	{"starting\n[RANK3] Iteration 7\n", IMPORT_OP_LOG},
	{"[2026-01-31 08:00:05] iteration 1/ 2 | elapsed time per iteration (ms): 5 |\n",
         IMPORT_TRAINING_LOG},
	{"using world size: 8, data-parallel size: 1\n", IMPORT_TRAINING_LOG},
	{"10;1_2;0.030\n40;1_2;0.00\n", IMPORT_SLOW_LINK_TRACE},
	{"\n90;;inf\n", IMPORT_SLOW_LINK_TRACE},
	{"0.125;0_1,1_2;0.020,0.035\n", IMPORT_SLOW_LINK_TRACE},
	{"0F0,0F1,,0B0,0F2\r\n,1F0,1B0\r\n", IMPORT_ORDER},
	{"(2F4;5B1)OVERLAP_F_B,2F5\n", IMPORT_ORDER},
	{"0F0,0SEND_F0,0RECV_B0,0UNSHARD,0RESHARD,0REDUCE_GRAD\n", IMPORT_ORDER},
	{"FFFBWBWBW\n.FFBFBWBWW\n", IMPORT_ORDER},
	{"F0 F1 Bi0 Bw0\n", IMPORT_ORDER},
	{"0, F, 0, 10\n", IMPORT_SIMULATOR_DUMP},
	{"0,F,0.5,10\n0,B,10,20\n", IMPORT_SIMULATOR_DUMP},
};

static int detect(const char *bytes, size_t n_bytes, enum import_format *out, struct err *err)
{
	struct input *input = NULL;
	int rc = input_open_bytes("x", bytes, n_bytes, &input, err);

	if (rc == 0)
		rc = import_format_detect(input, out, err);
	input_close(input);
	return rc;
}

static void check_read(void)
{
	static const char text[] = "[RANK0] Iteration 1\n";
	const struct import_rules rules = {0};
	struct input *input = NULL;
	struct observed observed;
	struct err err = {0};

	observed_init(&observed, 0);
	input_open_bytes("x", text, strlen(text), &input, &err);
	tap_is_int(import_format_read(IMPORT_OP_LOG, input, &rules, &observed, &err), 0,
	           "a format is read by its reader");
	tap_is_int(observed.sources[0].rank, 0, "which sets what the file says");
	tap_is_int(import_format_read(IMPORT_ORDER, input, &rules, &observed, &err), -EINVAL,
	           "an order says nothing of what happened");
	tap_is_str(err.text, "x: is a pipeline order, which does not say how long ops took",
	           "and that is said");
	input_close(input);
	observed_fini(&observed);
}

int main(void)
{
	enum import_format format;
	struct err err = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t n_packed;
		char *zip = packed(cases[i].text, strlen(cases[i].text), &n_packed);

		format = (enum import_format) - 1;
		detect(cases[i].text, strlen(cases[i].text), &format, &err);
		tap_is_str(import_format_name(format), import_format_name(cases[i].format),
		           "case %zu is told", i);
		format = (enum import_format) - 1;
		detect(zip, n_packed, &format, &err);
		tap_is_int(format, cases[i].format, "compressed as well");
		free(zip);
	}
	tap_is_int(detect("", 0, &format, &err), -EINVAL, "an empty file is nothing");
	tap_is_str(err.text, "x: is empty", "and that is said");
	check_read();
	return tap_done();
}
