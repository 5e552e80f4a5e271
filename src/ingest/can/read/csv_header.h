/* What the sources of a csv's header share: the header, and who decides what. */
#ifndef LEAT_INGEST_CAN_READ_CSV_HEADER_H
#define LEAT_INGEST_CAN_READ_CSV_HEADER_H

#include "ingest/can/read/csv.h"

/* A header, or without one the first line of several cells. */
typedef struct leat_can_header {
    leat_text cells[LEAT_CAN_COLUMNS_MAX];
    int count;
    int line; /* that line's number, from 0 */
    char part;
    bool named; /* it is a header */
    const leat_text *lines;
    int line_count;
    const leat_can_line_options *options;
    char *why;
} leat_can_header;

/* Says why; false. */
bool leat_can_header_refuse(const leat_can_header *head, const char *format, ...) LEAT_PRINTF(2, 3);

/* A name as shown in a message. */
typedef struct leat_can_shown {
    char text[48];
} leat_can_shown;
leat_can_shown leat_can_show_name(leat_text name);

/* The first column of a kind; -1: there is none. */
int leat_can_find_column(const leat_can_layout *layout, int kind);
/* The number of the lines that are frames with this layout. */
int leat_can_count_frames(const leat_can_header *head, const leat_can_layout *layout);
/* The cells of a line; -1: it cannot be split. */
int leat_can_line_cells(const leat_can_header *head, int line,
                        leat_text cells[LEAT_CAN_COLUMNS_MAX]);

/* ---- what columns mean (csv_columns.c): false, and why, if that is not clear ---- */

/* The number from 1 that a name is; 0: none. */
int leat_can_number_of(const char *name);
/* Whether a cell is this name: exactly, or without case, blanks and punctuation. */
bool leat_can_is_same_name(leat_text cell, const char *name, bool exact);
/* Whether it has GVRET's columns, among others and with any separator. */
bool leat_can_has_gvret_columns(const leat_can_header *head);
/* Whether it is that of CICIoV2024, up to the label or all of it. */
bool leat_can_is_ciciov(const leat_can_header *head, bool all);
/* Whether it is that of the writer of python-can, whose data are base64. */
bool leat_can_is_python_can(const leat_can_header *head);
/* By --column, then by their names. */
bool leat_can_map_columns(const leat_can_header *head, leat_can_layout *layout);
bool leat_can_name_columns(const leat_can_header *head, leat_can_layout *layout);

/* ---- how cells are written (csv_units.c), where only the lines say it ---- */

void leat_can_note_units(const leat_can_header *head, leat_can_layout *layout);
/* Whether identifiers without a letter are probably decimal, since programs write such under this
 * name: not where all are equal, nor with GVRET's columns. */
bool leat_can_may_be_decimal(const leat_can_header *head, int id);

#endif
