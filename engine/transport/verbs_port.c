/* verbs_port.c - RDMA devices and their ports: which is meant, what it is called, what befalls it.
 *
 * A port is called by one of its GIDs. On Ethernet those are the addresses of its interface, some
 * of them twice, for either version of RoCE; only version 2 is routed, and the same on all devices.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/transport/verbs_internal.h"

/* How much a GID is wanted: one that is routed is reached from wherever the other side is. */
static int rank_of(const struct ibv_gid_entry *entry)
{
	if (entry->gid_type == IBV_GID_TYPE_ROCE_V1)
		return 0;
	switch (verbs_family_of(entry->gid.raw)) {
	case VERBS_IPV4:
		return 3;
	case VERBS_IPV6:
		return 2;
	case VERBS_LINK_LOCAL:
		break;
	}
	return 1;
}

/* The GID of a port that is wanted most; wanted: nothing but this one. Returns its rank, 0: none.
 */
static int choose_gid(struct ibv_context *context, int port, int n_gids, const uint8_t *wanted,
                      uint8_t *gid_out, int *index_out)
{
	int best = 0;

	for (int i = 0; i < n_gids; i++) {
		struct ibv_gid_entry entry;
		int rank;

		if (ibv_query_gid_ex(context, (uint32_t)port, (uint32_t)i, &entry, 0))
			continue;
		rank = rank_of(&entry);
		if (rank <= best || (wanted && memcmp(entry.gid.raw, wanted, VERBS_GID_BYTES) != 0))
			continue;
		best = rank;
		memcpy(gid_out, entry.gid.raw, VERBS_GID_BYTES);
		*index_out = i;
	}
	return best;
}

/* "10.9.0.1:0" as the GID of that address. false: it is none that an RNIC could have of its own. */
static bool gid_of_address(const char *listen, uint8_t *gid)
{
	char host[TRANSPORT_ADDRESS_BYTES];
	size_t n = strcspn(listen, ":");
	struct in_addr address;

	if (n == 0 || n >= sizeof(host))
		return false;
	memcpy(host, listen, n);
	host[n] = '\0';
	if (inet_pton(AF_INET, host, &address) != 1 || address.s_addr == htonl(INADDR_ANY) ||
	    ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET)
		return false;
	memset(gid, 0, VERBS_GID_BYTES);
	gid[10] = gid[11] = 0xff;
	memcpy(gid + 12, &address, sizeof(address));
	return true;
}

static bool is_active(struct ibv_context *context, int port, struct ibv_port_attr *attributes)
{
	return ibv_query_port(context, (uint8_t)port, attributes) == 0 &&
	       attributes->state == IBV_PORT_ACTIVE;
}

/* What is looked for among devices: a name, an address, or the n-th active port. */
struct wanted {
	const struct verbs_name *name; /* NULL: any */
	const uint8_t *gid;            /* NULL: any */
	int n_before;
};

/* The port of this device that is wanted; 0: none. */
static int match(struct ibv_device *device, struct ibv_context *context, struct wanted *wanted)
{
	struct ibv_device_attr attributes;

	if (wanted->name)
		return strcmp(ibv_get_device_name(device), wanted->name->device) == 0
		               ? wanted->name->port
		               : 0;
	if (ibv_query_device(context, &attributes))
		return 0;
	for (int port = 1; port <= attributes.phys_port_cnt; port++) {
		struct ibv_port_attr state;
		uint8_t gid[VERBS_GID_BYTES];
		int index;

		if (!is_active(context, port, &state))
			continue;
		if (wanted->gid ? choose_gid(context, port, state.gid_tbl_len, wanted->gid, gid,
		                             &index) > 0
		                : wanted->n_before-- == 0)
			return port;
	}
	return 0;
}

/* The device's context, opened, and the port; 0: there is none. */
static int find_device(struct wanted *wanted, struct ibv_context **context_out,
                       struct verbs_name *name_out)
{
	int n = 0, port = 0;
	struct ibv_device **devices = ibv_get_device_list(&n);

	for (int i = 0; devices && port == 0 && i < n; i++) {
		struct ibv_context *context = ibv_open_device(devices[i]);

		if (!context)
			continue;
		port = match(devices[i], context, wanted);
		if (port == 0) {
			(void)ibv_close_device(context);
			continue;
		}
		*context_out = context;
		name_out->port = port;
		(void)snprintf(name_out->device, sizeof(name_out->device), "%s",
		               ibv_get_device_name(devices[i]));
	}
	if (devices)
		ibv_free_device_list(devices);
	return port;
}

static int say_missing(const struct wanted *wanted, const char *listen, struct err *err)
{
	if (wanted->name)
		return err_set(err, -ENODEV,
		               "no RDMA device is called %s, or this user may not open it; "
		               "ibv_devices lists what there is",
		               wanted->name->device);
	if (wanted->gid)
		return err_set(err, -ENODEV, "no RDMA port has the address %.*s",
		               (int)strcspn(listen, ":"), listen);
	return err_set(err, -ENODEV,
	               "there are too few active RDMA ports for so many rails; ibv_devinfo lists "
	               "them, --rdma-device names them");
}

/* Whether this one is it is known by its name, or by what it was chosen for. */
static struct verbs_port *find_opened(const struct verbs *verbs, const struct verbs_name *name)
{
	for (struct verbs_port *port = verbs->ports; port; port = port->next)
		if (port->name.port == name->port && strcmp(port->name.device, name->device) == 0)
			return port;
	return NULL;
}

/* Events are asked for, never waited for. */
static int prepare_context(struct verbs_port *port, const uint8_t *wanted_gid, struct err *err)
{
	int flags = fcntl(port->context->async_fd, F_GETFL);
	struct ibv_port_attr attributes;

	if (flags < 0 || fcntl(port->context->async_fd, F_SETFL, flags | O_NONBLOCK))
		return err_set(err, -errno, "the events of RDMA device %s cannot be watched: %s",
		               port->name.device, strerror(errno));
	if (ibv_query_port(port->context, (uint8_t)port->name.port, &attributes))
		return err_set(err, -ENODEV, "RDMA device %s has no port %d", port->name.device,
		               port->name.port);
	if (choose_gid(port->context, port->name.port, attributes.gid_tbl_len, wanted_gid,
	               port->gid, &port->gid_index) == 0)
		return err_set(err, -EADDRNOTAVAIL,
		               "port %d of RDMA device %s has no address; its interface has to be "
		               "up, with one of IPv4 or IPv6",
		               port->name.port, port->name.device);
	port->mtu = (int)attributes.active_mtu;
	return 0;
}

int verbs_port_find(struct verbs *verbs, int stage, int peer, int rail, const char *listen,
                    struct verbs_port **out, struct err *err)
{
	uint8_t gid[VERBS_GID_BYTES];
	struct verbs_name name = {{0}, 0};
	struct wanted wanted = {
		.name = verbs->devices ? &name : NULL,
		.gid = gid_of_address(listen, gid) ? gid : NULL,
		.n_before = rail,
	};
	struct verbs_port *port;
	struct ibv_context *context = NULL;
	int rc;

	rc = verbs->devices ? verbs_name_of(verbs->devices, rail, stage, peer, &name, err) : 0;
	if (rc)
		return rc;
	if (find_device(&wanted, &context, &name) == 0)
		return say_missing(&wanted, listen, err);
	port = find_opened(verbs, &name);
	if (port) {
		(void)ibv_close_device(context);
		*out = port;
		return 0;
	}
	port = array_new(1, sizeof(*port));
	if (!port) {
		(void)ibv_close_device(context);
		return err_set(err, -ENOMEM, "no memory for an RDMA device");
	}
	port->name = name;
	port->context = context;
	port->next = verbs->ports;
	verbs->ports = port;
	*out = port;
	return prepare_context(port, wanted.gid, err);
}

int verbs_port_prepare(struct verbs *verbs, struct verbs_port *port, struct err *err)
{
	struct ibv_device_attr attributes;
	struct verbs_limits limits;
	int rc = ibv_query_device(port->context, &attributes);

	if (rc)
		return err_set(err, -rc, "RDMA device %s does not say what it can do: %s",
		               port->name.device, strerror(rc));
	limits = (struct verbs_limits){
		.n_queue_pairs = attributes.max_qp,
		.n_requests = attributes.max_qp_wr,
		.n_completions = attributes.max_cqe,
		.n_parts = attributes.max_sge,
		.region_bytes = attributes.max_mr_size > INT64_MAX
	                                ? INT64_MAX
	                                : (int64_t)attributes.max_mr_size,
	};
	rc = verbs_size(&limits, port->n_connections, verbs->host.config.max_bytes, &port->sizes,
	                err);
	if (rc)
		return err_wrap(err, "RDMA device %s", port->name.device);
	port->domain = ibv_alloc_pd(port->context);
	port->completions = ibv_create_cq(port->context, port->sizes.n_completions, NULL, NULL, 0);
	if (!port->domain || !port->completions)
		return err_set(err, -errno, "RDMA device %s gives no %s: %s", port->name.device,
		               port->domain ? "completion queue" : "protection domain",
		               strerror(errno));
	return 0;
}

void verbs_port_close(struct verbs_port *port)
{
	if (port->completions)
		(void)ibv_destroy_cq(port->completions);
	if (port->domain)
		(void)ibv_dealloc_pd(port->domain);
	(void)ibv_close_device(port->context);
	free(port);
}

int verbs_port_gid_index(const struct verbs_port *port, int *out, struct err *err)
{
	char text[VERBS_GID_TEXT_BYTES];
	uint8_t gid[VERBS_GID_BYTES];
	struct ibv_port_attr attributes;

	if (!is_active(port->context, port->name.port, &attributes))
		return err_set(err, -ENETDOWN, "port %d of RDMA device %s is not active",
		               port->name.port, port->name.device);
	if (choose_gid(port->context, port->name.port, attributes.gid_tbl_len, port->gid, gid,
	               out) == 0)
		return err_set(err, -EADDRNOTAVAIL,
		               "port %d of RDMA device %s has lost its address %s", port->name.port,
		               port->name.device, verbs_gid_text(port->gid, text));
	return 0;
}

int verbs_port_describe(const struct verbs_port *port, struct verbs_offer *offer, struct err *err)
{
	struct ibv_port_attr attributes;
	int rc = ibv_query_port(port->context, (uint8_t)port->name.port, &attributes);

	if (rc)
		return err_set(err, -rc, "port %d of RDMA device %s does not answer: %s",
		               port->name.port, port->name.device, strerror(rc));
	offer->lid = attributes.lid;
	offer->mtu = (int)attributes.active_mtu;
	offer->n_slots = port->sizes.n_slots;
	offer->slot_bytes = port->sizes.slot_bytes;
	memcpy(offer->gid, port->gid, VERBS_GID_BYTES);
	return 0;
}

bool verbs_port_event(struct verbs_port *port, const char **sentence_out)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(port->context, &event))
		return false;
	*sentence_out = NULL;
	/* Others are counters that overflow, queue pairs that have ended, which completions say as
	 * well, or news of other ports. */
	if (event.event_type == IBV_EVENT_DEVICE_FATAL)
		*sentence_out = "the RDMA device has failed";
	else if (event.event_type == IBV_EVENT_CQ_ERR)
		*sentence_out = "the RDMA device has lost completions";
	else if (event.event_type == IBV_EVENT_PORT_ERR &&
	         event.element.port_num == port->name.port)
		*sentence_out = "the RDMA port went down";
	ibv_ack_async_event(&event);
	return true;
}
