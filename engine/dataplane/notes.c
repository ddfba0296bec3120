/* notes.c - notes from host functions: each claims a place, then fills it. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/dataplane/notes_internal.h"

bool notes_init(struct notes *notes, size_t capacity)
{
	*notes = (struct notes){.items = array_new(capacity, sizeof(void *)), .capacity = capacity};
	return notes->items != NULL;
}

void notes_fini(struct notes *notes)
{
	free(notes->items);
}

void notes_clear(struct notes *notes)
{
	memset(notes->items, 0, notes->capacity * sizeof(void *));
	notes->n_taken = 0;
	__atomic_store_n(&notes->n_put, 0, __ATOMIC_RELEASE);
}

void notes_put(struct notes *notes, void *item)
{
	size_t at = __atomic_fetch_add(&notes->n_put, 1, __ATOMIC_RELAXED);

	assert(at < notes->capacity);
	__atomic_store_n(&notes->items[at], item, __ATOMIC_RELEASE);
}

/* The next item; NULL: there is none yet. */
static void *look(const struct notes *notes)
{
	if (notes->n_taken == notes->capacity)
		return NULL;
	return __atomic_load_n(&notes->items[notes->n_taken], __ATOMIC_ACQUIRE);
}

bool notes_are_there(const struct notes *notes)
{
	return look(notes) != NULL;
}

void *notes_take(struct notes *notes)
{
	void *item = look(notes);

	notes->n_taken += item != NULL;
	return item;
}
