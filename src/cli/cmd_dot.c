/* softmma dot: computes one dot-product-add. */
#include "cli/operands.h"
#include "cli/row.h"
#include "cli/target.h"

int smma_command_dot(int argc, const char **argv) {
  const char *gpu = NULL, *when = NULL, **lists;
  smma_choice choice = {.instr = NULL};
  int explained = 0, json = 0, flags = 0, status;
  smma_operand_options operands = {.hex = 0};
  char hex_text[24], value[40], flags_text[SMMA_FLAGS_TEXT];
  const smma_instruction *i;
  smma_tininess tininess;
  smma_datum *datum;
  smma_operation o;
  smma_error error;
  smma_row x = {.c = 0};
  struct poptOption options[] = {SMMA_ON_OPTION(&gpu, "the target"),
                                 SMMA_CHOICE_OPTIONS(choice, ""),
                                 SMMA_OPERAND_OPTIONS(operands),
                                 {"explain", 0, POPT_ARG_NONE, &explained, 0,
                                  "draw the bits of every term, the truncated bits, the sum and the rounding", NULL},
                                 SMMA_FLAGS_OPTIONS(&flags, &when, "print the exception flags of IEEE 754, too"),
                                 {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL},
                                 POPT_TABLEEND};
  lists = smma_parse_options(argc, argv, options, 0, argc, SMMA_OPERAND_DETAILS, &status);
  if (!lists) return status;
  if (json && explained) smma_die("--explain: a drawing is no JSON or CSV; leave out one of the options");
  smma_require(smma_take_operand_arguments(lists, &operands, &error) &&
                   smma_read_tininess(flags, when, &tininess, &error) &&
                   (i = smma_choose_instruction(gpu, &choice, &error)) && smma_read_operands(i, &operands, &x, &error),
               &error);
  o = smma_operation_of(i);
  x.d = smma_row_compute(&o, &x);
  if (flags && !smma_row_compute_flags(i, &x, tininess, &error)) smma_die("--flags: %s", error.text);
  if (json) {
    datum = smma_row_datum(i, &x);
    if (flags) smma_put_flags(datum, (int)x.flags);
    smma_print_datum(datum);
  } else if (explained) {
    smma_require(smma_print_explanation(i, &x, &error), &error);
  } else {
    printf("0x%s  %s\n", smma_hex_text(i->d, x.d, hex_text), smma_value_text(i->d, x.d, value));
  }
  if (flags && !json) printf("flags %s\n", smma_flags_text((int)x.flags, flags_text));
  return smma_finish_output(SMMA_EXIT_EQUAL);
}
