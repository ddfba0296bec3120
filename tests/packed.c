/* packed.c - gzip data for tests. */
#include "tests/packed.h"

#include <stdlib.h>
#include <zlib.h>

char *packed(const char *bytes, size_t n_bytes, size_t *n_out)
{
	z_stream zip = {.next_in = (unsigned char *)bytes, .avail_in = (unsigned)n_bytes};
	size_t capacity;
	char *out;

	if (deflateInit2(&zip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	capacity = deflateBound(&zip, n_bytes);
	out = malloc(capacity);
	zip.next_out = (unsigned char *)out;
	zip.avail_out = (unsigned)capacity;
	if (out != NULL)
		deflate(&zip, Z_FINISH);
	*n_out = capacity - zip.avail_out;
	deflateEnd(&zip);
	return out;
}
