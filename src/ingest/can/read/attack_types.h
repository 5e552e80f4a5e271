/* Types of attacks by the words of labels, and of the names of files and folders. */
#ifndef LEAT_INGEST_CAN_READ_ATTACK_TYPES_H
#define LEAT_INGEST_CAN_READ_ATTACK_TYPES_H

#include "ingest/can/read/fields.h"

/* What the names of logs contain, in lower case, and the code of the attack; 0: they are benign.
 * The first match decides. `longer`: 19 types, or the 7 of graphids. Ends with NULL. */
typedef struct leat_can_keyword {
    const char *word;
    int code;
} leat_can_keyword;
const leat_can_keyword *leat_can_keywords(bool longer);

/*
 * The type that the word of a label gives an attack, for leat_can_line.type: "DoS" and "RPM
 * spoofing" name one; a word that is in no table is LEAT_CAN_TYPE_UNKNOWN; numbers, no text, and
 * words that say no more than whether there is an attack are LEAT_CAN_TYPE_BY_FILE.
 */
uint8_t leat_can_word_type(leat_text word, bool longer);

#endif
