/*
 * CSV of any columns: names and numbers of columns (--column), headers, labels, and the parser of
 * a line. A csv with the usual columns in their usual form has a faster parser of its own
 * (parse.c).
 */
#ifndef LEAT_INGEST_CAN_READ_TABLE_H
#define LEAT_INGEST_CAN_READ_TABLE_H

#include <string.h>

#include "ingest/can/read/lines.h"

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
    X(LEAT_CAN_ROLE_LABEL, "label")                                                                \
    X(LEAT_CAN_ROLE_EXTENDED, "extended")                                                          \
    X(LEAT_CAN_ROLE_REMOTE, "remote")                                                              \
    X(LEAT_CAN_ROLE_ERROR, "error")
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

/* That of the settings; {0} if they have none. LEAT_ERR_OPTION: it is not accepted. */
LEAT_MUST_CHECK leat_code leat_can_mapping_read(leat_can_mapping *mapping,
                                                const leat_can_settings *settings, leat_error *err);
/* How the settings say that lines are read; `mapping` must outlive the options. */
leat_can_line_options leat_can_lines_of(const leat_can_settings *settings, int reader,
                                        const leat_can_mapping *mapping);

/* ---- times that are gaps (gaps.c) ---- */

/* Parses the next line of such a log; `elapsed_ns` is the sum of its gaps up to the line, a frame
 * or not, and line->time afterwards the time since the beginning. A gap below 0 is rejected. */
leat_can_reject leat_can_parse_gap(const leat_can_layout *layout,
                                   const leat_can_line_options *options, const char *text,
                                   int64_t size_bytes, int64_t *elapsed_ns, leat_can_line *line);
/* What the summary and the errors of a file take from its layout, and scan.json does not have:
 * columns that are not used, the time's column, whether times are gaps. */
void leat_can_note_layout(const leat_can_layout *layout, leat_can_file *file);
/* Whether the times of a file that are read as those of a clock seem to be gaps. */
bool leat_can_looks_like_gaps(const leat_can_file *file, const leat_can_line_options *options);
/* The error for it, which names the options that decide. */
LEAT_MUST_CHECK leat_code leat_can_refuse_gaps(const leat_can_file *file, const char *path,
                                               bool any_order, leat_error *err);

/* ---- labels (labels.c) ---- */

static inline leat_text leat_text_of(const char *text) {
    return (leat_text){text, (int32_t)strlen(text)};
}

/* A label in words, in any case: attack, T, ..., or normal, R, ... False: any other text. */
bool leat_can_label_word(leat_text text, bool *attack);
/* An empty cell, NaN or none: the frame has no label. */
bool leat_can_label_missing(leat_text text);
/* Distinct labels with the number of their lines, of any number of lines: those that come first
 * beyond a maximum are counted together. */
enum { LEAT_CAN_LABELS_MAX = 64, LEAT_CAN_LABELS_SHOWN = 5, LEAT_CAN_LABEL_BYTES = 28 };
typedef struct leat_can_label_list {
    struct {
        char text[LEAT_CAN_LABEL_BYTES];
        int64_t lines, first; /* how many; the number of the first of them */
    } items[LEAT_CAN_LABELS_MAX];
    int count;
    bool more; /* than that many */
} leat_can_label_list;
void leat_can_labels_add(leat_can_label_list *list, leat_text label, int64_t line);
/* " "weird" in line 9 (12 times), ...", or without `counts`: the most frequent ones, the first
 * first among equals. */
void leat_can_labels_show(leat_can_label_list *list, bool counts, char *text, size_t text_bytes);
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

/* Notes what is doubtful about payloads in one column (notation.c); `names` of the columns, or
 * NULL. False, and why: they are bits, in more digits than a frame of eight bytes can have. */
bool leat_can_doubt_payloads(const leat_text *lines, int count, const leat_text *names,
                             leat_can_layout *layout, char why[LEAT_CAN_WHY_BYTES]);
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

/* ---- marks and buses by the words of their names (columns.c) ---- */

/* The column of a name that decides alone: extended, remote, error, bus; else ..._OTHER. */
int8_t leat_can_mark_column(leat_text name);
/* Names the columns of a csv with exactly the header of CANedge's converters and webCAN, unless
 * some are named: "DLC" is the code of a CAN-FD frame there, "DataLength" the number of bytes. */
void leat_can_name_canedge(const leat_text *cells, int count, leat_can_layout *layout);
/* Whether a name is that of a mark or a bus; that of one only if its values say so; that of
 * anything that cannot be a label. */
bool leat_can_is_mark(leat_text name);
bool leat_can_may_be_mark(leat_text name);
bool leat_can_says_no_label(leat_text name);
/* Marks and buses by less usual names, in a csv with a header, where no column has a usual one and
 * the first lines have values that fit; `reader` 1: only the buses that the first rules knew. */
void leat_can_name_marks(const leat_text *lines, int count, const leat_text *names, int reader,
                         leat_can_layout *layout);
/* Notes the unused columns that may be marks or buses: layout->unused. */
void leat_can_find_unused(const leat_text *lines, int count, const leat_text *names,
                          leat_can_layout *layout);
/* Whether a name says that its identifiers are decimal; whether it is one that programs also use
 * for decimal identifiers. */
bool leat_can_is_decimal_name(leat_text name);
bool leat_can_may_be_decimal_name(leat_text name);

/* ---- columns that may be labels (watch.c) ---- */

/* An unused column whose name or values are those of a label; `names` NULL: it gets its number. */
void leat_can_find_label_like(const leat_text *lines, int count, const leat_text *names,
                              leat_can_layout *layout);
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

/* Whether a name is one of those that a column is found by (header.c). */
bool leat_can_is_usual(leat_text name);

/* ---- lines (table.c) ---- */

/* 1, true, yes, ..., or 0, false, nothing, ...; false: another word. */
bool leat_can_take_mark(leat_text cell, bool *set);

/* The cells of a line, without blanks around them; -1: more than `most`, or invalid quotes. */
int leat_can_split_cells(const char *at, const char *end, char part, leat_text *cells, int most);
/* Numbers the name of a bus as candump's are (lines.h), if it is new. */
void leat_can_note_bus(leat_can_buses *buses, leat_text name);
leat_can_reject leat_can_parse_table(const leat_can_layout *layout,
                                     const leat_can_line_options *options, const char *at,
                                     const char *end, leat_can_line *line);

/* The time of a line that is no frame, if it has one where frames have it: of any format (parse.c),
 * of a table (table.c). */
bool leat_can_find_time(const leat_can_layout *layout, const char *text, int64_t size_bytes,
                        double *time);
bool leat_can_find_table_time(const leat_can_layout *layout, const char *at, const char *end,
                              double *time);

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
