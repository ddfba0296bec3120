/* dataplane_notes.c - notes of many threads: each is taken once, those of a thread in their order.
 */
#include <pthread.h>
#include <stdlib.h>

#include "engine/dataplane/notes_internal.h"
#include "tests/tap.h"

enum { N_THREADS = 4, N_EACH = 20000 };

struct putter {
	struct notes *notes;
	int numbers[N_EACH];
	pthread_t thread;
};

static void *put_all(void *argument)
{
	struct putter *putter = argument;

	for (int i = 0; i < N_EACH; i++)
		notes_put(putter->notes, &putter->numbers[i]);
	return NULL;
}

/* Whose note it is, by where it lies. */
static int owner_of(const struct putter *putters, const int *number)
{
	for (int i = 0; i < N_THREADS; i++)
		if (number >= putters[i].numbers && number < putters[i].numbers + N_EACH)
			return i;
	return -1;
}

static void check_threads(struct putter *putters)
{
	int n_taken = 0, n_in_order = 0, next[N_THREADS] = {0};
	struct notes notes;

	tap_ok(notes_init(&notes, N_THREADS * N_EACH), "there is room for all notes");
	for (int i = 0; i < N_THREADS; i++) {
		putters[i].notes = &notes;
		if (pthread_create(&putters[i].thread, NULL, put_all, &putters[i]))
			tap_ok(false, "a thread starts");
	}
	while (n_taken < N_THREADS * N_EACH) {
		const int *number = notes_take(&notes);
		int owner = number ? owner_of(putters, number) : -1;

		if (!number)
			continue;
		n_taken++;
		n_in_order += owner >= 0 && number == &putters[owner].numbers[next[owner]++];
	}
	tap_is_int(n_in_order, n_taken, "every note is taken once, and a thread's in their order");
	tap_ok(!notes_are_there(&notes) && !notes_take(&notes), "then there is none");
	for (int i = 0; i < N_THREADS; i++)
		(void)pthread_join(putters[i].thread, NULL);
	notes_fini(&notes);
}

static void check_clear(void)
{
	struct notes notes;
	int numbers[3];

	(void)notes_init(&notes, 2);
	tap_ok(!notes_take(&notes), "at first there is none");
	notes_put(&notes, &numbers[0]);
	notes_put(&notes, &numbers[1]);
	tap_ok(notes_are_there(&notes) && notes_take(&notes) == &numbers[0],
	       "the first that was put is taken first");
	notes_clear(&notes);
	tap_ok(!notes_are_there(&notes), "what is not taken can be forgotten");
	notes_put(&notes, &numbers[2]);
	tap_ok(notes_take(&notes) == &numbers[2], "and there is room again");
	notes_fini(&notes);
}

int main(void)
{
	struct putter *putters = calloc(N_THREADS, sizeof(*putters));

	check_clear();
	check_threads(putters);
	free(putters);
	return tap_done();
}
