/* golden_fixture.h - netlink messages as text, byte by byte, for golden files. */
#ifndef TESTS_NET_GOLDEN_FIXTURE_H
#define TESTS_NET_GOLDEN_FIXTURE_H

#include <netlink/msg.h>

#include "engine/base/strbuf.h"
#include "tests/tap.h"

enum { GOLDEN_BYTES_SHOWN = 256 };

/* Add the message under its title, 16 bytes a line, and free it. A table of jitter behind the bytes
 * that are shown is checked elsewhere. */
static inline void golden_add(struct strbuf *text, const char *title, struct nl_msg *message)
{
	const unsigned char *bytes = message ? (const unsigned char *)nlmsg_hdr(message) : NULL;
	uint32_t n_bytes = message ? nlmsg_hdr(message)->nlmsg_len : 0;

	strbuf_addf(text, "%s: %u bytes\n", title, n_bytes);
	if (n_bytes > GOLDEN_BYTES_SHOWN)
		n_bytes = GOLDEN_BYTES_SHOWN;
	for (uint32_t i = 0; i < n_bytes; i++)
		strbuf_addf(text, "%s%02x%s", i % 16 ? " " : "    ", bytes[i],
		            i % 16 == 15 || i + 1 == n_bytes ? "\n" : "");
	nlmsg_free(message);
}

/* Compares and frees what was added. */
static inline void golden_check(struct strbuf *text, const char *path, const char *name)
{
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		tap_is_golden(strbuf_text(text), path, "%s", name);
	else
		tap_skip("golden netlink messages are of little-endian machines");
	strbuf_fini(text);
}

#endif
