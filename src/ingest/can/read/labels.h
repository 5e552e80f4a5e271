/* Labels of frames: their words and numbers, and the columns of a csv that are or may be labels. */
#ifndef LEAT_INGEST_CAN_READ_LABELS_H
#define LEAT_INGEST_CAN_READ_LABELS_H

#include "ingest/can/read/layout.h"
#include "ingest/can/read/scan.h"

/* ---- values (labels.c) ---- */

/* A label in words, in any case: attack, T, ..., or normal, R, ... False: any other text. */
bool leat_can_label_word(leat_text text, bool *attack);
/* "DoS", "gear_spoofing", "Fuzzy attack" */
bool leat_can_is_attack_type(leat_text text);
/* An empty cell, NaN or none: the frame has no label. */
bool leat_can_label_missing(leat_text text);
/* A label: a whole number, which marks an attack if it is above 0, or a word. */
bool leat_can_take_label(leat_text text, bool *attack);
/* A label in a column that is named for benign frames: above 0, true and yes are benign. */
bool leat_can_take_inverted(leat_text text, bool *attack);
/* Whether a line without a label counts as benign; it is marked as such. */
bool leat_can_take_sparse(leat_text text, const leat_can_line_options *options,
                          leat_can_line *line);
/* What a label looks like: LEAT_CAN_MARK_... */
uint8_t leat_can_label_mark(leat_text text, bool attack);

/* ---- labels that are not known (labels.c) ---- */

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

/* ---- columns (label_columns.c) ---- */

/* The place of a column's name among the known names of labels, 0 the first choice; -1: none. */
int leat_can_label_rank(leat_text name);
/* Whether a column of another name may be a label. */
bool leat_can_label_like(leat_text name);
/* Whether 1 in a column of this name would mark a benign frame: benign, is_normal, ... */
bool leat_can_is_benign_name(leat_text name);
/* Adds a column to those that look like labels; `names` of all columns, or NULL: it gets its
 * number. */
void leat_can_add_label_like(const leat_text *names, int count, int column,
                             leat_can_label_columns *to);
/* The unused columns whose names or values are those of labels. */
void leat_can_find_label_like(const leat_text *lines, int count, const leat_text *names,
                              leat_can_layout *layout);
/* Notes the columns of a csv to watch, from its first lines; `names` of its columns, or NULL. */
void leat_can_watch_columns(const leat_text *lines, int count, const leat_text *names,
                            leat_can_layout *layout);
/* Notes what the watched columns of a line have. */
void leat_can_watch_line(const leat_can_layout *layout, leat_text line,
                         uint8_t seen[LEAT_CAN_WATCH_MAX]);
/* What a block has seen; label_like and late_mark are right once all blocks of the file are added.
 */
void leat_can_watch_add(const leat_can_layout *layout, const uint8_t seen[LEAT_CAN_WATCH_MAX],
                        leat_can_file *file);

#endif
