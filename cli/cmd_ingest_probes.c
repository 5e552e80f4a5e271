/* leat ingest probes: Parquet, CSV or RIPE Atlas JSON to ArrayRecord probe rows. */
#include <stdio.h>
#include <string.h>

#include "ingest.h"
#include "leat/ingest.h"
#include "overlap.h"

#define COLUMN_NAME_BYTES 256

typedef struct column_names {
    char text[5][COLUMN_NAME_BYTES]; /* empty: not renamed */
    leat_time_unit time_unit;
    leat_rtt_unit rtt_unit;
} column_names;

static const char *const column_known[5] = {"event_time", "src_addr", "dst_addr", "ip_version",
                                            "rtt"};

typedef struct unit_name {
    const char *text;
    int column, unit;
} unit_name;
static const unit_name units[] = {
    {":ms", 0, LEAT_TIME_UNIT_MS},       {":us", 0, LEAT_TIME_UNIT_US},
    {":ns", 0, LEAT_TIME_UNIT_NS},       {":s", 0, LEAT_TIME_UNIT_S},
    {":excel", 0, LEAT_TIME_UNIT_EXCEL}, {":ms", 4, LEAT_RTT_UNIT_MS},
    {":us", 4, LEAT_RTT_UNIT_US},        {":s", 4, LEAT_RTT_UNIT_S},
    {":ns", 4, LEAT_RTT_UNIT_NS},
};

/* Takes the unit from the end of a column's name, if there is one. */
static void read_unit(column_names *names, int column) {
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t size = strlen(units[i].text), all = strlen(names->text[column]);
        if (units[i].column != column || all <= size ||
            strcmp(names->text[column] + all - size, units[i].text) != 0)
            continue;
        names->text[column][all - size] = 0;
        if (column == 0) names->time_unit = (leat_time_unit)units[i].unit;
        else names->rtt_unit = (leat_rtt_unit)units[i].unit;
        return;
    }
}

/* Reads one "event_time=ts" of `size` bytes. Returns 0, or 2 after reporting an error. */
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
            "--column: \"%.*s\" is not accepted; it takes COLUMN=NAME, separated by commas, where "
            "COLUMN is one of event_time, src_addr, dst_addr, ip_version, rtt",
            size > 200 ? 200 : size, text);
    if (names->text[known][0] != 0)
        return leat_cli_usage(cli, "--column: %s is given twice", column_known[known]);
    memcpy(names->text[known], equals + 1, (size_t)value_size);
    read_unit(names, known);
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
    options->event_time_unit = names->time_unit;
    options->rtt_unit = names->rtt_unit;
    return 0;
}

static int read_options(leat_cli *cli, column_names *names, leat_probes_ingest_options *options) {
    *options = leat_probes_ingest_options_default();
    if (leat_cli_given(cli, "shards") && leat_cli_given(cli, "probes-per-shard"))
        return leat_cli_usage(cli, "--shards and --probes-per-shard both set the number of shards; "
                                   "give only one of them");
    options->progress = leat_cli_progress;
    options->progress_user = cli;
    int status = leat_cli_set(cli, leat_probes_ingest_options_table(), options);
    return status == 0 ? read_columns(cli, names, options) : status;
}

/* ---- The summary ------------------------------------------------------------------------- */

/* "rtt=NAME:UNIT" as a word of a shell; NAME stands for one that a terminal does not show. */
static void write_mapping(leat_cli *cli, const char *column, const char *unit) {
    char item[COLUMN_NAME_BYTES + 16], word[4 * sizeof item];
    snprintf(item, sizeof item, "rtt=%s:%s", column, unit);
    if (leat_shell_word(word, sizeof word, item)) leat_out(cli, "%s", word);
    else leat_out(cli, "rtt=NAME:%s", unit);
}

/* The unit that the name of the column states. */
static void write_unit(leat_cli *cli, const char *column, const leat_probes_ingest_result *result) {
    static const char *const words[] = {[LEAT_RTT_UNIT_MS] = "milliseconds",
                                        [LEAT_RTT_UNIT_US] = "microseconds",
                                        [LEAT_RTT_UNIT_S] = "seconds",
                                        [LEAT_RTT_UNIT_NS] = "nanoseconds"};
    if (!result->rtt_unit_from_name) return;
    leat_out(cli, "rtt     in %s, by the name ", words[result->rtt_unit]);
    leat_out_name(cli, column);
    leat_out(cli, " (--column ");
    write_mapping(cli, column, result->rtt_unit == LEAT_RTT_UNIT_MS ? "us" : "ms");
    leat_out(cli, " for another unit)\n");
}

static void write_counts(leat_cli *cli, const char *out, double train_ratio,
                         const leat_probes_ingest_result *result) {
    static const char *const splits[2] = {"train", "test"};
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    leat_out(cli, "read    %s of %s = ", leat_things(a, result->rows_read, "record"),
             leat_things(b, result->files, "file"));
    const int64_t measured = result->measurements + result->duplicates_dropped;
    const int64_t accepted = result->rows_read - result->rejected;
    if (measured != accepted) /* a record was a measurement for each of its packets */
        leat_out(cli, "%s accepted + %s rejected\n        accepted: %s = ",
                 leat_words_count(a, accepted), leat_words_count(b, result->rejected),
                 leat_things(c, measured, "measurement"));
    leat_out(cli, "%s written", leat_words_count(a, result->measurements));
    if (measured == accepted)
        leat_out(cli, " + %s rejected", leat_words_count(b, result->rejected));
    if (result->duplicates_dropped > 0)
        leat_out(cli, " + %s dropped", leat_words_count(a, result->duplicates_dropped));
    leat_out(cli, "\n");
    for (int i = 0; i < result->reject_reasons && i < LEAT_REJECT_REASONS_MAX; i++)
        if (result->reject_count[i] > 0)
            leat_out(cli, "        rejected: %s %s\n", leat_words_count(a, result->reject_count[i]),
                     result->reject_reason[i]);
    if (result->duplicates_dropped > 0)
        leat_out(cli, "        dropped: %s of measurements that were written\n",
                 leat_things(a, result->duplicates_dropped, "duplicate"));
    else if (result->duplicates > 0)
        leat_out(cli, "        %s equal to another measurement written (--duplicates drop)\n",
                 leat_things(a, result->duplicates, "duplicate"));
    if (result->rejected > 0) {
        leat_out(cli, "        see ");
        leat_out_name(cli, out);
        leat_out(cli, "/rejected.csv\n");
    }
    leat_ingest_write_skipped(cli, &result->skipped);
    for (int i = 0; i < 2; i++)
        leat_out(cli, "%-7s %s in %s, %s\n", splits[i], leat_things(a, result->probes[i], "probe"),
                 leat_things(b, result->rows[i], "row"),
                 leat_things(c, result->shards[i], "shard"));
    if (result->probes[1] == 0 && train_ratio < 1)
        leat_out(cli, "        test is empty: all probes were assigned to train (--train-ratio 1 "
                      "states that)\n");
    if (result->overlap.mirrored > 0 || result->overlap.sources_shared > 0)
        leat_overlap_write(cli, &result->overlap, "shared  ", "        ");
    if (result->rows_split > 0)
        leat_out(cli, "        %s rows continue the probe of the previous row (--max-row-size)\n",
                 leat_words_count(a, result->rows_split));
    if (result->probes_over_limit > 0)
        leat_out(cli,
                 "        %s probes have several rows: an Arrow text column holds 2 GiB at most\n",
                 leat_words_count(a, result->probes_over_limit));
}

static void write_costs(leat_cli *cli, const char *out, int64_t memory_bytes,
                        const leat_probes_ingest_result *result) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES], d[LEAT_WORDS_BYTES];
    double seconds = result->seconds_total > 0 ? result->seconds_total : 1e-9;
    leat_out(cli, "bytes   %s in ", leat_words_bytes(a, result->bytes_written));
    leat_out_name(cli, out);
    leat_out(cli, ", %s spilled\n", leat_words_bytes(b, result->bytes_spilled));
    leat_out(cli, "time    %s (scanned after %s, written after %s), %s records/s\n",
             leat_words_seconds(a, result->seconds_total),
             leat_words_seconds(b, result->seconds_scan),
             leat_words_seconds(c, result->seconds_written),
             leat_words_rate(d, (double)result->rows_read / seconds));
    leat_out(cli, "memory  peak %s, limit %s\n", leat_words_bytes(a, result->memory_peak_bytes),
             leat_words_bytes(b, memory_bytes));
}

static void json_splits(leat_json *json, const char *key, const int64_t counts[2]) {
    leat_json_key(json, key);
    leat_json_begin_object(json);
    leat_json_member_int(json, "train", counts[0]);
    leat_json_member_int(json, "test", counts[1]);
    leat_json_end_object(json);
}

static const char *const unit_texts[] = {[LEAT_RTT_UNIT_MS] = "ms",
                                         [LEAT_RTT_UNIT_US] = "us",
                                         [LEAT_RTT_UNIT_S] = "s",
                                         [LEAT_RTT_UNIT_NS] = "ns"};

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
    leat_ingest_json_skipped(json, &result->skipped);
    leat_json_member_int(json, "records", result->rows_read);
    leat_json_member_int(json, "measurements", result->measurements);
    leat_json_member_int(json, "rejected", result->rejected);
    leat_json_key(json, "rejected_reasons");
    leat_json_begin_object(json);
    for (int i = 0; i < result->reject_reasons && i < LEAT_REJECT_REASONS_MAX; i++)
        if (result->reject_count[i] > 0)
            leat_json_member_int(json, result->reject_reason[i], result->reject_count[i]);
    leat_json_end_object(json);
    leat_json_key(json, "duplicates");
    if (result->duplicates < 0) leat_json_null(json);
    else leat_json_int(json, result->duplicates);
    leat_json_member_int(json, "mapped_addresses", result->mapped);
    leat_json_member_int(json, "duplicates_dropped", result->duplicates_dropped);
    leat_json_member_string(json, "rtt_unit", unit_texts[result->rtt_unit]);
    leat_json_member_bool(json, "rtt_unit_from_name", result->rtt_unit_from_name);
    json_splits(json, "probes", result->probes);
    json_splits(json, "rows", result->rows);
    json_splits(json, "shards", result->shards);
    leat_overlap_json(json, &result->overlap);
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
    leat_json_member_bool(json, "verified", result->verified);
    leat_json_member_int(json, "shards_resumed", result->shards_resumed);
    leat_json_key(json, "warnings");
    leat_json_begin_array(json);
    if (result->warning[0] != 0) leat_json_string(json, result->warning);
    if (result->rejected_warning[0] != 0) leat_json_string(json, result->rejected_warning);
    for (int i = 0; i < result->warning_count; i++) leat_json_string(json, result->warnings[i]);
    leat_json_end_array(json);
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
    if (code != LEAT_OK) return leat_cli_fail(cli, &err);
    leat_cli_progress_end(cli);
    if (result.warning[0] != 0) leat_cli_note(cli, "warning: %s", result.warning);
    if (result.rejected_warning[0] != 0) leat_cli_note(cli, "warning: %s", result.rejected_warning);
    for (int i = 0; i < result.warning_count; i++)
        leat_cli_note(cli, "warning: %s", result.warnings[i]);
    if (options.resume && !result.resumed) leat_ingest_note_new(cli);
    json_source source = {out, options.memory_bytes, &result};
    if (leat_cli_flag(cli, "json")) return leat_out_object(cli, json_members, &source);
    if (result.resumed && !result.was_complete) {
        char shards[LEAT_WORDS_BYTES];
        leat_out(cli, "resumed the scan and %s of an interrupted run (inputs: %s)\n",
                 leat_things(shards, result.shards_resumed, "shard"),
                 leat_ingest_compared(result.verified));
    }
    write_counts(cli, out, options.train_ratio, &result);
    write_unit(cli, options.column_rtt, &result);
    if (result.was_complete) {
        leat_out(cli, "nothing to do: ");
        leat_out_name(cli, out);
        leat_out(cli, " already holds the result for these inputs (%s)\n",
                 leat_ingest_compared(result.verified));
    } else {
        write_costs(cli, out, options.memory_bytes, &result);
    }
    return 0;
}

static const leat_cli_option options[] = {
    LEAT_INGEST_OPTION_OUTPUT,
    {.own.name = "column",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "LIST",
     .own.help = "names of columns in the input, if different, and units: event_time=ts,"
                 "rtt=delay:us. Units are s, ms, us, ns and excel of event_time, which is "
                 "otherwise read by the size of the number, and s, ms, us and ns of rtt, which "
                 "otherwise has the unit that its name ends with (rtt_us, latencyNs), or is in ms"},
    {.table = leat_probes_ingest_options_table},
    LEAT_CLI_OPTION_JSON,
    {0},
};

static const leat_cli_example examples[] = {
    {"leat ingest probes pings.parquet -o data",
     "write the data set to the folder data, within 512 MiB of memory"},
    {"leat ingest probes 'logs/*.json.gz' --per-packet --memory 4G -o data",
     "RIPE Atlas results, one measurement per packet"},
    {"leat ingest probes 'logs/*.json.gz' --probe prb_id -o data",
     "RIPE Atlas probes by their numbers, whatever addresses they have"},
    {"leat ingest probes day.csv --column event_time=ts,rtt=latency_ms -o data",
     "a file with different column names"},
    {"leat ingest probes day.csv --column rtt=seconds:s -o data",
     "a file whose round-trip times are in seconds"},
    {0},
};

const leat_cli_command leat_cmd_ingest_probes = {
    .words = "ingest probes",
    .purpose = "turn ping measurements (Parquet, CSV, RIPE Atlas JSON) into training rows",
    .usage = "PATH... -o DIR [options]",
    .about =
        "Reads all measurements in the given files, shell patterns and folders, groups them by "
        "source address, orders each probe by time, splits the probes into train and test, and "
        "writes ArrayRecord shards of probe rows with a manifest and an index.\n\n"
        "Input columns are event_time, src_addr, dst_addr, ip_version (optional) and rtt in "
        "milliseconds; a negative, missing or NaN rtt is a failed measurement. Parquet, CSV, TSV "
        "and RIPE Atlas ping results (JSON: one object per line, one array, or objects under data "
        "or results) are recognised by their contents; all but Parquet may be compressed "
        "by gzip, bzip2, xz, zstd or zip.\n\n"
        "Rejected rows are not lost: DIR/rejected.csv lists the file, row and reason of each. The "
        "shards are a function of the measurements and the options; the order of files, threads "
        "and memory do not change them. The data set is complete once DIR/manifest.json exists. "
        "Resume an interrupted ingest with --resume.",
    .argument = "PATH",
    .min_arguments = 1,
    .max_arguments = -1,
    .options = options,
    .shows_progress = true,
    .examples = examples,
    .run = run_ingest_probes,
};
