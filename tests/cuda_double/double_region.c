/* double_region.c - memory that a group of NCCL has been given, and has not given back. */
#include <stdlib.h>

#include "tests/cuda_double/cuda_double.h"
#include "tests/cuda_double/double_internal.h"

struct region {
	const char *at;
	size_t n_bytes;
	bool is_written;
	bool is_running; /* before, what is earlier on its stream may still use it */
	struct region *next;
};

static struct region *regions;

void double_region_add(const char *at, size_t n_bytes, bool is_written)
{
	struct region *region = malloc(sizeof(*region));

	if (!region)
		double_violation("out of memory");
	*region = (struct region){at, n_bytes, is_written, false, regions};
	regions = region;
}

static struct region **find(const char *at, size_t n_bytes)
{
	struct region **region = &regions;

	while (*region && ((*region)->at != at || (*region)->n_bytes != n_bytes))
		region = &(*region)->next;
	return region;
}

void double_region_run(const char *at, size_t n_bytes)
{
	(*find(at, n_bytes))->is_running = true;
}

void double_region_remove(const char *at, size_t n_bytes)
{
	struct region **link = find(at, n_bytes), *region = *link;

	*link = region->next;
	free(region);
}

static bool overlap(const struct region *region, const char *at, size_t n_bytes)
{
	return region->at < at + n_bytes && at < region->at + region->n_bytes;
}

void double_region_check_freed(const char *at, size_t n_bytes)
{
	for (const struct region *region = regions; region; region = region->next)
		if (overlap(region, at, n_bytes))
			double_violation("memory is freed while a group of NCCL has it");
}

void double_region_check_used(const char *at, size_t n_bytes, bool is_write)
{
	for (const struct region *region = regions; region; region = region->next)
		if (region->is_running && (is_write || region->is_written) &&
		    overlap(region, at, n_bytes))
			double_violation("memory is %s while a group of NCCL %s it",
			                 is_write ? "written" : "read",
			                 region->is_written ? "receives into" : "sends");
}

static bool is_any_running(void)
{
	for (const struct region *region = regions; region; region = region->next)
		if (region->is_running)
			return true;
	return false;
}

void cuda_double_await_group(void)
{
	double_lock();
	while (!is_any_running())
		double_await_change();
	double_unlock();
}
