// A verilated unit as a plug-in of softmma (include/softmma/unit.h): no DPI, no testbench. MODEL is the class that
// Verilator makes of the module.
#include <cstdio>
#include <cstring>
#include <memory>

#include "softmma/unit.h"
#include "verilated.h"

namespace {

constexpr int MOST_CLOCKS = 1000;  // more than the unit's latency

struct Unit {
  VerilatedContext context;
  MODEL model{&context};

  Unit() {
    model.rst = 1;
    clock();
    model.rst = 0;
  }

  void clock() {
    model.clk = 0;
    model.eval();
    model.clk = 1;
    model.eval();
  }

  ~Unit() { model.final(); }
};

int open(const char *, void **unit, char *, size_t) {
  *unit = new Unit;
  return 0;
}

void close(void *unit) { delete static_cast<Unit *>(unit); }

void describe(void *, smma_unit_description *description) {
  std::snprintf(description->device, sizeof description->device, "%s", Unit().model.modelName());
  std::snprintf(description->driver, sizeof description->driver, "Verilator %s", VERILATOR_VERSION);
}

int computes(void *unit, const smma_instruction_info *i, char *message, size_t size) {
  const MODEL &model = static_cast<Unit *>(unit)->model;
  if (i->a == SMMA_BF16 && i->b == SMMA_BF16 && i->c == SMMA_F32 && i->d == SMMA_F32 &&
      2 * static_cast<size_t>(i->k) == sizeof model.a)
    return 0;
  std::snprintf(message, size, "the module takes %zu products of bf16, and f32", sizeof model.a / 2);
  return 1;
}

// Computes rows, one a clock. A port's bits have the memory layout of a row's elements.
int run(void *unit, const smma_instruction_info *i, const smma_batch *batch, char *message, size_t size) {
  Unit *u = static_cast<Unit *>(unit);
  const size_t bytes = 2 * static_cast<size_t>(i->k);
  const auto *a = static_cast<const unsigned char *>(batch->a), *b = static_cast<const unsigned char *>(batch->b);
  const auto *c = static_cast<const unsigned char *>(batch->c);
  auto *d = static_cast<unsigned char *>(batch->d);
  for (size_t sent = 0, got = 0, clocks = 0; got < batch->rows;) {
    u->model.valid_in = sent < batch->rows;
    if (u->model.valid_in) {
      std::memcpy(&u->model.a, a + sent * bytes, bytes);
      std::memcpy(&u->model.b, b + sent * bytes, bytes);
      std::memcpy(&u->model.c, c + sent * 4, 4);
      sent++;
    }
    if (++clocks > batch->rows + MOST_CLOCKS) {
      std::snprintf(message, size, "no result within %d clocks of row %zu of the batch", MOST_CLOCKS, got);
      return 1;
    }
    u->clock();
    if (u->model.valid_out) std::memcpy(d + got++ * 4, &u->model.d, 4);
  }
  return 0;
}

const smma_unit_methods methods = {SMMA_UNIT_ABI, open, close, describe, computes, run};

}  // namespace

extern "C" const smma_unit_methods *softmma_unit() { return &methods; }
