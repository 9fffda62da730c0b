#include <stdio.h>
#include <string.h>

#include "isa/catalogue.h"

const char *smma_model_name(const smma_rule *rule) {
  switch (rule->algorithm) {
    case SMMA_FMA: return "FMA";
    case SMMA_T_FDPA: return "T-FDPA";
    case SMMA_ST_FDPA: return "ST-FDPA";
    case SMMA_GST_FDPA: return "GST-FDPA";
    case SMMA_E_FDPA: return "E-FDPA";
    case SMMA_FTZ_ADDMUL: return "FTZ-AddMul";
    case SMMA_TR_FDPA: return "TR-FDPA";
    case SMMA_GTR_FDPA: return "GTR-FDPA";
    case SMMA_FP8_BY_FP16: return "FP8-by-FP16";
    case SMMA_FTZ_FMA: return "FTZ-FMA";
  }
  return "";
}

typedef struct {
  const char *name;
  int number;
  const char *text; /* instead of the number, if not NULL */
} parameter;

static const char *rounding_text(const smma_t_fdpa *p) {
  if (p->output == SMMA_FORMAT_e8m13) return "RZ-E8M13";
  if (p->output == SMMA_FORMAT_f16) return "RNE-FP16";
  return p->rounding == SMMA_TOWARD_ZERO ? "RZ-FP32" : "RNE-FP32";
}

/* Fills `list` and returns the number of parameters. */
static int parameters_of(const smma_rule *rule, parameter list[6]) {
  const smma_t_fdpa *fused = rule->algorithm == SMMA_GST_FDPA ? &rule->with.gst_fdpa.fused : &rule->with.t_fdpa;
  const smma_tr_fdpa *tr = &rule->with.tr_fdpa;
  int n = 0;
  switch (rule->algorithm) {
    case SMMA_GST_FDPA:
      list[n++] = (parameter){"G", rule->with.gst_fdpa.group, NULL};
      list[n++] = (parameter){"F", fused->alignment_bits, NULL};
      list[n++] = (parameter){"rho", 0, rounding_text(fused)};
      list[n++] = (parameter){"e_zero", fused->zero_exponent, NULL};
      break;
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
    case SMMA_FP8_BY_FP16:
      list[n++] = (parameter){"F", fused->alignment_bits, NULL};
      list[n++] = (parameter){"L", fused->block, NULL};
      list[n++] = (parameter){"rho", 0, rounding_text(fused)};
      list[n++] = (parameter){"e_zero", fused->zero_exponent, NULL};
      break;
    case SMMA_E_FDPA: list[n++] = (parameter){"L", rule->with.e_fdpa.block, NULL}; break;
    case SMMA_FTZ_ADDMUL: list[n++] = (parameter){"P", rule->with.ftz_addmul.pairwise, NULL}; break;
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA:
      list[n++] = (parameter){"F", tr->alignment_bits, NULL};
      list[n++] = (parameter){"F2", tr->sum_bits, NULL};
      list[n++] = (parameter){"L", tr->block, NULL};
      list[n++] = (parameter){"revision", tr->revision, NULL};
      break;
    case SMMA_FTZ_FMA: list[n++] = (parameter){"order", 0, "descending"}; break;
    case SMMA_FMA: list[n++] = (parameter){"order", 0, "ascending"}; break;
  }
  return n;
}

bool smma_parameter(const smma_rule *rule, int i, const char **name, char *value, size_t size) {
  parameter list[6];
  if (i >= parameters_of(rule, list)) return false;
  *name = list[i].name;
  if (list[i].text)
    snprintf(value, size, "%s", list[i].text);
  else
    snprintf(value, size, "%d", list[i].number);
  return true;
}
