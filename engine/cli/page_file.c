/* page_file.c - writes a comparison as an HTML page. */
#include "engine/cli/page_file.h"

#include <errno.h>
#include <string.h>

#include "engine/base/file.h"
#include "engine/cli/command.h"
#include "engine/cli/output.h"
#include "reports/page.h"

static int write_page(const struct options *options, const struct page *page, struct err *err)
{
	struct strbuf text = {0};
	int rc;

	page_write(page, &text);
	if (text.is_failed)
		rc = err_set(err, -ENOMEM, "out of memory for the page");
	else
		rc = file_write(options->html, strbuf_text(&text), text.length, err);
	strbuf_fini(&text);
	return rc;
}

int page_file_write(const struct options *options, struct store *store,
                    const struct comparison *comparison, const struct report_extras *extras)
{
	struct err err = {0};
	struct page page;
	int rc = page_read(&page, store, comparison, extras, &err);

	if (rc)
		return output_failure(&err);
	rc = write_page(options, &page, &err);
	page_fini(&page);
	if (rc)
		return output_failure(&err);
	if (strcmp(options->html, "-") != 0)
		output_note(options, "the page is %s; any browser opens it", options->html);
	return EXIT_DONE;
}
