/* nccl_rules.c - NCCL's double ends who breaks a rule, and lets who keeps them go on. */
#include <nccl.h>
#include <stdlib.h>

#include "engine/device/cuda_kernels.h"
#include "tests/cuda_double/cuda_double.h"
#include "tests/double/rule_fixture.h"

enum { MEMORY_BYTES = 1 << 16 };

/* Both of a communicator are in this process. */
struct rank {
	int number;
	ncclComm_t communicator;
	cudaStream_t stream;
	char *memory;
};

static struct rank new_rank(ncclUniqueId id, int number, int gpu)
{
	struct rank rank = {.number = number};
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	void *memory = NULL;

	config.blocking = 0;
	(void)cudaSetDevice(gpu);
	(void)cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking);
	(void)cudaMalloc(&memory, MEMORY_BYTES);
	rank.memory = memory;
	(void)ncclCommInitRankConfig(&rank.communicator, 2, id, number, &config);
	return rank;
}

static void settle(const struct rank *rank)
{
	ncclResult_t status = ncclInProgress;

	while (status == ncclInProgress)
		(void)ncclCommGetAsyncError(rank->communicator, &status);
}

static void settle_both(const struct rank *ranks)
{
	settle(&ranks[0]);
	settle(&ranks[1]);
}

static void begin_ranks(struct rank *ranks)
{
	ncclUniqueId id;

	(void)ncclGetUniqueId(&id);
	for (int i = 0; i < 2; i++)
		ranks[i] = new_rank(id, i, i);
}

static void add_send(const struct rank *rank, size_t at, size_t n_bytes)
{
	(void)ncclSend(rank->memory + at, n_bytes, ncclUint8, !rank->number, rank->communicator,
	               rank->stream);
}

static void add_receive(const struct rank *rank, size_t at, size_t n_bytes)
{
	(void)ncclRecv(rank->memory + at, n_bytes, ncclUint8, !rank->number, rank->communicator,
	               rank->stream);
}

static void send_bytes(const struct rank *rank, size_t n_bytes)
{
	(void)ncclGroupStart();
	add_send(rank, 0, n_bytes);
	(void)ncclGroupEnd();
}

static void receive_bytes(const struct rank *rank, size_t n_bytes)
{
	(void)ncclGroupStart();
	add_receive(rank, 0, n_bytes);
	(void)ncclGroupEnd();
}

/* Both have met and connected, in both directions. */
static void meet(struct rank *ranks)
{
	begin_ranks(ranks);
	settle_both(ranks);
	for (int i = 0; i < 2; i++) {
		(void)ncclGroupStart();
		add_send(&ranks[i], 0, 8);
		add_receive(&ranks[i], 8, 8);
		(void)ncclGroupEnd();
	}
	settle_both(ranks);
	for (int i = 0; i < 2; i++)
		(void)cudaStreamSynchronize(ranks[i].stream);
}

static void finish(const struct rank *ranks)
{
	settle_both(ranks);
	for (int i = 0; i < 2; i++)
		(void)cudaStreamSynchronize(ranks[i].stream);
}

static void share_a_gpu(void)
{
	struct rank ranks[2];
	ncclUniqueId id;

	(void)ncclGetUniqueId(&id);
	for (int i = 0; i < 2; i++)
		ranks[i] = new_rank(id, i, 1);
	settle_both(ranks);
}

static void expect_another_size(void)
{
	struct rank ranks[2];

	meet(ranks);
	send_bytes(&ranks[0], 10);
	receive_bytes(&ranks[1], 20);
	finish(ranks);
}

static void send_to_who_sends(void)
{
	struct rank ranks[2];

	meet(ranks);
	send_bytes(&ranks[0], 10);
	send_bytes(&ranks[1], 10);
	finish(ranks);
}

static void receive_what_is_not_sent(void)
{
	struct rank ranks[2];

	meet(ranks);
	send_bytes(&ranks[0], 10);
	(void)ncclGroupStart();
	add_receive(&ranks[1], 0, 10);
	add_receive(&ranks[1], 10, 10);
	(void)ncclGroupEnd();
	finish(ranks);
}

static void receive_in_another_order(void)
{
	struct rank ranks[2];

	meet(ranks);
	(void)ncclGroupStart();
	add_send(&ranks[0], 0, 10);
	add_send(&ranks[0], 10, 20);
	(void)ncclGroupEnd();
	(void)ncclGroupStart();
	add_receive(&ranks[1], 10, 20);
	add_receive(&ranks[1], 0, 10);
	(void)ncclGroupEnd();
	finish(ranks);
}

static void connect_other_directions(void)
{
	struct rank ranks[2];

	begin_ranks(ranks);
	settle_both(ranks);
	send_bytes(&ranks[0], 10);
	send_bytes(&ranks[1], 10);
	finish(ranks);
}

static void use_after_abort(void)
{
	struct rank ranks[2];

	meet(ranks);
	(void)ncclCommAbort(ranks[0].communicator);
	send_bytes(&ranks[0], 10);
}

static void use_after_destruction(void)
{
	struct rank ranks[2];
	ncclResult_t status;

	meet(ranks);
	(void)ncclCommFinalize(ranks[0].communicator);
	settle(&ranks[0]);
	(void)ncclCommDestroy(ranks[0].communicator);
	(void)ncclCommGetAsyncError(ranks[0].communicator, &status);
}

static void use_after_finalizing(void)
{
	struct rank ranks[2];

	meet(ranks);
	(void)ncclCommFinalize(ranks[0].communicator);
	settle(&ranks[0]);
	send_bytes(&ranks[0], 10);
}

static void destroy_at_once(void)
{
	struct rank ranks[2];

	meet(ranks);
	(void)ncclCommDestroy(ranks[0].communicator);
}

static void send_before_meeting(void)
{
	ncclUniqueId id;
	struct rank alone;

	(void)ncclGetUniqueId(&id);
	alone = new_rank(id, 0, 0);
	send_bytes(&alone, 10);
}

static void finalize_before_meeting(void)
{
	ncclUniqueId id;
	struct rank alone;

	(void)ncclGetUniqueId(&id);
	alone = new_rank(id, 0, 0);
	(void)ncclCommFinalize(alone.communicator);
}

/* One that does not connect stays on its way, since the other rank has no group. */
static void send_while_connecting(void)
{
	struct rank ranks[2];

	begin_ranks(ranks);
	settle_both(ranks);
	send_bytes(&ranks[0], 10);
	send_bytes(&ranks[0], 10);
}

static void do_nothing(void *argument)
{
	(void)argument;
}

static void issue_before_the_group(void)
{
	struct rank ranks[2];

	begin_ranks(ranks);
	settle_both(ranks);
	send_bytes(&ranks[0], 10);
	(void)cudaLaunchHostFunc(ranks[0].stream, do_nothing, NULL);
}

static void free_what_is_sent(void)
{
	struct rank ranks[2];

	meet(ranks);
	send_bytes(&ranks[0], 10);
	(void)cudaFree(ranks[0].memory);
}

/* Rank 1 stands at a group, which has begun. */
static void stand(struct rank *ranks, bool is_send)
{
	meet(ranks);
	if (is_send)
		send_bytes(&ranks[1], MEMORY_BYTES);
	else
		receive_bytes(&ranks[1], MEMORY_BYTES);
	settle(&ranks[1]);
	cuda_double_await_group();
	(void)cudaSetDevice(1);
	(void)cudaStreamCreateWithFlags(&ranks[0].stream, cudaStreamNonBlocking);
}

static void read_what_is_received(void)
{
	struct rank ranks[2];
	void *host = NULL;

	(void)cudaHostAlloc(&host, MEMORY_BYTES, cudaHostAllocDefault);
	stand(ranks, false);
	(void)cudaMemcpyAsync(host, ranks[1].memory, MEMORY_BYTES, cudaMemcpyDefault,
	                      ranks[0].stream);
	(void)cudaStreamSynchronize(ranks[0].stream);
}

static void write_what_is_sent(void)
{
	struct rank ranks[2];

	stand(ranks, true);
	(void)cudaMemsetAsync(ranks[1].memory, 1, 1, ranks[0].stream);
	(void)cudaStreamSynchronize(ranks[0].stream);
}

#ifndef __SANITIZE_THREAD__
/* A kernel of another stream; the thread sanitizer would see it, too. */
static void change(bool is_send)
{
	struct rank ranks[2];
	struct work clear = {.kind = WORK_CLEAR, .n_items = 1};

	stand(ranks, is_send);
	clear.clear = (float *)ranks[1].memory;
	(void)cuda_kernels_run(&clear, ranks[0].stream);
	(void)cudaStreamSynchronize(ranks[0].stream);
	if (is_send)
		receive_bytes(&ranks[0], MEMORY_BYTES);
	else
		send_bytes(&ranks[0], MEMORY_BYTES);
	finish(ranks);
}

static void change_what_is_sent(void)
{
	change(true);
}

static void change_what_is_received(void)
{
	change(false);
}
#endif

static void send_from_the_host(void)
{
	struct rank ranks[2];
	void *host = NULL;

	meet(ranks);
	(void)cudaHostAlloc(&host, MEMORY_BYTES, cudaHostAllocDefault);
	ranks[0].memory = host;
	send_bytes(&ranks[0], 10);
}

static void send_outside_of_a_group(void)
{
	struct rank ranks[2];

	meet(ranks);
	add_send(&ranks[0], 0, 10);
}

static void nest_groups(void)
{
	(void)ncclGroupStart();
	(void)ncclGroupStart();
}

static void end_no_group(void)
{
	(void)ncclGroupEnd();
}

static void mix_communicators(void)
{
	struct rank ranks[2];

	meet(ranks);
	(void)ncclGroupStart();
	add_send(&ranks[0], 0, 10);
	add_receive(&ranks[1], 0, 10);
}

static void block(void)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclUniqueId id;
	ncclComm_t communicator;

	(void)ncclGetUniqueId(&id);
	(void)ncclCommInitRankConfig(&communicator, 2, id, 0, &config);
}

static void ask(void *argument)
{
	ncclResult_t status;

	(void)ncclCommGetAsyncError(argument, &status);
}

static void ask_from_a_host_function(void)
{
	struct rank ranks[2];

	meet(ranks);
	(void)cudaLaunchHostFunc(ranks[0].stream, ask, ranks[0].communicator);
	(void)cudaStreamSynchronize(ranks[0].stream);
}

/* Groups behind each other over the same memory; the last one meets nothing, and is aborted. */
static void keep_the_rules(void)
{
	struct rank ranks[2];
	void *host = NULL;

	(void)cudaHostAlloc(&host, MEMORY_BYTES, cudaHostAllocDefault);
	meet(ranks);
	for (int i = 0; i < 3; i++) {
		send_bytes(&ranks[0], MEMORY_BYTES);
		receive_bytes(&ranks[1], MEMORY_BYTES);
		settle_both(ranks);
	}
	(void)cudaMemcpyAsync(host, ranks[1].memory, MEMORY_BYTES, cudaMemcpyDefault,
	                      ranks[1].stream);
	finish(ranks);
	(void)ncclCommFinalize(ranks[0].communicator);
	settle(&ranks[0]);
	(void)ncclCommDestroy(ranks[0].communicator);
	receive_bytes(&ranks[1], 10);
	(void)ncclCommAbort(ranks[1].communicator);
	(void)cudaStreamSynchronize(ranks[1].stream);
}

static const struct rule rules[] = {
	{share_a_gpu, "both ranks of a communicator are on GPU 1"},
	{expect_another_size, "rank 0 sends 10 bytes where 20 are received"},
	{send_to_who_sends, "sends what is not received"},
	{receive_what_is_not_sent, "rank 0 does not send what is received"},
	{receive_in_another_order, "rank 0 sends 10 bytes where 20 are received"},
	{connect_other_directions, "the ranks connect different directions"},
	{use_after_abort, "ncclSend is called with a communicator that is gone"},
	{use_after_destruction, "ncclCommGetAsyncError is called with a communicator that is gone"},
	{use_after_finalizing, "ncclSend is called with a communicator that is finalized"},
	{destroy_at_once, "a communicator is destroyed that is not finalized"},
	{send_before_meeting, "ncclSend is called while another call is in progress"},
	{finalize_before_meeting, "ncclCommFinalize is called while another call is in progress"},
	{send_while_connecting, "ncclSend is called while another call is in progress"},
	{issue_before_the_group, "work is issued to a stream before the group of NCCL is there"},
	{free_what_is_sent, "memory is freed while a group of NCCL has it"},
	{read_what_is_received, "memory is read while a group of NCCL receives into it"},
	{write_what_is_sent, "memory is written while a group of NCCL sends it"},
#ifndef __SANITIZE_THREAD__
	{change_what_is_sent, "memory has changed while a group sent it"},
	{change_what_is_received, "memory has changed while a group received into it"},
#endif
	{send_from_the_host, "memory of the host is handed to NCCL"},
	{send_outside_of_a_group, "ncclSend or ncclRecv outside of a group"},
	{nest_groups, "a group in a group"},
	{end_no_group, "the end of a group that has not begun"},
	{mix_communicators, "a group of two communicators or streams"},
	{block, "a communicator that blocks"},
	{ask_from_a_host_function, "a host function calls ncclCommGetAsyncError"},
};

int main(void)
{
	(void)setenv("CUDA_DOUBLE_GPUS", "2", 1);
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		rule_check(&rules[i]);
	rule_check_kept(keep_the_rules);
	return tap_done();
}
