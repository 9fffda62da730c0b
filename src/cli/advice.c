#include "cli/advice.h"

#include <stdio.h>
#include <string.h>

bool smma_has_word(const char *words, const char *word) {
  const size_t length = strlen(word);
  for (const char *at = words; (at = strstr(at, word)); at += length)
    if ((at == words || at[-1] == ' ') && strchr(" ", at[length])) return true;
  return false;
}

const smma_synonym smma_synonyms[SMMA_SYNONYMS] = {{"gpu", "on"},
                                                   {"arch", "on"},
                                                   {"architecture", "on"},
                                                   {"target", "on"},
                                                   {"targets", "on"},
                                                   {"instruction", "instr"},
                                                   {"in-format", "in"},
                                                   {"in-dtype", "in"},
                                                   {"in_dtype", "in"},
                                                   {"input-format", "in"},
                                                   {"input-dtype", "in"},
                                                   {"data-type", "in"},
                                                   {"precision", "in"},
                                                   {"type", "in"},
                                                   {"dtype", "in"},
                                                   {"format", "in"},
                                                   {"out-format", "out"},
                                                   {"out-dtype", "out"},
                                                   {"out_dtype", "out"},
                                                   {"output-format", "out"},
                                                   {"output-dtype", "out"},
                                                   {"out-type", "out"},
                                                   {"in-type", "in"},
                                                   {"acc", "out"},
                                                   {"acc-format", "out"},
                                                   {"acc-type", "out"},
                                                   {"accumulator", "out"},
                                                   {"accumulate", "out"},
                                                   {"model", "on"},
                                                   {"module", "name"},
                                                   {"quick", "small"},
                                                   {"promote", "promote-every"},
                                                   {"promotion", "promote-every"},
                                                   {"compare", "blas"},
                                                   {"baseline", "blas"},
                                                   {"vs", "blas"},
                                                   {"to", "format"},
                                                   {"count", "rows"},
                                                   {"vectors", "rows"},
                                                   {"samples", "rows"},
                                                   {"trials", "rows"},
                                                   {"assertion", "sva"},
                                                   {"assert", "sva"},
                                                   {"assertions", "sva"},
                                                   {"bind", "sva"},
                                                   {"element", "at"},
                                                   {"size", "shape"},
                                                   {"dist", "data"},
                                                   {"distribution", "data"},
                                                   {"bits", "raw"},
                                                   {"encodings", "raw"},
                                                   {"with", "d"},
                                                   {"own", "d"},
                                                   {"result", "d"},
                                                   {"results", "d"},
                                                   {"expected", "d"},
                                                   {"jobs", "threads"},
                                                   {"transa", "transpose-a"},
                                                   {"trans-a", "transpose-a"},
                                                   {"transb", "transpose-b"},
                                                   {"trans-b", "transpose-b"},
                                                   {"splitk", "split-k"},
                                                   {"k-splits", "split-k"},
                                                   {"column", "col"},
                                                   {"output-file", "output"},
                                                   {"out-file", "output"},
                                                   {"outfile", "output"},
                                                   {"report", "output"},
                                                   {"save", "output"},
                                                   {"write", "output"}};

/* Unknown options of every command or, with "COMMAND:", of one; "vectors_gen:" is that of "vectors gen". */
static const struct {
  const char *names, *advice;
} related[] = {
    {"row col column", "at"},
    {"dot:row dot:col dot:column dot:at dot:element",
     "'softmma trace H100:f16 A.npy B.npy --at 3,5' follows an element of a product"},
    {"rtl:assert rtl:sva-file", "--sva writes the assertions into the file of -o"},
    {"experiment:target experiment:gpu experiment:on",
     "an experiment has its GPUs; 'softmma experiment NAME --set PARAMETER=VALUE' changes its parameters"},
    {"gemm:m gemm:n gemm:k gemm:shape gemm:size gemm:random gemm:seed",
     "gemm takes files; 'softmma tolerance' and 'softmma diff' draw data, and 'softmma bench' measures a size"},
    {"tolerance:check tolerance:d tolerance:result tolerance:with tolerance:verify",
     "'softmma compare TARGET A.npy B.npy D.npy --rtol R --atol A' compares a result of your own"},
    {"gemm:d gemm:result", "output"},
    {"junit junit-xml xml",
     "-o FILE.json writes the report as JSON; a CI job needs only the exit status, 1 if results differ"},
    {"compare:promote-every compare:promote compare:promotion trace:promote-every trace:promote trace:promotion",
     "--plan cutlass:2xacc moves partial sums to FP32 every 128 of K; a plan file names another number "
     "(docs/plans.md)"},
    {"no-blas no-openblas", "--blas none measures SoftMMA alone"},
    {"tolerance:m tolerance:n", "type --shape MxNxK, such as --shape 64x64x4096"},
    {"gemm:reference gemm:compare gemm:check gemm:verify",
     "'softmma compare TARGET A.npy B.npy D.npy' compares a result of your own with the target's and the exact one"},
    {"compare:html compare:report",
     "-o FILE.txt or FILE.json writes the results; a notebook shows softmma.compare(...) as a table"},
    {"verify:model",
     "a file names its instruction, whose model checks it; --unit checks another unit against the file"},
    {"compare:all compare:gpus", "name the targets: compare V100:f16 A100:f16 H100:f16 A.npy B.npy"},
    {"gemm:csv", "D is written as a .npy file: -o D.npy"},
    {"explain:at explain:element explain:row",
     "'softmma trace H100:f16 A.npy B.npy --at 3,5' follows an element of a product"},
    {"m n k", "shape"},
    {"gpu gpus on k", "set"},
    {"exact", "explain"},
    {"library", "as"},
    {"csv", "json"},
    {"sparse",
     "name a sparse instruction, such as --instr mma.sp.m16n8k32.f32.f16.f16.f32; A is compressed, and its "
     "metadata are --metadata FILE (docs/sparse.md)"},
    {"verify:on verify:gpu verify:target verify:instr",
     "a file names its instruction; --unit checks another unit against it"},
    {"rounding",
     "an instruction's own rounding is fixed; 'softmma custom TARGET -o unit.json' writes a unit whose \"rounding\" "
     "can be changed"},
    {"worst",
     "'softmma trace TARGET A B --worst' follows the element with the largest error, and of several targets "
     "the one in which they differ most"},
    {"program", "a program is --unit pipe:PROGRAM, such as --unit pipe:./unit.py"}};

/* Options for what a command does anyway, and a sentence that says so. A name that ends with = takes a value. */
static const struct {
  const char *names, *reason;
} needless[] = {
    {"show:evidence show:basis show:model show:rule show:formats show:open show:questions show:aliases show:rounding "
     "compare:errors compare:pairs trace:error trace:errors trace:steps trace:divergence trace:ulp "
     "trace:ulps tolerance:bound tolerance:bounds tolerance:error tolerance:errors tolerance:rtol tolerance:atol "
     "diff:features diff:example diff:examples diff:witness diff:counterexample diff:counterexamples "
     "verify:mismatches test:explain test:counterexample test:counterexamples probe:features",
     "it is always printed"},
    {"tolerance:all tolerance:gpus", "all GPUs are taken unless targets are named"},
    {"compare:reference= compare:ref= compare:exact compare:truth= compare:fp64 tolerance:reference= tolerance:ref= "
     "tolerance:exact trace:reference= trace:ref= trace:exact",
     "errors are those against the exact product"},
    {"compare:metric= compare:error= compare:norm= compare:measure= tolerance:metric= tolerance:norm= trace:metric=",
     "every measure of the error is printed; that in ulps is in --json"},
    {"compare:ulp compare:ulps", "the largest distance in ulps of each pair is in --json"},
    {"compare:random compare:normal", "data are random unless files are given"},
    {"bench:openblas", "OpenBLAS is what it compares with, unless --blas names another library"},
    {"verbose progress", "a terminal shows progress, and notes are printed unless --quiet stops them"},
    {"color colour no-color no-colour", "no colours are printed"},
    {"force overwrite", "a file is replaced once the new one is complete"},
    {"self-test:quick self-test:fast self-test:short", "the command is quick"},
    {"gemm:quantize gemm:quantise compare:quantize compare:quantise trace:quantize trace:quantise tolerance:quantize "
     "tolerance:quantise",
     "matrices in FP32 are rounded to the format, and scaled if the format has scale factors"},
    {"coverage:missed coverage:missing", "missing events are listed, as many as --show N says"},
    {"vectors_gen:special vectors_gen:specials vectors_record:special", "the default kinds include special values"},
    {"test:minimize test:minimise test:shrink", "'softmma test' minimises counterexamples"}};

/* Reports whether the names have an option of this command alone. */
static bool names_in_command(const char *names, const char *command, const char *option) {
  char text[128];
  snprintf(text, sizeof text, "%s:%s", command, option);
  if (strchr(command, ' ')) *strchr(text, ' ') = '_';
  return smma_has_word(names, text);
}

static bool names_option(const char *names, const char *command, const char *option) {
  return smma_has_word(names, option) || names_in_command(names, command, option);
}

const char *smma_needless_with_value(const char *command, size_t *at, char name[64]) {
  size_t index = 0;
  for (size_t i = 0; i < sizeof needless / sizeof *needless; i++)
    for (const char *word = needless[i].names; *word; word += strspn(word, " ")) {
      const size_t length = strcspn(word, " "), before = strlen(command);
      const char *option = word + before + 1;
      word += length;
      if (word[-1] != '=' || strncmp(option - before - 1, command, before) != 0 || option[-1] != ':' || index++ < *at)
        continue;
      ++*at;
      snprintf(name, 64, "%.*s", (int)(word - 1 - option), option);
      return needless[i].reason;
    }
  return NULL;
}

const char *smma_why_needless(const char *command, const char *option) {
  for (size_t i = 0; i < sizeof needless / sizeof *needless; i++)
    if (names_option(needless[i].names, command, option)) return needless[i].reason;
  return NULL;
}

bool smma_has_advice(const char *command, const char *option) {
  for (size_t i = 0; i < sizeof related / sizeof *related; i++)
    if (names_in_command(related[i].names, command, option)) return true;
  return smma_why_needless(command, option) != NULL;
}

const char *smma_advice(const char *command, const char *option, size_t *at) {
  while (*at < sizeof related / sizeof *related) {
    const char *names = related[*at].names, *advice = related[(*at)++].advice;
    if (names_option(names, command, option)) return advice;
  }
  return NULL;
}
