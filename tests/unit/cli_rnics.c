/* cli_rnics.c - the RNICs of a run in words: each once, a rail after the other, or the first of
 * them. */
#include "engine/cli/rnics.h"

#include "tests/tap.h"

static void check(const struct rnics *rnics, size_t n_most, const char *want, const char *name)
{
	struct strbuf text = {0};

	rnics_describe(rnics, n_most, &text);
	tap_is_str(strbuf_text(&text), want, "%s", name);
	strbuf_fini(&text);
}

int main(void)
{
	static const struct verbs_fact facts[] = {
		{0, 1, 1, "mlx5_1", 1, 3, "fe80::1", 1024},
		{0, 1, 0, "mlx5_0", 2, 5, "10.0.0.1", 4096},
		{1, 0, 0, "mlx5_0", 2, 5, "10.0.0.1", 4096},
		{1, 0, 1, "mlx5_1", 1, 3, "fe80::1", 1024},
		{1, 2, 1, "mlx5_2", 1, 0, "10.0.1.1", 4096},
	};
	static struct rnics rnics;

	check(&rnics, 9, "", "without RNICs nothing is said");
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		rnics_take(&rnics, &facts[i]);
	check(&rnics, 9,
	      "rail 0: mlx5_0 port 2, GID 5 10.0.0.1, MTU 4096; rail 1: mlx5_1 port 1, GID 3 "
	      "fe80::1, MTU 1024 and mlx5_2 port 1, GID 0 10.0.1.1, MTU 4096",
	      "each port is named once, behind its rail");
	check(&rnics, 1, "rail 0: mlx5_0 port 2, GID 5 10.0.0.1, MTU 4096; 2 more",
	      "where there is room for few the others are counted");
	for (int i = 0; i < 2 * RNICS_MAX; i++)
		rnics_take(&rnics, &(struct verbs_fact){0, 1, 2, "d", i + 1, 0, "::1", 256});
	tap_is_int((int64_t)rnics.n, RNICS_MAX, "so many are kept");
	tap_is_int((int64_t)rnics.n_more, RNICS_MAX + 3, "and the rest is counted");
	return tap_done();
}
