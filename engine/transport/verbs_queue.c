/* verbs_queue.c - one queue pair: its buffers, credits, and what completes.
 *
 * Credits travel in the immediate number of every piece. So that both sides can always return some,
 * the last credit is kept for a piece that brings nothing else: who has used up all of them has
 * sent such a one last, and the other side can answer it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "engine/transport/verbs_memory_internal.h"
#include "engine/transport/verbs_piece_internal.h"

/* RNR_TIMER 12: 0.64 ms; the other side has no slot for what was sent, which credits forbid. A
 * retry count of 7 is for ever there; it ends by silence. */
enum { RNR_TIMER = 12, RNR_RETRIES = 7, HOP_LIMIT = 64, PACKET_NUMBERS = 1 << 24 };
enum { CREDITS_KEPT = 1 };

/* A completion says whose it is. */
enum { GENERATION_SHIFT = 48, QUEUE_SHIFT = 16 };

static uint64_t request_id(const struct verbs *verbs, const struct verbs_queue *queue, int slot)
{
	return (uint64_t)queue->generation << GENERATION_SHIFT |
	       (uint64_t)(queue - verbs->queues) << QUEUE_SHIFT | (uint64_t)slot;
}

static const struct verbs_sizes *sizes_of(const struct verbs_queue *queue)
{
	return &queue->end->port->sizes;
}

static uint8_t *receive_slot(const struct verbs_queue *queue, uint64_t n)
{
	const struct verbs_sizes *sizes = sizes_of(queue);

	return queue->block + n % (uint64_t)sizes->n_slots * (uint64_t)sizes->slot_bytes;
}

static uint8_t *send_slot(const struct verbs_queue *queue, uint64_t n)
{
	return receive_slot(queue, n) + verbs_block_bytes(sizes_of(queue)) / 2;
}

static int make_block(struct verbs_queue *queue, struct err *err)
{
	size_t n_bytes = (size_t)verbs_block_bytes(sizes_of(queue));
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char text[UNITS_TEXT_BYTES];

	if (queue->region)
		return 0;
	/* Whole pages, so that nothing else is on one that the device knows. */
	n_bytes = (n_bytes + page_bytes - 1) / page_bytes * page_bytes;
	queue->block = aligned_alloc(page_bytes, n_bytes);
	if (!queue->block)
		return err_set(err, -ENOMEM, "no memory for a queue pair");
	memset(queue->block, 0, n_bytes);
	queue->region =
		ibv_reg_mr(queue->end->port->domain, queue->block, n_bytes, IBV_ACCESS_LOCAL_WRITE);
	if (queue->region)
		return 0;
	return err_set(err, -errno,
	               "%s of memory could not be registered: %s; `ulimit -l` says how much may be",
	               units_format_size((int64_t)n_bytes, text), strerror(errno));
}

static int post_receive(struct verbs *verbs, struct verbs_queue *queue, uint64_t n)
{
	struct ibv_sge piece = {
		.addr = (uintptr_t)receive_slot(queue, n),
		.length = (uint32_t)sizes_of(queue)->slot_bytes,
		.lkey = queue->region->lkey,
	};
	struct ibv_recv_wr request = {
		.wr_id = request_id(verbs, queue, (int)(n % (uint64_t)sizes_of(queue)->n_slots)),
		.sg_list = &piece,
		.num_sge = 1,
	};
	struct ibv_recv_wr *refused;

	return ibv_post_recv(queue->pair, &request, &refused);
}

static int create_pair(struct verbs_queue *queue, struct err *err)
{
	const struct verbs_port *port = queue->end->port;
	struct ibv_qp_init_attr wanted = {
		.send_cq = port->completions,
		.recv_cq = port->completions,
		.cap = {.max_send_wr = (uint32_t)port->sizes.n_slots,
	                .max_recv_wr = (uint32_t)port->sizes.n_slots,
	                .max_send_sge = (uint32_t)port->sizes.n_parts,
	                .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct ibv_qp_attr state = {.qp_state = IBV_QPS_INIT, .port_num = (uint8_t)port->name.port};
	int rc;

	queue->pair = ibv_create_qp(port->domain, &wanted);
	if (!queue->pair)
		return err_set(err, -errno, "RDMA device %s gives no queue pair: %s",
		               port->name.device, strerror(errno));
	rc = ibv_modify_qp(queue->pair, &state,
	                   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	return rc ? err_set(err, -rc, "a queue pair of RDMA device %s cannot be set up: %s",
	                    port->name.device, strerror(rc))
	          : 0;
}

int verbs_queue_open(struct verbs *verbs, struct verbs_queue *queue, struct verbs_number *out,
                     struct err *err)
{
	int rc;

	verbs_queue_close(queue);
	rc = make_block(queue, err);
	rc = rc ? rc : create_pair(queue, err);
	if (rc)
		return rc;
	queue->generation++;
	queue->n_sent = queue->n_sent_done = queue->n_done_seen = queue->n_received = 0;
	queue->n_done_checked = 0;
	queue->n_waited = 0;
	queue->n_owed = queue->n_credits = 0;
	framing_reset(&verbs->host, &queue->framing);
	for (int i = 0; rc == 0 && i < sizes_of(queue)->n_slots; i++)
		rc = post_receive(verbs, queue, (uint64_t)i);
	if (rc)
		return err_set(err, -rc, "RDMA device %s takes no request: %s",
		               queue->end->port->name.device, strerror(rc));
	*out = (struct verbs_number){
		.queue_pair = queue->pair->qp_num,
		.first_packet =
			(uint32_t)(rng_mix((uint64_t)clock_monotonic_ns(), queue->pair->qp_num) %
	                           PACKET_NUMBERS),
	};
	return 0;
}

static int to_ready_to_receive(const struct verbs_queue *queue, int gid_index)
{
	const struct verbs_offer *mine = &queue->end->mine, *theirs = &queue->end->theirs;
	const struct verbs_number *number = &theirs->numbers[queue->framing.queue];
	struct ibv_qp_attr state = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = (enum ibv_mtu)(mine->mtu < theirs->mtu ? mine->mtu : theirs->mtu),
		.dest_qp_num = number->queue_pair,
		.rq_psn = number->first_packet,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = RNR_TIMER,
		.ah_attr = {.is_global = 1,
	                    .dlid = (uint16_t)theirs->lid,
	                    .port_num = (uint8_t)queue->end->port->name.port,
	                    .grh = {.sgid_index = (uint8_t)gid_index, .hop_limit = HOP_LIMIT}},
	};

	memcpy(state.ah_attr.grh.dgid.raw, theirs->gid, VERBS_GID_BYTES);
	return ibv_modify_qp(queue->pair, &state,
	                     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
	                             IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
	                             IBV_QP_MIN_RNR_TIMER);
}

int verbs_queue_connect(struct verbs *verbs, struct verbs_queue *queue, int gid_index,
                        struct err *err)
{
	const struct verbs_end *end = queue->end;
	struct ibv_qp_attr state = {
		.qp_state = IBV_QPS_RTS,
		.timeout = (uint8_t)verbs->retry.timeout,
		.retry_cnt = (uint8_t)verbs->retry.n_retries,
		.rnr_retry = RNR_RETRIES,
		.sq_psn = end->mine.numbers[queue->framing.queue].first_packet,
		.max_rd_atomic = 1,
	};
	char ours[VERBS_GID_TEXT_BYTES], theirs[VERBS_GID_TEXT_BYTES];
	int rc = to_ready_to_receive(queue, gid_index);

	if (rc == 0)
		rc = ibv_modify_qp(queue->pair, &state,
		                   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		                           IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		                           IBV_QP_MAX_QP_RD_ATOMIC);
	if (rc)
		return err_set(err, -rc, "no way from %s on %s to %s: %s",
		               verbs_gid_text(end->mine.gid, ours), end->port->name.device,
		               verbs_gid_text(end->theirs.gid, theirs), strerror(rc));
	queue->n_credits = end->theirs.n_slots;
	queue->framing.is_clock_shared = end->theirs.clock_id == verbs->host.clock_id;
	queue->framing.in.read_ns = queue->framing.out.wrote_ns = verbs->host.now_ns;
	return 0;
}

/* Where one has only been put into its error state, the device may be at work on it for a while;
 * once it is destroyed, it is not. What it says when it is gone itself does not matter any more. */
void verbs_queue_close(struct verbs_queue *queue)
{
	if (queue->pair)
		(void)ibv_destroy_qp(queue->pair);
	queue->pair = NULL;
}

void verbs_queue_stop(struct verbs *verbs, struct verbs_queue *queue)
{
	verbs_queue_close(queue);
	queue->generation++;
	framing_reset(&verbs->host, &queue->framing);
}

void verbs_queue_free(struct verbs_queue *queue)
{
	verbs_queue_close(queue);
	if (queue->region)
		(void)ibv_dereg_mr(queue->region);
	free(queue->block);
	framing_fini(&queue->framing);
}

static size_t smaller_of(int a, int b)
{
	return (size_t)(a < b ? a : b);
}

/* Add as much as there is room for; returns the number of bytes. */
static size_t add_to_piece(struct verbs *verbs, const struct verbs_queue *queue,
                           struct verbs_piece *piece, const struct iovec *bytes)
{
	const struct verbs_port *port = queue->end->port;
	const struct ibv_mr *memory = NULL;

	if (port->sizes.n_parts > 1)
		memory = verbs_memory_around(verbs, port, bytes->iov_base, bytes->iov_len);
	return verbs_piece_add(piece, bytes->iov_base, bytes->iov_len,
	                       memory ? &memory->lkey : NULL);
}

/* What is next, for the slot that is; no bytes: there is nothing. */
static struct verbs_piece make_piece(struct verbs *verbs, struct verbs_queue *queue)
{
	const struct verbs_end *end = queue->end;
	struct verbs_piece piece = {
		.slot = send_slot(queue, queue->n_sent),
		.slot_key = queue->region->lkey,
		.n_bytes_most = smaller_of(end->mine.slot_bytes, end->theirs.slot_bytes),
		.n_parts_most = sizes_of(queue)->n_parts,
	};
	size_t n_gathered, n_added;

	do {
		struct iovec parts[FRAMING_PARTS_MAX];
		size_t n_parts, n = 0;

		n_gathered = framing_gather(&verbs->host, &queue->framing, parts, &n_parts);
		n_added = 0;
		for (size_t i = 0; i < n_parts && (i == 0 || n == parts[i - 1].iov_len); i++) {
			n = add_to_piece(verbs, queue, &piece, &parts[i]);
			n_added += n;
		}
		if (n_added > 0)
			framing_advance(&verbs->host, &queue->framing, n_added);
	} while (n_gathered > 0 && n_added == n_gathered);
	return piece;
}

/* Send it, with what is owed. */
static void post_send(struct verbs *verbs, struct verbs_queue *queue,
                      const struct verbs_piece *piece)
{
	struct ibv_sge parts[VERBS_PARTS_MAX];
	struct ibv_send_wr request = {
		.wr_id = request_id(verbs, queue, 0),
		.sg_list = parts,
		.num_sge = piece->n_parts,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = htobe32((uint32_t)queue->n_owed),
	};
	struct ibv_send_wr *refused;
	int rc;

	for (int i = 0; i < piece->n_parts; i++)
		parts[i] = (struct ibv_sge){.addr = (uintptr_t)piece->parts[i].at,
		                            .length = (uint32_t)piece->parts[i].n_bytes,
		                            .lkey = piece->parts[i].key};
	rc = ibv_post_send(queue->pair, &request, &refused);
	if (rc) {
		verbs_lose(verbs, queue->end, -rc, "the RDMA device takes nothing more");
		return;
	}
	queue->n_sent++;
	queue->n_credits--;
	queue->n_owed = 0;
}

static bool has_slot(const struct verbs_queue *queue)
{
	return queue->n_sent - queue->n_sent_done < (uint64_t)sizes_of(queue)->n_slots;
}

void verbs_queue_flush(struct verbs *verbs, struct verbs_queue *queue)
{
	static const struct verbs_piece nothing;
	bool has_more = true;

	while (has_more && queue->end->state == VERBS_UP && has_slot(queue) &&
	       queue->n_credits > CREDITS_KEPT) {
		const struct verbs_piece piece = make_piece(verbs, queue);

		has_more = piece.n_bytes > 0;
		if (has_more)
			post_send(verbs, queue, &piece);
	}
	if (queue->end->state == VERBS_UP && has_slot(queue) && queue->n_credits > 0 &&
	    queue->n_owed >= sizes_of(queue)->n_slots / 2)
		post_send(verbs, queue, &nothing);
}

/* The other side has emptied so many slots since it last said so. */
static void take_credits(struct verbs *verbs, struct verbs_queue *queue, uint32_t n)
{
	int n_used = queue->end->theirs.n_slots - queue->n_credits;

	if (n > (uint32_t)n_used) {
		verbs_lose(verbs, queue->end, -EBADMSG,
		           "the other side has emptied more buffers than were filled");
		return;
	}
	queue->n_credits += (int)n;
	verbs_mark_dirty(verbs, queue);
}

static void take_piece(struct verbs *verbs, struct verbs_queue *queue,
                       const struct ibv_wc *completion)
{
	const uint8_t *bytes = receive_slot(queue, queue->n_received);
	size_t n_bytes = completion->byte_len, n_taken;
	struct err err = {0};
	int rc = 0;

	verbs->host.now_ns = transport_now_ns(&verbs->host.config);
	if (n_bytes > 0)
		rc = framing_take(&verbs->host, &queue->framing, bytes, n_bytes, &n_taken, &err);
	if (rc) {
		verbs_lose(verbs, queue->end, err.code, err.text);
		return;
	}
	rc = post_receive(verbs, queue, queue->n_received++);
	if (rc) {
		verbs_lose(verbs, queue->end, -rc, "the RDMA device takes nothing more");
		return;
	}
	queue->n_owed++;
	take_credits(verbs, queue, be32toh(completion->imm_data));
}

static void lose_by_status(struct verbs *verbs, struct verbs_queue *queue,
                           const struct ibv_wc *completion)
{
	char budget[UNITS_TEXT_BYTES], sentence[FRAMING_SENTENCE_BYTES];
	bool is_unanswered = completion->status == IBV_WC_RETRY_EXC_ERR;

	units_format_duration(rdma_outage_budget_ns(&verbs->retry), budget);
	if (is_unanswered)
		(void)snprintf(sentence, sizeof(sentence),
		               "the other side's RNIC did not answer %d retries, which takes %s",
		               verbs->retry.n_retries, budget);
	else
		(void)snprintf(sentence, sizeof(sentence), "the RDMA device says: %s",
		               ibv_wc_status_str(completion->status));
	verbs_lose(verbs, queue->end, is_unanswered ? -ETIMEDOUT : -ECONNRESET, sentence);
}

static void take_completion(struct verbs *verbs, const struct ibv_wc *completion)
{
	struct verbs_queue *queue = &verbs->queues[completion->wr_id >> QUEUE_SHIFT & UINT32_MAX];

	/* Of a queue pair that is no more. */
	if (completion->wr_id >> GENERATION_SHIFT != queue->generation)
		return;
	if (completion->status != IBV_WC_SUCCESS) {
		lose_by_status(verbs, queue, completion);
	} else if (completion->opcode & IBV_WC_RECV) {
		take_piece(verbs, queue, completion);
	} else {
		queue->n_sent_done++;
		verbs_mark_dirty(verbs, queue);
	}
}

int verbs_take_completions(struct verbs *verbs, struct verbs_port *port, int n_most)
{
	struct ibv_wc completions[16];
	int n_taken = 0, n = 1;

	while (n > 0 && n_taken < n_most) {
		n = ibv_poll_cq(port->completions, sizeof(completions) / sizeof(completions[0]),
		                completions);
		for (int i = 0; i < n; i++)
			take_completion(verbs, &completions[i]);
		n_taken += n > 0 ? n : 0;
	}
	return n_taken;
}
