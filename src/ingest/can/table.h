/*
 * CSV of any columns: names and numbers of columns (--column), headers, labels, and the parser of
 * a line. A csv with the usual columns in their usual form has a faster parser of its own
 * (parse.c).
 */
#ifndef LEAT_INGEST_CAN_TABLE_H
#define LEAT_INGEST_CAN_TABLE_H

#include <string.h>

#include "ingest/can/lines.h"

/* Why a csv cannot be read, as a text. */
#define LEAT_CAN_WHY_BYTES 320

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

static inline leat_text leat_text_of(const char *text) {
    return (leat_text){text, (int32_t)strlen(text)};
}

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
/* Whether 1 in a column of this name would mark a benign frame: benign, is_normal, ... */
bool leat_can_is_benign_name(leat_text name);
/* A label in a column of such a name: above 0, true and yes are benign. */
bool leat_can_take_inverted(leat_text text, bool *attack);
/* What a label looks like: LEAT_CAN_MARK_... */
uint8_t leat_can_label_mark(leat_text text, bool attack);

/* Notes what is doubtful about payloads in one column (doubts.c); `names` of the columns, or NULL.
 * False, and why: they are bits, in more digits than a frame of eight bytes can have. */
bool leat_can_doubt_payloads(const leat_text *lines, int count, const leat_text *names,
                             leat_can_layout *layout, char why[LEAT_CAN_WHY_BYTES]);
/* A bus by a less usual name, in a csv with a header where no column has a usual one, if the first
 * lines have names or numbers there. */
void leat_can_name_bus(const leat_text *lines, int count, const leat_text *names,
                       leat_can_layout *layout);

/* What helps with a line of this reason in a file with this header (hints.c); "" if nothing is
 * known to. */
void leat_can_hint(const leat_can_layout *layout, leat_text header, leat_text line,
                   leat_can_reject reason, char *hint, size_t hint_bytes);

/* LEAT_ERR_INPUT: the text is UTF-16, has line ends of CR only, or is a compressed file. */
LEAT_MUST_CHECK leat_code leat_can_check_text(const char *text, int64_t size_bytes,
                                              const char *path, leat_error *err);
/* What a file is whose first line belongs to no format; "" if that is not known. */
const char *leat_can_hint_line(leat_text line);
/* Columns by numbers, for a file without a header: those of --column, and others in their usual
 * order. */
void leat_can_hint_numbers(const leat_can_mapping *mapping, char *out, size_t out_bytes);

/* ---- columns that may be labels (watch.c) ---- */

/* Notes the columns of a csv to watch, from its first lines; `names` of its columns, or NULL. */
void leat_can_watch_columns(const leat_text *lines, int count, const leat_text *names,
                            leat_can_layout *layout);
/* Notes what the watched columns of a line have. */
void leat_can_watch_line(const leat_can_layout *layout, leat_text line,
                         uint8_t seen[LEAT_CAN_WATCH_MAX]);
/* What a block has seen; label_like is right once all blocks of the file are added. */
void leat_can_watch_add(const leat_can_layout *layout, const uint8_t seen[LEAT_CAN_WATCH_MAX],
                        leat_can_file *file);

/* ---- headers (header.c) ---- */

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
