#include "bench/cublas.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum {
#define SMMA_CUBLAS_TYPE(name, type)
#define SMMA_CUBLAS_CONSTANT(name, value) name = value,
#define SMMA_CUBLAS_FUNCTION(result, member, name, parameters)
#include "bench/cublas.def"
#undef SMMA_CUBLAS_CONSTANT
#undef SMMA_CUBLAS_FUNCTION
};

static const char *const usual_names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so",
                                          "/usr/local/cuda/lib64/libcublas.so"};

/* ---- The library ---- */

static void *open_library(const char *path, smma_error *error) {
  void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (path && !library) smma_fail(error, "%s", dlerror());
  if (path) return library;
  for (size_t i = 0; i < sizeof usual_names / sizeof *usual_names && !library; i++)
    library = dlopen(usual_names[i], RTLD_NOW | RTLD_LOCAL);
  if (!library) smma_fail(error, "cuBLAS (libcublas.so) is not installed; it is part of CUDA's toolkit");
  return library;
}

/* Finds a symbol of cuBLAS, or of cublasLt, which cuBLAS depends on. */
static bool find(void *library, const char *name, void *function, smma_error *error) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol || smma_fail(error, "no %s in it, so this is no cuBLAS of CUDA 12 or later", name);
}

static bool done(cublasStatus_t status, const char *what, smma_error *error) {
  return status == CUBLAS_STATUS_SUCCESS || smma_fail(error, "cuBLAS: %s: status %d", what, status);
}

bool smma_cublas_load(const char *path, const smma_device *device, smma_cublas *cublas, smma_error *error) {
  void *library = open_library(path, error);
  char message[SMMA_DEVICE_MESSAGE];
  unsigned version;
  *cublas = (smma_cublas){.device = device};
  if (!library) return false;
#define SMMA_CUBLAS_CONSTANT(name, value)
#define SMMA_CUBLAS_FUNCTION(result, member, name, parameters) \
  if (!find(library, #name, &cublas->member, error)) return false;
#include "bench/cublas.def"
  version = (unsigned)cublas->version();
  snprintf(cublas->name, sizeof cublas->name, "cuBLAS %u.%u.%u", version / 10000, version / 100 % 100, version % 100);
  /* cuBLAS starts on the device that this thread has used last. */
  if (!device->driver->wait(device->state, message)) return smma_fail(error, "%s", message);
  return done(cublas->create(&cublas->handle), "it does not start", error);
}

/* ---- Products ---- */

static bool type_of(smma_format format, cudaDataType_t *type) {
  switch (format) {
    case SMMA_F64: *type = CUDA_R_64F; return true;
    case SMMA_F32:
    case SMMA_TF32: *type = CUDA_R_32F; return true;
    case SMMA_F16: *type = CUDA_R_16F; return true;
    case SMMA_BF16: *type = CUDA_R_16BF; return true;
    case SMMA_E4M3: *type = CUDA_R_8F_E4M3; return true;
    case SMMA_E5M2: *type = CUDA_R_8F_E5M2; return true;
    case SMMA_S8: *type = CUDA_R_8I; return true;
    default: return false;
  }
}

static bool formats_of(smma_format a, smma_format b, smma_cublas_formats *formats) {
  const bool fp8 = (a == SMMA_E4M3 || a == SMMA_E5M2) && (b == SMMA_E4M3 || b == SMMA_E5M2);
  *formats = (smma_cublas_formats){.d = CUDA_R_32F, .scalar = CUDA_R_32F, .compute = CUBLAS_COMPUTE_32F, .light = fp8};
  if (a == SMMA_TF32) formats->compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  if (a == SMMA_F64) formats->d = formats->scalar = CUDA_R_64F, formats->compute = CUBLAS_COMPUTE_64F;
  if (a == SMMA_S8) formats->d = formats->scalar = CUDA_R_32I, formats->compute = CUBLAS_COMPUTE_32I;
  return (a == b || fp8) && type_of(a, &formats->a) && type_of(b, &formats->b);
}

/* alpha or beta of a product, in the product's compute type. */
typedef union {
  float f32;
  double f64;
  int32_t s32;
} scalar;

static scalar scalar_of(cudaDataType_t type, int value) {
  if (type == CUDA_R_64F) return (scalar){.f64 = value};
  if (type == CUDA_R_32I) return (scalar){.s32 = value};
  return (scalar){.f32 = (float)value};
}

/* cuBLAS's matrices are column-major, so it computes D^T = B^T A^T. B is passed as N x K, with the elements along K
   contiguous, because FP8 requires this. The numbers are random, so no transposition is needed. */
static cublasStatus_t multiply(const smma_cublas_product *p) {
  const smma_cublas_formats *f = &p->formats;
  const scalar one = scalar_of(f->scalar, 1), zero = scalar_of(f->scalar, 0);
  if (f->light)
    return p->by->multiply(p->by->light, p->description, &one, p->b, p->layout[0], p->a, p->layout[1], &zero, p->d,
                           p->layout[2], p->d, p->layout[2], NULL, NULL, 0, NULL);
  return p->by->gemm(p->by->handle, CUBLAS_OP_T, CUBLAS_OP_N, (int)p->n, (int)p->m, (int)p->k, &one, p->b, f->b,
                     (int)p->k, p->a, f->a, (int)p->k, &zero, p->d, f->d, (int)p->n, f->compute, CUBLAS_GEMM_DEFAULT);
}

static bool describe(smma_cublas_product *p, smma_error *error) {
  static const char what[] = "a product cannot be described";
  const smma_cublas *c = p->by;
  const smma_cublas_formats *f = &p->formats;
  const int32_t transposed = CUBLAS_OP_T;
  return (c->light || done(c->create_light(&p->by->light), "cublasLt does not start", error)) &&
         done(c->describe(&p->description, f->compute, f->scalar), what, error) &&
         done(c->set(p->description, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed), what, error) &&
         done(c->lay_out(&p->layout[0], f->b, p->k, p->n, (int64_t)p->k), what, error) &&
         done(c->lay_out(&p->layout[1], f->a, p->k, p->m, (int64_t)p->k), what, error) &&
         done(c->lay_out(&p->layout[2], f->d, p->n, p->m, (int64_t)p->n), what, error);
}

bool smma_cublas_takes(smma_format a, smma_format b) {
  smma_cublas_formats formats;
  return formats_of(a, b, &formats);
}

/* Allocates memory on the device and copies the numbers to it, if `from` is not NULL. */
static void *upload(const smma_cublas *c, size_t bytes, const void *from, char message[SMMA_DEVICE_MESSAGE]) {
  const smma_driver *driver = c->device->driver;
  void *buffer = driver->allocate(c->device->state, bytes, message);
  if (!buffer || !from || driver->write(c->device->state, buffer, from, bytes, message)) return buffer;
  driver->release(c->device->state, buffer);
  return NULL;
}

bool smma_cublas_prepare(smma_cublas *cublas, const smma_tensor *a, const smma_tensor *b, smma_cublas_product *p,
                         smma_error *error) {
  char message[SMMA_DEVICE_MESSAGE] = "";
  double seconds;
  size_t d_bytes = a->rows * b->columns;
  *p = (smma_cublas_product){.by = cublas, .m = a->rows, .n = b->columns, .k = a->columns};
  if (!formats_of(a->format, b->format, &p->formats)) return smma_fail(error, "cuBLAS has no such formats");
  d_bytes *= p->formats.d == CUDA_R_64F ? sizeof(double) : sizeof(float);
  p->a = upload(cublas, a->rows * a->columns * (size_t)a->bytes, a->data, message);
  p->b = p->a ? upload(cublas, b->rows * b->columns * (size_t)b->bytes, b->data, message) : NULL;
  p->d = p->b ? upload(cublas, d_bytes, NULL, message) : NULL;
  if (!p->d) smma_fail(error, "%s", message);
  if (p->d && (!p->formats.light || describe(p, error)) && smma_cublas_run(p, &seconds, error)) return true;
  smma_cublas_release(p);
  return false;
}

bool smma_cublas_run(const smma_cublas_product *p, double *seconds, smma_error *error) {
  const smma_device *device = p->by->device;
  char message[SMMA_DEVICE_MESSAGE];
  if (!device->driver->start_clock(device->state, message)) return smma_fail(error, "%s", message);
  if (!done(multiply(p), "it has no such product", error)) return false;
  return device->driver->stop_clock(device->state, seconds, message) || smma_fail(error, "%s", message);
}

void smma_cublas_release(smma_cublas_product *p) {
  if (!p->by) return;
  for (void **buffer[] = {&p->a, &p->b, &p->d}, ***each = buffer; each < buffer + 3; each++)
    p->by->device->driver->release(p->by->device->state, **each);
  *p = (smma_cublas_product){0};
}
