/* notes_internal.h - what host functions in stream order leave for the thread of the data plane.
 *
 * On a GPU they are called from threads of the driver, so all they do is to leave a note. Any
 * number of threads puts, one takes; nobody waits. */
#ifndef ENGINE_DATAPLANE_NOTES_INTERNAL_H
#define ENGINE_DATAPLANE_NOTES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

struct notes {
	void **items; /* NULL: claimed, but not there yet, or free */
	size_t capacity;
	size_t n_put;
	size_t n_taken;
};

/* capacity: as many as are put between two clearings. False: out of memory. */
bool notes_init(struct notes *notes, size_t capacity);
void notes_fini(struct notes *notes);

/* When nothing can be put any more, and all is taken or to be forgotten. */
void notes_clear(struct notes *notes);

/* item is not NULL, and is the taker's from then on. */
void notes_put(struct notes *notes, void *item);

bool notes_are_there(const struct notes *notes);

/* In the order in which they were put; NULL: there is none. */
void *notes_take(struct notes *notes);

#endif
