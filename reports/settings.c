/* settings.c - the settings of stored runs, read back: which of them differ?
 *
 * Settings are one JSON object written by this program, but the database may have been through
 * other hands: the reader is strict and bounded. Objects are flattened to paths; arrays and plain
 * values are leaves, compared as text. */
#include "reports/settings.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "reports/display.h"

enum { DEPTH_LIMIT = 64, SHOWN_BYTES = 24 };

struct leaf {
	char *path;
	const char *value; /* in the text read */
	size_t n_bytes;
};

/* leaves is NULL while only the grammar is of interest. */
struct reader {
	const char *at;
	int depth;
	struct leaves *leaves;
	struct strbuf path;
};

struct leaves {
	struct leaf *items;
	size_t n, capacity;
	bool is_failed;
};

static bool read_value(struct reader *reader);

static void skip_blanks(struct reader *reader)
{
	reader->at += strspn(reader->at, " \t\r\n");
}

static bool read_byte(struct reader *reader, char c)
{
	if (*reader->at != c)
		return false;
	reader->at++;
	return true;
}

static bool read_escape(struct reader *reader)
{
	char c = *reader->at++;

	if (c != 'u')
		return c && strchr("\"\\/bfnrt", c);
	for (int i = 0; i < 4; i++)
		if (!isxdigit((unsigned char)*reader->at++))
			return false;
	return true;
}

static bool read_string(struct reader *reader)
{
	if (!read_byte(reader, '"'))
		return false;
	for (;;) {
		unsigned char c = (unsigned char)*reader->at;

		if (c < 0x20)
			return false;
		reader->at++;
		if (c == '"')
			return true;
		if (c == '\\' && (!*reader->at || !read_escape(reader)))
			return false;
	}
}

static bool read_digits(struct reader *reader)
{
	size_t n = strspn(reader->at, "0123456789");

	reader->at += n;
	return n > 0;
}

static bool read_number(struct reader *reader)
{
	(void)read_byte(reader, '-'); /* a sign may stand there */
	if (!read_byte(reader, '0') && !read_digits(reader))
		return false;
	if (read_byte(reader, '.') && !read_digits(reader))
		return false;
	if (*reader->at != 'e' && *reader->at != 'E')
		return true;
	reader->at++;
	if (*reader->at == '+' || *reader->at == '-')
		reader->at++;
	return read_digits(reader);
}

static bool read_word(struct reader *reader, const char *word)
{
	if (strncmp(reader->at, word, strlen(word)) != 0)
		return false;
	reader->at += strlen(word);
	return true;
}

static bool read_array(struct reader *reader)
{
	struct leaves *leaves = reader->leaves;
	bool is_good = false;

	reader->leaves = NULL; /* an array is one leaf */
	reader->at++;
	skip_blanks(reader);
	if (read_byte(reader, ']')) {
		is_good = true;
	} else {
		do {
			is_good = read_value(reader);
		} while (is_good && read_byte(reader, ','));
		is_good = is_good && read_byte(reader, ']');
	}
	reader->leaves = leaves;
	return is_good;
}

static void keep_leaf(struct reader *reader, const char *value)
{
	struct leaves *leaves = reader->leaves;
	struct leaf *items =
		array_grow(leaves->items, &leaves->capacity, leaves->n + 1, sizeof(*items));

	if (!items || reader->path.is_failed) {
		leaves->items = items ? items : leaves->items;
		leaves->is_failed = true;
		return;
	}
	leaves->items = items;
	items[leaves->n] = (struct leaf){strdup(strbuf_text(&reader->path)), value,
	                                 (size_t)(reader->at - value)};
	while (items[leaves->n].n_bytes > 0 &&
	       strchr(" \t\r\n", value[items[leaves->n].n_bytes - 1]))
		items[leaves->n].n_bytes--;
	if (items[leaves->n++].path == NULL)
		leaves->is_failed = true;
}

static bool read_member(struct reader *reader)
{
	size_t path_before = reader->path.length;
	const char *key, *value;
	bool is_object;

	skip_blanks(reader);
	key = reader->at;
	if (!read_string(reader))
		return false;
	if (reader->leaves) {
		if (path_before > 0)
			strbuf_add_char(&reader->path, '.');
		strbuf_add_bytes(&reader->path, key + 1, (size_t)(reader->at - key) - 2);
	}
	skip_blanks(reader);
	if (!read_byte(reader, ':'))
		return false;
	skip_blanks(reader);
	value = reader->at;
	is_object = *value == '{';
	if (!read_value(reader))
		return false;
	if (reader->leaves && !is_object)
		keep_leaf(reader, value);
	if (reader->path.text) {
		reader->path.length = path_before;
		reader->path.text[path_before] = '\0';
	}
	return true;
}

static bool read_object(struct reader *reader)
{
	bool is_good;

	reader->at++;
	skip_blanks(reader);
	if (read_byte(reader, '}'))
		return true;
	do {
		is_good = read_member(reader);
	} while (is_good && read_byte(reader, ','));
	return is_good && read_byte(reader, '}');
}

/* One value and the blanks around it. */
static bool read_value(struct reader *reader)
{
	bool is_good;

	if (++reader->depth > DEPTH_LIMIT)
		return false;
	skip_blanks(reader);
	switch (*reader->at) {
	case '{':
		is_good = read_object(reader);
		break;
	case '[':
		is_good = read_array(reader);
		break;
	case '"':
		is_good = read_string(reader);
		break;
	case 't':
		is_good = read_word(reader, "true");
		break;
	case 'f':
		is_good = read_word(reader, "false");
		break;
	case 'n':
		is_good = read_word(reader, "null");
		break;
	default:
		is_good = read_number(reader);
	}
	skip_blanks(reader);
	reader->depth--;
	return is_good;
}

bool settings_is_json(const char *text)
{
	struct reader reader = {.at = text};

	return text && display_is_utf8(text) && read_value(&reader) && *reader.at == '\0';
}

static void leaves_fini(struct leaves *leaves)
{
	for (size_t i = 0; i < leaves->n; i++)
		free(leaves->items[i].path);
	free(leaves->items);
}

static int read_leaves(const char *text, struct leaves *leaves, struct err *err)
{
	struct reader reader = {.at = text, .leaves = leaves};

	if (!settings_is_json(text) || text[strspn(text, " \t\r\n")] != '{')
		return err_set(err, -EINVAL, "the settings of a run are not a JSON object");
	(void)read_value(&reader); /* just read without fault */
	strbuf_fini(&reader.path);
	return leaves->is_failed ? err_set(err, -ENOMEM, "out of memory") : 0;
}

static const struct leaf *find_leaf(const struct leaves *leaves, const char *path)
{
	for (size_t i = 0; i < leaves->n; i++)
		if (strcmp(leaves->items[i].path, path) == 0)
			return &leaves->items[i];
	return NULL;
}

static bool is_same(const struct leaf *a, const struct leaf *b)
{
	return a && b && a->n_bytes == b->n_bytes && memcmp(a->value, b->value, a->n_bytes) == 0;
}

/* A value as a person would write it: without quotes, and not too long. */
static void add_value(struct strbuf *out, const struct leaf *leaf)
{
	const char *value = leaf ? leaf->value : "nothing";
	size_t n = leaf ? leaf->n_bytes : strlen(value);

	if (n >= 2 && value[0] == '"') {
		value++;
		n -= 2;
	}
	if (n <= SHOWN_BYTES) {
		strbuf_add_bytes(out, value, n);
		return;
	}
	for (n = SHOWN_BYTES; n > 0 && (value[n] & 0xc0) == 0x80; n--)
		; /* not in the middle of a character */
	strbuf_add_bytes(out, value, n);
	strbuf_add(out, "...");
}

static bool is_long_list(const struct leaf *leaf)
{
	return leaf && *leaf->value == '[' && leaf->n_bytes > SHOWN_BYTES;
}

/* The starts of two long lists, which may well be the same, would tell nothing. */
static void add_difference(struct strbuf *out, const struct leaf *a, const struct leaf *b,
                           size_t n_before)
{
	strbuf_addf(out, "%s%s", n_before ? ", " : "", a ? a->path : b->path);
	if (is_long_list(a) && is_long_list(b))
		return;
	strbuf_add_char(out, ' ');
	add_value(out, a);
	strbuf_add(out, " and ");
	add_value(out, b);
}

/* What is being found; n were before, the first n_most of them are named. */
struct differences {
	const char *const *left_out;
	size_t n, n_most;
	struct strbuf *out;
};

static bool is_left_out(const struct differences *found, const char *path)
{
	for (const char *const *name = found->left_out; *name; name++) {
		size_t length = strlen(*name);
		bool is_group = length > 0 && (*name)[length - 1] == '.';

		if (is_group ? strncmp(*name, path, length) == 0 : strcmp(*name, path) == 0)
			return true;
	}
	return false;
}

/* Differences of a's leaves from b's; is_second: a is the second side, and only what the first
 * lacks is left to name. */
static void add_side(const struct leaves *a, const struct leaves *b, bool is_second,
                     struct differences *found)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct leaf *mine = &a->items[i], *other = find_leaf(b, mine->path);

		if (is_same(mine, other) || (is_second && other) || is_left_out(found, mine->path))
			continue;
		if (found->n < found->n_most)
			add_difference(found->out, is_second ? NULL : mine,
			               is_second ? mine : other, found->n);
		found->n++;
	}
}

int settings_add_differences(const char *a, const char *b, size_t n_most,
                             const char *const *left_out, struct strbuf *out, struct err *err)
{
	struct differences found = {.left_out = left_out, .n_most = n_most, .out = out};
	struct leaves in_a = {0}, in_b = {0};
	int rc = read_leaves(a, &in_a, err);

	if (rc == 0)
		rc = read_leaves(b, &in_b, err);
	if (rc == 0) {
		add_side(&in_a, &in_b, false, &found);
		add_side(&in_b, &in_a, true, &found);
		if (found.n > n_most)
			strbuf_addf(out, " and %zu more", found.n - n_most);
	}
	leaves_fini(&in_a);
	leaves_fini(&in_b);
	return rc;
}

double settings_number(const char *text, const char *path)
{
	struct leaves leaves = {0};
	const struct leaf *leaf =
		read_leaves(text, &leaves, NULL) ? NULL : find_leaf(&leaves, path);
	bool is_number = leaf && (*leaf->value == '-' || isdigit((unsigned char)*leaf->value));
	/* The reader has let nothing through that strtod() takes for more than JSON does. */
	double number = is_number ? strtod(leaf->value, NULL) : NAN;

	leaves_fini(&leaves);
	return number;
}

bool settings_is(const char *text, const char *path, const char *value)
{
	struct leaves leaves = {0};
	const struct leaf *leaf =
		read_leaves(text, &leaves, NULL) ? NULL : find_leaf(&leaves, path);
	size_t n = strlen(value);
	bool is_equal = leaf && leaf->n_bytes == n + 2 && *leaf->value == '"' &&
	                memcmp(leaf->value + 1, value, n) == 0;

	leaves_fini(&leaves);
	return is_equal;
}

void settings_free(struct setting *settings, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(settings[i].path);
		free(settings[i].value);
	}
	free(settings);
}

/* Move the path into a setting; its value without quotes and simple escapes. */
static bool take_setting(struct leaf *leaf, struct setting *out)
{
	const char *value = leaf->value, *end = leaf->value + leaf->n_bytes;
	bool is_string = *value == '"';
	struct strbuf text = {0};

	if (is_string) {
		value++;
		end--;
	}
	strbuf_add(&text, "");
	for (; value < end; value++) {
		if (is_string && *value == '\\' && strchr("\"\\/", value[1]))
			value++;
		strbuf_add_char(&text, *value);
	}
	*out = (struct setting){leaf->path, strbuf_take(&text)};
	leaf->path = NULL;
	return out->value != NULL;
}

int settings_read(const char *text, struct setting **out, size_t *n_out, struct err *err)
{
	struct leaves leaves = {0};
	struct setting *settings;
	bool is_whole = true;
	int rc = read_leaves(text, &leaves, err);

	if (rc) {
		leaves_fini(&leaves);
		return rc;
	}
	settings = array_new(leaves.n, sizeof(*settings));
	for (size_t i = 0; settings && i < leaves.n; i++)
		is_whole &= take_setting(&leaves.items[i], &settings[i]);
	if (settings && is_whole) {
		*out = settings;
		*n_out = leaves.n;
	} else {
		if (settings)
			settings_free(settings, leaves.n);
		rc = err_set(err, -ENOMEM, "out of memory");
	}
	leaves_fini(&leaves);
	return rc;
}

char *settings_text(const char *text, const char *path)
{
	struct setting *settings = NULL;
	char *value = NULL;
	size_t n = 0;

	if (text && settings_read(text, &settings, &n, NULL) == -ENOMEM)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (strcmp(settings[i].path, path) == 0)
			value = settings[i].value;
	value = strdup(value ? value : "");
	settings_free(settings, n);
	return value;
}
