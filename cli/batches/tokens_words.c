/* leat batches: the result in words. */
#include "batches/tokens_report.h"

/* What the windows take: memory of the loader, which counts them, or the page cache. */
static void write_windows(batches_job *job) {
    leat_loader_counters counters;
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    bool is_mapped =
        job->facts.indexed && !job->facts.compressed && job->options.io == LEAT_IO_MMAP;
    leat_loader_get_counters(job->loader, &counters);
    if (counters.window_bytes == 0) return;
    leat_out(job->run.cli, "windows    up to %s of %s%s, each block of rows read once an epoch\n",
             leat_words_bytes(a, counters.window_bytes),
             is_mapped ? "the page cache" : leat_words_bytes(b, counters.memory_bytes),
             is_mapped ? "" : " of memory");
}

/* Where a hash or sequences come first, the summary has it. */
static bool begins_with_windows(const batches_run *run) { return !run->hashes && !run->words; }

/* What a machine needs is said before the steps run. */
void batches_write_start(batches_job *job) {
    if (!begins_with_windows(&job->run) || job->run.json) return;
    write_windows(job);
    leat_out_flush(job->run.cli);
}

void batches_write_summary(batches_job *job) {
    leat_loader_counters counters;
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    leat_loader_get_counters(job->loader, &counters);
    int64_t epoch = leat_loader_epoch_sequences(job->loader);
    if (job->run.done == job->run.first) {
        leat_out(job->run.cli, "steps      none: the next is %lld\n", (long long)job->run.first);
        return;
    }
    leat_out(job->run.cli, "steps      %lld:%lld, %s sequences of %s tokens",
             (long long)job->run.first, (long long)job->run.done,
             leat_words_count(a, counters.sequences),
             leat_words_count(b, job->options.sample.length));
    if (epoch >= 0) leat_out(job->run.cli, " (an epoch has %s)", leat_words_count(c, epoch));
    leat_out(job->run.cli, "\npadding    %.3g %%\n",
             100 * leat_ratio(counters.padding, counters.tokens + counters.padding));
    leat_out(job->run.cli, "contexts   %.2f per sequence, %.1f measurements each\n",
             leat_ratio(counters.segments, counters.sequences),
             leat_ratio(counters.measurements, counters.segments));
    if (counters.dropped > 0)
        leat_out(job->run.cli, "left out   %s measurements that were drawn but did not fit\n",
                 leat_words_count(a, counters.dropped));
    if (counters.masked > 0)
        leat_out(job->run.cli, "masked     %s sequences for damaged data\n",
                 leat_words_count(a, counters.masked));
    leat_out(job->run.cli, "read       %s of shards; %s of memory, %lld batches ahead\n",
             leat_words_bytes(a, counters.payload_bytes),
             leat_words_bytes(b, counters.memory_bytes), (long long)counters.prefetch);
    if (!begins_with_windows(&job->run)) write_windows(job);
    if (!job->run.times) return;
    const batches_made made = {"tokens", counters.tokens + counters.padding, counters.work_ns,
                               counters.read_wait_ns, counters.stall_ns};
    batches_write_time(&job->run, &made);
    if (counters.window_bytes > 0) batches_write_reading(&job->run, &made);
}

/* ---- --explain ---------------------------------------------------------------------------- */

/* Strides are powers of two: 2nd, 4th, 8th, 16th, 32nd, ... */
static const char *ordinal_ending(int64_t number) {
    static const char *const endings[10] = {[1] = "st", [2] = "nd", [3] = "rd"};
    const char *ending = number / 10 % 10 == 1 ? NULL : endings[number % 10];
    return ending == NULL ? "th" : ending;
}

static void write_segment(batches_job *job, const leat_explanation *explanation, int64_t number) {
    const leat_explained_segment *segment = &explanation->segments[number];
    leat_dataset_shard shard;
    leat_error err = {0};
    char name[LEAT_PLAIN_BYTES], many[LEAT_WORDS_BYTES];
    if (leat_dataset_get_shard(job->dataset, segment->shard, &shard, &err) != LEAT_OK) return;
    leat_out(job->run.cli,
             "segment %lld%s: shard %s, record %lld (row %lld), probe %lld\n"
             "  context %lld of the row, timestamps %s, tokens %lld to %lld\n"
             "  drawn from measurements %lld to %lld of %lld",
             (long long)number + 1, number == 0 ? " (anchor)" : "", leat_plain(name, shard.name),
             (long long)segment->record_index, (long long)segment->row, (long long)segment->src_id,
             (long long)segment->context, segment->time_mode, (long long)segment->token_first,
             (long long)(segment->token_first + segment->token_count - 1),
             (long long)segment->window_first,
             (long long)(segment->window_first + segment->window_count - 1),
             (long long)segment->row_measurements);
    if (segment->window_stride > 1)
        leat_out(job->run.cli, ", every %lld%s", (long long)segment->window_stride,
                 ordinal_ending(segment->window_stride));
    leat_out(job->run.cli, "; %s:\n ",
             leat_things(many, segment->measurement_count, "measurement"));
    for (int64_t i = 0; i < segment->measurement_count; i++) {
        const leat_explained_measurement *it =
            &explanation->measurements[segment->measurement_first + i];
        leat_out(job->run.cli, " %lld%s%s", (long long)it->index, it->stamped ? "" : "*",
                 it->cut ? "(cut)" : "");
    }
    leat_out(job->run.cli, "\n");
}

static int write_tokens(batches_job *job, const leat_explanation *explanation) {
    leat_textbuf *text = NULL;
    leat_error err = {0};
    const char *words = NULL;
    int64_t size_bytes = 0;
    leat_code code = leat_textbuf_create(&text, &err);
    if (code == LEAT_OK)
        code = leat_tokens_words(explanation->inputs, explanation->segmentation,
                                 (int32_t)explanation->length, text, &err);
    if (code == LEAT_OK) code = leat_textbuf_finish(text, &words, &size_bytes, &err);
    if (code == LEAT_OK) leat_out_bytes(job->run.cli, words, size_bytes);
    leat_textbuf_destroy(text);
    return code == LEAT_OK ? 0 : leat_cli_fail(job->run.cli, &err);
}

int batches_write_explanation(batches_job *job, const leat_explanation *explanation) {
    leat_out(job->run.cli, "step %lld row %lld: sequence %lld", (long long)explanation->step,
             (long long)explanation->row, (long long)explanation->sequence);
    if (explanation->epoch >= 0)
        leat_out(job->run.cli, ", epoch %lld, position %lld", (long long)explanation->epoch,
                 (long long)explanation->position);
    if (explanation->past_end) {
        leat_out(job->run.cli, "\nzeros: the epochs are over\n");
        return 0;
    }
    leat_out(job->run.cli, ", anchor %lld\n", (long long)explanation->anchor);
    if (explanation->masked) {
        leat_out(job->run.cli, "zeros: %s\n", explanation->reason);
        return 0;
    }
    for (int64_t i = 0; i < explanation->segment_count; i++) write_segment(job, explanation, i);
    leat_out(job->run.cli, "* has no timestamp; in words:\n");
    return write_tokens(job, explanation);
}

/* ---- what was masked ---------------------------------------------------------------------- */

int batches_note_quarantine(batches_job *job) {
    leat_quarantined *items = NULL;
    leat_error err = {0};
    int64_t count = 0;
    if (leat_loader_quarantine(job->loader, &items, &count, &err) != LEAT_OK)
        return leat_cli_fail(job->run.cli, &err);
    for (int64_t i = 0; i < count; i++) {
        leat_cli_note(job->run.cli, "masked: shard %s, record %lld, byte %lld: %s", items[i].shard,
                      (long long)items[i].record_index, (long long)items[i].byte, items[i].reason);
    }
    leat_quarantine_free(items);
    return 0;
}

/* ---- Of the report ------------------------------------------------------------------------ */

const char *const batches_field_names[LEAT_TOKEN_FIELDS] = {"start", "source", "destination",
                                                            "timestamp", "result"};

double batches_padding_share(const batches_report *job, int64_t padding, int64_t sequences) {
    return leat_ratio(padding, sequences * job->report->length);
}

const char *batches_order_of(const batches_report *job, char text[LEAT_SETTING_BYTES]) {
    const leat_setting *order = leat_setting_find(leat_loader_options_table(), "order");
    return leat_setting_get(order, job->options, text);
}
