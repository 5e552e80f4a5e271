/* leat detect: a running bus, watched by the detector of a run. */
#include "detect/detect.h"

#include <stddef.h>

#include "threshold.h"

/* ---- a bus that is followed ------------------------------------------------------------------ */

typedef struct following {
    leat_cli *cli;
    leat_watch *watch;
    leat_alarms *alarms;
    leat_can_frame_reader *reader;
    const char *log;
    bool all;       /* a line for each window */
    bool told_back; /* of frames that go back in time, and of the two below */
    bool told_rejected, told_buses, told_unknown;
    int64_t bus; /* to follow; below 0: all */
    leat_detect_buses buses;
    int64_t line; /* of the last frame */
    leat_detect_end end;
} following;

/* What is said once, on stderr, since it makes scores doubtful. Fewer windows may be an attack. */
enum { WINDOWS_ENOUGH = 10 };
static void note_doubts(following *self) {
    leat_can_frames_counts *read = &self->end.read;
    leat_can_frames_count(self->reader, read);
    leat_watch_count(self->watch, &self->end.live);
    if (read->rejected > 0 && !self->told_rejected) {
        self->told_rejected = true;
        leat_cli_note(self->cli,
                      "line %lld is not a frame (%s): %s; such lines are counted, and told at the "
                      "end",
                      (long long)read->first_rejected, read->first_reason, read->first_text);
    }
    const int64_t followed = self->end.live.frames - self->end.live.frames_left_out;
    if (2 * self->end.live.frames_unknown > followed && !self->told_unknown &&
        self->end.live.windows >= WINDOWS_ENOUGH) {
        self->told_unknown = true;
        leat_cli_note(self->cli,
                      "%lld of %lld frames have identifiers that the detector does not know; if "
                      "this is not an attack, it is another bus or vehicle than it was trained on",
                      (long long)self->end.live.frames_unknown, (long long)followed);
    }
    if (self->end.live.steps_back > 0 && !self->told_back) {
        self->told_back = true;
        leat_cli_note(self->cli,
                      "a frame up to line %lld is earlier than the one before it; a cache would "
                      "sort them, so scores of such windows differ from those of leat eval",
                      (long long)self->line);
    }
}

/* Asked at each read, so that doubts are told also while no line is a frame. */
static bool is_stopped(void *user) {
    following *self = user;
    if (self->reader != NULL) note_doubts(self);
    const leat_progress progress = {"watching", "frames", self->end.live.frames, -1};
    return !leat_cli_progress(self->cli, &progress);
}

/* A frame of a bus more than can be followed is left out; what else is wrong ends the command. */
static leat_code pass_over(following *self, leat_code code, const leat_error *err) {
    if (code != LEAT_ERR_LIMIT) return code;
    if (!self->told_buses) leat_cli_note(self->cli, "%s", err->message);
    self->told_buses = true;
    self->end.unfollowed++;
    return LEAT_OK;
}

static void write_window(following *self, const leat_watched *step) {
    leat_alarm_line lines[LEAT_ALARM_LINES_MAX];
    self->end.unscored += !step->scored;
    if (self->all || !step->scored) leat_detect_window_line(self->cli, step);
    const int count = leat_alarms_add(self->alarms, &step->window, lines);
    for (int i = 0; i < count; i++) leat_detect_alarm_line(self->cli, &lines[i]);
    note_doubts(self);
}

static leat_code take_frame(following *self, const leat_can_frame *frame, leat_error *err) {
    leat_watched step;
    leat_detect_bus_see(&self->buses, self->bus, frame->bus);
    leat_detect_bus_note(self->cli, &self->buses, self->bus, false);
    self->line = frame->line;
    leat_code code = leat_watch_add(self->watch, frame, &step, err);
    if (code != LEAT_OK) return pass_over(self, code, err);
    if (step.live.restart != LEAT_LIVE_GOES_ON) {
        note_doubts(self);
        leat_detect_recording_line(self->cli, &step.live,
                                   self->end.live.falls + self->end.live.pauses, frame->line);
    }
    for (int64_t i = 0; i < step.live.absence_count; i++)
        leat_detect_absence_line(self->cli, self->watch, &step.live.absences[i]);
    if (step.live.window != NULL) write_window(self, &step);
    return LEAT_OK;
}

static leat_code follow(following *self, leat_error *err) {
    leat_can_frame frame;
    bool found = true;
    leat_code code = LEAT_OK;
    while (code == LEAT_OK && found && !leat_out_broken(self->cli)) {
        code = leat_can_frames_next(self->reader, &frame, &found, err);
        if (code == LEAT_OK && found) code = take_frame(self, &frame, err);
    }
    return code;
}

/* A bus on which nothing was watched is not one without alarms. */
static void note_nothing(const following *self) {
    const leat_live_counts *live = &self->end.live;
    leat_watch_facts facts;
    if (live->windows > self->end.unscored) return;
    leat_watch_get_facts(self->watch, &facts);
    leat_cli_note(self->cli,
                  "no window of %lld frames was scored: frames %lld, of other buses %lld, "
                  "recordings %lld, rejected lines %lld",
                  (long long)facts.window, (long long)(live->frames + self->end.unfollowed),
                  (long long)(live->frames_left_out + self->end.unfollowed),
                  (long long)(1 + live->falls + live->pauses), (long long)self->end.read.rejected);
}

static void finish(following *self, leat_code code) {
    leat_alarm_line line;
    while (leat_alarms_end(self->alarms, &line)) leat_detect_alarm_line(self->cli, &line);
    note_doubts(self);
    leat_detect_bus_note(self->cli, &self->buses, self->bus, true);
    if (code == LEAT_OK || code == LEAT_ERR_CANCELLED) note_nothing(self);
    leat_alarms_count(self->alarms, &self->end.alarms);
    self->end.reason = code == LEAT_OK ? "end" : code == LEAT_ERR_CANCELLED ? "stopped" : "failed";
    leat_detect_end_line(self->cli, &self->end);
}

/* A threshold of too few windows, which cannot be what was asked for. */
static void note_threshold(leat_cli *cli, const leat_threshold *of) {
    char note[LEAT_THRESHOLD_NOTE_BYTES];
    if (leat_threshold_note(of, note)[0] != 0) leat_cli_note(cli, "%s", note);
}

/* ---- options --------------------------------------------------------------------------------- */

/* How the run's cache read lines, where the log does not say it. */
static leat_code take_settings(const leat_watch *watch, leat_can_settings *settings,
                               leat_error *err) {
    static const char *const names[] = {"payload", "can-fd", "identifiers", "unlabelled",
                                        "attack-codes"};
    leat_code code = LEAT_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names && code == LEAT_OK; i++) {
        const char *value = leat_watch_setting(watch, names[i]);
        if (value == NULL) continue;
        code = leat_settings_set(leat_can_settings_table(), settings, names[i], value, err);
    }
    return code;
}

static leat_code open_log(following *self, const leat_can_frames_options *options,
                          leat_error *err) {
    if (self->log == NULL) {
        self->log = "standard input";
        return leat_can_frames_open_fd(&self->reader, 0, self->log, options, err);
    }
    return leat_can_frames_open(&self->reader, self->log, options, err);
}

static leat_code open_all(following *self, const leat_watch_options *watch,
                          leat_can_frames_options *frames, leat_error *err) {
    leat_code code = leat_watch_open(&self->watch, leat_cli_argument(self->cli, 0), watch, err);
    if (code == LEAT_OK) code = take_settings(self->watch, &frames->settings, err);
    if (code == LEAT_OK)
        code = leat_alarms_create(&self->alarms, leat_cli_int(self->cli, "alarms-per-minute"), err);
    if (code == LEAT_OK) code = open_log(self, frames, err);
    return code;
}

static int run_detect(leat_cli *cli) {
    following self = {.cli = cli, .all = leat_cli_flag(cli, "all")};
    leat_watch_options options = leat_watch_options_default();
    leat_can_frames_options frames = leat_can_frames_options_default();
    leat_error err = {0};
    leat_cli_cancellable(cli);
    if (leat_cli_argument_count(cli) > 1) self.log = leat_cli_argument(cli, 1);
    frames.cancelled = is_stopped;
    frames.cancelled_user = &self;
    int status = leat_cli_set(cli, leat_can_settings_table(), &frames.settings);
    if (status == 0) status = leat_cli_set(cli, leat_evaluation_options_table(), &options.detector);
    if (status == 0) status = leat_threshold_refuse(cli, &options.detector);
    if (status == 0) status = leat_cli_set(cli, leat_watch_options_table(), &options);
    if (status != 0) return status;
    leat_code code = open_all(&self, &options, &frames, &err);
    if (code == LEAT_OK) {
        leat_watch_facts facts;
        leat_watch_get_facts(self.watch, &facts);
        self.bus = facts.bus;
        note_threshold(cli, &facts.threshold);
        leat_detect_start_line(cli, &facts, self.log);
        if (facts.note[0] != 0) leat_cli_note(cli, "%s", facts.note);
        code = follow(&self, &err);
        finish(&self, code);
    }
    leat_can_frames_close(self.reader);
    leat_alarms_destroy(self.alarms);
    leat_watch_close(self.watch);
    return code == LEAT_OK || code == LEAT_ERR_CANCELLED ? 0 : leat_cli_fail(cli, &err);
}

/* ---- the command ----------------------------------------------------------------------------- */

#define READING(word)                                                                              \
    { .own.name = word, .table = leat_can_settings_table }
#define JUDGING(word)                                                                              \
    { .own.name = word, .table = leat_evaluation_options_table }
static const leat_cli_option options[] = {
    READING("format"),
    READING("column"),
    READING("times"),
    READING("no-time"),
    {.table = leat_watch_options_table},
    {.own.name = "alarms-per-minute",
     .own.kind = LEAT_SETTING_INT,
     .own.max = LEAT_ALARMS_PER_MINUTE_MAX,
     .own.help = "alarms to report in a minute of bus time; others are counted (0: report all)",
     .preset = "10"},
    {.own.name = "all", .own.kind = LEAT_SETTING_FLAG, .own.help = "write a line for each window"},
    JUDGING("threshold"),
    JUDGING("target-fpr"),
    JUDGING("score"),
    JUDGING("step"),
    JUDGING("kernels"),
    {0},
};

static const leat_cli_example examples[] = {
    {"candump -L can0 | leat detect run", "watch a bus"},
    {"leat detect run drive.log --alarms-per-minute 0", "all alarms of a recorded log"},
    {"leat detect run drive.log --all --stride 10 | grep '\"window\"'", "a score every ten frames"},
    {.line = NULL},
};

const leat_cli_command leat_cmd_detect = {
    .words = "detect",
    .purpose = "watch a CAN bus with a trained detector",
    .usage = "RUN [LOG] [options]",
    .about =
        "Follows a running bus, or a log, frame by frame, and writes lines of JSON: alarms as they "
        "begin and end, with the identifier and the byte that are suspected most, identifiers that "
        "are missing, and what was read at the end. LOG is a file or a pipe (default: standard "
        "input), in any format of leat ingest can, detected from its first 256 lines.\n\n"
        "A window is scored as soon as its last frame is there. Scores are those of leat eval for "
        "the same windows of a cache of the log, bit for bit. The threshold comes from the "
        "validation windows of the run's cache, by a calibration that the end of the training "
        "leaves in RUN; if it is not there, leat eval RUN CACHE makes it.\n\n"
        "Windows that alarm for the same identifier, with at most 1 s between them, are one alarm; "
        "unknown identifiers are one cause. A step back of more than 1 s in the times of frames "
        "begins a new recording, as in leat ingest can; smaller ones are not sorted. All times are "
        "those of the bus. Ctrl-C ends the command as the end of the log does.",
    .argument = "RUN",
    .min_arguments = 1,
    .max_arguments = 2,
    .options = options,
    .shows_progress = true,
    .examples = examples,
    .run = run_detect,
};
