/*
 * Lines of vehicle logs as CAN frames: the formats that leat reads (docs/can-formats.md), detected
 * from the contents, parsers for single lines, and a scan of complete files with several threads.
 */
#ifndef LEAT_INGEST_CAN_READ_LINES_H
#define LEAT_INGEST_CAN_READ_LINES_H

#include "base/lines.h"
#include "ingest/can/store/frame.h"
#include "ingest/source.h"
#include "leat/graph.h"
#include "leat/ingest.h"

/* ---- lines ---- */

#define LEAT_CAN_GAP_MAX_S 4e9 /* of gaps, and of their sum: about 127 years */

struct leat_can_mapping; /* of --column: table.h */
typedef struct leat_can_line_options {
    bool canonical; /* identifiers: upper-case hex, 3 digits up to 7FF, else 8; or as written, up to
                       LEAT_CAN_ID_BYTES printable characters */
    bool strict;    /* payloads that are not complete hex bytes are rejected; or read like the
                       reference system, which accepts everything */
    bool fd_refuse; /* CAN-FD frames are rejected; or cut at 8 bytes */
    const struct leat_can_mapping *columns; /* every file is a csv with these; NULL: by names */
    int64_t no_time; /* a csv may lack times: it then has that many frames per second; 0: refused */
    leat_can_times times;
    bool any_order; /* times of a clock in any order are sorted, unless they look like gaps */
    int reader;     /* LEAT_CAN_READER_FIRST: the first rules; 0: the present ones */
} leat_can_line_options;

/* Rules of reading: those of leat's first caches, and the present ones (rules.c). */
enum { LEAT_CAN_READER_FIRST = 1, LEAT_CAN_READER = 2 };

/* Why a line is not a frame: name, and text as shown in rejected.csv. The first are malformed
 * lines, which may indicate the wrong format; the others are valid lines whose frame is not usable.
 */
#define LEAT_CAN_REJECTS(X)                                                                        \
    X(LEAT_CAN_REJECT_LINE, "malformed_line")                                                      \
    X(LEAT_CAN_REJECT_TIME, "timestamp_unparsable")                                                \
    X(LEAT_CAN_REJECT_ID, "identifier_unparsable")                                                 \
    X(LEAT_CAN_REJECT_LABEL, "label_unparsable")                                                   \
    X(LEAT_CAN_REJECT_NO_LABEL, "label_missing")                                                   \
    X(LEAT_CAN_REJECT_BUS, "bus_unparsable")                                                       \
    X(LEAT_CAN_REJECT_PAYLOAD, "payload_unparsable")                                               \
    X(LEAT_CAN_REJECT_FD, "can_fd_frame")                                                          \
    X(LEAT_CAN_REJECT_REMOTE, "remote_frame")                                                      \
    X(LEAT_CAN_REJECT_ERROR, "error_frame")
#define LEAT_CAN_REJECT_ENUM(name, text) name,
typedef enum leat_can_reject {
    LEAT_CAN_REJECTS(LEAT_CAN_REJECT_ENUM) LEAT_CAN_REJECT_COUNT,
    LEAT_CAN_TAKEN = LEAT_CAN_REJECT_COUNT /* it is a frame */
} leat_can_reject;
#undef LEAT_CAN_REJECT_ENUM
#define LEAT_CAN_MALFORMED_LAST LEAT_CAN_REJECT_BUS
/* Columns file,line,reason,text: the line's beginning. */
extern const leat_reject_kind leat_can_rejects;

/* ---- the layout of a file's lines ---- */

/* The interfaces of a candump log in order of appearance. An interface's number is formed by the
 * last digits of its name ("can1" is 1) if no other has it, else it is the smallest free number. */
#define LEAT_CAN_BUSES_MAX 64
#define LEAT_CAN_BUS_NAME_MAX 15 /* Linux has no longer names */
typedef struct leat_can_buses {
    int32_t count;
    struct {
        char text[LEAT_CAN_BUS_NAME_MAX];
        uint8_t size_bytes;
        uint16_t number;
    } names[LEAT_CAN_BUSES_MAX];
} leat_can_buses;

/* The meaning of a CSV column. */
enum {
    LEAT_CAN_COLUMN_TIME,
    LEAT_CAN_COLUMN_ID,
    LEAT_CAN_COLUMN_PAYLOAD,
    LEAT_CAN_COLUMN_LABEL,
    LEAT_CAN_COLUMN_OTHER,
    LEAT_CAN_COLUMN_BUS,
    LEAT_CAN_COLUMN_DLC,
    LEAT_CAN_COLUMN_EXTENDED, /* 29-bit identifiers, remote and error frames: 1 or true */
    LEAT_CAN_COLUMN_REMOTE,
    LEAT_CAN_COLUMN_ERROR,
    LEAT_CAN_COLUMN_BYTE, /* one payload byte; several columns */
    LEAT_CAN_COLUMN_KINDS
};
/* How the cells of a column are written. */
typedef enum leat_can_unit {
    LEAT_CAN_UNIT_NONE, /* the usual one: hex, seconds, bytes */
    LEAT_CAN_UNIT_HEX,
    LEAT_CAN_UNIT_DEC,
    LEAT_CAN_UNIT_BITS,
    LEAT_CAN_UNIT_BYTES,
    LEAT_CAN_UNIT_BASE64,
    LEAT_CAN_UNIT_S,
    LEAT_CAN_UNIT_MS,
    LEAT_CAN_UNIT_US,
    LEAT_CAN_UNIT_NS,
    LEAT_CAN_UNIT_GAP, /* seconds since the frame before */
    LEAT_CAN_UNITS
} leat_can_unit;
/* What the first lines of a csv could not decide, as bits. */
enum {
    LEAT_CAN_DOUBT_BYTES = 1,    /* bytes in columns: hex or decimal */
    LEAT_CAN_DOUBT_TIME = 2,     /* whole numbers: seconds or smaller units */
    LEAT_CAN_DOUBT_INVERTED = 4, /* labels are read inverted, because of their column's name */
    LEAT_CAN_DOUBT_BITS = 8,     /* payloads of 0 and 1 only: hex or bits */
    LEAT_CAN_DOUBT_DIGITS = 16,  /* payloads of decimal digits only: hex or something else */
    LEAT_CAN_DOUBT_MARK = 32,    /* label_like may also be a mark, and its values come late */
    LEAT_CAN_DOUBTS_END = 64,
};
/* Unused columns of a csv that may be labels, and what their cells look like, as bits. */
#define LEAT_CAN_WATCH_MAX 8
enum {
    LEAT_CAN_SEEN_ZERO = 1, /* 0, -1, false, no, or nothing */
    LEAT_CAN_SEEN_ONE = 2,  /* 1, true, yes */
    LEAT_CAN_SEEN_OTHER = 4,
    LEAT_CAN_SEEN_ATTACK = 8, /* a word for an attack */
};
#define LEAT_CAN_COLUMNS_MAX 64
#define LEAT_CAN_LABEL_NAME_BYTES 36
#define LEAT_CAN_UNUSED_BYTES 84
typedef struct leat_can_layout {
    leat_can_format format;              /* never LEAT_CAN_AUTO */
    bool labelled;                       /* lines are labelled as attack or not */
    bool direction;                      /* gvret: has a column Dir */
    int32_t column_count;                /* csv */
    int8_t column[LEAT_CAN_COLUMNS_MAX]; /* csv: LEAT_CAN_COLUMN_... */
    int8_t byte[LEAT_CAN_COLUMNS_MAX];   /* csv: the place of a LEAT_CAN_COLUMN_BYTE, from 0 */
    leat_can_buses buses;
    /* csv: other than the plain table of timestamp, identifier, hex payload and label. Everything
     * below belongs to such tables. */
    bool table;
    bool no_time;                              /* it has no times: leat_can_line.time is 0 */
    char time_name[LEAT_CAN_LABEL_NAME_BYTES]; /* csv: of its column, or the number */
    bool gaps; /* leat_can_line.time is the time since the frame before; of any format */
    char part; /* between cells: , ; TAB, or a blank for any blanks */
    leat_can_unit id_unit, time_unit, dlc_unit, data_unit;
    /* Of any csv. */
    bool id_named_decimal;                      /* the name of its column, or its bytes, say so */
    bool id_may_be_decimal;                     /* that name does if there are no letters */
    char label_like[LEAT_CAN_LABEL_NAME_BYTES]; /* an unused column that looks like a label; "" */
    char unused[LEAT_CAN_UNUSED_BYTES]; /* unused columns that may be marks or buses, quoted; "" */
    int doubts;                         /* LEAT_CAN_DOUBT_... */
    bool named;                         /* the first line is a header */
    bool label_inverted;                /* its column is named for benign frames */
    int watch_count;                    /* columns to watch: watch.c */
    struct {
        int column;
        bool may_be_mark; /* its name does not say whether it is a label */
        char name[LEAT_CAN_LABEL_NAME_BYTES];
    } watch[LEAT_CAN_WATCH_MAX];
    int32_t trailing_labels; /* candump, crysys: label columns at the end of a line */
} leat_can_layout;

/*
 * Detects the layout of a file from its first lines in `text`: of the format `wanted`, or with
 * LEAT_CAN_AUTO of the one that most of them parse as. The first *skip_bytes of the text are blank
 * lines and a header, not frames. *looks: the detected format, whatever `wanted` is; LEAT_CAN_AUTO
 * for none. If the text has only blank lines, *found is false. LEAT_ERR_INPUT reports what the file
 * (`path`) looks like instead.
 */
LEAT_MUST_CHECK leat_code leat_can_detect(const char *text, int64_t size_bytes, const char *path,
                                          leat_can_format wanted,
                                          const leat_can_line_options *options,
                                          leat_can_layout *layout, leat_can_format *looks,
                                          int64_t *skip_bytes, bool *found, leat_error *err);
/* Numbers the interfaces that appear in the lines of the text, in their order, before those lines
 * are parsed. A name beyond LEAT_CAN_BUSES_MAX gets no number. Does nothing for other formats. */
void leat_can_note_buses(leat_can_layout *layout, const char *text, int64_t size_bytes);

/* One line without its end, not empty. Fills *line if it is accepted. */
leat_can_reject leat_can_parse_line(const leat_can_layout *layout,
                                    const leat_can_line_options *options, const char *text,
                                    int64_t size_bytes, leat_can_line *line);

/* The fields of a CSV header or line, in place: *at moves past the comma, or to NULL after the
 * last. Quotes around a field are removed, doubled ones in it stay: no name or value in these
 * formats contains any. False if the quoting is invalid. */
bool leat_can_field(const char **at, const char *end, leat_text *field);

/* ---- complete files ---- */

typedef struct leat_can_scan_options {
    leat_can_format format; /* of all files; LEAT_CAN_AUTO: detected for each from its contents */
    leat_can_line_options lines;
    double max_rejected;      /* the share of a file's lines that may be rejected in any case */
    int threads;              /* workers 0..threads-1 */
    leat_reject_log *rejects; /* of leat_can_rejects; may be NULL */
    leat_can_batch_fn batch;
    void *batch_context;
    leat_ticker *ticker; /* counts bytes of the files; may be NULL */
} leat_can_scan_options;

/* What the identifiers of a file look like, as bits: see notes.c. */
enum {
    LEAT_CAN_IDS_LETTERS = 1,   /* one has a digit from A to F */
    LEAT_CAN_IDS_LONG = 2,      /* one above 7FF, whose digits are a decimal number up to 2047 */
    LEAT_CAN_IDS_BEYOND = 4,    /* one whose digits are a larger decimal number */
    LEAT_CAN_IDS_NAMED_DEC = 8, /* the name of their column says that they are decimal, or their
                                  payloads are */
    LEAT_CAN_IDS_DECIDED = 16,  /* --column says how they are written */
};

/* What a scan found in a file. */
typedef struct leat_can_file {
    leat_can_format format; /* LEAT_CAN_AUTO: it has no lines */
    leat_can_format looks;
    bool labelled;
    int64_t lines, frames; /* lines = frames + rejected; neither header nor blank lines count */
    int64_t rejected[LEAT_CAN_REJECT_COUNT];
    int64_t first_malformed;                    /* number of that line, or 0 */
    bool no_time;                               /* its times were invented */
    bool gaps;                                  /* its times were added up */
    bool id_may_be_decimal;                     /* as in the layout */
    double first_s, last_s;                     /* the smallest and the largest time of a frame */
    int ids;                                    /* LEAT_CAN_IDS_... */
    int doubts;                                 /* LEAT_CAN_DOUBT_... */
    char label_like[LEAT_CAN_LABEL_NAME_BYTES]; /* an unused column that looks like a label; "" */
    char unused[LEAT_CAN_UNUSED_BYTES];         /* unused ones that may be marks or buses; "" */
    int marks;                                  /* of all frames: LEAT_CAN_MARK_... */
    /* csv: the columns of time, identifier and payload, or its first byte, from 1; 0: unknown */
    uint8_t time_column, id_column, data_column;
    int64_t frames_cut;    /* with LEAT_CAN_MARK_CUT */
    int64_t equal_times;   /* frames with the time of the one before, within blocks */
    int64_t earlier_times; /* frames with an earlier one, within blocks */
    int64_t short_times;   /* frames with a time of 0 to 1 s */
    char time_name[LEAT_CAN_LABEL_NAME_BYTES]; /* of its column, for --column; "": unknown */
    bool watched;                              /* label_like is what the watched columns give */
    uint8_t seen[LEAT_CAN_WATCH_MAX];          /* in the watched columns: LEAT_CAN_SEEN_... */
} leat_can_file;

/*
 * Reads all inputs once, each with its format, and fills files[inputs->count]. The block
 * boundaries, and so every batch, depend only on the files; which worker passes it does not.
 * LEAT_ERR_INPUT: a file is of no known format, or not of the wanted one; or more than 1 % of its
 * lines and at least 100, or more than half of them, are rejected, and more than max_rejected: the
 * message shows three of them. Remote, error and refused CAN-FD frames are not counted. It is also
 * refused if any of its labels cannot be read (label_unparsable), unless max_rejected allows them.
 */
LEAT_MUST_CHECK leat_code leat_can_scan(const leat_input_list *inputs,
                                        const leat_can_scan_options *options, leat_can_file *files,
                                        leat_error *err);
/* The maximum memory of a scan with the given number of threads, excluding the reject log and the
 * batch function. */
int64_t leat_can_scan_memory(int threads);

#endif
