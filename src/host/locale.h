/* The locale of the calling thread. Functions that read or write fractions switch to the C locale, because the
   program's locale may have a decimal comma (for example in Python after locale.setlocale). */
#ifndef SMMA_HOST_LOCALE_H
#define SMMA_HOST_LOCALE_H

#include <locale.h>

#ifdef _WIN32
#include <stdlib.h>
#include <string.h>

typedef struct {
  int mode;
  char *before;
} smma_locale;

/* Sets the C locale's decimal point and returns what to restore. Without memory, or if a thread cannot have a locale of
   its own (Wine), the locale stays as it is. */
static inline smma_locale smma_locale_enter(void) {
  const int mode = _configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
  const smma_locale l = {mode, mode > 0 ? _strdup(setlocale(LC_NUMERIC, NULL)) : NULL};
  if (l.before) setlocale(LC_NUMERIC, "C");
  return l;
}

static inline void smma_locale_leave(smma_locale l) {
  if (l.before) setlocale(LC_NUMERIC, l.before);
  free(l.before);
  if (l.mode > 0) _configthreadlocale(l.mode);
}
#else
typedef struct {
  locale_t own, before;
} smma_locale;

/* Sets the C locale and returns the state to restore. If memory runs out, the locale stays unchanged. */
static inline smma_locale smma_locale_enter(void) {
  smma_locale l;
  l.own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  l.before = uselocale(l.own);
  return l;
}

static inline void smma_locale_leave(smma_locale l) {
  uselocale(l.before);
  if (l.own) freelocale(l.own);
}
#endif

#endif
