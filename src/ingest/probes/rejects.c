/* What is said of inputs of which most rows, or all, were rejected: the commonest reason, and what
 * to do about it. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/lines.h"
#include "ingest/probes/job.h"
#include "ingest/probes/layout.h"
#include "ingest/probes/source_parts.h"

enum { VALUE_BYTES = 64, PLACE_BYTES = 200 };

/* A row as an example: where it is, and the value that it was rejected for. */
typedef struct example {
    char row[24], file[PLACE_BYTES], value[VALUE_BYTES];
} example;

static int commonest(const leat_job_state *state) {
    int most = 0;
    for (int i = 1; i < LEAT_REJECT_COUNT; i++) {
        if (state->rejected[i] > state->rejected[most]) most = i;
    }
    return most;
}

/* Whether malformed lines are those of a CSV: by the file that has one of them as an example, or
 * without one, by what was counted. */
static bool of_csv(const leat_job *job, const char *file) {
    const leat_job_state *state = &job->state;
    bool csv = false, json = false;
    for (int64_t i = 0; i < job->inputs.count; i++) {
        char name[PLACE_BYTES];
        const leat_input *input = &job->inputs.items[i];
        const bool is_csv = input->format == LEAT_INPUT_CSV;
        csv = csv || is_csv;
        json = json || input->format == LEAT_INPUT_NDJSON;
        leat_text_show(name, sizeof name, input->path, (int64_t)strlen(input->path));
        if (file != NULL && strcmp(name, file) == 0) return is_csv;
    }
    if (!csv || !json) return csv;
    return state->uneven + state->untimed > state->rejected[LEAT_REJECT_LINE] / 2;
}

/* All rtts have a unit of time in the value. */
static const char *unit_cause(unsigned units) {
    switch (units) {
    case LEAT_UNIT_OF_MS: return "the rtts have the unit ms in the values; remove it from them";
    case LEAT_UNIT_OF_US:
        return "the rtts have the unit us in the values; remove it from them, and use --column "
               "rtt=NAME:us";
    case LEAT_UNIT_OF_S:
        return "the rtts have the unit s in the values; remove it from them, and use --column "
               "rtt=NAME:s";
    case LEAT_UNIT_OF_NS:
        return "the rtts have the unit ns in the values; write them as numbers of us, and use "
               "--column rtt=NAME:us";
    default:
        return "the rtts have units in the values that differ from row to row; write all of them "
               "as numbers of milliseconds";
    }
}

/* A reason may have a cause that all of its rows share. `file` has the row that is shown as an
 * example; NULL: none is. */
static const char *cause(const leat_job *job, int reason, const char *file) {
    const leat_job_state *state = &job->state;
    int64_t half = state->rejected[reason] / 2;
    switch (reason) {
    case LEAT_REJECT_TIME_RANGE:
        if (state->late_ms > half)
            return "the times look like milliseconds, but were read as seconds, as numbers with a "
                   "fraction are; use --column event_time=NAME:ms";
        if (state->late_far > half)
            return "the times look like microseconds or nanoseconds, but were read as seconds, as "
                   "numbers with a fraction are; use --column event_time=NAME:us or NAME:ns";
        return "times must be from 1970 to the year 9999: in ISO 8601, or whole numbers of "
               "seconds, ms, us or ns since 1970";
    case LEAT_REJECT_LINE:
        if (state->uneven > half && of_csv(job, file))
            return "lines must have as many fields as the header; a field with a comma must be in "
                   "quotes";
        if (state->untimed > half && of_csv(job, file))
            return "lines must have a time in ISO 8601 (2019-04-24T20:00:00Z), or a number of "
                   "seconds, ms, us or ns since 1970";
        return of_csv(job, file)
                   ? "lines must have as many fields as the header, and valid times and "
                     "numbers; use --strict to stop at the first that does not"
                   : "each must be a JSON object with a valid time and numbers; use "
                     "--strict to stop at the first that is not";
    case LEAT_REJECT_RTT_BAD:
        if (state->with_unit > half) return unit_cause(state->rtt_units);
        if (state->shaped > half) return "the rtts are lists or objects, not numbers";
        return "an rtt must be a number, or empty if the ping failed; use --strict to stop at the "
               "first that is not";
    case LEAT_REJECT_PROBE_MISSING:
        return "they do not have the column or member that --probe names";
    case LEAT_REJECT_NOT_PING:
        if (state->plain_objects > half)
            return "they have neither the member event_time nor a type of RIPE Atlas; use --column "
                   "event_time=NAME,... for the names that they have";
        return "they are not results of ping, which are the only ones that leat reads";
    default: return "use --strict to stop at the first";
    }
}

/* The columns of rejected.csv. */
enum { FILE_AT, ROW_AT, REASON_AT, TIME_AT, SRC_AT, DST_AT, VERSION_AT, RTT_AT, LINE_AT, COLUMNS };

static int column_of(int reason) {
    switch (reason) {
    case LEAT_REJECT_SRC_BAD: return SRC_AT;
    case LEAT_REJECT_DST_BAD: return DST_AT;
    case LEAT_REJECT_TIME_RANGE: return TIME_AT;
    case LEAT_REJECT_VERSION: return VERSION_AT;
    case LEAT_REJECT_RTT:
    case LEAT_REJECT_RTT_BAD: return RTT_AT;
    default: return LINE_AT;
    }
}

static void show(char *out, int64_t out_bytes, const leat_text *field) {
    leat_text_show(out, out_bytes, field->data, field->size_bytes);
}

/* Whether a line of rejected.csv is of this reason; then *out is it. */
static bool take_example(leat_line *line, int reason, example *out) {
    leat_text fields[COLUMNS] = {{NULL, 0}};
    char *at = line->data, *end = line->data + line->size_bytes;
    int count = 0;
    while (at != NULL && count < COLUMNS && leat_line_field(&at, end, &fields[count])) count++;
    const char *wanted = leat_reject_text((leat_reject)reason);
    const leat_text *found = &fields[REASON_AT];
    if (count != COLUMNS || found->size_bytes != (int32_t)strlen(wanted) ||
        memcmp(found->data, wanted, strlen(wanted)) != 0)
        return false;
    const leat_text *value = &fields[column_of(reason)];
    if (value->size_bytes == 0) value = &fields[LINE_AT]; /* a line that was not taken apart */
    show(out->row, sizeof out->row, &fields[ROW_AT]);
    show(out->file, sizeof out->file, &fields[FILE_AT]);
    show(out->value, sizeof out->value, value);
    return true;
}

/* The first row of a reason, in the log that the scan has written. */
static leat_code find_example(const leat_job *job, int reason, example *out, leat_error *err) {
    const leat_lines_options options = {.quotes = true};
    char path[LEAT_PATH_BYTES];
    leat_lines *lines = NULL;
    leat_line line;
    bool found = true;
    *out = (example){.row = ""};
    LEAT_TRY(leat_path_join(path, sizeof path, job->folder.stage, LEAT_REJECTED_NAME, err));
    LEAT_TRY(leat_lines_open(&lines, path, &options, err));
    leat_code code = LEAT_OK;
    while (code == LEAT_OK && found) {
        code = leat_lines_next(lines, &line, &found, err);
        if (code == LEAT_OK && found && line.fault == LEAT_LINE_GOOD &&
            take_example(&line, reason, out))
            break;
    }
    leat_lines_close(lines);
    return code;
}

/* What something that is not an address is, and what to do about it; "": that is not known. */
static const char *what_is(const char *value) {
    const size_t size = strlen(value), digits = strspn(value, "0123456789");
    const char *colon = strrchr(value, ':');
    if (size > 0 && digits == size)
        return "numbers are not addresses; if they identify hosts, join them with a table of the "
               "hosts' addresses first";
    if (strstr(value, "\\x") != NULL)
        return "it looks like the bytes of an address; write addresses as text";
    if (strchr(value, '/') != NULL) return "a prefix is not an address; remove what follows the /";
    if (value[0] == '[' || (colon != NULL && strchr(value, ':') == colon &&
                            strspn(colon + 1, "0123456789") == strlen(colon + 1)))
        return "an address must not have a port; remove it";
    for (const char *at = value; colon == NULL && *at != 0; at++)
        if (isalpha((unsigned char)*at) && strchr("abcdefABCDEF", *at) == NULL)
            return "host names are not addresses; resolve them first";
    return "";
}

/* The name of the column that rows of this reason lack; NULL: another reason. */
static const char *missing_column(const leat_job *job, int reason) {
    const leat_probes_ingest_options *o = job->options;
    if (reason == LEAT_REJECT_SRC_MISSING)
        return o->column_src_addr != NULL ? o->column_src_addr : "src_addr";
    if (reason == LEAT_REJECT_DST_MISSING)
        return o->column_dst_addr != NULL ? o->column_dst_addr : "dst_addr";
    return NULL;
}

/* Rows that are no objects with the members that are read: by the layout of the file that has the
 * first of them, which is shown. */
static void find_layout(const leat_job *job, const example *first, char *out) {
    const char *time = job->options->column_event_time;
    out[0] = 0;
    for (int64_t i = 0; i < job->inputs.count; i++) {
        char name[PLACE_BYTES];
        const leat_input *input = &job->inputs.items[i];
        leat_text_show(name, sizeof name, input->path, (int64_t)strlen(input->path));
        if (input->format != LEAT_INPUT_NDJSON || strcmp(name, first->file) != 0) continue;
        leat_layout_remedy(input, time != NULL ? time : "event_time", out);
        return;
    }
}

static leat_code refuse_all(const leat_job *job, int reason, leat_error *err) {
    const leat_job_state *state = &job->state;
    const bool is_address = reason == LEAT_REJECT_SRC_BAD || reason == LEAT_REJECT_DST_BAD;
    example first;
    LEAT_TRY(find_example(job, reason, &first, err));
    const char *why = is_address ? what_is(first.value) : "",
               *missing = missing_column(job, reason);
    char remedy[LEAT_SOURCE_REMEDY_BYTES], layout[LEAT_LAYOUT_BYTES];
    find_layout(job, &first, layout);
    if (layout[0] != 0 && (reason == LEAT_REJECT_LINE || reason == LEAT_REJECT_NOT_PING))
        return leat_fail(err, LEAT_ERR_INPUT, "none of %lld row%s of \"%s\" is a measurement: %s",
                         (long long)state->rows_read, state->rows_read == 1 ? "" : "s", first.file,
                         layout);
    if (reason == LEAT_REJECT_RTT_BAD && state->shaped > state->rejected[reason] / 2)
        return leat_fail(
            err, LEAT_ERR_INPUT, "none of %lld row%s is a measurement; the rtt of the first is %s",
            (long long)state->rows_read, state->rows_read == 1 ? "" : "s", state->shape);
    if (why[0] == 0) why = cause(job, reason, first.file);
    if (missing != NULL && leat_source_remedy(first.file, missing, remedy)) why = remedy;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "none of %lld row%s is a measurement (%s: %lld); the first is row %s of "
                     "\"%s\": %s%s%s; %s",
                     (long long)state->rows_read, state->rows_read == 1 ? "" : "s",
                     leat_reject_text((leat_reject)reason), (long long)state->rejected[reason],
                     first.row, first.file, first.value[0] != 0 ? "\"" : "empty", first.value,
                     first.value[0] != 0 ? "\"" : "", why);
}

leat_code leat_job_check_not_empty(const leat_job *job, leat_error *err) {
    const leat_job_state *state = &job->state;
    if (state->measurements > 0) return LEAT_OK;
    if (state->rows_read == 0) {
        return leat_fail(err, LEAT_ERR_INPUT, "no rows in %lld input file%s (first: \"%s\")",
                         (long long)job->inputs.count, job->inputs.count == 1 ? "" : "s",
                         job->inputs.items[0].path);
    }
    return refuse_all(job, commonest(state), err);
}

void leat_job_warn_rejected(const leat_job *job, char *text, int64_t size_bytes) {
    const leat_job_state *state = &job->state;
    int64_t all = 0;
    for (int i = 0; i < LEAT_REJECT_COUNT; i++) all += state->rejected[i];
    text[0] = 0;
    if (all <= state->rows_read / 2) return;
    int most = commonest(state);
    snprintf(text, (size_t)size_bytes,
             "%lld of %lld rows were rejected, %lld of them as %s: %s; see \"%.200s/rejected.csv\"",
             (long long)all, (long long)state->rows_read, (long long)state->rejected[most],
             leat_reject_text(most), cause(job, most, NULL), job->folder.out);
}
