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
	if (tap_is_int(file_read(full, LIMIT_BYTES, &text, &n_bytes, &err), 0, "%s is there: %s",
	               path, err.text))
		tap_is_str(embedded, text, "the program holds it as it stands");
	free(text);
}

int main(void)
{
	check_embedded(embedded_adaptra_lua, "lua/adaptra.lua");
	check_embedded(embedded_schema_sql, "engine/store/schema.sql");
	check_embedded(embedded_corpus_txt, "engine/model/corpus.txt");
	return tap_done();
}
