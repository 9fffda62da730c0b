/* Defines the core's evaluator for the host side. */
#define SMMA_EVALUATOR /* empty, so that other files can call the evaluator's functions */
#include "core/rule.h"
