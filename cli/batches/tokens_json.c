/* leat batches: the result as one JSON document. */
#include "batches/batches.h"

static void put_counters(leat_json *json, const batches_job *job) {
    leat_loader_counters counters;
    leat_loader_get_counters(job->loader, &counters);
    leat_json_key(json, "counters");
    leat_json_begin_object(json);
    leat_json_member_int(json, "batches", counters.batches);
    leat_json_member_int(json, "sequences", counters.sequences);
    leat_json_member_int(json, "masked", counters.masked);
    leat_json_member_int(json, "tokens", counters.tokens);
    leat_json_member_int(json, "padding", counters.padding);
    leat_json_member_int(json, "segments", counters.segments);
    leat_json_member_int(json, "measurements", counters.measurements);
    leat_json_member_int(json, "dropped", counters.dropped);
    leat_json_member_int(json, "payload_bytes", counters.payload_bytes);
    leat_json_member_int(json, "memory_bytes", counters.memory_bytes);
    leat_json_member_int(json, "prefetch", counters.prefetch);
    leat_json_member_int(json, "window_bytes", counters.window_bytes);
    leat_json_end_object(json);
    const batches_made made = {"tokens", counters.tokens + counters.padding, counters.work_ns,
                               counters.read_wait_ns, counters.stall_ns};
    batches_json_time(json, &job->run, &made);
}

static void put_quarantine(leat_json *json, const leat_quarantined *items, int64_t count) {
    leat_json_key(json, "quarantine");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < count; i++) {
        leat_json_begin_object(json);
        leat_json_member_string(json, "shard", items[i].shard);
        leat_json_member_int(json, "record", items[i].record_index);
        leat_json_member_int(json, "row", items[i].row);
        leat_json_member_int(json, "byte", items[i].byte);
        leat_json_member_string(json, "reason", items[i].reason);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

typedef struct summary_source {
    const batches_job *job;
    const char *text; /* of the batches; NULL: not requested */
    int64_t text_bytes;
    leat_quarantined *items;
    int64_t item_count;
} summary_source;

static void put_paths(leat_json *json, const batches_job *job) {
    const char *const *paths = leat_cli_arguments(job->run.cli);
    leat_json_key(json, "paths");
    leat_json_begin_array(json);
    for (int i = 0; i < leat_cli_argument_count(job->run.cli); i++)
        leat_json_string(json, paths[i]);
    leat_json_end_array(json);
}

static void put_summary(leat_json *json, const void *of) {
    const summary_source *source = of;
    const batches_job *job = source->job;
    char state[LEAT_LOADER_STATE_BYTES];
    leat_loader_state(job->loader, state);
    put_paths(json, job);
    leat_json_key(json, "options");
    leat_json_begin_object(json);
    leat_cli_json_settings(json, leat_loader_options_table(), &job->options);
    leat_cli_json_settings(json, leat_sampler_options_table(), &job->options.sample);
    leat_json_end_object(json);
    batches_json_steps(json, &job->run);
    leat_json_member_int(json, "epoch_sequences", leat_loader_epoch_sequences(job->loader));
    leat_json_member_int(json, "step_count", leat_loader_step_count(job->loader));
    leat_json_member_string(json, "state", state);
    batches_json_result(json, &job->run, source->text, source->text_bytes);
    put_counters(json, job);
    put_quarantine(json, source->items, source->item_count);
}

int batches_json_summary(batches_job *job) {
    summary_source source = {.job = job};
    leat_error err = {0};
    leat_code code = LEAT_OK;
    if (job->run.lines || job->run.words)
        code = leat_textbuf_finish(job->run.kept, &source.text, &source.text_bytes, &err);
    if (code == LEAT_OK)
        code = leat_loader_quarantine(job->loader, &source.items, &source.item_count, &err);
    int status = code == LEAT_OK ? leat_out_object(job->run.cli, put_summary, &source)
                                 : leat_cli_fail(job->run.cli, &err);
    leat_quarantine_free(source.items);
    return status;
}

static void put_segment(leat_json *json, const leat_explanation *explanation, int64_t number,
                        const char *shard) {
    const leat_explained_segment *segment = &explanation->segments[number];
    leat_json_begin_object(json);
    leat_json_member_string(json, "shard", shard);
    leat_json_member_int(json, "record", segment->record_index);
    leat_json_member_int(json, "row", segment->row);
    leat_json_member_int(json, "src_id", segment->src_id);
    leat_json_member_int(json, "row_measurements", segment->row_measurements);
    leat_json_member_int(json, "context", segment->context);
    leat_json_member_string(json, "timestamps", segment->time_mode);
    leat_json_member_int(json, "window_first", segment->window_first);
    leat_json_member_int(json, "window_count", segment->window_count);
    leat_json_member_int(json, "window_stride", segment->window_stride);
    leat_json_member_int(json, "token_first", segment->token_first);
    leat_json_member_int(json, "token_count", segment->token_count);
    leat_json_member_int(json, "drawn", segment->drawn);
    leat_json_key(json, "measurements");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < segment->measurement_count; i++) {
        const leat_explained_measurement *it =
            &explanation->measurements[segment->measurement_first + i];
        leat_json_begin_object(json);
        leat_json_member_int(json, "index", it->index);
        leat_json_member_int(json, "time_us", it->time_us);
        leat_json_member_bool(json, "stamped", it->stamped);
        leat_json_member_bool(json, "cut", it->cut);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
    leat_json_end_object(json);
}

static leat_code put_explanation(leat_json *json, const batches_job *job,
                                 const leat_explanation *explanation, leat_error *err) {
    leat_json_begin_object(json);
    leat_json_member_int(json, "step", explanation->step);
    leat_json_member_int(json, "row", explanation->row);
    leat_json_member_int(json, "sequence", explanation->sequence);
    leat_json_member_int(json, "epoch", explanation->epoch);
    leat_json_member_int(json, "position", explanation->position);
    leat_json_member_int(json, "anchor", explanation->anchor);
    leat_json_member_bool(json, "past_end", explanation->past_end);
    leat_json_member_bool(json, "masked", explanation->masked);
    if (explanation->masked) leat_json_member_string(json, "reason", explanation->reason);
    leat_json_key(json, "segments");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < explanation->segment_count; i++) {
        leat_dataset_shard shard;
        leat_code code =
            leat_dataset_get_shard(job->dataset, explanation->segments[i].shard, &shard, err);
        if (code != LEAT_OK) return code;
        put_segment(json, explanation, i, shard.name);
    }
    leat_json_end_array(json);
    leat_json_key(json, "inputs");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < explanation->length; i++) leat_json_int(json, explanation->inputs[i]);
    leat_json_end_array(json);
    leat_json_end_object(json);
    return LEAT_OK;
}

int batches_json_explanation(batches_job *job, const leat_explanation *explanation) {
    leat_json *json = NULL;
    leat_error err = {0};
    if (leat_json_create(&json, true, &err) != LEAT_OK) return leat_cli_fail(job->run.cli, &err);
    int status = 0;
    if (put_explanation(json, job, explanation, &err) != LEAT_OK)
        status = leat_cli_fail(job->run.cli, &err);
    else status = leat_out_json(job->run.cli, json);
    leat_json_destroy(json);
    return status;
}
