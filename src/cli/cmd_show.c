/* softmma show: prints the model and the evidence of a GPU or an instruction, or the range of a format. */
#include <stdlib.h>
#include <string.h>

#include "cli/describe.h"
#include "cli/target.h"
#include "facts/gpu.h"
#include "rows/list.h"

static smma_datum *instructions_datum(const smma_instruction *const *found, size_t count) {
  smma_datum *list = smma_datum_list();
  for (size_t i = 0; i < count; i++) smma_datum_append(list, smma_instruction_datum(found[i]));
  return list;
}

/* Shows instructions: the only one, or a list of several. */
static int show_instructions(const smma_instruction *const *found, size_t count, bool is_list, bool json) {
  if (json) smma_print_datum(is_list ? instructions_datum(found, count) : smma_instruction_datum(*found));
  for (size_t i = 0; !json && i < count; i++) {
    if (i) putchar('\n');
    smma_print_instruction(found[i]);
  }
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

/* ---- Formats ---- */

static void print_formats(const smma_datum *formats) {
  const bool is_list = smma_datum_kind_of(formats) == SMMA_DATUM_LIST;
  if (!is_list) smma_print_format(formats);
  for (size_t i = 0; is_list && i < smma_datum_size(formats); i++) {
    if (i) putchar('\n');
    smma_print_format(smma_datum_at(formats, i));
  }
}

/* Shows what smma_named_format_datum returned. */
static int show_formats(smma_datum *formats, bool json) {
  if (json) {
    smma_print_datum(formats);
  } else {
    if (!smma_datum_is_complete(formats)) smma_die("out of memory");
    print_formats(formats);
    smma_datum_free(formats);
  }
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

/* Shows encodings of a format, given as values or, with 0x, as encodings. */
static int show_encodings(const char *name, const char *values, bool json) {
  const smma_format format = smma_format_from_text(name);
  const bool hex = strncmp(values, "0x", 2) == 0 && !strpbrk(values, "p.");
  const smma_list_form form = {
      "VALUE", format, SMMA_ROUND_NEAREST_EVEN, hex, &smma_notes_printed, "a list of their own that begins with 0x"};
  smma_error error;
  int count;
  if (format == SMMA_NO_FORMAT)
    return smma_complain("unexpected argument '%s': a value belongs to a format, as in 'softmma show e4m3 0x7e'",
                         values);
  uint64_t *encoding = smma_list_read_any(values, &form, &count, &error);
  if (!encoding) return smma_complain("%s", error.text);
  smma_datum *list = smma_datum_list();
  for (int i = 0; i < count; i++) smma_datum_append(list, smma_encoding_datum(format, encoding[i]));
  free(encoding);
  if (json) {
    smma_print_datum(list);
    return smma_finish_output(SMMA_EXIT_EQUAL);
  }
  if (!smma_datum_is_complete(list)) smma_die("out of memory");
  for (int i = 0; i < count; i++) smma_print_encoding(smma_datum_at(list, (size_t)i));
  smma_datum_free(list);
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

/* ---- Instructions ---- */

/* Shows the instructions of that name, in every architecture that has it. */
static int show_everywhere(const char *name, bool json) {
  const smma_instruction *found[SMMA_ARCH_COUNT];
  smma_error error;
  const size_t count = smma_resolve_everywhere(name, found, &error);
  if (count) return show_instructions(found, count, true, json);
  smma_datum *formats = smma_named_format_datum(name);
  if (formats) return show_formats(formats, json);
  return smma_check_spelling(name, &error) ? smma_complain("%s (see 'softmma list')", error.text)
                                           : smma_complain("%s", error.text);
}

/* Shows the preferred instruction of the GPU for each format that the name stands for, as far as the GPU has one. */
static int show_each_format(const smma_target *target, const char *name, const smma_choice *choice, bool json) {
  const smma_instruction *found[SMMA_MOST_FORMATS_OF_NAME];
  const char *list = smma_formats_of_name(name);
  size_t count = 0;
  smma_error error;
  while (*list) {
    char one[SMMA_FORMAT_NAME_SIZE];
    smma_formats formats;
    list = smma_next_format(list, one);
    smma_require(smma_formats_of_options(one, "--in", choice->out, &formats, &error), &error);
    if (!(found[count] = smma_find_by_formats(target->gpu, &formats, NULL))) continue;
    smma_require(smma_check_basis(found[count++], target->gpu, &error), &error);
  }
  if (!count) return smma_complain("%s has no instruction for %s: %s", target->gpu, name, smma_formats_of_name(name));
  return show_instructions(found, count, true, json);
}

static int show_gpu(const smma_target *target, bool json) {
  smma_datum *gpu = smma_gpu_datum(target->gpu);
  if (json) {
    smma_print_datum(gpu);
  } else {
    if (!smma_datum_is_complete(gpu)) smma_die("out of memory");
    smma_print_gpu(gpu, target->gpu);
    smma_datum_free(gpu);
  }
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

int smma_command_show(int argc, const char **argv) {
  const char *on = NULL, *several, **names;
  smma_choice choice = {.instr = NULL};
  const smma_instruction *chosen = NULL;
  smma_datum *formats;
  smma_format_filter filter;
  smma_target target;
  smma_error error;
  int json = 0, status;
  struct poptOption options[] = {SMMA_ON_OPTION(&on, "the target (default: all architectures that have NAME)"),
                                 SMMA_CHOICE_OPTIONS(choice, ""),
                                 {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL},
                                 POPT_TABLEEND};
  names =
      smma_parse_options(argc, argv, options, 0, 2,
                         "NAME: a canonical name as 'softmma list' prints it, a PTX, SASS or AMD spelling, or a\n"
                         "number format, such as e5m2 or nvfp4: its range and its encodings.\n"
                         "A GPU alone shows what its matrix unit computes, one line for each pair of formats.\n"
                         "VALUE: a list of numbers, or of encodings such as 0x7e; shows the encoding and the value.\n",
                         &status);
  if (!names) return status;
  if (*names && names[1]) {
    smma_require(smma_check_options("a value", "json", &error), &error);
    return show_encodings(names[0], names[1], json);
  }
  if (*names && choice.instr) smma_die("--instr: '%s' already gives it; leave it out", *names);
  if (*names && on && smma_format_filter_from_text(*names, SMMA_NO_FORMAT, &filter, NULL) == SMMA_OK)
    choice.in = *names;
  else if (*names)
    choice.instr = *names;
  if (!on && !choice.instr && choice.in && (formats = smma_named_format_datum(choice.in))) {
    smma_require(smma_check_options("a format", "in json", &error), &error);
    return show_formats(formats, json);
  }
  if (!on && !choice.instr) smma_die("a name is missing; for example softmma show H100, or show HMMA.16816.F32");
  if (!on) smma_require(smma_check_options("the name of an instruction", "instr json", &error), &error);
  if (!on) return show_everywhere(choice.instr, json);
  smma_require(smma_read_target(on, &target, &error), &error);
  if (!choice.instr && !target.custom && (several = target.more ? target.more : choice.in) &&
      !(target.more && choice.in) && smma_formats_of_name(several))
    return show_each_format(&target, several, &choice, json);
  smma_require(smma_chosen(&target, &choice, &chosen, &error), &error);
  if (chosen) return show_instructions(&chosen, 1, false, json);
  return show_gpu(&target, json);
}
