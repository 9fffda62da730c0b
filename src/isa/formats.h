/* Formats of a product's matrices: from text, as text, and the instruction that has them. */
#ifndef SMMA_ISA_FORMATS_H
#define SMMA_ISA_FORMATS_H

#include "isa/instruction.h"
#include "softmma/status.h"

typedef struct {
  const char *name;
  smma_format element, scale;
  int block;
} smma_block_format;

/* As block_formats.def has them. */
extern const smma_block_format smma_block_formats[];
extern const size_t smma_block_format_count;

/* D's format for A and B of this one where it is not asked for: f32; f64 for f64 and s32 for integers. */
smma_format smma_usual_output(smma_format in);

/* Returns SMMA_NOT_FOUND with an error that lists the formats: with `blocks` block-scaled ones, too. */
smma_status smma_refuse_unknown_format(const char *name, bool blocks, smma_error *error);

/* smma_formats_find of softmma.h. `d` is SMMA_NO_FORMAT for the usual one. */
smma_status smma_formats_from_text(const char *in, smma_format d, smma_formats *formats, smma_error *error);

/* One matrix's elements with their scale factors: "f16", "nvfp4", "e2m1 with ue8m0 per 16". */
#define SMMA_INPUT_TEXT_SIZE 40
const char *smma_input_text(const smma_formats *formats, smma_format element, char text[SMMA_INPUT_TEXT_SIZE]);

/* "f16"; where A and B differ "e4m3,e5m2". */
#define SMMA_INPUTS_TEXT_SIZE (2 * SMMA_INPUT_TEXT_SIZE)
const char *smma_inputs_text(const smma_instruction *instruction, char text[SMMA_INPUTS_TEXT_SIZE]);

/* The elements of A, or of B, with their scale factors: without, the block is 0. */
smma_block_format smma_input_of(const smma_instruction *instruction, bool of_a);

/* Of two instructions of an architecture with the same formats the first is preferred; with scale factors the deeper
   one: FP4 alone has instructions of its own. `found` may be NULL. */
bool smma_is_preferred(const smma_instruction *later, const smma_instruction *found);

/* The preferred instruction that multiplies these formats, or NULL with an error. */
const smma_instruction *smma_resolve_formats(const char *gpu_or_arch, const smma_formats *formats, smma_error *error);

#endif
