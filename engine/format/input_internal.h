/* input_internal.h - an input's state; shared by its readers of pieces and of lines. */
#ifndef ENGINE_FORMAT_INPUT_INTERNAL_H
#define ENGINE_FORMAT_INPUT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

enum { INPUT_PIECE_BYTES = 1 << 16 };

struct input {
	char *name;
	int fd; /* −1: bytes in memory */
	const char *bytes;
	size_t n_bytes_left;
	char piece[INPUT_PIECE_BYTES]; /* as the file has it; at is the next byte to look at */
	size_t at;
	size_t n_piece;
	uint64_t n_packed;
	uint64_t n_unpacked;
	bool has_ended;
	bool is_compressed;
	bool is_in_member;
	z_stream zip;
	char *peeked; /* unpacked text that input_peek() showed and nobody took yet */
	size_t peeked_at;
	size_t peeked_end;
	/* Of input_next_line(): text from lines_at to lines_end is not taken yet. */
	char *lines;
	size_t lines_capacity;
	size_t lines_at;
	size_t lines_end;
	uint64_t line;
};

#endif
