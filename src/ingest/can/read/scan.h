/* Complete files, read by several threads. */
#ifndef LEAT_INGEST_CAN_READ_SCAN_H
#define LEAT_INGEST_CAN_READ_SCAN_H

#include "ingest/can/read/injection.h"
#include "ingest/can/read/layout.h"
#include "ingest/source.h"

/* ---- files ---- */

typedef struct leat_can_scan_options {
    leat_can_format format; /* of all files; LEAT_CAN_AUTO: detected for each from its contents */
    leat_can_line_options lines;
    const leat_can_injection *injections; /* of each input; NULL: only lines have labels */
    double max_rejected;      /* the share of a file's lines that may be rejected in any case */
    int threads;              /* workers 0..threads-1 */
    leat_reject_log *rejects; /* of leat_can_rejects; may be NULL */
    leat_can_batch_fn batch;
    void *batch_context;
    leat_ticker *ticker; /* counts bytes of the files; may be NULL */
} leat_can_scan_options;

/* What the identifiers of a file look like, as bits: see warnings.c. */
enum {
    LEAT_CAN_IDS_LETTERS = 1,    /* one has a digit from A to F */
    LEAT_CAN_IDS_LONG = 2,       /* one above 7FF, whose digits are a decimal number up to 2047 */
    LEAT_CAN_IDS_BEYOND = 4,     /* one whose digits are a larger decimal number */
    LEAT_CAN_IDS_NAMED_DEC = 8,  /* the name of their column says that they are decimal, or their
                                   payloads are */
    LEAT_CAN_IDS_DECIDED = 16,   /* --column says how they are written */
    LEAT_CAN_IDS_PREFIXED = 32,  /* one has 0x, $ or h */
    LEAT_CAN_IDS_BARE_LONG = 64, /* one of IDS_LONG does not */
    LEAT_CAN_IDS_BARE_HEX = 128, /* one that is no decimal number up to 2047 does not */
};

/* A bus has more than one frame in this time. */
#define LEAT_CAN_SLOW_S 0.1

/* What a scan found in a file. */
typedef struct leat_can_file {
    leat_can_format format; /* LEAT_CAN_AUTO: it has no lines */
    leat_can_format looks;
    bool labelled;
    int64_t lines, frames; /* lines = frames + rejected; neither header nor blank lines count */
    int64_t rejected[LEAT_CAN_REJECT_COUNT];
    int64_t first_malformed;                   /* number of that line, or 0 */
    bool no_time;                              /* its times were invented */
    bool gaps;                                 /* its times were added up */
    bool no_unit;                              /* csv: nothing says that times are seconds */
    bool id_may_be_decimal;                    /* as in the layout */
    double first_s, last_s;                    /* the smallest and the largest time of a frame */
    int ids;                                   /* LEAT_CAN_IDS_... */
    int doubts;                                /* LEAT_CAN_DOUBT_... */
    leat_can_label_columns label_like;         /* unused columns that look like labels */
    char unused[LEAT_CAN_UNUSED_BYTES];        /* unused ones that may be marks or buses; "" */
    char late_mark[LEAT_CAN_LABEL_NAME_BYTES]; /* one of these whose values come late; "" */
    int marks;                                 /* of all frames: LEAT_CAN_MARK_... */
    /* csv: the columns of time, identifier and payload, or its first byte, from 1; 0: unknown */
    uint8_t time_column, id_column, data_column;
    int64_t frames_cut;     /* with LEAT_CAN_MARK_CUT */
    int64_t frames_sparse;  /* with LEAT_CAN_MARK_SPARSE */
    int64_t equal_times;    /* frames with the time of the one before, within blocks */
    int64_t earlier_times;  /* frames with an earlier one, within blocks */
    int64_t short_times;    /* frames with a time of 0 to 1 s */
    int64_t slow_times;     /* frames more than LEAT_CAN_SLOW_S after the one before */
    int64_t zero_falls;     /* times of 0 that are rejected, after others, within blocks */
    int64_t unpadded;       /* steps back where a fraction gets longer, within blocks: context.h */
    int64_t first_unpadded; /* number of the line after the first of them, or 0 */
    char time_name[LEAT_CAN_LABEL_NAME_BYTES]; /* of its column, for --column; "": unknown */
    char id_name[LEAT_CAN_LABEL_NAME_BYTES];   /* the same of identifiers */
    uint8_t seen[LEAT_CAN_WATCH_MAX];          /* in the watched columns: LEAT_CAN_SEEN_... */
} leat_can_file;

/*
 * Reads all inputs once, each with its format, and fills files[inputs->count]. The block
 * boundaries, and so every batch, depend only on the files; which worker passes it does not.
 * LEAT_ERR_INPUT: a file is of no known format, or not of the wanted one; or more than 1 % of its
 * lines and at least 100, or more than half of them, are rejected, and more than max_rejected: the
 * message shows three of them. Remote, error and refused CAN-FD frames are not counted. It is also
 * refused if any of its labels cannot be read (label_unparsable), unless max_rejected allows them;
 * and if an injection labels it by an interval although it has labels, or no times.
 */
LEAT_MUST_CHECK leat_code leat_can_scan(const leat_input_list *inputs,
                                        const leat_can_scan_options *options, leat_can_file *files,
                                        leat_error *err);
/* The maximum memory of a scan with the given number of threads, excluding the reject log and the
 * batch function. */
int64_t leat_can_scan_memory(int threads);

/* ---- times that seem to be gaps (gaps.c) ---- */

/* Whether the times of a file that are read as those of a clock seem to be gaps. */
bool leat_can_looks_like_gaps(const leat_can_file *file, const leat_can_line_options *options);
/* The error for it, which names the options that decide. */
LEAT_MUST_CHECK leat_code leat_can_refuse_gaps(const leat_can_file *file, const char *path,
                                               const leat_can_line_options *options,
                                               leat_error *err);

/* Whether fractions of a second seem to be written without leading zeros, and the error for it. */
bool leat_can_looks_unpadded(const leat_can_file *file, const leat_can_line_options *options);
LEAT_MUST_CHECK leat_code leat_can_refuse_unpadded(const leat_can_file *file, const char *path,
                                                   leat_error *err);

#endif
