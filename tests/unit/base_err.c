/* base_err.c - checks struct err. */
#include "engine/base/err.h"

#include <errno.h>
#include <string.h>

#include "tests/tap.h"

static void check_set(void)
{
	struct err err = {0};

	tap_is_int(err_set(&err, -ENOENT, "no link %d-%d", 2, 3), -ENOENT,
	           "setting returns the code");
	tap_is_int(err.code, -ENOENT, "setting keeps the code");
	tap_is_str(err.text, "no link 2-3", "setting formats the sentence");
	tap_is_int(err_set(NULL, -EINVAL, "nobody listens"), -EINVAL,
	           "without an err the code comes back all the same");
	err_set(&err, -EIO, "again: %s", err.text);
	tap_is_str(err.text, "again: no link 2-3", "the old sentence may be an argument");
}

static void check_wrap(void)
{
	struct err err = {0};

	err_set(&err, -EINVAL, "unknown field 'dealy'");
	tap_is_int(err_wrap(&err, "scenario '%s'", "a.lua"), -EINVAL, "wrapping returns the code");
	tap_is_str(err.text, "scenario 'a.lua': unknown field 'dealy'",
	           "wrapping puts the context in front");
	tap_is_int(err_wrap(NULL, "nobody"), -EIO, "a failure that nobody reads stays one");
}

static void check_long_texts(void)
{
	char text[3 * ERR_TEXT_BYTES];
	struct err err = {0};

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	err_set(&err, -EINVAL, "%s", text);
	tap_is_int((int64_t)strlen(err.text), ERR_TEXT_BYTES - 1, "a long sentence is cut");
	err_wrap(&err, "file");
	tap_is_int((int64_t)strlen(err.text), ERR_TEXT_BYTES - 1, "a long wrapped one, too");
	tap_ok(strncmp(err.text, "file: xxx", 9) == 0, "its front is kept");
	err_wrap(&err, "%s", text);
	tap_is_int((int64_t)strlen(err.text), ERR_TEXT_BYTES - 1, "a long context is cut");
	err_set(&err, -EINVAL, "%*s", ERR_TEXT_BYTES - 1, "y");
	tap_is_int((int64_t)strlen(err.text), ERR_TEXT_BYTES - 1, "a sentence that just fits fits");
}

int main(void)
{
	check_set();
	check_wrap();
	check_long_texts();
	return tap_done();
}
