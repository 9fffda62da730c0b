/* softmma plan: checks the file of a plan, or writes the plan of a known library. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/target.h"
#include "io/plan_file.h"
#include "isa/key.h"
#include "isa/nearest.h"
#include "plan/library.h"

typedef struct {
  const char *as, *gpu, *out, *output;
  smma_choice choice; /* without --out, which is the format of the plan's D */
  long long m, n, k;
  int fast, with_c, a_strided, b_strided, list;
  smma_plan_request request; /* holds the options that give cuBLASLt's algorithm */
} plan_options;

static int list_libraries(void) {
  for (size_t i = 0; smma_plan_library(i); i++) printf("%s\n", smma_plan_library(i));
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

/* Reports whether an argument that is no file is the name of a library's plan, with or without its GPU. */
static bool is_library(const char *name) {
  const size_t length = strlen(name);
  smma_plan_request ignored;
  smma_nearest nearest;
  char hint[SMMA_NEAREST_COUNT * SMMA_NAME_SIZE];
  if (access(name, F_OK) == 0 || smma_ends_with(name, ".json")) return false;
  if (smma_is_cublaslt(name) && !strchr(name, ':')) return true; /* to be refused with an example */
  if (smma_plan_library_kernel(name, 0, &ignored)) return true;  /* which knows other names of libraries, too */
  smma_nearest_start(&nearest, name);
  for (size_t i = 0; smma_plan_library(i); i++) {
    if (strncmp(smma_plan_library(i), name, length) == 0 && strchr("/", smma_plan_library(i)[length])) return true;
    smma_nearest_consider(&nearest, smma_plan_library(i), smma_plan_library(i));
  }
  smma_nearest_hint(&nearest, hint, sizeof hint);
  smma_die("'%s' is neither a file nor a library%s (see 'softmma plan --list')", name, hint);
}

static int write_plan(smma_plan *plan, const char *path) {
  const int status = smma_write_plan(path, plan);
  smma_plan_free(plan);
  return status;
}

/* Returns the instruction of the options, or NULL if none of them is given. */
static const smma_instruction *instruction_of(const plan_options *o) {
  const smma_instruction *i;
  smma_error error;
  if (!o->gpu && !o->choice.instr && !o->choice.in) return NULL;
  i = smma_choose_instruction(o->gpu, &o->choice, &error);
  smma_require(i, &error);
  return i;
}

static int check_file(const plan_options *o, const char *path) {
  const smma_instruction *i = instruction_of(o);
  smma_error error;
  smma_plan *plan = smma_plan_load(path, &error);
  smma_require(plan, &error);
  if (i && !o->k) smma_die("-k is missing: the K of the product to check; for example -k 4096");
  if (i && smma_plan_check(plan, i, (size_t)o->k, &error) != SMMA_OK) {
    smma_plan_free(plan);
    smma_die("%s: K = %lld: %s", path, o->k, error.text);
  }
  return write_plan(plan, o->output);
}

/* Returns the full name of the library's plan, as "cublaslt:13.1/H100". Its GPU stands for --on, and --on for it. */
static const char *full_name(plan_options *o, char *name, size_t size) {
  const char *slash = strchr(o->as, '/');
  smma_target target;
  smma_error error;
  snprintf(name, size, "%s", o->as);
  if (!smma_is_cublaslt(o->as)) return name;
  if (!o->gpu && slash) o->gpu = slash + 1;
  smma_require(smma_read_target_or_none(o->gpu, &target, &error), &error);
  if (!strchr(o->as, ':') || !o->k || !(target.more || target.custom || o->choice.instr || o->choice.in))
    smma_die("a plan of cuBLASLt is that of a version, GPU, formats, shape and algorithm; for example %s",
             smma_example_of_cublaslt);
  if (!slash) smma_append_text(name, size, "/%s", target.gpu);
  return name;
}

static int write_library(plan_options *o) {
  smma_plan_request request = o->request;
  smma_plan *plan;
  char name[256];
  smma_error error;
  request.name = full_name(o, name, sizeof name);
  request.instruction = instruction_of(o);
  smma_require(!o->out || (request.d = smma_format_of_option(o->out, "--out", &error)) != SMMA_NO_FORMAT, &error);
  request.m = (size_t)o->m, request.n = (size_t)o->n, request.k = (size_t)o->k;
  request.fast_accumulation = o->fast, request.with_c = o->with_c;
  request.a_strided = o->a_strided, request.b_strided = o->b_strided;
  plan = smma_plan_for(&request, &error);
  if (!plan && error.status == SMMA_INVALID_ARGUMENT && smma_is_cublaslt(name))
    smma_die("%s; for example %s", error.text, smma_example_of_cublaslt);
  smma_require(plan, &error);
  if (request.instruction && o->k && smma_plan_check(plan, request.instruction, request.k, &error) != SMMA_OK)
    smma_die("%s: K = %lld: %s", name, o->k, error.text);
  return write_plan(plan, o->output);
}

int smma_command_plan(int argc, const char **argv) {
  plan_options o = {.output = "-"};
  const char **paths;
  int status;
  smma_error error;
  struct poptOption options[] = {
      SMMA_ON_OPTION(&o.gpu, "the target"),
      {"instr", 0, POPT_ARG_STRING, &o.choice.instr, 0, "the instruction, by name or alias", "NAME"},
      {"in", 0, POPT_ARG_STRING, &o.choice.in, 0,
       "instead of --instr: format of A and B, or A,B, which selects the preferred instruction", "FORMAT"},
      {"out", 0, POPT_ARG_STRING, &o.out, 0, "format of D (default: the instruction's)", "FORMAT"},
      {"m", 'm', POPT_ARG_LONGLONG, &o.m, 0, "rows of D", "M"},
      {"n", 'n', POPT_ARG_LONGLONG, &o.n, 0, "columns of D", "N"},
      {"k", 'k', POPT_ARG_LONGLONG, &o.k, 0, "columns of A", "K"},
      {"output", 'o', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &o.output, 0,
       "the file to write; - is standard output", "FILE"},
      SMMA_OPTION_GROUP("Plans of libraries:"),
      {"as", 0, POPT_ARG_STRING, &o.as, 0, "write the plan of this library, such as cublaslt:13.1 or deepgemm", "NAME"},
      {"list", 0, POPT_ARG_NONE, &o.list, 0, "list the libraries whose plans are known", NULL},
      {"fast", 0, POPT_ARG_NONE, &o.fast, 0, "FP8 with fast accumulation", NULL},
      SMMA_OPTION_GROUP("The algorithm that cuBLASLt chose:"),
      {"algo", 0, POPT_ARG_INT, &o.request.algo, 0, "ALGO_ID", "N"},
      {"tile", 0, POPT_ARG_INT, &o.request.tile, 0, "TILE_ID; changes no bits", "N"},
      {"splitk", 0, POPT_ARG_INT, &o.request.split_k, 0, "SPLITK_NUM", "N"},
      {"reduction", 0, POPT_ARG_INT, &o.request.reduction, 0, "REDUCTION_SCHEME", "N"},
      {"swizzle", 0, POPT_ARG_INT, &o.request.swizzle, 0, "CTA_SWIZZLING; changes no bits", "N"},
      {"custom", 0, POPT_ARG_INT, &o.request.custom, 0, "CUSTOM_OPTION", "N"},
      {"stages", 0, POPT_ARG_INT, &o.request.stages, 0, "STAGES_ID", "N"},
      {"inner", 0, POPT_ARG_INT, &o.request.inner, 0, "INNER_SHAPE_ID; changes no bits", "N"},
      {"cluster", 0, POPT_ARG_INT, &o.request.cluster, 0, "CLUSTER_SHAPE_ID; changes no bits", "N"},
      {"workspace", 0, POPT_ARG_LONGLONG, &o.request.workspace, 0,
       "instead of these numbers: bytes of workspace; a recorded choice is used", "BYTES"},
      {"epilogue", 0, POPT_ARG_INT, &o.request.epilogue, 0, "cublasLtEpilogue_t: 4 for a bias, 6 for a bias and ReLU",
       "N"},
      {"with-c", 0, POPT_ARG_NONE, &o.with_c, 0,
       "the product uses C: beta is not 0, or alpha is not 1 and there is no bias", NULL},
      {"a-strided", 0, POPT_ARG_NONE, &o.a_strided, 0, "A is not contiguous along K", NULL},
      {"b-strided", 0, POPT_ARG_NONE, &o.b_strided, 0, "B is not contiguous along K", NULL},
      POPT_TABLEEND};
  smma_plan_request_defaults(&o.request, sizeof o.request);
  paths = smma_parse_options(
      argc, argv, options, 0, 1,
      "FILE: a plan to check and print. With --on, --in and --k, also checks that a product of that K can\n"
      "follow it. 'softmma gemm --plan FILE' computes with the plan.\n"
      "NAME: a library, as with --as; writes its plan. Only plans of cuBLASLt need a target and -m, -n, -k.\n",
      &status);
  if (!paths) return status;
  if (o.m < 0 || o.n < 0 || o.k < 0) smma_die("--m, --n, --k: a size is not negative");
  if (o.request.workspace < -1) smma_die("--workspace: %lld is negative", o.request.workspace);
  if (o.list) smma_require(smma_check_options("--list", "list", &error), &error);
  if (o.list) return list_libraries();
  if (!o.as && *paths && is_library(*paths)) o.as = *paths++;
  if (o.as && *paths) smma_die("unexpected argument '%s': with --as a plan is written, not read", *paths);
  if (o.as) return write_library(&o);
  if (!*paths) smma_die("a file or a library is missing: softmma plan FILE, or softmma plan NAME TARGET:FORMAT -k K");
  if (!o.gpu && !o.choice.instr && !o.choice.in)
    smma_require(smma_check_options("a plan that is read without a target", "output", &error), &error);
  smma_require(smma_check_options("a plan that is read", "on instr in k output", &error), &error);
  return check_file(&o, *paths);
}
