/* checkpoint.c - checkpoints: a header, the parameters, both moments, and a checksum over it all.
 *
 * The header says all that the numbers behind it depend on, and is compared as a whole. Numbers are
 * as this machine writes them; a mark in the header tells a foreign byte order. */
#include "engine/model/checkpoint.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "engine/base/file.h"
#include "engine/base/units.h"
#include "engine/model/checkpoint_internal.h"
#include "engine/model/corpus.h"
#include "engine/model/stage_internal.h"

/* format grows with any change of the layout or of what the model computes. */
struct header {
	char magic[8];
	uint32_t format;
	uint32_t byte_order;
	int32_t stage, replica, iteration;
	int32_t n_stages, n_layers, n_embedding, n_heads, n_tokens, n_samples, n_microbatches;
	uint64_t seed;
	double learning_rate;
	uint64_t corpus_digest;
	uint64_t n_floats; /* of each part */
	int64_t n_steps;   /* the only one that is news to who loads it */
};

_Static_assert(sizeof(struct header) == 96, "a header has no bytes that nobody sets");

enum { FORMAT = 1, N_PARTS = 3, CHECKSUM_BYTES = sizeof(uint64_t) };

static struct header header_of(const struct model_stage *model, int replica, int iteration)
{
	const struct model_config *config = &model->config;

	return (struct header){
		.magic = "adaptra",
		.format = FORMAT,
		.byte_order = 0x01020304,
		.stage = model->stage,
		.replica = replica,
		.iteration = iteration,
		.n_stages = config->n_stages,
		.n_layers = config->n_layers,
		.n_embedding = config->n_embedding,
		.n_heads = config->n_heads,
		.n_tokens = config->n_tokens,
		.n_samples = config->n_samples,
		.n_microbatches = config->n_microbatches,
		.seed = config->seed,
		.learning_rate = config->learning_rate,
		.corpus_digest = corpus_digest(),
		.n_floats = model->layout.n_floats,
		.n_steps = model->n_steps,
	};
}

static size_t part_bytes(const struct model_stage *model)
{
	return model->layout.n_floats * sizeof(float);
}

static size_t checkpoint_bytes(const struct model_stage *model)
{
	return sizeof(struct header) + N_PARTS * part_bytes(model) + CHECKSUM_BYTES;
}

static uint64_t checksum_of(const char *bytes, size_t n_bytes)
{
	return XXH3_64bits(bytes, n_bytes - CHECKSUM_BYTES);
}

static int fill(const struct model_stage *model, const struct header *header, char *out,
                struct err *err)
{
	const float *const parts[N_PARTS] = {model->parameters, model->first_moments,
	                                     model->second_moments};
	const size_t bytes = part_bytes(model);
	char *end = out;
	uint64_t checksum;
	int rc = 0;

	end = mempcpy(end, header, sizeof(*header));
	for (int i = 0; rc == 0 && i < N_PARTS; i++, end += bytes)
		rc = arithmetic_fetch(model->arithmetic, end, parts[i], bytes, err);
	if (rc)
		return rc;
	checksum = checksum_of(out, checkpoint_bytes(model));
	memcpy(end, &checksum, sizeof(checksum));
	return 0;
}

/* A full disk, a quota, a limit on the size of files. */
static bool has_no_space(int rc)
{
	return rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG;
}

static int write_checkpoint(const struct model_stage *model, const struct header *header,
                            const char *path, struct err *err)
{
	const size_t n_bytes = checkpoint_bytes(model);
	char *bytes = malloc(n_bytes), size[UNITS_TEXT_BYTES];
	int rc;

	if (!bytes)
		return err_set(err, -ENOMEM, "out of memory for the checkpoint '%s'", path);
	rc = fill(model, header, bytes, err);
	rc = rc ? rc : file_write(path, bytes, n_bytes, err);
	free(bytes);
	if (!has_no_space(rc))
		return rc;
	return err_set(err, -ENOSPC,
	               "no space is left for the checkpoint '%s', which takes %s; those before it "
	               "are kept",
	               path, units_format_size((int64_t)n_bytes, size));
}

static int check_iteration(const struct model_stage *model, int replica, int iteration,
                           struct err *err)
{
	if (replica >= 0 && iteration >= 0)
		return 0;
	return err_set(err, -EINVAL, "no checkpoint of stage %d, replica %d, iteration %d can be",
	               model->stage, replica, iteration);
}

int checkpoint_save(const struct model_stage *model, const char *folder, int replica, int iteration,
                    struct err *err)
{
	const struct checkpoint_owner owner = {folder, model->stage, replica};
	const struct header header = header_of(model, replica, iteration);
	char *path;
	int rc = check_iteration(model, replica, iteration, err);

	if (rc)
		return rc;
	if (model->n_done[MODEL_FORWARD] > 0)
		return err_set(err, -EPERM,
		               "stage %d is inside iteration %d; a checkpoint is taken between two",
		               model->stage, iteration);
	rc = checkpoint_remove(&owner, 0, err);
	if (rc)
		return rc;
	path = checkpoint_path(&owner, iteration);
	if (!path)
		return err_set(err, -ENOMEM, "out of memory for a checkpoint in '%s'", folder);
	rc = write_checkpoint(model, &header, path, err);
	if (!rc)
		rc = checkpoint_sync_folder(folder, err);
	free(path);
	return rc;
}

static int check_header(const struct header *found, const struct header *wanted, const char *path,
                        struct err *err)
{
	if (found->format != wanted->format)
		return err_set(err, -EBADMSG, "'%s' has format %u; this program reads %u", path,
		               found->format, wanted->format);
	if (memcmp(found, wanted, offsetof(struct header, n_steps)) != 0)
		return err_set(err, -EBADMSG,
		               "'%s' is of another model, seed, corpus, stage or iteration; "
		               "start from iteration 0 or from a folder of this run",
		               path);
	return 0;
}

/* Nothing behind the first lines is believed before the checksum. */
static int check_bytes(const struct header *wanted, const char *bytes, size_t n_bytes,
                       const char *path, struct err *err)
{
	struct header found;
	uint64_t checksum;
	int rc;

	if (n_bytes < sizeof(found) + CHECKSUM_BYTES ||
	    memcmp(bytes, wanted->magic, sizeof(wanted->magic)) != 0)
		return err_set(err, -EBADMSG, "'%s' is no checkpoint, or torn after %zu bytes",
		               path, n_bytes);
	memcpy(&checksum, bytes + n_bytes - CHECKSUM_BYTES, CHECKSUM_BYTES);
	if (checksum != checksum_of(bytes, n_bytes))
		return err_set(err, -EBADMSG,
		               "'%s' is torn or damaged: its checksum does not hold; use an "
		               "earlier checkpoint",
		               path);
	memcpy(&found, bytes, sizeof(found));
	rc = check_header(&found, wanted, path, err);
	if (!rc &&
	    n_bytes != sizeof(found) + N_PARTS * found.n_floats * sizeof(float) + CHECKSUM_BYTES)
		rc = err_set(err, -EBADMSG, "'%s' has %zu bytes, which its header denies", path,
		             n_bytes);
	return rc;
}

static int take(struct model_stage *model, const char *bytes, struct err *err)
{
	float *const parts[N_PARTS] = {model->parameters, model->first_moments,
	                               model->second_moments};
	const size_t n_bytes = part_bytes(model);
	struct header header;
	int rc = 0;

	memcpy(&header, bytes, sizeof(header));
	bytes += sizeof(header);
	for (int i = 0; rc == 0 && i < N_PARTS; i++, bytes += n_bytes)
		rc = arithmetic_store(model->arithmetic, parts[i], bytes, n_bytes, err);
	if (rc)
		return rc;
	model->n_steps = header.n_steps;
	return model_abandon(model, err);
}

/* A pipe of this name would be read for ever. */
static int check_kind(const char *path, size_t limit_bytes, struct err *err)
{
	struct stat about;

	if (stat(path, &about))
		return err_set(err, -errno, "no checkpoint '%s': %s", path, strerror(errno));
	if (!S_ISREG(about.st_mode) || (uint64_t)about.st_size > limit_bytes)
		return err_set(err, -EBADMSG,
		               "'%s' is no file, or longer than a checkpoint of this model, which "
		               "has %zu bytes",
		               path, limit_bytes);
	return 0;
}

static int load(struct model_stage *model, const struct header *wanted, const char *path,
                struct err *err)
{
	const size_t limit_bytes = checkpoint_bytes(model);
	size_t n_bytes = 0;
	char *bytes = NULL;
	int rc = check_kind(path, limit_bytes, err);

	if (!rc)
		rc = file_read(path, limit_bytes, &bytes, &n_bytes, err);
	if (rc)
		return rc;
	rc = check_bytes(wanted, bytes, n_bytes, path, err);
	if (!rc)
		rc = take(model, bytes, err);
	free(bytes);
	return rc;
}

int checkpoint_load(struct model_stage *model, const char *folder, int replica, int iteration,
                    struct err *err)
{
	const struct checkpoint_owner owner = {folder, model->stage, replica};
	const struct header wanted = header_of(model, replica, iteration);
	char *path;
	int rc = check_iteration(model, replica, iteration, err);

	if (rc)
		return rc;
	path = checkpoint_path(&owner, iteration);
	if (!path)
		return err_set(err, -ENOMEM, "out of memory for a checkpoint in '%s'", folder);
	rc = load(model, &wanted, path, err);
	free(path);
	return rc;
}

int checkpoint_prune(const struct model_stage *model, const char *folder, int replica,
                     int iteration, struct err *err)
{
	const struct checkpoint_owner owner = {folder, model->stage, replica};

	return checkpoint_remove(&owner, iteration, err);
}
