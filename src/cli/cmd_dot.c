#include "cli/operands.h"
#include "cli/row.h"
#include "cli/values.h"
#include "host/load.h"

/* Through the public function, as a program would call it. */
static void compute(const smma_instruction *i, smma_row *x) {
  uint64_t raw[5][SMMA_MAXIMUM_K] = {{0}}, c = 0, d = 0;
  const uint64_t *from[] = {x->a, x->b, x->scale_a, x->scale_b};
  int scales = i->scale_block ? i->k / i->scale_block : 0, count[] = {i->k, i->k, scales, scales};
  smma_format format[] = {i->a, i->b, i->scale, i->scale};
  for (int v = 0; v < 4; v++)
    for (int e = 0; e < count[v]; e++)
      smma_store(smma_container_bytes(smma_encoding_of(format[v])), raw[v], (size_t)e, from[v][e]);
  smma_store(smma_container_bytes(smma_encoding_of(i->c)), &c, 0, x->c);
  smma_dot(i, raw[0], raw[1], &c, scales ? raw[2] : NULL, scales ? raw[3] : NULL, &d);
  x->d = smma_load(smma_container_bytes(smma_encoding_of(i->d)), &d, 0);
}

static void print_json(const smma_instruction *i, const smma_row *x) {
  char c[24], d[24];
  int scales = i->scale_block ? i->k / i->scale_block : 0;
  json_t *object = json_pack("{s:o, s:s, s:o, s:o, s:s, s:s, s:o}", "arch", smma_json_text(smma_arch_name(i)),
                             "instruction", i->name, "a", smma_hex_array(i->a, x->a, i->k), "b",
                             smma_hex_array(i->b, x->b, i->k), "c", smma_hex_text(i->c, x->c, c), "d",
                             smma_hex_text(i->d, x->d, d), "value", smma_json_value(smma_value(i->d, x->d)));
  if (scales) {
    json_object_set_new(object, "scale_a", smma_hex_array(i->scale, x->scale_a, scales));
    json_object_set_new(object, "scale_b", smma_hex_array(i->scale, x->scale_b, scales));
  }
  smma_print_json(object);
}

int smma_command_dot(int argc, const char **argv) {
  const char *gpu = NULL, *name = NULL;
  int explained = 0, json = 0;
  smma_operand_options operands = {.hex = 0};
  char hex_text[24], value[40];
  const smma_instruction *i;
  smma_row x = {.c = 0};
  struct poptOption options[] = {{"on", 0, POPT_ARG_STRING, &gpu, 0, "the GPU or architecture", "GPU"},
                                 {"instr", 0, POPT_ARG_STRING, &name, 0, "the instruction, by name or alias", "NAME"},
                                 SMMA_OPERAND_OPTIONS(operands),
                                 {"explain", 0, POPT_ARG_NONE, &explained, 0,
                                  "draw every term's bits, what is cut off, the sum and the rounding", NULL},
                                 {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL},
                                 POPT_TABLEEND};
  smma_parse_options(argc, argv, options, 0, 0,
                     SMMA_OPERAND_DETAILS
                     "Example: softmma dot --on V100 --instr HMMA.884.F32.F32 -a '1.5 1 1 0' -b '1.5 0x1p-23*2 0'\n");
  if (json && explained) smma_die("--explain: a drawing is no JSON; leave out --explain or --json");
  gpu = smma_require_option(gpu, "--on", "H100");
  i = smma_require_instruction(gpu, name, "--instr");
  smma_read_operands(i, &operands, &x);
  compute(i, &x);
  if (json)
    print_json(i, &x);
  else if (explained)
    smma_print_explanation(i, &x);
  else
    printf("0x%s  %s\n", smma_hex_text(i->d, x.d, hex_text), smma_value_text(i->d, x.d, value));
  return smma_finish_output(SMMA_EXIT_EQUAL);
}
