/* site_internal.h - what sites that put faults on interfaces share: netns.c (network namespaces),
 * machine.c (the machine's own);
 * site_injectors.c: who applies which fault; site_faults.c: that it is done. */
#ifndef ENGINE_REPLAY_SITE_INTERNAL_H
#define ENGINE_REPLAY_SITE_INTERNAL_H

#include "engine/replay/site.h"
#include "injectors/injector.h"

enum { SITE_INJECTORS_MAX = 8 };

/* One of the injectors of a site, and what became of opening it. */
struct site_injector {
	const struct injector_ops *ops;
	struct injector *injector; /* NULL: it is not here */
	int code;                  /* then why: -errno, and */
	char reason[ERR_TEXT_BYTES];
};

struct site_injectors {
	struct site_injector items[SITE_INJECTORS_MAX]; /* in the order in which they were tried */
	int n_items;
	struct fault *faults;         /* [n_faults] of the scenario, as they are to be in force */
	int *of_fault;                /* [n_faults]: which item applies it; −1: the workers do */
	char refusal[ERR_TEXT_BYTES]; /* of a fault that the workers do for that; "": none */
};

extern const struct site_ops netns_ops;
extern const struct site_ops machine_ops;

/* Choose who applies each fault, and open them. Errors as site_ops.open; site_injectors_close() in
 * any case. */
int site_injectors_open(const struct site_config *config, const struct injector_config *injector,
                        struct site_injectors *out, struct err *err);

/* Who does, in a word and in a sentence. */
void site_injectors_describe(const struct site_config *config,
                             const struct site_injectors *injectors, struct site *site);

/* The first error is returned. */
int site_injectors_close(struct site_injectors *injectors, struct err *err);

/* All that sites which put faults on interfaces have in common. */
struct site_faults {
	struct site_config config;
	struct journal *journal;
	struct egress *egress;
	struct site_injectors injectors;
	bool *is_taken;
};

/* What is changed will be written into a journal. Errors as those of site_ops.open;
 * site_faults_close() and site_faults_end() in any case. */
int site_faults_begin(const struct site_config *config, struct site_faults *out, struct err *err);

/* Choose who applies which fault where locate says, and fill in what the site says of it. */
int site_faults_open(struct site_faults *faults,
                     int (*locate)(void *context, const struct injector_target *target,
                                   struct egress_port *out, struct err *err),
                     void *context, struct site *site, struct err *err);

/* Members of site_ops. */
int site_faults_set(struct site_faults *faults, size_t fault, bool is_on, struct err *err);
int site_faults_count(const struct site_faults *faults, size_t fault, struct site_counts *out,
                      struct err *err);
int site_faults_report(const struct site_faults *faults, struct site_report *out, struct err *err);

/* Clear everything, before what the faults are on goes; then, behind that, end the journal. The
 * first error is returned. */
int site_faults_close(struct site_faults *faults, struct err *err);
void site_faults_end(struct site_faults *faults);

/* The first error of several steps is told; all are taken. own: of the step that returned rc. */
int site_keep_first(int first, int rc, const struct err *own, struct err *err);

/* Is the interface up, as the caller's namespace sees it? One system call; what cannot be asked has
 * not been seen to be down. */
bool site_interface_is_up(const char *name);

#endif
