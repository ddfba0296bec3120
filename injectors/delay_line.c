/* delay_line.c - takes packets from one file descriptor and puts them into another one later.
 *
 * The thread holds the lock while it works and lets go of it to sleep or when somebody waits for it
 * (n_waiting); a plain mutex would starve them while it watches the clock. */
#include "injectors/delay_line.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "engine/base/rng.h"
#include "engine/base/units.h"
#include "injectors/delay_queue_internal.h"
#include "injectors/jitter_table.h"
#include "injectors/packet_arena_internal.h"

enum {
	WATCH_NS = 150000,  /* the clock is watched for the last part of a wait */
	BATCH_PACKETS = 64, /* of one lane, before others and what is due get their turn */
	BITS_PER_BYTE = 8,
	SLOT_NS = 10000, /* of the histogram of lateness */
	SLOTS = 1000,
};

struct lane {
	struct delay_ends ends;
	bool is_broken; /* its input is gone */
	struct delay_shape shape;
	int16_t jitter[JITTER_TABLE_ENTRIES];
	int64_t free_ns;  /* when the last packet has passed the rate */
	int64_t last_ns;  /* when the last packet is due */
	double last_draw; /* that decided on a loss, where they are correlated */
	uint64_t n_read;
	struct delay_counts counts;
};

/* One that waits. */
struct delay_packet {
	struct lane *lane;
	int64_t read_ns;
	int n_bytes;
	char bytes[];
};

struct delay_line {
	uint64_t seed;
	pthread_t thread;
	pthread_mutex_t lock;
	atomic_int n_waiting;
	atomic_bool is_closing;
	int wake_fd;
	struct lane **lanes;
	size_t n_lanes, lanes_capacity;
	struct pollfd *polled; /* the thread's own: the lanes' inputs, and behind them wake_fd */
	size_t polled_capacity;
	struct delay_queue queue;
	struct packet_arena packets;
	int64_t late_sum_ns, late_max_ns, n_late;
	int64_t late_slots[SLOTS + 1];
};

static int64_t jitter_of(const struct lane *lane, uint64_t bits)
{
	int64_t entry = lane->jitter[bits % JITTER_TABLE_ENTRIES];

	return (int64_t)((double)entry / JITTER_TABLE_SIGMA * (double)lane->shape.jitter_ns);
}

/* When a packet of n_bytes that was read at now_ns is to be sent. */
static int64_t due_ns(struct lane *lane, int64_t now_ns, int n_bytes, uint64_t bits)
{
	const struct delay_shape *shape = &lane->shape;
	int64_t due = now_ns;

	if (shape->rate_bits_per_s > 0) {
		if (lane->free_ns > due)
			due = lane->free_ns;
		due += (int64_t)((double)n_bytes * BITS_PER_BYTE * NS_PER_S /
		                 (double)shape->rate_bits_per_s);
		lane->free_ns = due;
	}
	due += shape->delay_ns;
	if (shape->jitter_ns > 0)
		due += jitter_of(lane, bits);
	/* Also where nothing jitters: a delay that became shorter lets nobody overtake. */
	if (!shape->allows_reordering && due < lane->last_ns)
		due = lane->last_ns;
	lane->last_ns = due;
	return due;
}

/* What netem does: each number is drawn anew and mixed with the one before. */
static bool is_lost(struct lane *lane, double draw)
{
	double correlation = lane->shape.loss_correlation_ratio;

	if (lane->shape.loss_ratio <= 0)
		return false;
	lane->last_draw = (1 - correlation) * draw + correlation * lane->last_draw;
	return lane->last_draw < lane->shape.loss_ratio;
}

/* A packet that was read into room of the arena. */
static void take_packet(struct delay_line *line, struct lane *lane, struct delay_packet *packet)
{
	uint64_t bits = rng_mix(line->seed, lane->n_read++);

	if (is_lost(lane, rng_uniform(rng_mix(line->seed, bits)))) {
		lane->counts.lost_packets++;
		return;
	}
	packet->read_ns = clock_monotonic_ns();
	if (lane->counts.waiting_packets >= lane->shape.limit_packets ||
	    delay_queue_put(&line->queue, due_ns(lane, packet->read_ns, packet->n_bytes, bits),
	                    packet)) {
		lane->counts.dropped_packets++;
		return;
	}
	packet_arena_keep(&line->packets, sizeof(*packet) + (size_t)packet->n_bytes);
	lane->counts.waiting_packets++;
}

/* Without memory for it a packet is dropped; so is all of one that is read in part. */
static bool drop_packet(struct lane *lane)
{
	char first;
	bool is_there = read(lane->ends.in_fd, &first, sizeof(first)) > 0;

	lane->counts.dropped_packets += is_there;
	return is_there;
}

static bool read_packet(struct delay_line *line, struct lane *lane)
{
	size_t n_most = (size_t)lane->ends.packet_bytes;
	struct delay_packet *packet = packet_arena_room(&line->packets, sizeof(*packet) + n_most);
	ssize_t n;

	if (!packet)
		return drop_packet(lane);
	n = read(lane->ends.in_fd, packet->bytes, n_most);
	if (n <= 0)
		return false;
	packet->lane = lane;
	packet->n_bytes = (int)n;
	take_packet(line, lane, packet);
	return true;
}

/* At most BATCH_PACKETS; whether there may be more. */
static bool read_lane(struct delay_line *line, struct lane *lane)
{
	for (int i = 0; i < BATCH_PACKETS; i++)
		if (!read_packet(line, lane))
			return false;
	return true;
}

static void note_lateness(struct delay_line *line, int64_t late_ns)
{
	int64_t slot = late_ns / SLOT_NS;

	line->late_slots[slot < SLOTS ? slot : SLOTS]++;
	line->late_sum_ns += late_ns;
	line->n_late++;
	if (late_ns > line->late_max_ns)
		line->late_max_ns = late_ns;
}

/* A full or missing interface loses the packet, as a wire would. */
static void send_due(struct delay_line *line)
{
	const struct delay_entry *first;
	int64_t now_ns = clock_monotonic_ns();

	while ((first = delay_queue_first(&line->queue)) && first->due_ns <= now_ns) {
		struct delay_packet *packet = first->packet;
		struct lane *lane = packet->lane;
		ssize_t n = write(lane->ends.out_fd, packet->bytes, (size_t)packet->n_bytes);

		now_ns = clock_monotonic_ns();
		lane->counts.waiting_packets--;
		if (n == packet->n_bytes) {
			lane->counts.sent_packets++;
			lane->counts.delay_sum_ns += now_ns - packet->read_ns;
			note_lateness(line, now_ns - first->due_ns);
		} else {
			lane->counts.dropped_packets++;
		}
		delay_queue_pop(&line->queue);
		packet_arena_give(&line->packets, packet);
	}
}

static int prepare_poll(struct delay_line *line)
{
	struct pollfd *polled = array_grow(line->polled, &line->polled_capacity, line->n_lanes + 1,
	                                   sizeof(*polled));

	if (!polled)
		return -ENOMEM;
	line->polled = polled;
	for (size_t i = 0; i < line->n_lanes; i++)
		polled[i] = (struct pollfd){
			.fd = line->lanes[i]->is_broken ? -1 : line->lanes[i]->ends.in_fd,
			.events = POLLIN};
	polled[line->n_lanes] = (struct pollfd){.fd = line->wake_fd, .events = POLLIN};
	return 0;
}

/* Sleep until something arrives, or shortly before something is due. */
static void wait_for_work(struct delay_line *line)
{
	const struct delay_entry *first = delay_queue_first(&line->queue);
	int64_t left_ns = first ? first->due_ns - clock_monotonic_ns() - WATCH_NS : 0;
	const struct timespec limit = {.tv_sec = left_ns / NS_PER_S, .tv_nsec = left_ns % NS_PER_S};
	size_t n_lanes = line->n_lanes;
	uint64_t value;

	if ((first && left_ns <= 0) || prepare_poll(line))
		return;
	pthread_mutex_unlock(&line->lock);
	(void)ppoll(line->polled, n_lanes + 1, first ? &limit : NULL, NULL);
	pthread_mutex_lock(&line->lock);
	(void)!read(line->wake_fd, &value, sizeof(value));
	for (size_t i = 0; i < n_lanes; i++)
		if ((line->polled[i].revents & (POLLERR | POLLHUP | POLLNVAL)) &&
		    !(line->polled[i].revents & POLLIN))
			line->lanes[i]->is_broken = true;
}

static void *run(void *argument)
{
	struct delay_line *line = argument;

	(void)prctl(PR_SET_TIMERSLACK, 1);
	pthread_mutex_lock(&line->lock);
	while (!atomic_load(&line->is_closing)) {
		bool has_more = false;

		for (size_t i = 0; i < line->n_lanes; i++) {
			has_more |= read_lane(line, line->lanes[i]);
			send_due(line);
		}
		if (atomic_load(&line->n_waiting)) {
			pthread_mutex_unlock(&line->lock);
			while (atomic_load(&line->n_waiting))
				sched_yield();
			pthread_mutex_lock(&line->lock);
		}
		if (!has_more)
			wait_for_work(line);
		send_due(line);
	}
	pthread_mutex_unlock(&line->lock);
	return NULL;
}

/* What others do, they do between two rounds of the thread. */
static void take_turn(struct delay_line *line)
{
	atomic_fetch_add(&line->n_waiting, 1);
	pthread_mutex_lock(&line->lock);
	atomic_fetch_sub(&line->n_waiting, 1);
}

static void end_turn(struct delay_line *line)
{
	pthread_mutex_unlock(&line->lock);
}

static void wake(struct delay_line *line)
{
	const uint64_t one = 1;

	(void)!write(line->wake_fd, &one, sizeof(one)); /* full: then it is awake */
}

/* Signals are for the threads that wait for them: taken by this one, they would interrupt nothing.
 */
static int start_thread(struct delay_line *line)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	rc = -pthread_sigmask(SIG_SETMASK, &all, &before);
	if (rc)
		return rc;
	rc = -pthread_create(&line->thread, NULL, run, line);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL); /* it was accepted once */
	return rc;
}

int delay_line_open(uint64_t seed, struct delay_line **out, struct err *err)
{
	struct delay_line *line = calloc(1, sizeof(*line));
	int rc;

	if (!line)
		return err_set(err, -ENOMEM, "out of memory for a delay line");
	line->seed = seed;
	line->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = line->wake_fd < 0 ? -errno : 0;
	if (!rc)
		rc = -pthread_mutex_init(&line->lock, NULL);
	if (!rc)
		rc = start_thread(line);
	if (rc) {
		if (line->wake_fd >= 0)
			close(line->wake_fd);
		free(line);
		return err_set(err, rc, "cannot start a delay line: %s", strerror(-rc));
	}
	*out = line;
	return 0;
}

static void set_shape(struct lane *lane, const struct delay_shape *shape)
{
	lane->shape = *shape;
	if (shape->jitter_ns > 0)
		jitter_table_fill(shape->distribution, lane->jitter);
}

static int make_room(struct delay_line *line)
{
	struct lane **lanes = array_grow(line->lanes, &line->lanes_capacity, line->n_lanes + 1,
	                                 sizeof(struct lane *));

	if (!lanes)
		return -ENOMEM;
	line->lanes = lanes;
	return 0;
}

static int keep_lane(struct delay_line *line, struct lane *lane)
{
	int rc;

	take_turn(line);
	rc = make_room(line);
	if (!rc)
		line->lanes[line->n_lanes++] = lane;
	end_turn(line);
	wake(line);
	return rc;
}

int delay_line_add(struct delay_line *line, const struct delay_ends *ends,
                   const struct delay_shape *shape, int *lane_out, struct err *err)
{
	struct lane *lane = calloc(1, sizeof(*lane));
	int rc = lane ? 0 : -ENOMEM;

	if (!rc &&
	    (fcntl(ends->in_fd, F_SETFL, O_NONBLOCK) || fcntl(ends->out_fd, F_SETFL, O_NONBLOCK)))
		rc = -errno;
	if (!rc) {
		lane->ends = *ends;
		lane->last_draw = rng_uniform(rng_mix(line->seed, line->n_lanes));
		set_shape(lane, shape);
		rc = keep_lane(line, lane);
	}
	if (!rc) {
		/* Only this thread adds lanes. */
		*lane_out = (int)line->n_lanes - 1;
		return 0;
	}
	free(lane);
	close(ends->in_fd);
	close(ends->out_fd);
	return err_set(err, rc, "cannot add a lane to a delay line: %s", strerror(-rc));
}

void delay_line_set(struct delay_line *line, int lane, const struct delay_shape *shape)
{
	take_turn(line);
	set_shape(line->lanes[lane], shape);
	end_turn(line);
}

void delay_line_count(struct delay_line *line, int lane, struct delay_counts *out)
{
	take_turn(line);
	*out = line->lanes[lane]->counts;
	end_turn(line);
}

/* The end of the slot that 99 of 100 packets do not pass. */
static int64_t p99_ns(const struct delay_line *line)
{
	int64_t n_seen = 0;
	int slot = 0;

	for (; slot < SLOTS; slot++) {
		n_seen += line->late_slots[slot];
		if (n_seen * 100 >= line->n_late * 99)
			break;
	}
	return (slot + INT64_C(1)) * SLOT_NS;
}

void delay_line_accuracy(struct delay_line *line, struct delay_accuracy *out)
{
	take_turn(line);
	*out = (struct delay_accuracy){0};
	if (line->n_late > 0)
		*out = (struct delay_accuracy){
			.n_packets = line->n_late,
			.mean_ns = line->late_sum_ns / line->n_late,
			.p99_ns = p99_ns(line),
			.max_ns = line->late_max_ns,
		};
	end_turn(line);
}

void delay_line_close(struct delay_line *line)
{
	if (!line)
		return;
	atomic_store(&line->is_closing, true);
	wake(line);
	pthread_join(line->thread, NULL);
	pthread_mutex_destroy(&line->lock);
	for (size_t i = 0; i < line->n_lanes; i++) {
		close(line->lanes[i]->ends.in_fd);
		close(line->lanes[i]->ends.out_fd);
		free(line->lanes[i]);
	}
	delay_queue_fini(&line->queue);
	packet_arena_fini(&line->packets);
	free(line->lanes);
	free(line->polled);
	close(line->wake_fd);
	free(line);
}
