/* Replaces tensor_memory.h of src/unit/cuda on the CPU: tensor memory, and tcgen05.mma as its model. Part of cuda.h.

   Positions of elements follow the PTX ISA. Positions of metadata follow CUTLASS (tmem_e_frg), because the PTX ISA
   shows them only in figures. */
#ifndef SOFTMMA_TESTS_TENSOR_H
#define SOFTMMA_TESTS_TENSOR_H

#define SMMA_UNIT_CUDA_TENSOR_MEMORY_H

namespace cuda_unit {

enum kind { F16, TF32, F8F6F4, I8, MXF8F6F4, MXF4, MXF4NVF4 };

struct addresses {
  uint32_t scales_a, scales_b, metadata;
};

}  // namespace cuda_unit

constexpr int MEMORY_COLUMNS = 512;

/* The operation that the one issuing thread started. */
struct tensor_state {
  uint32_t memory[IN_GROUP][MEMORY_COLUMNS];
  uint64_t a, b; /* descriptors */
  uint32_t d, scales_a, scales_b, metadata;
};
inline tensor_state tensor;

/* Returns element k of a row. Each 16 bytes hold `in_piece` consecutive elements. */
static inline uint64_t packed_element(uint64_t descriptor, int row, int k, int in_piece, int bits) {
  uint64_t word = 0;
  const int bit = k % in_piece * bits, first = k / in_piece * 16 + bit / 8;
  for (int i = 0; i < (bit % 8 + bits + 7) / 8; i++) word |= (uint64_t)*byte_of(descriptor, row, first + i) << 8 * i;
  return word >> bit % 8 & (((uint64_t)1 << bits) - 1);
}

/* Returns the four bits of a group of A, in or near the lane of its row. For elements of 16 and 32 bits, a lane has two
   rows, whose upper four groups are eight lanes further. */
static inline uint32_t metadata_in_memory(int lane, int row, int group, bool wide) {
  const int at = wide ? lane - row / 8 % 2 * 8 + group / 4 * 8 : lane;
  const int nibble = wide ? row / 8 % 2 * 4 + group % 4 : group % 8;
  return tensor.memory[at][tensor.metadata + (wide ? 0u : (unsigned)group / 8)] >> 4 * nibble & 15;
}

static inline void compute_tcgen05(operands *) {
  smma_instruction_info info;
  unsigned char a[256], b[256];
  smma_describe(block.instruction, &info, sizeof info);
  const int k = info.k, group = smma_sparse_group(block.instruction);
  const bool full = smma_format_bits(info.a) == 4 && k == 64; /* FP4 instructions of their own kinds */
  const auto bits = [](smma_format f) { return f == SMMA_TF32 ? 32 : smma_format_bits(f); };
  const auto take_packed = [=](unsigned char *to, int s, uint64_t descriptor, int row, int at, smma_format f) {
    const size_t bytes = smma_format_bytes(f);
    const uint64_t element = packed_element(descriptor, row, at, full ? 32 : 16 / (int)bytes, bits(f));
    memcpy(to + bytes * (size_t)s, &element, bytes);
  };
  for (int element = 0; element < info.m * info.n; element++) {
    const int i = element / info.n, j = element % info.n, lane = info.m == 64 ? i / 16 * 32 + i % 16 : i;
    for (int s = 0; s < k; s++) {
      const int met =
          group ? selected_by(metadata_in_memory(lane, i, s / (group / 2), bits(info.a) >= 16), s, group) : s;
      take_packed(a, s, tensor.a, i, s, info.a);
      take_packed(b, s, tensor.b, j, met, info.b);
    }
    const uint32_t *scale_a = &tensor.memory[i % 32][tensor.scales_a + (unsigned)i / 32];
    const uint32_t *scale_b = &tensor.memory[j % 32][tensor.scales_b + (unsigned)j / 32];
    uint32_t *x = &tensor.memory[lane][tensor.d + (unsigned)j];
    const smma_status status =
        smma_dot(block.instruction, a, b, x, info.scale_block ? scale_a : NULL, info.scale_block ? scale_b : NULL, x);
    demand(status == SMMA_OK, "the model refuses its operands");
  }
}

namespace cuda_unit {

inline uint32_t shared_address(const void *at) { return (uint32_t)__cvta_generic_to_shared(at); }

template <int COLUMNS>
void allocate(uint32_t *address) {
  *address = 0;
}
template <int COLUMNS>
void release(uint32_t) {}

inline uint32_t *memory_at(uint32_t address) {
  return &tensor.memory[(address >> 16) + threadIdx.x % LANES][address & 0xffff];
}

inline void store(uint32_t address, const uint32_t *v) {
  if (block.collecting) memcpy(memory_at(address), v, 8 * sizeof *v);
}

inline void load(uint32_t address, uint32_t *v) { memcpy(v, memory_at(address), 8 * sizeof *v); }

inline void wait_for_stores() {}
inline void fence_before() {}
inline void fence_after() {}
inline void begin_barrier(uint32_t) {}
inline void commit(uint32_t) {}

/* Returns the instruction that a descriptor encodes. */
template <kind KIND, bool IS_SPARSE>
void multiply(uint32_t d, uint64_t a, uint64_t b, uint32_t descriptor, addresses beside) {
  constexpr bool SCALED = KIND >= MXF8F6F4, FP4 = KIND == MXF4 || KIND == MXF4NVF4;
  constexpr int K = (KIND == TF32 ? 8 : KIND == F16 ? 16 : FP4 ? 64 : 32) * (IS_SPARSE ? 2 : 1);
  if (!block.collecting) return;
  const auto field = [descriptor](int bit, int bits) { return descriptor >> bit & ((1u << bits) - 1); };
  const auto name = [field](int bit) -> std::string {
    static const char *const names[] = {"e4m3", "e5m2", "", "e2m3", "e3m2", "e2m1", "", ""};
    const uint32_t code = field(bit, 3);
    if (KIND == TF32) return code == 2 ? "tf32" : "";
    if (KIND == F16) return code == 0 ? "f16" : code == 1 ? "bf16" : "";
    if (KIND == I8) return code == 0 ? "u8" : code == 1 ? "s8" : "";
    if (FP4) return code == 1 ? "e2m1" : "";
    return names[code];
  };
  demand(field(2, 1) == (IS_SPARSE ? 1u : 0u) && field(0, 2) == 0, "the descriptor says whether A is sparse");
  demand(block.shared[(a & 0x3fff) >> (SLOT - 4)] != NULL, "A is in shared memory");
  const char *const output = SCALED || field(4, 2) == 1 ? "f32" : field(4, 2) == 2 ? "s32" : "f16";
  const char *const before = KIND == MXF4NVF4 ? "block16." : SCALED ? "block32." : field(3, 1) ? "satfinite." : "";
  const std::string shape = "m" + std::to_string(field(24, 5) * 16) + "n" + std::to_string(field(17, 6) * 8) + "k";
  const std::string whole = std::string("tcgen05.") + (IS_SPARSE ? "sp." : "") + shape + std::to_string(K) + "." +
                            before + output + "." + name(7) + "." + name(10) +
                            (!SCALED        ? ""
                             : field(23, 1) ? ".ue8m0"
                                            : ".ue4m3");
  block.instruction = smma_find(EMULATED, whole.c_str(), NULL);
  if (!block.instruction) fprintf(stderr, "the emulator: no instruction %s\n", whole.c_str()), abort();
  block.compute = compute_tcgen05, block.width = IN_GROUP;
  tensor.a = a, tensor.b = b, tensor.d = d;
  tensor.scales_a = beside.scales_a, tensor.scales_b = beside.scales_b, tensor.metadata = beside.metadata;
}

inline void wait_for(uint32_t, uint32_t) {
  if (!block.collecting) return;
  block.has[threadIdx.x] = true;
  throw block_state::collected();
}

}  // namespace cuda_unit

#endif
