#include "cli/advice.h"

#include <stdio.h>
#include <string.h>

bool smma_has_word(const char *words, const char *word) {
  const size_t length = strlen(word);
  for (const char *at = words; (at = strstr(at, word)); at += length)
    if ((at == words || at[-1] == ' ') && strchr(" ", at[length])) return true;
  return false;
}

/* Unknown options of every command or, with "COMMAND:", of one. */
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
    {"compare:random compare:shape compare:size compare:data compare:seed compare:dist compare:distribution",
     "compare takes files; 'softmma tolerance H100 V100 --shape 64x64x128' draws data, and 'softmma diff H100 V100' "
     "draws test vectors"},
    {"compare:reference compare:exact compare:truth compare:fp64",
     "leave it out: the exact product is the reference; a result of your own is --d FILE"},
    {"tolerance:reference tolerance:exact trace:reference trace:exact",
     "leave it out: the exact product is the reference"},
    {"diff:counterexample diff:counterexamples test:counterexample test:counterexamples",
     "leave it out; it is always printed"},
    {"compare:ulp compare:ulps", "leave it out; --json prints the largest distance in ulps of each pair"},
    {"gemm:d gemm:result gemm:save", "output"},
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
    {"tolerance:seed", "the data are the same in every run; leave it out"},
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

/* Flags for what a command does anyway, and a sentence that says so. */
static const struct {
  const char *names, *reason;
} needless[] = {
    {"show:evidence show:basis show:model show:rule show:formats show:open show:questions show:aliases show:rounding "
     "compare:error compare:errors compare:pairs trace:error trace:errors trace:steps trace:divergence trace:ulp "
     "trace:ulps tolerance:bound tolerance:bounds tolerance:error tolerance:errors tolerance:rtol tolerance:atol "
     "diff:features verify:mismatches test:explain probe:features",
     "it is always printed"},
    {"tolerance:all tolerance:gpus", "all GPUs are taken unless targets are named"},
    {"self-test:quick self-test:fast self-test:short", "the command is quick"},
    {"gemm:quantize gemm:quantise compare:quantize compare:quantise trace:quantize trace:quantise tolerance:quantize "
     "tolerance:quantise",
     "matrices in FP32 are rounded to the format, and scaled if the format has scale factors"},
    {"coverage:missed coverage:missing", "missing events are listed, as many as --show N says"},
    {"vectors gen:special vectors gen:specials vectors record:special", "the default kinds include special values"},
    {"test:minimize test:minimise test:shrink", "'softmma test' minimises counterexamples"}};

static bool names_option(const char *names, const char *command, const char *option) {
  char in_command[128];
  snprintf(in_command, sizeof in_command, "%s:%s", command, option);
  return smma_has_word(names, option) || smma_has_word(names, in_command);
}

const char *smma_why_needless(const char *command, const char *option) {
  for (size_t i = 0; i < sizeof needless / sizeof *needless; i++)
    if (names_option(needless[i].names, command, option)) return needless[i].reason;
  return NULL;
}

const char *smma_advice(const char *command, const char *option, size_t *at) {
  while (*at < sizeof related / sizeof *related) {
    const char *names = related[*at].names, *advice = related[(*at)++].advice;
    if (names_option(names, command, option)) return advice;
  }
  return NULL;
}
