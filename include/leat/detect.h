/*
 * leat/detect.h: a running bus, frame by frame: its windows as graphs as soon as they end, equal to
 * those of a cache of the same log; identifiers that are missing from it; and alarms. Plain frames
 * in (leat_can_frames_next), plain values out: no files, no threads, and no clock but that of the
 * bus. (docs/TOUR.md, "A live bus")
 */
#ifndef LEAT_DETECT_H
#define LEAT_DETECT_H

#include "leat/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a detector knows of its bus ------------------------------------------------------- */

/* How windows become the graphs of its training. The arrays are the caller's. */
typedef struct leat_detect_context {
    const char *const *identifiers; /* [identifier_count] by their number - 1; none twice */
    const double *interval_s;       /* [identifier_count] the mean time from one frame of each to
                                       the next; NaN or 0: unknown. NULL: none is known */
    int64_t identifier_count;
    int64_t window, stride; /* frames */
    leat_graph_options graph;
    int64_t bus;    /* LEAT_BUS_SEPARATE, LEAT_BUS_MERGE, or the only bus to look at */
    bool has_bus;   /* LEAT_BUS_SEPARATE: identifiers begin with their bus, "1:0F5" */
    bool split;     /* a step back of more than 1 s begins a new recording */
    double pause_s; /* with `split`, a longer time without a frame does as well; 0: none does */
} leat_detect_context;

/* ---- windows as they end ------------------------------------------------------------------- */

typedef struct leat_live_options {
    int64_t stride; /* frames from the begin of a window to that of the next; 0: the context's */
    int64_t from;   /* frame of each capture of the first recording with which windows begin */
    /* An identifier is missing when it has not come for so many of its mean intervals, and for at
     * least that long. */
    double overdue_intervals, overdue_floor_s;
} leat_live_options;

/* The context's stride, from frame 0; 10 intervals, 1 s. */
LEAT_API leat_live_options leat_live_options_default(void);

/* A window that has ended. Nodes are in the order of a cache: identifiers of the vocabulary, then
 * unknown ones by their text. */
typedef struct leat_live_window {
    int64_t recording;             /* number in the input, from 0 */
    int32_t bus;                   /* -1: buses are mixed */
    int64_t start;                 /* its first frame's number in its capture: one bus, unless they
                                      are mixed, of one recording */
    int64_t first_line, last_line; /* of the log */
    double begin_s, end_s;         /* times of its first and last frame */
    double elapsed_s;              /* of bus time since the input began, without steps back and new
                                      recordings; it never decreases, and goes on after a step
                                      back of more than 1 s also where none begins */
    int32_t y;                    /* as in a cache: 1: some frame is labelled as an attack; else -1:
                                     some frame is not labelled; else 0 */
    int32_t steps_back;           /* frames earlier than the one before, which a cache would sort */
    int32_t unknown;              /* nodes that are not in the vocabulary */
    leat_graph graph;             /* not scaled; graph.node is not an index into anything */
    const int32_t *node_id;       /* [N] number of the identifier; 0: unknown */
    const char *const *node_name; /* [N] its text, without a bus for unknown ones */
} leat_live_window;

/* An identifier that is missing, or has returned. */
typedef struct leat_live_absence {
    int64_t identifier; /* index into those of the context */
    bool returned;
    double last_s;     /* time of its last frame before */
    double silent_s;   /* since then, in which other frames came */
    double interval_s; /* as in the context */
} leat_live_absence;

typedef enum leat_live_restart {
    LEAT_LIVE_GOES_ON,
    LEAT_LIVE_STEP_BACK, /* a new recording: the clock has gone back by restart_s */
    LEAT_LIVE_PAUSE      /* the same: there was no frame for restart_s */
} leat_live_restart;

/* What a frame has brought. Everything belongs to the handle, until the next frame. */
typedef struct leat_live_step {
    leat_live_restart restart; /* before the frame */
    double restart_s;
    const leat_live_window *window;    /* ends with this frame; NULL: none does */
    const leat_live_absence *absences; /* returned ones first, then missing ones by identifier */
    int64_t absence_count;
} leat_live_step;

typedef struct leat_live_counts {
    int64_t frames;          /* frames_left_out among them */
    int64_t frames_left_out; /* of other buses than the context's */
    int64_t frames_unknown;  /* of identifiers that are not in the context */
    int64_t windows;
    int64_t steps_back;    /* frames earlier than the one before in their capture */
    int64_t falls, pauses; /* that began new recordings */
    int64_t buses;         /* with windows */
    int64_t missing;       /* identifiers, now */
    double elapsed_s;
} leat_live_counts;

/* Buses that are followed at the same time, where they are not mixed. */
#define LEAT_LIVE_BUSES_MAX 64

typedef struct leat_live leat_live;

/* LEAT_ERR_OPTION: window, stride, or an option out of its range; LEAT_ERR_INPUT: an identifier of
 * the context is there twice, longer than any can be, or not written as a cache does. Texts and
 * intervals are copied. */
LEAT_API LEAT_MUST_CHECK leat_code leat_live_create(leat_live **out,
                                                    const leat_detect_context *context,
                                                    const leat_live_options *options,
                                                    leat_error *err);
LEAT_API void leat_live_destroy(leat_live *live);
/* Memory at most: with so many buses, each of which takes its part with its first frame. Otherwise
 * no frame allocates. */
LEAT_API int64_t leat_live_bytes(const leat_detect_context *context, int64_t buses);

/*
 * The next frame of the bus. Frames are taken as they come: nothing is sorted or held back. In all
 * else recordings, captures and windows are those of an ingest of the same frames: a step back of
 * more than 1 s or a pause begins a new recording; windows are of `window` frames of one capture,
 * and begin every `stride` frames. LEAT_ERR_INPUT: the frame is of a second bus, but identifiers of
 * the context do not name theirs; LEAT_ERR_LIMIT: of more buses than LEAT_LIVE_BUSES_MAX. After a
 * failure the frame is not counted, and the next one may be tried.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_live_add(leat_live *live, const leat_can_frame *frame,
                                                 leat_live_step *step, leat_error *err);
LEAT_API void leat_live_count(const leat_live *live, leat_live_counts *counts);

/* ---- alarms -----------------------------------------------------------------------------------
 */

/* What is suspected: a node of a window, or one of its bytes. */
#define LEAT_ALARM_IDENTIFIER_BYTES 24
typedef struct leat_alarm_cause {
    char identifier[LEAT_ALARM_IDENTIFIER_BYTES]; /* "": the window as such */
    bool unknown;    /* the detector does not know it; all such are one cause */
    int32_t feature; /* column of x that speaks for it most; -1: none */
    int32_t byte;    /* of the payload that this column is about; -1: none */
} leat_alarm_cause;
/* That byte: of byte_0_mean it is 0; -1 for columns that are about no byte, and for -1. */
LEAT_API int32_t leat_feature_byte(int32_t feature);

/* A window that was scored, in the order in which they end. */
typedef struct leat_alarm_window {
    int64_t recording, start;
    int32_t bus;
    double begin_s, end_s, elapsed_s; /* as in leat_live_window */
    double score;
    bool alarms; /* the score is above the threshold */
    leat_alarm_cause cause;
} leat_alarm_window;

/* Windows of one capture that alarm for the same identifier, or for unknown ones, whichever they
 * are. An alarm ends with the first window of its capture that is not one of them, and that begins
 * more than LEAT_ALARM_GAP_S after the last one of them; so others between do not make two of it.
 * Alarms for other identifiers go on beside it: one that does not end hides none. */
#define LEAT_ALARM_GAP_S 1.0
typedef struct leat_alarm {
    int64_t number; /* of all alarms, held back or not, from 1 */
    int64_t recording;
    int32_t bus;
    int64_t start;          /* of its first window */
    int64_t windows;        /* so far */
    double begin_s, end_s;  /* of its first and last frame so far */
    double duration_s;      /* of bus time (elapsed_s) between these */
    double peak;            /* its highest score so far */
    int64_t peak_start;     /* of the window that has it */
    leat_alarm_cause cause; /* of that window */
} leat_alarm;

typedef struct leat_alarm_line {
    bool ended; /* else it begins, or has begun and could not be told before */
    leat_alarm alarm;
    int64_t held_back; /* alarms that began and ended untold since the line before */
} leat_alarm_line;

typedef struct leat_alarm_counts {
    int64_t windows;           /* that alarmed */
    int64_t alarms, held_back; /* of all alarms, those that were never told */
    int64_t untold;            /* of those, since the last line */
} leat_alarm_counts;

/* At most this much can be asked for. */
#define LEAT_ALARMS_PER_MINUTE_MAX 10000
/* Alarms that go on at once: one more ends the one that has waited longest for a window. */
#define LEAT_ALARMS_OPEN_MAX 64
/* Lines of a window: all of them end, and one begins. */
#define LEAT_ALARM_LINES_MAX (LEAT_ALARMS_OPEN_MAX + 1)

typedef struct leat_alarms leat_alarms;

/* per_minute: at most so many alarms are told in any minute of bus time (elapsed_s); others are
 * told as soon as that allows it, if they last so long, and counted otherwise. 0: all are told. */
LEAT_API LEAT_MUST_CHECK leat_code leat_alarms_create(leat_alarms **out, int64_t per_minute,
                                                      leat_error *err);
LEAT_API void leat_alarms_destroy(leat_alarms *alarms);
/* Returns how many lines there are to tell, of lines[]: ends of alarms, then the begin of one. */
LEAT_API int leat_alarms_add(leat_alarms *alarms, const leat_alarm_window *window,
                             leat_alarm_line lines[LEAT_ALARM_LINES_MAX]);
/* Ends the first alarm that goes on, at the end of the input: until it returns false. */
LEAT_API bool leat_alarms_end(leat_alarms *alarms, leat_alarm_line *line);
LEAT_API void leat_alarms_count(const leat_alarms *alarms, leat_alarm_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
