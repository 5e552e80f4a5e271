/* leat cat of probe rows: their complete measurements as text that ingest can read again. */
#include <math.h>
#include <string.h>

#include "cat/cat.h"
#include "data_kinds.h"
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

static void write_ndjson(leat_cli *cli, const leat_measurement *measurement) {
    char time[LEAT_WORDS_BYTES], rtt[LEAT_WORDS_BYTES];
    leat_out(cli,
             "{\"event_time\":\"%s\",\"src_addr\":", leat_words_time(time, measurement->time_us));
    leat_out_json_text(cli, measurement->src, measurement->src_size);
    leat_out(cli, ",\"dst_addr\":");
    leat_out_json_text(cli, measurement->dst, measurement->dst_size);
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
    int32_t done = 0;
    leat_out_bytes(cli, "\"", 1);
    for (int32_t i = 0; i < size_bytes; i++) {
        if (bytes[i] != '"') continue;
        leat_out_bytes(cli, bytes + done, i - done);
        leat_out_bytes(cli, "\"", 1);
        done = i; /* a quote is doubled */
    }
    leat_out_bytes(cli, bytes + done, size_bytes - done);
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
    leat_out(cli, "  %s  ", leat_words_time(time, measurement->time_us));
    leat_out_text(cli, measurement->src, measurement->src_size);
    leat_out(cli, " -> ");
    leat_out_text(cli, measurement->dst, measurement->dst_size);
    if (measurement->rtt < 0) leat_out(cli, "  failed\n");
    else leat_out(cli, "  %s ms\n", leat_words_float(rtt, measurement->rtt));
}

/* ---- Rows -------------------------------------------------------------------------------- */

static bool has_source(const cat_job *job, const leat_measurement *measurement) {
    return strlen(job->source) == (size_t)measurement->src_size &&
           memcmp(job->source, measurement->src, (size_t)measurement->src_size) == 0;
}

/* Where probes have names, the source selects measurements; else is_wanted has selected the row. */
static leat_code write_row(cat_job *job, int64_t row, leat_error *err) {
    const leat_row_facts *facts = leat_row_get_facts(job->cursor);
    const bool selects = job->source != NULL && job->facts.probe != NULL;
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
        if (selects && !has_source(job, &measurement)) continue;
        job->found = job->found || selects;
        job->write(job->cli, &measurement);
    }
    return LEAT_OK;
}

/* Without leat_cli_cancellable, the progress line never asks the command to stop. */
static void tell_progress(cat_job *job, int64_t row) {
    leat_progress progress = {"writing", "rows", row - job->first, job->end - job->first};
    if (job->to_file) leat_cli_progress(job->cli, &progress);
}

/* Whether the open row belongs to the requested source. As a rule a row has one source, so its
 * first measurement is enough. */
static leat_code is_wanted(cat_job *job, bool *wanted, leat_error *err) {
    const leat_row_facts *facts = leat_row_get_facts(job->cursor);
    leat_measurement measurement;
    *wanted = false;
    if (facts->n_measurements == 0) return LEAT_OK;
    *wanted = job->facts.probe != NULL;
    if (*wanted) return LEAT_OK;
    leat_code code = leat_row_measurement(job->cursor, 0, &measurement, err);
    if (code != LEAT_OK) return code;
    *wanted = has_source(job, &measurement);
    if (*wanted) job->found_id = facts->src_id;
    job->found = job->found || *wanted;
    return LEAT_OK;
}

static leat_code write_rows(cat_job *job, leat_error *err) {
    leat_code code = LEAT_OK;
    for (int64_t row = job->first; row < job->end && !leat_out_broken(job->cli); row++) {
        bool wanted = true;
        tell_progress(job, row);
        if (job->found && job->facts.indexed &&
            job->facts.probe == NULL) { /* rows of a probe are adjacent */
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
                  "--src: no row has the source \"%.100s\"; spell it as in the input (leat inspect "
                  "shows examples)",
                  job->source);
    return 1;
}

int leat_cat_probes(leat_cli *cli) {
    cat_job job = {.cli = cli};
    leat_dataset *dataset = NULL;
    leat_error err = {0};
    leat_dataset_options opening = leat_dataset_options_default();
    opening.memory_bytes = leat_cli_int(cli, "memory");
    if (leat_dataset_open(&dataset, leat_cli_arguments(cli), leat_cli_argument_count(cli), &opening,
                          &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    job.dataset = dataset;
    int status = cat_dataset(cli, &job);
    leat_dataset_close(dataset);
    return status;
}
