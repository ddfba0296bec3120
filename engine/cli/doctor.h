/* doctor.h - the parts of `doctor`: each looks at one thing, and says what it found. */
#ifndef ENGINE_CLI_DOCTOR_H
#define ENGINE_CLI_DOCTOR_H

#include <stdbool.h>

#include "engine/cli/options.h"

enum finding {
	FINDING_GOOD,
	FINDING_FACT,
	FINDING_MISSING, /* something is lost by it: what, and what brings it, is said */
	FINDING_BAD,     /* nothing works without it; doctor ends with EXIT_CANNOT */
};

struct doctor {
	const struct options *options;
	struct report_style style;
	struct strbuf out;
	int code;
	bool has_left_over;  /* a run that is over left something to be undone */
	bool has_namespaces; /* so labs are possible; set by doctor_examine_rights() */
};

/* A line, or a few, behind its name. */
void doctor_find(struct doctor *doctor, enum finding finding, const char *name, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));

/* doctor_machine.c: cores and timers; rights and namespaces; RDMA devices. */
void doctor_examine_time(struct doctor *doctor);
void doctor_examine_rights(struct doctor *doctor);
void doctor_examine_rdma(struct doctor *doctor);

/* doctor_faults.c, in builds with libnl: where changes are written down, queueing disciplines of
 * the kernel and injectors, tried out in namespaces made for it; and what runs that are over left
 * behind. */
void doctor_examine_faults(struct doctor *doctor);
void doctor_examine_left_over(struct doctor *doctor);

/* doctor_undo.c, in builds with libnl: undo what runs that are over left, and print what that was.
 * Returns an exit code. */
int doctor_undo(const struct options *options);

#endif
