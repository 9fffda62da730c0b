/* The unit's module: products, the sums of every step, and registers between them. */
#include <string.h>

#include "isa/catalogue.h"
#include "isa/compose.h"
#include "rtl/unit.h"

/* A vector (a signal of several bits) of the unit's module, and the clock cycle in which it has its value. */
typedef struct {
  smma_rtl_words name;
  int bits, stage;
  int delayed; /* the last stage for which the body has a register */
} net;

/* The nodes between two steps: a vector of encodings, or of nodes. */
typedef struct {
  net n;
  int count;
  smma_rtl_shape shape;
  smma_format format; /* of encodings; SMMA_NO_FORMAT: nodes */
} node_list;

typedef struct {
  smma_rtl_unit *u;
  int stages, register_positions; /* number of registers, and of the positions for them that the first pass found */
  int level;                      /* the level that is being written, from 0 */
  net a, b, c, scale_a, scale_b;
  node_list nodes;
} unit_writer;

/* ---- Stages ---- */

/* Returns the number of registers before a level. Register j of n follows level ceil(j * register_positions / n). */
static int stage_of(const unit_writer *g, int level) {
  int stage = 0;
  for (int j = 1; j <= g->stages; j++) stage += (j * g->register_positions + g->stages - 1) / g->stages <= level;
  return stage;
}

static int stage_now(const unit_writer *g) { return stage_of(g, g->level); }

/* Ends a level; writes which stage the next one is in. */
static void next_level(unit_writer *g) { g->level++; }

static void put_stage(unit_writer *g, const char *what) {
  smma_rtl_put(&g->u->body, "\n  // %s", what);
  if (g->stages) smma_rtl_put(&g->u->body, " (stage %d)", stage_now(g) + 1);
  smma_rtl_put(&g->u->body, "\n");
}

/* Returns the name of a vector in a later stage; writes the registers in between. */
static smma_rtl_words at(unit_writer *g, net *n, int stage) {
  smma_rtl_writer *w = &g->u->body;
  while (n->delayed < stage) {
    const smma_rtl_words before = n->delayed > n->stage ? smma_rtl_print("%s_at%d", n->name.text, n->delayed) : n->name;
    n->delayed++;
    smma_rtl_put(w, "  logic [%d:0] %s_at%d;\n  always_ff @(posedge clk) %s_at%d <= %s;\n", n->bits - 1, n->name.text,
                 n->delayed, n->name.text, n->delayed, before.text);
  }
  return stage > n->stage ? smma_rtl_print("%s_at%d", n->name.text, stage) : n->name;
}

static smma_rtl_words now(unit_writer *g, net *n) { return at(g, n, stage_now(g)); }

/* Declares a vector in the present stage. */
static net declare(unit_writer *g, smma_rtl_words name, int bits) {
  smma_rtl_put(&g->u->body, "  logic [%d:0] %s;\n", bits - 1, name.text);
  return (net){name, bits, stage_now(g), stage_now(g)};
}

/* ---- Nodes of a step ---- */

/* Returns the name of the vector of nodes that a step reads: decodes encodings. */
static net take_nodes(unit_writer *g, const char *step) {
  smma_rtl_unit *u = g->u;
  node_list *nodes = &g->nodes;
  net decoded;
  smma_rtl_words from, decode;
  int bits, code;
  if (nodes->format == SMMA_NO_FORMAT) return nodes->n;
  from = now(g, &nodes->n);
  bits = smma_rtl_node_bits(u, nodes->shape);
  code = smma_encoding_of(nodes->format).bits;
  decode = smma_rtl_decode(u, nodes->format, SMMA_SUBNORMALS_KEPT, nodes->shape);
  decoded = declare(g, smma_rtl_print("%s_nodes", step), bits * nodes->count);
  smma_rtl_put(&u->body,
               "  for (genvar i = 0; i < %d; i++) begin : g_%s_nodes\n    %s decode (.code(%s[i*%d +: %d]), .x(%s[i*%d "
               "+: %d]));\n  end\n",
               nodes->count, step, decode.text, from.text, code, code, decoded.name.text, bits, bits);
  return decoded;
}

/* Returns the vector of terms in the order of groups; if the step takes consecutive nodes, that is the vector of
   nodes. */
static net deal(unit_writer *g, const smma_step *s, const char *step, net nodes, int window, int count) {
  const int bits = nodes.bits / count, groups = count / s->take;
  smma_rtl_words from;
  net terms;
  if (s->turn == s->take || window == s->take) return nodes;
  from = now(g, &nodes);
  terms = declare(g, smma_rtl_print("%s_terms", step), nodes.bits);
  for (int group = 0; group < groups; group++)
    for (int i = 0; i < s->take; i++) {
      const int k = smma_dealt_index(s->take, s->turn, window, group, i), place = group * s->take + i;
      smma_rtl_put(&g->u->body, "  assign %s[%d +: %d] = %s[%d +: %d]; // %d of group %d\n", terms.name.text,
                   place * bits, bits, from.text, k * bits, bits, k, group);
    }
  return terms;
}

/* ---- Steps ---- */

static bool is_rounded(const smma_step *s) { return s->output != SMMA_NO_FORMAT; }

static smma_rtl_shape shape_after(unit_writer *g, const smma_step *s, smma_rtl_shape term,
                                  const smma_rtl_shape *accumulator) {
  return is_rounded(s) ? smma_rtl_shape_of(g->u, s->output) : smma_rtl_sum_shape(g->u, s, term, accumulator);
}

/* Sums every group of `nodes` separately; replaces the nodes. */
static void put_apart(unit_writer *g, int step, const char *name, int window) {
  smma_rtl_unit *u = g->u;
  const smma_step *s = &u->p.step[step];
  node_list *nodes = &g->nodes;
  const int count = nodes->count, groups = count / s->take;
  const smma_rtl_shape shape = shape_after(g, s, nodes->shape, NULL);
  smma_rtl_total total;
  smma_rtl_words sum, from;
  net terms = take_nodes(g, name), sums;
  int bits, term_bits;
  terms = deal(g, s, name, terms, window, count);
  from = now(g, &terms);
  term_bits = s->take * smma_rtl_node_bits(u, nodes->shape);
  sum = smma_rtl_sum(u, smma_rtl_print("%s_%s", u->name, name).text, step, nodes->shape, NULL, shape, &total);
  bits = is_rounded(s) ? smma_rtl_total_bits(u, s->output, total) : smma_rtl_node_bits(u, shape);
  sums = declare(g, smma_rtl_print("%s_sums", name), groups * bits);
  smma_rtl_put(&u->body,
               "  for (genvar i = 0; i < %d; i++) begin : g_%s\n    %s sum (.terms(%s[i*%d +: %d]), .sum(%s[i*%d +: "
               "%d]));\n  end\n",
               groups, name, sum.text, from.text, term_bits, term_bits, sums.name.text, bits, bits);
  next_level(g);
  *nodes = (node_list){sums, groups, shape, SMMA_NO_FORMAT};
  if (is_rounded(s)) {
    const int code = smma_encoding_of(s->output).bits;
    const smma_rtl_words round = smma_rtl_round(u, smma_rtl_print("%s_%s", u->name, name).text, step, total);
    net codes;
    put_stage(g, smma_rtl_print("%s: rounding", name).text);
    from = now(g, &sums);
    codes = declare(g, smma_rtl_print("%s_codes", name), groups * code);
    smma_rtl_put(&u->body,
                 "  for (genvar i = 0; i < %d; i++) begin : g_%s_round\n    %s round (.sum(%s[i*%d +: %d]), "
                 ".code(%s[i*%d +: %d]));\n  end\n",
                 groups, name, round.text, from.text, bits, bits, codes.name.text, code, code);
    next_level(g);
    *nodes = (node_list){codes, groups, shape, s->output};
  }
}

static void put_tree(unit_writer *g, int step) {
  const smma_step *s = &g->u->p.step[step];
  int window = s->window, level = 1;
  do {
    const smma_rtl_words name = smma_rtl_print("step%d_level%d", step + 1, level++);
    put_stage(g, smma_rtl_print("Step %d, level %d of the tree: sums of %d nodes", step + 1, level - 1, s->take).text);
    put_apart(g, step, name.text, window);
    window /= s->take;
  } while (window > 1);
}

/* The accumulators of a step's chains. */
typedef struct {
  net sum[SMMA_MAXIMUM_K]; /* of each chain: the last sum */
  bool has_start[SMMA_MAXIMUM_K];
  smma_rtl_shape shape; /* of all accumulators */
  smma_format format;   /* of encodings; SMMA_NO_FORMAT: nodes */
} accumulators;

/* Returns c as an encoding in the format of d, in the present stage. */
static smma_rtl_words c_of_d(unit_writer *g) {
  smma_rtl_unit *u = g->u;
  const smma_rtl_words from = now(g, &g->c);
  net converted;
  if (u->o.c == u->o.d) return from;
  converted = declare(g, smma_rtl_print("c_converted"), smma_encoding_of(u->o.d).bits);
  smma_rtl_put(&u->body, "  %s convert_c (.c(%s), .code(%s));\n", smma_rtl_convert_c(u).text, from.text,
               converted.name.text);
  return converted.name;
}

/* Sets `*start` to the node with which a chain starts, in the present stage. Returns false if the chain starts without
   a node. */
static bool put_start(unit_writer *g, const smma_step *s, const char *name, int chain, smma_rtl_shape shape,
                      net *start) {
  smma_rtl_unit *u = g->u;
  const bool is_c = chain == 0 && s->start == SMMA_START_C;
  const smma_rtl_words code = is_c ? c_of_d(g) : smma_rtl_hex(smma_encoding_of(u->o.d).bits, 0);
  smma_rtl_words decode;
  if (s->start == SMMA_START_NOTHING) return false;
  decode = smma_rtl_decode(u, u->o.d, is_c ? u->p.subnormal_c : SMMA_SUBNORMALS_KEPT, shape);
  *start = declare(g, smma_rtl_print("%s_start%d", name, chain), smma_rtl_node_bits(u, shape));
  smma_rtl_put(&u->body, "  %s decode_start%d_%s (.code(%s), .x(%s));\n", decode.text, chain, name, code.text,
               start->name.text);
  return true;
}

/* Returns the accumulator of a chain as a node, in the present stage. */
static bool put_accumulator(unit_writer *g, const smma_step *s, const char *name, accumulators *acc, int chain,
                            int link, net *node) {
  smma_rtl_unit *u = g->u;
  smma_rtl_words from, decode;
  if (link == 0) return put_start(g, s, name, chain, acc->shape, node);
  if (acc->format == SMMA_NO_FORMAT) {
    *node = acc->sum[chain];
    return true;
  }
  from = now(g, &acc->sum[chain]);
  decode = smma_rtl_decode(u, acc->format, SMMA_SUBNORMALS_KEPT, acc->shape);
  *node = declare(g, smma_rtl_print("%s_accumulator%d_%d", name, chain, link), smma_rtl_node_bits(u, acc->shape));
  smma_rtl_put(&u->body, "  %s decode_%s (.code(%s), .x(%s));\n", decode.text, node->name.text, from.text,
               node->name.text);
  return true;
}

/* Returns the shape of all accumulators of a step. An unrounded sum may have more bits than its accumulator. */
static smma_rtl_shape shape_of_accumulators(unit_writer *g, const smma_step *s, smma_rtl_shape term, int links) {
  const smma_rtl_shape start = smma_rtl_shape_of(g->u, g->u->o.d);
  smma_rtl_shape shape = s->start == SMMA_START_NOTHING ? shape_after(g, s, term, NULL) : start;
  for (int link = s->start == SMMA_START_NOTHING; link < links; link++)
    shape = smma_rtl_union(shape, shape_after(g, s, term, &shape));
  return shape;
}

/* Writes the sums of one link of all chains. */
static void put_link(unit_writer *g, int step, const char *name, accumulators *acc, net *terms, int link, int groups) {
  smma_rtl_unit *u = g->u;
  const smma_step *s = &u->p.step[step];
  const int term_bits = s->take * smma_rtl_node_bits(u, g->nodes.shape),
            code = is_rounded(s) ? smma_encoding_of(s->output).bits : 0;
  const bool alone = link == 0 && s->start == SMMA_START_NOTHING;
  const smma_rtl_words prefix = smma_rtl_print("%s_%s%s", u->name, name, alone ? "_first" : "");
  net sums[SMMA_MAXIMUM_K];
  smma_rtl_total total;
  smma_rtl_words sum;
  int bits;
  sum = smma_rtl_sum(u, prefix.text, step, g->nodes.shape, alone ? NULL : &acc->shape, acc->shape, &total);
  bits = is_rounded(s) ? smma_rtl_total_bits(u, s->output, total) : smma_rtl_node_bits(u, acc->shape);
  for (int chain = 0; chain < s->chains; chain++) {
    const int group = smma_chain_group(s, groups, chain, link);
    smma_rtl_words from = now(g, terms), accumulator = {{0}};
    net node;
    if (put_accumulator(g, s, name, acc, chain, link, &node))
      accumulator = smma_rtl_print(", .accumulator(%s)", now(g, &node).text);
    sums[chain] = declare(g, smma_rtl_print("%s_sum%d_%d", name, chain, link), bits);
    smma_rtl_put(&u->body, "  %s add_%s (.terms(%s[%d:%d])%s, .sum(%s));\n", sum.text, sums[chain].name.text, from.text,
                 (group + 1) * term_bits - 1, group * term_bits, accumulator.text, sums[chain].name.text);
  }
  next_level(g);
  for (int chain = 0; chain < s->chains; chain++) {
    acc->sum[chain] = sums[chain];
    if (!is_rounded(s)) continue;
    if (chain == 0) put_stage(g, smma_rtl_print("Step %d: rounding", step + 1).text);
    {
      const smma_rtl_words round = smma_rtl_round(u, prefix.text, step, total), from = now(g, &sums[chain]);
      acc->sum[chain] = declare(g, smma_rtl_print("%s_code%d_%d", name, chain, link), code);
      smma_rtl_put(&u->body, "  %s round_%s (.sum(%s), .code(%s));\n", round.text, acc->sum[chain].name.text, from.text,
                   acc->sum[chain].name.text);
    }
  }
  if (is_rounded(s)) next_level(g);
}

static void put_chains(unit_writer *g, int step) {
  smma_rtl_unit *u = g->u;
  const smma_step *s = &u->p.step[step];
  const smma_rtl_words name = smma_rtl_print("step%d", step + 1);
  const int groups = g->nodes.count / s->take, links = groups / s->chains;
  accumulators acc = {.format = s->output};
  net terms, all;
  int bits;
  put_stage(g, smma_rtl_print("Step %d: %d sum%s of %d node%s in %d chain%s", step + 1, groups, groups > 1 ? "s" : "",
                              s->take, s->take > 1 ? "s" : "", s->chains, s->chains > 1 ? "s" : "")
                   .text);
  terms = take_nodes(g, name.text);
  terms = deal(g, s, name.text, terms, s->window, g->nodes.count);
  acc.shape = shape_of_accumulators(g, s, g->nodes.shape, links);
  for (int link = 0; link < links; link++) {
    if (link) put_stage(g, smma_rtl_print("Step %d: sum %d of each chain", step + 1, link + 1).text);
    put_link(g, step, name.text, &acc, &terms, link, groups);
  }
  bits = acc.sum[0].bits;
  if (s->chains > 1) {
    smma_rtl_words parts[SMMA_MAXIMUM_K];
    for (int chain = 0; chain < s->chains; chain++) parts[chain] = now(g, &acc.sum[chain]);
    all = declare(g, smma_rtl_print("%s_results", name.text), bits * s->chains);
    for (int chain = 0; chain < s->chains; chain++)
      smma_rtl_put(&u->body, "  assign %s[%d +: %d] = %s;\n", all.name.text, chain * bits, bits, parts[chain].text);
  } else {
    all = acc.sum[0];
  }
  g->nodes = (node_list){all, s->chains, is_rounded(s) ? smma_rtl_shape_of(g->u, s->output) : acc.shape, s->output};
}

/* Writes the keys of a step that have not their defaults, as a custom unit has them. */
static void put_keys(unit_writer *g, int step) {
  smma_rtl_writer *w = &g->u->body;
  char value[64];
  smma_rtl_put(w, "\n  // Step %d of the rule:", step + 1);
  for (const smma_key *key = NULL; (key = smma_next_step_key(key));)
    if (smma_step_key_is_told(&g->u->p, g->u->o.k, step, key))
      smma_rtl_put(w, " %s %s;", key->key,
                   smma_key_value(key, smma_key_of_step(&g->u->p.step[step], key), value, sizeof value));
}

static void put_step(unit_writer *g, int step) {
  const smma_step *s = &g->u->p.step[step];
  put_keys(g, step);
  switch (s->join) {
    case SMMA_JOIN_APART:
      put_stage(g, smma_rtl_print("Step %d: %d sum%s of %d node%s", step + 1, g->nodes.count / s->take,
                                  g->nodes.count / s->take > 1 ? "s" : "", s->take, s->take > 1 ? "s" : "")
                       .text);
      put_apart(g, step, smma_rtl_print("step%d", step + 1).text, s->window);
      break;
    case SMMA_JOIN_TREE: put_tree(g, step); break;
    case SMMA_JOIN_CHAIN: put_chains(g, step); break;
  }
}

/* Multiplies every node by its scale factors. */
static void put_scales(unit_writer *g) {
  smma_rtl_unit *u = g->u;
  const int count = g->nodes.count, run = u->o.k / count, bits = smma_encoding_of(u->o.scale).bits;
  smma_rtl_words scale, from, a, b;
  smma_rtl_shape shape;
  net nodes, scaled;
  put_stage(g, "Scale factors");
  nodes = take_nodes(g, "scaled");
  from = now(g, &nodes), a = now(g, &g->scale_a), b = now(g, &g->scale_b);
  scale = smma_rtl_scale(u, g->nodes.shape, &shape);
  scaled = declare(g, smma_rtl_print("scaled"), count * smma_rtl_node_bits(u, shape));
  smma_rtl_put(&u->body,
               "  for (genvar i = 0; i < %d; i++) begin : g_scale\n    %s scale (.x(%s[i*%d +: %d]), "
               ".scale_a(%s[i*%d/%d*%d +: %d]), "
               ".scale_b(%s[i*%d/%d*%d +: %d]), .scaled(scaled[i*%d +: %d]));\n  end\n",
               count, scale.text, from.text, nodes.bits / count, nodes.bits / count, a.text, run, u->o.scale_block,
               bits, bits, b.text, run, u->o.scale_block, bits, bits, scaled.bits / count, scaled.bits / count);
  next_level(g);
  g->nodes = (node_list){scaled, count, shape, SMMA_NO_FORMAT};
}

/* Returns the words for what a phase multiplies: "slice p / 2 of a, 7 bits". */
static smma_rtl_words slice_words(const smma_rtl_unit *u, int side) {
  const smma_rtl_side of = smma_rtl_side_of(u, side);
  if (of.slice_bits == 0) return smma_rtl_print("%c", of.letter);
  return smma_rtl_print("slice p %c %d of %c, %d bits", side ? '%' : '/', u->p.slices_b, of.letter, of.slice_bits);
}

/* Writes the keys of blocks, slices and phases that have not their defaults. */
static void put_parts_of_factors(unit_writer *g) {
  const smma_rtl_unit *u = g->u;
  const smma_composition *p = &u->p;
  const bool sliced = smma_rtl_has_slices(u);
  smma_rtl_writer *w = &g->u->body;
  for (int side = 0; side < 2; side++) {
    const smma_rtl_side of = smma_rtl_side_of(u, side);
    if (of.block_bits)
      smma_rtl_put(w, "  // Factors of %c: %d bits below the greatest exponent of each block of %d, rounded %s\n",
                   of.letter, of.block_bits, smma_rtl_block_elements(u), smma_rounding_words(p->block_rounding));
  }
  if (sliced)
    smma_rtl_put(w, "  // Phase p, %d to %d, multiplies %s, by %s; / rounds down\n", p->first_phase,
                 p->first_phase + p->phases - 1, slice_words(u, 0).text, slice_words(u, 1).text);
  if (p->zero_product != SMMA_OWN_EXPONENT)
    smma_rtl_put(w, "  // A product with a zero has the exponent %d%s\n", p->zero_product,
                 sliced ? ", less the places before its slices" : "");
}

/* Writes the keys of operands and products that have not their defaults. */
static void put_operands(unit_writer *g) {
  const smma_composition *p = &g->u->p;
  const smma_subnormal_policy of[] = {p->subnormal_a, p->subnormal_b, p->subnormal_c};
  static const char *const words[] = {"kept", "zeros of their sign", "+0"};
  smma_rtl_writer *w = &g->u->body;
  if (smma_rtl_has_only_numbers(g->u)) smma_rtl_put(w, "  // Encodings of infinities and NaN are numbers\n");
  for (int n = 0; n < 3; n++)
    if (of[n] != SMMA_SUBNORMALS_KEPT) smma_rtl_put(w, "  // Subnormal %c: %s\n", "abc"[n], words[of[n]]);
  if (p->widen != SMMA_NO_FORMAT) smma_rtl_put(w, "  // Factors are converted to %s\n", smma_format_text(p->widen));
  put_parts_of_factors(g);
  if (p->product_limit != SMMA_NONE)
    smma_rtl_put(w, "  // Products of 2^%d or more are infinite%s\n", p->product_limit,
                 p->limit_joins ? " when they are added to an accumulator" : "");
  if (p->product == SMMA_PRODUCT_XOR) smma_rtl_put(w, "  // A product is a xor b\n");
}

/* Writes the vector of the factors of a or b, and, if the rule has blocks of them, aligns it. Returns the name. */
static smma_rtl_words put_factors(unit_writer *g, int side, smma_rtl_shape *shape) {
  smma_rtl_unit *u = g->u;
  const smma_rtl_side of = smma_rtl_side_of(u, side);
  const int k = u->o.k, code = smma_encoding_of(of.format).bits, elements = smma_rtl_block_elements(u);
  const smma_rtl_words decode = smma_rtl_factor(u, side, shape);
  const int bits = smma_rtl_node_bits(u, *shape);
  net factors = declare(g, smma_rtl_print("factors_%c", of.letter), k * bits), aligned;
  smma_rtl_words block;
  int to;
  smma_rtl_put(&u->body,
               "  for (genvar i = 0; i < %d; i++) begin : g_factor_%c\n    %s decode (.code(%c[i*%d +: %d]), "
               ".x(factors_%c[i*%d +: %d]));\n  end\n",
               k, of.letter, decode.text, of.letter, code, code, of.letter, bits, bits);
  if (!of.block_bits) return factors.name;
  block = smma_rtl_block(u, side, *shape, shape);
  to = smma_rtl_node_bits(u, *shape);
  aligned = declare(g, smma_rtl_print("aligned_%c", of.letter), k * to);
  smma_rtl_put(&u->body,
               "  for (genvar i = 0; i < %d; i++) begin : g_block_%c\n    %s block (.factors(%s[i*%d +: %d]), "
               ".aligned(%s[i*%d +: %d]));\n  end\n",
               k / elements, of.letter, block.text, factors.name.text, elements * bits, elements * bits,
               aligned.name.text, elements * to, elements * to);
  return aligned.name;
}

/* Writes the products of factors that are prepared first: those of every phase, one phase after the other. */
static net put_products_of_factors(unit_writer *g, int count, smma_rtl_shape *shape) {
  smma_rtl_unit *u = g->u;
  const int k = u->o.k, first = u->p.first_phase;
  smma_rtl_shape factor[2];
  const smma_rtl_words a = put_factors(g, 0, &factor[0]), b = put_factors(g, 1, &factor[1]);
  const smma_rtl_words product = smma_rtl_product_of_factors(u, factor, shape);
  const int bits = smma_rtl_node_bits(u, *shape), x = smma_rtl_node_bits(u, factor[0]),
            y = smma_rtl_node_bits(u, factor[1]);
  const net products = declare(g, smma_rtl_print("products"), count * bits);
  smma_rtl_put(&u->body, "  for (genvar i = 0; i < %d; i++) begin : g_product\n    %s ", count, product.text);
  if (smma_rtl_has_slices(u)) {
    smma_rtl_put(&u->body, "#(.PHASE(");
    if (first) smma_rtl_put(&u->body, "%d + ", first);
    smma_rtl_put(&u->body, "i/%d)) ", k);
  }
  smma_rtl_put(&u->body,
               "multiply (\n        .a(%s[i%%%d*%d +: %d]), .b(%s[i%%%d*%d +: %d]), .product(products[i*%d +: %d]));\n",
               a.text, k, x, x, b.text, k, y, y, bits, bits);
  smma_rtl_put(&u->body, "  end\n");
  return products;
}

/* Writes the products of all elements of a and b. */
static net put_whole_products(unit_writer *g, int count, smma_rtl_shape *shape) {
  smma_rtl_unit *u = g->u;
  const int a = smma_encoding_of(u->o.a).bits, b = smma_encoding_of(u->o.b).bits;
  const smma_rtl_words product = smma_rtl_product(u, shape);
  const int bits = smma_rtl_node_bits(u, *shape);
  const net products = declare(g, smma_rtl_print("products"), count * bits);
  smma_rtl_put(&u->body,
               "  for (genvar i = 0; i < %d; i++) begin : g_product\n    %s multiply (.a(a[i*%d +: %d]), .b(b[i*%d +: "
               "%d]), .product(products[i*%d +: %d]));\n  end\n",
               count, product.text, a, a, b, b, bits, bits);
  return products;
}

static void put_products(unit_writer *g) {
  const int k = g->u->o.k, count = smma_product_nodes(&g->u->p, k);
  smma_rtl_words phases = {{0}};
  smma_rtl_shape shape;
  net products;
  if (count > k) phases = smma_rtl_print(", %d of each phase in turn", k);
  put_stage(g, smma_rtl_print("The %d product%s%s", count, count > 1 ? "s" : "", phases.text).text);
  put_operands(g);
  if (smma_has_whole_products(&g->u->p))
    products = put_whole_products(g, count, &shape);
  else
    products = put_products_of_factors(g, count, &shape);
  next_level(g);
  g->nodes = (node_list){products, count, shape, SMMA_NO_FORMAT};
}

/* Assigns d, with the unit's own NaN. */
static void put_result(unit_writer *g) {
  smma_rtl_unit *u = g->u;
  const smma_encoding f = smma_encoding_of(u->o.d);
  const smma_rtl_words code = at(g, &g->nodes.n, g->stages);
  if (f.specials != SMMA_SPECIALS_ONE_NAN || !smma_has_one_nan(u->o.rule.nan)) {
    smma_rtl_put(&u->body, "\n  assign d = %s;\n", code.text);
    return;
  }
  smma_rtl_put(&u->body, "\n  // NaN has one encoding\n  assign d = &%s[%d:%d] ? %s : %s;\n", code.text,
               f.ignored_bits + f.exponent_bits + f.fraction_bits - 1, f.ignored_bits,
               smma_rtl_hex(f.bits, smma_nan_of(f, u->o.rule.nan)).text, code.text);
}

static net port(const char *name, int bits) { return (net){smma_rtl_print("%s", name), bits, 0, 0}; }

int smma_rtl_put_unit(smma_rtl_unit *u, int stages) {
  const smma_operation *o = &u->o;
  unit_writer g = {.u = u, .stages = stages, .register_positions = u->register_positions};
  g.a = port("a", o->k * smma_encoding_of(o->a).bits);
  g.b = port("b", o->k * smma_encoding_of(o->b).bits);
  g.c = port("c", smma_encoding_of(o->c).bits);
  if (o->scale_block) {
    const int bits = o->k / o->scale_block * smma_encoding_of(o->scale).bits;
    g.scale_a = port("scale_a", bits), g.scale_b = port("scale_b", bits);
  }
  put_products(&g);
  for (int step = 0; step <= u->p.steps; step++) {
    if (step > 0) put_step(&g, step - 1);
    if (o->scale_block && step == u->p.scaled_step) put_scales(&g);
  }
  put_result(&g);
  return g.level;
}
