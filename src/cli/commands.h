/* Includes command.def. Macros of command.def that the including file has not defined expand to nothing. There is no
   include guard, because the file is included several times. */
#ifndef SMMA_COMMAND_GROUP
#define SMMA_COMMAND_GROUP(heading)
#endif
#ifndef SMMA_COMMAND
#define SMMA_COMMAND(...)
#endif
#ifndef SMMA_COMMAND_OF_TWO
#define SMMA_COMMAND_OF_TWO(...)
#endif
#ifndef SMMA_COMMAND_IN
#define SMMA_COMMAND_IN(...)
#endif
#ifndef SMMA_COMMAND_ALIAS
#define SMMA_COMMAND_ALIAS(...)
#endif
#ifndef SMMA_COMMAND_FORMER
#define SMMA_COMMAND_FORMER(...)
#endif
#include "cli/command.def"
#undef SMMA_COMMAND_GROUP
#undef SMMA_COMMAND
#undef SMMA_COMMAND_OF_TWO
#undef SMMA_COMMAND_IN
#undef SMMA_COMMAND_ALIAS
#undef SMMA_COMMAND_FORMER
