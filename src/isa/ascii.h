/* Tests and converts characters of names and values, independently of the program's locale. */
#ifndef SMMA_ISA_ASCII_H
#define SMMA_ISA_ASCII_H

#include <stdbool.h>

static inline char smma_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }
static inline char smma_upper(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c; }
static inline bool smma_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Reports whether a character may not stand in a value of a vector file's header. Writers replace it by '?'. */
static inline bool smma_is_control(char c) { return (unsigned char)c < ' ' || c == 0x7f; }

#endif
