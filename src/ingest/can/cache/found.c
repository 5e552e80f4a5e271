/* The labels of a cache that already exists: its metadata counts graphs by the type of their
 * attack, which logs do not always have, so they are counted in the tensor. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "ingest/can/cache/job.h"

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

leat_code leat_can_found_labels(const leat_can_meta *meta, leat_can_ingest_result *result,
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
