/* profile_text.h - an imported profile written out as a file that ab.profile loads. */
#ifndef ENGINE_CLI_PROFILE_TEXT_H
#define ENGINE_CLI_PROFILE_TEXT_H

#include "engine/base/strbuf.h"
#include "engine/format/observed_profile.h"

/* What stands in the file beside the times. */
struct profile_origin {
	const char *name;   /* of the profile */
	const char *source; /* where the times are from, one line */
	bool is_intrusive;  /* measuring slowed down what was measured */
};

void profile_text(const struct observed_profile *profile, const struct profile_origin *origin,
                  struct strbuf *out);

#endif
