/* What the commands `leat synth KIND` share: see synth.h. */
#include "synth/synth.h"

static void read_common(leat_cli *cli, const leat_synth_common *common) {
    *common->seed = (uint64_t)leat_cli_int(cli, "seed");
    *common->replace = leat_cli_flag(cli, "replace");
    *common->progress = leat_cli_progress;
    *common->progress_user = cli;
    if (leat_cli_given(cli, "threads")) *common->threads = (int)leat_cli_int(cli, "threads");
}

static void write_rate(leat_cli *cli, const leat_synth_common *common) {
    char rate[LEAT_WORDS_BYTES], time[LEAT_WORDS_BYTES], peak[LEAT_WORDS_BYTES];
    const double seconds = *common->seconds;
    const double per_second = (double)*common->count / (seconds > 0 ? seconds : 1);
    leat_out(cli, "in %s: %s %s/s, peak memory %s\n", leat_words_seconds(time, seconds),
             leat_words_rate(rate, per_second), common->things,
             leat_words_bytes(peak, *common->memory_peak_bytes));
}

typedef struct json_source {
    const char *out;
    const leat_synth_kind *kind;
    const leat_synth_common *common;
    const void *job;
} json_source;

static void json_members(leat_json *json, const void *of) {
    const json_source *source = of;
    leat_json_member_string(json, "out", source->out);
    source->kind->members(json, source->job);
    leat_json_member_int(json, "bytes_written", *source->common->bytes_written);
    leat_json_member_int(json, "memory_peak_bytes", *source->common->memory_peak_bytes);
    leat_json_member_double(json, "seconds", *source->common->seconds);
}

int leat_synth_run(leat_cli *cli, const leat_synth_kind *kind, const leat_synth_common *common,
                   void *job) {
    leat_error err = {0};
    const char *out = leat_cli_text(cli, "output");
    read_common(cli, common);
    const int status = kind->read(cli, job);
    if (status != 0) return status;
    leat_cli_cancellable(cli);
    if (kind->make(out, job, &err) != LEAT_OK) return leat_cli_fail(cli, &err);
    leat_cli_progress_end(cli);
    const json_source source = {out, kind, common, job};
    if (leat_cli_flag(cli, "json")) return leat_out_object(cli, json_members, &source);
    kind->tell(cli, out, job);
    write_rate(cli, common);
    return 0;
}
