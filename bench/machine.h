/* The machine that bench measures: its CPU, and the cores on which a measurement runs. */
#ifndef SMMA_BENCH_MACHINE_H
#define SMMA_BENCH_MACHINE_H

/* Returns the system's name for the CPU, or "unknown CPU". */
const char *smma_cpu_model(char text[128]);

/* Returns the number of processors that this process may use. */
int smma_processor_count(void);

/* Binds this thread, and all threads that it starts later, to the last `count` processors, because the first processor
   handles most interrupts. Does nothing if the system has no such call. */
void smma_keep_to_processors(int count);

#endif
