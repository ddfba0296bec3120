/* tap.c - checks that the checks of tests/tap.h can fail, and what they say then. */
#include "tests/tap.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "tests/child.h"
#include "tests/folder.h"

static int fail_in_every_way(void)
{
	tap_ok(true, "holds");
	tap_ok(false, "is false # TODO is no directive");
	tap_is_int(1, 2, "differs by %d", 1);
	tap_is_str("a\nb", NULL, "differs");
	tap_contains("abc", "x", "lacks it");
	tap_is_number(1, 2, 0.5, "is far");
	tap_is_number(NAN, 2, 0.5, "is no number");
	tap_skip("no reason");
	return tap_done();
}

static int hold_in_every_way(void)
{
	tap_is_int(2, 2, "is equal");
	tap_is_str(NULL, NULL, "both are NULL");
	tap_contains("abc", "c", "has it");
	tap_is_number(1, 1.5, 0.5, "is near");
	tap_is_number(NAN, NAN, 0, "neither is a number");
	tap_is_number(INFINITY, INFINITY, 0, "both are infinite");
	return tap_done();
}

static int check_nothing(void)
{
	return tap_done();
}

/* Runs the function in a child; its exit status, and in *text_out what it printed, to free. */
static int run(int (*function)(void), char **text_out)
{
	const char *path = folder_path("output");
	struct err err = {0};
	size_t n_bytes;
	int status, fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
	pid_t child = child_start();

	if (child == 0) {
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		exit(function());
	}
	status = child_wait(child);
	if (file_read(path, 1 << 20, text_out, &n_bytes, &err))
		*text_out = NULL;
	close(fd);
	return status;
}

int main(void)
{
	char *failing, *holding, *empty;
	int failing_status = run(fail_in_every_way, &failing);
	int holding_status = run(hold_in_every_way, &holding);
	int empty_status = run(check_nothing, &empty);

	tap_is_int(failing_status, 1, "a program with failing checks ends with 1");
	tap_contains(failing, "ok 1 - holds\n", "a check that holds says so");
	tap_contains(failing, "not ok 2 - is false   TODO", "no name becomes a directive");
	tap_contains(failing, "not ok 3 - differs by 1\n", "a name is a format");
	tap_contains(failing, "# found:  1\n# wanted: 2\n", "numbers are shown");
	tap_contains(failing, "# found:  a\n#         b\n# wanted: (null)\n", "texts are shown");
	tap_contains(failing, "not ok 5 - lacks it\n", "a missing part is found");
	tap_contains(failing, "# wanted: 2, at most 0.5 away\n", "tolerances are shown");
	tap_contains(failing, "not ok 7 - is no number\n", "what is no number is not near");
	tap_contains(failing, "ok 8 # SKIP no reason\n1..8\n", "the plan comes last");
	tap_contains(failing, "# 6 of 8 checks failed\n", "failures are counted");
	tap_is_int(holding_status, 0, "a program whose checks hold ends with 0");
	tap_is_str(holding,
	           "ok 1 - is equal\nok 2 - both are NULL\nok 3 - has it\nok 4 - is near\n"
	           "ok 5 - neither is a number\nok 6 - both are infinite\n1..6\n",
	           "and prints TAP only");
	tap_is_int(empty_status, 1, "a program that checks nothing ends with 1");
	tap_contains(empty, "not ok 1 - something is checked\n", "and says so");
	tap_is_number(tap_worst(1, 2), 2, 0, "the larger error is the worse");
	tap_ok(isnan(tap_worst(1, NAN)) && isnan(tap_worst(NAN, 1)), "one that is no number stays");
	free(empty);
	free(failing);
	free(holding);
	return tap_done();
}
