/* doctor_undo.c - `doctor --undo`: puts right what runs that were killed left behind. */
#include <errno.h>
#include <stdlib.h>

#include "engine/cli/command.h"
#include "engine/cli/doctor.h"
#include "engine/cli/output.h"
#include "injectors/undo.h"
#include "reports/display.h"

static void add_line(struct strbuf *out, int n, const char *one, const char *several)
{
	if (n > 0)
		strbuf_addf(out, "  %d %s\n", n, n == 1 ? one : several);
}

static bool is_nothing(const struct undo_summary *summary)
{
	return summary->n_undone + summary->n_gone + summary->n_held == 0;
}

static void add_summary(const struct undo_summary *summary, struct strbuf *out)
{
	if (!is_nothing(summary))
		strbuf_addf(out, "Of %d %s over:\n", summary->n_journals,
		            summary->n_journals == 1 ? "run that is" : "runs that are");
	add_line(out, summary->n_interfaces_removed,
	         "interface was removed, with the other end of its wire",
	         "interfaces were removed, with the other ends of their wires");
	add_line(out, summary->n_qdiscs_removed, "queueing discipline was removed",
	         "queueing disciplines were removed");
	add_line(out, summary->n_interfaces_up, "interface is up again", "interfaces are up again");
	add_line(out, summary->n_gone,
	         "change had gone already, with its interface, namespace or boot",
	         "changes had gone already, with their interface, namespace or boot");
	add_line(out, summary->n_held,
	         "namespace goes with the processes of its run that are still in it",
	         "namespaces go with the processes of their runs that are still in them");
	if (summary->n_running > 0)
		strbuf_addf(out, "%d %s still going on; what %s changed is left alone.\n",
		            summary->n_running, summary->n_running == 1 ? "run is" : "runs are",
		            summary->n_running == 1 ? "it" : "they");
}

int doctor_undo(const struct options *options)
{
	struct undo_summary summary = {0};
	struct strbuf text = {0};
	struct err err = {0};
	char *folder;
	int rc, code;

	if (journal_default_folder(&folder, &err)) {
		output_error("%s", err.text);
		return EXIT_CANNOT;
	}
	rc = undo_folder(folder, &summary, &err);
	free(folder);
	if (rc == 0 && is_nothing(&summary))
		strbuf_add(&text, "There is nothing to undo.\n");
	add_summary(&summary, &text);
	code = output_result(&text);
	strbuf_fini(&text);
	if (rc) {
		output_error("%s%s", err.text,
		             rc == -EBADMSG ? "; what it says before that is undone, so look "
		                              "at the rest and remove the file"
		                            : "");
		return EXIT_CANNOT;
	}
	output_next(options, "doctor");
	return code;
}
