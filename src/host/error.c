#include "host/error.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

/* Reports whether a terminal shows something for the code point, in its place. */
static bool is_shown(uint32_t point) {
  if (point < 0xa0) return point >= ' ' && point < 0x7f;
  return point != 0xad && !(point >= 0x200b && point <= 0x200f) && !(point >= 0x2028 && point <= 0x202e) &&
         !(point >= 0x2060 && point <= 0x206f) && !(point >= 0xd800 && point <= 0xf8ff) && point != 0xfeff &&
         !(point >= 0xfff0 && point <= 0xfffb) && (point & 0xfffe) != 0xfffe && point < 0xe0000;
}

/* Returns the length of the UTF-8 character at `text` if it is shown; 0 if not, or if it is no UTF-8. */
static int shown_length(const unsigned char *text) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const int length = text[0] < 0x80   ? 1
                     : text[0] < 0xc2 ? 0
                     : text[0] < 0xe0 ? 2
                     : text[0] < 0xf0 ? 3
                     : text[0] < 0xf5 ? 4
                                      : 0;
  uint32_t point = length < 2 ? text[0] : text[0] & (0x7f >> length);
  for (int i = 1; i < length; i++) {
    if ((text[i] & 0xc0) != 0x80) return 0;
    point = point << 6 | (text[i] & 0x3f);
  }
  return length && point >= least[length] && is_shown(point) ? length : 0;
}

void smma_make_printable(char *text) {
  while (*text) {
    const int length = shown_length((const unsigned char *)text);
    if (!length) *text = '?';
    text += length ? length : 1;
  }
}

static void write_line(smma_error *error, smma_status status, const char *format, va_list arguments) {
  if (!error) return;
  error->status = status;
  if (vsnprintf(error->text, sizeof error->text, format, arguments) < 0) error->text[0] = '\0';
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
    case SMMA_INVALID_SPARSITY: return "a sparse instruction needs A's metadata, which a dense one has no place for";
    case SMMA_NOT_FOUND: return "there is nothing of that name";
    case SMMA_AMBIGUOUS: return "the name fits instructions that compute differently";
    case SMMA_INVALID_TEXT: return "the text describes no custom unit or plan";
    case SMMA_FAILED: return "failed";
    case SMMA_NEWER_STRUCT:
      return "a member is set that this library does not know: the program was compiled with a newer header";
  }
  return "unknown status";
}
