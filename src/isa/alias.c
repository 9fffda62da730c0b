/* Alternative names of instructions: PTX spellings including WMMA, SASS names, AMD's two spellings and compiler
   builtins, Arm's and Intel's intrinsics, Power's builtins, Tenstorrent's formats. Sources: PTX ISA (mma, wmma,
   wgmma.mma_async, tcgen05.mma), MMA-Sim Tables III and IV, LLVM's AMDGPU builtins, the Arm C Language Extensions,
   GCC's PowerPC builtins, Intel's Intrinsics Guide, Tenstorrent's tt-metal. */
#include <stdarg.h>
#include <string.h>

#include "isa/ascii.h"
#include "isa/find.h"
#include "isa/format_name.h"
#include "isa/print.h"

#define ALIAS_SIZE 192

typedef struct {
  smma_alias_visitor *visit;
  void *context;
} visitor;

__attribute__((format(printf, 2, 3))) static bool say(const visitor *v, const char *format, ...) {
  char alias[ALIAS_SIZE];
  va_list arguments;
  va_start(arguments, format);
  smma_print_list(alias, sizeof alias, format, arguments);
  va_end(arguments);
  return v->visit(alias, v->context);
}

static const char *upper(smma_format format, char text[16]) {
  const char *name = smma_format_text(format);
  size_t i;
  for (i = 0; name[i] && name[i] != '-' && i < 15; i++) text[i] = smma_upper(name[i]);
  text[i] = 0;
  return text;
}

static int bits_of(smma_format format) { return smma_encoding_of(format).bits; }

static bool is_integer(const smma_instruction *i) { return i->rule->rule.algorithm == SMMA_INTEGER; }

/* Returns `text` if integer sums saturate, otherwise "". */
static const char *if_saturating(const smma_instruction *i, const char *text) {
  return is_integer(i) && i->rule->rule.with.integer.overflow == SMMA_INTEGER_SATURATES ? text : "";
}

/* Returns ".and.popc" or ".xor.popc" for instructions on single bits, otherwise "". */
static const char *bits_operation_of(const smma_instruction *i) {
  if (i->a != SMMA_B1) return "";
  return smma_products_of(&i->rule->rule) == SMMA_PRODUCT_XOR ? ".xor.popc" : ".and.popc";
}

/* Returns ".rz", ".rm" or ".rp" for an FP64 instruction with that rounding mode, otherwise "". */
static const char *direction_of(const smma_instruction *i) {
  if (i->rule->rule.algorithm != SMMA_FMA) return "";
  switch (i->rule->rule.with.fma.rounding) {
    case SMMA_ROUND_TOWARD_ZERO: return ".rz";
    case SMMA_ROUND_DOWN: return ".rm";
    case SMMA_ROUND_UP: return ".rp";
    default: return "";
  }
}

/* Writes the formats of d, a and b, as in ".f32.e4m3.e4m3". Before them comes ".satfinite" or a rounding mode; after
   them come C's format (MMA only), the format of scale factors, and the operation on bits. Each is written only if the
   instruction has it. Returns `text`. */
static const char *types_of(const smma_instruction *i, char text[64]) {
  int n = smma_print(text, 64, "%s%s.%s.%s.%s", if_saturating(i, ".satfinite"), direction_of(i), smma_format_text(i->d),
                     smma_format_text(i->a), smma_format_text(i->b));
  if (i->family == SMMA_FAMILY_MMA) n += smma_print(text + n, 64 - (size_t)n, ".%s", smma_format_text(i->c));
  if (i->scale_block) n += smma_print(text + n, 64 - (size_t)n, ".%s", smma_format_text(i->scale));
  smma_print(text + n, 64 - (size_t)n, "%s", bits_operation_of(i));
  return text;
}

/* Returns the name in PTX of a block-scaled instruction's kind. */
static const char *scaled_kind(const smma_instruction *i) {
  if (i->k == 32) return "mxf8f6f4";
  return i->scale_block == 32 && i->scale == SMMA_UE8M0 ? "mxf4" : "mxf4nvf4";
}

/* Reports whether kind::mxf4nvf4 with scale_vec::2X also names the instruction, because it computes the same as
   kind::mxf4. */
static bool is_also_mxf4nvf4(const smma_instruction *i) {
  return i->scale_block && strcmp(scaled_kind(i), "mxf4") == 0;
}

static int scale_vector(const smma_instruction *i) { return i->k / i->scale_block; }

static const char *const layouts[] = {"row.col", "row.row", "col.row", "col.col"};

/* Visits names of block-scaled mma and mma.sp. The scale vector size may be left out, except with kind::mxf4nvf4. */
static bool scaled_mma_names(const smma_instruction *i, const char *mma, int K, const visitor *v) {
  char types[64];
  types_of(i, types);
  return say(v, "%s.m%dn%dk%d.row.col.kind::%s.block_scale.scale_vec::%dX%s", mma, i->m, i->n, K, scaled_kind(i),
             scale_vector(i), types) ||
         (scale_vector(i) < 4 &&
          say(v, "%s.m%dn%dk%d.row.col.kind::%s.block_scale%s", mma, i->m, i->n, K, scaled_kind(i), types)) ||
         (is_also_mxf4nvf4(i) &&
          say(v, "%s.m%dn%dk%d.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X%s", mma, i->m, i->n, K, types));
}

static bool ptx_mma(const smma_instruction *i, const visitor *v) {
  char types[64];
  types_of(i, types);
  if (i->a >= SMMA_SPELLED_FORMATS) return false; /* PTX has no name for these formats */
  if (i->scale_block) return scaled_mma_names(i, "mma.sync.aligned", i->k, v);
  for (int layout = 0; layout < (i->m == 8 && i->a == SMMA_F16 ? 4 : 1); layout++)
    if (say(v, "mma.sync.aligned.m%dn%dk%d.%s%s", i->m, i->n, i->k, layouts[layout], types)) return true;
  if (i->a == SMMA_F64) { /* the rounding mode may also follow the types, and ".rn" may be written */
    const char *direction = *direction_of(i) ? direction_of(i) : ".rn";
    return say(v, "mma.sync.aligned.m%dn%dk%d.row.col.f64.f64.f64.f64%s", i->m, i->n, i->k, direction) ||
           (!*direction_of(i) && say(v, "mma.sync.aligned.m%dn%dk%d.row.col.rn.f64.f64.f64.f64", i->m, i->n, i->k));
  }
  return i->arch == SMMA_ARCH_rtx_blackwell && i->k == 32 &&
         say(v, "mma.sync.aligned.m%dn%dk%d.row.col.kind::f8f6f4%s", i->m, i->n, i->k, types);
}

/* Reports whether the inputs are 4-bit integers that are widened to 8 bits. */
static bool is_s4_by_s8(const smma_instruction *i) {
  return strncmp(i->rule->name, "nvidia_s4_by_s8", strlen("nvidia_s4_by_s8")) == 0;
}

/* Visits BMMA names. Hopper has only the AND operation, Blackwell and RTX Blackwell have none. */
static bool sass_bits(const smma_instruction *i, const char *shape, const visitor *v) {
  const bool is_xor = smma_products_of(&i->rule->rule) == SMMA_PRODUCT_XOR;
  if (i->arch == SMMA_ARCH_blackwell || i->arch == SMMA_ARCH_rtx_blackwell) return false;
  return !(is_xor && i->arch == SMMA_ARCH_hopper) && say(v, "BMMA.%s.%s.POPC", shape, is_xor ? "XOR" : "AND");
}

/* Visits SASS names, in which M, N and K are joined: 16816 is 16x8x16. An architecture that computes FP8 on the FP16
   unit has no FP8 instruction in SASS, and one that computes 4-bit integers on the 8-bit unit has no 4-bit instruction.
   For m8n8k16, CUDA 13 uses IMMA.8816 up to Hopper, and half of IMMA.16816 from Blackwell on. */
static bool sass_mma(const smma_instruction *i, const visitor *v) {
  char d[16], a[16], b[16], c[16], shape[16], direction[4] = "";
  size_t n;
  upper(i->d, d), upper(i->a, a), upper(i->b, b), upper(i->c, c);
  if (i->m == 8)
    smma_print(shape, sizeof shape, "88%d", i->k);
  else
    smma_print(shape, sizeof shape, "168%d", i->k);
  if (i->rule->rule.algorithm == SMMA_FP8_BY_FP16 || is_s4_by_s8(i)) return false;
  if (i->a == SMMA_B1) return sass_bits(i, shape, v);
  if (is_integer(i)) return say(v, "IMMA.%s.%s.%s%s", shape, a, b, if_saturating(i, ".SAT"));
  if (i->a == SMMA_F64) {
    for (n = 0; direction_of(i)[n]; n++) direction[n] = smma_upper(direction_of(i)[n]);
    return say(v, "DMMA.%dx%dx%d%s", i->m, i->n, i->k, direction) || (i->m == 8 && say(v, "DMMA.884%s", direction));
  }
  if (i->k == 64 && i->scale_block == 32 && i->scale == SMMA_UE8M0)
    return say(v, "OMMA.SF.%s.%s.%s.%s.E8", shape, d, a, b);
  if (i->k == 64 && i->scale_block == 16 && i->scale == SMMA_UE4M3)
    return say(v, "OMMA.SF.%s.%s.%s.%s.UE4M3.4X", shape, d, a, b);
  if (i->k == 64) return false;
  if (i->scale_block) return say(v, "QMMA.SF.%s.%s.%s.%s.E8", shape, d, a, b);
  if (bits_of(i->a) <= 8) return say(v, "QMMA.%s.%s.%s.%s", shape, d, a, b);
  if (i->a != SMMA_F16) return say(v, "HMMA.%s.%s.%s", shape, d, a) || say(v, "HMMA.%s.%s", shape, a);
  return say(v, "HMMA.%s.%s.%s", shape, d, c) || (i->c == i->d && say(v, "HMMA.%s.%s", shape, d));
}

/* Returns the shapes of wmma.mma that the compiler computes as a chain of this instruction along K; NULL ends the list.
   The mapping is that of CUDA's assembler; for Volta, of Jia et al. (2018). Only Volta allows c and d of different
   formats. */
static const char *const *wmma_shapes(const smma_instruction *i) {
  static const char *const usual[] = {"m16n16k16", "m32n8k16", "m8n32k16", NULL}, *const tf32[] = {"m16n16k8", NULL},
                           *const s4[] = {"m8n8k32", NULL}, *const b1[] = {"m8n8k128", NULL},
                           *const f64[] = {"m8n8k4", NULL}, *const none[] = {NULL};
  const bool old = i->arch == SMMA_ARCH_volta || i->arch == SMMA_ARCH_turing;
  if (i->scale_block || (i->c != i->d && i->arch != SMMA_ARCH_volta)) return none;
  switch ((int)i->a) {
    case SMMA_F16:
    case SMMA_BF16: return i->k == (i->arch == SMMA_ARCH_volta ? 4 : old ? 8 : 16) ? usual : none;
    case SMMA_S8:
    case SMMA_U8: return i->a == i->b && i->m == (old ? 8 : 16) && i->k == 16 ? usual : none;
    case SMMA_TF32: return i->k == 4 ? tf32 : none;
    case SMMA_S4:
    case SMMA_U4: return i->a == i->b && i->m == 8 ? s4 : none;
    case SMMA_B1: return i->m == 8 ? b1 : none;
    case SMMA_F64: return i->m == 8 ? f64 : none;
    default: return none;
  }
}

/* Visits PTX's names of wmma. In them the operation on single bits precedes ".sync". */
static bool ptx_wmma(const smma_instruction *i, const visitor *v) {
  const char *operation = bits_operation_of(i);
  char types[64];
  if (i->a == SMMA_F16)
    smma_print(types, sizeof types, ".%s.%s", smma_format_text(i->d), smma_format_text(i->c));
  else
    smma_print(types, sizeof types, "%s.%s.%s.%s.%s%s", direction_of(i), smma_format_text(i->d), smma_format_text(i->a),
               smma_format_text(i->b), smma_format_text(i->c), if_saturating(i, ".satfinite"));
  for (const char *const *shape = wmma_shapes(i); *shape; shape++) {
    if (say(v, "wmma.%s%s%s", *shape, types, operation)) return true;
    for (int layout = 0; layout < (bits_of(i->a) <= 4 ? 1 : 4); layout++)
      if (say(v, "wmma.mma%s.sync.aligned.%s.%s%s", operation, layouts[layout], *shape, types)) return true;
  }
  return false;
}

static bool wgmma_names(const smma_instruction *i, const visitor *v) {
  char d[16], a[16], b[16], types[64];
  upper(i->d, d), upper(i->a, a), upper(i->b, b);
  types_of(i, types);
  if (i->sparse) return say(v, "wgmma.mma_async.sp.sync.aligned.m%dn%dk%d%s", i->m, i->n, 2 * i->k, types);
  if (say(v, "wgmma.mma_async.sync.aligned.m%dn%dk%d%s", i->m, i->n, i->k, types)) return true;
  if (is_integer(i)) return say(v, "IGMMA.%dx%dx%d.%s.%s%s", i->m, i->n, i->k, a, b, if_saturating(i, ".SAT"));
  if (bits_of(i->a) == 8) return say(v, "QGMMA.%dx%dx%d.%s.%s.%s", i->m, i->n, i->k, d, a, b);
  if (i->a == SMMA_F16) return say(v, "HGMMA.%dx%dx%d.%s", i->m, i->n, i->k, d);
  return say(v, "HGMMA.%dx%dx%d.%s.%s", i->m, i->n, i->k, d, a);
}

static const char *unscaled_kind(const smma_instruction *i) {
  if (is_integer(i)) return "i8";
  if (bits_of(i->a) <= 8) return "f8f6f4";
  return i->a == SMMA_TF32 ? "tf32" : "f16";
}

/* Visits names of mma.sp, whose K also counts the elements that are not stored. PTX has scale factors, and FP6 and FP4,
   only with ordered metadata. */
static bool sparse_mma_names(const smma_instruction *i, const visitor *v) {
  const char *const ordered = "mma.sp::ordered_metadata.sync.aligned";
  char types[64], d[16], a[16], b[16];
  const int K = 2 * i->k;
  types_of(i, types);
  upper(i->d, d), upper(i->a, a), upper(i->b, b);
  if (i->scale_block) {
    if (scaled_mma_names(i, ordered, K, v)) return true;
    if (i->k == 32) return say(v, "QMMA.SF.SP.168%d.%s.%s.%s.E8", K, d, a, b);
    if (i->scale_block == 32) return say(v, "OMMA.SF.SP.168%d.%s.%s.%s.E8", K, d, a, b);
    return i->scale == SMMA_UE4M3 && say(v, "OMMA.SF.SP.168%d.%s.%s.%s.UE4M3.4X", K, d, a, b);
  }
  if (say(v, "mma.sp.sync.aligned.m%dn%dk%d.row.col%s", i->m, i->n, K, types) ||
      say(v, "%s.m%dn%dk%d.row.col%s", ordered, i->m, i->n, K, types))
    return true;
  if (bits_of(i->a) <= 8 && i->arch == SMMA_ARCH_rtx_blackwell && !is_integer(i) &&
      say(v, "%s.m%dn%dk%d.row.col.kind::f8f6f4%s", ordered, i->m, i->n, K, types))
    return true;
  if (i->rule->rule.algorithm == SMMA_FP8_BY_FP16 || is_s4_by_s8(i)) return false;
  if (is_integer(i)) return say(v, "IMMA.SP.168%d.%s.%s%s", K, a, b, if_saturating(i, ".SAT"));
  if (bits_of(i->a) <= 8) return say(v, "QMMA.SP.168%d.%s.%s.%s", K, d, a, b);
  return i->a == SMMA_F16 ? say(v, "HMMA.SP.168%d.%s", K, d) : say(v, "HMMA.SP.168%d.%s.%s", K, d, a);
}

static const char *tcgen05_sass(const smma_instruction *i) {
  if (is_integer(i)) return "UTCIMMA";
  if (bits_of(i->a) > 8) return "UTCHMMA";
  return i->scale_block && i->k == 64 ? "UTCOMMA" : "UTCQMMA";
}

static bool tcgen05_names_with(const smma_instruction *i, const char *qualifiers, const visitor *v) {
  const char *const sparse = i->sparse ? ".sp" : "";
  const int K = i->sparse ? 2 * i->k : i->k;
  char types[64];
  types_of(i, types);
  for (int group = 1; group <= 2; group++) {
    if (say(v, "tcgen05.mma%s.cta_group::%d.kind::%s", sparse, group, qualifiers) ||
        say(v, "tcgen05.mma%s.cta_group::%d.kind::%s.m%dn%dk%d%s", sparse, group, qualifiers, group * i->m, i->n, K,
            types))
      return true;
    if (!i->scale_block) continue;
    if (say(v, "tcgen05.mma%s.cta_group::%d.kind::%s.scale_vec::%dX", sparse, group, qualifiers, scale_vector(i)) ||
        say(v, "tcgen05.mma%s.cta_group::%d.kind::%s.block%d", sparse, group, qualifiers, i->scale_block) ||
        say(v, "tcgen05.mma%s.cta_group::%d.kind::%s.scale_vec::%dX.m%dn%dk%d%s", sparse, group, qualifiers,
            scale_vector(i), group * i->m, i->n, K, types))
      return true;
  }
  return false;
}

/* Visits names of tcgen05.mma and tcgen05.mma.sp. PTX and SASS specify shape and types in a descriptor, so the names
   without them fit several instructions; the names with shape and types appended are visited, too. cta_group::2 doubles
   M and does not change results. SASS does not name sparse instructions. */
static bool tcgen05_names(const smma_instruction *i, const visitor *v) {
  char qualifiers[64];
  if (i->scale_block)
    smma_print(qualifiers, sizeof qualifiers, "%s.block_scale", scaled_kind(i));
  else
    smma_print(qualifiers, sizeof qualifiers, "%s", unscaled_kind(i));
  if (tcgen05_names_with(i, qualifiers, v)) return true;
  if (is_also_mxf4nvf4(i) && tcgen05_names_with(i, "mxf4nvf4.block_scale", v)) return true;
  if (!i->sparse && (say(v, "%s", tcgen05_sass(i)) || (i->scale_block == 16 && say(v, "UTCOMMA.4X")))) return true;
  return i->m == 128 && say(v, "tcgen05%s.m256%s", i->sparse ? ".sp" : "", strstr(i->name, ".m128") + strlen(".m128"));
}

static bool mfma_names(const smma_instruction *i, const visitor *v) {
  const char *spelling[] = {i->name, i->other_name};
  if (i->other_name && say(v, "%s", i->other_name)) return true;
  for (int s = 0; s < 2; s++) {
    const char *bare = spelling[s] ? spelling[s] + strlen("v_mfma_") : NULL;
    if (bare && (say(v, "%s", bare) || say(v, "mfma_%s", bare) || say(v, "__builtin_amdgcn_mfma_%s", bare)))
      return true;
  }
  return false;
}

/* Reports whether results depend on the wave size. They do in RDNA 4's WMMA, except for integers that wrap. */
static bool wave_counts(const smma_instruction *i) {
  const bool wraps = is_integer(i) && i->rule->rule.with.integer.overflow == SMMA_INTEGER_WRAPS;
  return i->arch == SMMA_ARCH_rdna4 && i->k > 4 && !wraps;
}

/* Visits the names with a wave size (".w32" or ".w64" after the mnemonic and the integer types) and with FP16_OVFL
   (".ovfl" at the end), if these do not change results. Also visits the compiler's builtins. */
static bool wmma_names(const smma_instruction *i, const visitor *v) {
  static const char *const waves[] = {"", ".w32", ".w64"};
  const char *in_wave64 = strstr(i->name, ".w64"), *end = strstr(i->name, ".ovfl"), *last;
  const bool saturates = end != NULL, counts = i->d == SMMA_F16;
  char base[ALIAS_SIZE];
  int length;
  if (!end) end = strstr(i->name, ".clamp");
  last = end ? end : i->name + strlen(i->name);
  length = (int)((in_wave64 ? in_wave64 : last) - i->name);
  smma_print(base, sizeof base, "%.*s", length, i->name);
  for (int wave = 0; wave < 3; wave++) {
    if (wave_counts(i) && (wave == 2) != (in_wave64 != NULL)) continue;
    if (wave != (in_wave64 ? 2 : 0)) /* lists the other forms only, not the name itself */
      if (say(v, "%s%s%s", base, waves[wave], last)) return true;
    if (!saturates && !counts && !is_integer(i) && say(v, "%s%s.ovfl", base, waves[wave])) return true;
    if (wave == 0 || *last || is_integer(i) || i->k <= 4) continue;
    if (say(v, "__builtin_amdgcn_%s_w%d%s", base + strlen("v_"), wave == 2 ? 64 : 32,
            i->arch == SMMA_ARCH_rdna4 ? "_gfx12" : ""))
      return true;
  }
  if (strcmp(base, "v_dot2_f32_f16") == 0 && (say(v, "v_dot2acc_f32_f16") || say(v, "__builtin_amdgcn_fdot2")))
    return true;
  if (strncmp(base, "v_dot2_", strlen("v_dot2_")) == 0 && !saturates)
    return say(v, "__builtin_amdgcn_f%s", base + strlen("v_"));
  return strncmp(base, "v_dot4_", strlen("v_dot4_")) == 0 && say(v, "__builtin_amdgcn_%s", base + strlen("v_"));
}

/* Visits the intrinsics of the Arm C Language Extensions, with ".ebf" appended if the instruction's name has it
   (FPCR.EBF = 1). */
static bool arm_names(const smma_instruction *i, const visitor *v) {
  static const struct {
    const char *name, *intrinsic[4];
  } known[] = {
      {"bfdot", {"vbfdot_f32", "vbfdotq_f32", "svbfdot_f32"}},
      {"bfmmla", {"vbfmmlaq_f32", "svbfmmla_f32"}},
      {"bfmopa", {"svmopa_za32_bf16_m"}},
      {"fmmla.s", {"svmmla_f32"}},
      {"fmmla.d", {"svmmla_f64"}},
      {"fmopa.s.h", {"svmopa_za32_f16_m"}},
      {"fmopa.s", {"svmopa_za32_f32_m"}},
      {"fmopa.d", {"svmopa_za64_f64_m"}},
      {"smmla", {"vmmlaq_s32", "svmmla_s32"}},
      {"ummla", {"vmmlaq_u32", "svmmla_u32"}},
      {"usmmla", {"vusmmlaq_s32", "svusmmla_s32"}},
      {"sdot", {"vdot_s32", "vdotq_s32", "svdot_s32"}},
      {"udot", {"vdot_u32", "vdotq_u32", "svdot_u32"}},
      {"usdot", {"vusdot_s32", "vusdotq_s32", "svusdot_s32"}},
      {"sudot", {"vsudot_lane_s32", "vsudotq_lane_s32", "svsudot_lane_s32"}},
      {"smopa", {"svmopa_za32_s8_m"}},
      {"umopa", {"svmopa_za32_u8_m"}},
      {"usmopa", {"svusmopa_za32_u8_m"}},
      {"sumopa", {"svsumopa_za32_s8_m"}},
  };
  const char *mode = strstr(i->name, ".ebf");
  const size_t length = mode ? (size_t)(mode - i->name) : strlen(i->name);
  for (size_t n = 0; n < sizeof known / sizeof known[0]; n++) {
    if (strlen(known[n].name) != length || strncmp(known[n].name, i->name, length) != 0) continue;
    for (const char *const *name = known[n].intrinsic; *name; name++)
      if (say(v, "%s%s", *name, mode ? mode : "")) return true;
  }
  return false;
}

/* Visits the intrinsics of Intel's Intrinsics Guide: those of vectors for each width, also with _avx if AVX has two
   spellings, and those of tiles. */
static bool vector_names(const smma_instruction *i, const visitor *v) {
  const bool is_bf16 = i->d == SMMA_F32, is_vnni = strncmp(i->name, "vpdpbus", strlen("vpdpbus")) == 0;
  const char *what = i->name + strlen("vp");
  if (i->arch == SMMA_ARCH_ace) return false; /* compilers have no intrinsics yet */
  if (i->m > 1) return say(v, "_tile_%s", i->name + 1) || say(v, "__tile_%s", i->name + 1);
  if (is_bf16) return say(v, "_mm512_dpbf16_ps") || say(v, "_mm256_dpbf16_ps") || say(v, "_mm_dpbf16_ps");
  if (say(v, "_mm512_%s_epi32", what) || say(v, "_mm256_%s_epi32", what) || say(v, "_mm_%s_epi32", what)) return true;
  return is_vnni && (say(v, "_mm256_%s_avx_epi32", what) || say(v, "_mm_%s_avx_epi32", what));
}

/* Visits the name of Zvdota's instruction that computes one of the eight dot products. */
static bool riscv_names(const smma_instruction *i, const visitor *v) {
  const char *batched = strstr(i->name, "bdota");
  return i->a != SMMA_F32 && say(v, "%.*s%s", (int)(batched - i->name), i->name, batched + 1);
}

/* Returns the name of a format in Tenstorrent's DataFormat. */
static const char *data_format(smma_format format) {
  switch (format) {
    case SMMA_BF16: return "Float16_b";
    case SMMA_F16: return "Float16";
    case SMMA_TF32: return "Tf32";
    default: return "Float32";
  }
}

/* Visits the name with Tenstorrent's names of formats. */
static bool tensix_names(const smma_instruction *i, const visitor *v) {
  const char *formats = strchr(strchr(i->name, '.') + 1, '.');
  return say(v, "%.*s.%s.%s.%s", (int)(formats - i->name), i->name, data_format(i->d), data_format(i->a),
             data_format(i->b));
}

bool smma_each_alias(const smma_instruction *i, smma_alias_visitor *visit, void *context) {
  visitor v = {visit, context};
  switch (i->family) {
    case SMMA_FAMILY_MMA:
      return i->sparse ? sparse_mma_names(i, &v) : ptx_mma(i, &v) || sass_mma(i, &v) || ptx_wmma(i, &v);
    case SMMA_FAMILY_WGMMA: return wgmma_names(i, &v);
    case SMMA_FAMILY_TCGEN05: return tcgen05_names(i, &v);
    case SMMA_FAMILY_MFMA: return mfma_names(i, &v);
    case SMMA_FAMILY_WMMA: return wmma_names(i, &v);
    case SMMA_FAMILY_ARM: return arm_names(i, &v);
    case SMMA_FAMILY_POWER: return say(&v, "__builtin_mma_%s", i->name) || say(&v, "__builtin_mma_pm%s", i->name);
    case SMMA_FAMILY_RISCV: return riscv_names(i, &v);
    case SMMA_FAMILY_TENSIX: return tensix_names(i, &v);
    case SMMA_FAMILY_VECTOR: return vector_names(i, &v);
    case SMMA_FAMILY_APPLE: return i->other_name && say(&v, "%s", i->other_name);
    case SMMA_FAMILY_CUSTOM: break;
  }
  return false;
}

static bool is_qualifier(const char *token, size_t length) {
  for (size_t i = 0; i + 1 < length; i++)
    if (token[i] == ':' && token[i + 1] == ':') return true;
  return length == strlen("block_scale") && strncmp(token, "block_scale", length) == 0;
}

/* Appends the tokens of `name` that are qualifiers or, if `qualifiers` is false, the other tokens, each with a dot
   after it. `used` is the length of `form` so far; returns its new length. */
static size_t append_tokens(const char *name, bool qualifiers, char *form, size_t used, size_t size) {
  for (const char *token = name; *token;) {
    size_t length = 0;
    while (token[length] && token[length] != '.') length++;
    if (length && is_qualifier(token, length) == qualifiers) {
      for (size_t i = 0; i < length && used + 2 < size; i++) form[used++] = token[i];
      if (used + 1 < size) form[used++] = '.';
    }
    token += length + (token[length] == '.');
  }
  return used;
}

void smma_normal_form(const char *name, char *form, size_t size) {
  char lower[ALIAS_SIZE];
  size_t length = 0, used;
  form[0] = 0;
  for (; *name; name++) {
    if (smma_blank(*name)) continue;
    if (length + 1 == sizeof lower) return; /* longer than any name */
    lower[length++] = smma_lower(*name);
  }
  lower[length] = 0;
  used = append_tokens(lower, false, form, 0, size);
  if (used <= length) used = append_tokens(lower, true, form, used, size);
  form[used ? used - 1 : 0] = 0; /* removes the last dot */
}
