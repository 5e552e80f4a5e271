/* Pauses that move the scaler or mean intervals: see pauses.h. */
#include "ingest/can/cache/pauses.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* An ordinary pause is up to 69 times the median time between two frames (V40). */
enum { ORDINARY = 100 };
#define MOVED 1.1

bool leat_can_is_long_pause(const leat_can_stream *stream) {
    double rest = stream->last_s - stream->first_s - stream->pause_s;
    if (stream->frames < 3) return false;
    return stream->pause_s > ORDINARY * rest / (double)(stream->frames - 2) && stream->pause_s > 0;
}

/* Which training stream has the longest of such pauses; NULL: none has one. */
static const leat_can_stream *longest(const leat_can_plan *plan) {
    const leat_can_stream *found = NULL;
    for (int32_t i = 0; i < plan->stream_count; i++) {
        const leat_can_stream *stream = &plan->streams[i];
        if (stream->split != 0 || !leat_can_is_long_pause(stream)) continue;
        if (found == NULL || stream->pause_s > found->pause_s) found = stream;
    }
    return found;
}

/* Pauses of much less than a second are many: only the longest itself counts. */
static double bound_of(double pause_s) {
    if (pause_s <= 1) return pause_s * (1 - 1e-9);
    return pause_s > 2 ? pause_s / 2 : 1;
}

double leat_can_pause_bound(const leat_can_plan *plan) {
    const leat_can_stream *stream = longest(plan);
    return stream == NULL ? (double)INFINITY : bound_of(stream->pause_s);
}

/* ---- the option ------------------------------------------------------------------------------ */

/* The part of the pause in which no bus of the log has a frame: the clock is that of the log. */
static double silence_of(const leat_can_plan *plan, const leat_can_stream *stream) {
    double low = stream->pause_at_s, high = low + stream->pause_s;
    for (int32_t i = 0; i < plan->stream_count && high > low; i++) {
        const leat_can_stream *other = &plan->streams[i];
        if (other == stream || other->file != stream->file || stream->file < 0 ||
            other->recording != stream->recording || other->first_s >= high || other->last_s <= low)
            continue;
        if (other->first_s > low) {
            high = other->first_s;
        } else if (other->last_s < high) {
            low = other->last_s;
        } else {
            low = fmax(low, other->pause_at_s);
            high = fmin(high, other->pause_at_s + other->pause_s);
        }
    }
    return high - low;
}

/* Two digits, and no more than the value. */
static double rounded_down(double value) {
    double step = pow(10, floor(log10(value)) - 1);
    double digits = floor(value / step + 1e-9);
    return step >= 1 ? digits * step : digits / round(1 / step);
}

void leat_can_pause_option(const leat_can_plan *plan, const leat_can_stream *stream,
                           char option[LEAT_CAN_PAUSE_OPTION_BYTES]) {
    double silence_s = silence_of(plan, stream), bound_s = bound_of(stream->pause_s);
    bool merged = plan->settings->captures == LEAT_CAPTURES_MERGED;
    option[0] = 0;
    if (silence_s < 0.9 * stream->pause_s) return;
    double seconds = rounded_down(fmin(bound_s, 0.9 * silence_s));
    snprintf(option, LEAT_CAN_PAUSE_OPTION_BYTES, "%s--clock-steps split:%.*f",
             merged ? "--captures separate " : "",
             seconds >= 10 ? 0 : (int)ceil(1 - log10(seconds)), seconds);
}

/* ---- the figures ----------------------------------------------------------------------------- */

/* The column of time that is moved: that of edges, which has a row for every frame, or else the one
 * that is moved most. */
typedef struct moved {
    const char *name;
    double with, without;
} moved;

static double deviation(const leat_can_moments *moments, int column) {
    int64_t rows = moments->count[column >= LEAT_NODE_FEATURES];
    return rows > 0 ? sqrt(moments->squares[column] / (double)rows) : 0;
}

static void find_moved(const leat_can_moments *all, const leat_can_moments *quiet, moved *most) {
    for (int i = LEAT_CAN_COLUMNS; i-- > 0;) {
        const char *name = i < LEAT_NODE_FEATURES ? leat_node_feature_name(i)
                                                  : leat_edge_feature_name(i - LEAT_NODE_FEATURES);
        double with = deviation(all, i), without = deviation(quiet, i);
        if (strstr(name, "iat") == NULL || !(with > MOVED * without)) continue;
        if (most->name == NULL || with * most->without > most->with * without)
            *most = (moved){name, with, without};
        if (i >= LEAT_NODE_FEATURES) return;
    }
}

/* The stream whose identifier is moved most; NULL: none is moved so far. */
static const leat_can_stream *find_interval(const leat_can_plan *plan) {
    const leat_can_stream *most = NULL;
    for (int32_t i = 0; i < plan->stream_count; i++) {
        const leat_can_stream *stream = &plan->streams[i];
        if (!leat_can_is_long_pause(stream)) continue;
        if (!(stream->paused_mean_s > MOVED * stream->unpaused_mean_s)) continue;
        if (most == NULL || stream->paused_mean_s * most->unpaused_mean_s >
                                most->paused_mean_s * stream->unpaused_mean_s)
            most = stream;
    }
    return most;
}

/* ---- the warning ----------------------------------------------------------------------------- */

static void put_place(const leat_can_splits *splits, const leat_can_stream *stream, char *text,
                      size_t text_bytes) {
    char folder[100], name[100];
    if (stream->file < 0) {
        snprintf(text, text_bytes, "all logs of %.80s", splits->name[stream->split]);
        return;
    }
    const leat_can_source *file = &splits->files[stream->file];
    leat_text_show(folder, sizeof folder, file->folder, (int64_t)strlen(file->folder));
    leat_text_show(name, sizeof name, file->name, (int64_t)strlen(file->name));
    snprintf(text, text_bytes, "\"%s%s%s\"", folder, folder[0] != 0 ? "/" : "", name);
}

void leat_can_pauses_warn(const leat_can_plan *plan, const leat_can_splits *splits,
                          const leat_can_time_figures *figures, char *warning,
                          size_t warning_bytes) {
    const int64_t *count = figures->count;
    const leat_can_stream *stream = longest(plan), *interval = find_interval(plan);
    char place[240], scaler[128] = "", mean[160] = "", option[LEAT_CAN_PAUSE_OPTION_BYTES];
    moved most = {0};
    /* where most windows have such pauses, they are what the recording is like */
    if (stream != NULL && count[0] > count[1] && 2 * count[1] > count[0])
        find_moved(figures->all, figures->quiet, &most);
    if (most.name == NULL) stream = interval;
    if (stream == NULL) return;
    if (interval != NULL && interval != stream && most.name != NULL) interval = NULL;
    if (most.name != NULL)
        snprintf(scaler, sizeof scaler, "the scaler's deviation of %s %.3g instead of %.3g",
                 most.name, most.with, most.without);
    if (interval != NULL)
        snprintf(mean, sizeof mean, "%sthe mean interval of %s %.3g s instead of %.3g s",
                 scaler[0] != 0 ? ", and " : "",
                 figures->id_name(figures->ids, interval->paused_id), interval->paused_mean_s,
                 interval->unpaused_mean_s);
    put_place(splits, stream, place, sizeof place);
    leat_can_pause_option(plan, stream, option);
    size_t used = strlen(warning);
    snprintf(warning + used, warning_bytes - used,
             "%s%s: a pause of %.3f s after %.3f s makes %s%s; %s%s%s", used > 0 ? "; " : "", place,
             stream->pause_s, stream->pause_at_s, scaler, mean, option[0] != 0 ? "use " : "",
             option[0] != 0 ? option : "put what this bus has before and after it",
             option[0] != 0 ? " to begin a new capture after it" : " into logs of their own");
}
