/* What is known without computing anything: instructions, GPUs, formats, open questions and units, as data. */
#ifndef SMMA_FACTS_FACTS_H
#define SMMA_FACTS_FACTS_H

#include "datum/datum.h"
#include "isa/catalogue.h"

/* Returns {"arch", "name", "aliases", "m", "n", "k", "a", "b", "c", "d", "scale", "model", "parameters", "evidence",
   "questions"}; scale is null, or "ue8m0 per 32". */
smma_datum *smma_instruction_datum(const smma_instruction *instruction);

/* Writes "ue8m0 per 32", or nothing without scale factors; returns `text`. */
const char *smma_scale_text(const smma_instruction *instruction, char text[32]);

/* Each returns a list: of an architecture's instructions, or of all that are listed (SMMA_ARCH_COUNT); of its GPUs'
   names, {"arch", "name"}; of the formats that a matrix can have, {"name", "bits", "exponent_bits", "fraction_bits",
   "bias"}, the last three null for integers. */
smma_datum *smma_instructions_datum(smma_arch_id arch);
smma_datum *smma_gpus_datum(smma_arch_id arch);
smma_datum *smma_formats_datum(void);
smma_datum *smma_format_datum(smma_format format);

/* Returns a list of what `campaign --open` asks: {"name", "question", "candidates"}. */
smma_datum *smma_questions_datum(void);

/* Returns a list of the kinds of units: {"unit", "takes", "arguments", "summary"}; of those that need no arguments,
   which are opened, also "usable", and "device" or "why". */
smma_datum *smma_units_datum(void);

#endif
