/*
 * Opens a data set: a folder written by leat through its manifest and index, without touching
 * shards; or third-party files, whose footers hold the numbers of records.
 */
#include <string.h>

#include "format/dataset/layout.h"
#include "load/probes/dataset.h"
#include "load/probes/files.h"

/* ---- written by leat
 * -------------------------------------------------------------------------------------
 */

/* Manifest and index state the same facts: if they disagree, they belong to different data sets. */
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
                     "manifest and index contradict each other at shard %lld; run the ingest again "
                     "with --replace",
                     (long long)k);
}

static leat_code name_shard(leat_shard *shard, const leat_places *places,
                            const leat_index_shard *facts, leat_error *err) {
    char name[LEAT_SHARD_NAME_BYTES], path[LEAT_PATH_BYTES];
    leat_layout_shard_name(facts->split, facts->number, name);
    LEAT_TRY(leat_places_path(places, name, path, err));
    LEAT_TRY(leat_strdup(&shard->name, name, err));
    LEAT_TRY(leat_strdup(&shard->path, path, err));
    if (places->stage[0] == 0) return LEAT_OK;
    LEAT_TRY(leat_path_join(path, sizeof(path), places->dir, name, err));
    return leat_strdup(&shard->home, path, err);
}

static leat_code add_shard_of_ours(leat_dataset *dataset, int64_t k, const leat_places *places,
                                   leat_error *err) {
    leat_shard *shard = &dataset->shards[k];
    const leat_index_shard *facts = leat_index_shard_get(dataset->index, k);
    dataset->shard_count = k + 1;
    LEAT_TRY(check_shard(dataset, k, err));
    LEAT_TRY(name_shard(shard, places, facts, err));
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

static leat_code open_at(leat_dataset *dataset, const leat_places *places, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    const char *folder = NULL;
    leat_manifest *manifest = &dataset->manifest;
    LEAT_TRY(leat_places_folder(places, LEAT_MANIFEST_NAME, &folder, err));
    LEAT_TRY(leat_manifest_load(folder, manifest, err));
    LEAT_TRY(leat_places_path(places, LEAT_INDEX_NAME, path, err));
    LEAT_TRY(
        leat_index_open(&dataset->index, path, manifest->index_bytes, manifest->index_sha256, err));
    if (leat_index_shard_count(dataset->index) != manifest->shard_count) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "index \"%s\" has %lld shards, but the manifest %lld; run the ingest "
                         "again with --replace",
                         path, (long long)leat_index_shard_count(dataset->index),
                         (long long)manifest->shard_count);
    }
    LEAT_TRY(LEAT_NEW(&dataset->shards, manifest->shard_count, err));
    for (int64_t k = 0; k < manifest->shard_count; k++) {
        LEAT_TRY(add_shard_of_ours(dataset, k, places, err));
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
    facts->probe = leat_manifest_probe(manifest);
    leat_sha256_hex(manifest->fingerprint, dataset->fingerprint);
    dataset->has_fingerprint = true;
    return LEAT_OK;
}

/* Frees what a failed opening left. */
static void forget(leat_dataset *dataset) {
    for (int64_t i = 0; i < dataset->shard_count; i++) leat_shard_close(&dataset->shards[i]);
    leat_free(dataset->shards);
    leat_index_close(dataset->index);
    leat_manifest_free(&dataset->manifest);
    dataset->shards = NULL;
    dataset->shard_count = 0;
    dataset->index = NULL;
    dataset->facts = (leat_dataset_facts){0};
}

/* Identifies the data set in `dir` by its manifest's file. */
static leat_code look_at_manifest(const char *dir, leat_places *places, leat_path_facts *facts,
                                  leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_places_find(places, dir, err));
    LEAT_TRY(leat_places_path(places, LEAT_MANIFEST_NAME, path, err));
    return leat_path_stat(path, facts, err);
}

/* Files that contradict each other may belong to two data sets, one of which is just replacing the
 * other: then the manifest has changed, or will soon. And while a data set is moved to its place, a
 * file may move between being located and being opened. */
#define MOVED_TRIES 100

leat_code leat_dataset_open_ours(leat_dataset *dataset, const char *dir, leat_error *err) {
    for (int i = 0;; i++) {
        leat_places before, after;
        leat_path_facts was, is;
        leat_error why = {0};
        LEAT_TRY(look_at_manifest(dir, &before, &was, err));
        leat_code code = open_at(dataset, &before, &why);
        if (code == LEAT_OK) {
            dataset->opened = was;
            return leat_strdup(&dataset->dir, dir, err);
        }
        forget(dataset);
        if (code != LEAT_ERR_CORRUPT && code != LEAT_ERR_NOT_FOUND)
            return leat_error_copy(err, &why);
        LEAT_TRY(look_at_manifest(dir, &after, &is, err));
        bool moving = was.inode != is.inode || was.device != is.device ||
                      was.mtime_ns != is.mtime_ns || before.stage[0] != after.stage[0] ||
                      (code == LEAT_ERR_NOT_FOUND && before.stage[0] != 0);
        if (!moving || i == MOVED_TRIES) return leat_error_copy(err, &why);
    }
}

bool leat_dataset_is_replaced(const leat_dataset *dataset) {
    const leat_path_facts *was = &dataset->opened;
    const char *folder = NULL;
    leat_places places;
    leat_path_facts is;
    leat_manifest manifest = {0};
    if (dataset->dir == NULL || look_at_manifest(dataset->dir, &places, &is, NULL) != LEAT_OK)
        return false;
    if (is.kind != LEAT_PATH_FILE) return false;
    if (is.inode == was->inode && is.device == was->device && is.mtime_ns == was->mtime_ns)
        return false;
    /* a copy of the file, or the same data set made again, is no other */
    if (leat_places_folder(&places, LEAT_MANIFEST_NAME, &folder, NULL) != LEAT_OK ||
        leat_manifest_load(folder, &manifest, NULL) != LEAT_OK)
        return false;
    const uint8_t *here = manifest.index_sha256, *opened = dataset->manifest.index_sha256;
    bool replaced = memcmp(here, opened, sizeof manifest.index_sha256) != 0;
    leat_manifest_free(&manifest);
    return replaced;
}

/* The facts of a third-party row that was read, and the entry that a summary sorts. */
#define ROW_TABLE_BYTES ((int64_t)sizeof(leat_other_row) + 24)

/* ---- others -----------------------------------------------------------------------------------
 */

/* Memory needed to read the chunks of a file, by its footer. A chunk with a damaged header is
 * reported when it is read. */
static void measure_chunks(leat_dataset *dataset, const leat_ar_reader *reader) {
    for (int64_t i = 0; i < leat_ar_reader_chunk_count(reader); i++) {
        leat_reading_chunk chunk = {.record_count = leat_ar_reader_chunk(reader, i).record_count};
        if (leat_ar_reader_measure(reader, i, &chunk.file_bytes, &chunk.decoded_bytes, NULL) ==
            LEAT_OK) {
            leat_reading_add_chunk(&dataset->reading, &chunk);
        }
    }
}

/* The reader stays open, with its table, unless there are too many of them. */
static leat_code open_file(leat_dataset *dataset, const char *path, leat_ar_reader **reader,
                           leat_error *err) {
    leat_reading *reading = &dataset->reading;
    int64_t need = 0;
    leat_code code =
        leat_ar_reader_open_within(reader, path, leat_reading_left(reading), &need, err);
    if (code == LEAT_ERR_LIMIT && need > leat_reading_left(reading)) {
        return leat_reading_take(reading, path, need, err);
    }
    if (code != LEAT_OK) return code;
    int64_t table = leat_ar_reader_chunk_count(*reader) * LEAT_AR_TABLE_CHUNK_BYTES;
    code = leat_reading_take(reading, path, table, err);
    if (code == LEAT_OK) return LEAT_OK;
    leat_ar_reader_close(*reader);
    *reader = NULL;
    return code;
}

static leat_code add_file_of_others(leat_dataset *dataset, int64_t k, const char *path,
                                    leat_error *err) {
    leat_shard *shard = &dataset->shards[k];
    leat_dataset_facts *facts = &dataset->facts;
    leat_ar_reader *reader = NULL;
    dataset->shard_count = k + 1;
    LEAT_TRY(leat_strdup(&shard->name, path, err));
    LEAT_TRY(leat_strdup(&shard->path, path, err));
    LEAT_TRY(open_file(dataset, path, &reader, err));
    shard->facts = (leat_dataset_shard){
        .name = shard->name,
        .split = leat_layout_split_of_path(path),
        .first_row = facts->row_count,
        .row_count = leat_ar_reader_record_count(reader),
        .measurement_count = -1,
        .file_bytes = leat_ar_reader_file_bytes(reader),
    };
    measure_chunks(dataset, reader);
    leat_ar_reader_close(reader);
    if (!leat_add_size(facts->row_count, shard->facts.row_count, &facts->row_count)) {
        return leat_fail(err, LEAT_ERR_LIMIT, "\"%s\": it has 2^63 or more records", path);
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
    int64_t table = 0;
    if (!leat_mul_size(dataset->facts.row_count, ROW_TABLE_BYTES, &table)) table = INT64_MAX / 4;
    LEAT_TRY(leat_reading_take(&dataset->reading, paths[0], table, err));
    (void)leat_dataset_share(dataset, 1);
    return LEAT_NEW(&dataset->others, dataset->facts.row_count, err);
}
