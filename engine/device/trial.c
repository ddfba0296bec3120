/* trial.c - opens a device in a child, which tells over a pipe what it has found. */
#include "engine/device/trial.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct result {
	int rc;
	struct err err;
	struct device_trial trial;
	struct device_probe probe;
};

static void try_it(const struct device_ops *ops, const struct device_config *config,
                   struct result *out)
{
	struct device *device = NULL;

	out->rc = ops->open(config, &device, &out->err);
	if (out->rc)
		return;
	snprintf(out->trial.timer, sizeof(out->trial.timer), "%s", device->timer);
	out->trial.about = device->about;
	if (out->probe.ask)
		out->probe.rc = out->probe.ask(device, out->probe.context, &out->probe.err);
	device_close(device);
}

/* Less than PIPE_BUF, so it is written at once. */
_Static_assert(sizeof(struct result) < 4096, "a result goes through a pipe as one");

_Noreturn static void run_child(const struct device_ops *ops, const struct device_config *config,
                                const struct device_probe *probe, int descriptor)
{
	struct result result = {0};

	if (probe)
		result.probe = *probe;
	try_it(ops, config, &result);
	_exit(write(descriptor, &result, sizeof(result)) == (ssize_t)sizeof(result) ? 0 : 1);
}

static int read_result(int descriptor, struct result *out)
{
	ssize_t n_read;

	do
		n_read = read(descriptor, out, sizeof(*out));
	while (n_read < 0 && errno == EINTR);
	return n_read == (ssize_t)sizeof(*out) ? 0 : -EIO;
}

static void await(pid_t child)
{
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

int device_try(const struct device_ops *ops, const struct device_config *config,
               struct device_probe *probe, struct device_trial *out, struct err *err)
{
	struct result result = {0};
	int ends[2], rc;
	pid_t child;

	if (pipe(ends))
		return err_set(err, -errno, "device %s cannot be tried: %s", ops->name,
		               strerror(errno));
	child = fork();
	if (child == 0)
		run_child(ops, config, probe, ends[1]);
	rc = child < 0 ? -errno : 0;
	(void)close(ends[1]);
	if (child > 0) {
		rc = read_result(ends[0], &result);
		await(child);
	}
	(void)close(ends[0]);
	if (rc)
		return err_set(err, rc, "device %s ended the process that tried it", ops->name);
	if (result.rc)
		return err_set(err, result.rc, "%s", result.err.text);
	*out = result.trial;
	if (probe)
		*probe = result.probe;
	return 0;
}
