/* Interface of errors.wasm, which pages load only for a custom unit: the errors of its products. A unit is the text of
   a custom unit (docs/custom-units.md). A returned text is JSON, valid until the same function is called again; for an
   invalid unit it is {"fault": a line}. */
#ifndef SMMA_SITE_ERRORS_H
#define SMMA_SITE_ERRORS_H

/* Returns the unit written as a composition of steps, so that units with the same rule have the same text. A rule that
   is not a composition stays as it is. */
const char *site_steps(const char *unit);

/* Multiplies matrices of 64 x K and K x 64 normal numbers, those of `softmma tolerance --shape 64x64xK`, by one chain
   of instructions. Returns {"k", "error", "bound"}: the 99 % quantile of |result - exact|, and the greatest of the
   elements' proven bounds, both divided by the median magnitude of the exact results. The bound is null if an element
   has no bound. Integer sums are exact unless they overflow; for them both are null. */
const char *site_errors(const char *unit);

#endif
