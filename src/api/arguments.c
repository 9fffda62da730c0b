/* The arguments of a product: their defaults, their copy, and the kernel that they choose. */
#include "api/multiplier.h"
#include "device/device.h"
#include "gemm/kernel.h"
#include "host/error.h"
#include "host/sized.h"
#include "isa/catalogue.h"

static const char *no_kernel(smma_error *error, const char *why) {
  smma_set_error(error, SMMA_NO_KERNEL, "%s", why);
  return NULL;
}

/* Kernels exist, and are tested, for the operations of the catalogue. A custom unit uses the core unless an instruction
   of the catalogue computes the same bits. The NaN of SMMA_NAN_QUIET, for units whose NaN is not known, and of
   SMMA_NAN_DEFAULT have the same bits. */
static bool has_kernels(const smma_instruction *i) {
  smma_named_rule rule = *i->rule;
  smma_instruction other = *i;
  if (!i->origin || smma_catalogue_twin(i)) return true;
  other.rule = &rule;
  switch (i->rule->rule.nan) {
    case SMMA_NAN_QUIET: rule.rule.nan = SMMA_NAN_DEFAULT; break;
    case SMMA_NAN_DEFAULT: rule.rule.nan = SMMA_NAN_QUIET; break;
    default: return false;
  }
  return smma_catalogue_twin(&other);
}

const char *smma_kernel_for(const smma_instruction *i, const char *kernel, smma_error *error) {
  smma_operation o;
  const smma_kernel_family *family;
  const char *name;
  char message[SMMA_DEVICE_MESSAGE];
  smma_clear_error(error);
  if (!i) return smma_set_error(error, SMMA_INVALID_ARGUMENT, "the instruction is missing"), NULL;
  if (smma_is_device_name(kernel)) return smma_device_open(kernel, message) ? kernel : no_kernel(error, message);
  o = smma_operation_of(i);
  if (!smma_choose_kernel(&o, kernel, &family, &name)) return no_kernel(error, smma_status_text(SMMA_NO_KERNEL));
  return has_kernels(i) ? name : "core";
}

static const smma_gemm_arguments gemm_defaults = {.alpha = 1, .beta = 1, .scale_d = 1};

void smma_gemm_defaults(smma_gemm_arguments *g, size_t size) {
  smma_give_defaults(g, size, &gemm_defaults, sizeof gemm_defaults);
}

smma_status smma_take_arguments(const smma_gemm_arguments *given, smma_gemm_arguments *own) {
  smma_status status;
  *own = gemm_defaults;
  status = smma_take_struct(given, own, sizeof *own);
  smma_clear_error(own->error);
  return smma_end_error(own->error, status);
}
