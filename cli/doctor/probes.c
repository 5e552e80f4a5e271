/* leat doctor of probe rows: checks that the files are complete and that a row can be read. */
#include <stdio.h>

#include "doctor/doctor.h"
#include "leat/load.h"

/* Which data the windowed order is for. */
static void tell_order(leat_doctor *doc, const leat_dataset_facts *facts) {
    if (leat_doctor_tell_memory(doc, "the data set", facts->file_bytes)) return;
    if (facts->compressed) {
        leat_doctor_tell(doc, LEAT_DOCTOR_NOTE,
                         "the shards are compressed, so each context decodes its whole row",
                         "train with --order windowed, which decodes each row once an epoch");
    }
}

/* Whether the data set opens and its first row can be read. */
static bool tell_first_row(leat_doctor *doc, const char *path) {
    char what[LEAT_MESSAGE_BYTES + 64], rows[LEAT_WORDS_BYTES], bytes[LEAT_WORDS_BYTES];
    leat_dataset *dataset = NULL;
    leat_dataset_facts facts;
    leat_row_facts row;
    leat_error err = {0};
    leat_code code = leat_dataset_open(&dataset, &path, 1, NULL, &err);
    if (code == LEAT_OK) {
        leat_dataset_get_facts(dataset, &facts);
        if (facts.row_count > 0) code = leat_dataset_row(dataset, 0, &row, &err);
    }
    if (code != LEAT_OK) {
        snprintf(what, sizeof what, "the data set cannot be read: %s", err.message);
        leat_doctor_tell(doc, LEAT_DOCTOR_PROBLEM, what, "");
    } else {
        snprintf(what, sizeof what, "data set \"%.200s\" opens: %s rows in %lld shards, %s", path,
                 leat_words_count(rows, facts.row_count), (long long)facts.shard_count,
                 leat_words_bytes(bytes, facts.file_bytes));
        leat_doctor_tell(doc, LEAT_DOCTOR_OK, what, "");
    }
    if (code == LEAT_OK) tell_order(doc, &facts);
    leat_dataset_close(dataset);
    return code == LEAT_OK;
}

void leat_doctor_probes(leat_doctor *doc, const char *path) {
    leat_verify_options options = leat_verify_options_default();
    leat_verify_report *report = NULL;
    leat_error err = {0};
    options.quick = true;
    options.finding_max = 100;
    if (leat_verify(&path, 1, &options, &report, &err) != LEAT_OK) {
        leat_doctor_tell(doc, LEAT_DOCTOR_PROBLEM, err.message, "");
        return;
    }
    leat_doctor_tell_findings(doc, report->findings, report->finding_count,
                              report->problem_count + report->note_count);
    bool opens = report->shards > 0 && tell_first_row(doc, path);
    if (opens && report->problem_count == 0)
        leat_doctor_tell(doc, LEAT_DOCTOR_NOTE,
                         "files exist with the right sizes; their data was not verified",
                         "leat inspect --verify reads everything");
    leat_verify_report_destroy(report);
}
