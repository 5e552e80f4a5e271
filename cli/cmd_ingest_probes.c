/* leat ingest probes: Parquet, CSV or RIPE Atlas NDJSON to ArrayRecord probe rows. */
#include <string.h>

#include "cli.h"
#include "leat/ingest.h"

#define COLUMN_NAME_BYTES 256

typedef struct column_names {
    char text[5][COLUMN_NAME_BYTES]; /* empty: not renamed */
} column_names;

static const char *const column_known[5] = {"event_time", "src_addr", "dst_addr", "ip_version",
                                            "rtt"};

/* Reads one "event_time=ts" of `size` bytes; 0, or 2 after telling what is wrong. */
static int read_column(leat_cli *cli, const char *text, int size, column_names *names) {
    const char *equals = memchr(text, '=', (size_t)size);
    int known = 0, name_size = equals == NULL ? size : (int)(equals - text);
    for (; known < 5; known++)
        if ((int)strlen(column_known[known]) == name_size &&
            memcmp(column_known[known], text, (size_t)name_size) == 0)
            break;
    int value_size = size - name_size - 1;
    if (known == 5 || equals == NULL || value_size < 1 || value_size >= COLUMN_NAME_BYTES)
        return leat_cli_usage(
            cli,
            "--column: \"%.*s\" is not accepted; it takes COLUMN=NAME, COLUMN one "
            "of event_time, src_addr, dst_addr, ip_version, rtt, divided by "
            "commas",
            size > 200 ? 200 : size, text);
    if (names->text[known][0] != 0)
        return leat_cli_usage(cli, "--column: %s is named twice", column_known[known]);
    memcpy(names->text[known], equals + 1, (size_t)value_size);
    return 0;
}

static int read_columns(leat_cli *cli, column_names *names, leat_probes_ingest_options *options) {
    const char **const targets[5] = {&options->column_event_time, &options->column_src_addr,
                                     &options->column_dst_addr, &options->column_ip_version,
                                     &options->column_rtt};
    const char *text = leat_cli_text(cli, "column");
    while (text != NULL) {
        int size = (int)strcspn(text, ",");
        int status = read_column(cli, text, size, names);
        if (status != 0) return status;
        text = text[size] == ',' ? text + size + 1 : NULL;
    }
    for (int i = 0; i < 5; i++)
        if (names->text[i][0] != 0) *targets[i] = names->text[i];
    return 0;
}

static int read_options(leat_cli *cli, column_names *names, leat_probes_ingest_options *options) {
    leat_error err = {0};
    *options = leat_probes_ingest_options_default();
    if (leat_cli_flag(cli, "resume") && leat_cli_flag(cli, "replace"))
        return leat_cli_usage(cli, "--resume goes on with a data set that --replace would remove; "
                                   "give one of them");
    if (leat_cli_given(cli, "shards") && leat_cli_given(cli, "probes-per-shard"))
        return leat_cli_usage(cli, "--shards and --probes-per-shard both say how many shards there "
                                   "are; give one of them");
    if (leat_ar_options_parse(leat_cli_text(cli, "compression"), &options->record, &err) != LEAT_OK)
        return leat_cli_usage(cli, "--compression: %s", err.message);
    options->memory_bytes = leat_cli_int(cli, "memory");
    if (leat_cli_given(cli, "threads")) options->threads = (int)leat_cli_int(cli, "threads");
    options->seed = (uint64_t)leat_cli_int(cli, "seed");
    options->train_ratio = leat_cli_double(cli, "train-ratio");
    options->split =
        strcmp(leat_cli_text(cli, "split"), "ordered") == 0 ? LEAT_SPLIT_ORDERED : LEAT_SPLIT_HASH;
    int64_t row_bytes = leat_cli_int(cli, "max-row-size");
    options->max_row_bytes = row_bytes == LEAT_CLI_NONE ? 0 : row_bytes;
    options->probes_per_shard = leat_cli_int(cli, "probes-per-shard");
    options->shards = leat_cli_int(cli, "shards");
    options->dictionary_src = leat_cli_flag(cli, "dictionary-src");
    options->zero_address = leat_cli_flag(cli, "zero-address");
    options->strict = leat_cli_flag(cli, "strict");
    options->per_packet = leat_cli_flag(cli, "per-packet");
    options->resume = leat_cli_flag(cli, "resume");
    options->replace = leat_cli_flag(cli, "replace");
    options->temp_dir = leat_cli_text(cli, "temp");
    options->progress = leat_cli_progress;
    options->progress_user = cli;
    return read_columns(cli, names, options);
}

/* ---- The summary ------------------------------------------------------------------------- */

static void write_counts(leat_cli *cli, const char *out, const leat_probes_ingest_result *result) {
    static const char *const splits[2] = {"train", "test"};
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    leat_out(cli, "read    %s of %s = ", leat_things(a, result->rows_read, "record"),
             leat_things(b, result->files, "file"));
    leat_out(cli, "%s written + %s set aside\n", leat_words_count(a, result->measurements),
             leat_words_count(b, result->rejected));
    for (int i = 0; i < result->reject_reasons && i < LEAT_REJECT_REASONS_MAX; i++)
        if (result->reject_count[i] > 0)
            leat_out(cli, "        set aside: %s %s\n",
                     leat_words_count(a, result->reject_count[i]), result->reject_reason[i]);
    if (result->rejected > 0) leat_out(cli, "        see %s/rejected.csv\n", out);
    for (int i = 0; i < 2; i++)
        leat_out(cli, "%-7s %s in %s, %s\n", splits[i], leat_things(a, result->probes[i], "probe"),
                 leat_things(b, result->rows[i], "row"),
                 leat_things(c, result->shards[i], "shard"));
    if (result->rows_split > 0)
        leat_out(cli, "        %s rows go on with the probe of the row before (--max-row-size)\n",
                 leat_words_count(a, result->rows_split));
    if (result->probes_over_limit > 0)
        leat_out(cli,
                 "        %s probes are cut at 2 GiB, the most that an Arrow text column holds\n",
                 leat_words_count(a, result->probes_over_limit));
}

static void write_costs(leat_cli *cli, const char *out, int64_t memory_bytes,
                        const leat_probes_ingest_result *result) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES], d[LEAT_WORDS_BYTES];
    double seconds = result->seconds_total > 0 ? result->seconds_total : 1e-9;
    leat_out(cli, "bytes   %s in %s, %s spilled on the way\n",
             leat_words_bytes(a, result->bytes_written), out,
             leat_words_bytes(b, result->bytes_spilled));
    leat_out(cli, "time    %s (scanned after %s, written after %s), %s records/s\n",
             leat_words_seconds(a, result->seconds_total),
             leat_words_seconds(b, result->seconds_scan),
             leat_words_seconds(c, result->seconds_written),
             leat_words_count(d, (int64_t)((double)result->rows_read / seconds)));
    leat_out(cli, "memory  %s at most, of %s\n", leat_words_bytes(a, result->memory_peak_bytes),
             leat_words_bytes(b, memory_bytes));
    if (result->resumed)
        leat_out(cli, "resumed the scan and %s shards of an interrupted run\n",
                 leat_words_count(a, result->shards_resumed));
}

static void json_splits(leat_json *json, const char *key, const int64_t counts[2]) {
    leat_json_key(json, key);
    leat_json_begin_object(json);
    leat_json_member_int(json, "train", counts[0]);
    leat_json_member_int(json, "test", counts[1]);
    leat_json_end_object(json);
}

typedef struct json_source {
    const char *out;
    int64_t memory_bytes;
    const leat_probes_ingest_result *result;
} json_source;

static void json_members(leat_json *json, const void *of) {
    const json_source *source = of;
    const leat_probes_ingest_result *result = source->result;
    leat_json_member_string(json, "out", source->out);
    leat_json_member_int(json, "files", result->files);
    leat_json_member_int(json, "records", result->rows_read);
    leat_json_member_int(json, "measurements", result->measurements);
    leat_json_member_int(json, "set_aside", result->rejected);
    leat_json_key(json, "set_aside_reasons");
    leat_json_begin_object(json);
    for (int i = 0; i < result->reject_reasons && i < LEAT_REJECT_REASONS_MAX; i++)
        if (result->reject_count[i] > 0)
            leat_json_member_int(json, result->reject_reason[i], result->reject_count[i]);
    leat_json_end_object(json);
    json_splits(json, "probes", result->probes);
    json_splits(json, "rows", result->rows);
    json_splits(json, "shards", result->shards);
    leat_json_member_int(json, "rows_split", result->rows_split);
    leat_json_member_int(json, "probes_over_limit", result->probes_over_limit);
    leat_json_member_int(json, "bytes_written", result->bytes_written);
    leat_json_member_int(json, "bytes_spilled", result->bytes_spilled);
    leat_json_member_int(json, "memory_limit_bytes", source->memory_bytes);
    leat_json_member_int(json, "memory_peak_bytes", result->memory_peak_bytes);
    leat_json_member_double(json, "seconds_scan", result->seconds_scan);
    leat_json_member_double(json, "seconds_written", result->seconds_written);
    leat_json_member_double(json, "seconds", result->seconds_total);
    leat_json_member_bool(json, "was_complete", result->was_complete);
    leat_json_member_bool(json, "resumed", result->resumed);
    leat_json_member_int(json, "shards_resumed", result->shards_resumed);
}

static int run_ingest_probes(leat_cli *cli) {
    column_names names = {0};
    leat_probes_ingest_options options;
    leat_probes_ingest_result result;
    leat_error err = {0};
    const char *out = leat_cli_text(cli, "output");
    int status = read_options(cli, &names, &options);
    if (status != 0) return status;
    leat_cli_cancellable(cli);
    leat_code code = leat_probes_ingest(leat_cli_arguments(cli), leat_cli_argument_count(cli), out,
                                        &options, &result, &err);
    if (code == LEAT_ERR_CANCELLED) {
        leat_cli_note(cli,
                      "%s; the same command goes on with --resume, and begins anew with --replace",
                      err.message);
        return 1;
    }
    if (code != LEAT_OK) return leat_cli_fail(cli, &err);
    leat_cli_progress_end(cli);
    json_source source = {out, options.memory_bytes, &result};
    if (leat_cli_flag(cli, "json")) return leat_out_object(cli, json_members, &source);
    write_counts(cli, out, &result);
    if (result.was_complete)
        leat_out(cli, "nothing was done: %s is what an earlier run made of these inputs\n", out);
    else write_costs(cli, out, options.memory_bytes, &result);
    return 0;
}

static const leat_cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = LEAT_CLI_TEXT,
     .value = "DIR",
     .help = "the folder to write the data set to",
     .required = true},
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
    {.name = "seed",
     .kind = LEAT_CLI_INT,
     .value = "S",
     .help = "of the hash that splits probes into train and test",
     .preset = "0"},
    {.name = "train-ratio",
     .kind = LEAT_CLI_DOUBLE,
     .value = "R",
     .help = "the share of probes that train gets",
     .preset = "0.9",
     .low = 0,
     .high = 1},
    {.name = "split",
     .kind = LEAT_CLI_CHOICE,
     .choices = "hash|ordered",
     .help = "hash: by a keyed hash of the probe, stable when data is added; ordered: the first "
             "probes in byte order of the address are train",
     .preset = "hash"},
    {.name = "max-row-size",
     .kind = LEAT_CLI_SIZE_OR_NONE,
     .value = "SIZE|none",
     .help = "cut a probe into rows of at most so many bytes of measurements, none: never",
     .preset = "8M",
     .min = 1024},
    {.name = "probes-per-shard",
     .kind = LEAT_CLI_INT,
     .value = "N",
     .help = "decides how many shard files there are",
     .preset = "1000",
     .min = 1},
    {.name = "shards",
     .kind = LEAT_CLI_INT,
     .value = "N",
     .help = "exactly so many shards of train instead, and of test by the ratio",
     .min = 1,
     .max = 100000},
    {.name = "compression",
     .kind = LEAT_CLI_TEXT,
     .value = "NAME",
     .help = "none, snappy, zstd or brotli, the last two with a level as zstd:9; only none can be "
             "mapped by a loader",
     .preset = "none"},
    {.name = "dictionary-src",
     .kind = LEAT_CLI_FLAG,
     .help = "store the source address once a row: some 30 % smaller"},
    {.name = "column",
     .kind = LEAT_CLI_TEXT,
     .value = "LIST",
     .help = "other names of columns in the input: event_time=ts,rtt=latency"},
    {.name = "zero-address",
     .kind = LEAT_CLI_FLAG,
     .help = "keep rows whose address is empty, as 0.0.0.0 or ::"},
    {.name = "strict",
     .kind = LEAT_CLI_FLAG,
     .help = "fail on the first row that would be set aside"},
    {.name = "per-packet",
     .kind = LEAT_CLI_FLAG,
     .help = "RIPE Atlas: a measurement per packet instead of the average of each result"},
    {.name = "temp",
     .kind = LEAT_CLI_TEXT,
     .value = "DIR",
     .help = "where data is spilled; without it inside the output folder"},
    {.name = "resume",
     .kind = LEAT_CLI_FLAG,
     .help = "go on with an ingest that was interrupted; one that is done is left as it is"},
    {.name = "replace",
     .kind = LEAT_CLI_FLAG,
     .help = "replace the data set, or the interrupted ingest, that is there; files that leat has "
             "not made are refused, not removed"},
    LEAT_CLI_OPTION_JSON,
    {0},
};

static const leat_cli_example examples[] = {
    {"leat ingest probes pings.parquet -o data",
     "the data set in the folder data, with 512 MiB of memory"},
    {"leat ingest probes 'logs/*.json.gz' --per-packet --memory 4G -o data",
     "RIPE Atlas results, every packet a measurement"},
    {"leat ingest probes day.csv --column event_time=ts,rtt=latency_ms -o data",
     "a file whose columns have other names"},
    {0},
};

const leat_cli_command leat_cmd_ingest_probes = {
    .words = "ingest probes",
    .purpose = "ping measurements (Parquet, CSV, RIPE Atlas NDJSON) to training rows",
    .usage = "PATH... -o DIR [options]",
    .about =
        "Reads all measurements of the files, shell patterns and folders given, groups them by "
        "source address, orders each probe by time, splits the probes into train and test, and "
        "writes ArrayRecord shards of probe rows with a manifest and an index.\n\n"
        "Input columns are event_time, src_addr, dst_addr, ip_version (optional) and rtt in "
        "milliseconds; a negative, missing or NaN rtt is a failed measurement. Parquet, CSV and "
        "RIPE Atlas ping results (one JSON object a line), the texts also gzipped, are told apart "
        "by their content.\n\n"
        "Rows that cannot be used are set aside, not lost: DIR/rejected.csv names file, row and "
        "reason. The shards depend on the measurements and the options alone, not on the order of "
        "files, on threads or on memory. The data set is whole when DIR/manifest.json is there; "
        "an ingest that was killed goes on with --resume.",
    .argument = "PATH",
    .min_arguments = 1,
    .max_arguments = -1,
    .options = options,
    .examples = examples,
    .run = run_ingest_probes,
};
