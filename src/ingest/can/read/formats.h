/*
 * The formats of vehicle logs that leat reads (docs/can-formats.md). Each has a file of its own,
 * format_NAME.c, which ends with its functions, and a row in the table of known_logs.c, which has
 * them: no other file knows how a format's lines are written.
 */
#ifndef LEAT_INGEST_CAN_READ_FORMATS_H
#define LEAT_INGEST_CAN_READ_FORMATS_H

#include "ingest/can/read/layout.h"

/* Why a file cannot be read, as a text. */
#define LEAT_CAN_WHY_BYTES 320

/* ---- a format ------------------------------------------------------------------------------- */

/* The first lines of a file, without blank ones; at least one. */
typedef struct leat_can_first_lines {
    const leat_text *lines;
    int count;
} leat_can_first_lines;

/* How lines of a format are read, from `at` to `end` without the line's own end. What a format has
 * no use for is NULL; each has `parse` and `find_time`. */
typedef struct leat_can_format_lines {
    /* What the first lines decide of *layout, whose format is set; *first, which is 0, is the
     * number of header lines. False: the header belongs to another format; `why` then says what a
     * csv lacks. */
    bool (*lay_out)(const leat_can_first_lines *of, const leat_can_line_options *options,
                    leat_can_layout *layout, int *first, char why[LEAT_CAN_WHY_BYTES]);
    /* As leat_can_parse_line. */
    leat_can_reject (*parse)(const leat_can_layout *layout, const leat_can_line_options *options,
                             const char *at, const char *end, leat_can_line *line);
    /* As leat_can_find_time. */
    bool (*find_time)(const leat_can_layout *layout, const char *at, const char *end, double *time);
    /* As leat_can_rejected_label, of lines that `parse` rejects for their label. */
    leat_text (*find_label)(const leat_can_layout *layout, const char *at, const char *end);
    /* As leat_can_note_buses, where buses have names. */
    void (*note_buses)(leat_can_layout *layout, const char *text, const char *end);
    /* As leat_can_follow, where lines decide something about those after them. */
    void (*follow)(leat_can_layout *layout, const char *at, const char *end);
    /* LEAT_ERR_INPUT: a file that begins with this line is of this format, but has something that
     * would be lost. Not asked with --column. */
    leat_code (*check)(leat_text first, const char *path, leat_error *err);
} leat_can_format_lines;

extern const leat_can_format_lines leat_can_asc, leat_can_candump, leat_can_crysys, leat_can_csv,
    leat_can_gvret, leat_can_hcrl, leat_can_hcrl_text, leat_can_survival, leat_can_trc,
    leat_can_vehicle_spy, leat_can_openxc, leat_can_busmaster, leat_can_cl2000, leat_can_canking;

/* Whether this is gvret's header, which is not that of a csv. */
bool leat_can_is_gvret_header(leat_text line);

/* ---- lines of any format (formats.c) --------------------------------------------------------- */

/* One line without its end, not empty. Fills *line if it is accepted. */
leat_can_reject leat_can_parse_line(const leat_can_layout *layout,
                                    const leat_can_line_options *options, const char *text,
                                    int64_t size_bytes, leat_can_line *line);
/* The time of a line that is no frame, if it has one where frames have it. */
bool leat_can_find_time(const leat_can_layout *layout, const char *text, int64_t size_bytes,
                        double *time);
/* The label of a line that was rejected for it. */
leat_text leat_can_rejected_label(const leat_can_layout *layout, const char *text,
                                  int64_t size_bytes);
/* Numbers the interfaces that appear in the lines of the text, in their order, before those lines
 * are parsed. A name beyond LEAT_CAN_BUSES_MAX gets no number. Does nothing for other formats. */
void leat_can_note_buses(leat_can_layout *layout, const char *text, int64_t size_bytes);
/* Notes in the layout what a line decides about those after it, as its time does where times lack
 * the date. Each line has to be followed, in order, after it is parsed. Does nothing for other
 * formats. */
void leat_can_follow(leat_can_layout *layout, const char *text, int64_t size_bytes);

/* ---- times without a date (rollover.c) ------------------------------------------------------- */

/* A time as a log has it: what it lacks is not set. */
typedef struct leat_can_moment {
    int64_t year;
    int month, day;
    int64_t day_us; /* since midnight */
} leat_can_moment;
/* Since 1970, or since the unknown day that layout->clock.last_us counts from. False: there is no
 * such day, or it is in a month after one of unknown length. */
bool leat_can_complete_time(const leat_can_clock *clock, const leat_can_moment *moment,
                            int64_t *us);

/* ---- the format of a file (detect.c) --------------------------------------------------------- */

/* The first lines of a file. */
typedef struct leat_can_head {
    const char *text;
    int64_t size_bytes;
    const char *path;
    leat_can_format wanted; /* LEAT_CAN_AUTO: the one that most of the lines parse as */
} leat_can_head;

typedef struct leat_can_detected {
    bool found; /* false: the text has only blank lines, and the rest is 0 */
    leat_can_layout layout;
    leat_can_format looks; /* whatever is wanted; LEAT_CAN_AUTO: none */
    int64_t skip_bytes;    /* of the text: blank lines and a header, not frames */
} leat_can_detected;

/* Detects the layout of a file. LEAT_ERR_INPUT reports what it looks like instead. */
LEAT_MUST_CHECK leat_code leat_can_detect(const leat_can_head *head,
                                          const leat_can_line_options *options,
                                          leat_can_detected *out, leat_error *err);
/* LEAT_ERR_INPUT: the text is UTF-16, has line ends of CR only, or is a file that is packed or not
 * a text (not_text.c). */
LEAT_MUST_CHECK leat_code leat_can_check_text(const char *text, int64_t size_bytes,
                                              const char *path, leat_error *err);

LEAT_MUST_CHECK leat_code leat_can_refuse_cr(const char *path, leat_error *err);

/* ---- times that are gaps (gaps.c) ------------------------------------------------------------ */

#define LEAT_CAN_GAP_MAX_S 4e9 /* of gaps, and of their sum: about 127 years */

/* Parses the next line of such a log; `elapsed_ns` is the sum of its gaps up to the line, a frame
 * or not, and line->time afterwards the time since the beginning. A gap below 0 is rejected. */
leat_can_reject leat_can_parse_gap(const leat_can_layout *layout,
                                   const leat_can_line_options *options, const char *text,
                                   int64_t size_bytes, int64_t *elapsed_ns, leat_can_line *line);

/* ---- labels at the end of a line (trailing_labels.c) ----------------------------------------- */

/* Formats may have columns of labels after what their writers write, with blanks between them. */
enum { LEAT_CAN_TRAILING_LABELS_MAX = 4 };

/* The text after a frame, or with data NULL: it is not a line of the format. */
typedef leat_text (*leat_can_rest_fn)(const char *at, const char *end);
/* Notes the label columns, if most of the first lines have them. `direction`: of all functions
 * here, a direction R or T may come before labels. `padded`: a payload may be padded with words. */
void leat_can_note_trailing(const leat_can_first_lines *of, const leat_can_line_options *options,
                            leat_can_rest_fn rest_of, bool direction, bool padded,
                            leat_can_layout *layout);
/* The `count` label columns at the end of a line: an attack if one of them says so.
 * LEAT_CAN_REJECT_LINE: other words. Labels where the first lines have none are rejected as such,
 * since frames without them would count as benign, which only options->sparse allows. */
leat_can_reject leat_can_take_trailing(leat_text rest, int count, bool direction,
                                       const leat_can_line_options *options, leat_can_line *line);
/* The label of a rejected line: all of them if the first lines lack them, else the first that is
 * not known. */
leat_text leat_can_find_trailing(const leat_can_layout *layout, const char *at, const char *end,
                                 leat_can_rest_fn rest_of, bool direction);

#endif
