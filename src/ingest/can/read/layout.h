/*
 * How the lines of a vehicle log are read: the options of a job, and the layout of a file, which
 * its first lines decide. And what is said of a line that is not a frame.
 */
#ifndef LEAT_INGEST_CAN_READ_LAYOUT_H
#define LEAT_INGEST_CAN_READ_LAYOUT_H

#include "base/lines.h"
#include "ingest/can/store/frame.h"
#include "ingest/reject.h"
#include "leat/ingest.h"

/* ---- options -------------------------------------------------------------------------------- */

struct leat_can_mapping; /* of --column: column_option.h */
typedef struct leat_can_line_options {
    bool canonical; /* identifiers: upper-case hex, 3 digits up to 7FF, else 8; or as written, up to
                       LEAT_CAN_ID_BYTES printable characters */
    bool strict;    /* payloads that are not complete hex bytes are rejected; or read as
                       graphids does, which accepts everything */
    bool fd_refuse; /* CAN-FD frames are rejected; or cut at 8 bytes */
    const struct leat_can_mapping *columns; /* every file is a csv with these; NULL: by names */
    const char *column;                     /* --column as it was given, for advice; or NULL */
    int64_t no_time; /* a csv may lack times: it then has that many frames per second; 0: refused */
    leat_can_times times;
    bool longer;    /* types of attacks: 19, or the 7 of graphids */
    bool sparse;    /* lines without a label are benign, in logs with labels as well */
    bool any_order; /* times of a clock in any order are sorted, unless they look like gaps */
} leat_can_line_options;

/* ---- lines that are not frames --------------------------------------------------------------- */

/* Why a line is not a frame: name, and text as shown in rejected.csv. The first are malformed
 * lines, which may indicate the wrong format; the others are valid lines whose frame is not usable.
 * The last two are those of lines that are judged beside others (context.h). */
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
    X(LEAT_CAN_REJECT_ERROR, "error_frame")                                                        \
    X(LEAT_CAN_REJECT_EVENT, "not_a_frame")                                                        \
    X(LEAT_CAN_REJECT_ZERO, "timestamp_zero")                                                      \
    X(LEAT_CAN_REJECT_TRUNCATED, "truncated_last_line")
#define LEAT_CAN_REJECT_ENUM(name, text) name,
typedef enum leat_can_reject {
    LEAT_CAN_REJECTS(LEAT_CAN_REJECT_ENUM) LEAT_CAN_REJECT_COUNT,
    LEAT_CAN_TAKEN = LEAT_CAN_REJECT_COUNT /* it is a frame */
} leat_can_reject;
#undef LEAT_CAN_REJECT_ENUM
#define LEAT_CAN_MALFORMED_LAST LEAT_CAN_REJECT_BUS
/* Columns file,line,reason,text: the line's beginning. */
extern const leat_reject_kind leat_can_rejects;

/* ---- layouts --------------------------------------------------------------------------------- */

/* The interfaces of a candump log, and the buses of tables, in order of appearance. A number is
 * formed by the last digits of a name ("can1" is 1), five at most, if no other has it, else it is
 * the smallest free number. */
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
    LEAT_CAN_COLUMN_ATTACK, /* the type of an attack, in words */
    LEAT_CAN_COLUMN_BYTE,   /* one payload byte; several columns */
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
    LEAT_CAN_DOUBT_WIDTH = 32,   /* trc: eight digits are read as 11 bits up to 7FF */
    LEAT_CAN_DOUBT_SLOW = 64,    /* seconds, because nothing else is known, and few frames in one */
    LEAT_CAN_DOUBTS_END = 128,
};
/* Unused columns of a csv that may be labels, and what their cells look like, as bits. */
#define LEAT_CAN_WATCH_MAX 16
enum {
    LEAT_CAN_SEEN_ZERO = 1, /* 0, -1, false, no, or nothing */
    LEAT_CAN_SEEN_ONE = 2,  /* 1, true, yes */
    LEAT_CAN_SEEN_OTHER = 4,
    LEAT_CAN_SEEN_ATTACK = 8, /* a word for an attack */
};
/* What the times of a log lack, which the lines before decide (rollover.c). */
typedef enum leat_can_lack {
    LEAT_CAN_LACK_NOTHING,
    LEAT_CAN_LACK_YEAR,
    LEAT_CAN_LACK_MONTH, /* and the year */
    LEAT_CAN_LACK_DAY,   /* the date */
} leat_can_lack;
typedef struct leat_can_clock {
    leat_can_lack lack;
    int64_t last_us; /* of the line before: since 1970, or since a day that is not known */
    bool dated;      /* since 1970 */
    char mode;       /* busmaster, asc: S, A or R, as its headers begin to say it */
    bool other;      /* a later header says that its lines are written otherwise: not read */
} leat_can_clock;
/* 64 bytes of a CAN-FD frame in columns of their own, and as many others. */
#define LEAT_CAN_COLUMNS_MAX 128
#define LEAT_CAN_COLUMN_WORDS (LEAT_CAN_COLUMNS_MAX / 64) /* a bit for each */
#define LEAT_CAN_LABEL_NAME_BYTES 36
#define LEAT_CAN_UNUSED_BYTES 84
/* Columns that look like labels, but are not used. */
#define LEAT_CAN_LABELS_BYTES 200
typedef struct leat_can_label_columns {
    char names[LEAT_CAN_LABELS_BYTES];  /* "DoS", "Fuzzy" */
    char option[LEAT_CAN_LABELS_BYTES]; /* as --column label takes them, with what it has: DoS+Fuzzy
                                         */
} leat_can_label_columns;
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
    bool id_named_decimal;                   /* the name of its column, or its bytes, say so */
    bool id_may_be_decimal;                  /* that name does if there are no letters */
    char id_name[LEAT_CAN_LABEL_NAME_BYTES]; /* of its column, or the number */
    leat_can_label_columns label_like;
    char unused[LEAT_CAN_UNUSED_BYTES]; /* unused columns that may be marks or buses, quoted; "" */
    int doubts;                         /* LEAT_CAN_DOUBT_... */
    bool named;                         /* the first line is a header */
    uint64_t header;                    /* its names, hashed */
    bool padded;       /* payloads are filled up with zeros to one length for all; of hcrl: rows are
                          with empty cells */
    bool may_shift;    /* the label is directly behind bytes in columns, and there is a DLC */
    bool label_chosen; /* by --column */
    bool label_of_type;                       /* and by a name of a type of attacks */
    uint8_t label_type[LEAT_CAN_COLUMNS_MAX]; /* of attacks by the names of columns of labels */
    /* The columns of labels that are named for benign frames, as bits. */
    uint64_t label_inverted[LEAT_CAN_COLUMN_WORDS];
    int watch_count; /* columns to watch: label_columns.c */
    struct {
        int column;
        bool may_be_mark; /* its name does not say whether it is a label */
        bool of_type;     /* its name is that of a type of attacks */
        char name[LEAT_CAN_LABEL_NAME_BYTES];
        char option[LEAT_CAN_LABEL_NAME_BYTES]; /* the name, or the number, for --column */
    } watch[LEAT_CAN_WATCH_MAX];
    bool id_padded;          /* trc: eight digits do not mark 29 bits */
    leat_can_clock clock;    /* busmaster, cl2000; of asc, mode and other */
    leat_can_buses others;   /* vehicle-spy: networks that are not CAN */
    int32_t trailing_labels; /* candump, crysys: label columns at the end of a line */
} leat_can_layout;

/* Of a log whose numbers all have one base, identifiers and data alike: whether it is ten. */
static inline bool leat_can_is_decimal(const leat_can_layout *layout) {
    return layout->id_unit == LEAT_CAN_UNIT_DEC;
}

#endif
