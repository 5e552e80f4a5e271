/* Lines that can be judged only beside others of their file: times of 0, the last line, fractions
 * of seconds. */
#ifndef LEAT_INGEST_CAN_READ_CONTEXT_H
#define LEAT_INGEST_CAN_READ_CONTEXT_H

#include "ingest/can/read/layout.h"
#include "ingest/source.h"

/* Lines of one file, from `at` to `end`, and how the first of them is read. */
typedef struct leat_can_text {
    const leat_can_layout *layout;
    const leat_can_line_options *options;
    const char *at, *end;
} leat_can_text;

/* The next line that is not empty, without its end, and what it is read as; `layout` follows it.
 * False: there are no more. */
bool leat_can_next_line(leat_can_layout *layout, const leat_can_line_options *options,
                        const char **at, const char *end, leat_text *text, leat_can_reject *reason,
                        leat_can_line *line);

/* ---- times of exactly 0 (time_zero.c) ---------------------------------------------------------
 */

/* Whether a frame's time of exactly 0 is one of its clock: with it a log begins, also one that
 * starts again within its file. `before_s`, `after_s`: the next times in either direction that are
 * not 0; NAN: there is none. */
bool leat_can_is_zero_time(double before_s, double after_s);
/* The first, and the last, time of a frame that is not 0; NAN: there is none. */
double leat_can_first_time(const leat_can_text *text);
double leat_can_last_time(const leat_can_text *text);
/* The same as leat_can_first_time of a complete file; `layout` is that of its first line. */
LEAT_MUST_CHECK leat_code leat_can_find_first_time(const leat_input *input,
                                                   const leat_can_layout *layout,
                                                   const leat_can_line_options *options,
                                                   double *time, leat_error *err);

/* ---- a last line without an end (last_line.c) -------------------------------------------------
 */

/*
 * Whether the last line of a file, the last one of `text`, which does not have a line end, was
 * truncated within its payload: it ends with half a byte, or a length does not say how many bytes
 * there are, and each frame before it with this identifier has more. `number` is the line at which
 * `text` begins; those before it are read from the input if need be.
 */
LEAT_MUST_CHECK leat_code leat_can_is_truncated(const leat_input *input, const leat_can_text *text,
                                                int64_t number, bool *truncated, leat_error *err);

/* What a last line without an end, read as the frame *line, ends with. */
typedef enum leat_can_ending {
    LEAT_CAN_ENDS,            /* it is complete, or not a frame */
    LEAT_CAN_ENDS_WITH_DIGIT, /* a byte of one digit: truncated, unless its writer has such bytes */
    LEAT_CAN_ENDS_OPEN,       /* nothing but its end says how many bytes there are */
} leat_can_ending;
/* `of` says how the line `text` is read; its own text does not matter. */
leat_can_ending leat_can_ending_of(const leat_can_text *of, leat_text text, leat_can_line *line);
/* Whether a line of the text ends with a byte of one digit. */
bool leat_can_has_single_digits(const leat_can_text *of);

/* ---- a line that is not a frame (not_a_frame.c) ------------------------------------------------
 */

/* LEAT_ERR_INPUT: this line, rejected for `reason`, shows that lines end with CR only, or it is a
 * header with other columns than the first one. `path` and `number` are for the message. */
LEAT_MUST_CHECK leat_code leat_can_check_rejected(const leat_can_text *of, leat_text text,
                                                  leat_can_reject reason, const char *path,
                                                  int64_t number, leat_error *err);

/* ---- fractions of a second without leading zeros (fractions.c) --------------------------------
 */

/* Whether the time of a frame is earlier than that of the frame before it because their fractions
 * are written without leading zeros: 7.99900, of 99,900 us, and then 7.100100. */
bool leat_can_is_unpadded_step(leat_text before, double before_s, leat_text text, double time);

#endif
