/*
 * Verification of a CAN cache: inputs.json, which has no hash of its own, but whose settings, names
 * and hashes make the cache's digest; and whether the files that it lists have changed.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "load/can/verify.h"

#define DOCUMENT_BYTES_MAX (INT64_C(256) << 20)

typedef enum state { MISSING, SAME, CHANGED, TOUCHED, LIED } state;

typedef struct input {
    const char *split, *path, *content;
    int64_t size_bytes, mtime_ns;
    state state;
} input;

typedef struct inputs {
    leat_can_verify *job;
    input *items;
    int64_t count;
    const char *settings;
    atomic_llong next;
} inputs;

static leat_code read_item(input *out, const json_t *item, leat_error *err) {
    static const char what[] = LEAT_CAN_INPUTS_NAME;
    uint8_t sha256[32];
    LEAT_TRY(leat_json_get_string(item, "split", &out->split, what, err));
    LEAT_TRY(leat_json_get_string(item, "path", &out->path, what, err));
    LEAT_TRY(leat_json_get_string(item, "sha256", &out->content, what, err));
    LEAT_TRY(leat_json_get_int(item, "size_bytes", 0, INT64_MAX, &out->size_bytes, what, err));
    LEAT_TRY(leat_json_get_int(item, "mtime_ns", INT64_MIN, INT64_MAX, &out->mtime_ns, what, err));
    if (leat_sha256_parse(out->content, sha256) && strlen(out->content) == 64) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s: \"%.80s\" is not a SHA-256", what, out->content);
}

static leat_code read_items(inputs *all, const json_t *root, leat_error *err) {
    static const char what[] = LEAT_CAN_INPUTS_NAME;
    const json_t *files = NULL;
    LEAT_TRY(leat_json_get_string(root, "settings", &all->settings, what, err));
    LEAT_TRY(leat_json_get_array(root, "files", &files, what, err));
    int64_t count = (int64_t)json_array_size(files);
    LEAT_TRY(LEAT_NEW(&all->items, count, err));
    for (; all->count < count; all->count++)
        LEAT_TRY(
            read_item(&all->items[all->count], json_array_get(files, (size_t)all->count), err));
    return LEAT_OK;
}

/* ---- the digest ----------------------------------------------------------------------------- */

/* The last part of a path and the one before it; `text` holds both. */
static void split_path(char text[LEAT_PATH_BYTES], const char *path, const char **folder,
                       const char **name) {
    snprintf(text, LEAT_PATH_BYTES, "%s", path);
    char *slash = strrchr(text, '/');
    *folder = "";
    *name = slash == NULL ? text : slash + 1;
    if (slash == NULL) return;
    while (slash > text && slash[-1] == '/') slash--;
    *slash = 0;
    slash = strrchr(text, '/');
    *folder = slash == NULL ? text : slash + 1;
}

static void check_digest(inputs *all) {
    leat_sha256 sha;
    char digest[65];
    leat_can_digest_begin(&sha, all->settings);
    for (int64_t i = 0; i < all->count; i++) {
        const char *folder = NULL, *name = NULL;
        char text[LEAT_PATH_BYTES];
        split_path(text, all->items[i].path, &folder, &name);
        leat_can_digest_file(&sha, all->items[i].split, folder, name, all->items[i].content);
    }
    leat_can_digest_end(&sha, digest);
    if (strcmp(digest, all->job->meta.digest) != 0)
        LEAT_PROBLEM(&all->job->checks.findings, LEAT_CAN_INPUTS_NAME, -1,
                     "the settings and files that it lists do not match the cache's digest");
}

/* ---- the files ------------------------------------------------------------------------------ */

static leat_code compare(input *at, leat_error *err) {
    leat_path_facts facts;
    leat_error cause = {0};
    uint8_t there[32], then[32];
    at->state = MISSING;
    if (leat_path_stat(at->path, &facts, NULL) != LEAT_OK || facts.kind != LEAT_PATH_FILE)
        return LEAT_OK;
    at->state = CHANGED;
    leat_code code = leat_file_sha256(at->path, there, &cause);
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &cause);
    if (code != LEAT_OK || !leat_sha256_parse(at->content, then) || memcmp(there, then, 32) != 0)
        return LEAT_OK;
    at->state = facts.size_bytes != at->size_bytes ? LIED
                : facts.mtime_ns == at->mtime_ns   ? SAME
                                                   : TOUCHED;
    return LEAT_OK;
}

static leat_code look(void *context, int worker, int64_t i, leat_error *err) {
    inputs *all = context;
    (void)worker;
    LEAT_TRY(compare(&all->items[i], err));
    return leat_ticker_step(&all->job->checks.ticker, 1, err);
}

static void tell(inputs *all) {
    leat_can_verify_report *report = all->job->report;
    leat_findings *findings = &all->job->checks.findings;
    for (int64_t i = 0; i < all->count; i++) {
        const input *at = &all->items[i];
        report->inputs_missing += at->state == MISSING;
        report->inputs_changed += at->state == CHANGED;
        report->inputs_same += at->state >= SAME && at->state != CHANGED;
        if (at->state == CHANGED)
            LEAT_NOTE(findings, at->path, -1,
                      "has changed since the cache was built; run the ingest again");
        if (at->state == TOUCHED)
            LEAT_NOTE(findings, at->path, -1,
                      "is unchanged, but its modification time differs from that in %s",
                      LEAT_CAN_INPUTS_NAME);
        if (at->state == LIED)
            LEAT_PROBLEM(findings, LEAT_CAN_INPUTS_NAME, -1, "\"%.200s\" does not have %lld bytes",
                         at->path, (long long)at->size_bytes);
    }
}

static leat_code check(inputs *all, const json_t *root, leat_error *err) {
    leat_error cause = {0};
    if (read_items(all, root, &cause) != LEAT_OK)
        return leat_checks_tell(&all->job->checks.findings, LEAT_CAN_INPUTS_NAME, -1, &cause, err);
    check_digest(all);
    leat_ticker_stage(&all->job->checks.ticker, "hashing inputs", "files", all->count);
    leat_pool_job files = {.parts = all->count, .context = all, .make = look};
    LEAT_TRY(leat_pool_run(all->job->checks.pool, &files, err));
    tell(all);
    return LEAT_OK;
}

leat_code leat_can_verify_inputs(leat_can_verify *job, leat_error *err) {
    inputs all = {.job = job};
    char path[LEAT_PATH_BYTES];
    uint8_t *text = NULL;
    int64_t size_bytes = 0;
    json_t *root = NULL;
    leat_error cause = {0};
    LEAT_TRY(leat_path_join(path, sizeof path, job->dir, LEAT_CAN_INPUTS_NAME, err));
    leat_code code = leat_file_load(path, DOCUMENT_BYTES_MAX, &text, &size_bytes, &cause);
    if (code == LEAT_ERR_NOT_FOUND) {
        LEAT_NOTE(&job->checks.findings, LEAT_CAN_INPUTS_NAME, -1,
                  "is missing; an ingest of the same files will not find this cache");
        return LEAT_OK;
    }
    if (code == LEAT_OK)
        code = leat_json_parse((const char *)text, size_bytes, LEAT_CAN_INPUTS_NAME, &root, &cause);
    leat_free(text);
    if (code != LEAT_OK)
        return leat_checks_tell(&job->checks.findings, LEAT_CAN_INPUTS_NAME, -1, &cause, err);
    code = check(&all, root, err);
    leat_free(all.items);
    json_decref(root);
    return code;
}
