/* D = softmma_gemm(GPU, alpha, A, B, beta, C, informat, outformat) for MATLAB and Octave, through MEX. All matrices are
   double. alpha A and B are rounded to informat, and beta C to the format of the instruction's C. A and B are rounded as
   libraries do, beta C to nearest even. D has the numbers that the GPU's instruction returns, with one chain along K. C
   may be [] or 0, which both mean zero. */
#include <stdlib.h>
#include <string.h>

#include "mex.h"
#include "softmma/softmma.h"

enum { NAME = 64 };

static void text(char to[NAME], const mxArray *from, const char *what) {
  if (!mxIsChar(from) || mxGetString(from, to, NAME)) mexErrMsgIdAndTxt("softmma:name", "%s: not a short string", what);
}

/* Converts a format's name to the library's: the toolbox has other names for some formats. */
static void format_name(char to[NAME], const mxArray *from, const char *what) {
  static const char *const others[][2] = {{"binary16", "f16"},       {"binary32", "f32"},      {"binary64", "f64"},
                                          {"tensorfloat32", "tf32"}, {"brainfloat16", "bf16"}, {"fp8-e4m3", "e4m3"},
                                          {"fp8-e5m2", "e5m2"}};
  text(to, from, what);
  for (char *c = to; *c; c++)
    if (*c >= 'A' && *c <= 'Z') *c += 'a' - 'A';
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(to, others[i][0]) == 0) strcpy(to, others[i][1]);
}

static double scalar(const mxArray *from, const char *what) {
  if (!mxIsDouble(from) || mxIsComplex(from) || mxGetNumberOfElements(from) != 1)
    mexErrMsgIdAndTxt("softmma:scalar", "%s: not a real number of class double", what);
  return mxGetScalar(from);
}

static const double *matrix(const mxArray *from, const char *what) {
  if (!mxIsDouble(from) || mxIsComplex(from) || mxIsSparse(from) || mxGetNumberOfDimensions(from) != 2)
    mexErrMsgIdAndTxt("softmma:matrix", "%s: not a real, full matrix of class double", what);
  return mxGetPr(from);
}

/* Returns factor * from, rounded to a format. MEX frees the memory, also after an error. */
static void *rounded(smma_format format, smma_rounding rounding, double factor, const double *from, size_t count) {
  double *scaled = mxMalloc((count ? count : 1) * sizeof *scaled);
  void *to = mxMalloc((count ? count : 1) * smma_format_bytes(format));
  for (size_t i = 0; i < count; i++) scaled[i] = factor == 1 ? from[i] : factor * from[i];
  smma_convert(SMMA_F64, scaled, format, to, count, rounding, SMMA_OVERFLOW_DEFAULT, NULL);
  mxFree(scaled);
  return to;
}

static const smma_instruction *find(const mxArray *gpu, const mxArray *in, const mxArray *out) {
  char name[NAME], in_name[NAME], out_name[NAME];
  smma_error error;
  const smma_instruction *found;
  smma_formats formats;
  text(name, gpu, "the GPU");
  format_name(in_name, in, "informat");
  format_name(out_name, out, "outformat");
  if (smma_formats_find(in_name, out_name, &formats, &error) != SMMA_OK)
    mexErrMsgIdAndTxt("softmma:format", "%s", error.text);
  found = smma_find_by_formats(name, &formats, &error);
  if (!found) mexErrMsgIdAndTxt("softmma:instruction", "%s", error.text);
  return found;
}

void mexFunction(int outputs, mxArray *output[], int inputs, const mxArray *input[]) {
  const smma_instruction *instruction;
  smma_instruction_info info;
  smma_gemm_arguments g;
  smma_error error;
  const double *a, *b, *c;
  double alpha, beta;
  void *d;
  if (inputs != 8 || outputs > 1)
    mexErrMsgIdAndTxt("softmma:usage", "usage: D = softmma_gemm(GPU, alpha, A, B, beta, C, informat, outformat)");
  instruction = find(input[0], input[6], input[7]);
  smma_describe(instruction, &info, sizeof info);
  alpha = scalar(input[1], "alpha"), beta = scalar(input[4], "beta");
  a = matrix(input[2], "A"), b = matrix(input[3], "B"), c = matrix(input[5], "C");
  smma_gemm_defaults(&g, sizeof g);
  g.m = mxGetM(input[2]), g.k = mxGetN(input[2]), g.n = mxGetN(input[3]);
  if (mxGetM(input[3]) != g.k)
    mexErrMsgIdAndTxt("softmma:size", "A has %lu columns, B %lu rows", (unsigned long)g.k,
                      (unsigned long)mxGetM(input[3]));
  if (mxIsEmpty(input[5]) || (mxGetNumberOfElements(input[5]) == 1 && g.m * g.n != 1 && *c == 0)) c = NULL;
  if (c && (mxGetM(input[5]) != g.m || mxGetN(input[5]) != g.n))
    mexErrMsgIdAndTxt("softmma:size", "C is %lu x %lu, A B is %lu x %lu", (unsigned long)mxGetM(input[5]),
                      (unsigned long)mxGetN(input[5]), (unsigned long)g.m, (unsigned long)g.n);
  g.order_a = g.order_b = g.order_c = g.order_d = SMMA_COLUMN_MAJOR;
  g.a = rounded(info.a, smma_operand_rounding(instruction, NULL, info.a), alpha, a, g.m * g.k);
  g.b = rounded(info.b, smma_operand_rounding(instruction, NULL, info.b), 1, b, g.k * g.n);
  if (c) g.c = rounded(info.c, SMMA_ROUND_NEAREST_EVEN, beta, c, g.m * g.n);
  g.d = d = mxMalloc((g.m * g.n ? g.m * g.n : 1) * smma_format_bytes(info.d));
  g.error = &error;
  if (smma_gemm(instruction, &g) != SMMA_OK) mexErrMsgIdAndTxt("softmma:gemm", "%s", error.text);
  output[0] = mxCreateDoubleMatrix(g.m, g.n, mxREAL);
  smma_convert(info.d, d, SMMA_F64, mxGetPr(output[0]), g.m * g.n, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT,
               NULL);
}
