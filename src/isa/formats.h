/* The formats of a product's matrices: conversion from and to text, and the instruction that has these formats. */
#ifndef SMMA_ISA_FORMATS_H
#define SMMA_ISA_FORMATS_H

#include "isa/instruction.h"
#include "softmma/status.h"

typedef struct {
  const char *name;
  smma_format element, scale;
  int block;
} smma_block_format;

/* The formats of block_formats.def. */
extern const smma_block_format smma_block_formats[];
extern const size_t smma_block_format_count;

/* Returns D's default format for A and B of this format: f32, but f64 for f64 and s32 for integers. */
smma_format smma_usual_output(smma_format in);

/* Returns SMMA_NOT_FOUND with an error that lists the formats; with `blocks` it also lists block-scaled formats. */
smma_status smma_refuse_unknown_format(const char *name, bool blocks, smma_error *error);

/* Implements smma_formats_find of softmma.h. SMMA_NO_FORMAT as `d` means the default. */
smma_status smma_formats_from_text(const char *in, smma_format d, smma_formats *formats, smma_error *error);

/* Writes the format of a matrix's elements with their scale factors: "f16", "nvfp4", "e2m1 with ue8m0 per 16". */
#define SMMA_INPUT_TEXT_SIZE 40
const char *smma_input_text(const smma_formats *formats, smma_format element, char text[SMMA_INPUT_TEXT_SIZE]);

/* Writes "f16", or "e4m3,e5m2" if A and B differ. */
#define SMMA_INPUTS_TEXT_SIZE (2 * SMMA_INPUT_TEXT_SIZE)
const char *smma_inputs_text(const smma_instruction *instruction, char text[SMMA_INPUTS_TEXT_SIZE]);

/* Returns the format of A's or B's elements and their scale factors; the block is 0 if there are no scale factors. */
smma_block_format smma_input_of(const smma_instruction *instruction, bool of_a);

/* Reports whether the later of two instructions with the same formats is preferred. In an architecture the first is
   preferred; with scale factors, the one with the greater K, because FP4 alone has instructions of its own. `found` may
   be NULL. */
bool smma_is_preferred(const smma_instruction *later, const smma_instruction *found);

/* Returns the preferred instruction that multiplies these formats, or NULL with an error. */
const smma_instruction *smma_resolve_formats(const char *gpu_or_arch, const smma_formats *formats, smma_error *error);

/* Like smma_resolve_formats, but if no instruction has D in f16 or bf16, returns one with D in f32, as a library would,
   which then rounds the results. `*rounded` receives the format to which they must be rounded, or SMMA_NO_FORMAT. */
const smma_instruction *smma_resolve_rounded(const char *gpu_or_arch, const smma_formats *formats, smma_format *rounded,
                                             smma_error *error);

#endif
