/* leat ingest can: vehicle logs to a cache of window graphs. */
#include <stdio.h>
#include <string.h>

#include "ingest.h"
#include "leat/ingest.h"
#include "leat/load_can.h"

enum { PATTERNS_MAX = 256, PATTERNS_BYTES = 16384 };

/* "a,b" as patterns, whose text is in `bytes`. */
typedef struct patterns {
    char bytes[PATTERNS_BYTES];
    const char *items[PATTERNS_MAX];
    int64_t count;
} patterns;

static int read_patterns(leat_cli *cli, const char *name, patterns *out) {
    const char *text = leat_cli_text(cli, name);
    if (text == NULL) return 0;
    size_t size = strlen(text);
    if (size >= sizeof out->bytes)
        return leat_cli_usage(cli, "--%s: more than %d characters", name, PATTERNS_BYTES - 1);
    memcpy(out->bytes, text, size + 1);
    for (char *at = out->bytes; at != NULL;) {
        char *comma = strchr(at, ',');
        if (comma != NULL) *comma = 0;
        if (at[0] == 0) return leat_cli_usage(cli, "--%s: empty pattern", name);
        if (out->count == PATTERNS_MAX)
            return leat_cli_usage(cli, "--%s: more than %d patterns", name, PATTERNS_MAX);
        out->items[out->count++] = at;
        at = comma != NULL ? comma + 1 : NULL;
    }
    return 0;
}

typedef struct can_words {
    patterns train, test;
} can_words;

static int read_options(leat_cli *cli, can_words *words, leat_can_ingest_options *options) {
    *options = leat_can_ingest_options_default();
    leat_error err = {0};
    if (leat_can_settings_preset(&options->settings, leat_cli_text(cli, "preset"), &err) != LEAT_OK)
        return leat_cli_usage(cli, "--%s", err.message);
    int status = leat_cli_set(cli, leat_can_settings_table(), &options->settings);
    if (status == 0) status = leat_cli_set(cli, leat_can_ingest_options_table(), options);
    if (status == 0) status = read_patterns(cli, "train", &words->train);
    if (status == 0) status = read_patterns(cli, "test", &words->test);
    if (status != 0) return status;
    options->train = words->train.items;
    options->train_count = words->train.count;
    options->test = words->test.items;
    options->test_count = words->test.count;
    options->dataset = leat_cli_text(cli, "dataset");
    options->progress = leat_cli_progress;
    options->progress_user = cli;
    return 0;
}

/* ---- The summary ------------------------------------------------------------------------- */

/* Steps back that begin a new capture. */
static void write_clock_steps(leat_cli *cli, const leat_can_ingest_result *result) {
    char a[LEAT_WORDS_BYTES], name[LEAT_PLAIN_BYTES];
    if (result->clock_steps <= 0) return;
    leat_out(cli, "        a clock fell back %s: a new capture begins there (--clock-steps%s)\n",
             leat_things(a, result->clock_steps, "time"),
             result->clock_steps > 1 ? " sort if a log is in no order of time" : "");
    for (int i = 0; i < result->clock_step_count; i++) {
        const leat_can_clock_step *step = &result->clock_step[i];
        leat_out(cli, "          by %.3f s at frame %s of %s\n", step->seconds,
                 leat_words_count(a, step->frame), leat_plain(name, step->file));
    }
    if (result->clock_steps > result->clock_step_count)
        leat_out(cli, "          and %s more\n",
                 leat_words_count(a, result->clock_steps - result->clock_step_count));
}

/* Pauses that do the same. */
static void write_pauses(leat_cli *cli, const leat_can_ingest_result *result) {
    char a[LEAT_WORDS_BYTES], name[LEAT_PLAIN_BYTES];
    if (result->pauses <= 0) return;
    leat_out(cli, "        %s: a new capture begins after each (--clock-steps)\n",
             leat_things(a, result->pauses, "pause"));
    for (int i = 0; i < result->pause_count; i++) {
        const leat_can_clock_step *pause = &result->pause[i];
        leat_out(cli, "          of %.3f s before frame %s of %s\n", pause->seconds,
                 leat_words_count(a, pause->frame), leat_plain(name, pause->file));
    }
    if (result->pauses > result->pause_count)
        leat_out(cli, "          and %s more\n",
                 leat_words_count(a, result->pauses - result->pause_count));
}

static void write_cut(leat_cli *cli, int64_t frames) {
    char a[LEAT_WORDS_BYTES];
    if (frames > 0)
        leat_out(cli, "        %s cut to 8 bytes (--can-fd)\n",
                 leat_things(a, frames, "CAN-FD frame"));
}

static void write_frames(leat_cli *cli, const leat_can_ingest_result *result) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES], d[LEAT_WORDS_BYTES];
    leat_out(cli, "read    %s of %s, %s, %s", leat_things(a, result->frames, "frame"),
             leat_things(b, result->files, "file"), leat_things(c, result->captures, "capture"),
             leat_things(d, result->identifiers, "identifier"));
    if (result->like[0] != 0)
        leat_out(cli, " (%s of the other cache and %s new)",
                 leat_words_count(a, result->vocabulary),
                 leat_words_count(b, result->identifiers - result->vocabulary));
    leat_out(cli, "\n");
    leat_out(cli, "        = %s in windows + %s between them + %s after the last + %s dropped\n",
             leat_words_count(a, result->frames_windowed),
             leat_words_count(b, result->frames_between), leat_words_count(c, result->frames_tail),
             leat_words_count(d, result->frames_dropped));
    if (result->frames_left_out > 0)
        leat_out(cli, "        + %s of other buses (--bus)\n",
                 leat_words_count(a, result->frames_left_out));
    write_cut(cli, result->frames_cut);
    if (result->windows_dropped > 0)
        leat_out(cli, "        %s across a boundary between training and validation %s dropped\n",
                 leat_things(a, result->windows_dropped, "window"),
                 result->windows_dropped == 1 ? "was" : "were");
    if (result->frames_stepped_back > 0)
        leat_out(cli, "        the clock fell back %s; frames were sorted by time\n",
                 leat_things(a, result->frames_stepped_back, "time"));
    write_clock_steps(cli, result);
    write_pauses(cli, result);
    if (result->rejected > 0) {
        leat_out(cli, "        %s rejected; see ", leat_things(a, result->rejected, "line"));
        leat_out_name(cli, result->cache);
        leat_out(cli, "/rejected.csv\n");
    }
}

/* What files beside the logs have labelled. */
static void write_described(leat_cli *cli, const leat_can_ingest_result *result) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], name[LEAT_PLAIN_BYTES];
    if (result->files_described <= 0) return;
    leat_out(cli, "        %s labelled by capture_metadata.json, %s of attacks\n",
             leat_things(a, result->files_described, "log"),
             leat_things(b, result->frames_injected, "frame"));
    int count = 0;
    for (; count < result->interval_count && count < LEAT_CAN_INTERVALS_NAMED; count++) {
        const leat_can_injected_log *log = &result->interval[count];
        leat_out(cli, "          %s of %s in %s\n", leat_words_count(a, log->attacks),
                 leat_words_count(b, log->frames), leat_plain(name, log->file));
    }
    if (result->interval_count > count)
        leat_out(cli, "          and %s more\n",
                 leat_things(a, result->interval_count - count, "log"));
}

/* What became of logs without labels. */
static void write_labels(leat_cli *cli, const leat_can_ingest_result *result,
                         leat_can_unlabelled rule) {
    char a[LEAT_WORDS_BYTES];
    bool by_name = rule == LEAT_UNLABELLED_BY_NAME;
    write_described(cli, result);
    if (result->files_benign > 0)
        leat_out(cli, "        %s without labels counted as benign%s\n",
                 leat_things(a, result->files_benign, "log"), by_name ? ", by name" : "");
    if (result->files_unlabelled > 0)
        leat_out(cli, "        %s without labels counted as unlabelled%s\n",
                 leat_things(a, result->files_unlabelled, "log"),
                 by_name ? "; use --unlabelled benign if there are no attacks" : "");
}

static void write_splits(leat_cli *cli, const leat_can_ingest_result *result) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], name[LEAT_PLAIN_BYTES];
    int width = 7; /* of the labels of all lines */
    for (int i = 0; i < result->split_count; i++)
        leat_column_fit(&width, leat_plain(name, result->split_name[i]));
    for (int i = 0; i < result->split_count; i++) {
        leat_out(cli, "%s %s, %s with an attack",
                 leat_column_pad(name, width, leat_plain(name, result->split_name[i])),
                 leat_things(a, result->split_graphs[i], "graph"),
                 leat_words_count(b, result->split_attacks[i]));
        if (result->split_unlabelled[i] > 0)
            leat_out(cli, ", %s unlabelled", leat_words_count(b, result->split_unlabelled[i]));
        leat_out(cli, "\n");
    }
    if (result->split_count == 2) leat_out(cli, "        no test split (see --test)\n");
    if (result->like[0] != 0)
        leat_out(cli, "like    vocabulary and scaler (%s) of the cache with the digest %.16s...\n",
                 leat_plain(name, result->scaler), result->like);
    else if (result->scaler_changed)
        leat_out(cli, "scaler  %s, because %s\n", leat_plain(name, result->scaler),
                 result->split_graphs[0] == 0 ? "there are no training graphs"
                                              : "no training graph is benign");
}

static void write_costs(leat_cli *cli, int64_t memory_bytes, const leat_can_ingest_result *result) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    double total = result->seconds_total > 0 ? result->seconds_total : 1e-9;
    leat_out(cli, "bytes   %s, %s spilled\n", leat_words_bytes(a, result->bytes_written),
             leat_words_bytes(b, result->bytes_spilled));
    leat_out(cli, "time    %s (scanned after %s), %s frames/s\n", leat_words_seconds(a, total),
             leat_words_seconds(b, result->seconds_scan),
             leat_words_rate(c, (double)result->frames / total));
    leat_out(cli, "memory  peak %s, limit %s\n", leat_words_bytes(a, result->memory_peak_bytes),
             leat_words_bytes(b, memory_bytes));
}

static void json_splits(leat_json *json, const leat_can_ingest_result *result) {
    leat_json_key(json, "splits");
    leat_json_begin_object(json);
    for (int i = 0; i < result->split_count; i++) {
        leat_json_key(json, result->split_name[i]);
        leat_json_begin_object(json);
        leat_json_member_int(json, "graphs", result->split_graphs[i]);
        leat_json_member_int(json, "attacks", result->split_attacks[i]);
        leat_json_member_int(json, "unlabelled", result->split_unlabelled[i]);
        leat_json_end_object(json);
    }
    leat_json_end_object(json);
}

typedef struct json_source {
    int64_t memory_bytes;
    leat_can_unlabelled unlabelled;
    const leat_can_ingest_result *result;
    const leat_can_stage_result *staged; /* path "": not staged */
} json_source;

/* A cache that already existed does not record everything about its ingest. */
static void json_member_known(leat_json *json, const char *name, int64_t value) {
    if (value >= 0) leat_json_member_int(json, name, value);
}

static void json_step(leat_json *json, const leat_can_clock_step *step) {
    leat_json_member_string(json, "file", step->file);
    leat_json_member_int(json, "frame", step->frame);
    leat_json_member_double(json, "seconds", step->seconds);
}

static void json_clock_step(leat_json *json, const leat_can_ingest_result *result, int at) {
    json_step(json, &result->clock_step[at]);
}

static void json_pause(leat_json *json, const leat_can_ingest_result *result, int at) {
    json_step(json, &result->pause[at]);
}

static void json_interval(leat_json *json, const leat_can_ingest_result *result, int at) {
    leat_json_member_string(json, "file", result->interval[at].file);
    leat_json_member_int(json, "frames", result->interval[at].frames);
    leat_json_member_int(json, "attacks", result->interval[at].attacks);
}

/* "first": the first of what was counted. */
static void json_first(leat_json *json, const leat_can_ingest_result *result, int count,
                       void (*members)(leat_json *, const leat_can_ingest_result *, int)) {
    leat_json_key(json, "first");
    leat_json_begin_array(json);
    for (int i = 0; i < count; i++) {
        leat_json_begin_object(json);
        members(json, result, i);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

static void json_clock_steps(leat_json *json, const leat_can_ingest_result *result) {
    if (result->clock_steps < 0) return;
    leat_json_key(json, "clock_steps");
    leat_json_begin_object(json);
    leat_json_member_int(json, "count", result->clock_steps);
    json_first(json, result, result->clock_step_count, json_clock_step);
    leat_json_end_object(json);
}

/* Only of those that were asked for. */
static void json_pauses(leat_json *json, const leat_can_ingest_result *result) {
    if (result->pauses <= 0) return;
    leat_json_key(json, "pauses");
    leat_json_begin_object(json);
    leat_json_member_int(json, "count", result->pauses);
    json_first(json, result, result->pause_count, json_pause);
    leat_json_end_object(json);
}

static void json_described(leat_json *json, const leat_can_ingest_result *result) {
    const int64_t count = result->interval_count;
    if (result->files_described <= 0) return;
    leat_json_key(json, "capture_metadata");
    leat_json_begin_object(json);
    leat_json_member_int(json, "files", result->files_described);
    leat_json_member_int(json, "frames", result->frames_injected);
    leat_json_member_int(json, "intervals", count);
    json_first(json, result,
               (int)(count < LEAT_CAN_INTERVALS_NAMED ? count : LEAT_CAN_INTERVALS_NAMED),
               json_interval);
    leat_json_end_object(json);
}

static void json_members(leat_json *json, const void *of) {
    const json_source *source = of;
    const leat_can_ingest_result *result = source->result;
    leat_json_member_string(json, "cache", result->cache);
    leat_json_member_string(json, "digest", result->digest);
    leat_json_member_bool(json, "found", result->found);
    leat_json_member_bool(json, "resumed", result->resumed);
    leat_json_member_bool(json, "verified", result->verified);
    leat_json_member_int(json, "files", result->files);
    json_member_known(json, "files_taken_as_benign", result->files_benign);
    json_member_known(json, "files_unlabelled", result->files_unlabelled);
    json_described(json, result);
    leat_ingest_json_skipped(json, &result->skipped);
    leat_json_member_int(json, "captures", result->captures);
    leat_json_member_int(json, "identifiers", result->identifiers);
    leat_json_member_int(json, "vocabulary", result->vocabulary);
    json_member_known(json, "frames", result->frames);
    leat_json_member_int(json, "frames_windowed", result->frames_windowed);
    leat_json_member_int(json, "frames_between", result->frames_between);
    leat_json_member_int(json, "frames_tail", result->frames_tail);
    leat_json_member_int(json, "frames_dropped", result->frames_dropped);
    json_member_known(json, "frames_left_out", result->frames_left_out);
    leat_json_member_int(json, "frames_cut", result->frames_cut);
    json_member_known(json, "frames_stepped_back", result->frames_stepped_back);
    json_clock_steps(json, result);
    json_pauses(json, result);
    leat_json_member_int(json, "windows_dropped", result->windows_dropped);
    json_member_known(json, "rejected", result->rejected);
    json_splits(json, result);
    leat_json_member_string(json, "scaler", result->scaler);
    if (result->like[0] != 0) leat_json_member_string(json, "like", result->like);
    leat_json_key(json, "warnings");
    leat_json_begin_array(json);
    if (result->warning[0] != 0) leat_json_string(json, result->warning);
    leat_json_end_array(json);
    if (!result->found) {
        leat_json_member_int(json, "bytes_written", result->bytes_written);
        leat_json_member_int(json, "bytes_spilled", result->bytes_spilled);
        leat_json_member_double(json, "seconds_scan", result->seconds_scan);
        leat_json_member_double(json, "seconds_written", result->seconds_written);
    }
    leat_json_member_int(json, "memory_limit_bytes", source->memory_bytes);
    leat_json_member_int(json, "memory_peak_bytes", result->memory_peak_bytes);
    leat_json_member_double(json, "seconds", result->seconds_total);
    if (source->staged->path[0] == 0) return;
    leat_json_member_string(json, "staged", source->staged->path);
    leat_json_member_bool(json, "staged_before", source->staged->reused);
    leat_json_member_int(json, "bytes_staged", source->staged->size_bytes);
}

static void write_summary(leat_cli *cli, const json_source *of) {
    const leat_can_ingest_result *result = of->result;
    char a[LEAT_WORDS_BYTES];
    leat_out(cli, "cache   ");
    leat_out_name(cli, result->cache);
    if (result->found)
        leat_out(cli, " already exists (%s)", leat_ingest_compared(result->verified));
    leat_out(cli, "\n");
    if (result->resumed)
        leat_out(cli, "resumed the scan of an interrupted run (inputs: %s)\n",
                 leat_ingest_compared(result->verified));
    if (!result->found) {
        write_frames(cli, result);
        write_labels(cli, result, of->unlabelled);
    }
    leat_ingest_write_skipped(cli, &result->skipped);
    write_splits(cli, result);
    if (!result->found) write_costs(cli, of->memory_bytes, result);
    if (of->staged->path[0] == 0) return;
    leat_out(cli, "staged  ");
    leat_out_name(cli, of->staged->path);
    leat_out(cli, ", %s%s\n", leat_words_bytes(a, of->staged->size_bytes),
             of->staged->reused ? ", already there" : "");
}

/* ---- The command ------------------------------------------------------------------------- */

/* Whether --stage can create its copy, before hours of reading: in the folder, or in the first one
 * above it that exists. A folder with a cache may have the copy already. */
static int check_stage(leat_cli *cli) {
    char path[LEAT_CAN_STAGE_PATH_BYTES];
    const char *dir = leat_cli_text(cli, "stage");
    leat_error err = {0};
    if (dir == NULL || leat_can_cache_is_at(dir)) return 0;
    if (snprintf(path, sizeof path, "%s", dir) >= (int)sizeof path)
        return leat_cli_usage(cli, "--stage: the path has %zu bytes, at most %zu are possible",
                              strlen(dir), sizeof path - 1);
    leat_code code = leat_folder_can_write(path, &err);
    while (code == LEAT_ERR_NOT_FOUND && strcmp(path, ".") != 0 && strcmp(path, "/") != 0) {
        char *slash = strrchr(path, '/');
        if (slash == NULL) memcpy(path, ".", 2);
        else slash[slash == path] = 0;
        code = leat_folder_can_write(path, &err);
    }
    if (code == LEAT_OK) return 0;
    leat_cli_note(cli, "--stage: %s", err.message);
    return 1;
}

static leat_code stage(leat_cli *cli, const char *cache, int threads, leat_can_stage_result *staged,
                       leat_error *err) {
    const char *dir = leat_cli_text(cli, "stage");
    if (dir == NULL) return LEAT_OK;
    const leat_can_stage_options options = {
        .threads = threads, .progress = leat_cli_progress, .progress_user = cli};
    return leat_can_cache_stage(cache, dir, &options, staged, err);
}

/* Says that what was read is not lost, unless that is the problem. */
static int fail_stage(leat_cli *cli, const leat_error *err) {
    const int status = leat_cli_fail(cli, err);
    if (err->code != LEAT_ERR_CORRUPT && err->code != LEAT_ERR_CANCELLED)
        leat_cli_note(cli, "the cache itself is complete; the same command with another --stage "
                           "copies it without reading the logs again");
    return status;
}

static int run_ingest_can(leat_cli *cli) {
    can_words words = {0};
    leat_can_ingest_result result;
    leat_can_ingest_options options;
    leat_can_stage_result staged = {0};
    leat_error err = {0};
    int status = read_options(cli, &words, &options);
    if (status != 0) return status;
    status = check_stage(cli);
    if (status != 0) return status;
    leat_cli_cancellable(cli);
    if (leat_can_ingest(leat_cli_arguments(cli), leat_cli_argument_count(cli),
                        leat_cli_text(cli, "output"), &options, &result, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    if (stage(cli, result.cache, options.threads, &staged, &err) != LEAT_OK)
        return fail_stage(cli, &err);
    leat_cli_progress_end(cli);
    if (result.warning[0] != 0) leat_cli_note(cli, "warning: %s", result.warning);
    if (options.resume && !result.resumed && !result.found) leat_ingest_note_new(cli);
    json_source source = {options.memory_bytes, options.settings.unlabelled, &result, &staged};
    if (leat_cli_flag(cli, "json")) return leat_out_object(cli, json_members, &source);
    write_summary(cli, &source);
    return 0;
}

#define OR(name, tests) "|" name
static const leat_cli_option options[] = {
    {.own.name = "output",
     .own.kind = LEAT_SETTING_OUTPUT,
     .own.value = "CACHE",
     .own.help = "folder to create the cache in, as NAME-DIGEST; it may hold several caches",
     .letter = 'o',
     .required = true},
    {.own.name = "dataset",
     .own.kind = LEAT_SETTING_CHOICE,
     .own.choices = &("" LEAT_CAN_DATASET_TABLE(OR))[1], /* without the first | */
     .own.help = "find training and test folders by the names of this data set, in PATH or "
                 "PATH/NAME"},
    {.own.name = "train",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "A,B",
     .own.help = "patterns of folders or files in PATH to train on"},
    {.own.name = "test",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "C,D",
     .own.help = "patterns of folders or files to test on, each a separate split"},
    {.own.name = "preset",
     .own.kind = LEAT_SETTING_CHOICE,
     .own.choices = "default|reference",
     .own.help = "reference: all settings below as in graphids",
     .preset = "default"},
    {.table = leat_can_settings_table},
    {.table = leat_can_ingest_options_table},
    {.own.name = "stage",
     .own.kind = LEAT_SETTING_OUTPUT,
     .own.value = "DIR",
     .own.help = "also copy the finished cache to fast storage, verified, unless it is already "
                 "there"},
    LEAT_CLI_OPTION_JSON,
    {0},
};

static const leat_cli_example examples[] = {
    {"leat ingest can logs -o caches", "the folders train_* and test_* are the splits"},
    {"leat ingest can car-hacking -o caches --train 'normal*,DoS*' --test 'Fuzzy*'",
     "a folder of logs: which to train on, and which to test on"},
    {"leat ingest can drive.log -o caches --window 200 --stride 50",
     "one candump log, overlapping windows"},
    {"leat ingest can otids.csv -o caches --column id=IntID1:dec",
     "a csv whose decimal identifiers have a name of their own"},
    {"leat ingest can later -o caches --like caches/can-0123456789abcdef",
     "later logs, for a model that was trained on this cache"},
    {"leat ingest can data --dataset set_01 -o caches --preset reference",
     "the numbers of graphids, the system whose features these are"},
    {.line = NULL},
};

#define LISTED(format, name) " " name ","
const leat_cli_command leat_cmd_ingest_can = {
    .words = "ingest can",
    .purpose = "turn vehicle logs into a cache of window graphs",
    .usage = "PATH... -o CACHE [options]",
    .about = "Reads CAN logs (formats:" LEAT_CAN_FORMAT_TABLE(
        LISTED) " each plain or .gz), cuts each "
                "capture into windows and writes one graph per window: nodes are identifiers, "
                "edges are "
                "transitions from frame to frame.\n\n"
                "The cache is a folder in CACHE whose name includes a digest of the logs and all "
                "settings. "
                "Running again with the same logs and settings finds it without reading the "
                "logs.\n\n"
                "If PATH is one folder with subfolders train_* and test_*, or others named for "
                "training "
                "and "
                "tests, these are the splits; without such subfolders and without --train, all "
                "logs are "
                "training data.",
    .argument = "PATH",
    .min_arguments = 0,
    .max_arguments = -1,
    .options = options,
    .shows_progress = true,
    .examples = examples,
    .run = run_ingest_can,
};
