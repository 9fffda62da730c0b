/* The catalogue: it is complete, every name leads to the instruction that it describes, and unknown names give helpful
   messages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/catalogue.h"
#include "isa/find.h"
#include "isa/key.h"
#include "support.h"

#define MESSAGE 1024
#define MOST_NAMES 2048

/* ---- tests/catalogue.txt: "arch name", with the smallest N of its family ---- */

typedef struct {
  char arch[32], name[96];
} listed_name;

static listed_name listed[MOST_NAMES];
static size_t listed_count;

static int read_list(void **state) {
  FILE *stream = fopen(CATALOGUE, "r");
  (void)state;
  if (!stream) {
    print_error("cannot read %s\n", CATALOGUE);
    return -1;
  }
  while (listed_count < MOST_NAMES &&
         fscanf(stream, "%31s %95s", listed[listed_count].arch, listed[listed_count].name) == 2)
    listed_count++;
  return fclose(stream);
}

static int is_listed(const char *arch, const char *name) {
  for (size_t i = 0; i < listed_count; i++)
    if (strcmp(listed[i].arch, arch) == 0 && strcmp(listed[i].name, name) == 0) return 1;
  return 0;
}

static void test_listed_names_exist(void **state) {
  (void)state;
  assert_true(listed_count >= 333);
  for (size_t i = 0; i < listed_count; i++) {
    smma_instruction_info info = describe(find(listed[i].arch, listed[i].name));
    assert_string_equal(info.arch, listed[i].arch);
    assert_string_equal(info.name, listed[i].name);
  }
}

/* Reports whether the list leaves out an instruction. It leaves out wider forms, m128 forms that repeat an m64 form,
   and the first model of CDNA 3. */
static int need_not_be_listed(const smma_instruction *i) {
  if (i->family == SMMA_FAMILY_WGMMA) return i->n > 8;
  if (i->family == SMMA_FAMILY_TCGEN05) return i->n > 8 || (i->m == 128 && !i->scale_block);
  return i->arch == SMMA_ARCH_cdna3_r1;
}

static void test_nothing_else_exists(void **state) {
  size_t shown = 0;
  (void)state;
  for (size_t at = 0; at < smma_instruction_count(); at++) {
    const smma_instruction *i = smma_instruction_at(at);
    const char *arch = describe(i).arch;
    if (need_not_be_listed(i)) continue;
    shown++;
    if (!is_listed(arch, i->name)) fail_msg("%s %s is not in catalogue.txt", arch, i->name);
  }
  assert_int_equal(shown, listed_count);
  assert_null(smma_instruction_at(smma_instruction_count()));
  assert_non_null(smma_find("x86", "vdpbf16ps", NULL));
}

/* CDNA 3's first model has the instructions of the later model. */
static void test_first_model_of_cdna3(void **state) {
  (void)state;
  for (size_t i = 0; i < listed_count; i++)
    if (strcmp(listed[i].arch, "cdna3") == 0) find("cdna3-r1", listed[i].name);
}

/* ---- Legal N ---- */

typedef struct {
  const char *arch, *pattern; /* with %d for N */
  int least, step;
} shape_family;

static const shape_family shape_families[] = {
    {"hopper", "wgmma.m64n%dk16.f32.f16.f16", 8, 8},
    {"hopper", "wgmma.m64n%dk16.f16.f16.f16", 8, 8},
    {"hopper", "wgmma.sp.m64n%dk64.f32.e4m3.e5m2", 8, 8},
    {"blackwell", "tcgen05.sp.m128n%dk16.f32.tf32.tf32", 16, 16},
    {"hopper", "wgmma.m64n%dk16.f32.bf16.bf16", 8, 8},
    {"hopper", "wgmma.m64n%dk8.f32.tf32.tf32", 8, 8},
    {"hopper", "wgmma.m64n%dk32.f16.e4m3.e5m2", 8, 8},
    {"blackwell", "tcgen05.m64n%dk16.f32.f16.f16", 8, 8},
    {"blackwell", "tcgen05.m64n%dk8.f32.tf32.tf32", 8, 8},
    {"blackwell", "tcgen05.m64n%dk32.f32.e2m1.e5m2", 8, 8},
    {"blackwell", "tcgen05.m128n%dk16.f16.f16.f16", 16, 16},
    {"blackwell", "tcgen05.m128n%dk32.f16.e3m2.e2m3", 16, 16},
    {"blackwell", "tcgen05.m128n%dk32.block32.f32.e4m3.e4m3.ue8m0", 8, 8},
    {"blackwell", "tcgen05.m128n%dk64.block16.f32.e2m1.e2m1.ue4m3", 8, 8},
};

static void check_n(const shape_family *s, int n) {
  char name[96];
  int legal = n >= s->least && n <= 256 && n % s->step == 0;
  const smma_instruction *i;
  snprintf(name, sizeof name, s->pattern, n);
  i = smma_find(s->arch, name, NULL);
  if ((i != NULL) != legal) fail_msg("%s %s: %s", s->arch, name, legal ? "missing" : "should not exist");
  if (i) assert_int_equal(describe(i).n, n);
}

static void test_legal_n(void **state) {
  static const int others[] = {0, 4, 12, 264};
  (void)state;
  for (size_t f = 0; f < sizeof shape_families / sizeof shape_families[0]; f++) {
    const shape_family *s = &shape_families[f];
    for (int n = s->step; n <= 256; n += s->step) check_n(s, n);
    for (size_t n = 0; n < sizeof others / sizeof others[0]; n++) check_n(s, others[n]);
    if (s->step == 16) check_n(s, 8), check_n(s, 248);
  }
}

/* ---- Names and aliases ---- */

static void test_canonical_names_are_unique(void **state) {
  (void)state;
  for (size_t at = 0; at < smma_instruction_count(); at++) {
    smma_instruction_info info = describe(smma_instruction_at(at));
    assert_ptr_equal(smma_find(info.arch, info.name, NULL), smma_instruction_at(at));
  }
}

static int may_be_ambiguous(const char *form) {
  return strncmp(form, "tcgen05.mma.", 12) == 0 || strncmp(form, "utc", 3) == 0;
}

/* Every name and alias, in the form in which names are compared, with its instruction. */
typedef struct {
  char form[192];
  const smma_instruction *instruction;
} known_form;

typedef struct {
  const smma_instruction *instruction;
  known_form *forms; /* NULL in the pass that only counts them */
  size_t count;
} form_list;

static bool note_form(const char *alias, void *context) {
  form_list *list = context;
  known_form *form = list->forms ? &list->forms[list->count] : NULL;
  if (form) smma_normal_form(alias, form->form, sizeof form->form);
  if (form) form->instruction = list->instruction;
  list->count++;
  return false;
}

static void note_all_forms(form_list *list) {
  list->count = 0;
  for (size_t at = 0; at < smma_instruction_count(); at++) {
    list->instruction = smma_instruction_at(at);
    note_form(list->instruction->name, list);
    smma_each_alias(list->instruction, note_form, list);
  }
}

static int compare_forms(const void *x, const void *y) {
  const known_form *a = x, *b = y;
  int arch = (int)a->instruction->arch - (int)b->instruction->arch;
  return arch ? arch : strcmp(a->form, b->form);
}

/* Names with the same form on one architecture belong to one function, unless the vendor's name does not determine the
   function. */
static void test_aliases_fit_one_function(void **state) {
  form_list list = {0};
  int failed = 0;
  (void)state;
  note_all_forms(&list);
  list.forms = test_calloc(list.count, sizeof *list.forms);
  note_all_forms(&list);
  qsort(list.forms, list.count, sizeof *list.forms, compare_forms);
  for (size_t i = 1; i < list.count; i++) {
    const known_form *x = &list.forms[i - 1], *y = &list.forms[i];
    if (compare_forms(x, y) != 0 || may_be_ambiguous(x->form)) continue;
    if (smma_same_operation(x->instruction, y->instruction)) continue;
    print_error("%s means %s and %s\n", x->form, x->instruction->name, y->instruction->name);
    failed++;
  }
  test_free(list.forms);
  assert_int_equal(failed, 0);
}

/* In a sample, each alias is found, or fits several instructions where that is allowed. */
static void test_aliases_are_found(void **state) {
  char alias[256];
  smma_error error;
  (void)state;
  for (size_t at = 0; at < smma_instruction_count(); at += 97) {
    const smma_instruction *i = smma_instruction_at(at), *found;
    for (size_t a = 0; smma_instruction_alias(i, a, alias, sizeof alias); a++) {
      found = smma_find(describe(i).arch, alias, &error);
      if (found ? smma_same_operation(found, i) : strstr(error.text, "compute differently") != NULL) continue;
      fail_msg("%s on %s does not lead to %s: %s", alias, describe(i).arch, i->name, error.text);
    }
  }
}

static void test_alias_text(void **state) {
  const smma_instruction *i = find("V100", "mma.m8n8k4.f32.f16.f16.f32");
  char text[256], cut[5];
  size_t length = smma_instruction_alias(i, 0, text, sizeof text);
  (void)state;
  assert_string_equal(text, "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32");
  assert_int_equal(length, strlen(text));
  assert_int_equal(smma_instruction_alias(i, 0, cut, sizeof cut), length);
  assert_string_equal(cut, "mma.");
  assert_int_equal(smma_instruction_alias(i, 0, NULL, 0), length);
  assert_int_equal(smma_instruction_alias(i, 1000, text, sizeof text), 0);
  assert_string_equal(text, "");
  assert_int_equal(smma_instruction_alias(NULL, 0, text, sizeof text), 0);
}

typedef struct {
  const char *gpu, *alias, *name;
} alias_case;

static const alias_case alias_cases[] = {
    /* SASS */
    {"V100", "HMMA.884.F32.F32", "mma.m8n8k4.f32.f16.f16.f32"},
    {"V100", "HMMA.884.F32", "mma.m8n8k4.f32.f16.f16.f32"},
    {"V100", "HMMA.884.F32.F16", "mma.m8n8k4.f32.f16.f16.f16"},
    {"V100", "HMMA.884.F16.F16", "mma.m8n8k4.f16.f16.f16.f16"},
    {"V100", "hmma.884.f16", "mma.m8n8k4.f16.f16.f16.f16"},
    {"T4", "HMMA.1688.F32", "mma.m16n8k8.f32.f16.f16.f32"},
    {"T4", "HMMA.1688.F16", "mma.m16n8k8.f16.f16.f16.f16"},
    {"A100", "HMMA.1684.F32.TF32", "mma.m16n8k4.f32.tf32.tf32.f32"},
    {"A100", "HMMA.1688.F32.TF32", "mma.m16n8k8.f32.tf32.tf32.f32"},
    {"A100", "HMMA.1688.F32.BF16", "mma.m16n8k8.f32.bf16.bf16.f32"},
    {"A100", "HMMA.16816.F32.BF16", "mma.m16n8k16.f32.bf16.bf16.f32"},
    {"H100", "HMMA.16816.F32", "mma.m16n8k16.f32.f16.f16.f32"},
    {"H100", "HMMA.16816.F16", "mma.m16n8k16.f16.f16.f16.f16"},
    /* sparse */
    {"A100", "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "mma.sp.m16n8k32.f32.f16.f16.f32"},
    {"A100", "mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
     "mma.sp.m16n8k8.f32.tf32.tf32.f32"},
    {"A100", "HMMA.SP.16832.F32.BF16", "mma.sp.m16n8k32.f32.bf16.bf16.f32"},
    {"A100", "IMMA.SP.168128.S4.S4.SAT", "mma.sp.m16n8k128.satfinite.s32.s4.s4.s32"},
    {"L40S", "QMMA.SP.16864.F32.E4M3.E5M2", "mma.sp.m16n8k64.f32.e4m3.e5m2.f32"},
    {"H100", "wgmma.mma_async.sp.sync.aligned.m64n16k32.f32.f16.f16", "wgmma.sp.m64n16k32.f32.f16.f16"},
    {"B200", "tcgen05.mma.sp.cta_group::2.kind::f16.m256n32k32.f32.bf16.bf16", "tcgen05.sp.m128n32k32.f32.bf16.bf16"},
    {"B200", "tcgen05.mma.sp.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X.m128n24k64.f32.e2m1.e5m2.ue8m0",
     "tcgen05.sp.m128n24k64.block32.f32.e2m1.e5m2.ue8m0"},
    {"B200", "tcgen05.mma.sp.cta_group::2.kind::mxf4nvf4.block_scale.scale_vec::2X.m256n16k128.f32.e2m1.e2m1.ue8m0",
     "tcgen05.sp.m128n16k128.block32.f32.e2m1.e2m1.ue8m0"},
    {"B200", "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::2X.m128n8k64.f32.e2m1.e2m1.ue8m0",
     "tcgen05.m128n8k64.block32.f32.e2m1.e2m1.ue8m0"},
    {"B200", "tcgen05.sp.m256n16k128.block16.f32.e2m1.e2m1.ue4m3",
     "tcgen05.sp.m128n16k128.block16.f32.e2m1.e2m1.ue4m3"},
    {"RTX 5090",
     "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1."
     "f32"
     ".ue4m3",
     "mma.sp.m16n8k128.block16.f32.e2m1.e2m1.f32.ue4m3"},
    {"RTX 5090", "QMMA.SF.SP.16864.F32.E3M2.E2M1.E8", "mma.sp.m16n8k64.block32.f32.e3m2.e2m1.f32.ue8m0"},
    {"RTX 5090", "OMMA.SF.SP.168128.F32.E2M1.E2M1.E8", "mma.sp.m16n8k128.block32.f32.e2m1.e2m1.f32.ue8m0"},
    {"RTX 5090", "OMMA.SF.SP.168128.F32.E2M1.E2M1.UE4M3.4X", "mma.sp.m16n8k128.block16.f32.e2m1.e2m1.f32.ue4m3"},
    /* WMMA: the instruction that its K is a chain of */
    {"V100", "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "mma.m8n8k4.f32.f16.f16.f32"},
    {"V100", "wmma.m16n16k16.f32.f16", "mma.m8n8k4.f32.f16.f16.f16"},
    {"T4", "wmma.mma.sync.aligned.col.row.m32n8k16.f16.f16", "mma.m16n8k8.f16.f16.f16.f16"},
    {"T4", "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32.satfinite", "mma.m8n8k16.satfinite.s32.s8.s8.s32"},
    {"A100", "wmma.mma.sync.aligned.row.row.m8n32k16.f32.bf16.bf16.f32", "mma.m16n8k16.f32.bf16.bf16.f32"},
    {"A100", "wmma.m16n16k16.s32.u8.u8.s32", "mma.m16n8k16.s32.u8.u8.s32"},
    {"A100", "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32", "mma.m8n8k32.s32.s4.s4.s32"},
    {"H100", "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", "mma.m16n8k4.f32.tf32.tf32.f32"},
    {"H100", "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "mma.m16n8k16.f32.f16.f16.f32"},
    {"A100", "wmma.mma.sync.aligned.row.col.m8n8k4.rz.f64.f64.f64.f64", "mma.m8n8k4.rz.f64.f64.f64.f64"},
    {"T4", "IMMA.8832.S4.U4", "mma.m8n8k32.s32.s4.u4.s32"},
    {"A100", "IMMA.16864.U4.S4.SAT", "mma.m16n8k64.satfinite.s32.u4.s4.s32"},
    {"H100", "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s4.s4.s32", "mma.m16n8k32.satfinite.s32.s4.s4.s32"},
    {"T4", "BMMA.88128.XOR.POPC", "mma.m8n8k128.s32.b1.b1.s32.xor.popc"},
    {"RTX 3090", "BMMA.168256.AND.POPC", "mma.m16n8k256.s32.b1.b1.s32.and.popc"},
    {"H100", "BMMA.168128.AND.POPC", "mma.m16n8k128.s32.b1.b1.s32.and.popc"},
    {"B200", "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", "mma.m16n8k256.s32.b1.b1.s32.xor.popc"},
    {"L40S", "wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", "mma.m8n8k128.s32.b1.b1.s32.and.popc"},
    {"A100", "DMMA.884.RZ", "mma.m8n8k4.rz.f64.f64.f64.f64"},
    {"H100", "DMMA.16x8x16.RM", "mma.m16n8k16.rm.f64.f64.f64.f64"},
    {"A100", "mma.sync.aligned.m8n8k4.row.col.rp.f64.f64.f64.f64", "mma.m8n8k4.rp.f64.f64.f64.f64"},
    {"A100", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rn", "mma.m8n8k4.f64.f64.f64.f64"},
    {"A100", "DMMA.884", "mma.m8n8k4.f64.f64.f64.f64"},
    {"A100", "DMMA.8x8x4", "mma.m8n8k4.f64.f64.f64.f64"},
    {"H100", "DMMA.16x8x16", "mma.m16n8k16.f64.f64.f64.f64"},
    {"H100", "DMMA.16x8x8", "mma.m16n8k8.f64.f64.f64.f64"},
    {"H100", "DMMA.16x8x4", "mma.m16n8k4.f64.f64.f64.f64"},
    {"RTX 4090", "QMMA.16832.F32.E4M3.E4M3", "mma.m16n8k32.f32.e4m3.e4m3.f32"},
    {"L40S", "QMMA.16816.F16.E5M2.E4M3", "mma.m16n8k16.f16.e5m2.e4m3.f16"},
    {"RTX 5090", "QMMA.16832.F32.E3M2.E2M1", "mma.m16n8k32.f32.e3m2.e2m1.f32"},
    {"RTX 5090", "QMMA.SF.16832.F32.E4M3.E4M3.E8", "mma.m16n8k32.block32.f32.e4m3.e4m3.f32.ue8m0"},
    {"RTX 5090", "OMMA.SF.16864.F32.E2M1.E2M1.E8", "mma.m16n8k64.block32.f32.e2m1.e2m1.f32.ue8m0"},
    {"RTX 5090", "OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X", "mma.m16n8k64.block16.f32.e2m1.e2m1.f32.ue4m3"},
    {"H100", "HGMMA.64x8x16.F32", "wgmma.m64n8k16.f32.f16.f16"},
    {"H100", "HGMMA.64x256x16.F32.BF16", "wgmma.m64n256k16.f32.bf16.bf16"},
    {"H100", "HGMMA.64x128x8.F32.TF32", "wgmma.m64n128k8.f32.tf32.tf32"},
    {"H100", "QGMMA.64x64x32.F32.E4M3.E4M3", "wgmma.m64n64k32.f32.e4m3.e4m3"},
    {"H100", "QGMMA.64x64x32.F16.E5M2.E4M3", "wgmma.m64n64k32.f16.e5m2.e4m3"},
    /* PTX */
    {"A100", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma.m16n8k16.f32.f16.f16.f32"},
    {"A100", "MMA.SYNC.ALIGNED.M16N8K16.ROW.COL.F32.F16.F16.F32", "mma.m16n8k16.f32.f16.f16.f32"},
    {"A100", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "mma.m8n8k4.f64.f64.f64.f64"},
    {"T4", "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16", "mma.m8n8k4.f32.f16.f16.f16"},
    {"RTX 4090", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", "mma.m16n8k32.f32.e4m3.e5m2.f32"},
    {"RTX 5090", "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32", "mma.m16n8k32.f32.e4m3.e4m3.f32"},
    {"RTX 5090", "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e4m3.f32", "mma.m16n8k32.f32.e4m3.e4m3.f32"},
    {"RTX 5090", "mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e5m2.f32.ue8m0",
     "mma.m16n8k32.block32.f32.e4m3.e5m2.f32.ue8m0"},
    {"RTX 5090", "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
     "mma.m16n8k64.block32.f32.e2m1.e2m1.f32.ue8m0"},
    {"RTX 5090", "mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3",
     "mma.m16n8k64.block16.f32.e2m1.e2m1.f32.ue4m3"},
    {"H100", "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16", "wgmma.m64n256k16.f32.f16.f16"},
    {"H100", "wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3", "wgmma.m64n8k32.f16.e4m3.e4m3"},
    {"B200", "tcgen05.mma.cta_group::1.kind::tf32", "tcgen05.m64n8k8.f32.tf32.tf32"},
    {"B200", "tcgen05.mma.cta_group::2.kind::tf32", "tcgen05.m64n8k8.f32.tf32.tf32"},
    {"B200", "tcgen05.mma.cta_group::1.kind::f16.m128n256k16.f32.bf16.bf16", "tcgen05.m128n256k16.f32.bf16.bf16"},
    {"B200", "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X.m128n8k64.f32.e2m1.e2m1.ue4m3",
     "tcgen05.m128n8k64.block16.f32.e2m1.e2m1.ue4m3"},
    {"B200", "tcgen05.mma.cta_group::1.kind::mxf4.block_scale", "tcgen05.m128n8k64.block32.f32.e2m1.e2m1.ue8m0"},
    {"B200", "tcgen05.m256n64k16.f32.f16.f16", "tcgen05.m128n64k16.f32.f16.f16"},
    /* AMD */
    {"MI100", "f32_16x16x16f16", "v_mfma_f32_16x16x16f16"},
    {"MI100", "v_mfma_f32_16x16x16_f16", "v_mfma_f32_16x16x16f16"},
    {"MI250X", "f32_32x32x8bf16_1k", "v_mfma_f32_32x32x8bf16_1k"},
    {"MI250X", "__builtin_amdgcn_mfma_f64_16x16x4f64", "v_mfma_f64_16x16x4f64"},
    {"MI300X", "v_mfma_f32_16x16x16f16", "v_mfma_f32_16x16x16_f16"},
    {"MI300X", "v_mfma_f32_16x16x16bf16_1k", "v_mfma_f32_16x16x16_bf16"},
    {"MI300X", "f32_16x16x32_fp8_bf8", "v_mfma_f32_16x16x32_fp8_bf8"},
    {"MI300X", "v_mfma_f32_4x4x4f16", "v_mfma_f32_4x4x4_16b_f16"},
    {"AVX512_BF16", "_mm512_dpbf16_ps", "vdpbf16ps"},
    {"AVX-VNNI", "_mm256_dpbusd_avx_epi32", "vpdpbusd"},
    {"AVX512_VNNI", "_mm512_dpbusds_epi32", "vpdpbusds"},
    {"AVX-VNNI-INT8", "_mm_dpbsuds_epi32", "vpdpbsuds"},
    {"AMX", "_tile_dpbf16ps", "tdpbf16ps"},
    {"AMX", "__tile_dpbuud", "tdpbuud"},
};

/* Accepts the canonical name or another name of the same function, because several shapes may share an alias. */
static void test_alias_cases(void **state) {
  int failed = 0;
  smma_error error;
  (void)state;
  for (size_t c = 0; c < sizeof alias_cases / sizeof alias_cases[0]; c++) {
    const alias_case *x = &alias_cases[c];
    const smma_instruction *found = smma_find(x->gpu, x->alias, &error);
    if (found && smma_same_operation(found, find(x->gpu, x->name))) continue;
    print_error("%s on %s: expected %s, got %s\n", x->alias, x->gpu, x->name,
                found ? describe(found).name : error.text);
    failed++;
  }
  assert_int_equal(failed, 0);
}

/* ---- GPUs ---- */

static const char *const gpu_cases[][2] = {
    {"H100TC", "hopper"},
    {"AdaTC", "ada"},
    {"RTXPRO6000TC", "rtx-blackwell"},
    {"MI300XMC", "cdna3"},
    {"Quadro RTX 6000", "turing"},
    {"NVIDIA RTX 6000 Ada Generation", "ada"},
    {"NVIDIA RTX 4000 SFF Ada Generation", "ada"},
    {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-blackwell"},
    {"AMD Instinct MI308X", "cdna3"},
    {"V100", "volta"},
    {"Tesla V100", "volta"},
    {"sm_70", "volta"},
    {"T4", "turing"},
    {"NVIDIA Tesla T4", "turing"},
    {"A100", "ampere"},
    {"A30", "ampere"},
    {"A2", "ampere"},
    {"RTX 3090", "ampere"},
    {"NVIDIA GeForce RTX 3090", "ampere"},
    {"rtx4090", "ada"},
    {"RTX-4090", "ada"},
    {"L40S", "ada"},
    {"l4", "ada"},
    {"RTX 1000 Ada", "ada"},
    {"sm_89", "ada"},
    {"NVIDIA H100", "hopper"},
    {"NVIDIA A100-SXM4-80GB", "ampere"},
    {"NVIDIA H100 80GB HBM3", "hopper"},
    {"Tesla V100-SXM2-16GB", "volta"},
    {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-blackwell"},
    {"AMD Instinct MI300X OAM", "cdna3"},
    {"h100", "hopper"},
    {"H200", "hopper"},
    {"GH200", "hopper"},
    {"sm_90", "hopper"},
    {"SM90a", "hopper"},
    {"Hopper", "hopper"},
    {"B200", "blackwell"},
    {"GB200", "blackwell"},
    {"sm_100a", "blackwell"},
    {"RTX PRO 6000", "rtx-blackwell"},
    {"NVIDIA RTX PRO 6000 Blackwell", "rtx-blackwell"},
    {"rtx_pro_6000", "rtx-blackwell"},
    {"RTX 5090", "rtx-blackwell"},
    {"GeForce RTX 5090", "rtx-blackwell"},
    {"RTX Blackwell", "rtx-blackwell"},
    {"rtx_blackwell", "rtx-blackwell"},
    {"sm_120", "rtx-blackwell"},
    {"MI100", "cdna1"},
    {"gfx908", "cdna1"},
    {"MI210", "cdna2"},
    {"MI250", "cdna2"},
    {"AMD Instinct MI250X", "cdna2"},
    {"gfx90a", "cdna2"},
    {"CDNA 2", "cdna2"},
    {"MI300A", "cdna3"},
    {"mi300x", "cdna3"},
    {"MI325X", "cdna3"},
    {"gfx942", "cdna3"},
    {"cdna3-r1", "cdna3-r1"},
    {"RTX 3080", "ampere"},
    {"NVIDIA GeForce RTX 3080 Ti Laptop GPU", "ampere"},
    {"A6000", "ampere"},
    {"NVIDIA RTX A6000", "ampere"},
    {"RTX A6000", "ampere"},
    {"A10", "ampere"},
    {"NVIDIA A10G", "ampere"},
    {"NVIDIA RTX 6000 Ada Generation", "ada"},
    {"RTX 4070 SUPER", "ada"},
    {"H20", "hopper"},
    {"B100", "blackwell"},
    {"RTX 5080", "rtx-blackwell"},
    {"GeForce RTX 2080 SUPER", "turing"},
    {"x86", "x86"},
    {"AVX512-BF16", "x86"},
    {"amx", "x86"},
};

/* Checks that a lookup by each GPU's name finds an instruction of the GPU's architecture. */
static void test_gpu_names(void **state) {
  (void)state;
  for (size_t g = 0; g < sizeof gpu_cases / sizeof gpu_cases[0]; g++)
    for (size_t at = 0; at < smma_instruction_count(); at++) {
      smma_instruction_info info = describe(smma_instruction_at(at));
      if (strcmp(info.arch, gpu_cases[g][1]) != 0 || !smma_gpu_has(gpu_cases[g][0], info.name)) continue;
      assert_ptr_equal(find(gpu_cases[g][0], info.name), smma_instruction_at(at));
      break;
    }
}

/* gpus.def has a product name for every architecture except x86 and a first model, because users name products. */
static void test_every_architecture_has_a_gpu(void **state) {
  (void)state;
  for (int arch = 0; arch < SMMA_ARCH_COUNT; arch++) {
    bool named = !smma_architectures[arch].listed || arch == SMMA_ARCH_x86;
    for (size_t g = 0; g < smma_gpu_count; g++) named = named || smma_gpus[g].arch == (smma_arch_id)arch;
    if (!named) fail_msg("no GPU of %s is in gpus.def", smma_architectures[arch].name);
  }
}

/* ---- Error messages ---- */

static const struct {
  const char *gpu, *name, *parts[4]; /* parts of the message */
} error_cases[] = {
    {"H10", "mma.m16n8k16.f32.f16.f16.f32", {"unknown GPU", "'H10'", "H100"}},
    {"Hoper", "HMMA.16816.F32", {"unknown GPU", "'Hoper'", "hopper"}},
    {"RTX 4091", "HMMA.16816.F32", {"unknown GPU", "RTX 4090"}},
    {"", "HMMA.16816.F32", {"unknown GPU"}},
    {"nvidia", "HMMA.16816.F32", {"'NVIDIA' is a vendor", "volta, turing", "rtx-blackwell"}},
    {"sm_107a", "UTCHMMA", {"no model of sm_107a yet", "nearest by generation is blackwell"}},
    {"A100", "wmma.m16n16k16", {"fits", "instructions that compute differently", "mma.m16n8k16.f32.f16.f16.f32"}},
    {"A100", "wmma.m16n16k16.f16.f32", {"A100 has no instruction 'wmma.m16n16k16.f16.f32'", "wmma"}},
    {"B300", "UTCQMMA", {"no model of 'UTCQMMA' on B300: no published results", "candidates: Blackwell's rules"}},
    {"NVIDIA B300 SXM6 AC", "mma.m16n8k16.f32.f16.f16.f32", {"no model of 'mma.m16n8k16.f32.f16.f16.f32' on NVIDIA"}},
    {"sm_110a", "tcgen05.m64n8k16.f32.f16.f16", {"no model of 'tcgen05.m64n8k16.f32.f16.f16' on sm_110a"}},
    {"GB10", "HMMA.16816.F32", {"no model of GB10 yet", "rtx-blackwell"}},
    {"AMD Instinct MI355X",
     "v_mfma_f32_32x32x8f16",
     {"no model of MI355X: no published results", "CDNA 3's rules", "nearest", "cdna3"}},
    {"MI350X", "v_mfma_f32_32x32x8f16", {"no model of MI350X: no published results", "candidates: ", "cdna3"}},
    {"gfx950:sramecc+", "v_mfma_f32_32x32x8f16", {"no model of gfx950: no published results", "candidates: ", "cdna3"}},
    {"cdna4", "v_mfma_f32_16x16x32_f16", {"no model of CDNA 4: no published results", "candidates: "}},
    {"gfx1170",
     "v_wmma_f32_16x16x16_f16",
     {"no model of gfx1170: no published results", "candidates: ", "RDNA 3's", "rdna4"}},
    {"gfx1201",
     "v_swmmac_f32_16x16x32_f16",
     {"no model of 'v_swmmac_f32_16x16x32_f16' on gfx1201: no published results", "index"}},
    {"RX 9070",
     "__builtin_amdgcn_swmmac_i32_16x16x64_iu4_w32",
     {"on RX 9070: no published results are known; candidates: "}},
    {"AMX", "tmmultf32ps", {"no model of 'tmmultf32ps' on AMX", "withdrawn"}},
    {"x86", "_tile_mmultf32ps", {"nearest"}},
    {"H100", "v_swmmac_f32_16x16x32_f16", {"H100 has no instruction", "rdna4 has it, but there is no model"}},
    {"gfx1100", "v_dot2_f16_f16", {"no model of 'v_dot2_f16_f16' on gfx1100", "one step of v_wmma_f16_16x16x16_f16"}},
    {"MI300X", "v_dot2_f16_f16", {"MI300X has no instruction", "it is on", "rdna4", "9070"}},
    {"sm_87", "HMMA.16816.F32", {"no model of sm_87 yet", "ampere"}},
    {"H100", "mma.m16n8k16.f32.f16.f16.f23", {"no instruction", "nearest", "mma.m16n8k16.f32.f16.f16.f32"}},
    {"H100", "wgmma.m64n8k16.f32.f16.f61", {"no instruction", "wgmma.m64n8k16.f32.f16.f16"}},
    {"MI300X", "v_mfma_f32_16x16x16_f61", {"no instruction", "nearest", "v_mfma_f32_16x16x16_f16"}},
    {"H100", "", {"no instruction"}},
    {"H100", "HGMMA", {"fits 4 instructions", "wgmma.m64n8k16.f32.f16.f16"}},
    {"H100", "v_mfma_f32_32x32x8f16", {"it is on", "MI250X", "MI325X"}},
    {"V100", "mma.m16n8k16.f32.bf16.bf16.f32", {"V100 has no instruction", "ampere", "A100", "hopper"}},
    {"A100", "wgmma.m64n8k16.f32.f16.f16", {"A100 has no instruction", "it is on", "hopper", "H100"}},
    {"H100", "v_mfma_f32_32x32x8bf16_1k", {"H100 has no instruction", "it is on", "cdna2", "cdna3"}},
    {"H100", "vdpbf16ps", {"it is on", "x86", "AVX512_BF16"}},
    {"B200", "UTCHMMA", {"compute differently", "name one", "tcgen05.m64n8k16.f32.f16.f16", "tcgen05.m64n8k8.f32"}},
    {"B200", "UTCOMMA.4X", {"compute differently", "block16.f32.e2m1.e2m1.ue4m3", "block16.f32.e2m1.e2m1.ue8m0"}},
    {"B200", "UTCQMMA", {"compute differently", "tcgen05.m64n8k32.f32.e4m3.e4m3", "..."}},
    {"B200", "tcgen05.mma.cta_group::1.kind::f16", {"compute differently", "f32.f16.f16", "f16.f16.f16", "f32.bf16"}},
    {"B200", "tcgen05.mma.cta_group::2.kind::f8f6f4", {"compute differently", "e4m3"}},
};

static int says(const char *message, const char *const *parts, int count) {
  for (int i = 0; i < count && parts[i]; i++)
    if (!strstr(message, parts[i])) return 0;
  return message[0] && !strchr(message, '\n');
}

static void test_error_lines(void **state) {
  smma_error error;
  int failed = 0;
  (void)state;
  for (size_t c = 0; c < sizeof error_cases / sizeof error_cases[0]; c++) {
    assert_null(smma_find(error_cases[c].gpu, error_cases[c].name, &error));
    assert_null(smma_find(error_cases[c].gpu, error_cases[c].name, NULL));
    assert_int_equal(error.status, strstr(error.text, "compute differently") ? SMMA_AMBIGUOUS : SMMA_NOT_FOUND);
    if (says(error.text, error_cases[c].parts, 4)) continue;
    print_error("'%s' on '%s' is answered by: %s\n", error_cases[c].name, error_cases[c].gpu, error.text);
    failed++;
  }
  assert_int_equal(failed, 0);
  assert_null(smma_find(NULL, "vdpbf16ps", NULL));
  assert_null(smma_find("x86", NULL, NULL));
}

/* Names of any length are refused, never truncated to an existing name. */
static void test_long_names(void **state) {
  static char name[5000];
  static smma_error error;
  static const char real[] = "mma.m16n8k16.f32.f16.f16.f32";
  (void)state;
  memset(name, 'x', sizeof name - 1);
  assert_null(smma_find("H100", name, &error));
  assert_null(smma_find(name, "HMMA.16816.F32", &error));
  memset(name, '.', sizeof name - 1);
  assert_null(smma_find("H100", name, &error));
  memcpy(name, real, strlen(real));
  memset(name + strlen(real), 'x', 300);
  assert_null(smma_find("H100", name, &error));
}

static void test_message_is_empty_on_success(void **state) {
  smma_error error = {SMMA_FAILED, "before"};
  (void)state;
  assert_non_null(smma_find("H100", "HMMA.16816.F32", &error));
  assert_int_equal(error.status, SMMA_OK);
  assert_string_equal(error.text, "");
}

/* ---- Descriptions of instructions ---- */

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Reports whether the rule computes instructions of the architecture whose names begin with `start`. */
static bool computes(const smma_instruction *of, const char *start) {
  for (size_t at = 0; at < smma_instruction_count(); at++) {
    const smma_instruction *i = smma_instruction_at(at);
    if (i->arch == of->arch && i->rule == of->rule && strncmp(i->name, start, strlen(start)) == 0) return true;
  }
  return false;
}

/* What was recorded on an H100 mentions wgmma if, and only if, Hopper has instructions wgmma with this rule. */
static void check_recorded_on_h100(const smma_instruction *i, const char *text) {
  if (i->arch != SMMA_ARCH_hopper || !strstr(text, "recorded results of an H100")) return;
  if ((strstr(text, "wgmma") != NULL) != computes(i, "wgmma"))
    fail_msg("hopper %s: evidence of other instructions: %s", i->name, text);
}

/* Evidence is whole sentences, on one line, about the formats of the rule. Only a lead-in ends with a colon, because
   the pages of units list what follows as facts. */
static void check_evidence(const smma_instruction_info *info, const char *text) {
  const char *facts = strstr(text, ": ");
  if (strchr(text, '\n') || !ends_with(text, ".")) fail_msg("%s %s: not a sentence: %s", info->arch, info->name, text);
  if (facts && strstr(facts + 1, ": ")) fail_msg("%s %s: two lead-ins: %s", info->arch, info->name, text);
  if (info->d == SMMA_S32 && (strstr(text, "FP8") || strstr(text, "NaN")))
    fail_msg("%s %s: evidence of other formats: %s", info->arch, info->name, text);
}

/* An open question is worded as a question. Its last sentence names the experiments that answer it. */
static void check_question(const smma_instruction_info *info, const char *text) {
  const char *experiments = strstr(text, " To find out on hardware, run the experiment");
  if (!strchr(text, '?') || !experiments || strchr(experiments, '.') != text + strlen(text) - 1)
    fail_msg("%s %s: not a question with its experiments: %s", info->arch, info->name, text);
}

static void test_every_rule_has_evidence(void **state) {
  char text[128];
  (void)state;
  for (size_t at = 0; at < smma_instruction_count(); at++) {
    const smma_instruction *i = smma_instruction_at(at);
    smma_instruction_info info = describe(i);
    if (!info.evidence[0] || !info.evidence[0][0]) fail_msg("%s %s has no evidence", info.arch, info.name);
    for (int e = 0; info.evidence[e]; e++) {
      check_evidence(&info, info.evidence[e]);
      check_recorded_on_h100(i, info.evidence[e]);
    }
    for (int q = 0; info.questions[q]; q++) check_question(&info, info.questions[q]);
    assert_true(info.model[0] && info.rule[0] && smma_instruction_parameters(i, text, sizeof text) > 0);
    assert_int_equal(info.scale == SMMA_NO_FORMAT, info.scale_block == 0);
    assert_true(info.m > 0 && info.n > 0 && info.k > 0 && info.k <= SMMA_MAXIMUM_K);
    /* K is two blocks of the rule's L. */
    if (i->rule->rule.algorithm == SMMA_FP8_BY_FP16) assert_int_equal(i->rule->rule.with.t_fdpa.block * 2, info.k);
  }
}

static const struct {
  const char *gpu, *name, *model, *parameters;
} parameter_cases[] = {
    {"V100", "mma.m8n8k4.f32.f16.f16.f32", "T-FDPA", "F=23 L=4 rho=RZ-FP32 e_zero=-131"},
    {"V100", "mma.m8n8k4.f16.f16.f16.f16", "T-FDPA", "F=23 L=4 rho=RNE-FP16 e_zero=-19"},
    {"T4", "mma.m8n8k4.f32.f16.f16.f32", "T-FDPA", "F=24 L=4 rho=RZ-FP32 e_zero=-132"},
    {"A100", "mma.m16n8k8.f32.tf32.tf32.f32", "T-FDPA", "F=24 L=4 rho=RZ-FP32 e_zero=-132"},
    {"A100", "mma.m8n8k4.f64.f64.f64.f64", "FMA", "order=ascending"},
    {"L40S", "mma.m16n8k32.f32.e4m3.e4m3.f32", "T-FDPA", "F=13 L=16 rho=RZ-E8M13 e_zero=-132"},
    {"L40S", "mma.m16n8k32.f16.e4m3.e4m3.f16", "T-FDPA", "F=13 L=16 rho=RNE-FP16 e_zero=-20"},
    {"H100", "wgmma.m64n8k16.f32.f16.f16", "T-FDPA", "F=25 L=16 rho=RZ-FP32 e_zero=-133"},
    {"H100", "wgmma.m64n8k16.f16.f16.f16", "T-FDPA", "F=25 L=16 rho=RNE-FP16 e_zero=-21"},
    {"H100", "mma.m16n8k16.f16.f16.f16.f16", "T-FDPA", "F=25 L=16 rho=RNE-FP16 e_zero=-21"},
    {"H100", "wgmma.m64n8k32.f32.e4m3.e4m3", "T-FDPA", "F=13 L=32 rho=RZ-E8M13 e_zero=-133"},
    {"H100", "mma.m16n8k32.f32.e4m3.e4m3.f32", "FP8-by-FP16", "F=25 L=16 rho=RZ-FP32 e_zero=-133"},
    {"B200", "tcgen05.m64n8k32.f32.e2m1.e3m2", "T-FDPA", "F=25 L=32 rho=RZ-FP32 e_zero=-133"},
    {"B200", "tcgen05.m128n8k32.block32.f32.e4m3.e4m3.ue8m0", "ST-FDPA", "F=25 L=32 rho=RZ-FP32 e_zero=-133"},
    {"B200", "tcgen05.m128n8k64.block16.f32.e2m1.e2m1.ue4m3", "GST-FDPA", "G=16 F=35 rho=RZ-FP32 e_zero=-139"},
    {"MI100", "v_mfma_f32_16x16x16f16", "E-FDPA", "L=4"},
    {"MI250X", "v_mfma_f32_16x16x16bf16_1k", "FTZ-AddMul", "P=4"},
    {"MI250X", "v_mfma_f32_16x16x8bf16", "FTZ-AddMul", "P=2"},
    {"MI300X", "v_mfma_f32_16x16x16_f16", "TR-FDPA", "F=24 F2=31 L=8 revision=2"},
    {"MI300X", "v_mfma_f32_16x16x8_xf32", "TR-FDPA", "F=24 F2=31 L=4 revision=2"},
    {"MI300X", "v_mfma_f32_16x16x32_fp8_bf8", "GTR-FDPA", "F=24 F2=31 L=16 revision=2"},
    {"cdna3-r1", "v_mfma_f32_16x16x32_fp8_bf8", "GTR-FDPA", "F=24 F2=31 L=16 revision=1"},
    {"x86", "vdpbf16ps", "FTZ-FMA", "order=descending"},
    {"x86", "tdpbf16ps", "composition", "chains=2 rho=RNE-FP32 subnormals=signed-zero"},
    {"x86", "tdpfp16ps", "composition", "chains=2 rho=RNE-FP32 subnormals=signed-zero factors=kept"},
    {"arm", "bfmmla", "composition", "pairs=rounded rho=RO-FP32 subnormals=signed-zero"},
    {"arm", "bfdot.ebf", "composition", "pairs=fused rho=RNE-FP32"},
    {"arm", "fmmla.d", "composition", "pairs=rounded rho=RNE-FP64"},
    {"power", "xvf16ger2pp", "composition", "pairs=fused rho=RNE-FP32"},
    {"power", "xvbf16ger2pp", "composition", "pairs=fused rho=RNE-FP32 range=f64"},
    {"power", "xvi8ger4spp", "INTEGER", "overflow=saturate"},
};

/* The best of the evidence; recordings on an H100 are evidence for Hopper only, also if other GPUs share the rule. */
static void test_basis(void **state) {
  static const struct {
    const char *gpu, *name, *basis;
  } cases[] = {{"H100", "HMMA.16816.F32", "recorded"},
               {"H100", "IMMA.16832.S8.S8", "recorded"},
               {"A100", "IMMA.16832.S8.S8", "assumed"},
               {"B200", "tcgen05.m64n8k32.s32.s8.s8", "recorded"},
               {"B200", "tcgen05.sp.m128n8k64.block32.f32.e2m3.e2m3.ue8m0", "recorded"},
               {"B200", "tcgen05.sp.m64n8k64.f32.e4m3.e4m3", "reported"},
               {"B200", "tcgen05.sp.m64n8k64.f16.e4m3.e4m3", "assumed"},
               {"B300", "tcgen05.m64n8k16.f32.bf16.bf16", "reported"},
               {"NVIDIA Jetson Thor", "tcgen05.m128n8k32.block32.f32.e4m3.e4m3.ue8m0", "reported"},
               {"T4", "HMMA.1688.F32", "reported"},
               {"Neoverse V1", "bfmmla", "emulated"}};
  (void)state;
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
    assert_string_equal(smma_basis_name(smma_instruction_basis(find(cases[n].gpu, cases[n].name))), cases[n].basis);
  assert_int_equal(smma_instruction_basis(NULL), SMMA_BASIS_ASSUMED);
  assert_string_equal(smma_basis_name(SMMA_BASIS_CUSTOM), "custom");
  assert_string_equal(smma_basis_name((smma_basis)9), "unknown");
}

static void test_parameters(void **state) {
  char text[128], cut[4];
  (void)state;
  for (size_t c = 0; c < sizeof parameter_cases / sizeof parameter_cases[0]; c++) {
    const smma_instruction *i = find(parameter_cases[c].gpu, parameter_cases[c].name);
    size_t length = smma_instruction_parameters(i, text, sizeof text);
    assert_string_equal(describe(i).model, parameter_cases[c].model);
    assert_string_equal(text, parameter_cases[c].parameters);
    assert_int_equal(length, strlen(text));
    assert_int_equal(smma_instruction_parameters(i, cut, sizeof cut), length);
    assert_true(strlen(cut) == 3 && strncmp(cut, text, 3) == 0);
    assert_int_equal(smma_instruction_parameters(i, NULL, 0), length);
  }
  assert_int_equal(smma_instruction_parameters(NULL, text, sizeof text), 0);
  assert_int_equal(smma_describe(NULL, NULL, 0), SMMA_INVALID_ARGUMENT);
}

/* ---- By formats ---- */

static const struct {
  const char *gpu, *in, *out, *name; /* NULL: there is no such instruction */
} format_cases[] = {
    {"V100", "f16", NULL, "mma.m8n8k4.f32.f16.f16.f32"},
    {"A100", "bf16", NULL, "mma.m16n8k16.f32.bf16.bf16.f32"},
    {"A100", "tf32", NULL, "mma.m16n8k8.f32.tf32.tf32.f32"},
    {"A100", "f64", NULL, "mma.m8n8k4.f64.f64.f64.f64"},
    {"L40S", "e4m3", NULL, "mma.m16n8k32.f32.e4m3.e4m3.f32"},
    {"H100", "f16", NULL, "wgmma.m64n8k16.f32.f16.f16"},
    {"H100", "f16", "f16", "wgmma.m64n8k16.f16.f16.f16"},
    {"H100", "e4m3", NULL, "wgmma.m64n8k32.f32.e4m3.e4m3"},
    {"H100", "f64", NULL, "mma.m16n8k16.f64.f64.f64.f64"},
    {"B200", "bf16", NULL, "tcgen05.m64n8k16.f32.bf16.bf16"},
    {"B200", "e2m1", NULL, "tcgen05.m64n8k32.f32.e2m1.e2m1"},
    {"RTX 5090", "e5m2", "f16", "mma.m16n8k32.f16.e5m2.e5m2.f16"},
    {"MI100", "bf16", NULL, "v_mfma_f32_16x16x8bf16"},
    {"MI250X", "bf16", NULL, "v_mfma_f32_16x16x16bf16_1k"},
    {"MI300X", "tf32", NULL, "v_mfma_f32_16x16x8_xf32"},
    {"MI300X", "e4m3fnuz", NULL, "v_mfma_f32_16x16x32_fp8_fp8"},
    {"MI300X", "f32", NULL, "v_mfma_f32_16x16x4_f32"},
    {"x86", "bf16", NULL, "vdpbf16ps"},
    {"x86", "f16", NULL, "tdpfp16ps"},
    {"x86", "u8,s8", NULL, "vpdpbusd"},
    {"arm", "bf16", NULL, "bfmmla"},
    {"arm", "f16", NULL, "fmopa.s.h"},
    {"arm", "f32", NULL, "fmmla.s"},
    {"arm", "u8,s8", NULL, "usmmla"},
    {"power", "bf16", NULL, "xvbf16ger2pp"},
    {"power", "s8,u8", NULL, "xvi8ger4pp"},
    {"V100", "bf16", NULL, NULL},
    {"MI300X", "e4m3", NULL, NULL},
    {"H100", "e2m1", NULL, NULL},
    {"H100", "bf16", "f16", NULL},
    {"no such GPU", "f16", NULL, NULL},
    {"A100", "int8", NULL, "mma.m16n8k32.s32.s8.s8.s32"},
    {"H100", "e4m3,e5m2", NULL, "wgmma.m64n8k32.f32.e4m3.e5m2"},
    {"H100", "e5m2:e4m3", "half", "wgmma.m64n8k32.f16.e5m2.e4m3"},
    {"MI300X", "e5m2fnuz,e4m3fnuz", NULL, "v_mfma_f32_16x16x32_bf8_fp8"},
    {"B200", "e2m1,e3m2", NULL, "tcgen05.m64n8k32.f32.e2m1.e3m2"},
    {"B200", "mxfp8", NULL, "tcgen05.m128n8k32.block32.f32.e4m3.e4m3.ue8m0"},
    {"B200", "MXFP8_E5M2", NULL, "tcgen05.m128n8k32.block32.f32.e5m2.e5m2.ue8m0"},
    {"B200", "mxfp8,mxfp4", NULL, "tcgen05.m128n8k32.block32.f32.e4m3.e2m1.ue8m0"},
    {"B200", "mxfp6", NULL, "tcgen05.m128n8k32.block32.f32.e3m2.e3m2.ue8m0"},
    {"B200", "mxfp4", NULL, "tcgen05.m128n8k64.block32.f32.e2m1.e2m1.ue8m0"},
    {"B200", "nvfp4", NULL, "tcgen05.m128n8k64.block16.f32.e2m1.e2m1.ue4m3"},
    {"RTX 5090", "mxfp4", NULL, "mma.m16n8k64.block32.f32.e2m1.e2m1.f32.ue8m0"},
    {"RTX 5090", "nvfp4", "f32", "mma.m16n8k64.block16.f32.e2m1.e2m1.f32.ue4m3"},
    {"B200", "nvfp4", "f16", NULL},
    {"H100", "nvfp4", NULL, NULL},
    {"H100", "f16,bf16", NULL, NULL},
};

static void test_find_by_formats(void **state) {
  smma_error error;
  smma_formats formats;
  (void)state;
  for (size_t c = 0; c < sizeof format_cases / sizeof format_cases[0]; c++) {
    const smma_instruction *i;
    if (smma_formats_find(format_cases[c].in, format_cases[c].out, &formats, &error) != SMMA_OK)
      fail_msg("%s", error.text);
    assert_string_equal(error.text, "");
    i = smma_find_by_formats(format_cases[c].gpu, &formats, &error);
    assert_ptr_equal(i, smma_find_by_formats(format_cases[c].gpu, &formats, NULL));
    if (format_cases[c].name) {
      if (!i) fail_msg("%s", error.text);
      assert_string_equal(describe(i).name, format_cases[c].name);
      assert_string_equal(error.text, "");
    } else {
      assert_null(i);
      assert_int_equal(error.status, SMMA_NOT_FOUND);
      assert_true(strlen(error.text) > 0);
    }
  }
}

/* A search by formats must return the first instruction of the table that has these formats, because it is the
   preferred one. */
/* Single bits on Turing are an exception: Turing has no instruction that multiplies them. */
static void test_every_format_is_found(void **state) {
  (void)state;
  for (size_t at = 0; at < smma_instruction_count(); at++) {
    smma_instruction_info i = describe(smma_instruction_at(at)), found;
    smma_formats formats = {i.a, i.b, i.d, i.scale, i.scale_block};
    if (i.a == SMMA_B1 && strcmp(i.arch, "turing") == 0) {
      smma_error error;
      assert_null(smma_find_by_formats(i.arch, &formats, &error));
      assert_non_null(strstr(error.text, "counts a xor b: name the instruction, mma.m8n8k128.s32.b1.b1.s32.xor.popc"));
      continue;
    }
    found = describe(smma_find_by_formats(i.arch, &formats, NULL));
    assert_true(found.a == i.a && found.b == i.b && found.d == i.d && found.scale == i.scale &&
                found.scale_block == i.scale_block);
  }
}

static const struct {
  const char *in, *out, *says;
  smma_status status;
} wrong_formats[] = {
    {"f17", NULL, "unknown format 'f17'; formats are f64, f32", SMMA_NOT_FOUND},
    {"e4m3,f17", NULL, "unknown format 'f17'", SMMA_NOT_FOUND},
    {"", NULL, "unknown format ''", SMMA_NOT_FOUND},
    {"e4m3,", NULL, "unknown format ''", SMMA_NOT_FOUND},
    {"e4m3,e4m3,e4m3", NULL, "unknown format 'e4m3,e4m3'", SMMA_NOT_FOUND},
    {"e8m13", NULL, "unknown format 'e8m13'", SMMA_NOT_FOUND},
    {"mxfp", NULL, "nvfp4", SMMA_NOT_FOUND},
    {"mxfp8_", NULL, "unknown format 'mxfp8_'", SMMA_NOT_FOUND},
    {"f16", "mxfp8", "unknown format 'mxfp8'", SMMA_NOT_FOUND},
    {"f16", "e8m13", "unknown format 'e8m13'", SMMA_NOT_FOUND},
    {"mxfp8,e4m3", NULL, "same scale factors", SMMA_INVALID_ARGUMENT},
    {"mxfp4,nvfp4", NULL, "same scale factors", SMMA_INVALID_ARGUMENT},
    {NULL, NULL, "missing", SMMA_INVALID_ARGUMENT},
};

static void test_wrong_formats(void **state) {
  char name[500];
  smma_error error;
  smma_formats formats = {SMMA_BF16, SMMA_BF16, SMMA_F32, SMMA_NO_FORMAT, 0}, wrong;
  (void)state;
  for (size_t c = 0; c < sizeof wrong_formats / sizeof wrong_formats[0]; c++) {
    assert_int_equal(smma_formats_find(wrong_formats[c].in, wrong_formats[c].out, &formats, &error),
                     wrong_formats[c].status);
    assert_int_equal(error.status, wrong_formats[c].status);
    if (!strstr(error.text, wrong_formats[c].says))
      fail_msg("'%s' is answered by: %s", wrong_formats[c].in, error.text);
    assert_int_equal(smma_formats_find(wrong_formats[c].in, wrong_formats[c].out, &formats, NULL),
                     wrong_formats[c].status);
  }
  assert_int_equal(smma_formats_find("f16", NULL, NULL, &error), SMMA_INVALID_ARGUMENT);
  memset(name, 'e', sizeof name - 1), name[sizeof name - 1] = 0;
  assert_int_equal(smma_formats_find(name, NULL, &formats, &error), SMMA_NOT_FOUND);
  assert_true(formats.a == SMMA_BF16 && formats.d == SMMA_F32); /* unchanged by the error */

  assert_null(smma_find_by_formats("V100", &formats, &error));
  assert_non_null(strstr(error.text, "V100 has no instruction for bf16 x bf16 -> f32; it has: f16->f32"));
  assert_null(smma_find_by_formats("no such GPU", &formats, &error));
  assert_non_null(strstr(error.text, "unknown GPU"));
  assert_null(smma_find_by_formats(NULL, &formats, &error));
  assert_null(smma_find_by_formats("H100", NULL, &error));
  for (int field = 0; field < 4; field++) {
    const smma_format none[] = {SMMA_E8M13, SMMA_NO_FORMAT, (smma_format)SMMA_FORMAT_COUNT, (smma_format)-1};
    for (size_t n = 0; n < sizeof none / sizeof none[0]; n++) {
      wrong = (smma_formats){SMMA_E2M1, SMMA_E2M1, SMMA_F32, SMMA_UE8M0, 32};
      assert_non_null(smma_find_by_formats("B200", &wrong, &error));
      *(field == 0 ? &wrong.a : field == 1 ? &wrong.b : field == 2 ? &wrong.d : &wrong.scale) = none[n];
      assert_null(smma_find_by_formats("B200", &wrong, &error));
      assert_true(strlen(error.text) > 0);
    }
  }
  wrong = (smma_formats){SMMA_F16, SMMA_F16, SMMA_F32, SMMA_NO_FORMAT, -1};
  assert_null(smma_find_by_formats("H100", &wrong, &error));
}

/* ---- Documentation of the algorithms ---- */

static char *read_page(const char *name) {
  char path[512], *text;
  FILE *stream;
  long size;
  snprintf(path, sizeof path, "%s/%s", DOCS, name);
  stream = fopen(path, "rb");
  if (!stream) fail_msg("cannot read %s", path);
  fseek(stream, 0, SEEK_END);
  size = ftell(stream);
  rewind(stream);
  text = calloc((size_t)size + 1, 1);
  assert_int_equal(fread(text, 1, (size_t)size, stream), size);
  fclose(stream);
  return text;
}

/* Reports whether a table's first column has a name, alone or between commas. */
static bool is_in_first_column(const char *text, const char *name) {
  const size_t length = strlen(name);
  for (const char *line = strstr(text, "\n| "); line; line = strstr(line + 1, "\n| ")) {
    const char *end = strchr(line + 3, '|');
    for (const char *at = line + 3; end && at < end; at++)
      if (strncmp(at, name, length) == 0 && strchr(", ", at[-1]) && strchr(", ", at[length])) return true;
  }
  return false;
}

/* Every algorithm has a page, a row in the table of pages, and a row in the table of a custom unit's formats. */
static void test_algorithms_are_documented(void **state) {
  char *index = read_page("algorithms/README.md"), *custom = read_page("custom-units.md");
  (void)state;
  for (smma_algorithm algorithm = 0; *smma_keys_name(algorithm); algorithm++) {
    const char *name = smma_keys_name(algorithm), *at;
    char row[64], page[96];
    snprintf(row, sizeof row, "\n| [%s](", name);
    at = strstr(index, row);
    if (!at) fail_msg("docs/algorithms/README.md has no row for %s", name);
    at += strlen(row);
    snprintf(page, sizeof page, "algorithms/%.*s", (int)strcspn(at, ")"), at);
    free(read_page(page));
    if (!is_in_first_column(custom, name)) fail_msg("docs/custom-units.md lacks the formats of %s", name);
  }
  free(index);
  free(custom);
}

/* The argument is a pattern of the tests to run. */
int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_listed_names_exist),
      cmocka_unit_test(test_nothing_else_exists),
      cmocka_unit_test(test_first_model_of_cdna3),
      cmocka_unit_test(test_legal_n),
      cmocka_unit_test(test_canonical_names_are_unique),
      cmocka_unit_test(test_aliases_fit_one_function),
      cmocka_unit_test(test_aliases_are_found),
      cmocka_unit_test(test_alias_text),
      cmocka_unit_test(test_alias_cases),
      cmocka_unit_test(test_gpu_names),
      cmocka_unit_test(test_every_architecture_has_a_gpu),
      cmocka_unit_test(test_error_lines),
      cmocka_unit_test(test_long_names),
      cmocka_unit_test(test_message_is_empty_on_success),
      cmocka_unit_test(test_every_rule_has_evidence),
      cmocka_unit_test(test_basis),
      cmocka_unit_test(test_parameters),
      cmocka_unit_test(test_find_by_formats),
      cmocka_unit_test(test_every_format_is_found),
      cmocka_unit_test(test_wrong_formats),
      cmocka_unit_test(test_algorithms_are_documented),
  };
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  return cmocka_run_group_tests_name("catalogue", tests, read_list, NULL);
}
