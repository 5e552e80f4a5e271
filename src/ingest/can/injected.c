/* What metadata beside the logs has labelled, and where it does not agree with them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ingest/can/cache/capture_metadata.h"
#include "ingest/can/job.h"

/* An interval that ends so much after a log was written for another one. */
#define BEYOND_S 1.0

/* Of a log with an interval. */
typedef struct labelled {
    int64_t frames, attacks;
    double first_s, last_s;
    bool falls; /* its clock falls back */
} labelled;

/* Files of which the same is true: the first of them, and their number. */
typedef struct some_files {
    int64_t first, count;
} some_files;
static void count_file(some_files *some, int64_t file) {
    if (some->count++ == 0) some->first = file;
}

typedef struct text {
    const leat_can_splits *splits;
    char *bytes;
    size_t size_bytes;
} text;
static void add(text *to, const char *format, ...) LEAT_PRINTF(2, 3);
static void add(text *to, const char *format, ...) {
    size_t used = strlen(to->bytes);
    va_list args;
    va_start(args, format);
    vsnprintf(to->bytes + used, to->size_bytes - used, format, args);
    va_end(args);
}

/* "folder/file.log" and 2 other files: what */
static void add_files(text *to, some_files some, const char *what) {
    char folder[100], name[100];
    if (some.count == 0) return;
    const leat_can_source *file = &to->splits->files[some.first];
    leat_text_show(folder, sizeof folder, file->folder, (int64_t)strlen(file->folder));
    leat_text_show(name, sizeof name, file->name, (int64_t)strlen(file->name));
    add(to, "%s\"%s%s%s\"", to->bytes[0] != 0 ? "; " : "", folder, folder[0] != 0 ? "/" : "", name);
    if (some.count > 1)
        add(to, " and %lld other file%s", (long long)some.count - 1, some.count == 2 ? "" : "s");
    add(to, ": %s", what);
}

/* Logs of the metadata that are not there; logs that it does not name. */
static void add_names(text *to) {
    const leat_can_splits *splits = to->splits;
    const leat_can_metadata *first = NULL;
    int64_t missing = 0;
    some_files unnamed = {0};
    for (int64_t i = 0; i < splits->metadata_count; i++) {
        const leat_can_metadata *one = &splits->metadata[i];
        if (one->missing > 0 && first == NULL) first = one;
        missing += one->missing;
        if (unnamed.count == 0 && one->unnamed > 0) unnamed.first = one->unnamed_file;
        unnamed.count += one->unnamed;
    }
    if (first != NULL)
        add(to, "%s" LEAT_CAN_METADATA_FILE " names %lld capture%s that %s not there: \"%s\"%s",
            to->bytes[0] != 0 ? "; " : "", (long long)missing, missing == 1 ? "" : "s",
            missing == 1 ? "is" : "are", first->missing_name, missing == 1 ? "" : ", ...");
    add_files(to, unnamed,
              LEAT_CAN_METADATA_FILE " beside it does not name it, so it has no labels from there");
}

static void put_interval(leat_can_job *job, int64_t file, const labelled *log) {
    leat_can_ingest_result *result = job->result;
    result->frames_injected += log->attacks;
    if (result->interval_count++ >= LEAT_CAN_INTERVALS_NAMED) return;
    leat_can_injected_log *to = &result->interval[result->interval_count - 1];
    leat_inputs_name(job->splits.inputs.items[file].path, to->file, sizeof to->file);
    to->frames = log->frames;
    to->attacks = log->attacks;
}

/* The files' frames, from their captures, which are in the order of files. */
static void sum_captures(const leat_can_job *job, labelled *logs) {
    const leat_can_capture *captures = NULL;
    const leat_can_recording *recordings = NULL;
    int64_t count = leat_can_store_captures(job->store, &captures);
    leat_can_store_recordings(job->store, &recordings);
    for (int64_t i = 0; i < count; i++) {
        const leat_can_capture *capture = &captures[i];
        labelled *log = &logs[capture->file_index];
        if (log->frames == 0 || capture->first_s < log->first_s) log->first_s = capture->first_s;
        if (log->frames == 0 || capture->last_s > log->last_s) log->last_s = capture->last_s;
        log->frames += capture->frames;
        log->attacks += capture->attack_frames;
        log->falls = log->falls || recordings[capture->recording].number > 0;
    }
}

leat_code leat_can_report_injected(leat_can_job *job, char *warning, size_t warning_bytes,
                                   leat_error *err) {
    const leat_can_splits *splits = &job->splits;
    some_files beyond = {0}, unmarked = {0}, fallen = {0}, unknown = {0};
    labelled *logs = NULL;
    if (splits->metadata_count == 0) return LEAT_OK;
    LEAT_TRY(LEAT_NEW(&logs, splits->inputs.count, err));
    sum_captures(job, logs);
    for (int64_t i = 0; i < splits->inputs.count; i++) {
        const leat_can_injection *injection = &splits->injections[i];
        const labelled *log = &logs[i];
        bool interval = injection->kind == LEAT_CAN_INJECTION_INTERVAL;
        job->result->files_described += interval || injection->kind == LEAT_CAN_INJECTION_NONE;
        if (injection->kind == LEAT_CAN_INJECTION_UNKNOWN) count_file(&unknown, i);
        if (!interval || log->frames == 0) continue;
        put_interval(job, i, log);
        double end_s = (double)injection->spans[injection->span_count - 1].end_us * 1e-6;
        if (injection->absolute) end_s -= log->first_s;
        if (log->attacks == 0) count_file(&unmarked, i);
        if (end_s > log->last_s - log->first_s + BEYOND_S) count_file(&beyond, i);
        if (log->falls && !injection->absolute) count_file(&fallen, i);
    }
    leat_free(logs);
    text to = {splits, warning, warning_bytes};
    add_names(&to);
    add_files(&to, unmarked,
              "no frame matches its injection_interval, injection_id and injection_data_str "
              "in " LEAT_CAN_METADATA_FILE ", so all are benign");
    add_files(&to, beyond,
              "its injection_interval in " LEAT_CAN_METADATA_FILE
              " ends after its last frame; seconds count from the first frame up to 10^9, and "
              "above from 1970");
    add_files(&to, fallen,
              "its injection_interval counts from its first frame, but its clock falls back, so "
              "labels after that may be wrong");
    add_files(&to, unknown,
              LEAT_CAN_METADATA_FILE
              " does not say which of its frames are attacks, so they have no labels");
    return LEAT_OK;
}
