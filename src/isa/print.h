/* Formats text without the C library's printf, so that the single header does not need stdio.h and no locale has an
   effect. */
#ifndef SMMA_ISA_PRINT_H
#define SMMA_ISA_PRINT_H

#include <stdarg.h>
#include <stddef.h>

/* Output of at most `size` bytes into `room`, including the terminating zero (`size` is at least 1). Also counts the
   bytes that did not fit. */
typedef struct {
  char *room;
  size_t size, length;
} smma_printer;

static inline void smma_put_char(smma_printer *p, char c) {
  if (p->length + 1 < p->size) p->room[p->length] = c;
  p->length++;
}

static inline void smma_put_number(smma_printer *p, int number) {
  const unsigned magnitude = number < 0 ? 0 - (unsigned)number : (unsigned)number;
  unsigned unit = 1;
  if (number < 0) smma_put_char(p, '-');
  while (magnitude / unit > 9) unit *= 10;
  for (; unit; unit /= 10) smma_put_char(p, (char)('0' + magnitude / unit % 10));
}

/* Works like vsnprintf, but knows only the conversions %d, %s and %.*s. */
static inline int smma_print_list(char *text, size_t size, const char *format, va_list arguments) {
  smma_printer p = {text, size, 0};
  for (; *format; format++) {
    if (*format != '%') {
      smma_put_char(&p, *format);
    } else if (*++format == 'd') {
      smma_put_number(&p, va_arg(arguments, int));
    } else {
      const int most = *format == '.' ? va_arg(arguments, int) : -1;
      const char *part = va_arg(arguments, const char *);
      for (int i = 0; i != most && part[i]; i++) smma_put_char(&p, part[i]);
      if (*format == '.') format += 2;
    }
  }
  text[p.length < size ? p.length : size - 1] = 0;
  return (int)p.length;
}

/* Works like snprintf, but knows only the conversions %d, %s and %.*s. */
__attribute__((format(printf, 3, 4))) static inline int smma_print(char *text, size_t size, const char *format, ...) {
  va_list arguments;
  int length;
  va_start(arguments, format);
  length = smma_print_list(text, size, format, arguments);
  va_end(arguments);
  return length;
}

#endif
