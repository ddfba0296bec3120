/* utf8.c - which bytes are a character. */
#include "engine/base/utf8.h"

size_t utf8_length(const unsigned char *text)
{
	static const struct {
		unsigned char first_low, first_high, second_low, second_high;
		size_t length;
	} forms[] = {
		{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
		{0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
		{0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
		{0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	if (text[0] < 0x80)
		return 1;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t n = 2;

		if (text[0] < forms[i].first_low || text[0] > forms[i].first_high ||
		    text[1] < forms[i].second_low || text[1] > forms[i].second_high)
			continue;
		while (n < forms[i].length && (text[n] & 0xc0) == 0x80)
			n++;
		return n == forms[i].length ? n : 0;
	}
	return 0;
}
