/* base_array.c - checks arrays that grow. */
#include "engine/base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static void check_growing(void)
{
	size_t capacity = 0, n_moves = 0;
	int64_t *items = NULL;
	int64_t sum = 0;

	for (size_t i = 0; i < 100000; i++) {
		size_t before = capacity;

		items = array_grow(items, &capacity, i + 1, sizeof(*items));
		if (!items)
			break;
		n_moves += capacity != before;
		items[i] = (int64_t)i;
	}
	for (size_t i = 0; items && i < 100000; i++)
		sum += items[i];
	tap_is_int(sum, INT64_C(99999) * 50000, "what was appended is there");
	tap_ok(n_moves <= 20, "appending 100000 items moves them at most 20 times, not %zu",
	       n_moves);
	tap_ok(array_grow(items, &capacity, 5, sizeof(*items)) == items, "it never shrinks");
	free(items);
}

static void check_sizes(void)
{
	size_t capacity = 0;
	char *items = array_grow(NULL, &capacity, 0, 1);

	tap_ok(items, "room for nothing is no failure");
	capacity = 3;
	tap_ok(!array_grow(items, &capacity, SIZE_MAX / 4, 8),
	       "a product that overflows is refused");
	tap_ok(!array_grow(items, &capacity, SIZE_MAX, 1), "more than an address space is refused");
	tap_is_int((int64_t)capacity, 3, "a refusal leaves the capacity alone");
	items = array_grow(items, &capacity, 1000, 1);
	tap_is_int((int64_t)capacity, 1000, "a large wish is met exactly");
	free(items);
}

static void check_new_and_copy(void)
{
	static const int numbers[] = {1, 2, 3};
	int *items = array_new(3, sizeof(*items));
	int *copy = array_copy(numbers, 3, sizeof(*numbers));
	void *nothing = array_new(0, 8), *copy_of_nothing = array_copy(NULL, 0, 8);

	tap_ok(items && items[0] == 0 && items[2] == 0, "items start zeroed");
	tap_ok(copy && memcmp(copy, numbers, sizeof(numbers)) == 0, "a copy is equal");
	tap_ok(nothing, "no items are not NULL");
	tap_ok(copy_of_nothing, "a copy of no items is not NULL");
	tap_ok(!array_new(SIZE_MAX / 2, 4), "a new array that overflows is refused");
	tap_ok(!array_copy(numbers, SIZE_MAX / 2, 4), "a copy that overflows is refused");
	free(items);
	free(copy);
	free(nothing);
	free(copy_of_nothing);
}

int main(void)
{
	check_growing();
	check_sizes();
	check_new_and_copy();
	return tap_done();
}
