/* trace_choice.h - which iterations of a stored run are worth a picture. */
#ifndef ENGINE_CLI_TRACE_CHOICE_H
#define ENGINE_CLI_TRACE_CHOICE_H

#include "reports/trace_source.h"

/* why[i]: what iteration i shows: it is the first healthy one after warm-up, or the first of an
 * event; NULL: nothing in particular. One at least is chosen where any has ops. Texts belong to
 * source; the caller frees *out. */
int trace_choose(const struct trace_source *source, const char ***out, struct err *err);

#endif
