/* cuda_arithmetic.c - computes on a stream of a GPU; a failure is one of the device. */
#include <errno.h>

#include "engine/device/cuda_kernels.h"
#include "engine/device/cuda_ops_internal.h"

static struct cuda_arithmetic *own(struct arithmetic *arithmetic)
{
	return (struct cuda_arithmetic *)arithmetic;
}

/* What is issued counts for the stream, also outside device_launch(). False: nothing goes any more.
 */
static bool begin_issue(struct cuda_arithmetic *self)
{
	self->queue->is_busy = true;
	self->queue->n_issued++;
	return self->cuda->error.code == 0;
}

static void *on_memory(struct arithmetic *arithmetic, void *memory, size_t n_bytes, bool is_host)
{
	return cuda_memory(&own(arithmetic)->cuda->base, memory, n_bytes, is_host);
}

static void on_copy(struct arithmetic *arithmetic, void *to, const void *from, size_t n_bytes)
{
	struct cuda_arithmetic *self = own(arithmetic);

	if (n_bytes > 0 && begin_issue(self))
		(void)cuda_check(self->cuda,
		                 cudaMemcpyAsync(to, from, n_bytes, cudaMemcpyDefault,
		                                 self->queue->stream),
		                 "copy", NULL);
}

static void on_run(struct arithmetic *arithmetic, const struct work *work)
{
	struct cuda_arithmetic *self = own(arithmetic);

	if (begin_issue(self))
		(void)cuda_check(self->cuda, cuda_kernels_run(work, self->queue->stream),
		                 "start a kernel", NULL);
}

static void check_blas(struct cuda_arithmetic *self, cublasStatus_t status)
{
	struct cuda *cuda = self->cuda;

	if (status != CUBLAS_STATUS_SUCCESS && !cuda->error.code)
		(void)err_set(&cuda->error, -EIO, "the GPU cannot multiply matrices: %s",
		              cuda->blas.status_string(status));
}

static void on_multiply(struct arithmetic *arithmetic, const struct product *product)
{
	struct cuda_arithmetic *self = own(arithmetic);
	const struct cuda_blas *blas = &self->cuda->blas;

	if (!begin_issue(self))
		return;
	if (!self->handle)
		check_blas(self, cuda_blas_open(blas, self->queue->stream, &self->handle));
	if (self->handle)
		check_blas(self, cuda_blas_multiply(blas, self->handle, product));
}

static int on_check(struct arithmetic *arithmetic, struct err *err)
{
	return cuda_report(own(arithmetic)->cuda, err);
}

/* The thread sleeps meanwhile: an event of its own, for which a stream's own waiting would spin. */
static int on_wait(struct arithmetic *arithmetic, struct err *err)
{
	struct cuda_arithmetic *self = own(arithmetic);
	cudaError_t status = cudaSuccess;
	int rc = cuda_report(self->cuda, err);

	if (rc)
		return rc;
	if (!self->awaited)
		status = cudaEventCreateWithFlags(&self->awaited, cudaEventBlockingSync);
	if (status == cudaSuccess)
		status = cudaEventRecord(self->awaited, self->queue->stream);
	if (status == cudaSuccess)
		status = cudaEventSynchronize(self->awaited);
	return cuda_check(self->cuda, status, "end what it computes", err);
}

static const struct arithmetic_ops ops = {
	.name = "cuda",
	.memory = on_memory,
	.copy = on_copy,
	.run = on_run,
	.multiply = on_multiply,
	.check = on_check,
	.wait = on_wait,
};

void cuda_arithmetic_init(struct cuda_arithmetic *arithmetic, struct cuda *cuda,
                          struct cuda_queue *queue)
{
	*arithmetic = (struct cuda_arithmetic){.base = {&ops}, .cuda = cuda, .queue = queue};
}

/* Nothing can be done about what fails here. */
void cuda_arithmetic_fini(struct cuda_arithmetic *arithmetic)
{
	if (arithmetic->handle)
		(void)arithmetic->cuda->blas.destroy(arithmetic->handle);
	if (arithmetic->awaited)
		(void)cudaEventDestroy(arithmetic->awaited);
}
