/* arithmetic.c - numbers to and from memory of the host that an arithmetic knows nothing of. */
#include "engine/model/arithmetic.h"

#include <errno.h>
#include <string.h>

static void *take(struct arithmetic *arithmetic, size_t n_bytes, struct err *err)
{
	void *memory = arithmetic_alloc(arithmetic, n_bytes, true);

	if (!memory)
		(void)err_set(err, -ENOMEM, "out of memory to copy %zu bytes of a stage", n_bytes);
	return memory;
}

int arithmetic_fetch(struct arithmetic *arithmetic, void *to, const void *from, size_t n_bytes,
                     struct err *err)
{
	void *between = take(arithmetic, n_bytes, err);
	int rc;

	if (!between)
		return -ENOMEM;
	arithmetic_copy(arithmetic, between, from, n_bytes);
	rc = arithmetic_wait(arithmetic, err);
	if (rc == 0)
		memcpy(to, between, n_bytes);
	arithmetic_free(arithmetic, between, true);
	return rc;
}

int arithmetic_store(struct arithmetic *arithmetic, void *to, const void *from, size_t n_bytes,
                     struct err *err)
{
	void *between = take(arithmetic, n_bytes, err);
	int rc;

	if (!between)
		return -ENOMEM;
	memcpy(between, from, n_bytes);
	arithmetic_copy(arithmetic, to, between, n_bytes);
	rc = arithmetic_wait(arithmetic, err);
	arithmetic_free(arithmetic, between, true);
	return rc;
}
