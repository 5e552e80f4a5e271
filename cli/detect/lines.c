/* Lines of leat detect. Each is a document of its own, written at once: whoever reads them acts on
 * them. */
#include "detect/detect.h"

#include "leat/graph.h"

/* One object: what `members` writes of `of`, after its event. */
static void put_line(leat_cli *cli, const char *event, leat_out_members_fn *members,
                     const void *of) {
    leat_json *json = NULL;
    leat_error err = {0};
    if (leat_json_create(&json, true, &err) != LEAT_OK) {
        (void)leat_cli_fail(cli, &err);
        return;
    }
    leat_json_begin_object(json);
    leat_json_member_string(json, "event", event);
    members(json, of);
    leat_json_end_object(json);
    leat_cli_progress_end(cli);
    (void)leat_out_json(cli, json);
    leat_json_destroy(json);
    leat_out_flush(cli);
}

/* ---- the beginning --------------------------------------------------------------------------- */

typedef struct start {
    const leat_watch_facts *facts;
    const char *log;
} start;

static void put_bus(leat_json *json, const char *key, int64_t bus) {
    if (bus == LEAT_BUS_SEPARATE) leat_json_member_string(json, key, "separate");
    else if (bus == LEAT_BUS_MERGE) leat_json_member_string(json, key, "merge");
    else leat_json_member_int(json, key, bus);
}

static void put_start(leat_json *json, const void *of) {
    const leat_watch_facts *facts = ((const start *)of)->facts;
    leat_json_member_string(json, "log", ((const start *)of)->log);
    leat_json_member_string(json, "path", facts->path);
    leat_json_member_string(json, "run", facts->run);
    leat_json_member_string(json, "model", facts->model);
    leat_json_member_int(json, "step", facts->step);
    leat_json_member_string(json, "state", facts->state);
    leat_json_member_string(json, "score", facts->score);
    leat_threshold_json(json, &facts->threshold);
    leat_json_member_int(json, "window", facts->window);
    leat_json_member_int(json, "stride", facts->stride);
    put_bus(json, "bus", facts->bus);
    leat_json_member_int(json, "identifiers", facts->identifiers);
    leat_json_member_int(json, "identifiers_timed", facts->timed);
    leat_json_member_int(json, "memory_bytes", facts->memory_bytes);
}

void leat_detect_start_line(leat_cli *cli, const leat_watch_facts *facts, const char *log) {
    const start of = {facts, log};
    put_line(cli, "start", put_start, &of);
}

/* ---- the bus --------------------------------------------------------------------------------- */

typedef struct recording {
    const leat_live_step *step;
    int64_t number, line;
} recording;

static void put_recording(leat_json *json, const void *of) {
    const recording *self = of;
    const bool back = self->step->restart == LEAT_LIVE_STEP_BACK;
    leat_json_member_int(json, "recording", self->number);
    leat_json_member_string(json, "reason", back ? "step_back" : "pause");
    leat_json_member_double(json, "seconds", self->step->restart_s);
    leat_json_member_int(json, "line", self->line);
}

void leat_detect_recording_line(leat_cli *cli, const leat_live_step *step, int64_t number,
                                int64_t line) {
    const recording of = {step, number, line};
    put_line(cli, "recording", put_recording, &of);
}

typedef struct absence_line {
    const leat_live_absence *absence;
    const char *identifier;
} absence_line;

static void put_absence(leat_json *json, const void *of) {
    const absence_line *self = of;
    leat_json_member_string(json, "identifier", self->identifier);
    leat_json_member_double(json, "last_s", self->absence->last_s);
    leat_json_member_double(json, "silent_s", self->absence->silent_s);
    leat_json_member_double(json, "interval_s", self->absence->interval_s);
}

void leat_detect_absence_line(leat_cli *cli, const leat_watch *watch,
                              const leat_live_absence *absence) {
    const absence_line of = {absence, leat_watch_identifier(watch, absence->identifier)};
    put_line(cli, absence->returned ? "returned" : "missing", put_absence, &of);
}

/* ---- windows and alarms ---------------------------------------------------------------------- */

static void put_cause(leat_json *json, const leat_alarm_cause *cause) {
    if (cause->identifier[0] != 0) leat_json_member_string(json, "identifier", cause->identifier);
    if (cause->unknown) leat_json_member_bool(json, "identifier_unknown", true);
    if (cause->feature >= 0)
        leat_json_member_string(json, "feature", leat_node_feature_name(cause->feature));
    if (cause->byte >= 0) leat_json_member_int(json, "byte", cause->byte);
}

/* -1: buses are mixed. */
static void put_place(leat_json *json, int64_t recording_number, int32_t bus, int64_t start_frame) {
    leat_json_member_int(json, "recording", recording_number);
    if (bus >= 0) leat_json_member_int(json, "bus", bus);
    leat_json_member_int(json, "window_start", start_frame);
}

static void put_alarm(leat_json *json, const void *of) {
    const leat_alarm_line *self = of;
    const leat_alarm *alarm = &self->alarm;
    leat_json_member_int(json, "number", alarm->number);
    put_place(json, alarm->recording, alarm->bus, alarm->start);
    leat_json_member_double(json, "begin_s", alarm->begin_s);
    leat_json_member_double(json, "end_s", alarm->end_s);
    leat_json_member_double(json, "duration_s", alarm->duration_s);
    leat_json_member_int(json, "windows", alarm->windows);
    leat_json_member_double(json, "score", alarm->peak);
    leat_json_member_int(json, "score_window_start", alarm->peak_start);
    put_cause(json, &alarm->cause);
    leat_json_member_int(json, "held_back", self->held_back);
}

void leat_detect_alarm_line(leat_cli *cli, const leat_alarm_line *line) {
    put_line(cli, line->ended ? "alarm_end" : "alarm", put_alarm, line);
}

static void put_window(leat_json *json, const void *of) {
    const leat_watched *self = of;
    const leat_live_window *window = self->live.window;
    put_place(json, window->recording, window->bus, window->start);
    leat_json_member_int(json, "first_line", window->first_line);
    leat_json_member_int(json, "last_line", window->last_line);
    leat_json_member_double(json, "begin_s", window->begin_s);
    leat_json_member_double(json, "end_s", window->end_s);
    leat_json_member_int(json, "nodes", window->graph.node_count);
    leat_json_member_int(json, "unknown", window->unknown);
    if (window->steps_back > 0) leat_json_member_int(json, "steps_back", window->steps_back);
    if (window->y >= 0) leat_json_member_int(json, "label", window->y);
    leat_json_member_double(json, "score", self->window.score);
    if (!self->scored) leat_json_member_string(json, "why", self->why);
    leat_json_member_bool(json, "alarms", self->window.alarms);
    put_cause(json, &self->window.cause);
}

void leat_detect_window_line(leat_cli *cli, const leat_watched *step) {
    put_line(cli, "window", put_window, step);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void put_end(leat_json *json, const void *of) {
    const leat_detect_end *end = of;
    leat_json_member_string(json, "reason", end->reason);
    leat_json_member_string(json, "format", leat_can_format_name(end->read.format));
    leat_json_member_int(json, "lines", end->read.lines);
    leat_json_member_int(json, "frames", end->read.frames);
    leat_json_member_int(json, "rejected", end->read.rejected);
    leat_json_key(json, "rejected_reasons");
    leat_json_begin_object(json);
    for (int i = 0; i < end->read.reject_reasons; i++)
        leat_json_member_int(json, end->read.reject_reason[i], end->read.reject_count[i]);
    leat_json_end_object(json);
    leat_json_member_int(json, "frames_left_out", end->live.frames_left_out + end->unfollowed);
    leat_json_member_int(json, "frames_unknown", end->live.frames_unknown);
    leat_json_member_int(json, "steps_back", end->live.steps_back);
    leat_json_member_int(json, "recordings", 1 + end->live.falls + end->live.pauses);
    leat_json_member_double(json, "bus_seconds", end->live.elapsed_s);
    leat_json_member_int(json, "windows", end->live.windows);
    leat_json_member_int(json, "windows_unscored", end->unscored);
    leat_json_member_int(json, "windows_alarming", end->alarms.windows);
    leat_json_member_int(json, "alarms", end->alarms.alarms);
    leat_json_member_int(json, "alarms_held_back", end->alarms.held_back);
    leat_json_member_int(json, "missing", end->live.missing);
}

void leat_detect_end_line(leat_cli *cli, const leat_detect_end *end) {
    put_line(cli, "end", put_end, end);
}
