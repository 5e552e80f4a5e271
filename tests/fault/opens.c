/* See opens.h. */
#include "opens.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

/* Whether files of the data set are still on their way to their place. */
static bool is_moving(const char *dir) {
    char path[512];
    snprintf(path, sizeof path, "%s/.leat/publish.json", dir);
    return access(path, F_OK) == 0;
}

static leat_code verify(const char *dir, leat_error *err) {
    leat_verify_options options = leat_verify_options_default();
    leat_verify_report *report = NULL;
    leat_code code = LEAT_OK;
    options.threads = 1;
    LEAT_TRY(leat_verify(&dir, 1, &options, &report, err));
    for (int64_t i = 0; i < report->finding_count && code == LEAT_OK; i++) {
        const leat_verify_finding *finding = &report->findings[i];
        bool gives_up = strcmp(finding->file, ".leat") == 0 && is_moving(dir) &&
                        strstr(finding->reason, "keep it") == NULL;
        if (!finding->note || gives_up)
            code =
                leat_fail(err, LEAT_ERR_CORRUPT, "%.200s: %.200s", finding->file, finding->reason);
    }
    leat_verify_report_destroy(report);
    return code;
}

leat_code dataset_opens(const char *dir, char fingerprint[65], leat_error *err) {
    leat_dataset *dataset = NULL;
    fingerprint[0] = 0;
    LEAT_TRY(leat_dataset_open(&dataset, &dir, 1, NULL, err));
    leat_code code = leat_dataset_fingerprint(dataset, fingerprint, err);
    leat_dataset_close(dataset);
    return code == LEAT_OK ? verify(dir, err) : code;
}
