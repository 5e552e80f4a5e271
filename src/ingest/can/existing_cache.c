/*
 * What is reported of a cache that already exists, from its metadata. That counts graphs by the
 * type of their attack, which logs do not always have, so labels are counted in the tensor.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "ingest/can/cache/balance.h"
#include "ingest/can/job.h"

enum { LABELS_AT_ONCE = 16384 };

static leat_code count(leat_file *file, int64_t at, int64_t graphs, int64_t *attacks,
                       int64_t *unlabelled, leat_error *err) {
    int32_t *y = NULL;
    LEAT_TRY(LEAT_NEW(&y, LABELS_AT_ONCE, err));
    leat_code code = LEAT_OK;
    for (int64_t done = 0; done < graphs && code == LEAT_OK; done += LABELS_AT_ONCE) {
        int64_t some = graphs - done < LABELS_AT_ONCE ? graphs - done : LABELS_AT_ONCE;
        code = leat_file_pread(file, y, 4 * some, at + 4 * done, err);
        for (int64_t i = 0; i < some && code == LEAT_OK; i++) {
            if (y[i] < -1 || y[i] > 1)
                code = leat_fail(err, LEAT_ERR_CORRUPT, "the label of graph %lld is %d",
                                 (long long)(done + i), (int)y[i]);
            *attacks += y[i] > 0;
            *unlabelled += y[i] < 0;
        }
    }
    leat_free(y);
    return code;
}

static leat_code count_split(const char *path, const leat_can_meta *meta, int split,
                             leat_can_ingest_result *result, leat_error *err) {
    const leat_can_meta_split *of = &meta->splits[split];
    const leat_can_shape shape = {.graphs = of->graphs,
                                  .nodes = of->nodes,
                                  .edges = of->edges,
                                  .window = meta->window,
                                  .frames = meta->frames};
    int64_t at[LEAT_CAN_TENSORS];
    leat_safetensors *tensors = NULL;
    leat_file *file = NULL;
    LEAT_TRY(leat_safetensors_read(&tensors, path, err));
    leat_code code = leat_can_tensors_check(tensors, &shape, at, err);
    leat_safetensors_destroy(tensors);
    if (code != LEAT_OK) return code;
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_READ, err));
    code = count(file, at[LEAT_CAN_Y], of->graphs, &result->split_attacks[split],
                 &result->split_unlabelled[split], err);
    leat_file_close(file);
    return code;
}

/* split_attacks and split_unlabelled of result->cache. LEAT_ERR_CORRUPT: it is damaged. */
static leat_code count_labels(const leat_can_meta *meta, leat_can_ingest_result *result,
                              leat_error *err) {
    for (int i = 0; i < meta->split_count; i++) {
        char name[LEAT_CAN_NAME_BYTES + 16], path[LEAT_PATH_BYTES];
        snprintf(name, sizeof name, "%s%s", meta->splits[i].name, LEAT_CAN_TENSORS_SUFFIX);
        LEAT_TRY(leat_path_join(path, sizeof path, result->cache, name, err));
        leat_code code = count_split(path, meta, i, result, err);
        if (code == LEAT_ERR_CORRUPT)
            return leat_error_context(err, code, "\"%s\" is damaged; " LEAT_CAN_REBUILD, path);
        if (code != LEAT_OK) return code;
    }
    return LEAT_OK;
}

/* The facts of an existing cache, which does not record the lines of its logs or the frames of
 * excluded buses. */
leat_code leat_can_report_found(leat_can_job *job, leat_error *err) {
    leat_can_meta meta;
    leat_can_ingest_result *result = job->result;
    result->found = true;
    result->verified = job->folder.hashed;
    LEAT_TRY(leat_can_meta_load(&meta, job->folder.cache, false, err));
    leat_code code = leat_can_folder_check(&job->folder, &meta, job->options, &job->ticker, err);
    if (code == LEAT_OK) {
        leat_can_fill_result(job, &meta);
        code = count_labels(&meta, result, err);
    }
    if (code != LEAT_OK) {
        leat_can_meta_free(&meta);
        return code;
    }
    leat_can_balance_warn(&meta, &job->options->settings, result->warning, sizeof result->warning);
    leat_can_append_warning(result, meta.warning);
    result->frames_cut = meta.frames_cut;
    for (int64_t i = 0; i < meta.capture_count; i++) {
        const leat_can_meta_capture *capture = &meta.captures[i];
        result->frames += capture->frames;
        result->frames_between += capture->between;
        result->frames_tail += capture->tail;
        result->frames_dropped += capture->dropped;
    }
    result->frames_windowed =
        result->frames - result->frames_between - result->frames_tail - result->frames_dropped;
    result->windows_dropped = meta.windows_dropped;
    result->lines_read = result->rejected = -1;
    result->frames_stepped_back = result->clock_steps = result->pauses = -1;
    result->files_benign = result->files_unlabelled = -1;
    result->files_described = result->frames_injected = -1;
    if (job->options->settings.bus >= 0) result->frames = result->frames_left_out = -1;
    leat_can_meta_free(&meta);
    return LEAT_OK;
}
