/* base_nearest.c - checks which name somebody probably meant. */
#include "engine/base/nearest.h"

#include <errno.h>
#include <string.h>

#include "tests/tap.h"

#define N_OF(table) (sizeof(table) / sizeof((table)[0]))

static const char *const fields[] = {"delay", "jitter", "loss", "rate", "link", "distribution"};

static void check_near(const char *found, const char *want)
{
	tap_is_str(nearest_name(found, fields, N_OF(fields)), want, "'%s' means %s", found,
	           want ? want : "nothing known");
}

static void check_refusal(void)
{
	static const char *const devices[] = {"paced", "cpu"};
	struct err err = {0};

	tap_is_int(nearest_refuse("device", "pacde", devices, 2, &err), -ENOENT,
	           "an unknown name is refused");
	tap_is_str(err.text, "no device 'pacde'; did you mean 'paced'? There are paced, cpu",
	           "with the nearest one and all there are");
	(void)nearest_refuse("device", "quantum", devices, 2, &err);
	tap_is_str(err.text, "no device 'quantum'; there are paced, cpu", "or with all there are");
	tap_is_int(nearest_refuse("device", "quantum", devices, 2, NULL), -ENOENT,
	           "the sentence is optional");
}

int main(void)
{
	static const char *const pair[] = {"rote", "rite"};
	static const char *const one[] = {"zb"};
	char name[4000];

	check_near("delay", "delay");
	check_near("dealy", "delay");
	check_near("DELAY", "delay");
	check_near("dela", "delay");
	check_near("delayy", "delay");
	check_near("distributon", "distribution");
	check_near("ditsributoin", "distribution");
	check_near("lnik", "link");
	check_near("los", "loss");
	check_near("duration", NULL);
	check_near("xyz", NULL);
	check_near("", NULL);
	tap_is_str(nearest_name("rate", pair, 2), "rote", "a tie goes to the first");
	tap_is_str(nearest_name("rite", pair, 2), "rite", "a better one behind wins");
	tap_is_str(nearest_name("zd", one, 1), "zb", "short names may differ by one");
	tap_is_str(nearest_name("xd", one, 1), NULL, "but not by two");
	tap_is_str(nearest_name("x", NULL, 0), NULL, "without names nothing is near");
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	tap_is_str(nearest_name(name, fields, N_OF(fields)), NULL, "a very long name is refused");
	check_refusal();
	return tap_done();
}
