/* flight_recorder.c - reads dumps of the NCCL flight recorder. */
#include "engine/format/flight_recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/format/json_read.h"
#include "engine/format/log_line_internal.h"

enum { GROUP_BYTES = 64, NAME_BYTES = 64, OPS_MAX = 1 << 20, GROUPS_MAX = 1024 };
enum { PICKLE_MARK = 0x80 };

/* An entry as it stands in the file. */
struct entry {
	char group[GROUP_BYTES];
	char name[NAME_BYTES];
	char state[16];
	int64_t record;
	int64_t sequence;
	bool has_name, has_state;
};

struct group_size {
	char name[GROUP_BYTES];
	int n_ranks;
};

struct reader {
	struct json_read *json;
	struct observed *counts;
	struct flight_dump dump;
	size_t capacity;
	char group[GROUP_BYTES]; /* whose sends and receives are kept; "": none was met */
	struct group_size *sizes;
	size_t n_sizes;
	size_t sizes_capacity;
	uint64_t n_entries;
	int highest; /* rank that was met */
};

static void copy_text(const struct json_item *item, char *out, size_t out_bytes)
{
	size_t n = item->length < out_bytes ? item->length : out_bytes - 1;

	memcpy(out, item->text, n);
	out[n] = '\0';
}

/* "process_group": ["0", "default_pg"]: the name comes first. */
static int read_group(struct reader *reader, const struct json_item *value, struct entry *entry,
                      struct err *err)
{
	struct json_item item;
	int rc;

	if (value->kind != JSON_ARRAY)
		return json_skip(reader->json, value, err);
	rc = json_next(reader->json, &item, err);
	if (rc == 0 && item.kind == JSON_STRING)
		copy_text(&item, entry->group, sizeof(entry->group));
	while (rc == 0 && item.kind != JSON_ARRAY_END) {
		rc = json_skip(reader->json, &item, err);
		if (rc == 0)
			rc = json_next(reader->json, &item, err);
	}
	return rc;
}

enum field { FIELD_GROUP, FIELD_NAME, FIELD_STATE, FIELD_RECORD, FIELD_SEQUENCE, FIELDS };

static int read_field(struct reader *reader, enum field field, struct entry *entry, struct err *err)
{
	struct json_item value;
	int rc = json_next(reader->json, &value, err);

	if (rc < 0)
		return rc;
	switch (field) {
	case FIELD_GROUP:
		return read_group(reader, &value, entry, err);
	case FIELD_NAME:
		entry->has_name = value.kind == JSON_STRING;
		if (entry->has_name)
			copy_text(&value, entry->name, sizeof(entry->name));
		break;
	case FIELD_STATE:
		entry->has_state = value.kind == JSON_STRING;
		if (entry->has_state)
			copy_text(&value, entry->state, sizeof(entry->state));
		break;
	case FIELD_RECORD:
		if (value.kind == JSON_NUMBER)
			(void)json_whole(&value, &entry->record);
		break;
	case FIELD_SEQUENCE:
		if (value.kind == JSON_NUMBER)
			(void)json_whole(&value, &entry->sequence);
		break;
	case FIELDS:
		break;
	}
	return json_skip(reader->json, &value, err);
}

/* The object that was opened by the last item. */
static int read_entry(struct reader *reader, struct entry *entry, struct err *err)
{
	static const char *const keys[FIELDS] = {"process_group", "profiling_name", "state",
	                                         "record_id", "p2p_seq_id"};
	struct json_item key;
	uint32_t seen = 0;
	int rc;

	*entry = (struct entry){.record = -1, .sequence = -1};
	while ((rc = json_next(reader->json, &key, err)) == 0 && key.kind == JSON_KEY) {
		int field = 0;

		while (field < FIELDS && !json_is(&key, keys[field]))
			field++;
		if (field < FIELDS)
			rc = json_once(reader->json, &seen, field, keys[field], err);
		if (rc == 0)
			rc = read_field(reader, (enum field)field, entry, err);
		if (rc < 0)
			return rc;
	}
	return rc;
}

/* "nccl:send 1->2", "xccl:recv 3<-0"; false: something else. */
static bool read_name(const char *name, struct flight_op *op)
{
	const char *colon = strchr(name, ':');
	struct text_span rest;
	int own, peer;

	if (colon == NULL)
		return false;
	rest = (struct text_span){colon + 1, strlen(colon + 1)};
	op->is_send = log_take_word(&rest, "send ");
	if (!op->is_send && !log_take_word(&rest, "recv "))
		return false;
	if (!log_take_count(&rest, TOPOLOGY_STAGES_MAX - 1, &own) ||
	    !log_take_word(&rest, op->is_send ? "->" : "<-") ||
	    !log_take_count(&rest, TOPOLOGY_STAGES_MAX - 1, &peer) || rest.length > 0 ||
	    own == peer)
		return false;
	op->from = op->is_send ? own : peer;
	op->to = op->is_send ? peer : own;
	return true;
}

static int keep(struct reader *reader, struct flight_op op, struct err *err)
{
	struct flight_dump *dump = &reader->dump;
	int own = op.is_send ? op.from : op.to;
	struct flight_op *ops;

	if (dump->rank >= 0 && own != dump->rank)
		return json_fail(reader->json, -EINVAL, err,
		                 "entry %llu is of rank %d, those before it of rank %d; wanted "
		                 "the dump of one rank",
		                 (unsigned long long)reader->n_entries, own, dump->rank);
	if (dump->n_ops == OPS_MAX)
		return json_fail(reader->json, -EFBIG, err, "more than %d sends and receives",
		                 OPS_MAX);
	ops = array_grow(dump->ops, &reader->capacity, dump->n_ops + 1, sizeof(*ops));
	if (ops == NULL)
		return json_fail(reader->json, -ENOMEM, err, "out of memory");
	dump->ops = ops;
	dump->rank = own;
	ops[dump->n_ops++] = op;
	if (op.from > reader->highest)
		reader->highest = op.from;
	if (op.to > reader->highest)
		reader->highest = op.to;
	return 0;
}

static bool is_state(const char *state)
{
	return strcmp(state, "scheduled") == 0 || strcmp(state, "started") == 0 ||
	       strcmp(state, "completed") == 0;
}

static void skip(struct reader *reader, const char *name)
{
	observed_skip(reader->counts, name, strlen(name));
}

static int take_entry(struct reader *reader, const struct entry *entry, struct err *err)
{
	struct flight_op op = {.sequence = entry->sequence};

	if (!entry->has_name || !entry->has_state)
		return json_fail(reader->json, -EINVAL, err, "entry %llu without its %s",
		                 (unsigned long long)reader->n_entries,
		                 entry->has_name ? "state" : "profiling_name");
	reader->dump.is_whole |= entry->record == 0;
	if (!read_name(entry->name, &op)) {
		skip(reader, "other than send and receive");
		return 0;
	}
	if (!is_state(entry->state)) {
		skip(reader, "send or receive in an unknown state");
		return 0;
	}
	if (reader->group[0] == '\0')
		strcpy(reader->group, entry->group);
	if (strcmp(reader->group, entry->group) != 0) {
		skip(reader, "send or receive of another process group");
		return 0;
	}
	op.is_done = strcmp(entry->state, "completed") == 0;
	return keep(reader, op, err);
}

static int read_entries(struct reader *reader, const struct json_item *array, struct err *err)
{
	struct json_item item;
	struct entry entry;
	int rc;

	if (array->kind != JSON_ARRAY)
		return json_fail(reader->json, -EINVAL, err, "'entries'; wanted an array");
	while ((rc = json_next(reader->json, &item, err)) == 0 && item.kind != JSON_ARRAY_END) {
		reader->n_entries++;
		if (item.kind != JSON_OBJECT)
			return json_fail(reader->json, -EINVAL, err, "entry %llu; wanted an object",
			                 (unsigned long long)reader->n_entries);
		rc = read_entry(reader, &entry, err);
		if (rc == 0)
			rc = take_entry(reader, &entry, err);
		if (rc < 0)
			return rc;
	}
	return rc;
}

/* "[0, 1, 5]": how many there are. */
static int count_ranks(const struct json_item *text)
{
	int n = text->length > 2;

	for (size_t i = 0; i < text->length; i++)
		n += text->text[i] == ',';
	return n < TOPOLOGY_STAGES_MAX ? n : TOPOLOGY_STAGES_MAX;
}

/* {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"} */
static int read_group_size(struct reader *reader, const struct json_item *value, struct err *err)
{
	struct group_size size = {.n_ranks = 0}, *sizes;
	struct json_item key, member;
	int rc;

	if (value->kind != JSON_OBJECT)
		return json_skip(reader->json, value, err);
	while ((rc = json_next(reader->json, &key, err)) == 0 && key.kind == JSON_KEY) {
		bool is_name = json_is(&key, "name"), is_ranks = json_is(&key, "ranks");

		rc = json_next(reader->json, &member, err);
		if (rc == 0 && is_name && member.kind == JSON_STRING)
			copy_text(&member, size.name, sizeof(size.name));
		if (rc == 0 && is_ranks && member.kind == JSON_STRING)
			size.n_ranks = count_ranks(&member);
		if (rc == 0)
			rc = json_skip(reader->json, &member, err);
		if (rc < 0)
			return rc;
	}
	if (rc < 0 || reader->n_sizes == GROUPS_MAX)
		return rc;
	sizes = array_grow(reader->sizes, &reader->sizes_capacity, reader->n_sizes + 1,
	                   sizeof(*sizes));
	if (sizes == NULL)
		return json_fail(reader->json, -ENOMEM, err, "out of memory");
	reader->sizes = sizes;
	sizes[reader->n_sizes++] = size;
	return 0;
}

static int read_groups(struct reader *reader, const struct json_item *object, struct err *err)
{
	struct json_item key, value;
	int rc;

	if (object->kind != JSON_OBJECT)
		return json_skip(reader->json, object, err);
	while ((rc = json_next(reader->json, &key, err)) == 0 && key.kind == JSON_KEY) {
		rc = json_next(reader->json, &value, err);
		if (rc == 0)
			rc = read_group_size(reader, &value, err);
		if (rc < 0)
			return rc;
	}
	return rc;
}

static int read_document(struct reader *reader, struct err *err)
{
	struct json_item key, value;
	uint32_t seen = 0;
	int rc = json_expect(reader->json, JSON_OBJECT, "an object with 'entries'", &key, err);

	while (rc == 0 && (rc = json_next(reader->json, &key, err)) == 0 && key.kind == JSON_KEY) {
		bool is_entries = json_is(&key, "entries"), is_groups = json_is(&key, "pg_config");

		if (is_entries || is_groups)
			rc = json_once(reader->json, &seen, is_entries,
			               is_entries ? "entries" : "pg_config", err);
		if (rc == 0)
			rc = json_next(reader->json, &value, err);
		if (rc == 0)
			rc = is_entries  ? read_entries(reader, &value, err)
			     : is_groups ? read_groups(reader, &value, err)
			                 : json_skip(reader->json, &value, err);
	}
	/* A dump in which nothing happened has no entries, but says of which groups it is. */
	if (rc == 0 && seen == 0)
		return json_fail(reader->json, -EINVAL, err,
		                 "neither 'entries' nor 'pg_config'; is it a dump of the NCCL "
		                 "flight recorder?");
	if (rc == 0)
		rc = json_expect(reader->json, JSON_END, "the end of the file", &value, err);
	return rc;
}

static int refuse_pickle(struct input *input, struct err *err)
{
	const char *text;
	size_t length;
	int rc = input_peek(input, &text, &length, err);

	if (rc < 0 || length == 0 || (unsigned char)text[0] != PICKLE_MARK)
		return rc;
	return err_set(err, -EINVAL,
	               "%s: is a pickle, which could run anything; if you trust it, make JSON of "
	               "it: python3 -c 'import json, pickle, sys; json.dump(pickle.load("
	               "sys.stdin.buffer), sys.stdout)' <FILE >FILE.json",
	               input_name(input));
}

/* Everything was read: make it part of the recorder. */
static int add_dump(struct flight_recorder *recorder, struct reader *reader, struct err *err)
{
	struct flight_dump *dumps;
	int n_ranks = reader->highest + 1;

	for (size_t i = 0; i < recorder->n_dumps && reader->dump.rank >= 0; i++)
		if (recorder->dumps[i].rank == reader->dump.rank)
			return err_set(err, -EINVAL, "%s: is of rank %d, as is %s",
			               reader->dump.name, reader->dump.rank,
			               recorder->dumps[i].name);
	for (size_t i = 0; i < reader->n_sizes; i++)
		if (strcmp(reader->sizes[i].name, reader->group) == 0 &&
		    reader->sizes[i].n_ranks > n_ranks)
			n_ranks = reader->sizes[i].n_ranks;
	if (recorder->group == NULL && reader->group[0] != '\0') {
		recorder->group = strdup(reader->group);
		if (recorder->group == NULL)
			return err_set(err, -ENOMEM, "out of memory");
	}
	dumps = realloc(recorder->dumps, (recorder->n_dumps + 1) * sizeof(*dumps));
	if (dumps == NULL)
		return err_set(err, -ENOMEM, "out of memory");
	recorder->dumps = dumps;
	dumps[recorder->n_dumps++] = reader->dump;
	if (n_ranks > recorder->n_ranks)
		recorder->n_ranks = n_ranks;
	return 0;
}

int flight_recorder_read(struct input *input, struct flight_recorder *recorder,
                         struct observed *counts, struct err *err)
{
	struct reader reader = {.counts = counts, .dump = {.rank = -1}, .highest = -1};
	int rc = refuse_pickle(input, err);

	if (rc == 0)
		rc = observed_begin(counts, input_name(input), 0, -1, err);
	if (rc == 0)
		rc = json_read_open(input, &reader.json, err);
	if (rc < 0)
		return rc;
	if (recorder->group != NULL)
		strcpy(reader.group, recorder->group);
	reader.dump.name = strdup(input_name(input));
	rc = reader.dump.name ? read_document(&reader, err)
	                      : err_set(err, -ENOMEM, "out of memory");
	counts->n_bytes += input_n_bytes(input);
	if (rc == 0)
		rc = add_dump(recorder, &reader, err);
	if (rc < 0) {
		free(reader.dump.name);
		free(reader.dump.ops);
	}
	free(reader.sizes);
	json_read_close(reader.json);
	return rc;
}

void flight_recorder_fini(struct flight_recorder *recorder)
{
	for (size_t i = 0; i < recorder->n_dumps; i++) {
		free(recorder->dumps[i].name);
		free(recorder->dumps[i].ops);
	}
	free(recorder->dumps);
	free(recorder->group);
	*recorder = (struct flight_recorder){0};
}
