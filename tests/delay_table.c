/* delay_table.c - the table of delay models of DESIGN.md section 2. */
#include "tests/delay_table.h"

enum { N_MODELS = DELAY_OCCUPANCY + 1, N_PLANES = PLANE_DELEGATE + 1, N_COUNTS = 4 };

bool delay_row_at(int i, struct delay_row *out)
{
	static const int counts[N_COUNTS] = {1, 6, 7, 24};

	if (i >= N_MODELS * N_PLANES * N_COUNTS)
		return false;
	*out = (struct delay_row){
		.model = (enum delay_model)(i / N_COUNTS / N_PLANES),
		.plane = (enum plane_kind)(i / N_COUNTS % N_PLANES),
		.n_messages = counts[i % N_COUNTS],
		.n_queues = PLANE_QUEUES_DEFAULT,
	};
	return true;
}

int64_t delay_row_ns(const struct delay_row *row, int64_t every_ns, int64_t delay_ns)
{
	int n = row->n_messages, k = row->n_queues;

	if (row->model == DELAY_LATENCY)
		return n * every_ns + delay_ns;
	if (row->model == DELAY_RATE || row->plane == PLANE_STREAM)
		return every_ns + n * delay_ns;
	/* The last one's queue took its first message in the first round. */
	return ((n - 1) % k + 1) * every_ns + (n + k - 1) / k * delay_ns;
}

struct shape delay_message(enum delay_model model, int64_t delay_ns)
{
	switch (model) {
	case DELAY_LATENCY:
		return (struct shape){.latency_ns = delay_ns};
	case DELAY_RATE:
		return (struct shape){.transmit_ns = delay_ns};
	case DELAY_OCCUPANCY:
		return (struct shape){.hold_ns = delay_ns};
	}
	return (struct shape){0};
}
