/* Question about Turing's mma.m8n8k4. */
#include "question/operands.h"
#include "question/question.h"

static bool is_turing_k4(const smma_instruction *i) {
  return i->rule == &smma_rule_turing_k4_f32 || i->rule == &smma_rule_turing_k4_f16;
}

static const smma_candidate turing_k4_bits[] = {{"F = 23, as Volta", with_alignment_bits, 23}, {0}};

const smma_question smma_question_turing_k4_bits = {
    "turing-k4-bits", "how many bits Turing's mma.m8n8k4 keeps of aligned products", is_turing_k4, NULL, false,
    turing_k4_bits};
