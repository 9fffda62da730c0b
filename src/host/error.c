#include "host/error.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "host/locale.h"
#include "host/utf8.h"

/* Reports whether a terminal shows the code point as a visible character at its position. */
static bool is_shown(uint32_t point) {
  if (point < 0xa0) return point >= ' ' && point < 0x7f;
  return point != 0xad && !(point >= 0x200b && point <= 0x200f) && !(point >= 0x2028 && point <= 0x202e) &&
         !(point >= 0x2060 && point <= 0x206f) && !(point >= 0xd800 && point <= 0xf8ff) && point != 0xfeff &&
         !(point >= 0xfff0 && point <= 0xfffb) && (point & 0xfffe) != 0xfffe && point < 0xe0000;
}

void smma_make_printable(char *text) {
  while (*text) {
    uint32_t point;
    const int length = smma_utf8_decode(text, &point);
    const bool shown = length && is_shown(point);
    if (!shown) *text = '?';
    text += shown ? length : 1;
  }
}

static void write_line(smma_error *error, smma_status status, const char *format, va_list arguments) {
  smma_locale locale;
  if (!error) return;
  error->status = status;
  locale = smma_locale_enter();
  if (vsnprintf(error->text, sizeof error->text, format, arguments) < 0) error->text[0] = '\0';
  smma_locale_leave(locale);
  smma_make_printable(error->text);
}

bool smma_fail(smma_error *error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(error, SMMA_FAILED, format, arguments);
  va_end(arguments);
  return false;
}

bool smma_fail_as(smma_error *error, smma_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(error, status, format, arguments);
  va_end(arguments);
  return false;
}

bool smma_no_memory(smma_error *error) {
  return smma_fail_as(error, SMMA_NO_MEMORY, "%s", smma_status_text(SMMA_NO_MEMORY));
}

smma_status smma_set_error(smma_error *error, smma_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(error, status, format, arguments);
  va_end(arguments);
  return status;
}

void smma_clear_error(smma_error *error) {
  if (error) *error->text = '\0', error->status = SMMA_OK;
}

smma_status smma_end_error(smma_error *error, smma_status status) {
  if (error && status != SMMA_OK && !*error->text) smma_set_error(error, status, "%s", smma_status_text(status));
  if (error) error->status = status;
  return status;
}

const char *smma_status_text(smma_status status) {
  switch (status) {
    case SMMA_OK: return "done";
    case SMMA_INVALID_ARGUMENT: return "an argument is missing or out of range";
    case SMMA_INVALID_DIMENSION: return "a leading dimension is too small, or the sizes overflow";
    case SMMA_INVALID_MULTIPLE: return "promote_every is not a multiple of the instruction's K";
    case SMMA_MISSING_SCALE: return "scale factors are missing, or the instruction takes none";
    case SMMA_NO_MEMORY: return "out of memory";
    case SMMA_STOPPED: return "stopped by the caller";
    case SMMA_NO_KERNEL: return "there is no such kernel on this CPU, or its device cannot be used";
    case SMMA_INVALID_PLAN: return "this product cannot follow the plan";
    case SMMA_DEVICE_FAILED: return "the device failed";
    case SMMA_INVALID_SPARSITY:
      return "a sparse instruction needs the metadata of A, and a dense instruction takes none";
    case SMMA_NOT_FOUND: return "there is nothing of that name";
    case SMMA_AMBIGUOUS: return "the name fits instructions that compute differently";
    case SMMA_INVALID_TEXT: return "the text describes no custom unit or plan";
    case SMMA_FAILED: return "failed";
    case SMMA_NEWER_STRUCT:
      return "a member is set that this library does not know: the program was compiled with a newer header";
  }
  return "unknown status";
}
