/* Lines that a message prints for a shell, besides leat_shell_word of leat/base.h. */
#ifndef LEAT_INGEST_ADVICE_H
#define LEAT_INGEST_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

/* `text` as a literal of SQL between the double quotes of a shell's word. False if it does not fit,
 * or is not text of one line: then *out is "". */
bool leat_advice_literal(char *out, size_t out_bytes, const char *text);

#endif
