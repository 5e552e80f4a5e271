/*
 * What is known about logs, as tables (known_logs.c): formats, names of a csv's columns, words of
 * labels, and files that cannot be read. A new one of these is a row here; what follows from it is
 * decided elsewhere.
 *
 * Names are as plain_name (fields.h) makes them, without case, blanks and punctuation; words are in
 * lower case. Tables end with NULL.
 */
#ifndef LEAT_INGEST_CAN_READ_KNOWN_LOGS_H
#define LEAT_INGEST_CAN_READ_KNOWN_LOGS_H

#include <string.h>

#include "ingest/can/read/fields.h"
#include "ingest/can/read/formats.h"

/* ---- formats -------------------------------------------------------------------------------- */

typedef struct leat_can_format_row {
    const leat_can_format_lines *lines; /* NULL: LEAT_CAN_AUTO */
    bool has_bus;                       /* each line has a bus; of a csv its columns say so */
    bool is_hex;                        /* identifiers are hexadecimal, whatever they look like */
} leat_can_format_row;
extern const leat_can_format_row leat_can_formats[LEAT_CAN_FORMATS];

/* Files that are not logs of lines, by their first bytes. */
typedef struct leat_can_binary_row {
    const char *begin;
    int size_bytes;
    const char *what, *how; /* how: the command that converts it, or what else helps */
} leat_can_binary_row;
extern const leat_can_binary_row leat_can_binary_files[];
typedef struct leat_can_packed_row {
    const char *begin, *what;
} leat_can_packed_row;
extern const leat_can_packed_row leat_can_packed_files[];

/* ---- names of columns ------------------------------------------------------------------------ */

/* Time, identifier, payload and DLC. */
typedef struct leat_can_column_row {
    const char *name;
    int8_t column; /* LEAT_CAN_COLUMN_... */
    leat_can_unit unit;
} leat_can_column_row;
extern const leat_can_column_row leat_can_column_names[];
/* Bytes in columns of their own, before a number; and decoded signals. */
extern const char *const leat_can_byte_names[];
extern const char leat_can_signal_name[];
/* Identifiers that some programs write as decimal numbers. */
extern const char *const leat_can_maybe_decimal_names[];

/* Marks of a frame and buses: how sure a name is. */
typedef enum leat_can_sure {
    LEAT_CAN_SURE_ALONE,  /* decides, whatever the values */
    LEAT_CAN_SURE_FITS,   /* if no column has one of the names before, and values fit */
    LEAT_CAN_SURE_NO_USE, /* it is known to say nothing that leat reads */
} leat_can_sure;
typedef struct leat_can_mark_row {
    const char *name;
    int8_t column; /* LEAT_CAN_COLUMN_... */
    int8_t sure;
} leat_can_mark_row;
extern const leat_can_mark_row leat_can_mark_names[];
/* That of a mark, which means something else as well. */
extern const char leat_can_maybe_mark_name[];
/* Values that say what a mark says, in a column of another name: Format = EXT. As plain_name makes
 * them. */
extern const char *const leat_can_kind_words[];
/* Words in the names of columns that may be marks or buses, but no labels. They are not read, but
 * the summary names them. */
typedef enum leat_can_vague {
    LEAT_CAN_VAGUE_ALL,    /* the word is all of the name */
    LEAT_CAN_VAGUE_PART,   /* or one of its parts, between separators: is_ext, IsExt */
    LEAT_CAN_VAGUE_INSIDE, /* or anywhere in it */
} leat_can_vague;
typedef struct leat_can_vague_row {
    const char *word;
    leat_can_vague where;
    bool bus;
} leat_can_vague_row;
extern const leat_can_vague_row leat_can_vague_words[];

/* Labels, the first choice first. */
extern const char *const leat_can_label_names[];
/* What the names of other labels contain, or are; and what others that contain it begin with. */
extern const char *const leat_can_label_parts[];
extern const char *const leat_can_maybe_label_names[];
extern const char *const leat_can_unlabel_begins[];
/* Columns where 1 is benign: their names, and what may come before and after. */
extern const char *const leat_can_benign_names[];
extern const char *const leat_can_benign_begins[];
extern const char *const leat_can_benign_ends[];

/* Headers that are always the same. CANedge's converters and webCAN, with the meanings of all
 * columns; CICIoV2024, of which the first are enough; GVRET, in any order; python-can, as written.
 */
typedef struct leat_can_header_row {
    const char *name;
    int8_t column;
} leat_can_header_row;
enum { LEAT_CAN_CICIOV_COLUMNS = 10 };
extern const leat_can_header_row leat_can_canedge_header[];
/* The ends of names that asammdf gives the columns of a bus log, after "timestamps". */
extern const leat_can_header_row leat_can_asammdf_columns[];
extern const char *const leat_can_ciciov_header[];
extern const char *const leat_can_gvret_header[];
extern const char *const leat_can_python_can_header[];

/* ---- words ---------------------------------------------------------------------------------- */

/* Labels. What leat_can_benign_names lists is a label, too, whatever stands between its words. */
typedef struct leat_can_label_row {
    const char *word;
    bool attack;
} leat_can_label_row;
extern const leat_can_label_row leat_can_label_words[];
/* Types of attacks, as plain_name makes them: such a label says that there is one. */
extern const char *const leat_can_attack_types[];
/* No value: of labels, and of other columns. */
extern const char *const leat_can_nothing_words[];
/* Marks, and labels of columns with names for benign frames. */
extern const char *const leat_can_yes_words[];
extern const char *const leat_can_no_words[];
/* The numbers of marks; and what else is no attack in a column that may be a label. */
extern const char *const leat_can_one_words[];
extern const char *const leat_can_zero_words[];
extern const char *const leat_can_minus_words[];

/* ---- looking up ----------------------------------------------------------------------------- */

/* Whether a table has this name. */
static inline bool is_listed(const char *plain, const char *const *names) {
    while (*names != NULL && strcmp(plain, *names) != 0) names++;
    return *names != NULL;
}

/* Whether a table has this word, in any case. */
static inline bool is_listed_word(leat_text text, const char *const *words) {
    while (*words != NULL && !is_word_of_any_case(text, *words)) words++;
    return *words != NULL;
}

static inline int count_listed(const char *const *names) {
    int count = 0;
    while (names[count] != NULL) count++;
    return count;
}

#endif
