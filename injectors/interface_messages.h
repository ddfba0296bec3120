/* interface_messages.h - the netlink messages of interface.h. NULL: out of memory; what is returned
 * is the caller's, netlink_request() frees it. */
#ifndef INJECTORS_INTERFACE_MESSAGES_H
#define INJECTORS_INTERFACE_MESSAGES_H

#include "injectors/interface.h"

struct nl_msg *interface_dump_message(void);
struct nl_msg *interface_get_message(const char *name);
struct nl_msg *interface_pair_message(const struct interface_pair *pair);
struct nl_msg *interface_bridge_message(const char *name);
struct nl_msg *interface_up_message(int index, bool is_up);
struct nl_msg *interface_mtu_message(int index, int mtu_bytes);
struct nl_msg *interface_queue_message(int index, int n_packets);
struct nl_msg *interface_address_message(int index, uint32_t address, int prefix_bits);
struct nl_msg *interface_window_message(int index, uint32_t address, int prefix_bits,
                                        uint32_t n_packets);
struct nl_msg *interface_questions_message(int index, int interval_ms, int n_times);
struct nl_msg *interface_segments_message(int index, uint32_t n_segments);
struct nl_msg *interface_quiet_message(int index);
struct nl_msg *interface_delete_message(int index);

#endif
