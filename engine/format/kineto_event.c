/* kineto_event.c - reads one event of a Kineto trace, its keys in any order.
 *
 * A key that is used and stands in an event twice is refused: which of the two is meant, nobody can
 * say. Others are not looked at. */
#include <errno.h>
#include <string.h>

#include "engine/format/kineto_internal.h"

/* Bits of what has been seen of an event. */
enum seen { SEEN_PH, SEEN_CAT, SEEN_NAME, SEEN_PID, SEEN_TID, SEEN_TS, SEEN_DUR, SEEN_ARGS };
enum { NS_EXPONENT = 3 }; /* the file has microseconds */

static const struct {
	const char *name;
	enum kineto_category category;
} categories[] = {
	{"kernel", KINETO_KERNEL},
	{"cuda_runtime", KINETO_LAUNCH},
	{"cuda_driver", KINETO_LAUNCH},
	{"user_annotation", KINETO_HOST_RANGE},
	{"gpu_user_annotation", KINETO_DEVICE_RANGE},
	{"compute", KINETO_SLICE},
	{"comm", KINETO_SLICE},
};

static void copy_text(const struct json_item *item, char *out, size_t out_bytes)
{
	size_t n = item->length < out_bytes ? item->length : out_bytes - 1;

	memcpy(out, item->text, n);
	out[n] = '\0';
}

/* Behind the text of an item there is at least its quote: the first byte can be looked at. */
static enum kineto_category category_of(const struct json_item *item)
{
	for (size_t i = 0; i < sizeof(categories) / sizeof(*categories); i++)
		if (item->text[0] == categories[i].name[0] && json_is(item, categories[i].name))
			return categories[i].category;
	return KINETO_OTHER;
}

static int bad_value(struct json_read *json, const char *key, const char *wanted, struct err *err)
{
	return json_fail(json, -EINVAL, err, "'%s' of an event; wanted %s", key, wanted);
}

static int take_time(struct json_read *json, const struct json_item *item, const char *key,
                     int64_t *out, struct err *err)
{
	if (item->kind != JSON_NUMBER)
		return bad_value(json, key, "a number of microseconds", err);
	/* A start, a duration and the trace's base can be added up. */
	if (!json_scaled(item, NS_EXPONENT, out) || *out > OBSERVED_TIME_MAX_NS ||
	    *out < OBSERVED_TIME_MIN_NS)
		return bad_value(json, key, "a time of less than a hundred years", err);
	return 0;
}

/* Whole numbers; anything else leaves *out as it is. */
static bool take_whole(const struct json_item *item, int64_t *out)
{
	return item->kind == JSON_NUMBER && json_whole(item, out);
}

enum value_kind { VALUE_NUMBER, VALUE_TIME, VALUE_WORD };

struct argument {
	const char *key;
	enum value_kind kind;
	size_t offset;
};

#define NUMBER_AT(member) VALUE_NUMBER, offsetof(struct kineto_event, member)
#define TIME_AT(member)   VALUE_TIME, offsetof(struct kineto_event, member)
#define WORD_AT(member)   VALUE_WORD, offsetof(struct kineto_event, member)
static const struct argument arguments[] = {
	{"correlation", NUMBER_AT(correlation)},
	{"In msg nelems", NUMBER_AT(n_in)},
	{"Out msg nelems", NUMBER_AT(n_out)},
	{"Src Rank", NUMBER_AT(from_rank)},
	{"Dst Rank", NUMBER_AT(to_rank)},
	{"Collective name", WORD_AT(collective)},
	{"dtype", WORD_AT(element)},
	{"iteration", NUMBER_AT(iteration)},
	{"attempt", NUMBER_AT(attempt)},
	{"peer", NUMBER_AT(peer)},
	{"bytes", NUMBER_AT(bytes)},
	{"wait_us", TIME_AT(wait_ns)},
	{"measured_by", WORD_AT(timer)},
};
enum { N_ARGUMENTS = sizeof(arguments) / sizeof(*arguments) };

static int find_argument(const struct json_item *key)
{
	for (int i = 0; i < N_ARGUMENTS; i++)
		if (key->text[0] == arguments[i].key[0] && json_is(key, arguments[i].key))
			return i;
	return -1;
}

static int take_argument(struct json_read *json, const struct argument *argument,
                         struct kineto_event *out, struct err *err)
{
	char *place = (char *)out + argument->offset;
	struct json_item value;
	int rc = json_next(json, &value, err);

	if (rc < 0)
		return rc;
	switch (argument->kind) {
	case VALUE_NUMBER:
		(void)take_whole(&value, (int64_t *)(void *)place);
		break;
	case VALUE_TIME:
		return take_time(json, &value, argument->key, (int64_t *)(void *)place, err);
	case VALUE_WORD:
		if (value.kind == JSON_STRING)
			copy_text(&value, place, KINETO_WORD_BYTES);
		break;
	}
	return json_skip(json, &value, err);
}

static int read_arguments(struct json_read *json, struct kineto_event *out, struct err *err)
{
	struct json_item key, value;
	uint32_t seen = 0;
	int rc;

	while ((rc = json_next(json, &key, err)) == 0 && key.kind == JSON_KEY) {
		int i = find_argument(&key);

		if (i >= 0) {
			rc = json_once(json, &seen, i, arguments[i].key, err);
			if (rc == 0)
				rc = take_argument(json, &arguments[i], out, err);
		} else {
			rc = json_next(json, &value, err);
			if (rc == 0)
				rc = json_skip(json, &value, err);
		}
		if (rc < 0)
			return rc;
	}
	return rc;
}

static int key_bit(const struct json_item *key)
{
	static const char *const keys[] = {"ph", "cat", "name", "pid", "tid", "ts", "dur", "args"};

	for (int i = 0; i <= SEEN_ARGS; i++)
		if (key->text[0] == keys[i][0] && json_is(key, keys[i]))
			return i;
	return -1;
}

/* Only whole numbers name a device, a process or a thread that matters here. */
static void take_place(const struct json_item *item, int64_t *out, struct kineto_event *event)
{
	if (!take_whole(item, out))
		event->has_numbers = false;
}

static int take_field(struct json_read *json, int bit, struct kineto_event *out, struct err *err)
{
	struct json_item value;
	int rc = json_next(json, &value, err);

	if (rc < 0)
		return rc;
	if (bit <= SEEN_NAME && value.kind != JSON_STRING)
		return bad_value(json,
		                 bit == SEEN_PH    ? "ph"
		                 : bit == SEEN_CAT ? "cat"
		                                   : "name",
		                 "a string", err);
	switch ((enum seen)bit) {
	case SEEN_PH:
		out->phase = value.length == 1 ? value.text[0] : '?';
		return 0;
	case SEEN_CAT:
		out->category = category_of(&value);
		copy_text(&value, out->category_name, sizeof(out->category_name));
		return 0;
	case SEEN_NAME:
		out->has_name = true;
		copy_text(&value, out->name, sizeof(out->name));
		return 0;
	case SEEN_PID:
		take_place(&value, &out->process, out);
		return json_skip(json, &value, err);
	case SEEN_TID:
		take_place(&value, &out->thread, out);
		return json_skip(json, &value, err);
	case SEEN_TS:
		out->has_start = true;
		return take_time(json, &value, "ts", &out->start_ns, err);
	case SEEN_DUR:
		out->has_duration = true;
		return take_time(json, &value, "dur", &out->duration_ns, err);
	case SEEN_ARGS:
		return value.kind == JSON_OBJECT ? read_arguments(json, out, err)
		                                 : json_skip(json, &value, err);
	}
	return 0;
}

int kineto_event_read(struct json_read *json, struct kineto_event *out, struct err *err)
{
	static const struct kineto_event nothing = {.has_numbers = true,
	                                            .correlation = -1,
	                                            .n_in = -1,
	                                            .n_out = -1,
	                                            .from_rank = -1,
	                                            .to_rank = -1,
	                                            .iteration = -1,
	                                            .attempt = -1,
	                                            .peer = -1,
	                                            .bytes = -1,
	                                            .wait_ns = -1};
	struct json_item key, value;
	uint32_t seen = 0;
	int rc;

	*out = nothing;
	while ((rc = json_next(json, &key, err)) == 0 && key.kind == JSON_KEY) {
		int bit = key_bit(&key);

		if (bit < 0) {
			rc = json_next(json, &value, err);
			if (rc == 0)
				rc = json_skip(json, &value, err);
		} else {
			rc = json_once(json, &seen, bit, "of an event", err);
			if (rc == 0)
				rc = take_field(json, bit, out, err);
		}
		if (rc < 0)
			return rc;
	}
	return rc;
}
