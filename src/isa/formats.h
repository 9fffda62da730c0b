/* The formats of a product's matrices: converts them from and to text, and finds the instruction that has them. */
#ifndef SMMA_ISA_FORMATS_H
#define SMMA_ISA_FORMATS_H

#include "isa/instruction.h"
#include "softmma/status.h"

/* A block-scaled format. */
typedef struct {
  const char *name;
  smma_format element, scale; /* formats of elements and of scale factors */
  int block;                  /* number of elements that share a scale factor */
} smma_block_format;

/* The formats of block_formats.def. */
extern const smma_block_format smma_block_formats[];
extern const size_t smma_block_format_count;

/* Returns the block-scaled format of that name ("nvfp4"), or the first whose name without its suffix it is ("mxfp8");
   NULL for other names. */
const smma_block_format *smma_find_block_format(const char *name);

/* Returns D's default format if A and B have the format `in`: f64 for f64, s32 for integers, otherwise f32. */
smma_format smma_usual_output(smma_format in);

/* Returns SMMA_NOT_FOUND and sets the error, which lists the formats; with `blocks`, also block-scaled formats. */
smma_status smma_refuse_unknown_format(const char *name, bool blocks, smma_error *error);

/* Works like smma_formats_find of softmma.h, with D's format as a number: SMMA_NO_FORMAT means the default. */
smma_status smma_formats_from_text(const char *in, smma_format d, smma_formats *formats, smma_error *error);

/* Returns the formats that vendors or users call by a name that is no format of its own, separated by commas:
   "e3m2,e2m3" for "fp6". Returns NULL for other names. */
const char *smma_formats_of_name(const char *name);

/* Copies the first name of such a list, and returns the text after its comma. */
enum { SMMA_FORMAT_NAME_SIZE = 64 };
const char *smma_next_format(const char *list, char name[SMMA_FORMAT_NAME_SIZE]);

/* Formats that instructions are to have. A name such as "fp8" allows several formats. */
enum { SMMA_MOST_FORMATS_OF_NAME = 4 };
typedef struct {
  smma_block_format input[2][SMMA_MOST_FORMATS_OF_NAME]; /* the block is 0 in a format without scale factors */
  int inputs[2];                                         /* numbers of formats in input[0] and input[1] */
  smma_format d;                                         /* SMMA_NO_FORMAT: any */
} smma_format_filter;

/* Reads a filter: "A,B" or "A:B" for the formats of A and of B, or the format of one of them (or of their scale
   factors); NULL allows all. Returns SMMA_OK, or an error. */
smma_status smma_format_filter_from_text(const char *in, smma_format d, smma_format_filter *filter, smma_error *error);
bool smma_passes_filter(const smma_instruction *instruction, const smma_format_filter *filter);

/* Returns the format of a matrix's elements with their scale factors, in `text` or as a constant: "f16", "nvfp4", "e2m1
   with ue8m0 per 16". */
#define SMMA_INPUT_TEXT_SIZE 40
const char *smma_input_text(const smma_formats *formats, smma_format element, char text[SMMA_INPUT_TEXT_SIZE]);

/* Writes the formats of A and B: "f16", or "e4m3,e5m2" if they differ. Returns `text`. */
#define SMMA_INPUTS_TEXT_SIZE (2 * SMMA_INPUT_TEXT_SIZE)
const char *smma_inputs_text(const smma_instruction *instruction, char text[SMMA_INPUTS_TEXT_SIZE]);

/* Returns the format of A's (or B's) elements and scale factors; `block` is 0 if there are no scale factors. */
smma_block_format smma_input_of(const smma_instruction *instruction, bool of_a);

/* Reports whether `later` is preferred to `found`, an earlier instruction of the same architecture with the same
   formats, or NULL. In general the earlier one is preferred. With scale factors, the one with the greater K is, because
   FP4 has instructions of its own, whose K is greater. */
bool smma_is_preferred(const smma_instruction *later, const smma_instruction *found);

/* Returns the preferred instruction that multiplies these formats, or NULL with an error. */
const smma_instruction *smma_resolve_formats(const char *gpu_or_arch, const smma_formats *formats, smma_error *error);

/* Works like smma_resolve_formats, but if no instruction has D in f16 or bf16, returns one with D in f32, as libraries
   do, which then round the results. Sets `*rounded` to the format to which results must be rounded, or to
   SMMA_NO_FORMAT. */
const smma_instruction *smma_resolve_rounded(const char *gpu_or_arch, const smma_formats *formats, smma_format *rounded,
                                             smma_error *error);

#endif
