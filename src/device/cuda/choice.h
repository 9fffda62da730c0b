/* Chooses the kernel of this folder that computes an operation (chain.h, down.h, two_level.h, fp4.h), and defines
 * what the host must know about it. */
#ifndef SMMA_DEVICE_CUDA_CHOICE_H
#define SMMA_DEVICE_CUDA_CHOICE_H

#include "core/rule.h"

enum {
  CHAIN_DEPTH = 16,  /* products of each line in a panel */
  CHAIN_LINES = 128, /* rows of A or columns of B in a panel */
  CHAIN_ROWS = 8,    /* rows per thread, of a warp's 64; with g = lane / 4: 2g, 2g + 1, and both plus 16, 32 and 48 */
  CHAIN_COLUMNS = 8, /* columns per thread, of a warp's 32; with t = lane % 4: 2t, 2t + 1, and both plus 8, 16 and 24 */
  CHAIN_QUADRANT_LINES = 4, /* rows, and columns, of a quadrant: the elements that smma_chain_begin starts together */
  CHAIN_TOP = 62,           /* (exponent field of a sum of 16^e) / 4 for the greatest possible e */
  CHAIN_SPAN = 29,        /* an element's exponent is exact down to this many binades below its base, whatever the other
                             factor's exponent */
  CHAIN_NARROW_SPAN = 30, /* CHAIN_SPAN if all blocks share their bases: products' exponents are then above the sum of
                             bases - CHAIN_TOP */
  CHAIN_LEAST = -72, /* least sum of both bases: with CHAIN_SPAN, no result is subnormal, and the exponent of c <= 2^127
                        fits a byte */
  CHAIN_GREATEST = 100, /* greatest sum of both bases: 2^20 blocks do not overflow */
  CHAIN_NARROW = 39,    /* greatest deficit if all blocks share their bases: such deficits do not saturate */
  /* c is below 2^(sum of bases + CHAIN_ABOVE) if all blocks share their bases; 167 + CHAIN_TOP + 26 fits a byte. */
  CHAIN_ABOVE = 26,
  CHAIN_NO_BASE = -300, /* the base of zeros, far below that of any number */
  CHAIN_BIAS = 1023,
  CHAIN_BINADE = 1 << 20, /* one binade in the exponent field of a double's high word */
  CHAIN_LEAST_SUM = (CHAIN_TOP - CHAIN_SPAN) << 25,
  CHAIN_SUM = 31,      /* fraction bits to which TR-FDPA rounds sums down */
  CHAIN_THREADS = 256, /* threads per block, which computes 128 x 128 elements */
  CHAIN_PANEL_BYTES = 26624
};

/* Parameters of a chain's kernel. If `wide` is set, each block has its own bases, as needed for formats with 8 exponent
   bits and for scale factors; otherwise all blocks share a base. */
typedef struct {
  smma_algorithm rule;             /* SMMA_T_FDPA also stands for ST-FDPA */
  int alignment_bits, block, kept; /* F, L, and the fraction bits of results */
  bool wide;
} smma_chain;

/* Returns the greatest exponent of a format, which is the base of all its numbers. */
SMMA_CORE int smma_chain_base_of(smma_format format) {
  smma_encoding f = smma_encoding_of(format);
  return (int)(smma_largest_fields(f) >> f.fraction_bits) - f.bias;
}

/* Reports whether one base suffices for all numbers of a format: their exponents and deficits relative to it fit a
   panel's fields. */
SMMA_CORE bool smma_chain_is_narrow(smma_format format) {
  smma_encoding f = smma_encoding_of(format);
  int span = smma_chain_base_of(format) - smma_minimum_exponent(f);
  return span <= CHAIN_NARROW_SPAN && span + f.fraction_bits <= CHAIN_NARROW;
}

/* Sets `*chain` to the chain that an operation needs. Returns false if no chain can compute it. */
SMMA_CORE bool smma_chain_asked(const smma_operation *o, smma_chain *chain) {
  const smma_t_fdpa *t = &o->rule.with.t_fdpa;
  const smma_tr_fdpa *tr = &o->rule.with.tr_fdpa;
  chain->block = smma_block_of(o);
  chain->wide = o->scale_block != 0 || !smma_chain_is_narrow(o->a) || !smma_chain_is_narrow(o->b);
  if (smma_encoding_of(o->a).fraction_bits > 10 || smma_encoding_of(o->b).fraction_bits > 10) return false;
  if (o->scale_block != 0 && o->scale_block != 32) return false;
  switch (o->rule.algorithm) {
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
      chain->rule = SMMA_T_FDPA;
      chain->alignment_bits = t->alignment_bits;
      chain->kept = smma_encoding_of(t->output).fraction_bits;
      /* An e_zero below all normal c never decides where a block is cut, not even one whose products are all zero. */
      return t->rounding == SMMA_ROUND_TOWARD_ZERO && o->d != SMMA_F16 && t->zero_exponent < -126;
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA:
      chain->rule = o->rule.algorithm;
      chain->alignment_bits = tr->alignment_bits;
      chain->kept = smma_encoding_of(SMMA_F32).fraction_bits;
      return tr->sum_bits == CHAIN_SUM && tr->revision == 2;
    default: return false;
  }
}

/* Sets `*chain` to the chain of kernels.def that computes the operation. Returns false if kernels.def has none. */
SMMA_CORE bool smma_chain_of(const smma_operation *o, smma_chain *chain) {
  if (!smma_chain_asked(o, chain)) return false;
#define SMMA_CHAIN(RULE, F, L, KEPT, WIDE, NAME)                                                       \
  if (chain->rule == RULE && chain->alignment_bits == F && chain->block == L && chain->kept == KEPT && \
      (int)chain->wide <= WIDE) {                                                                      \
    chain->wide = WIDE != 0;                                                                           \
    return true;                                                                                       \
  }
#include "device/cuda/kernels.def"
  return false;
}

/* Returns the name of the chain's kernel, or "" if kernels.def has none. */
SMMA_CORE const char *smma_chain_name(const smma_chain *chain) {
#define SMMA_CHAIN(RULE, F, L, KEPT, WIDE, NAME)                                                       \
  if (chain->rule == RULE && chain->alignment_bits == F && chain->block == L && chain->kept == KEPT && \
      chain->wide == WIDE)                                                                             \
    return "smma_chain_" #NAME;
#include "device/cuda/kernels.def"
  return "";
}

/* smma_chain_sums returns the number of sums per block (GTR-FDPA has two, of even and of odd k), smma_chain_length the
   number of products in each. smma_chain_columns returns how many of a thread's columns are summed at a time: fewer if
   c takes registers in addition to sums. */
SMMA_CORE int smma_chain_sums(const smma_chain *p) { return p->rule == SMMA_GTR_FDPA ? 2 : 1; }
SMMA_CORE int smma_chain_length(const smma_chain *p) { return p->block / smma_chain_sums(p); }
SMMA_CORE int smma_chain_columns(const smma_chain *p) {
  return p->rule == SMMA_T_FDPA ? CHAIN_COLUMNS : CHAIN_COLUMNS / 2;
}

/* A stage is what is loaded at a time. These functions return its number of products per line, its number of panels per
   operand, and the bytes of shared memory that it takes. */
SMMA_CORE int smma_chain_stage(const smma_chain *p) { return smma_maximum(p->block, CHAIN_DEPTH); }
SMMA_CORE int smma_chain_panels(const smma_chain *p) { return smma_chain_stage(p) / CHAIN_DEPTH; }
SMMA_CORE int smma_chain_stage_bytes(const smma_chain *p) { return smma_chain_panels(p) * 2 * CHAIN_PANEL_BYTES; }

/* Sizes of a tile (tile.h). */
enum {
  TILE_LINES = 64, /* rows of A or columns of B in a panel */
  TILE_ROWS = 8,   /* rows per thread */
  TILE_COLUMNS = 4,
  TILE_THREADS = 128
};

/* Constants of sums in two binary32 numbers (two_level.h). */
enum {
  TWO_DEPTH = 32,  /* products of each line in a panel */
  TWO_REACH = 78,  /* the greatest sum of two deficits */
  TWO_LEAST = -80, /* emax if all products and c are zero; it is below every other emax */
  TWO_PANEL_BYTES = 22528
};

/* smma_two_takes_chain reports whether a kernel of two_level.h computes a chain; smma_two_name returns that kernel's
   name, or "" if kernels.def has none. */
SMMA_CORE bool smma_two_takes_chain(const smma_chain *chain) { return chain->rule == SMMA_T_FDPA && !chain->wide; }
SMMA_CORE const char *smma_two_name(const smma_chain *chain) {
#define SMMA_TWO(F, L, KEPT, NAME)                                            \
  if (chain->alignment_bits == F && chain->block == L && chain->kept == KEPT) \
    return "smma_"                                                            \
           "two_" #NAME;
#include "device/cuda/kernels.def"
  return "";
}

/* Constants of FP4 (fp4.h). */
enum {
  FP4_GROUPS = 4, /* groups per step */
  FP4_GROUP = 16,
  FP4_DEPTH = FP4_GROUPS * FP4_GROUP,
  FP4_BEGUN = 4, /* rows whose sums are held at a time */
  FP4_F = 35,
  FP4_POWER = 8,   /* exponent field of the product of two powers (smma_fp4_panel) whose exponents equal their bases */
  FP4_SPREAD = 18, /* greatest span of the exponents of a line's scale factors in a step */
  FP4_MOST = 45,   /* greatest magnitude of the exponents of scale factors: no result is subnormal or overflows */
  FP4_PANEL_BYTES = 7168
};

/* Returns the fraction bits of the operation's terms if fp4.h computes it, else 0. */
SMMA_CORE int smma_fp4_fraction(const smma_operation *o) {
  const smma_gst_fdpa *p = &o->rule.with.gst_fdpa;
  if (o->rule.algorithm != SMMA_GST_FDPA || o->a != SMMA_E2M1 || o->b != SMMA_E2M1 || o->d != SMMA_F32) return 0;
  if (p->group != FP4_GROUP || o->k != FP4_DEPTH || o->scale_block % FP4_GROUP != 0) return 0;
  if (o->scale != SMMA_UE8M0 && o->scale != SMMA_UE4M3) return 0;
  if (p->fused.alignment_bits != FP4_F || p->fused.zero_exponent >= -126) return 0;
  if (p->fused.output != SMMA_F32 || p->fused.rounding != SMMA_ROUND_TOWARD_ZERO) return 0;
  return 2 + 2 * smma_encoding_of(o->scale).fraction_bits;
}

/* A kernel that reads packed panels, and the kernel `pack` that packs them. A panel has `bytes` bytes and holds `depth`
   products of `lines` lines; `stage` products are read at a time. `shared`: bytes of dynamic shared memory. */
typedef struct {
  const char *pack, *name;
  int lines, depth, stage, bytes, threads, shared;
  int number; /* kernel argument: the sum of both bases, for the chain as an exponent field; for FP4, the fraction bits
                 of terms */
} smma_panels;

/* Sets `*p` to the kernel for an operation. Returns false if no kernel of this folder computes it. `fast_f64`: whether
   the device has fast binary64. */
SMMA_CORE bool smma_panels_of(const smma_operation *o, bool fast_f64, smma_panels *p) {
  const int fraction = smma_fp4_fraction(o);
  smma_chain chain;
  if (fraction) {
    p->pack = "smma_fp4_pack_panels", p->name = "smma_fp4";
    p->lines = TILE_LINES, p->depth = p->stage = FP4_DEPTH, p->bytes = FP4_PANEL_BYTES, p->threads = TILE_THREADS;
    p->shared = 0; /* the kernel's shared memory is static */
    p->number = fraction;
    return true;
  }
  if (!smma_chain_of(o, &chain)) return false;
  p->number = smma_chain_base_of(o->a) + smma_chain_base_of(o->b);
  if (!fast_f64) {
    p->pack = "smma_two_pack_panels", p->name = smma_two_name(&chain);
    p->lines = TILE_LINES, p->depth = p->stage = TWO_DEPTH, p->bytes = TWO_PANEL_BYTES, p->threads = TILE_THREADS;
    p->shared = 0;
    return smma_two_takes_chain(&chain);
  }
  p->pack = "smma_chain_pack_panels", p->name = smma_chain_name(&chain);
  p->lines = CHAIN_LINES, p->depth = CHAIN_DEPTH, p->stage = smma_chain_stage(&chain), p->bytes = CHAIN_PANEL_BYTES;
  p->threads = CHAIN_THREADS, p->shared = smma_chain_stage_bytes(&chain);
  p->number *= CHAIN_BINADE;
  return true;
}

#endif
