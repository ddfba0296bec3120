/* format_csv_write.c - what is written as CSV reads back as it was, whatever it holds. */
#include "engine/format/csv_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/format/csv_table.h"
#include "tests/tap.h"

enum { ROUNDS = 300, COLUMNS = 5, TEXT_BYTES = 12 };

static void test_bytes(void)
{
	struct strbuf out = {0};
	struct csv_write csv = {.out = &out};

	csv_text(&csv, "plain");
	csv_text(&csv, "a,b");
	csv_text(&csv, "say \"yes\"");
	csv_text(&csv, "two\r\nlines");
	csv_text(&csv, "");
	csv_text(&csv, NULL);
	csv_end_row(&csv);
	csv_int(&csv, INT64_MIN);
	csv_int(&csv, INT64_MAX);
	csv_int(&csv, 0);
	csv_count(&csv, -1);
	csv_count(&csv, 7);
	csv_number(&csv, 0.1);
	csv_end_row(&csv);
	csv_number(&csv, NAN);
	csv_number(&csv, -INFINITY);
	csv_end_row(&csv);
	tap_is_str(strbuf_text(&out),
	           "plain,\"a,b\",\"say \"\"yes\"\"\",\"two\r\nlines\",,\r\n"
	           "-9223372036854775808,9223372036854775807,0,,7,0.1\r\n"
	           ",\r\n",
	           "cells are quoted where they have to be, and rows end as RFC 4180 has it");
	strbuf_fini(&out);
}

struct draws {
	uint64_t seed, n;
};

static uint64_t draw(struct draws *draws)
{
	return rng_mix(draws->seed, draws->n++);
}

/* Mostly what could break it; the reader takes no empty lines, and no NUL. */
static void random_text(struct draws *draws, char out[TEXT_BYTES])
{
	static const char signs[] = ",\"\r\n;a 0'\t\\";
	int n = (int)(draw(draws) % TEXT_BYTES);

	for (int i = 0; i < n; i++)
		out[i] = signs[draw(draws) % (sizeof(signs) - 1)];
	out[n] = '\0';
}

static bool comes_back(uint64_t seed)
{
	struct strbuf out = {0};
	struct csv_write csv = {.out = &out};
	char texts[COLUMNS][TEXT_BYTES];
	int64_t number, found;
	struct csv_table *table;
	struct err err = {0};
	struct draws draws = {seed, 0};
	bool is_same = true;

	number = (int64_t)draw(&draws);
	number >>= draw(&draws) % 64;
	for (int i = 0; i <= COLUMNS; i++)
		csv_text(&csv, (const char *[]){"a", "b", "c", "d", "e", "f"}[i]);
	csv_end_row(&csv);
	for (int i = 0; i < COLUMNS; i++) {
		random_text(&draws, texts[i]);
		csv_text(&csv, texts[i]);
	}
	csv_int(&csv, number);
	csv_end_row(&csv);
	if (csv_table_parse("random", strbuf_text(&out), out.length, &table, &err)) {
		tap_note("seed %" PRIu64 ": %s", seed, err.text);
		strbuf_fini(&out);
		return false;
	}
	for (int i = 0; i < COLUMNS; i++)
		is_same = is_same && strcmp(csv_table_text(table, 0, i), texts[i]) == 0;
	is_same = is_same && !csv_table_int(table, 0, COLUMNS, &found, &err) && found == number;
	csv_table_free(table);
	strbuf_fini(&out);
	return is_same;
}

static void test_random(void)
{
	int n_same = 0;

	for (uint64_t seed = 1; seed <= ROUNDS; seed++)
		n_same += comes_back(seed);
	tap_is_int(n_same, ROUNDS, "%d rows made by chance come back as they were", ROUNDS);
}

int main(void)
{
	test_bytes();
	test_random();
	return tap_done();
}
