/*
 * --verify: the SHA-256 of the inputs is recorded in run.json and in the state of an interrupted
 * run, and compared before either is used again. See job.h.
 */
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "ingest/probes/job.h"

#define MEMBER "sha256"

void leat_job_write_contents(leat_json *json, const leat_job *job, int64_t i) {
    char digest[65];
    if (!job->inputs.hashed) return;
    leat_sha256_hex(job->inputs.items[i].sha256, digest);
    leat_json_member_string(json, MEMBER, digest);
}

void leat_job_read_contents(leat_job *job, const json_t *inputs) {
    leat_input_list *list = &job->inputs;
    list->hashed = json_array_size(inputs) == (size_t)list->count;
    for (int64_t i = 0; i < list->count && list->hashed; i++) {
        const json_t *text = json_object_get(json_array_get(inputs, (size_t)i), MEMBER);
        list->hashed = json_is_string(text) &&
                       leat_sha256_parse(json_string_value(text), list->items[i].sha256);
    }
}

leat_code leat_job_verify_contents(leat_job *job, const char *what, leat_error *err) {
    leat_input_list *list = &job->inputs;
    uint8_t(*then)[32] = NULL;
    if (!list->hashed)
        return leat_fail(
            err, LEAT_ERR_EXISTS,
            "%s in \"%s\" was written without --verify, so the contents of its inputs are unknown; "
            "omit --verify to compare sizes and modification times, or add --replace to start over",
            what, job->folder.out);
    LEAT_TRY(LEAT_NEW(&then, list->count, err));
    for (int64_t i = 0; i < list->count; i++) memcpy(then[i], list->items[i].sha256, 32);
    leat_code code = leat_inputs_hash(list, job->options->threads, &job->ticker, err);
    for (int64_t i = 0; i < list->count && code == LEAT_OK; i++) {
        if (memcmp(then[i], list->items[i].sha256, 32) == 0) continue;
        code = leat_fail(
            err, LEAT_ERR_EXISTS,
            "input \"%s\" does not have the contents that %s in \"%s\" was written from, although "
            "its size and modification time are the same; use --replace to start over",
            list->items[i].path, what, job->folder.out);
    }
    leat_free(then);
    job->result->verified = code == LEAT_OK;
    return code;
}
