#include <math.h>

#include "cli/matrices.h"
#include "cli/tolerance.h"

static int run(const smma_tolerance_options *o, const char **paths) {
  static smma_tolerance_study x;
  x.options = o;
  smma_tolerance_targets(&x);
  smma_tolerance_operands(&x, paths);
  smma_tolerance_measure(&x);
  smma_tolerance_judge(&x);
  if (o->json)
    smma_tolerance_print_json(&x);
  else if (o->paste)
    smma_tolerance_print_paste(&x);
  else
    smma_tolerance_print_text(&x);
  smma_tolerance_release(&x);
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

/* What --help says behind the options. */
static const char *details(char *text, size_t size) {
  size_t used = (size_t)snprintf(
      text, size,
      "How far each GPU's product is from the exact one, A and B as they are in its formats: measured,\n"
      "and proved; then which rtol and atol accept all of them, and which wrong results these refuse.\n"
      "A and B are files (.npy or FILE.safetensors[:TENSOR]), or random data of a kind:\n");
  for (int kind = 0; kind < SMMA_DATA_KINDS; kind++)
    used += (size_t)snprintf(text + used, size - used, "  %-11s %s\n", smma_data_infos[kind].name,
                             smma_data_infos[kind].what);
  snprintf(text + used, size - used,
           "Example: softmma tolerance --in bf16 --shape 64x64x4096 --store bf16\n"
           "         softmma tolerance --on H100:e4m3,MI300X:e4m3fnuz --data uniform --paste\n");
  return text;
}

int smma_command_tolerance(int argc, const char **argv) {
  smma_tolerance_options o = {.alpha = 1, .beta = 1, .margin = 2, .split_k = 1};
  char text[4096];
  const char **paths;
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &o.gpus, 0,
       "GPUs or architectures, each with ':FORMAT' or ':A:B' if not that of --in; all that have it without the option",
       "GPU[:FORMAT],..."},
      {"instr", 0, POPT_ARG_STRING, &o.instructions, 0, "their instruction, by name or alias", "NAME"},
      {"in", 0, POPT_ARG_STRING, &o.in, 0, "format of A and B, or A,B; f16 without it", "FORMAT"},
      {"out", 0, POPT_ARG_STRING, &o.out, 0,
       "format of the unit's results: f32 (f64 for f64, s32 for integers) without it", "FORMAT"},
      {"store", 0, POPT_ARG_STRING, &o.store, 0, "what the kernel rounds results to at last; those of --out without it",
       "FORMAT"},
      {"shape", 0, POPT_ARG_STRING, &o.shape, 0, "of random data; 64x64x4096 without it", "MxNxK"},
      {"data", 0, POPT_ARG_STRING, &o.data, 0, "which random data: below; normal without it", "KIND[=AMOUNT]"},
      {"with-c", 0, POPT_ARG_NONE, &o.with_c, 0, "random data have a C, of N(0, 1)", NULL},
      SMMA_RAW_OPTION,
      {"c", 'C', POPT_ARG_STRING, &o.c, 0, "the matrix C; zero without it", "FILE"},
      {"alpha", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.alpha, 0, "factor of A B", "X"},
      {"beta", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.beta, 0, "factor of C", "X"},
      {"split-k", 0, POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &o.split_k, 0,
       "cut K into N slices whose results are added in FP32", "N"},
      {"promote-every", 0, POPT_ARG_LONGLONG, &o.promote_every, 0,
       "move partial sums to an FP32 accumulator every N of K", "N"},
      {"plan", 0, POPT_ARG_STRING, &o.plans, 0,
       "how the library around the instruction sums: one for all GPUs or one for each, 'none' for one chain",
       "FILE|NAME,..."},
      SMMA_ROUND_IN_OPTION(&o.round_in, "MODE,..."),
      {"margin", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.margin, 0,
       "how many times the measured errors are accepted", "X"},
      {"threads", 't', POPT_ARG_INT, &o.threads, 0, "all cores without it; the result is the same", "N"},
      {"paste", 0, POPT_ARG_NONE, &o.paste, 0, "print only the lines for a kernel's test", NULL},
      {"json", 0, POPT_ARG_NONE, &o.json, 0, "print as JSON", NULL},
      POPT_TABLEEND};
  paths = smma_parse_options(argc, argv, options, 0, 2, details(text, sizeof text));
  if (o.split_k < 1) smma_die("--split-k: %lld is not a number of slices; the least is 1", o.split_k);
  if (o.promote_every < 0) smma_die("--promote-every: %lld is negative", o.promote_every);
  if (!(o.margin >= 1 && o.margin <= 1000)) smma_die("--margin: %g is not a number from 1 to 1000", o.margin);
  if (!isfinite(o.alpha) || !isfinite(o.beta)) smma_die("--alpha, --beta: they are finite numbers");
  if (o.threads < 0 || o.threads > 1024)
    smma_die("--threads: %d is not a number from 0 (all cores) to 1024", o.threads);
  return run(&o, paths);
}
