/* leat batches --report: counted by the library; written in words, as JSON and as a page. */
#include "batches/tokens_report.h"

/* ---- JSON --------------------------------------------------------------------------------- */

static void put_options(leat_json *json, const batches_report *job) {
    char order[LEAT_SETTING_BYTES];
    leat_json_key(json, "options");
    leat_json_begin_object(json);
    leat_cli_json_settings(json, leat_sampler_options_table(), &job->options->sample);
    leat_json_member_string(json, "split", leat_split_words(job->options->split));
    leat_json_member_int(json, "batch", job->report->batch);
    leat_json_member_string(json, "order", batches_order_of(job, order));
    leat_json_member_bool(json, "by-client", job->options->by_client);
    leat_json_end_object(json);
}

static void put_counts(leat_json *json, const char *name, const int64_t *counts, int count,
                       const char *(*name_of)(int)) {
    leat_json_key(json, name);
    leat_json_begin_object(json);
    for (int i = 0; i < count; i++) leat_json_member_int(json, name_of(i), counts[i]);
    leat_json_end_object(json);
}

static void put_contexts(leat_json *json, const char *name, const leat_context_stats *stats) {
    leat_json_key(json, name);
    leat_json_begin_object(json);
    leat_json_member_int(json, "contexts", stats->contexts);
    leat_json_member_int(json, "tokens", stats->tokens);
    leat_json_member_int(json, "measurements", stats->measurements);
    leat_json_member_int(json, "stamped", stats->stamped);
    leat_json_member_int(json, "cut", stats->cut);
    leat_json_member_int(json, "dropped", stats->dropped);
    put_counts(json, "timestamp_modes", stats->by_mode, LEAT_TIME_MODES, leat_time_mode_name);
    put_counts(json, "span_scales", stats->by_scale, LEAT_SPAN_SCALES, leat_span_scale_name);
    put_counts(json, "span_scale_tokens", stats->tokens_by_scale, LEAT_SPAN_SCALES,
               leat_span_scale_name);
    leat_json_distribution(json, "row_measurements", &stats->row_measurements, 1);
    leat_json_distribution(json, "window_measurements", &stats->window_measurements, 1);
    leat_json_distribution(json, "context_measurements", &stats->context_measurements, 1);
    leat_json_distribution(json, "span_seconds", &stats->span_us, 1e-6);
    leat_json_end_object(json);
}

static const char *field_name(int field) { return batches_field_names[field]; }

static const char *type_name(int type) {
    return type == LEAT_TOKEN_BYTE ? "BYTE" : leat_token_name(type);
}

static void put_sequences(leat_json *json, const char *name, const batches_report *job,
                          const leat_sequence_stats *stats) {
    int64_t measurements = stats->anchors.measurements + stats->fillers.measurements;
    leat_json_key(json, name);
    leat_json_begin_object(json);
    leat_json_member_int(json, "sequences", stats->sequences);
    leat_json_member_int(json, "masked", stats->masked);
    leat_json_member_int(json, "tokens", stats->tokens);
    leat_json_member_int(json, "padding", stats->padding);
    leat_json_member_double(json, "padding_share",
                            batches_padding_share(job, stats->padding, stats->sequences));
    leat_json_member_int(json, "measurements", measurements);
    leat_json_member_int(json, "repeated_in_sequence", stats->repeated_in_sequence);
    leat_json_member_int(json, "repeated_in_batch", stats->repeated_in_batch);
    leat_json_distribution(json, "segments_per_sequence", &stats->segments, 1);
    put_counts(json, "token_types", stats->tokens_by_type, LEAT_TOKEN_BYTE + 1, type_name);
    put_counts(json, "token_fields", stats->tokens_by_field, LEAT_TOKEN_FIELDS, field_name);
    put_contexts(json, "anchors", &stats->anchors);
    put_contexts(json, "fillers", &stats->fillers);
    leat_json_end_object(json);
}

static void put_chunks(leat_json *json, const batches_report *job) {
    const leat_chunk_stats *chunks = &job->report->chunks;
    leat_json_key(json, "chunks_5_minutes");
    leat_json_begin_object(json);
    leat_json_member_int(json, "rows_read", chunks->rows_read);
    leat_json_member_int(json, "rows", chunks->rows);
    leat_json_member_int(json, "rows_damaged", chunks->rows_damaged);
    leat_json_member_int(json, "measurements", chunks->measurements);
    leat_json_member_int(json, "chunks", chunks->chunks);
    leat_json_member_int(json, "short_chunks", chunks->short_chunks);
    leat_json_member_int(json, "tokens", chunks->tokens);
    leat_json_member_int(json, "padding", chunks->padding);
    leat_json_member_double(json, "padding_share",
                            batches_padding_share(job, chunks->padding, chunks->chunks));
    leat_json_distribution(json, "chunk_measurements", &chunks->chunk_measurements, 1);
    leat_json_distribution(json, "chunk_tokens", &chunks->chunk_tokens, 1);
    leat_json_end_object(json);
}

static void json_members(leat_json *json, const void *of) {
    const batches_report *job = of;
    const leat_batch_report *report = job->report;
    leat_json_member_string(json, "path", job->name);
    put_options(json, job);
    leat_json_key(json, "steps");
    leat_json_begin_array(json);
    leat_json_int(json, report->first_step);
    leat_json_int(json, report->end_step);
    leat_json_end_array(json);
    leat_json_member_int(json, "epoch_sequences", report->epoch_sequences);
    leat_json_distribution(json, "contexts_per_row", &report->row_contexts, 1);
    put_sequences(json, "asked", job, &report->asked);
    put_sequences(json, "unpacked", job, &report->unpacked);
    put_chunks(json, job);
}

/* ---- In words ----------------------------------------------------------------------------- */

static void write_words(const batches_report *job) {
    const leat_batch_report *report = job->report;
    const leat_sequence_stats *asked = &report->asked;
    const leat_chunk_stats *chunks = &report->chunks;
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    int64_t measurements = asked->anchors.measurements + asked->fillers.measurements;
    leat_out(job->cli, "counted    %s of %s tokens, steps %lld to %lld",
             leat_things(a, asked->sequences, "sequence"), leat_words_count(b, report->length),
             (long long)report->first_step, (long long)report->end_step - 1);
    if (report->epoch_sequences >= 0)
        leat_out(job->cli, " (an epoch has %s)", leat_words_count(c, report->epoch_sequences));
    leat_out(job->cli, "\npadding    %s; one context per sequence: %s; chunks of 5 minutes: %s\n",
             leat_display_words(a, LEAT_DISPLAY_SHARE,
                                batches_padding_share(job, asked->padding, asked->sequences)),
             leat_display_words(
                 b, LEAT_DISPLAY_SHARE,
                 batches_padding_share(job, report->unpacked.padding, report->unpacked.sequences)),
             leat_display_words(c, LEAT_DISPLAY_SHARE,
                                batches_padding_share(job, chunks->padding, chunks->chunks)));
    leat_out(job->cli, "contexts   %.2f per sequence, %.1f measurements each\n",
             leat_distribution_mean(&asked->segments),
             leat_ratio(measurements, asked->anchors.contexts + asked->fillers.contexts));
    leat_out(job->cli,
             "repeated   %s of the measurements within a sequence, %s within a batch (drawn twice; "
             "duplicates in the data set are not counted)\n",
             leat_display_words(a, LEAT_DISPLAY_SHARE,
                                leat_ratio(asked->repeated_in_sequence, measurements)),
             leat_display_words(b, LEAT_DISPLAY_SHARE,
                                leat_ratio(asked->repeated_in_batch, measurements)));
    if (asked->masked > 0)
        leat_out(job->cli, "masked     %s sequences for damaged data\n",
                 leat_words_count(a, asked->masked));
    batches_write_page_names(job->cli);
}

/* ---- The whole of it ---------------------------------------------------------------------- */

int batches_write_report(leat_cli *cli, const leat_dataset *dataset,
                         const leat_loader_options *options, int64_t first, int64_t end) {
    batches_report job = {.cli = cli, .name = leat_cli_argument(cli, 0), .options = options};
    leat_batch_report_options how = leat_batch_report_options_default();
    leat_error err = {0};
    int status = 0;
    how.first_step = first;
    how.end_step = end;
    how.progress = leat_cli_progress;
    how.progress_user = cli;
    leat_code code = leat_batch_report_create(&job.report, dataset, options, &how, &err);
    leat_cli_progress_end(cli);
    const leat_page_places places = leat_page_asked(cli, "report");
    if (code == LEAT_OK) code = leat_page_save(&places, batches_report_page, &job, &err);
    if (code != LEAT_OK) status = leat_cli_fail(cli, &err);
    else if (leat_cli_flag(cli, "json")) status = leat_out_object(cli, json_members, &job);
    else write_words(&job);
    leat_batch_report_destroy(job.report);
    return status;
}
