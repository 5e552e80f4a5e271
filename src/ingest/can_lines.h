/*
 * Lines of vehicle logs as CAN frames: the formats that leat reads (docs/can.md), told apart by
 * content, parsers for single lines, and a scan of whole files with several threads.
 */
#ifndef LEAT_INGEST_CAN_LINES_H
#define LEAT_INGEST_CAN_LINES_H

#include "base/lines.h"
#include "ingest/source.h"
#include "leat/graph.h"
#include "leat/ingest.h"

/* ---- frames ---- */

#define LEAT_CAN_ID_BYTES 16
#define LEAT_CAN_TIME_MAX_S 1e12 /* of a frame, either way: some 30,000 years */

typedef struct leat_can_line {
    double time;                   /* seconds, up to LEAT_CAN_TIME_MAX_S either way */
    char id[LEAT_CAN_ID_BYTES];    /* zero padded */
    int16_t bytes[LEAT_CAN_BYTES]; /* -15..255; 0 where there is none */
    uint16_t bus;                  /* 0 where the format has none */
    bool attack;
} leat_can_line;

typedef struct leat_can_line_options {
    bool canonical; /* identifiers: upper-case hex, 3 digits up to 7FF, else 8; or as written, up to
                       LEAT_CAN_ID_BYTES printable characters */
    bool strict;    /* payloads that are not whole hex bytes are set aside; or read as the reference
                       system reads them, which makes something of everything */
    bool fd_refuse; /* CAN-FD frames are set aside; or cut at 8 bytes */
} leat_can_line_options;

/* Why a line is no frame: name, text as it stands in rejected.csv. The first are malformed lines,
 * which may be the wrong format; the others are lines of the format that hold no such frame. */
#define LEAT_CAN_REJECTS(X)                                                                        \
    X(LEAT_CAN_REJECT_LINE, "malformed_line")                                                      \
    X(LEAT_CAN_REJECT_TIME, "timestamp_unparsable")                                                \
    X(LEAT_CAN_REJECT_ID, "identifier_unparsable")                                                 \
    X(LEAT_CAN_REJECT_LABEL, "label_unparsable")                                                   \
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

/* ---- what a file's lines are ---- */

/* The interfaces of a candump log in order of appearance. A name's number is that of its last
 * digits ("can1" is 1) if no other name has it, else the least that is free. */
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

/* What stands in a column of a CSV. */
enum {
    LEAT_CAN_COLUMN_TIME,
    LEAT_CAN_COLUMN_ID,
    LEAT_CAN_COLUMN_PAYLOAD,
    LEAT_CAN_COLUMN_LABEL,
    LEAT_CAN_COLUMN_OTHER,
    LEAT_CAN_COLUMN_KINDS
};
#define LEAT_CAN_COLUMNS_MAX 64
typedef struct leat_can_layout {
    leat_can_format format;              /* never LEAT_CAN_AUTO */
    bool labelled;                       /* lines say whether they are attacks */
    bool direction;                      /* gvret: with a column Dir */
    int32_t column_count;                /* csv */
    int8_t column[LEAT_CAN_COLUMNS_MAX]; /* csv: LEAT_CAN_COLUMN_... */
    leat_can_buses buses;
} leat_can_layout;

/*
 * Tells from the beginning of a file, some lines of `text`, what its lines are: of the format
 * `wanted`, or with LEAT_CAN_AUTO of the one that most of them parse as. *skip_bytes of the text
 * are no frames but blank lines and a header. *looks: the format that it looks like, whatever is
 * wanted; LEAT_CAN_AUTO for none. Text of blank lines alone tells nothing: *found is then false.
 * LEAT_ERR_INPUT says what the file (`path`) looks like instead.
 */
LEAT_MUST_CHECK leat_code leat_can_detect(const char *text, int64_t size_bytes, const char *path,
                                          leat_can_format wanted,
                                          const leat_can_line_options *options,
                                          leat_can_layout *layout, leat_can_format *looks,
                                          int64_t *skip_bytes, bool *found, leat_error *err);
/* Numbers the interfaces that appear in the lines of the text, in their order; before those lines
 * are parsed. A name beyond LEAT_CAN_BUSES_MAX gets no number. Nothing for other formats. */
void leat_can_note_buses(leat_can_layout *layout, const char *text, int64_t size_bytes);

/* One line without its end, not empty. Fills *line if it is taken. */
leat_can_reject leat_can_parse_line(const leat_can_layout *layout,
                                    const leat_can_line_options *options, const char *text,
                                    int64_t size_bytes, leat_can_line *line);

/* The fields of a CSV header or line, as they lie there: *at moves behind the comma, or to NULL at
 * the last. Quotes around a field are taken off, doubled ones in it stay: neither names nor values
 * of ours have any. False if quotes are bad. */
bool leat_can_field(const char **at, const char *end, leat_text *field);

/* ---- whole files ---- */

/* A block of consecutive lines of one file, as frames; valid during the call only. */
typedef struct leat_can_batch {
    int32_t file_index;
    int64_t block; /* number in its file, from 0: frames stand in the order of (block, i) */
    int64_t count; /* up to LEAT_CAN_BLOCK_LINES */
    const leat_can_line *lines;
} leat_can_batch;
#define LEAT_CAN_BLOCK_LINES 8192

/* A worker's calls do not overlap, different workers' do; every block of a file is given once, also
 * one without frames. A failure stops the scan, which returns it. */
typedef leat_code (*leat_can_batch_fn)(void *context, int worker, const leat_can_batch *batch,
                                       leat_error *err);

typedef struct leat_can_scan_options {
    leat_can_format format; /* of all files; LEAT_CAN_AUTO: told for each by its content */
    leat_can_line_options lines;
    int threads;              /* workers 0..threads-1 */
    leat_reject_log *rejects; /* of leat_can_rejects; may be NULL */
    leat_can_batch_fn batch;
    void *batch_context;
    leat_report_fn progress; /* bytes of the files and lines so far; may be NULL */
    void *progress_context;
} leat_can_scan_options;

/* What a scan found in a file. */
typedef struct leat_can_file {
    leat_can_format format; /* LEAT_CAN_AUTO: it has no lines */
    leat_can_format looks;
    bool labelled;
    int64_t lines, frames; /* lines = frames + rejected; neither header nor blank lines count */
    int64_t rejected[LEAT_CAN_REJECT_COUNT];
    int64_t first_malformed; /* number of that line, 0: none is */
} leat_can_file;

/*
 * Reads all inputs once, each with its format, and fills files[inputs->count]. Where blocks end,
 * and so every batch, depends on the files alone; which worker gives it does not.
 * LEAT_ERR_INPUT: a file is of no known format, or of another than is wanted; or more than 1 % of
 * its lines, and at least 100, are malformed: the message names the format it looks like.
 */
LEAT_MUST_CHECK leat_code leat_can_scan(const leat_input_list *inputs,
                                        const leat_can_scan_options *options, leat_can_file *files,
                                        leat_error *err);
/* What a scan with so many threads takes at most, reject log and batch function apart. */
int64_t leat_can_scan_memory(int threads);

#endif
