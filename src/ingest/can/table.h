/*
 * CSV of any columns: names and numbers of columns (--column), headers, labels, and the parser of
 * a line. A csv with the usual columns in their usual form has a faster parser of its own
 * (parse.c).
 */
#ifndef LEAT_INGEST_CAN_TABLE_H
#define LEAT_INGEST_CAN_TABLE_H

#include "ingest/can/lines.h"

/* ---- --column (mapping.c) ---- */

/* What a column can be mapped to, by its name in the option. */
#define LEAT_CAN_ROLES(X)                                                                          \
    X(LEAT_CAN_ROLE_TIME, "time")                                                                  \
    X(LEAT_CAN_ROLE_ID, "id")                                                                      \
    X(LEAT_CAN_ROLE_BUS, "bus")                                                                    \
    X(LEAT_CAN_ROLE_DLC, "dlc")                                                                    \
    X(LEAT_CAN_ROLE_DATA, "data")                                                                  \
    X(LEAT_CAN_ROLE_LABEL, "label")
#define LEAT_CAN_ROLE_ENUM(name, text) name,
typedef enum leat_can_role { LEAT_CAN_ROLES(LEAT_CAN_ROLE_ENUM) LEAT_CAN_ROLE_COUNT } leat_can_role;
#undef LEAT_CAN_ROLE_ENUM
extern const char *const leat_can_role_names[LEAT_CAN_ROLE_COUNT];

#define LEAT_CAN_COLUMN_NAME_BYTES 64
typedef struct leat_can_mapped {
    char name[LEAT_CAN_COLUMN_NAME_BYTES]; /* or number, from 1; "": found by its usual names */
    char last[LEAT_CAN_COLUMN_NAME_BYTES]; /* data only: the last of several; or "" */
    leat_can_unit unit;
} leat_can_mapped;
typedef struct leat_can_mapping {
    leat_can_mapped roles[LEAT_CAN_ROLE_COUNT];
} leat_can_mapping;

/* Reads "time=T:us,id=IntID1:dec,data=DATA0..DATA7". LEAT_ERR_OPTION: what is not accepted. */
LEAT_MUST_CHECK leat_code leat_can_mapping_parse(leat_can_mapping *mapping, const char *text,
                                                 leat_error *err);

/* ---- labels (labels.c) ---- */

/* A label in words, in any case: attack, T, ..., or normal, R, ... False: any other text. */
bool leat_can_label_word(leat_text text, bool *attack);
/* An empty cell, NaN or none: the frame has no label. */
bool leat_can_label_missing(leat_text text);
/* The text of a line that was rejected for its label. */
leat_text leat_can_rejected_label(const leat_can_layout *layout, const char *text,
                                  int64_t size_bytes);
/* A label: a whole number, which marks an attack if it is above 0, or a word (parse.c). */
bool leat_can_take_label(leat_text text, bool *attack);
/* The place of a column's name among the known names of labels, 0 the first choice; -1: none. */
int leat_can_label_rank(leat_text name);
/* Whether a column of another name may be a label. */
bool leat_can_label_like(leat_text name);

/* ---- headers (header.c) ---- */

#define LEAT_CAN_WHY_BYTES 320
/*
 * The layout of a csv with these first lines: *first is the number of header lines, 0 or 1. False
 * if it is not one that can be read; `why` then says what is missing and what helps, or is "" if
 * the lines do not look like a csv.
 */
bool leat_can_read_header(const leat_text *lines, int count, const leat_can_line_options *options,
                          leat_can_layout *layout, int *first, char why[LEAT_CAN_WHY_BYTES]);

/* ---- lines (table.c) ---- */

/* The cells of a line, without blanks around them; -1: more than `most`, or invalid quotes. */
int leat_can_split_cells(const char *at, const char *end, char part, leat_text *cells, int most);
/* Numbers the name of a bus as candump's are (lines.h), if it is new. */
void leat_can_note_bus(leat_can_buses *buses, leat_text name);
leat_can_reject leat_can_parse_table(const leat_can_layout *layout,
                                     const leat_can_line_options *options, const char *at,
                                     const char *end, leat_can_line *line);

enum { LEAT_CAN_TRAILING_LABELS_MAX = 4 };
/* candump, crysys: the number of label columns at the end of this line; -1: not such a line
 * (parse.c). */
int leat_can_trailing_labels(leat_can_format format, const char *text, int64_t size_bytes);

/* Pieces that it shares with the other formats (parse.c). */
bool leat_can_take_id(leat_text text, bool extended, const leat_can_line_options *options,
                      leat_can_line *line);
bool leat_can_put_id(uint32_t value, bool extended, leat_can_line *line); /* of any notation */
leat_can_reject leat_can_take_run(leat_text run, const leat_can_line_options *options,
                                  leat_can_line *line);
bool leat_can_take_byte(leat_text text, bool strict, int16_t *byte);
int leat_can_fd_length(int dlc);

#endif
