/* tap.c - interfaces whose packets a process takes, and packets that a process sends. */
#include "injectors/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "injectors/namespace.h"

/* What may wait in a sender, which hands everything on at once: never decisive. */
enum { SENDER_BYTES = 4 << 20 };

static int close_with(int fd, int code)
{
	close(fd);
	return code;
}

/* Without a header in front of the frame: the kernel fills in checksums then. */
static int fetch_tap(void *name)
{
	/* The highest of the flags is the sign of the short integer that holds them. */
	struct ifreq request = {.ifr_flags = (short)(IFF_TAP | IFF_NO_PI | IFF_TUN_EXCL)};
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	memcpy(request.ifr_name, name, strlen(name) + 1);
	return ioctl(fd, TUNSETIFF, &request) ? close_with(fd, -errno) : fd;
}

static int fetch_sender(void *index)
{
	static const int on = 1, room = SENDER_BYTES;
	/* Protocol 0: it receives nothing. */
	struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_ifindex = *(int *)index};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)))
		return close_with(fd, -errno);
	/* The usual room is enough for all but many large packets at once. */
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	return fd;
}

int tap_open(int namespace_fd, const char *name, int *fd_out, struct err *err)
{
	int rc;

	if (strlen(name) >= IFNAMSIZ)
		return err_set(err, -EINVAL, "'%s' is too long for an interface", name);
	rc = namespace_fetch(namespace_fd, fetch_tap, (void *)name, fd_out);
	if (rc == -ENOENT || rc == -ENXIO || rc == -ENODEV)
		return err_set(err, -ENOENT,
		               "/dev/net/tun is not here; load the kernel's module tun, or use "
		               "the shaped injector");
	if (rc == -EACCES)
		return err_set(err, -EPERM, "/dev/net/tun may not be opened by this user");
	if (rc)
		return err_set(err, rc, "cannot make the interface '%s': %s", name, strerror(-rc));
	return 0;
}

int tap_open_sender(int namespace_fd, int interface_index, int *fd_out, struct err *err)
{
	int rc = namespace_fetch(namespace_fd, fetch_sender, &interface_index, fd_out);

	if (rc)
		return err_set(err, rc, "cannot send packets over interface %d: %s",
		               interface_index, strerror(-rc));
	return 0;
}
