/* The options --prove and --permute of the command diff. */
#ifndef SMMA_CLI_PROVE_H
#define SMMA_CLI_PROVE_H

/* Proves or disproves that two targets compute the same, or that the order of k changes nothing. Returns the exit
   status of the command. */
int smma_prove(int argc, const char **argv);

#endif
