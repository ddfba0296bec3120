/* namespace_find.c - tells network namespaces apart and finds one among those that are in use.
 *
 * Somebody is in a namespace (the link ns/net of a thread) or holds a file descriptor of it; /proc
 * shows both. Its inode is compared first, since asking for the cookie takes a child process. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "injectors/namespace.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

enum { PATH_BYTES = 600 }; /* two names of a folder and a few words */

static int cookie_of(int fd, uint64_t *cookie_out, struct err *err)
{
	socklen_t n_bytes = sizeof(*cookie_out);
	int channel, rc;

	rc = namespace_socket(fd, NETLINK_ROUTE, &channel, err);
	if (rc)
		return rc;
	if (getsockopt(channel, SOL_SOCKET, SO_NETNS_COOKIE, cookie_out, &n_bytes))
		rc = err_set(err, -ENOTSUP,
		             "this kernel does not tell network namespaces apart; 5.14 or later "
		             "does");
	close(channel);
	return rc;
}

static int inode_of(int fd, uint64_t *inode_out)
{
	struct stat status;
	int rc = fd == NAMESPACE_OWN ? stat("/proc/thread-self/ns/net", &status)
	                             : fstat(fd, &status);

	if (rc)
		return -errno;
	*inode_out = status.st_ino;
	return 0;
}

int namespace_identify(int fd, struct namespace_id *out, struct err *err)
{
	struct namespace_id id;
	int rc = inode_of(fd, &id.inode);

	if (rc)
		return err_set(err, rc, "cannot look at a network namespace: %s", strerror(-rc));
	rc = cookie_of(fd, &id.cookie, err);
	if (rc)
		return rc;
	*out = id;
	return 0;
}

/* A file descriptor of path if that is the namespace, else -1. */
static int open_if(const char *path, const struct namespace_id *id)
{
	struct namespace_id found;
	struct stat status;
	int fd;

	if (stat(path, &status) || status.st_ino != id->inode)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!namespace_identify(fd, &found, NULL) && namespace_is_same(&found, id))
		return fd;
	close(fd);
	return -1;
}

/* Only links to namespaces are opened: another file might block, or have effects. */
static bool is_namespace(const char *path)
{
	char target[8];
	ssize_t n = readlink(path, target, sizeof(target));

	return n >= 5 && memcmp(target, "net:[", 5) == 0;
}

/* Try folder/NAME/suffix for every name there. */
static int find_below(const char *folder, const char *suffix, const struct namespace_id *id)
{
	DIR *names = opendir(folder);
	struct dirent *entry;
	int fd = -1;

	if (!names)
		return -1;
	while (fd < 0 && (entry = readdir(names))) {
		char path[PATH_BYTES];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s%s", folder, entry->d_name, suffix);
		if (is_namespace(path))
			fd = open_if(path, id);
	}
	closedir(names);
	return fd;
}

static int find_in_process(const char *pid, const struct namespace_id *id)
{
	char folder[PATH_BYTES];
	int fd;

	snprintf(folder, sizeof(folder), "/proc/%s/task", pid);
	fd = find_below(folder, "/ns/net", id);
	if (fd >= 0)
		return fd;
	snprintf(folder, sizeof(folder), "/proc/%s/fd", pid);
	return find_below(folder, "", id);
}

int namespace_find(const struct namespace_id *id, int *fd_out, struct err *err)
{
	int fd = open_if("/proc/thread-self/ns/net", id);
	DIR *processes = fd < 0 ? opendir("/proc") : NULL;
	struct dirent *entry;

	while (fd < 0 && processes && (entry = readdir(processes)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			fd = find_in_process(entry->d_name, id);
	if (processes)
		closedir(processes);
	if (fd < 0)
		return err_set(err, -ENOENT, "network namespace %llu is gone",
		               (unsigned long long)id->inode);
	*fd_out = fd;
	return 0;
}
