/* base_embedded.c - checks that embedded text is the file's, byte for byte. */
#include "engine/base/embedded.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/base/file.h"
#include "tests/tap.h"

enum { LIMIT_BYTES = 1 << 20 };

static void check_embedded(const char *embedded, const char *path)
{
	const char *root = getenv("ADAPTRA_SOURCE");
	char full[4096], *text = NULL;
	struct err err = {0};
	size_t n_bytes;

	snprintf(full, sizeof(full), "%s/%s", root ? root : ".", path);
	if (file_read(full, LIMIT_BYTES, &text, &n_bytes, &err)) {
		tap_skip("%s", err.text);
		return;
	}
	tap_is_str(embedded, text, "the program holds %s as it stands", path);
	free(text);
}

int main(void)
{
	check_embedded(embedded_adaptra_lua, "lua/adaptra.lua");
	check_embedded(embedded_schema_sql, "engine/store/schema.sql");
	return tap_done();
}
