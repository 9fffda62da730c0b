/* vf_round_to_half in integers, on other words of the vocabulary, for machines whose conversion rounds as the
   floating-point mode says. Included by their headers. */

/* A magnitude below 2^-14 to a multiple of 2^-24. Bound: significands are below 2^24; 31 bits dropped leave nothing.
   The product is exact, and zero or normal. */
static inline vi vf_half_subnormal(vi magnitude) {
  vi significand = vi_or(vi_and(magnitude, vi_set(0x7fffff)), vi_set(0x800000));
  vi dropped = vi_subtract(vi_set(126), vi_shift_right(magnitude, 23)), below_half, odd, units;
  dropped = vi_max(vi_min(dropped, vi_set(31)), vi_set(1));
  below_half = vi_subtract(vi_shift_left_by(vi_set(1), vi_subtract(dropped, vi_set(1))), vi_set(1));
  odd = vi_and(vi_shift_down_by(significand, dropped), vi_set(1));
  units = vi_shift_down_by(vi_add(significand, vi_add(below_half, odd)), dropped);
  return vf_bits(vf_multiply(vi_to_float(units), vf_set(0x1p-24f)));
}

static inline vf vf_round_to_half(vf x) {
  vi bits = vf_bits(x), sign = vi_and(bits, vi_set(INT32_MIN)), magnitude = vi_xor(bits, sign);
  vi odd = vi_and(vi_shift_right(magnitude, 13), vi_set(1)), half;
  half = vi_and(vi_add(magnitude, vi_add(vi_set(0xfff), odd)), vi_set(~0x1fff));
  half = vi_select(vi_less(half, vi_set(0x47800000)), half, vi_set(0x7f800000));                /* 2^16 */
  half = vi_select(vi_less(magnitude, vi_set(0x38800000)), vf_half_subnormal(magnitude), half); /* 2^-14 */
  half = vi_select(vi_less(vi_set(0x7f800000), magnitude), vi_set(0x7fc00000), half);
  return vi_as_float(vi_or(half, sign));
}
