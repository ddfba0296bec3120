/* base_units.c - checks quantities with units. */
#include "engine/base/units.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "tests/tap.h"

#define N_OF(table) (sizeof(table) / sizeof((table)[0]))

typedef int parse_fn(const char *text, int64_t *out, struct err *err);

struct quantity_case {
	const char *text;
	int64_t want;
};

static void check_parsed(parse_fn *parse, const struct quantity_case *cases, size_t n_cases)
{
	for (size_t i = 0; i < n_cases; i++) {
		struct err err = {0};
		int64_t got = -1;

		if (parse(cases[i].text, &got, &err))
			tap_is_str(err.text, "", "'%s' is read", cases[i].text);
		else
			tap_is_int(got, cases[i].want, "'%s' is read", cases[i].text);
	}
}

static void check_refused(parse_fn *parse, const char *const *texts, size_t n_texts)
{
	for (size_t i = 0; i < n_texts; i++) {
		struct err err = {0};
		int64_t got = -7;
		int rc = parse(texts[i], &got, &err);

		tap_ok(rc == -EINVAL && err.code == rc && got == -7 && err.text[0],
		       "'%.40s' is refused: %s", texts[i], err.text);
	}
}

static void check_durations(void)
{
	static const struct quantity_case good[] = {
		{"30ms", 30000000},
		{"1.5s", 1500000000},
		{"5us", 5000},
		{"250ns", 250},
		{"2min", INT64_C(120) * NS_PER_S},
		{"1h", INT64_C(3600) * NS_PER_S},
		{"0ms", 0},
		{"00030ms", 30000000},
		{"0.1s", 100000000},
		{"0.3s", 300000000},
		{"0.0000000001s", 0},
		{"0.4999999999999999999999999999999999999999ns", 0},
		{"0.5ns", 1},
		{"1.4ns", 1},
		{"1.5ns", 2},
		{"0.0000000005s", 1},
		{"0.00000000049999999999999999999999s", 0},
		{"0.123456789123456789s", 123456789},
		{"0.9999999999s", NS_PER_S},
		{"9007199254740993ns", INT64_C(9007199254740993)},
		{"4611686018427387904ns", INT64_C(4611686018427387904)},
		{"4611686018.427387904s", INT64_C(4611686018427387904)},
		{"0.333333333333333333333333333333333333h", INT64_C(1200) * NS_PER_S},
	};
	static const char *const bad[] = {
		"",
		"30",
		"0",
		"ms",
		"-3ms",
		"+3ms",
		" 3ms",
		"3 ms",
		"3ms ",
		"3msx",
		"3sec",
		"3MS",
		"1.ms",
		".5ms",
		"1..5ms",
		"1.5.2s",
		"1e3ms",
		"0x10ms",
		"1,5ms",
		"inf",
		"nan",
		"NaNs",
		"4611686018427387905ns",
		"4611686018427387904.5ns",
		"9223372036854775808ns",
		"18446744073709551616ns",
		"1281023.9h",
		"99999999999999999999999999999999999999h",
	};

	check_parsed(units_parse_duration, good, N_OF(good));
	check_refused(units_parse_duration, bad, N_OF(bad));
}

static void check_rates_and_sizes(void)
{
	static const struct quantity_case rates[] = {
		{"200Gbit", INT64_C(200000000000)},
		{"1.5Mbit", 1500000},
		{"9600bit", 9600},
		{"25GB", INT64_C(200000000000)},
		{"1kB", 8000},
		{"0.25B", 2},
		{"0bit", 0},
	};
	static const struct quantity_case sizes[] = {
		{"4MiB", 4194304}, {"512KiB", 524288}, {"1GB", 1000000000},
		{"100B", 100},     {"0.5KiB", 512},    {"4194304TiB", INT64_C(4611686018427387904)},
	};
	static const char *const bad_rates[] = {"200",   "200gbit", "1GiB",
	                                        "-1bit", "1Gbit/s", "4611687Tbit"};
	static const char *const bad_sizes[] = {"4", "4M", "4mib", "4Mbit", "-1B", "4194305TiB"};

	check_parsed(units_parse_rate, rates, N_OF(rates));
	check_refused(units_parse_rate, bad_rates, N_OF(bad_rates));
	check_parsed(units_parse_size, sizes, N_OF(sizes));
	check_refused(units_parse_size, bad_sizes, N_OF(bad_sizes));
}

static void check_sentences(void)
{
	struct err err = {0};
	int64_t out;

	units_parse_duration("30", &out, &err);
	tap_is_str(err.text,
	           "duration '30' has no unit; write a number and ns, us, ms, s, min or h, "
	           "such as 30ms",
	           "a bare number is answered with the units there are");
	units_parse_duration("30sec", &out, &err);
	tap_is_str(err.text,
	           "duration '30sec' has the unknown unit 'sec'; use ns, us, ms, s, min or h, "
	           "as in 30ms",
	           "an unknown unit is answered with the known ones");
	units_parse_duration("-3ms", &out, &err);
	tap_contains(err.text, "'-3ms' is not a duration", "a sign is no part of a duration");
	units_parse_size("9999999999TiB", &out, &err);
	tap_contains(err.text, "is too large; the most is 2^62 bytes", "a limit is named");
}

static void check_ratios(void)
{
	static const struct {
		const char *text;
		double want;
	} good[] = {{"0.1%", 0.001}, {"0.001", 0.001}, {"0", 0},         {"1", 1},
	            {"100%", 1},     {"0.7%", 0.007},  {"12.5%", 0.125}, {"33%", 0.33}};
	static const char *const bad[] = {
		"",    "%",    "1.01",  "101%",  "-0.1", "1e-3", "nan",
		"inf", "0.1x", "0.1 %", "0.1%%", ".5",   "5.%",  "100.0000000000001%",
	};
	static const char too_long[] =
		"0.00000000000000000000000000000000000000000000000000000000000000000000001";
	struct err err = {0};
	double ratio = -1;

	for (size_t i = 0; i < N_OF(good); i++) {
		tap_is_int(units_parse_ratio(good[i].text, &ratio, &err), 0, "'%s' is a ratio",
		           good[i].text);
		tap_is_number(ratio, good[i].want, 0, "'%s' is exactly %g", good[i].text,
		              good[i].want);
	}
	ratio = -1;
	for (size_t i = 0; i < N_OF(bad); i++)
		tap_is_int(units_parse_ratio(bad[i], &ratio, &err), -EINVAL, "'%s' is not a ratio",
		           bad[i]);
	tap_is_int(units_parse_ratio(too_long, &ratio, &err), -EINVAL,
	           "a ratio of too many digits is refused");
	tap_is_number(ratio, -1, 0, "a refused ratio leaves the output alone");
}

static void check_counts(void)
{
	static const char *const bad[] = {"",
	                                  "-",
	                                  "+1",
	                                  " 1",
	                                  "1 ",
	                                  "1.0",
	                                  "1e2",
	                                  "0x1",
	                                  "twelve",
	                                  "1k",
	                                  "-1",
	                                  "101",
	                                  "99999999999999999999"};
	struct err err = {0};
	int64_t n = -7;

	for (size_t i = 0; i < N_OF(bad); i++)
		tap_is_int(units_parse_count(bad[i], 0, 100, &n, &err), -EINVAL,
		           "'%s' is no count from 0 to 100", bad[i]);
	tap_is_int(n, -7, "a refused count leaves the output alone");
	tap_contains(err.text, "0 to 100", "the range is named");
	tap_ok(!units_parse_count("0", 0, 100, &n, &err) && n == 0, "the low end is allowed");
	tap_ok(!units_parse_count("100", 0, 100, &n, &err) && n == 100, "the high end is allowed");
	tap_ok(!units_parse_count("-9223372036854775808", INT64_MIN, INT64_MAX, &n, &err) &&
	               n == INT64_MIN,
	       "the smallest number is read when the range has it");
	tap_ok(!units_parse_count("9223372036854775807", INT64_MIN, INT64_MAX, &n, &err) &&
	               n == INT64_MAX,
	       "the largest number is read");
	tap_is_int(units_parse_count("9223372036854775808", INT64_MIN, INT64_MAX, &n, &err),
	           -EINVAL, "one more is refused");
	tap_contains(err.text, "wanted at most 9223372036854775807", "with the largest");
	units_parse_count("-1", 0, INT64_MAX, &n, &err);
	tap_is_str(err.text, "-1 is out of range; wanted 0 or more",
	           "else that is no limit to speak of");
}

typedef char *format_fn(int64_t value, char *out);

struct format_case {
	int64_t value;
	const char *want;
};

static void check_format(format_fn *format, const struct format_case *cases, size_t n_cases)
{
	for (size_t i = 0; i < n_cases; i++) {
		char text[UNITS_TEXT_BYTES];

		tap_is_str(format(cases[i].value, text), cases[i].want, "%lld is written as %s",
		           (long long)cases[i].value, cases[i].want);
	}
}

static void check_formats(void)
{
	static const struct format_case durations[] = {
		{30000000, "30 ms"},
		{1847000000, "1.847 s"},
		{0, "0 s"},
		{1, "1 ns"},
		{999, "999 ns"},
		{1000, "1 us"},
		{999949, "999.9 us"},
		{999960, "1 ms"},
		{999999999, "1 s"},
		{-1500, "-1.5 us"},
		{INT64_C(90) * NS_PER_S, "90 s"},
		{INT64_C(599) * NS_PER_S, "599 s"},
		{INT64_C(600) * NS_PER_S, "10 min"},
		{INT64_C(36000) * NS_PER_S, "10 h"},
		{INT64_MAX, "2562048 h"},
		{INT64_MIN, "-2562048 h"},
	};
	static const struct format_case rates[] = {
		{INT64_C(200000000000), "200 Gbit/s"},
		{9600, "9.6 kbit/s"},
		{0, "0 bit/s"},
		{999999, "1 Mbit/s"},
		{INT64_MAX, "9223372 Tbit/s"},
	};
	static const struct format_case sizes[] = {
		{4194304, "4 MiB"},        {0, "0 B"},
		{1023, "1023 B"},          {1024, "1 KiB"},
		{1048575, "1 MiB"},        {1047000, "1022 KiB"},
		{1000000000, "953.7 MiB"}, {INT64_MAX, "8388608 TiB"},
	};

	check_format(units_format_duration, durations, N_OF(durations));
	check_format(units_format_rate, rates, N_OF(rates));
	check_format(units_format_size, sizes, N_OF(sizes));
}

static void check_spans(void)
{
	static const struct format_case spans[] = {
		{INT64_C(19) * NS_PER_S, "19 s"},
		{INT64_C(723) * NS_PER_S, "12 min 03 s"},
		{INT64_C(4740) * NS_PER_S, "1 h 19 min"},
		{0, "0 s"},
		{499999999, "0 s"},
		{500000000, "1 s"},
		{-400000000, "0 s"},
		{INT64_C(59499999999), "59 s"},
		{INT64_C(59500000000), "1 min 00 s"},
		{INT64_C(3599500000000), "1 h 00 min"},
		{INT64_C(7199) * NS_PER_S, "2 h 00 min"},
		{INT64_MAX, "2562047 h 47 min"},
		{INT64_MIN, "-2562047 h 47 min"},
	};

	check_format(units_format_span, spans, N_OF(spans));
}

int main(void)
{
	check_durations();
	check_rates_and_sizes();
	check_sentences();
	check_ratios();
	check_counts();
	check_formats();
	check_spans();
	return tap_done();
}
