/*
 * Opening a data set: a folder of ours through its manifest and index, which touches no shard; or
 * files of others, whose footers tell how many records they have.
 */
#include <string.h>

#include "format/layout.h"
#include "load/dataset.h"
#include "load/files.h"

/* ---- ours -------------------------------------------------------------------------------------
 */

/* Manifest and index state the same facts: one that disagrees is of another data set. */
static leat_code check_shard(const leat_dataset *dataset, int64_t k, leat_error *err) {
    const leat_shard_info *info = &dataset->manifest.shards[k];
    const leat_index_shard *shard = leat_index_shard_get(dataset->index, k);
    if (info->split == shard->split && info->number == shard->number &&
        info->row_count == shard->row_count && info->file_bytes == shard->file_bytes &&
        info->measurement_count == shard->measurement_count && info->first_us == shard->first_us &&
        info->last_us == shard->last_us) {
        return LEAT_OK;
    }
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "manifest and index contradict each other at shard %lld; ingest it again",
                     (long long)k);
}

static leat_code name_shard(leat_shard *shard, const char *dir, const leat_index_shard *facts,
                            leat_error *err) {
    char name[LEAT_SHARD_NAME_BYTES], path[LEAT_PATH_BYTES];
    leat_layout_shard_name(facts->split, facts->number, name);
    LEAT_TRY(leat_path_join(path, sizeof(path), dir, name, err));
    LEAT_TRY(leat_strdup(&shard->name, name, err));
    return leat_strdup(&shard->path, path, err);
}

static leat_code add_shard_of_ours(leat_dataset *dataset, int64_t k, const char *dir,
                                   leat_error *err) {
    leat_shard *shard = &dataset->shards[k];
    const leat_index_shard *facts = leat_index_shard_get(dataset->index, k);
    dataset->shard_count = k + 1;
    LEAT_TRY(check_shard(dataset, k, err));
    LEAT_TRY(name_shard(shard, dir, facts, err));
    shard->pages = (leat_shard_pages){dataset->index, k, &dataset->payload_bytes};
    shard->is_mapped = facts->page_count > 0;
    if (shard->is_mapped) LEAT_TRY(leat_map_create_empty(&shard->unmapped, shard->path, err));
    shard->facts = (leat_dataset_shard){
        .name = shard->name,
        .split = facts->split,
        .first_row = facts->first_row,
        .row_count = facts->row_count,
        .measurement_count = facts->measurement_count,
        .file_bytes = facts->file_bytes,
        .first_us = facts->first_us,
        .last_us = facts->last_us,
    };
    if (!shard->is_mapped) dataset->facts.compressed = true;
    return LEAT_OK;
}

leat_code leat_dataset_open_ours(leat_dataset *dataset, const char *dir, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_manifest *manifest = &dataset->manifest;
    LEAT_TRY(leat_manifest_load(dir, manifest, err));
    LEAT_TRY(leat_path_join(path, sizeof(path), dir, LEAT_INDEX_NAME, err));
    LEAT_TRY(
        leat_index_open(&dataset->index, path, manifest->index_bytes, manifest->index_sha256, err));
    if (leat_index_shard_count(dataset->index) != manifest->shard_count) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "index \"%s\" has %lld shards, the manifest %lld; ingest it again", path,
                         (long long)leat_index_shard_count(dataset->index),
                         (long long)manifest->shard_count);
    }
    LEAT_TRY(LEAT_NEW(&dataset->shards, manifest->shard_count, err));
    for (int64_t k = 0; k < manifest->shard_count; k++) {
        LEAT_TRY(add_shard_of_ours(dataset, k, dir, err));
    }
    leat_dataset_facts *facts = &dataset->facts;
    facts->indexed = true;
    facts->shard_count = manifest->shard_count;
    facts->row_count = manifest->total.row_count;
    facts->measurement_count = manifest->total.measurement_count;
    facts->file_bytes = manifest->total.file_bytes;
    facts->first_us = manifest->total.first_us;
    facts->last_us = manifest->total.last_us;
    for (int s = 0; s < LEAT_SPLITS; s++) {
        facts->split_shards[s] = manifest->split[s].shard_count;
        facts->split_rows[s] = manifest->split[s].row_count;
    }
    leat_sha256_hex(manifest->fingerprint, dataset->fingerprint);
    dataset->has_fingerprint = true;
    return LEAT_OK;
}

/* ---- others -----------------------------------------------------------------------------------
 */

static leat_code add_file_of_others(leat_dataset *dataset, int64_t k, const char *path,
                                    leat_error *err) {
    leat_shard *shard = &dataset->shards[k];
    leat_dataset_facts *facts = &dataset->facts;
    leat_ar_reader *reader = NULL;
    dataset->shard_count = k + 1;
    LEAT_TRY(leat_strdup(&shard->name, path, err));
    LEAT_TRY(leat_strdup(&shard->path, path, err));
    LEAT_TRY(leat_ar_reader_open(&reader, path, NULL, err));
    shard->facts = (leat_dataset_shard){
        .name = shard->name,
        .split = leat_layout_split_of_path(path),
        .first_row = facts->row_count,
        .row_count = leat_ar_reader_record_count(reader),
        .measurement_count = -1,
        .file_bytes = leat_ar_reader_file_bytes(reader),
    };
    leat_ar_reader_close(reader);
    if (!leat_add_size(facts->row_count, shard->facts.row_count, &facts->row_count)) {
        return leat_fail(err, LEAT_ERR_LIMIT, "\"%s\": more than 2^63 records", path);
    }
    facts->file_bytes += shard->facts.file_bytes;
    facts->split_shards[shard->facts.split]++;
    facts->split_rows[shard->facts.split] += shard->facts.row_count;
    return LEAT_OK;
}

leat_code leat_dataset_open_others(leat_dataset *dataset, const char *const *paths,
                                   int64_t path_count, leat_error *err) {
    leat_path_list files = {0};
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < path_count && code == LEAT_OK; i++) {
        code = leat_files_of_path(paths[i], &files, err);
    }
    if (code == LEAT_OK) code = LEAT_NEW(&dataset->shards, files.count, err);
    for (int64_t k = 0; k < files.count && code == LEAT_OK; k++) {
        code = add_file_of_others(dataset, k, files.paths[k], err);
    }
    leat_path_list_free(&files);
    if (code != LEAT_OK) return code;
    dataset->facts.shard_count = dataset->shard_count;
    dataset->facts.measurement_count = -1;
    return LEAT_NEW(&dataset->others, dataset->facts.row_count, err);
}
