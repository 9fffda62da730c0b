/* The catalogue as data: instructions, GPUs, formats, open questions, units, devices. */
#ifndef SMMA_FACTS_FACTS_H
#define SMMA_FACTS_FACTS_H

#include "datum/datum.h"
#include "isa/catalogue.h"
#include "isa/formats.h"

enum { SMMA_FACTS_VERSION = 1 }; /* of docs/facts.schema.json */

/* Returns {"arch", "name", "aliases", "m", "n", "k", "a", "b", "c", "d", "scale", "model", "parameters", "evidence",
   "basis", "questions", "id", "rule"}; scale is null, or "ue8m0 per 32". */
smma_datum *smma_instruction_datum(const smma_instruction *instruction);

/* Writes "ue8m0 per 32"; an empty text without scale factors. Returns `text`. */
const char *smma_scale_text(const smma_instruction *instruction, char text[32]);

/* Returns a list of the instructions of a GPU or architecture, or of all listed architectures if `gpu` is NULL, that
   pass the filter. */
smma_datum *smma_instructions_datum(const char *gpu, const smma_format_filter *filter);

/* Returns a list of an architecture's GPUs, {"arch", "name"}, that have an instruction that passes the filter;
   SMMA_ARCH_COUNT stands for all architectures. */
smma_datum *smma_gpus_datum(smma_arch_id arch, const smma_format_filter *filter);

/* Returns {"name", "bits", "exponent_bits", "fraction_bits", "bias", "max", "min", "smallest_normal",
   "smallest_subnormal", "infinity", "nan", "zero"}. The parts of an encoding and the two smallest numbers are null for
   integers; a smallest number is also null if the format has no such numbers. "infinity" and "zero" are lists of
   encodings, and "nan" is a list of their ranges, [first, last], as hexadecimal digits. */
smma_datum *smma_format_datum(smma_format format);

/* Returns {"format", "encoding", "sign", "exponent", "fraction", "value"} of one encoding: its hexadecimal digits, the
   bits of its parts as binary digits, which are null for integers, and its value. */
smma_datum *smma_encoding_datum(smma_format format, uint64_t encoding);

/* Returns the record of the format of that name. For a block-scaled format it is {"name", "block", "element", "scale"}:
   the number of elements that share a scale factor, and the records of both formats. For a name that stands for several
   formats, such as "fp8", it is the list of their records. Returns NULL for other names. */
smma_datum *smma_named_format_datum(const char *name);

/* Returns a list of the formats of matrices. */
smma_datum *smma_formats_datum(void);

/* Returns a list of the open questions of `softmma test --open`: {"name", "question", "candidates"}. */
smma_datum *smma_questions_datum(void);

/* Returns the catalogue, the rules with their evidence, the open questions and the list of recordings as one record,
   which docs/facts.schema.json describes. */
smma_datum *smma_facts_datum(void);

/* Returns a list of the kinds of units: {"unit", "takes", "arguments", "summary"}. Opens each kind that needs no
   arguments, and adds "usable", and "device" and "driver" or "why". */
smma_datum *smma_units_datum(void);

/* Returns a list of the devices of all drivers: {"kernel", "name", "driver", "memory", "binary64"}. A driver without
   devices, or a device that cannot be used, is {"kernel", "why_not"}. */
smma_datum *smma_devices_datum(void);

#endif
