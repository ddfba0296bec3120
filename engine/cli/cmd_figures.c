/* cmd_figures.c - `figures`: the studies of the paper on one page, from runs made for it.
 *
 * The runs go into a database of their own that is gone with the command: the user's history keeps
 * to what the user asked for. Each figure names the commands that make its runs again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/file.h"
#include "engine/base/file_writer.h"
#include "engine/base/interrupt.h"
#include "engine/cli/command.h"
#include "engine/cli/figure_runs.h"
#include "engine/cli/output.h"
#include "engine/replay/scratch.h"

struct figures {
	const struct options *options;
	struct paths paths;
	struct measurements *measured;
	struct scratch scratch;
	struct store *store;
	struct strbuf page;
	char *path; /* of the page */
	struct file_writer *file;
};

/* --html, or figures.html beside the database of results. */
static int choose_path(const struct options *options, char **out, struct err *err)
{
	struct strbuf path = {0};
	char *store, *folder;
	int rc;

	if (options->html) {
		*out = strdup(options->html);
		return *out ? 0 : err_set(err, -ENOMEM, "out of memory");
	}
	rc = paths_store(options, &store, err);
	if (rc)
		return rc;
	folder = file_folder(store);
	free(store);
	if (!folder)
		return err_set(err, -ENOMEM, "out of memory");
	strbuf_addf(&path, "%s/figures.html", folder);
	rc = file_make_folders(folder, err);
	free(folder);
	*out = strbuf_take(&path);
	if (rc == 0 && !*out)
		rc = err_set(err, -ENOMEM, "out of memory");
	return rc;
}

static int open_store(struct figures *figures, struct err *err)
{
	struct strbuf path = {0};
	int rc = scratch_open(&figures->scratch, err);

	if (rc)
		return rc;
	strbuf_addf(&path, "%s/figures.db", figures->scratch.folder);
	if (path.is_failed)
		rc = err_set(err, -ENOMEM, "out of memory");
	else
		rc = store_open(strbuf_text(&path), STORE_WRITE, &figures->store, err);
	strbuf_fini(&path);
	return rc;
}

static int open_all(struct figures *figures, struct err *err)
{
	int rc = paths_init(&figures->paths, err);

	if (rc == 0 && !figures->paths.truth_folder)
		rc = err_set(err, -ENOENT,
		             "the measurements that come with the program are not beside it; run "
		             "it where it was built, or install it with make install");
	if (rc == 0)
		rc = measurements_open(figures->paths.truth_folder, &figures->measured, err);
	rc = rc ? rc : choose_path(figures->options, &figures->path, err);
	/* A page that cannot be written is told before anything runs. */
	rc = rc ? rc : file_writer_open(figures->path, &figures->file, err);
	return rc ? rc : open_store(figures, err);
}

static void close_all(struct figures *figures)
{
	struct err err = {0};

	if (figures->file)
		file_writer_abandon(figures->file);
	(void)store_close(figures->store, &err); /* it is removed anyway */
	scratch_close(&figures->scratch);
	measurements_close(figures->measured);
	paths_fini(&figures->paths);
	strbuf_fini(&figures->page);
	free(figures->path);
}

static int add_figure(struct figures *figures, const struct figure *figure)
{
	struct figure_runs runs = {0};
	int code =
		figure_runs_make(figure, figures->options, &figures->paths, figures->store, &runs);

	if (code == EXIT_DONE) {
		const struct figure_source source = {runs.pages, figures->measured};

		figures_add(figure, &source, &figures->page);
	}
	figure_runs_fini(&runs);
	return code;
}

static int write_page(struct figures *figures)
{
	const struct strbuf *page = &figures->page;
	struct err err = {0};
	int rc;

	if (page->is_failed)
		rc = err_set(&err, -ENOMEM, "out of memory for the page");
	else
		rc = file_writer_put(figures->file, strbuf_text(page), page->length, &err);
	if (rc)
		return output_failure(&err);
	rc = file_writer_close(figures->file, &err);
	figures->file = NULL;
	if (rc)
		return output_failure(&err);
	if (strcmp(figures->path, "-") != 0)
		output_note(figures->options, "the page is %s; any browser opens it",
		            figures->path);
	return EXIT_DONE;
}

static int make(struct figures *figures)
{
	int code = EXIT_DONE;

	interrupt_install();
	figures_begin(version_text(), &figures->page);
	for (size_t i = 0; i < figures_count() && code == EXIT_DONE; i++)
		code = add_figure(figures, figures_at(i));
	if (code == EXIT_INTERRUPTED)
		output_error("interrupted; no page was written");
	if (code)
		return code;
	figures_end(&figures->page);
	return write_page(figures);
}

int cmd_figures(struct cli *cli)
{
	struct figures figures = {.options = &cli->options};
	struct err err = {0};
	int code = open_all(&figures, &err) ? output_failure(&err) : make(&figures);

	close_all(&figures);
	if (code == EXIT_DONE)
		output_next(&cli->options, "validate");
	return code;
}
