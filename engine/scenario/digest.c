/* digest.c - 64-bit FNV-1a. It tells contents apart; it does not protect against forgery. */
#include "engine/scenario/digest.h"

#include <string.h>

static const uint64_t fnv_prime = UINT64_C(0x100000001b3);

uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t n_bytes)
{
	const unsigned char *byte = bytes;

	for (size_t i = 0; i < n_bytes; i++)
		digest = (digest ^ byte[i]) * fnv_prime;
	return digest;
}

uint64_t digest_int(uint64_t digest, int64_t value)
{
	unsigned char bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)((uint64_t)value >> (8 * i));
	return digest_bytes(digest, bytes, sizeof(bytes));
}

uint64_t digest_text(uint64_t digest, const char *text)
{
	if (!text)
		text = "";
	return digest_int(digest_bytes(digest, text, strlen(text)), -1);
}
