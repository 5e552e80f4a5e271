/* Which captures form a stream, whose windows are cut without a break: a capture, the buses of a
 * recording, or all captures of a split. */
#include <math.h>

#include "base/error.h"
#include "ingest/can/job.h"

/* Whether a capture belongs to the stream of the previous one. */
static bool goes_on(const leat_can_job *job, const leat_can_capture *before,
                    const leat_can_capture *capture) {
    const leat_can_settings *settings = &job->options->settings;
    const leat_can_source *files = job->splits.files;
    if (settings->captures == LEAT_CAPTURES_MERGED)
        return files[capture->file_index].split == files[before->file_index].split;
    return settings->bus == LEAT_BUS_MERGE && capture->recording == before->recording;
}

/* A fall of the clock, or a pause, that begins a recording. */
static void note_recording(leat_can_job *job, const leat_can_recording *recording) {
    leat_can_ingest_result *result = job->result;
    bool pause = recording->fall_s < 0;
    int64_t *count = pause ? &result->pauses : &result->clock_steps;
    if ((*count)++ >= LEAT_CAN_CLOCK_STEPS_NAMED) return;
    leat_can_clock_step *step = pause ? &result->pause[result->pause_count++]
                                      : &result->clock_step[result->clock_step_count++];
    leat_inputs_name(job->splits.inputs.items[recording->file_index].path, step->file,
                     sizeof step->file);
    step->frame = recording->first_frame + 1;
    step->seconds = fabs(recording->fall_s);
}

/* Steps back in the order of the frames that are merged: of each bus, or of the log. */
static void count_steps(leat_can_job *job) {
    const leat_can_settings *settings = &job->options->settings;
    const leat_can_recording *recordings = NULL;
    const leat_can_capture *captures = NULL;
    leat_can_ingest_result *result = job->result;
    bool merged = settings->bus == LEAT_BUS_MERGE ||
                  (settings->bus < 0 && settings->captures == LEAT_CAPTURES_MERGED);
    int64_t count = leat_can_store_captures(job->store, &captures);
    for (int64_t i = 0; i < count && !merged; i++) {
        bool used = settings->bus < 0 || captures[i].bus == settings->bus;
        result->frames_stepped_back += used ? captures[i].steps_back : 0;
    }
    count = leat_can_store_recordings(job->store, &recordings);
    for (int64_t i = 0; i < count; i++) {
        const leat_can_recording *recording = &recordings[i];
        result->frames_stepped_back += merged ? recording->steps_back : 0;
        if (recording->number > 0) note_recording(job, recording);
    }
}

/* Captures are in the order of files, so those of one stream are neighbours. */
leat_code leat_can_streams_make(leat_can_job *job, leat_can_streams *streams, leat_error *err) {
    const leat_can_capture *captures = NULL, *before = NULL;
    const leat_can_recording *recordings = NULL;
    int64_t count = leat_can_store_captures(job->store, &captures);
    int64_t bus = job->options->settings.bus;
    leat_can_store_recordings(job->store, &recordings);
    count_steps(job);
    bool merged = job->options->settings.captures == LEAT_CAPTURES_MERGED;
    LEAT_TRY(LEAT_NEW(&streams->of, count, err));
    LEAT_TRY(LEAT_NEW(&streams->items, count, err));
    for (int64_t i = 0; i < count; i++) {
        const leat_can_capture *capture = &captures[i];
        streams->of[i] = -1;
        if (bus >= 0 && capture->bus != bus) {
            job->result->frames_left_out += capture->frames;
            continue;
        }
        if (before == NULL || !goes_on(job, before, capture)) {
            streams->items[streams->count++] = (leat_can_stream){
                .split = job->splits.files[capture->file_index].split,
                .file = merged ? -1 : capture->file_index,
                .recording = recordings[capture->recording].number,
                .bus = merged || bus == LEAT_BUS_MERGE ? -1 : capture->bus,
                .first_s = capture->first_s,
                .last_s = capture->last_s,
            };
        }
        leat_can_stream *stream = &streams->items[streams->count - 1];
        stream->frames += capture->frames;
        if (capture->first_s < stream->first_s) stream->first_s = capture->first_s;
        if (capture->last_s > stream->last_s) stream->last_s = capture->last_s;
        streams->of[i] = streams->count - 1;
        before = capture;
    }
    if (streams->count > 0 && streams->items[0].split == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT, "the training logs contain no frames%s",
                     bus >= 0 ? " of the bus selected with --bus" : "");
}
