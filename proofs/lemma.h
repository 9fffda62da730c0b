/* Lemmas: functions that return true for all arguments. prove.py shows this with a solver, or exhaustive.c computes all
   arguments. A lemma calls the code that it is about, so a changed constant or line of that code breaks the lemma.

   Docs: docs/proofs.md, which has a line for each lemma. */
#ifndef SOFTMMA_PROOFS_LEMMA_H
#define SOFTMMA_PROOFS_LEMMA_H

#include <stdbool.h>
#include <stdint.h>

/* A lemma for a solver. The floating-point mode of its operations is RNE; LEMMA_DOWN and LEMMA_TOWARD_ZERO name
   others. */
#define LEMMA(name) bool lemma_##name
#define LEMMA_DOWN(name) bool lemma_in_mode_down_##name
#define LEMMA_TOWARD_ZERO(name) bool lemma_in_mode_zero_##name

/* A lemma that is computed for all arguments. */
#define EXHAUSTIVE(name) bool exhaustive_##name(void)

/* A claim that is false: there must be a counterexample. */
#define REFUTED(name) bool refuted_##name

/* Restricts the arguments of a lemma. */
#define ASSUME(condition) \
  if (!(condition)) return true

#endif
