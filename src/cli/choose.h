/* What a product is computed with: the instruction and the kernel that the options name. */
#ifndef SMMA_CLI_CHOOSE_H
#define SMMA_CLI_CHOOSE_H

#include "cli/cli.h"

/* The instruction of --on and --instr, or of --on, --in and --out, the last the usual one if need be. Options that are
   not given are NULL. Ends the program with one line that names the option at fault. */
const smma_instruction *smma_choose_instruction(const char *gpu, const char *name, const char *in, const char *out);

/* The same for one of several GPUs: options are for those that are no files, and f16 is the format without them. */
const smma_instruction *smma_choose_one_of_several(const char *gpu, const char *name, const char *in, const char *out);

/* That of a target: "GPU", for which the other options are, "GPU:FORMAT", "GPU:A:B", "GPU:INSTRUCTION" or the file of a
   custom unit. */
const smma_instruction *smma_choose_target(const char *text, const char *name, const char *in, const char *out);

/* Ends the program with one line unless this CPU has the kernel of --kernel; NULL is the fastest. */
void smma_check_kernel(const char *kernel);

/* The kernels of this CPU, fastest first: "avx2, portable, core". */
const char *smma_kernel_list(char text[128]);

#endif
