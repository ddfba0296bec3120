/* backend_text.c - what runs a session, in words. */
#include <stdio.h>
#include <string.h>

#include "engine/cli/backend.h"
#include "reports/quantity.h"

enum { RNICS_SHOWN = 2 };

void backend_describe_gpus(const struct backend *backend, char out[BACKEND_GPUS_BYTES])
{
	const struct device_about *about = &backend->trial.about;

	if (!about->text[0])
		out[0] = '\0';
	else if (backend->n_stages > about->n_units)
		snprintf(out, BACKEND_GPUS_BYTES, "%s; %d stages share %d of them", about->text,
		         backend->n_stages, about->n_units);
	else
		snprintf(out, BACKEND_GPUS_BYTES, "%s; one for each of %d stages", about->text,
		         backend->n_stages);
}

/* " (rail 0: rxa0 port 1, …)"; nothing of what is no RNIC. */
static void describe_rnics(const struct backend *backend, char *out, size_t n_bytes)
{
	struct strbuf text = {0};

	rnics_describe(&backend->rnics, RNICS_SHOWN, &text);
	if (text.length > 0)
		snprintf(out, n_bytes, " (%s)", strbuf_text(&text));
	else
		out[0] = '\0';
	strbuf_fini(&text);
}

void backend_describe(const struct backend *backend, char *out, size_t n_bytes)
{
	char speed[QUANTITY_BYTES], gpus[BACKEND_GPUS_BYTES];
	char rnics[256];

	backend_describe_gpus(backend, gpus);
	describe_rnics(backend, rnics, sizeof(rnics));
	if (backend->is_live)
		snprintf(
			out, n_bytes,
			"real time, %s; device %s%s%s%s, transport %s%s%s%s; delegates %s; lab %s; "
			"injector %s%s%s",
			quantity_speed(backend->speed, speed), backend->device->name,
			gpus[0] ? " (" : "", gpus, gpus[0] ? ")" : "",
			backend_transport_name(backend), rnics,
			backend->stream_text[0] ? "; stream plane: " : "", backend->stream_text,
			backend->delegates_text, backend->lab ? backend->lab->name : "none",
			backend->applies,
			backend->lab                ? ": "
			: backend->occupies_streams ? ": in front of sends"
						    : " (others act on the hosts of a lab: "
						      "--lab netns)",
			backend->applies_text);
	else
		snprintf(out, n_bytes,
		         "virtual time; device virtual, transport virtual, injector virtual");
}

const char *backend_transport_name(const struct backend *backend)
{
	if (!backend->is_live)
		return "virtual";
	return backend->exchange ? backend->exchange->name : backend->transports;
}

enum record_timer backend_timer(const struct backend *backend)
{
	if (!backend->is_live)
		return TIMER_VIRTUAL;
	return strcmp(backend->trial.timer, "cuda_event") == 0 ? TIMER_CUDA_EVENT : TIMER_HOST;
}
