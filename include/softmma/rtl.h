/* A rule as a circuit: SystemVerilog that computes one dot-product-add.
 *
 * This header may change in any version, unlike softmma.h. The rules of softmma.h for threads, errors and structs
 * apply. */
#ifndef SOFTMMA_RTL_H
#define SOFTMMA_RTL_H

#include "softmma/softmma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a synthesizable module that computes the instruction: ports a, b, c, scale_a and scale_b (if the instruction
 * has scale factors), d, and clk with stages. Element 0 of a vector is in its low bits. Yosys 0.23, Verilator 5.006 and
 * Icarus Verilog 11 read it (docs/rtl.md).
 *
 * `name` is the name of the module; NULL: the instruction's name in lower case, with _ for other characters. `stages`
 * is the number of registers between the steps of the rule: d follows the operands after that number of clock cycles;
 * with 0 the module is combinational. If `assertion` is 1, the text also has a module NAME_check, which compares d of a
 * design with the reference.
 *
 * Writes at most `size` bytes including the terminating zero, unless `text` is NULL. Returns the length of the whole
 * text, or 0 with an error. SMMA_INVALID_ARGUMENT: no instruction, a name that is not an identifier, more stages than
 * the rule has steps, or a rule that has no steps (docs/rtl.md). */
SMMA_API size_t smma_rtl_text(const smma_instruction *instruction, const char *name, int stages, int assertion,
                              char *text, size_t size, smma_error *error);

#ifdef __cplusplus
}
#endif

#endif
