/* Choice of the instruction and the kernel that the options name. */
#ifndef SMMA_CLI_CHOOSE_H
#define SMMA_CLI_CHOOSE_H

#include "cli/cli.h"

/* Returns the instruction of --on and --instr, or of --on, --in and --out. Options that are not given are NULL; without
   --out, D has its default format. On an error, ends the program with one line that names the option. */
const smma_instruction *smma_choose_instruction(const char *gpu, const char *name, const char *in, const char *out);

/* Like smma_choose_instruction, for one of several targets. The options do not apply to files of custom units, and the
   default of --in is f16. */
const smma_instruction *smma_choose_one_of_several(const char *gpu, const char *name, const char *in, const char *out);

/* Returns the instruction of a target: "GPU", "GPU:FORMAT", "GPU:A:B", "GPU:INSTRUCTION" or the file of a custom unit.
   The options --instr, --in and --out apply to "GPU" only. */
const smma_instruction *smma_choose_target(const char *text, const char *name, const char *in, const char *out);

/* Ends the program with one line if this CPU does not have the kernel of --kernel. NULL stands for the fastest. */
void smma_check_kernel(const char *kernel);

/* Writes the kernels of this CPU, fastest first, such as "avx2, portable, core". */
const char *smma_kernel_list(char text[128]);

#endif
