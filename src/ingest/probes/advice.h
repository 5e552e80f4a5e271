/* Lines that a message prints for a shell: what they name is quoted, so that they can be run. */
#ifndef LEAT_INGEST_PROBES_ADVICE_H
#define LEAT_INGEST_PROBES_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

/* `text` as a word of a shell: in quotes unless it has letters, digits and ./_- only. False if it
 * does not fit, or is not text of one line: then *out is "". */
bool leat_advice_word(char *out, size_t out_bytes, const char *text);
/* `text` as a literal of SQL between the double quotes of a shell's word. */
bool leat_advice_literal(char *out, size_t out_bytes, const char *text);

#endif
