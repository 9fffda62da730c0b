/* Defines the core's evaluator for the host side. */
#define SMMA_EVALUATOR /* visible to the other files */
#include "core/rule.h"
