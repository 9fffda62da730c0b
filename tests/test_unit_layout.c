/* Offsets of members in the structs that plug-ins receive, in this version of softmma/unit.h. A change of an offset
   requires a higher SMMA_UNIT_VERSION and new numbers here; a plug-in that was built before is then refused. */
#include <stddef.h>
#include <stdio.h>

#include "softmma/unit.h"
#include "support.h"

enum { VERSION = 2 };

typedef struct {
  const char *name;
  size_t offset, bytes, expected_offset, expected_bytes;
} member;

#define MEMBER(type, name, offset, bytes) \
  { #type "." #name, offsetof(type, name), sizeof(((type *)NULL)->name), offset, bytes }

static const member members[] = {
    MEMBER(smma_instruction_info, arch, 0, 8),
    MEMBER(smma_instruction_info, name, 8, 8),
    MEMBER(smma_instruction_info, m, 16, 4),
    MEMBER(smma_instruction_info, n, 20, 4),
    MEMBER(smma_instruction_info, k, 24, 4),
    MEMBER(smma_instruction_info, a, 28, 4),
    MEMBER(smma_instruction_info, b, 32, 4),
    MEMBER(smma_instruction_info, c, 36, 4),
    MEMBER(smma_instruction_info, d, 40, 4),
    MEMBER(smma_instruction_info, scale, 44, 4),
    MEMBER(smma_instruction_info, scale_block, 48, 4),
    MEMBER(smma_instruction_info, model, 56, 8),
    MEMBER(smma_instruction_info, rule, 64, 8),
    MEMBER(smma_instruction_info, evidence, 72, 8),
    MEMBER(smma_instruction_info, questions, 80, 8),
    MEMBER(smma_instruction_info, instruction, 88, 8),
    MEMBER(smma_batch, size, 0, 8),
    MEMBER(smma_batch, rows, 8, 8),
    MEMBER(smma_batch, a, 16, 8),
    MEMBER(smma_batch, b, 24, 8),
    MEMBER(smma_batch, c, 32, 8),
    MEMBER(smma_batch, scale_a, 40, 8),
    MEMBER(smma_batch, scale_b, 48, 8),
    MEMBER(smma_batch, d, 56, 8),
    MEMBER(smma_unit_description, device, 0, 128),
    MEMBER(smma_unit_description, driver, 128, 64),
    MEMBER(smma_unit_description, toolkit, 192, 64),
    MEMBER(smma_unit_methods, abi, 0, 4),
    MEMBER(smma_unit_methods, open, 8, 8),
    MEMBER(smma_unit_methods, close, 16, 8),
    MEMBER(smma_unit_methods, describe, 24, 8),
    MEMBER(smma_unit_methods, computes, 32, 8),
    MEMBER(smma_unit_methods, run, 40, 8),
};

static void members_lie_where_the_version_has_them(void **state) {
  (void)state;
  if (sizeof(void *) != 8) skip();
  for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
    const member *x = &members[i];
    if (x->offset == x->expected_offset && x->bytes == x->expected_bytes) continue;
    fail_msg("%s is at %zu with %zu bytes, not at %zu with %zu: raise SMMA_UNIT_VERSION", x->name, x->offset, x->bytes,
             x->expected_offset, x->expected_bytes);
  }
}

static void version_is_the_list_s(void **state) {
  (void)state;
  assert_int_equal(SMMA_UNIT_VERSION, VERSION);
  assert_int_equal(SMMA_UNIT_ABI >> 24, VERSION);
  assert_true(sizeof(smma_instruction_info) < 1 << 12 && sizeof(smma_batch) < 1 << 12); /* their bits in the ABI */
  if (sizeof(void *) != 8) skip();
  assert_int_equal(sizeof(smma_instruction_info), 96); /* the list includes the last member */
  assert_int_equal(sizeof(smma_batch), 64);
  assert_int_equal(sizeof(smma_unit_description), 256);
  assert_int_equal(sizeof(smma_unit_methods), 48);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_lie_where_the_version_has_them),
      cmocka_unit_test(version_is_the_list_s),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
