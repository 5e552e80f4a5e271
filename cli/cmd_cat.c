/* leat cat: the measurements of a data set, complete, as text that ingest reads again; graphs of a
 * CAN cache are in cat_can.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cat.h"
#include "leat/load.h"

typedef void (*write_fn)(leat_cli *cli, const leat_measurement *measurement);

typedef struct cat_job {
    leat_cli *cli;
    const leat_dataset *dataset;
    leat_dataset_facts facts;
    leat_row *cursor;
    write_fn write;
    bool words;         /* a line before each row */
    bool to_file;       /* progress is shown */
    int64_t first, end; /* rows */
    const char *source; /* NULL: all */
    bool found;         /* the source */
    int64_t found_id;   /* its src_id */
} cat_job;

/* ---- Forms ------------------------------------------------------------------------------- */

void leat_cat_json_text(leat_cli *cli, const char *bytes, int32_t size_bytes) {
    int32_t plain = 0;
    leat_out_bytes(cli, "\"", 1);
    for (int32_t i = 0; i < size_bytes; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\') continue;
        leat_out_bytes(cli, bytes + plain, i - plain);
        plain = i + 1;
        if (byte >= 0x7f) leat_out(cli, "\\ufffd");
        else if (byte < 0x20) leat_out(cli, "\\u%04x", byte);
        else leat_out(cli, "\\%c", byte);
    }
    leat_out_bytes(cli, bytes + plain, size_bytes - plain);
    leat_out_bytes(cli, "\"", 1);
}

static void write_ndjson(leat_cli *cli, const leat_measurement *measurement) {
    char time[LEAT_WORDS_BYTES], rtt[LEAT_WORDS_BYTES];
    leat_out(cli,
             "{\"event_time\":\"%s\",\"src_addr\":", leat_words_time(time, measurement->time_us));
    leat_cat_json_text(cli, measurement->src, measurement->src_size);
    leat_out(cli, ",\"dst_addr\":");
    leat_cat_json_text(cli, measurement->dst, measurement->dst_size);
    leat_out(cli, ",\"ip_version\":%d,\"rtt\":%s}\n", measurement->ip_version,
             isfinite(measurement->rtt) ? leat_words_float(rtt, measurement->rtt) : "null");
}

static void write_csv_text(leat_cli *cli, const char *bytes, int32_t size_bytes) {
    bool quoted = false;
    for (int32_t i = 0; i < size_bytes && !quoted; i++)
        quoted = memchr("\",\r\n", bytes[i], 4) != NULL;
    if (!quoted) {
        leat_out_bytes(cli, bytes, size_bytes);
        return;
    }
    leat_out_bytes(cli, "\"", 1);
    for (int32_t i = 0; i < size_bytes; i++) {
        if (bytes[i] == '"') leat_out_bytes(cli, "\"", 1);
        leat_out_bytes(cli, bytes + i, 1);
    }
    leat_out_bytes(cli, "\"", 1);
}

static void write_csv(leat_cli *cli, const leat_measurement *measurement) {
    char time[LEAT_WORDS_BYTES], rtt[LEAT_WORDS_BYTES];
    leat_out(cli, "%s,", leat_words_time(time, measurement->time_us));
    write_csv_text(cli, measurement->src, measurement->src_size);
    leat_out_bytes(cli, ",", 1);
    write_csv_text(cli, measurement->dst, measurement->dst_size);
    leat_out(cli, ",%d,%s\n", measurement->ip_version, leat_words_float(rtt, measurement->rtt));
}

static void write_words(leat_cli *cli, const leat_measurement *measurement) {
    char time[LEAT_WORDS_BYTES], rtt[LEAT_WORDS_BYTES];
    leat_out(cli, "  %s  %.*s -> %.*s  ", leat_words_time(time, measurement->time_us),
             (int)measurement->src_size, measurement->src, (int)measurement->dst_size,
             measurement->dst);
    if (measurement->rtt < 0) leat_out(cli, "failed\n");
    else leat_out(cli, "%s ms\n", leat_words_float(rtt, measurement->rtt));
}

/* ---- Rows -------------------------------------------------------------------------------- */

static leat_code write_row(cat_job *job, int64_t row, leat_error *err) {
    const leat_row_facts *facts = leat_row_get_facts(job->cursor);
    if (job->words) {
        char count[LEAT_WORDS_BYTES];
        leat_out(job->cli, "row %lld: probe %lld, %s %s\n", (long long)row,
                 (long long)facts->src_id, leat_words_count(count, facts->n_measurements),
                 facts->n_measurements == 1 ? "measurement" : "measurements");
    }
    for (int64_t i = 0; i < facts->n_measurements && !leat_out_broken(job->cli); i++) {
        leat_measurement measurement;
        leat_code code = leat_row_measurement(job->cursor, i, &measurement, err);
        if (code != LEAT_OK) return code;
        job->write(job->cli, &measurement);
    }
    return LEAT_OK;
}

/* A command that is not made cancellable is never asked to stop by its progress line. */
static void tell_progress(cat_job *job, int64_t row) {
    leat_progress progress = {"writing", "rows", row - job->first, job->end - job->first};
    if (job->to_file) leat_cli_progress(job->cli, &progress);
}

/* Whether the open row is the wanted source's: a row has one source, so its first measurement says
 * it. */
static leat_code is_wanted(cat_job *job, bool *wanted, leat_error *err) {
    const leat_row_facts *facts = leat_row_get_facts(job->cursor);
    leat_measurement measurement;
    *wanted = false;
    if (facts->n_measurements == 0) return LEAT_OK;
    leat_code code = leat_row_measurement(job->cursor, 0, &measurement, err);
    if (code != LEAT_OK) return code;
    *wanted = strlen(job->source) == (size_t)measurement.src_size &&
              memcmp(job->source, measurement.src, (size_t)measurement.src_size) == 0;
    if (*wanted) job->found_id = facts->src_id;
    job->found = job->found || *wanted;
    return LEAT_OK;
}

static leat_code write_rows(cat_job *job, leat_error *err) {
    leat_code code = LEAT_OK;
    for (int64_t row = job->first; row < job->end && !leat_out_broken(job->cli); row++) {
        bool wanted = true;
        tell_progress(job, row);
        if (job->found && job->facts.indexed) { /* the rows of a probe of ours stand together */
            leat_row_facts facts;
            code = leat_dataset_row(job->dataset, row, &facts, err);
            if (code != LEAT_OK || facts.src_id != job->found_id) return code;
        }
        code = leat_dataset_row_open(job->dataset, row, job->cursor, err);
        if (code == LEAT_OK && job->source != NULL) code = is_wanted(job, &wanted, err);
        if (code == LEAT_OK && wanted) code = write_row(job, row, err);
        if (code != LEAT_OK) return code;
    }
    return code;
}

int leat_cat_read_range(leat_cli *cli, const char *option, const char *things, int64_t count,
                        leat_cat_range *out) {
    const char *text = leat_cli_text(cli, option);
    char *end = NULL;
    *out = (leat_cat_range){0, count};
    if (text == NULL) return 0;
    bool good = strspn(text, "0123456789:") == strlen(text) && strlen(text) < 40 && text[0] != 0;
    if (good && text[0] != ':') out->first = strtoll(text, &end, 10);
    const char *rest = end == NULL ? text : end;
    bool alone = good && rest[0] == 0;
    if (alone) {
        good = out->first < count;
        out->end = out->first + good;
    } else if (good && rest[1] != 0) {
        long long last = strtoll(rest + 1, &end, 10);
        good = *end == 0;
        if (last < out->end) out->end = last;
    }
    if (good && out->first <= out->end) return 0;
    return leat_cli_usage(cli,
                          "--%s: \"%.100s\" is not accepted; it takes FIRST:END, END not among "
                          "them, or one number; there are %ss 0 to %lld",
                          option, text, things, (long long)count - 1);
}

static int cat_dataset(leat_cli *cli, cat_job *job) {
    const char *format = leat_cli_text(cli, "format");
    leat_error err = {0};
    job->source = leat_cli_text(cli, "src");
    job->words = strcmp(format, "words") == 0;
    job->to_file = leat_out_is_file();
    job->write = job->words ? write_words : strcmp(format, "csv") == 0 ? write_csv : write_ndjson;
    leat_dataset_get_facts(job->dataset, &job->facts);
    leat_cat_range range;
    int status = leat_cat_read_range(cli, "rows", "row", job->facts.row_count, &range);
    if (status != 0) return status;
    job->first = range.first;
    job->end = range.end;
    if (leat_row_create(&job->cursor, job->dataset, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    if (job->write == write_csv) leat_out(cli, "event_time,src_addr,dst_addr,ip_version,rtt\n");
    leat_code code = write_rows(job, &err);
    leat_row_destroy(job->cursor);
    if (code != LEAT_OK) return leat_cli_fail(cli, &err);
    if (job->source == NULL || job->found) return 0;
    leat_cli_note(cli,
                  "no row of the source \"%.100s\": it must be written as in the input, and "
                  "leat inspect shows some",
                  job->source);
    return 1;
}

static int run_cat(leat_cli *cli) {
    cat_job job = {.cli = cli};
    leat_dataset *dataset = NULL;
    leat_error err = {0};
    leat_cli_data data = LEAT_CLI_ANY;
    int status = leat_cli_take_data(cli, &data);
    if (status != 0) return status;
    if (data == LEAT_CLI_CAN) return leat_cat_can(cli);
    if (leat_dataset_open(&dataset, leat_cli_arguments(cli), leat_cli_argument_count(cli), NULL,
                          &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    job.dataset = dataset;
    status = cat_dataset(cli, &job);
    leat_dataset_close(dataset);
    return status;
}

static const leat_cli_option options[] = {
    {.name = "format",
     .letter = 'f',
     .kind = LEAT_CLI_CHOICE,
     .choices = "ndjson|csv|words",
     .help = "ndjson holds everything, a measurement or a graph a line; csv, of measurements, too, "
             "and both can be ingested again; words is for reading",
     .preset = "ndjson"},
    {.name = "rows",
     .kind = LEAT_CLI_TEXT,
     .value = "FIRST:END",
     .help = "only these rows of the data set, counted from 0, END not among them; either may be "
             "left out; a number alone is that row",
     .of = LEAT_CLI_PROBES},
    {.name = "src",
     .kind = LEAT_CLI_TEXT,
     .value = "ADDRESS",
     .help = "only the probe with this address, written as it was in the input",
     .of = LEAT_CLI_PROBES},
    {.name = "graph",
     .kind = LEAT_CLI_TEXT,
     .value = "I",
     .help = "only this graph of the split, counted from 0, or graphs FIRST:END, END not among "
             "them",
     .of = LEAT_CLI_CAN},
    {.name = "split",
     .kind = LEAT_CLI_TEXT,
     .value = "NAME",
     .help = "train, val or a test; leat inspect lists them",
     .preset = "train",
     .of = LEAT_CLI_CAN},
    {.name = "scale",
     .kind = LEAT_CLI_CHOICE,
     .choices = "none|stored",
     .help = "features as they are stored, or scaled with the cache's scaler as loading does",
     .preset = "none",
     .of = LEAT_CLI_CAN},
    {0},
};

static const leat_cli_example examples[] = {
    {"leat cat data | head", "the first measurements as JSON, one a line"},
    {"leat cat data --format csv --src 192.0.2.7 > probe.csv", "all measurements of one probe"},
    {"leat cat data/test/test_shard_00000.arrayrecord --format words --rows 0:3",
     "three rows of one shard in words"},
    {"leat cat cache --graph 5 --format words", "a window of CAN frames as a graph, in words"},
    {0},
};

const leat_cli_command leat_cmd_cat = {
    .words = "cat",
    .purpose = "the measurements of a data set, or the graphs of a CAN cache, as text",
    .usage = "PATH... [options]",
    .about =
        "Writes the measurements of a data set, or of ArrayRecord files of probe rows, to "
        "stdout: all columns, row by row in the order of the files. Round-trip times have the "
        "fewest digits that read back as the same number.\n\n"
        "Of a CAN cache: the graphs of one split, all tensors of a graph in one JSON line, with "
        "the capture, the frames and the identifiers that it is made of.\n\n"
        "Everything written was checked first; a damaged record ends the output with an error "
        "that names it.",
    .argument = "PATH",
    .min_arguments = 1,
    .max_arguments = -1,
    .options = options,
    .examples = examples,
    .run = run_cat,
};
