/* The lines of leat detect: one JSON object each, on stdout at once (docs/schema/detect.json). */
#ifndef LEAT_CLI_DETECT_DETECT_H
#define LEAT_CLI_DETECT_DETECT_H

#include "command/cli.h"
#include "leat/detect_run.h"
#include "leat/ingest.h"

/* What is followed, before the first frame. */
void leat_detect_start_line(leat_cli *cli, const leat_watch_facts *facts, const char *log);
/* A frame that begins a new recording. */
void leat_detect_recording_line(leat_cli *cli, const leat_live_step *step, int64_t recording,
                                int64_t line);
/* An identifier that is missing, or has returned. */
void leat_detect_absence_line(leat_cli *cli, const leat_watch *watch,
                              const leat_live_absence *absence);
/* The begin or the end of an alarm. */
void leat_detect_alarm_line(leat_cli *cli, const leat_alarm_line *line);
/* A window, with its score or why it has none. */
void leat_detect_window_line(leat_cli *cli, const leat_watched *step);

/* The buses of the first frames, until one comes of the bus that is followed; begins with zeros. */
enum { LEAT_DETECT_BUSES = 8 };
typedef struct leat_detect_buses {
    bool followed; /* a frame of it has come */
    bool told, more;
    int count;
    int32_t bus[LEAT_DETECT_BUSES]; /* the first ones, in the order in which they came */
    int64_t frames;
} leat_detect_buses;
/* A frame of `bus`; `wanted` is the one to follow, below 0 for all. */
void leat_detect_bus_see(leat_detect_buses *buses, int64_t wanted, int32_t bus);
/* Says on stderr that none has come of the wanted bus: once after enough frames, and at the end. */
void leat_detect_bus_note(leat_cli *cli, leat_detect_buses *buses, int64_t wanted, bool ended);

/* What was followed, after the last frame. */
typedef struct leat_detect_end {
    const char *reason; /* "end", "stopped", "failed" */
    leat_can_frames_counts read;
    leat_live_counts live;
    leat_alarm_counts alarms;
    int64_t unscored;   /* windows */
    int64_t unfollowed; /* frames of too many buses */
} leat_detect_end;
void leat_detect_end_line(leat_cli *cli, const leat_detect_end *end);

#endif
