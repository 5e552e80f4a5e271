/*
 * Outputs of leat by their names: see output.h. `.complete` is in caches and in image data sets, so
 * the names beside it tell them apart. One name is not enough where third-party folders may have
 * it: "manifest.json" and "images.json" are common.
 */
#include "format/output.h"

#include <stdio.h>
#include <string.h>

#include "base/workdir.h"
#include "format/complete.h"

const char *leat_output_command(leat_output_kind kind) {
    switch (kind) {
    case LEAT_OUTPUT_PROBES: return "leat ingest probes";
    case LEAT_OUTPUT_CAN: return "leat ingest can";
    case LEAT_OUTPUT_IMAGES: return "leat ingest images";
    default: return "";
    }
}

const char *leat_output_opened_with(leat_output_kind kind) {
    switch (kind) {
    case LEAT_OUTPUT_PROBES: return "leat.ProbeDataset in Python, leat_dataset_open() in C";
    case LEAT_OUTPUT_CAN: return "leat.CanDataset in Python, leat_can_cache_open() in C";
    case LEAT_OUTPUT_IMAGES: return "leat.ImageDataset in Python, leat_images_open() in C";
    default: return "";
    }
}

/* ---- by names ------------------------------------------------------------------------------- */

typedef enum mark { COMPLETE, IMAGES, IMAGES_TENSORS, MANIFEST, INDEX, METADATA, MARKS } mark;

static const char *const mark_names[MARKS] = {
    [COMPLETE] = LEAT_COMPLETE_NAME,
    [IMAGES] = LEAT_IMAGES_NAME,
    [IMAGES_TENSORS] = LEAT_IMAGES_TENSORS_NAME,
    [MANIFEST] = LEAT_MANIFEST_NAME,
    [INDEX] = LEAT_INDEX_NAME,
    [METADATA] = LEAT_CAN_METADATA_NAME,
};

static leat_output judge(const bool has[MARKS]) {
    bool both = has[IMAGES] && has[IMAGES_TENSORS], any = has[IMAGES] || has[IMAGES_TENSORS];
    if (both || (any && has[COMPLETE]))
        return (leat_output){LEAT_OUTPUT_IMAGES, has[COMPLETE], true};
    if (has[MANIFEST] && has[INDEX]) return (leat_output){LEAT_OUTPUT_PROBES, true, true};
    if (has[COMPLETE] || has[METADATA]) return (leat_output){LEAT_OUTPUT_CAN, has[COMPLETE], true};
    return (leat_output){0};
}

leat_code leat_output_of(const char *dir, leat_output *out, leat_error *err) {
    bool has[MARKS] = {0};
    *out = (leat_output){0};
    for (int i = 0; i < MARKS; i++) {
        char path[LEAT_PATH_BYTES];
        leat_path_facts facts;
        LEAT_TRY(leat_path_join(path, sizeof path, dir, mark_names[i], err));
        LEAT_TRY(leat_path_stat(path, &facts, err));
        has[i] = facts.kind == LEAT_PATH_FILE;
    }
    *out = judge(has);
    return LEAT_OK;
}

bool leat_output_has_names(const leat_path_list *names) {
    bool has[MARKS] = {0};
    for (int64_t i = 0; i < names->count; i++) {
        if (strcmp(names->paths[i], LEAT_WORK_NAME) == 0) return true;
        for (int k = 0; k < MARKS; k++)
            has[k] = has[k] || strcmp(names->paths[i], mark_names[k]) == 0;
    }
    has[COMPLETE] = false; /* of anybody's, as far as its name says */
    return judge(has).kind != LEAT_OUTPUT_NONE;
}

/* ---- by work, and by what a folder holds ---------------------------------------------------- */

/* The work of an ingest whose output is the folder itself: that of images begins with the file of
 * its tensor. */
static leat_code look_at_work(const char *dir, leat_output *out, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    bool marked = false;
    LEAT_TRY(leat_workdir_is_marked(dir, LEAT_WORK_NAME, &marked, err));
    if (!marked) return LEAT_OK;
    LEAT_TRY(leat_path_join(path, sizeof path, dir,
                            LEAT_WORK_NAME "/" LEAT_WORK_OUT_NAME "/" LEAT_IMAGES_TENSORS_NAME,
                            err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    out->kind = facts.kind == LEAT_PATH_FILE ? LEAT_OUTPUT_IMAGES : LEAT_OUTPUT_PROBES;
    out->itself = true;
    return LEAT_OK;
}

/* A cache in the folder, or the work of an ingest that is to become one. */
static leat_code look_at_child(const char *dir, const char *name, leat_output *out,
                               leat_error *err) {
    char path[LEAT_PATH_BYTES], mark[LEAT_PATH_BYTES];
    leat_output child = {0};
    if (strncmp(name, LEAT_CAN_WORK_PREFIX, strlen(LEAT_CAN_WORK_PREFIX)) == 0) {
        LEAT_TRY(leat_workdir_is_marked(dir, name, &child.itself, err));
        if (child.itself) out->kind = LEAT_OUTPUT_CAN;
        return LEAT_OK;
    }
    leat_path_facts facts;
    if (name[0] == '.' || strlen(name) > LEAT_PATH_BYTES - 64) return LEAT_OK;
    snprintf(mark, sizeof mark, "%s/" LEAT_COMPLETE_NAME, name);
    LEAT_TRY(leat_path_join(path, sizeof path, dir, mark, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_FILE) return LEAT_OK;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, name, err));
    LEAT_TRY(leat_output_of(path, &child, err));
    if (child.kind != LEAT_OUTPUT_CAN || !child.complete) return LEAT_OK;
    *out = (leat_output){LEAT_OUTPUT_CAN, true, false};
    return LEAT_OK;
}

leat_code leat_output_look(const char *dir, leat_output *out, leat_error *err) {
    leat_path_list names = {0};
    leat_path_facts facts;
    *out = (leat_output){0};
    LEAT_TRY(leat_path_stat(dir, &facts, err));
    if (facts.kind != LEAT_PATH_DIR) return LEAT_OK;
    leat_code code = leat_output_of(dir, out, err);
    if (code == LEAT_OK && out->kind == LEAT_OUTPUT_NONE) code = look_at_work(dir, out, err);
    if (code != LEAT_OK || out->kind != LEAT_OUTPUT_NONE) return code;
    code = leat_path_list_dir(dir, &names, err);
    for (int64_t i = 0; i < names.count && code == LEAT_OK && !out->complete; i++)
        code = look_at_child(dir, names.paths[i], out, err);
    leat_path_list_free(&names);
    if (code != LEAT_OK) *out = (leat_output){0};
    return code;
}
