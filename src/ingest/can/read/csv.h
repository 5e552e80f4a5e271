/*
 * CSV of any columns: its header, the meanings and notations of its columns, and the parser of a
 * line. A csv with the usual columns in their usual form has a faster parser of its own
 * (format_csv.c).
 */
#ifndef LEAT_INGEST_CAN_READ_CSV_H
#define LEAT_INGEST_CAN_READ_CSV_H

#include "ingest/can/read/fields.h"
#include "ingest/can/read/formats.h"

/* ---- headers (csv_header.c) ---- */

/*
 * The layout of a csv with these first lines: *first is the number of header lines, 0 or 1. False
 * if it is not one that can be read; `why` then says what is missing and what helps, or is "" if
 * the lines do not look like a csv.
 */
bool leat_can_read_header(const leat_text *lines, int count, const leat_can_line_options *options,
                          leat_can_layout *layout, int *first, char why[LEAT_CAN_WHY_BYTES]);

/* Whether a line that is not a frame is a header with other names than the file's own, by which
 * frames can be read: those after it would be read with the wrong columns. */
bool leat_can_is_other_header(const leat_can_layout *layout, const leat_can_line_options *options,
                              leat_text line);

/* ---- names of columns (csv_columns.c) ---- */

/* Whether a column is found by this name. */
bool leat_can_is_usual(leat_text name);

/* Whether a name says that its identifiers are decimal; whether it is one that programs also use
 * for decimal identifiers. */
bool leat_can_is_decimal_name(leat_text name);
bool leat_can_may_be_decimal_name(leat_text name);

/* ---- marks and buses by the words of their names (csv_marks.c) ---- */

/* The column of a name that decides alone: extended, remote, error, bus; else ..._OTHER. */
int8_t leat_can_mark_column(leat_text name);
/* Whether a name is that of a mark or a bus; that of one only if its values say so; that of
 * anything that cannot be a label. */
bool leat_can_is_mark(leat_text name);
bool leat_can_may_be_mark(leat_text name);
/* Whether a name that is none of the known ones is like one of a mark or a bus. */
bool leat_can_is_vague(leat_text name);
bool leat_can_says_no_label(leat_text name);
/* Marks and buses by less usual names, in a csv with a header, where no column has a usual one and
 * the first lines have values that fit. */
void leat_can_name_marks(const leat_text *lines, int count, const leat_text *names,
                         leat_can_layout *layout);
/* Notes the unused columns that may be marks or buses: layout->unused; `names` NULL: by their
 * numbers. */
void leat_can_find_unused(const leat_text *lines, int count, const leat_text *names,
                          leat_can_layout *layout);

/* ---- payloads in one column (csv_payloads.c) ---- */

/* Notes what is doubtful about payloads in one column; `names` of the columns, or
 * NULL. False, and why: they are bits, in more digits than a frame of eight bytes can have. */
bool leat_can_doubt_payloads(const leat_text *lines, int count, const leat_text *names,
                             leat_can_layout *layout, char why[LEAT_CAN_WHY_BYTES]);

/* ---- lines (csv_line.c) ---- */

/* 1, true, yes, ..., or 0, false, nothing, ...; false: another word. */
bool leat_can_take_mark(leat_text cell, bool *set);

/* The cells of a line, without blanks around them; -1: more than `most`, or invalid quotes. */
int leat_can_split_cells(const char *at, const char *end, char part, leat_text *cells, int most);
/* Whether short rows may have their label in the cell of a byte. */
bool leat_can_labels_may_shift(const leat_can_layout *layout);
leat_can_reject leat_can_parse_table(const leat_can_layout *layout,
                                     const leat_can_line_options *options, const char *at,
                                     const char *end, leat_can_line *line);
bool leat_can_find_table_time(const leat_can_layout *layout, const char *at, const char *end,
                              double *time);

#endif
