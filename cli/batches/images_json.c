/* leat batches of an image data set: the result as one JSON document. */
#include "batches/images.h"

static void put_counters(leat_json *json, const images_job *job) {
    leat_image_loader_counters counters;
    leat_image_loader_get_counters(job->loader, &counters);
    leat_json_key(json, "counters");
    leat_json_begin_object(json);
    leat_json_member_int(json, "batches", counters.batches);
    leat_json_member_int(json, "images", counters.images);
    leat_json_member_int(json, "payload_bytes", counters.payload_bytes);
    leat_json_member_int(json, "memory_bytes", counters.memory_bytes);
    leat_json_member_int(json, "prefetch", counters.prefetch);
    leat_json_end_object(json);
    const batches_made made = {"images", counters.images, counters.work_ns, counters.read_wait_ns,
                               counters.stall_ns};
    batches_json_time(json, &job->run, &made);
}

typedef struct summary_source {
    const images_job *job;
    const char *text; /* of the batches; NULL: not requested */
    int64_t text_bytes;
} summary_source;

static void put_summary(leat_json *json, const void *of) {
    const summary_source *source = of;
    const images_job *job = source->job;
    char state[LEAT_LOADER_STATE_BYTES];
    leat_image_loader_state(job->loader, state);
    leat_json_member_string(json, "path", job->facts.path);
    leat_json_key(json, "options");
    leat_json_begin_object(json);
    leat_cli_json_settings(json, leat_image_loader_options_table(), &job->options);
    leat_json_end_object(json);
    batches_json_steps(json, &job->run);
    leat_json_member_int(json, "epoch_images", job->facts.count);
    leat_json_member_int(json, "step_count", leat_image_loader_step_count(job->loader));
    leat_json_member_string(json, "state", state);
    batches_json_result(json, &job->run, source->text, source->text_bytes);
    put_counters(json, job);
}

int images_json_summary(images_job *job) {
    summary_source source = {.job = job};
    leat_error err = {0};
    if (job->run.lines &&
        leat_textbuf_finish(job->run.kept, &source.text, &source.text_bytes, &err) != LEAT_OK)
        return leat_cli_fail(job->run.cli, &err);
    return leat_out_object(job->run.cli, put_summary, &source);
}

/* ---- --explain ---------------------------------------------------------------------------- */

static void put_explanation(leat_json *json, const void *of) {
    const images_explained *explained = of;
    const images_job *job = explained->job;
    leat_json_member_int(json, "step", explained->step);
    leat_json_key(json, "rows");
    leat_json_begin_array(json);
    for (int64_t row = explained->first_row; row < explained->end_row; row++) {
        int64_t position = explained->step * job->options.batch + row;
        int64_t index = images_at(job, position);
        leat_image_facts image;
        leat_error err = {0};
        if (leat_images_get_entry(job->images, index, &image, &err) != LEAT_OK) continue;
        leat_json_begin_object(json);
        leat_json_member_int(json, "row", row);
        leat_json_member_int(json, "epoch", position / job->facts.count);
        leat_json_member_int(json, "position", position % job->facts.count);
        leat_json_member_int(json, "image", index);
        leat_json_member_string(json, "name", image.name);
        leat_json_member_int(json, "width", image.width);
        leat_json_member_int(json, "height", image.height);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

int images_json_explanation(const images_explained *explained) {
    return leat_out_object(explained->job->run.cli, put_explanation, explained);
}
