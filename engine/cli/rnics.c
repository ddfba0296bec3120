/* rnics.c - which RNICs the rails of a run stand on, in words. */
#include "engine/cli/rnics.h"

#include <stdio.h>
#include <string.h>

void rnics_take(void *context, const struct verbs_fact *fact)
{
	struct rnics *rnics = context;
	struct rnic rnic = {.rail = fact->rail};

	(void)snprintf(rnic.text, sizeof(rnic.text), "%s port %d, GID %d %s, MTU %d", fact->device,
	               fact->port, fact->gid_index, fact->gid, fact->mtu_bytes);
	for (size_t i = 0; i < rnics->n; i++)
		if (rnics->items[i].rail == rnic.rail &&
		    strcmp(rnics->items[i].text, rnic.text) == 0)
			return;
	if (rnics->n == RNICS_MAX)
		rnics->n_more++;
	else
		rnics->items[rnics->n++] = rnic;
}

void rnics_describe(const struct rnics *rnics, size_t n_most, struct strbuf *out)
{
	size_t n_shown = 0;
	int last = -1;

	for (int rail = 0; rail < TRANSPORT_RAILS_MAX; rail++)
		for (size_t i = 0; i < rnics->n && n_shown < n_most; i++) {
			if (rnics->items[i].rail != rail)
				continue;
			if (rail == last)
				strbuf_add(out, " and ");
			else
				strbuf_addf(out, "%srail %d: ", n_shown > 0 ? "; " : "", rail);
			strbuf_add(out, rnics->items[i].text);
			last = rail;
			n_shown++;
		}
	if (n_shown < rnics->n + rnics->n_more)
		strbuf_addf(out, "; %zu more", rnics->n + rnics->n_more - n_shown);
}
