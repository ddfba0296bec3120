/* interface_messages.c - the bytes of every message about interfaces. */
#include "injectors/interface_messages.h"

#include "tests/net/golden_fixture.h"

int main(void)
{
	const struct interface_pair plain = {
		.name = "left", .peer_name = "right", .peer_namespace_fd = 7, .mtu_bytes = 1500};
	struct interface_pair port = plain;
	struct strbuf text = {0};

	port.bridge_index = 5;
	port.mtu_bytes = 9000;
	golden_add(&text, "list", interface_dump_message());
	golden_add(&text, "look up 'rail0'", interface_get_message("rail0"));
	golden_add(&text, "pair", interface_pair_message(&plain));
	golden_add(&text, "pair with a bridge", interface_pair_message(&port));
	golden_add(&text, "bridge", interface_bridge_message("bridge0"));
	golden_add(&text, "up", interface_up_message(3, true));
	golden_add(&text, "down", interface_up_message(3, false));
	golden_add(&text, "MTU", interface_mtu_message(3, 4000));
	golden_add(&text, "queue", interface_queue_message(3, 100000));
	golden_add(&text, "address 10.1.2.3/16", interface_address_message(3, 0x0a010203, 16));
	golden_add(&text, "window", interface_window_message(3, 0x0a010203, 16, 65000));
	golden_add(&text, "questions", interface_questions_message(3, 20, 500));
	golden_add(&text, "segments", interface_segments_message(3, 1));
	golden_add(&text, "no IPv6 address", interface_quiet_message(3));
	golden_add(&text, "delete", interface_delete_message(3));
	golden_check(&text, "tests/golden/injectors/interface.txt",
	             "messages about interfaces are, byte by byte, what they were");
	return tap_done();
}
