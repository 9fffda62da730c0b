/* The core's evaluator, which the host side calls. */
#define SMMA_EVALUATOR /* visible to the other files */
#include "core/rule.h"
