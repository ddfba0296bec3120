/* site_injectors.c - who applies which fault in a site of network namespaces.
 *
 * Faults that the workers can do as well are theirs where no injector takes them, unless the user
 * named one: then that one has to. A direction of a link that has delays and rates gets one
 * injector that can do both, because no other one can act where it does. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/strbuf.h"
#include "engine/base/units.h"
#include "engine/replay/site_internal.h"

enum { BITS_PER_BYTE = 8 };

/* What kinds of faults are called, and who is asked for them, in this order. */
enum what { WHAT_DELAY, WHAT_LOSS, WHAT_RATE, WHAT_OCCUPANCY, WHAT_RNIC, WHAT_OTHER };

static const char *const names[] = {"delays", "losses", "rates", "occupancy", "RNICs"};

static const char *const for_delays[] = {"netem", "relay", NULL};
static const char *const for_rates[] = {"rate", "netem", "relay", NULL};
static const char *const for_rnics[] = {"link", NULL};
static const char *const for_nothing[] = {NULL};

static enum what what_of(const struct fault *fault)
{
	switch (fault->kind) {
	case FAULT_DELAY:
		return fault->model == DELAY_OCCUPANCY ? WHAT_OCCUPANCY
		       : fault->model == DELAY_RATE    ? WHAT_RATE
		                                       : WHAT_DELAY;
	case FAULT_RATE:
		return WHAT_RATE;
	case FAULT_LOSS:
		return WHAT_LOSS;
	case FAULT_DOWN:
		return WHAT_RNIC;
	case FAULT_SLOW_STAGE:
		break;
	}
	return WHAT_OTHER;
}

static bool is_same_way(const struct fault *a, const struct fault *b)
{
	return a->from_stage == b->from_stage && a->to_stage == b->to_stage;
}

/* Does the way of the fault have delays or losses as well as rates, at whatever time? */
static bool is_mixed(const struct scenario *scenario, const struct fault *fault)
{
	for (size_t i = 0; i < scenario->n_faults; i++) {
		enum what what = what_of(&scenario->faults[i]);

		if (is_same_way(&scenario->faults[i], fault) && what <= WHAT_RATE &&
		    what != what_of(fault))
			return true;
	}
	return false;
}

static bool is_named(const struct site_config *config)
{
	return strcmp(config->injector, "auto") != 0;
}

/* Names are about links, and an RNIC is an interface under each of them; but for these. */
static bool is_named_for_rnics(const struct site_config *config)
{
	return strcmp(config->injector, "link") == 0 || strcmp(config->injector, "dry_run") == 0;
}

static const char *const *candidates_for(const struct site_config *config,
                                         const struct fault *fault)
{
	switch (what_of(fault)) {
	case WHAT_DELAY:
	case WHAT_LOSS:
		return for_delays;
	case WHAT_RATE:
		return is_mixed(config->scenario, fault) ? for_delays : for_rates;
	case WHAT_RNIC:
		return for_rnics;
	case WHAT_OCCUPANCY:
	case WHAT_OTHER:
		break;
	}
	return for_nothing;
}

/* The fault as it is to be in force: at the run's speed, and with what the healthy link takes, for
 * the workers hold a message for that at the same time. */
static struct fault scale(const struct site_config *config, const struct fault *fault)
{
	const struct topology *topology = &config->scenario->topology;
	struct fault real = *fault;
	double delay_ns = (double)fault->delay_ns;

	if (fault->kind == FAULT_DELAY && fault->model == DELAY_LATENCY)
		delay_ns += (double)topology->link_delay_ns;
	else if (fault->kind == FAULT_DELAY && topology->link_rate_bits_per_s > 0)
		delay_ns += BITS_PER_BYTE * (double)config->message_bytes * NS_PER_S /
		            (double)topology->link_rate_bits_per_s;
	real.delay_ns = llround(delay_ns / config->speed);
	real.jitter_ns = llround((double)fault->jitter_ns / config->speed);
	real.rate_bits_per_s = llround((double)fault->rate_bits_per_s * config->speed);
	return real;
}

/* -1: no more fit. What became of opening it is in the item. */
static int find_item(struct site_injectors *injectors, const struct injector_ops *ops,
                     const struct injector_config *config)
{
	struct site_injector *item = &injectors->items[injectors->n_items];
	struct err err = {0};

	for (int i = 0; i < injectors->n_items; i++)
		if (injectors->items[i].ops == ops)
			return i;
	if (injectors->n_items == SITE_INJECTORS_MAX)
		return -1;
	*item = (struct site_injector){.ops = ops};
	item->code = ops->open(config, &item->injector, &err);
	if (item->code)
		memcpy(item->reason, err.text, sizeof(item->reason));
	return injectors->n_items++;
}

/* Let the injector of that name apply the fault. */
static int give(struct site_injectors *injectors, const struct injector_config *config, size_t i,
                const char *name, struct err *err)
{
	const struct injector_ops *ops;
	struct site_injector *item;
	int rc = injector_find(name, &ops, err), found;

	if (rc)
		return rc;
	found = find_item(injectors, ops, config);
	if (found < 0)
		return err_set(err, -ENOMEM, "more than %d injectors", SITE_INJECTORS_MAX);
	item = &injectors->items[found];
	if (!item->injector)
		return err_set(err, item->code, "%s", item->reason);
	rc = injector_check(item->injector, &injectors->faults[i], err);
	if (rc)
		return rc;
	injectors->of_fault[i] = found;
	return 0;
}

/* The first that can, or nobody. */
static int choose(struct site_injectors *injectors, const struct site_config *config,
                  const struct injector_config *injector, size_t i, struct err *err)
{
	const struct fault *fault = &config->scenario->faults[i];
	const char *const *name = candidates_for(config, fault);
	struct err own = {0};

	for (; *name; name++) {
		own = (struct err){0};
		if (give(injectors, injector, i, *name, &own) == 0)
			return 0;
	}
	if (fault_is_of_packets(fault))
		return err_set(err, own.code, "%s", own.text);
	if (own.code)
		memcpy(injectors->refusal, own.text, sizeof(injectors->refusal));
	return 0;
}

static int place(struct site_injectors *injectors, const struct site_config *config,
                 const struct injector_config *injector, size_t i, struct err *err)
{
	const struct fault *fault = &config->scenario->faults[i];

	injectors->of_fault[i] = -1;
	injectors->faults[i] = scale(config, fault);
	if (what_of(fault) == WHAT_OTHER)
		return 0;
	if (!is_named(config) || (what_of(fault) == WHAT_RNIC && !is_named_for_rnics(config)))
		return choose(injectors, config, injector, i, err);
	if (strcmp(config->injector, "shaped") == 0 && fault_is_of_packets(fault))
		return err_set(
			err, -ENOTSUP,
			"injector shaped holds whole messages, and packets are to be lost or "
			"to overtake each other; netem and relay do that");
	if (strcmp(config->injector, "shaped") == 0)
		return 0;
	return give(injectors, injector, i, config->injector, err);
}

int site_injectors_open(const struct site_config *config, const struct injector_config *injector,
                        struct site_injectors *out, struct err *err)
{
	size_t n = config->scenario->n_faults;
	int rc = 0;

	out->faults = array_new(n, sizeof(*out->faults));
	out->of_fault = array_new(n, sizeof(*out->of_fault));
	if (!out->faults || !out->of_fault)
		return err_set(err, -ENOMEM, "no memory for the faults of a lab");
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = place(out, config, injector, i, err);
	return rc;
}

static const char *name_of(const struct site_injectors *injectors, size_t fault)
{
	int item = injectors->of_fault[fault];

	return item < 0 ? "shaped" : injectors->items[item].ops->name;
}

/* Add "delays by relay", or "… by relay and shaped", if there are any. */
static void add_what(const struct site_config *config, const struct site_injectors *injectors,
                     enum what what, struct strbuf *out)
{
	int n = 0;

	for (int item = SITE_INJECTORS_MAX - 1; item >= -1; item--)
		for (size_t i = 0; i < config->scenario->n_faults; i++) {
			if (what_of(&config->scenario->faults[i]) != what ||
			    injectors->of_fault[i] != item)
				continue;
			if (n++ == 0)
				strbuf_addf(out, "%s%s by ", out->length ? ", " : "", names[what]);
			else
				strbuf_add(out, " and ");
			strbuf_add(out, what == WHAT_RNIC && item < 0 ? "the workers"
			                                              : name_of(injectors, i));
			break;
		}
}

/* Why those that come first were not taken. */
static void add_reasons(const struct site_injectors *injectors, struct strbuf *out)
{
	for (int i = 0; i < injectors->n_items; i++)
		if (!injectors->items[i].injector)
			strbuf_addf(out, " (%s)", injectors->items[i].reason);
	if (injectors->refusal[0])
		strbuf_addf(out, " (%s)", injectors->refusal);
}

/* Of the faults of links, or where there are none of RNICs: who applies them, if it is one for all.
 */
static const char *find_word(const struct site_config *config,
                             const struct site_injectors *injectors, enum what first,
                             enum what last)
{
	const char *word = NULL;

	for (size_t i = 0; i < config->scenario->n_faults; i++) {
		enum what what = what_of(&config->scenario->faults[i]);

		if (what < first || what > last)
			continue;
		if (word && strcmp(word, name_of(injectors, i)) != 0)
			return "auto";
		word = name_of(injectors, i);
	}
	return word;
}

void site_injectors_describe(const struct site_config *config,
                             const struct site_injectors *injectors, struct site *site)
{
	const char *word = find_word(config, injectors, WHAT_DELAY, WHAT_OCCUPANCY);
	struct strbuf text = {0};

	for (enum what what = WHAT_DELAY; what < WHAT_OTHER; what++)
		add_what(config, injectors, what, &text);
	add_reasons(injectors, &text);
	snprintf(site->description, sizeof(site->description), "%s",
	         text.length ? strbuf_text(&text) : "nothing for it to do");
	strbuf_fini(&text);
	if (!word)
		word = find_word(config, injectors, WHAT_RNIC, WHAT_RNIC);
	snprintf(site->injector, sizeof(site->injector), "%s", word ? word : "shaped");
}

int site_injectors_close(struct site_injectors *injectors, struct err *err)
{
	int first = 0;

	for (int i = injectors->n_items - 1; i >= 0; i--) {
		struct err own = {0};
		int rc = injector_close(injectors->items[i].injector, &own);

		if (rc && !first)
			first = err_set(err, rc, "%s", own.text);
	}
	free(injectors->faults);
	free(injectors->of_fault);
	return first;
}
