/* import_kineto.c - how fast a 500 MB profiler trace is read, and in how much memory.
 *
 * Each way in is a process of its own, whose largest resident size the parent asks for. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/units.h"
#include "engine/format/kineto.h"
#include "tests/kineto_sample.h"
#include "tests/measure.h"

enum { TRACE_BYTES = 500000000 };

static FILE *write_trace(bool has_device_ranges)
{
	struct kineto_sample sample = {.rank = 1,
	                               .n_ranks = 4,
	                               .first_iteration = 3,
	                               .n_iterations = 130,
	                               .n_microbatches = 12,
	                               .n_kernels = 60,
	                               .n_host_ops = 2,
	                               .has_device_ranges = has_device_ranges,
	                               .base_ns = INT64_C(1700000000000000000)};
	FILE *file = tmpfile();

	if (file == NULL)
		return NULL;
	kineto_sample_write(&sample, file);
	if (fflush(file) != 0 || ftell(file) < TRACE_BYTES) {
		fclose(file);
		return NULL;
	}
	return file;
}

/* In the child: read what standard input is, and say how many bytes and how long. */
static void read_trace(int report)
{
	struct observed observed;
	struct input *input = NULL;
	struct err err = {0};
	struct timespec start, end;
	int64_t result[2];

	observed_init(&observed, 0);
	clock_gettime(CLOCK_MONOTONIC, &start);
	if (input_open("-", &input, &err) < 0 || kineto_read(input, NULL, &observed, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		_exit(1);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	result[0] = (int64_t)observed.n_bytes;
	result[1] = (end.tv_sec - start.tv_sec) * NS_PER_S + end.tv_nsec - start.tv_nsec;
	_exit(write(report, result, sizeof(result)) != sizeof(result));
}

static int measure(const char *what, FILE *trace)
{
	int64_t result[2] = {0};
	struct rusage usage;
	char text[80];
	int ends[2], status = 1;
	pid_t child;

	if (pipe(ends) != 0)
		return 1;
	rewind(trace);
	child = fork();
	if (child == 0) {
		dup2(fileno(trace), STDIN_FILENO);
		read_trace(ends[1]);
	}
	close(ends[1]);
	if (read(ends[0], result, sizeof(result)) != sizeof(result) ||
	    wait4(child, &status, 0, &usage) != child || status != 0)
		return 1;
	close(ends[0]);
	snprintf(text, sizeof(text), "%.0f MB/s, %.1f MB resident",
	         (double)result[0] / 1e6 / ((double)result[1] / NS_PER_S),
	         (double)usage.ru_maxrss * 1024 / 1e6);
	measure_row(what, "100 MB/s, 64 MB", result[1], text);
	return 0;
}

int main(void)
{
	measure_header();
	for (int has_ranges = 1; has_ranges >= 0; has_ranges--) {
		FILE *trace = write_trace(has_ranges);
		int code;

		if (trace == NULL) {
			fprintf(stderr, "cannot write a trace of %d bytes\n", TRACE_BYTES);
			return 1;
		}
		code = measure(has_ranges ? "Kineto trace, device ranges"
		                          : "Kineto trace, host ranges and kernels",
		               trace);
		fclose(trace);
		if (code != 0)
			return code;
	}
	return 0;
}
