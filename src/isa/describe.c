#include <stdio.h>
#include <string.h>

#include "isa/ascii.h"
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
    case SMMA_INTEGER: return "INTEGER";
    case SMMA_G_FDPA: return "G-FDPA";
  }
  return "";
}

const char *smma_rounding_name(smma_rounding direction) {
  switch (direction) {
    case SMMA_ROUND_NEAREST_EVEN: return "RNE";
    case SMMA_ROUND_TOWARD_ZERO: return "RZ";
    case SMMA_ROUND_DOWN: return "RD";
    case SMMA_ROUND_UP: return "RU";
    case SMMA_ROUND_NEAREST_AWAY: return "RNA";
  }
  return "";
}

void smma_rounding_to_text(smma_rounding direction, smma_format format, char *text, size_t size) {
  const char *name = smma_format_text(format);
  bool plain = format == SMMA_F64 || format == SMMA_F32 || format == SMMA_F16;
  snprintf(text, size, "%s-%s%s", smma_rounding_name(direction), plain ? "FP" : "", name + plain);
  for (; *text; text++) *text = smma_upper(*text);
}

/* G-FDPA has the most: some that every rule has, others where they are not as T-FDPA's. */
enum { MOST_PARAMETERS = 16 };

typedef struct {
  const char *name;
  int number;
  const char *text; /* instead of the number, if not NULL */
} parameter;

static int general_parameters(const smma_g_fdpa *p, const char *rho, parameter list[MOST_PARAMETERS]) {
  static const char *const subnormals[] = {"", "to-signed-zero", "to-positive-zero"};
  int n = 0;
  list[n++] = (parameter){"F", p->alignment_bits, p->alignment_bits == SMMA_EXACT_ALIGNMENT ? "exact" : NULL};
  list[n++] = (parameter){"L", p->block, NULL};
  list[n++] = (parameter){"rho", 0, rho};
  if (p->zero_exponent != SMMA_NO_EXPONENT) list[n++] = (parameter){"e_zero", p->zero_exponent, NULL};
  if (p->alignment_rounding != SMMA_ROUND_TOWARD_ZERO)
    list[n++] = (parameter){"alignment", 0, smma_rounding_name(p->alignment_rounding)};
  if (p->sticky_bit) list[n++] = (parameter){"sticky", 1, NULL};
  if (p->product_exponent == SMMA_EXPONENT_NORMALIZED) list[n++] = (parameter){"products", 0, "normalized"};
  if (p->interleave != p->block) list[n++] = (parameter){"interleave", p->interleave, NULL};
  if (p->c_joins == SMMA_C_JOINS_LAST) list[n++] = (parameter){"c_last", 0, smma_rounding_name(p->c_rounding)};
  if (p->overflow != SMMA_SUM_TO_INFINITY)
    list[n++] = (parameter){"overflow", 0, p->overflow == SMMA_SUM_SATURATES ? "saturate" : "by-direction"};
  if (p->subnormal_inputs) list[n++] = (parameter){"inputs", 0, subnormals[p->subnormal_inputs]};
  if (p->subnormal_outputs) list[n++] = (parameter){"outputs", 0, subnormals[p->subnormal_outputs]};
  if (p->zero_sign == SMMA_ZERO_IEEE) list[n++] = (parameter){"zero", 0, "ieee"};
  return n;
}

/* Fills `list` and returns the number of parameters. `rho` takes the text of a rounding. */
static int parameters_of(const smma_rule *rule, char rho[16], parameter list[MOST_PARAMETERS]) {
  const smma_t_fdpa *fused = rule->algorithm == SMMA_GST_FDPA ? &rule->with.gst_fdpa.fused : &rule->with.t_fdpa;
  const smma_tr_fdpa *tr = &rule->with.tr_fdpa;
  const smma_integer *integer = &rule->with.integer;
  const smma_g_fdpa *general = &rule->with.g_fdpa;
  int n = 0;
  switch (rule->algorithm) {
    case SMMA_G_FDPA:
      smma_rounding_to_text(general->rounding, general->output, rho, 16);
      return general_parameters(general, rho, list);
    case SMMA_GST_FDPA:
      list[n++] = (parameter){"G", rule->with.gst_fdpa.group, NULL};
      list[n++] = (parameter){"F", fused->alignment_bits, NULL};
      smma_rounding_to_text(fused->rounding, fused->output, rho, 16);
      list[n++] = (parameter){"rho", 0, rho};
      list[n++] = (parameter){"e_zero", fused->zero_exponent, NULL};
      break;
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
    case SMMA_FP8_BY_FP16:
      list[n++] = (parameter){"F", fused->alignment_bits, NULL};
      list[n++] = (parameter){"L", fused->block, NULL};
      smma_rounding_to_text(fused->rounding, fused->output, rho, 16);
      list[n++] = (parameter){"rho", 0, rho};
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
    case SMMA_INTEGER:
      list[n++] = (parameter){"overflow", 0, integer->overflow == SMMA_INTEGER_WRAPS ? "wrap" : "saturate"};
      break;
    case SMMA_FTZ_FMA: list[n++] = (parameter){"order", 0, "descending"}; break;
    case SMMA_FMA: list[n++] = (parameter){"order", 0, "ascending"}; break;
  }
  return n;
}

bool smma_parameter(const smma_rule *rule, int i, const char **name, char *value, size_t size) {
  parameter list[MOST_PARAMETERS];
  char rho[16];
  if (i >= parameters_of(rule, rho, list)) return false;
  *name = list[i].name;
  if (list[i].text)
    snprintf(value, size, "%s", list[i].text);
  else
    snprintf(value, size, "%d", list[i].number);
  return true;
}
