/* softmma explain: draws one dot-product-add bit by bit, for one target or two. */
#include <stdlib.h>
#include <string.h>

#include "cli/operands.h"
#include "cli/output.h"
#include "cli/row.h"
#include "cli/target.h"
#include "explain/datum.h"
#include "explain/picture.h"
#include "io/custom_file.h"
#include "trace/planned.h"

/* One or two instructions that compute the same test vector. */
typedef struct {
  const smma_instruction *instruction[2];
  const char *unit[2]; /* names to show */
  int count;
  smma_row row;
} explain_request;

static size_t length_of_name(const char *list) { return strcspn(list, ","); }

/* Splits "X" or "X,Y" in place. `length_of` returns the length of the first item. */
static int split(char *text, char *part[2], const char *option, size_t (*length_of)(const char *list)) {
  char *end = text + length_of(text);
  part[0] = part[1] = text;
  if (!*end) return 1;
  *end = 0;
  part[1] = end + 1;
  if (part[1][length_of(part[1])]) smma_die("%s: at most two, as in X,Y", option);
  return 2;
}

/* `of_file`: the operands come from a file of test vectors, which has one K. */
static void choose_instructions(explain_request *r, char *gpus, char *names, const smma_choice *choice, bool of_file) {
  char *gpu[2], *name[2] = {NULL, NULL};
  int gpu_count = split(gpus, gpu, "--on", smma_custom_item);
  int name_count = names ? split(names, name, "--instr", length_of_name) : 1;
  char why[128];
  smma_error error;
  smma_operation operation[2];
  r->count = gpu_count > name_count ? gpu_count : name_count;
  for (int u = 0; u < r->count; u++) {
    const smma_choice one = {.instr = name[u], .in = choice->in, .out = choice->out};
    r->instruction[u] = (gpu_count > 1 ? smma_choose_target : smma_choose_instruction)(gpu[u], &one, &error);
    smma_require(r->instruction[u], &error);
    r->unit[u] = gpu[u];
    operation[u] = smma_operation_of(r->instruction[u]);
  }
  if (r->count > 1 &&
      !(of_file ? smma_same_operands : smma_share_operands)(&operation[0], &operation[1], why, sizeof why))
    smma_die("%s and %s do not take the same operands: %s; explain one at a time", r->instruction[0]->name,
             r->instruction[1]->name, why);
}

/* Reads the operands, which must fit both instructions. The one with the greater K gets zeros. */
static void read_operands(explain_request *r, const smma_operand_options *operands) {
  const int longer = r->count > 1 && r->instruction[1]->k > r->instruction[0]->k;
  const smma_instruction *one = r->instruction[longer], *other = r->instruction[r->count - 1 - longer];
  smma_error error;
  smma_require(smma_read_operands(other, operands, &r->row, &error), &error);
  if (one->k > other->k)
    smma_note("%s has K = %d; its other %d products are 0",
              strcmp(r->unit[0], r->unit[1]) == 0 ? one->name : r->unit[longer], one->k, one->k - other->k);
}

/* Reads test vector `number`, counted from 1, of a file. Takes the file's instruction if the options name none. */
static void read_row(explain_request *r, const char *path, long long number) {
  smma_error error;
  smma_vector_header header;
  smma_vector_status status = SMMA_VECTOR_ROW;
  FILE *stream = fopen(path, "r");
  smma_vector_reader *reader;
  const smma_instruction *own;
  char why[128];
  if (!stream) smma_die("%s: cannot be opened", path);
  reader = smma_vector_open(stream, path, &header, &error);
  own = reader ? smma_instruction_of_header(&header, path, &error) : NULL;
  smma_require(own, &error);
  for (long long i = 0; i < number && status == SMMA_VECTOR_ROW; i++)
    status = smma_vector_next(reader, &r->row, &error);
  smma_require(status != SMMA_VECTOR_ERROR, &error);
  if (status == SMMA_VECTOR_END) smma_die("--row: %s has fewer than %lld rows", path, number);
  smma_vector_close(reader);
  fclose(stream);
  if (r->count == 0) {
    r->count = 1;
    r->instruction[0] = own;
    r->unit[0] = smma_arch_name(own);
    return;
  }
  smma_operation of_file = smma_operation_of(own), asked = smma_operation_of(r->instruction[0]);
  if (!smma_same_operands(&asked, &of_file, why, sizeof why))
    smma_die("%s does not fit %s: %s", path, r->instruction[0]->name, why);
}

/* The explanations that a picture shows. */
typedef struct {
  smma_explained unit[2];
  int count;
} explained_units;

static bool write_picture(FILE *stream, const void *content, smma_error *error) {
  const explained_units *x = content;
  return smma_picture_write(stream, x->unit, x->count, 0) || smma_no_memory(error);
}

/* Prints the explanation or writes the picture. Returns whether the two results differ. */
static bool show(const explain_request *r, const char *svg, bool json) {
  smma_explained_row x[2];
  explained_units all = {.count = r->count};
  smma_error error;
  bool differ;
  for (int u = 0; u < r->count; u++) {
    smma_require(smma_explain_row_of(&x[u], r->unit[u], r->instruction[u], &r->row, &error), &error);
    all.unit[u] = x[u].explained;
  }
  differ = r->count > 1 && !smma_have_same_result(all.unit);
  if (svg && smma_write_output(svg, "--svg", write_picture, &all) != SMMA_EXIT_EQUAL) exit(SMMA_EXIT_FAILED);
  if (json)
    smma_print_datum(smma_explanations_datum(all.unit, all.count));
  else if (!svg && r->count > 1)
    smma_explain_print_two(stdout, all.unit, smma_terminal_width());
  else if (!svg)
    smma_explain_print(stdout, all.unit->operation, all.unit->explanation, smma_terminal_width());
  for (int u = 0; u < r->count; u++) smma_explanation_free(&x[u].explanation);
  return differ;
}

/* Explains one element of a product with a plan, call by call and addition by addition. */
static void explain_planned(const char *label, const smma_instruction *i, const char *plan,
                            const smma_operand_options *o, bool json) {
  smma_planned_request request = {.label = label, .instruction = i};
  smma_planned_result result;
  smma_target_plan taken;
  smma_target_rounding rounding;
  smma_error error;
  uint64_t *a, *b, c;
  int count = 0, other = 0;
  smma_require(
      smma_target_plans(plan, &i, 1, &taken, &error) && smma_operands_rounding(i, o, &taken, &rounding, &error),
      &error);
  const smma_list_form form[] = {smma_operand_form(o, "--a", i->a, rounding.a),
                                 smma_operand_form(o, "--b", i->b, rounding.b),
                                 smma_operand_form(o, "--c", i->c, SMMA_ROUND_NEAREST_EVEN)};
  smma_require(
      smma_is_given(o->a, "--a", "'1.5 0*127'", &error) && (a = smma_list_read_any(o->a, &form[0], &count, &error)) &&
          smma_is_given(o->b, "--b", "'1.5 0*127'", &error) && (b = smma_list_read_any(o->b, &form[1], &other, &error)),
      &error);
  if (count != other) smma_die("--a and --b have %d and %d elements; give the same number", count, other);
  smma_require(!o->c || smma_list_read(o->c, &form[2], 1, false, &c, &error), &error);
  request.c = o->c ? &c : NULL;
  request.plan = taken.plan, request.plan_text = taken.text;
  request.a = a, request.b = b, request.k = (size_t)count;
  smma_require(smma_planned_run(&request, &result, &error), &error);
  if (json)
    smma_print_datum(smma_planned_datum(&result));
  else
    smma_planned_print(stdout, &result, smma_terminal_width());
  smma_planned_free(&result);
  smma_plan_free(taken.plan);
  free(a), free(b);
}

int smma_command_explain(int argc, const char **argv) {
  char *gpus = NULL, *names = NULL;
  const char *svg = NULL, *plan = NULL, **files;
  smma_choice choice = {.instr = NULL};
  long long number = 0;
  int json = 0, status;
  smma_error error;
  explain_request r = {.count = 0};
  smma_operand_options operands = {.hex = 0};
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &gpus, 0, "the target, or two", "TARGET[,TARGET]"},
      {"instr", 0, POPT_ARG_STRING, &names, 0, "the instruction, by name or alias, or two", "NAME[,NAME]"},
      SMMA_FORMAT_OPTIONS(choice, ""),
      SMMA_OPERAND_OPTIONS(operands),
      {"row", 0, POPT_ARG_LONGLONG, &number, 0,
       "take the operands from test vector N, counted from 1, of the vector file FILE", "N"},
      {"plan", 0, POPT_ARG_STRING, &plan, 0,
       "more products than one instruction takes, summed as the library around it sums them (docs/plans.md)",
       "FILE|NAME"},
      {"svg", 0, POPT_ARG_STRING, &svg, 0, "write a picture instead of text; - is standard output", "FILE"},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL},
      POPT_TABLEEND};
  files = smma_parse_options(
      argc, argv, options, 0, argc,
      SMMA_OPERAND_DETAILS
      "With two GPUs or instructions, the first step whose outcome differs is marked and named; exit\n"
      "status 1 reports that the results differ. 'softmma explain rows.txt --row 3' explains a test vector.\n",
      &status);
  if (!files) return status;
  smma_require(!json || !svg || smma_check_file(svg, "--svg", "the JSON", &error), &error);
  if (svg && !json && !smma_is_standard_output(svg) && smma_output_is_redirected())
    smma_die("-o: the picture of --svg replaces the text; leave one of them out");
  if (number < 0 || (number && (!files[0] || files[1]))) smma_die("--row: a number from 1 goes with one vector file");
  smma_require(number || smma_take_operand_arguments(files, &operands, &error), &error);
  if (number)
    smma_require(smma_check_options(
                     "--row", gpus || names || choice.in ? "row on instr in out svg json" : "row svg json", &error),
                 &error);
  if (!number || gpus || names || choice.in) {
    smma_require(smma_is_given(gpus, "--on", "H100,A100", &error), &error);
    if (gpus[smma_custom_item(gpus)])
      smma_require(smma_check_choice(gpus, &(smma_choice){names, choice.in, choice.out, NULL}, &error), &error);
    choose_instructions(&r, gpus, names, &choice, number != 0);
  }
  if (plan) {
    if (svg || r.count != 1)
      smma_die("--plan: it explains operands of one GPU as text or JSON; 'softmma trace' compares two, and draws");
    if (operands.scale_a || operands.scale_b)
      smma_die("--plan: a row with scale factors is not explained; 'softmma trace' explains an element of matrices");
    explain_planned(r.unit[0], r.instruction[0], plan, &operands, json);
    return smma_finish_output(SMMA_EXIT_EQUAL);
  }
  if (number)
    read_row(&r, files[0], number);
  else
    read_operands(&r, &operands);
  return smma_finish_output(show(&r, svg, json) ? SMMA_EXIT_DIFFERENT : SMMA_EXIT_EQUAL);
}
