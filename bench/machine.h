/* The machine that bench measures: its CPU, and the cores that a measurement keeps to. */
#ifndef SMMA_BENCH_MACHINE_H
#define SMMA_BENCH_MACHINE_H

/* What the system calls the CPU, or "unknown CPU". */
const char *smma_cpu_model(char text[128]);

/* How many processors this process may use. */
int smma_processor_count(void);

/* Keeps this thread, and those that it starts from now on, to the last `count` of them: the first has most of the
   interrupts. Does nothing where the system has no such call. */
void smma_keep_to_processors(int count);

#endif
