/* input.c - a file or standard input, plain or compressed, read piece by piece.
 *
 * zlib would tell plain from compressed by itself (gzread), but takes a stream that breaks off
 * between two of its members, and garbage behind the last one, for an end; a half import must not
 * pass for a whole one. So members are walked here. */
#include "engine/format/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "engine/base/array.h"
#include "engine/base/interrupt.h"
#include "engine/format/input_internal.h"

enum { GZIP_WINDOW_BITS = 15 + 16 };

static int out_of_memory(const char *name, struct err *err)
{
	return err_set(err, -ENOMEM, "%s: out of memory", name);
}

/* From the file, or from the bytes that stand for one; *n_out 0: it has ended. */
static int read_some(struct input *input, char *to, size_t n_room, size_t *n_out, struct err *err)
{
	ssize_t n;

	if (input->fd < 0) {
		n = (ssize_t)(input->n_bytes_left < n_room ? input->n_bytes_left : n_room);
		if (n > 0)
			memcpy(to, input->bytes, (size_t)n);
		input->bytes += n;
		input->n_bytes_left -= (size_t)n;
	} else {
		do {
			if (interrupt_is_pending())
				return err_set(err, -EINTR, "%s: interrupted", input->name);
			n = read(input->fd, to, n_room);
		} while (n < 0 && errno == EINTR);
		if (n < 0)
			return err_set(err, -errno, "cannot read '%s': %s", input->name,
			               strerror(errno));
	}
	input->n_packed += (uint64_t)n;
	*n_out = (size_t)n;
	return 0;
}

/* The next piece, in place of the last one. */
static int fill(struct input *input, struct err *err)
{
	int rc = read_some(input, input->piece, INPUT_PIECE_BYTES, &input->n_piece, err);

	input->at = 0;
	if (rc < 0)
		input->n_piece = 0;
	else
		input->has_ended = input->n_piece == 0;
	return rc;
}

/* At least two bytes, if there are as many, tell what this is. */
static int detect(struct input *input, struct err *err)
{
	int rc = fill(input, err);
	size_t n = 1;

	while (rc == 0 && !input->has_ended && input->n_piece < 2 && n > 0) {
		rc = read_some(input, input->piece + input->n_piece,
		               INPUT_PIECE_BYTES - input->n_piece, &n, err);
		input->n_piece += rc == 0 ? n : 0;
	}
	if (rc == 0 && input->n_piece >= 2 && memcmp(input->piece, "\x1f\x8b", 2) == 0) {
		if (inflateInit2(&input->zip, GZIP_WINDOW_BITS) != Z_OK)
			return out_of_memory(input->name, err);
		input->is_compressed = true;
		input->is_in_member = true;
	}
	return rc;
}

static int open_input(const char *name, int fd, struct input **out, struct err *err)
{
	struct input *input = calloc(1, sizeof(*input));

	if (input == NULL)
		return out_of_memory(name, err);
	input->fd = fd;
	input->name = strdup(name);
	if (input->name == NULL) {
		free(input);
		return out_of_memory(name, err);
	}
	*out = input;
	return 0;
}

int input_open(const char *path, struct input **out, struct err *err)
{
	bool is_standard = strcmp(path, "-") == 0;
	int fd = is_standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	struct input *input = NULL;
	int rc;

	if (fd < 0)
		return err_set(err, -errno, "cannot open '%s': %s", path, strerror(errno));
	rc = open_input(is_standard ? "standard input" : path, fd, &input, err);
	if (rc < 0 && !is_standard)
		close(fd);
	if (rc == 0)
		rc = detect(input, err);
	if (rc < 0)
		input_close(input);
	else
		*out = input;
	return rc;
}

int input_open_bytes(const char *name, const char *bytes, size_t n_bytes, struct input **out,
                     struct err *err)
{
	struct input *input = NULL;
	int rc = open_input(name, -1, &input, err);

	if (rc < 0)
		return rc;
	input->bytes = bytes;
	input->n_bytes_left = n_bytes;
	rc = detect(input, err);
	if (rc < 0)
		input_close(input);
	else
		*out = input;
	return rc;
}

void input_close(struct input *input)
{
	if (input == NULL)
		return;
	if (input->is_compressed)
		inflateEnd(&input->zip);
	if (input->fd >= 0 && input->fd != STDIN_FILENO)
		close(input->fd);
	free(input->lines);
	free(input->peeked);
	free(input->name);
	free(input);
}

static int read_plain(struct input *input, char *out, size_t n_wanted, size_t *n_out,
                      struct err *err)
{
	size_t n = input->n_piece - input->at;

	if (n == 0 && !input->has_ended) {
		int rc = fill(input, err);

		if (rc < 0)
			return rc;
		n = input->n_piece;
	}
	if (n > n_wanted)
		n = n_wanted;
	memcpy(out, input->piece + input->at, n);
	input->at += n;
	*n_out = n;
	return 0;
}

/* Between two members: only another one may follow, or zeros, with which tapes are filled up. */
static int next_member(struct input *input, struct err *err)
{
	while (input->at < input->n_piece && input->piece[input->at] == '\0')
		input->at++;
	if (input->at == input->n_piece)
		return 0;
	if ((unsigned char)input->piece[input->at] != 0x1f)
		return err_set(err, -EINVAL,
		               "%s: something that is not compressed follows the compressed data",
		               input->name);
	if (inflateReset(&input->zip) != Z_OK)
		return out_of_memory(input->name, err);
	input->is_in_member = true;
	return 0;
}

static int inflate_piece(struct input *input, struct err *err)
{
	int state;

	input->zip.next_in = (unsigned char *)input->piece + input->at;
	input->zip.avail_in = (unsigned)(input->n_piece - input->at);
	state = inflate(&input->zip, Z_NO_FLUSH);
	input->at = input->n_piece - input->zip.avail_in;
	if (state == Z_STREAM_END)
		input->is_in_member = false;
	else if (state == Z_MEM_ERROR)
		return out_of_memory(input->name, err);
	else if (state != Z_OK && state != Z_BUF_ERROR)
		return err_set(err, -EINVAL, "%s: compressed data is damaged near its byte %llu",
		               input->name,
		               (unsigned long long)(input->n_packed - input->n_piece + input->at));
	return 0;
}

static int read_compressed(struct input *input, char *out, size_t n_wanted, size_t *n_out,
                           struct err *err)
{
	input->zip.next_out = (unsigned char *)out;
	input->zip.avail_out = (unsigned)n_wanted;
	while (input->zip.avail_out == n_wanted) {
		int rc = 0;

		if (input->at == input->n_piece && !input->has_ended)
			rc = fill(input, err);
		if (rc == 0 && input->has_ended) {
			if (!input->is_in_member)
				break;
			return err_set(err, -EINVAL,
			               "%s: compressed data breaks off after %llu bytes; the file "
			               "was cut",
			               input->name, (unsigned long long)input->n_packed);
		}
		if (rc == 0 && !input->is_in_member)
			rc = next_member(input, err);
		if (rc == 0 && input->is_in_member)
			rc = inflate_piece(input, err);
		if (rc < 0)
			return rc;
	}
	*n_out = n_wanted - input->zip.avail_out;
	return 0;
}

static int read_unpacked(struct input *input, char *out, size_t n_wanted, size_t *n_out,
                         struct err *err)
{
	/* What zlib counts with. */
	if (n_wanted > INT32_MAX)
		n_wanted = INT32_MAX;
	return input->is_compressed ? read_compressed(input, out, n_wanted, n_out, err)
	                            : read_plain(input, out, n_wanted, n_out, err);
}

int input_peek(struct input *input, const char **text_out, size_t *length_out, struct err *err)
{
	size_t n = 1;
	int rc = 0;

	if (input->peeked == NULL)
		input->peeked = malloc(INPUT_PEEK_BYTES);
	if (input->peeked == NULL)
		return out_of_memory(input->name, err);
	while (input->peeked_end < INPUT_PEEK_BYTES && n > 0 && rc == 0) {
		n = 0;
		rc = read_unpacked(input, input->peeked + input->peeked_end,
		                   INPUT_PEEK_BYTES - input->peeked_end, &n, err);
		input->peeked_end += n;
	}
	if (rc < 0)
		return rc;
	*text_out = input->peeked;
	*length_out = input->peeked_end;
	return 0;
}

int input_read(struct input *input, char *out, size_t n_wanted, size_t *n_out, struct err *err)
{
	size_t n = input->peeked_end - input->peeked_at;
	int rc = 0;

	if (n > 0) {
		n = n < n_wanted ? n : n_wanted;
		memcpy(out, input->peeked + input->peeked_at, n);
		input->peeked_at += n;
	} else {
		rc = read_unpacked(input, out, n_wanted, &n, err);
	}
	if (rc < 0)
		return rc;
	input->n_unpacked += n;
	*n_out = n;
	return 0;
}

int input_read_all(struct input *input, size_t limit_bytes, char **text_out, size_t *n_out,
                   struct err *err)
{
	size_t capacity = 0, length = 0, n = 1;
	char *text = NULL;
	int rc = 0;

	while (rc == 0 && n > 0) {
		char *grown = array_grow(text, &capacity, length + INPUT_PIECE_BYTES, 1);

		if (grown == NULL) {
			rc = out_of_memory(input->name, err);
			break;
		}
		text = grown;
		/* One byte more than may be there shows that there are too many; one is kept. */
		n = 0;
		rc = input_read(input, text + length, capacity - length - 1, &n, err);
		length += n;
		if (rc == 0 && length > limit_bytes)
			rc = err_set(err, -EFBIG, "%s is longer than %zu bytes", input->name,
			             limit_bytes);
	}
	if (rc < 0) {
		free(text);
		return rc;
	}
	text[length] = '\0';
	*text_out = text;
	*n_out = length;
	return 0;
}

uint64_t input_line(const struct input *input)
{
	return input->line;
}

uint64_t input_n_bytes(const struct input *input)
{
	return input->n_unpacked;
}

const char *input_name(const struct input *input)
{
	return input->name;
}
