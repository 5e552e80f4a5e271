/* The frame store's life: see can_store.h. */
#include "ingest/can_store.h"

#include <stdio.h>

#include "base/thread.h"
#include "ingest/can_store_parts.h"

leat_code leat_can_store_spill_path(const leat_can_store *store, int number,
                                    char path[LEAT_PATH_BYTES], leat_error *err) {
    char name[32];
    snprintf(name, sizeof name, "can_spill_%03d", number);
    return leat_path_join(path, LEAT_PATH_BYTES, store->temp_dir, name, err);
}

leat_code leat_can_store_new(leat_can_store **out, const leat_can_store_options *options,
                             int spill_count, leat_error *err) {
    leat_can_store *store = NULL;
    *out = NULL;
    LEAT_ASSERT(spill_count >= 1 && spill_count <= LEAT_THREADS_MAX);
    LEAT_ASSERT(options->file_count >= 1 && options->file_count <= LEAT_CAN_FILES_MAX);
    LEAT_TRY(LEAT_NEW(&store, 1, err));
    store->memory_bytes = options->memory_bytes;
    store->file_count = options->file_count;
    store->ticker = options->ticker;
    store->spill_count = spill_count;
    leat_code code = leat_strdup(&store->temp_dir, options->temp_dir, err);
    if (code == LEAT_OK) code = LEAT_CAN_ROOM_NEW(store, &store->spills, spill_count, err);
    if (code != LEAT_OK) {
        leat_can_store_destroy(store);
        return code;
    }
    *out = store;
    return LEAT_OK;
}

leat_code leat_can_store_create(leat_can_store **out, const leat_can_store_options *options,
                                leat_error *err) {
    leat_can_store *store = NULL;
    *out = NULL;
    LEAT_TRY(leat_can_store_new(&store, options, options->workers, err));
    leat_code code = LEAT_CAN_ROOM_NEW(store, &store->workers, store->spill_count, err);
    for (int i = 0; i < store->spill_count && code == LEAT_OK; i++) {
        char path[LEAT_PATH_BYTES];
        code = leat_can_store_spill_path(store, i, path, err);
        if (code == LEAT_OK) code = leat_can_worker_create(&store->workers[i], store, path, err);
    }
    if (code != LEAT_OK) {
        leat_can_store_destroy(store);
        return code;
    }
    *out = store;
    return LEAT_OK;
}

void leat_can_store_keep(leat_can_store *store) { store->keep = true; }

leat_code leat_can_store_tick(const leat_can_store *store, int64_t more, leat_error *err) {
    if (store->ticker == NULL || leat_ticker_add(store->ticker, more)) return LEAT_OK;
    return leat_ticker_check(store->ticker, err);
}

static void remove_file(const leat_can_store *store, const leat_file *file) {
    if (file != NULL && !store->keep) leat_path_discard(leat_file_path(file));
}

static void destroy_workers(leat_can_store *store) {
    for (int i = 0; store->workers != NULL && i < store->spill_count; i++) {
        leat_can_worker *worker = store->workers[i];
        if (worker != NULL) remove_file(store, worker->file);
        leat_can_worker_destroy(store, worker);
    }
    LEAT_CAN_ROOM_FREE(store, store->workers, store->spill_count);
    store->workers = NULL;
}

void leat_can_store_destroy(leat_can_store *store) {
    if (store == NULL) return;
    leat_can_store_clear_order(store);
    destroy_workers(store);
    for (int i = 0; store->spills != NULL && i < store->spill_count; i++) {
        remove_file(store, store->spills[i].file);
        leat_file_close(store->spills[i].file);
        leat_free(store->spills[i].id);
    }
    leat_free(store->spills);
    leat_free(store->blocks);
    leat_free(store->captures);
    leat_free(store->ids);
    leat_free(store->met);
    leat_free(store->temp_dir);
    leat_free(store);
}

/* ---- the end of the scan --------------------------------------------------------------------- */

static int compare_blocks(const void *a, const void *b) {
    const leat_can_block *one = a, *other = b;
    int32_t file = leat_can_block_file(one), other_file = leat_can_block_file(other);
    if (file != other_file) return file < other_file ? -1 : 1;
    if (one->bus != other->bus) return one->bus < other->bus ? -1 : 1;
    return (one->rank > other->rank) - (one->rank < other->rank);
}

static bool same_capture(const leat_can_block *a, const leat_can_block *b) {
    return leat_can_block_file(a) == leat_can_block_file(b) && a->bus == b->bus;
}

static void count_block(leat_can_capture *capture, const leat_can_block *block) {
    if (capture->frames == 0 || block->first_s < capture->first_s) {
        capture->first_s = block->first_s;
    }
    if (capture->frames == 0 || block->last_s > capture->last_s) capture->last_s = block->last_s;
    capture->file_index = leat_can_block_file(block);
    capture->bus = block->bus;
    capture->frames += block->count;
    capture->attack_frames += block->attack_frames;
    capture->steps_back += block->steps_back;
}

leat_code leat_can_store_make_captures(leat_can_store *store, leat_error *err) {
    const leat_can_block *blocks = store->blocks;
    leat_can_sort(store->blocks, store->block_count, (int64_t)sizeof *blocks, compare_blocks);
    int64_t count = 0;
    for (int64_t i = 0; i < store->block_count; i++) {
        if (i == 0 || !same_capture(&blocks[i - 1], &blocks[i])) count++;
    }
    LEAT_TRY(LEAT_CAN_ROOM_NEW(store, &store->captures, count, err));
    for (int64_t i = 0; i < store->block_count; i++) {
        bool first = i == 0 || !same_capture(&blocks[i - 1], &blocks[i]);
        if (first) store->capture_count++;
        leat_can_capture *capture = &store->captures[store->capture_count - 1];
        count_block(capture, &blocks[i]);
        capture->steps_back += !first && blocks[i].begin_s < blocks[i - 1].end_s;
    }
    return LEAT_OK;
}

/* The blocks of all workers in one table, file by file. */
static leat_code join_blocks(leat_can_store *store, leat_error *err) {
    int64_t count = 0;
    for (int i = 0; i < store->spill_count; i++) count += store->workers[i]->block_count;
    LEAT_TRY(LEAT_CAN_ROOM_GROW(store, &store->blocks, &store->block_capacity, count, err));
    for (int i = 0; i < store->spill_count; i++) {
        leat_can_worker *worker = store->workers[i];
        if (worker->block_count > 0) {
            memcpy(store->blocks + store->block_count, worker->blocks,
                   (size_t)worker->block_count * sizeof *worker->blocks);
        }
        store->block_count += worker->block_count;
        LEAT_CAN_ROOM_FREE(store, worker->blocks, worker->block_capacity);
        worker->blocks = NULL;
        worker->block_count = worker->block_capacity = 0;
    }
    return LEAT_OK;
}

leat_code leat_can_store_finish(leat_can_store *store, leat_error *err) {
    LEAT_ASSERT(!store->finished);
    for (int i = 0; i < store->spill_count; i++) leat_can_worker_rest(store, store->workers[i]);
    LEAT_TRY(leat_can_store_make_ids(store, err));
    LEAT_TRY(join_blocks(store, err));
    for (int i = 0; i < store->spill_count; i++) {
        store->spills[i].file = store->workers[i]->file;
        store->spills[i].size_bytes = store->workers[i]->file_bytes;
        store->workers[i]->file = NULL;
    }
    destroy_workers(store);
    LEAT_TRY(leat_can_store_make_captures(store, err));
    store->finished = true;
    return LEAT_OK;
}

int64_t leat_can_store_spilled(const leat_can_store *store) {
    int64_t bytes = store->merged_bytes;
    for (int i = 0; i < store->spill_count; i++) bytes += store->spills[i].size_bytes;
    return bytes;
}

int64_t leat_can_store_captures(const leat_can_store *store, const leat_can_capture **captures) {
    *captures = store->captures;
    return store->capture_count;
}
