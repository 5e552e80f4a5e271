/* leat ingest can: vehicle logs to a cache of window graphs. */
#include <string.h>

#include "cli.h"
#include "leat/ingest.h"
#include "leat/load_can.h"

enum { PATTERNS_MAX = 256, PATTERNS_BYTES = 16384 };

/* "a,b" as patterns; the texts stand in `bytes`. */
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
        return leat_cli_usage(cli, "--%s: more than %d letters", name, PATTERNS_BYTES - 1);
    memcpy(out->bytes, text, size + 1);
    for (char *at = out->bytes; at != NULL;) {
        char *comma = strchr(at, ',');
        if (comma != NULL) *comma = 0;
        if (at[0] == 0) return leat_cli_usage(cli, "--%s: a pattern is empty", name);
        if (out->count == PATTERNS_MAX)
            return leat_cli_usage(cli, "--%s: more than %d patterns", name, PATTERNS_MAX);
        out->items[out->count++] = at;
        at = comma != NULL ? comma + 1 : NULL;
    }
    return 0;
}

static int read_settings(leat_cli *cli, leat_can_settings *settings) {
    leat_error err = {0};
    const char *name = NULL;
    if (leat_can_settings_preset(settings, leat_cli_text(cli, "preset"), &err) != LEAT_OK)
        return leat_cli_usage(cli, "--%s", err.message);
    for (int i = 0; (name = leat_can_setting_name(i)) != NULL; i++) {
        if (!leat_cli_given(cli, name)) continue;
        if (leat_can_setting_set(settings, name, leat_cli_text(cli, name), &err) != LEAT_OK)
            return leat_cli_usage(cli, "--%s", err.message);
    }
    return 0;
}

typedef struct can_words {
    patterns train, test;
} can_words;

static int read_options(leat_cli *cli, can_words *words, leat_can_ingest_options *options) {
    *options = leat_can_ingest_options_default();
    int status = read_settings(cli, &options->settings);
    if (status == 0) status = read_patterns(cli, "train", &words->train);
    if (status == 0) status = read_patterns(cli, "test", &words->test);
    if (status != 0) return status;
    options->train = words->train.items;
    options->train_count = words->train.count;
    options->test = words->test.items;
    options->test_count = words->test.count;
    options->dataset = leat_cli_text(cli, "dataset");
    options->memory_bytes = leat_cli_int(cli, "memory");
    if (leat_cli_given(cli, "threads")) options->threads = (int)leat_cli_int(cli, "threads");
    options->resume = leat_cli_flag(cli, "resume");
    options->verify = leat_cli_flag(cli, "verify");
    options->temp_dir = leat_cli_text(cli, "temp");
    options->progress = leat_cli_progress;
    options->progress_user = cli;
    return 0;
}

/* ---- The summary ------------------------------------------------------------------------- */

static void write_frames(leat_cli *cli, const leat_can_ingest_result *result) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES], d[LEAT_WORDS_BYTES];
    leat_out(cli, "read    %s frames of %s, %s, %s\n", leat_words_count(a, result->frames),
             leat_things(b, result->files, "file"), leat_things(c, result->captures, "capture"),
             leat_things(d, result->identifiers, "identifier"));
    leat_out(cli, "        = %s in windows + %s between them + %s behind the last + %s dropped\n",
             leat_words_count(a, result->frames_windowed),
             leat_words_count(b, result->frames_between), leat_words_count(c, result->frames_tail),
             leat_words_count(d, result->frames_dropped));
    if (result->frames_left_out > 0)
        leat_out(cli, "        + %s of other buses (--bus)\n",
                 leat_words_count(a, result->frames_left_out));
    if (result->windows_dropped > 0)
        leat_out(cli, "        %s windows over a cut between training and validation are dropped\n",
                 leat_words_count(a, result->windows_dropped));
    if (result->frames_stepped_back > 0)
        leat_out(cli, "        %s stepped back in time and %s sorted\n",
                 leat_things(a, result->frames_stepped_back, "frame"),
                 result->frames_stepped_back == 1 ? "was" : "were");
    if (result->rejected > 0)
        leat_out(cli, "        %s set aside: see %s/rejected.csv\n",
                 leat_things(a, result->rejected, "line"), result->cache);
}

static void write_splits(leat_cli *cli, const leat_can_ingest_result *result) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    for (int i = 0; i < result->split_count; i++) {
        leat_out(cli, "%-7s %s graphs", result->split_name[i],
                 leat_words_count(a, result->split_graphs[i]));
        if (!result->found)
            leat_out(cli, ", %s with an attack", leat_words_count(b, result->split_attacks[i]));
        leat_out(cli, "\n");
    }
    if (result->split_count == 2) leat_out(cli, "        there is no test split (--test)\n");
}

static void write_costs(leat_cli *cli, int64_t memory_bytes, const leat_can_ingest_result *result) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    double total = result->seconds_total > 0 ? result->seconds_total : 1e-9;
    leat_out(cli, "bytes   %s, %s spilled on the way\n", leat_words_bytes(a, result->bytes_written),
             leat_words_bytes(b, result->bytes_spilled));
    leat_out(cli, "time    %s (scanned after %s), %s frames/s\n", leat_words_seconds(a, total),
             leat_words_seconds(b, result->seconds_scan),
             leat_words_count(c, (int64_t)((double)result->frames / total)));
    leat_out(cli, "memory  %s at most, of %s\n", leat_words_bytes(a, result->memory_peak_bytes),
             leat_words_bytes(b, memory_bytes));
    if (result->resumed) leat_out(cli, "resumed the scan of an interrupted run\n");
}

static void json_splits(leat_json *json, const leat_can_ingest_result *result) {
    leat_json_key(json, "splits");
    leat_json_begin_object(json);
    for (int i = 0; i < result->split_count; i++) {
        leat_json_key(json, result->split_name[i]);
        leat_json_begin_object(json);
        leat_json_member_int(json, "graphs", result->split_graphs[i]);
        if (!result->found) leat_json_member_int(json, "attacks", result->split_attacks[i]);
        leat_json_end_object(json);
    }
    leat_json_end_object(json);
}

typedef struct json_source {
    int64_t memory_bytes;
    const leat_can_ingest_result *result;
    const leat_can_stage_result *staged; /* without a path: it is not */
} json_source;

/* A cache that was found does not know everything of its making. */
static void json_member_known(leat_json *json, const char *name, int64_t value) {
    if (value >= 0) leat_json_member_int(json, name, value);
}

static void json_members(leat_json *json, const void *of) {
    const json_source *source = of;
    const leat_can_ingest_result *result = source->result;
    leat_json_member_string(json, "cache", result->cache);
    leat_json_member_string(json, "digest", result->digest);
    leat_json_member_bool(json, "found", result->found);
    leat_json_member_bool(json, "resumed", result->resumed);
    leat_json_member_int(json, "files", result->files);
    leat_json_member_int(json, "captures", result->captures);
    leat_json_member_int(json, "identifiers", result->identifiers);
    leat_json_member_int(json, "vocabulary", result->vocabulary);
    json_member_known(json, "frames", result->frames);
    leat_json_member_int(json, "frames_windowed", result->frames_windowed);
    leat_json_member_int(json, "frames_between", result->frames_between);
    leat_json_member_int(json, "frames_tail", result->frames_tail);
    leat_json_member_int(json, "frames_dropped", result->frames_dropped);
    json_member_known(json, "frames_left_out", result->frames_left_out);
    json_member_known(json, "frames_stepped_back", result->frames_stepped_back);
    leat_json_member_int(json, "windows_dropped", result->windows_dropped);
    json_member_known(json, "set_aside", result->rejected);
    json_splits(json, result);
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
    leat_out(cli, "cache   %s%s\n", result->cache, result->found ? " was there already" : "");
    if (!result->found) write_frames(cli, result);
    write_splits(cli, result);
    if (!result->found) write_costs(cli, of->memory_bytes, result);
    if (of->staged->path[0] == 0) return;
    leat_out(cli, "staged  %s, %s%s\n", of->staged->path,
             leat_words_bytes(a, of->staged->size_bytes),
             of->staged->reused ? ", which was there" : "");
}

/* ---- The command ------------------------------------------------------------------------- */

static leat_code stage(leat_cli *cli, const char *cache, int threads, leat_can_stage_result *staged,
                       leat_error *err) {
    const char *dir = leat_cli_text(cli, "stage");
    if (dir == NULL) return LEAT_OK;
    const leat_can_stage_options options = {
        .threads = threads, .progress = leat_cli_progress, .progress_user = cli};
    return leat_can_cache_stage(cache, dir, &options, staged, err);
}

static int run_ingest_can(leat_cli *cli) {
    can_words words = {0};
    leat_can_ingest_result result;
    leat_can_ingest_options options;
    leat_can_stage_result staged = {0};
    leat_error err = {0};
    int status = read_options(cli, &words, &options);
    if (status != 0) return status;
    leat_cli_cancellable(cli);
    if (leat_can_ingest(leat_cli_arguments(cli), leat_cli_argument_count(cli),
                        leat_cli_text(cli, "output"), &options, &result, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    if (stage(cli, result.cache, options.threads, &staged, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    leat_cli_progress_end(cli);
    if (result.warning[0] != 0) leat_cli_note(cli, "warning: %s", result.warning);
    json_source source = {options.memory_bytes, &result, &staged};
    if (leat_cli_flag(cli, "json")) return leat_out_object(cli, json_members, &source);
    write_summary(cli, &source);
    return 0;
}

#define SETTING(word, takes, says)                                                                 \
    { .name = word, .kind = LEAT_CLI_TEXT, .value = takes, .help = says }

static const leat_cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = LEAT_CLI_TEXT,
     .value = "CACHE",
     .help = "the folder that the cache is made in, as NAME-DIGEST; it may hold several",
     .required = true},
    {.name = "dataset",
     .kind = LEAT_CLI_CHOICE,
     .choices = "hcrl_ch|hcrl_sa|set_01|set_02|set_03|set_04",
     .help = "training and test folders by the names of this data set, in PATH or PATH/NAME"},
    {.name = "train",
     .kind = LEAT_CLI_TEXT,
     .value = "A,B",
     .help = "patterns of folders or files to train on, inside PATH"},
    {.name = "test",
     .kind = LEAT_CLI_TEXT,
     .value = "C,D",
     .help = "patterns of folders or files to test on, each a split of its own"},
    {.name = "preset",
     .kind = LEAT_CLI_CHOICE,
     .choices = "default|reference",
     .help = "reference: all settings below as the reference system has them",
     .preset = "default"},
    SETTING("format", "auto|csv|hcrl|hcrl-text|survival|gvret|candump",
            "of the logs; auto tells by content"),
    SETTING("window", "N", "frames of a window (default: 100)"),
    SETTING("stride", "N", "frames from one window to the next (default: 100)"),
    SETTING("captures", "separate|merged",
            "windows never span two captures, or those of a split are mixed by time"),
    SETTING("bus", "separate|merge|N",
            "each bus of a log is a capture, or buses are mixed, or one is taken"),
    SETTING("payload", "strict|lenient",
            "lines whose payload is not hexadecimal are set aside, or read as the reference does"),
    SETTING("can-fd", "cut|refuse", "frames of more than 8 bytes are cut, or set aside"),
    SETTING("identifiers", "canonical|written",
            "3 or 8 upper-case digits whatever the log wrote, or as it wrote them"),
    SETTING("val-split", "blocks|random",
            "validation is blocks of time with a gap to training, or random windows"),
    SETTING("val-fraction", "F", "share of training that is validation (default: 0.2)"),
    SETTING("edge-step", "previous|own",
            "edge features compare the source with the frame before it, or with the target"),
    SETTING("self-loops", "count|ignore", "in the clustering coefficient"),
    SETTING("attack-type", "frame|file", "of labelled frames, or of all frames by their file"),
    SETTING("attack-codes", "long|short", "19 kinds of attack, or the reference's 7"),
    SETTING("vocab", "train|all", "identifiers of training have a number, or those of tests too"),
    SETTING("scaler", "z_benign|z_all|robust_benign|none", "how features are scaled while loading"),
    SETTING("store", "features|frames",
            "store features, or frames, a quarter of the size, and make features while loading"),
    SETTING("seed", "S", "of the choice of validation (default: 42)"),
    {.name = "memory",
     .kind = LEAT_CLI_SIZE,
     .value = "SIZE",
     .help = "the most memory that the whole process may use",
     .preset = "512M",
     .min = 1 << 20},
    {.name = "threads",
     .kind = LEAT_CLI_INT,
     .value = "N",
     .help = "without it one per processor; the output does not depend on it",
     .min = 1,
     .max = 256},
    {.name = "resume",
     .kind = LEAT_CLI_FLAG,
     .help = "go on behind the scan of an interrupted ingest"},
    {.name = "verify",
     .kind = LEAT_CLI_FLAG,
     .help = "hash the logs before a cache that is there is taken for theirs"},
    {.name = "temp",
     .kind = LEAT_CLI_TEXT,
     .value = "DIR",
     .help = "frames are spilled to a folder made in DIR, instead of in CACHE; --resume needs the "
             "same one"},
    {.name = "stage",
     .kind = LEAT_CLI_TEXT,
     .value = "DIR",
     .help = "copy the finished cache to fast storage too, verified, unless it is there"},
    LEAT_CLI_OPTION_JSON,
    {.name = NULL},
};

static const leat_cli_example examples[] = {
    {"leat ingest can logs -o caches", "folders train_* and test_* of logs are the splits"},
    {"leat ingest can drive.log -o caches --window 200 --stride 50",
     "one candump log, overlapping windows"},
    {"leat ingest can data --dataset set_01 -o caches --preset reference",
     "the numbers of the reference system"},
    {.line = NULL},
};

const leat_cli_command leat_cmd_ingest_can = {
    .words = "ingest can",
    .purpose = "vehicle logs to a cache of window graphs",
    .usage = "PATH... -o CACHE [options]",
    .about =
        "Reads CAN logs (four-column CSV, HCRL, Survival, GVRET, candump; plain or .gz), cuts each "
        "capture into windows and writes the graph of every window: nodes are identifiers, edges "
        "are steps from frame to frame.\n\n"
        "The cache is a folder in CACHE whose name carries a digest of the logs and of all "
        "settings. The same logs and settings find it again without being read.\n\n"
        "With one PATH that has folders train_* and test_*, these are the splits; without any, "
        "and without --train, all logs are training.",
    .argument = "PATH",
    .min_arguments = 0,
    .max_arguments = -1,
    .options = options,
    .examples = examples,
    .run = run_ingest_can,
};
