/* The frame store's life: see store.h. */
#include "ingest/can/store/store.h"

#include <math.h>
#include <stdio.h>

#include "base/thread.h"
#include "ingest/can/store/tables.h"

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
    store->run = options->run;
    store->file_count = options->file_count;
    store->split_falls = options->split_falls;
    store->pause_s =
        options->split_falls && options->pause_s > 0 ? options->pause_s : (double)INFINITY;
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

static void remove_file(const leat_can_store *store, const leat_file *file) {
    if (file != NULL && !store->keep) leat_path_discard(leat_file_path(file));
}

static void destroy_workers(leat_can_store *store) {
    for (int i = 0; store->workers != NULL && i < store->spill_count; i++) {
        leat_can_worker *worker = store->workers[i];
        if (worker != NULL) leat_can_census_add(&store->census, &worker->census);
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
    leat_free(store->recordings);
    leat_free(store->captures);
    leat_free(store->ids);
    leat_free(store->met);
    leat_free(store->temp_dir);
    leat_free(store);
}

/* ---- the end of the scan --------------------------------------------------------------------- */

/* In the order of the files' lines. */
static int compare_lines(const void *a, const void *b) {
    const leat_can_block *one = a, *other = b;
    if (one->rank != other->rank) return one->rank < other->rank ? -1 : 1;
    if (one->segment != other->segment) return one->segment < other->segment ? -1 : 1;
    return (one->first_line > other->first_line) - (one->first_line < other->first_line);
}

static bool same_segment(const leat_can_block *a, const leat_can_block *b) {
    return a->rank == b->rank && a->segment == b->segment;
}

/* Counts the recordings of the blocks, which are in the order of lines, and gives each block its
 * own; stores them if `out` is not NULL. */
static int64_t find_recordings(const leat_can_store *store, leat_can_recording *out) {
    leat_can_block *blocks = store->blocks;
    int64_t count = 0, frames = 0;
    int32_t number = 0;
    double before_s = 0;
    for (int64_t i = 0; i < store->block_count;) {
        const leat_can_block *first = &blocks[i], *last = first;
        int32_t file = leat_can_block_file(first);
        bool new_file = i == 0 || leat_can_block_file(first - 1) != file;
        bool fall =
            !new_file && (first->segment > 0 || leat_can_is_new(store, before_s, first->begin_s));
        if (new_file) frames = number = 0;
        if (new_file || fall) {
            if (out != NULL)
                out[count] = (leat_can_recording){.fall_s = fall ? before_s - first->begin_s : 0,
                                                  .first_frame = frames,
                                                  .file_index = file,
                                                  .number = number};
            count++;
            number++;
        } else if (out != NULL) {
            out[count - 1].steps_back += first->begin_s < before_s;
        }
        for (; i < store->block_count && same_segment(first, &blocks[i]); i++) {
            frames += blocks[i].count;
            blocks[i].recording = (int32_t)(count - 1);
            if (blocks[i].last_line > last->last_line) last = &blocks[i];
            if (out != NULL) out[count - 1].steps_back += blocks[i].log_steps_back;
        }
        before_s = last->end_s;
    }
    return count;
}

static leat_code make_recordings(leat_can_store *store, leat_error *err) {
    leat_can_sort(store->blocks, store->block_count, (int64_t)sizeof *store->blocks, compare_lines);
    int64_t count = find_recordings(store, NULL);
    if (count > INT32_MAX)
        return leat_fail(err, LEAT_ERR_LIMIT, "more than %d recordings", INT32_MAX);
    LEAT_TRY(LEAT_CAN_ROOM_NEW(store, &store->recordings, count, err));
    store->recording_count = find_recordings(store, store->recordings);
    return LEAT_OK;
}

static int compare_blocks(const void *a, const void *b) {
    const leat_can_block *one = a, *other = b;
    if (one->recording != other->recording) return one->recording < other->recording ? -1 : 1;
    if (one->bus != other->bus) return one->bus < other->bus ? -1 : 1;
    return (one->rank > other->rank) - (one->rank < other->rank);
}

static bool same_capture(const leat_can_block *a, const leat_can_block *b) {
    return a->recording == b->recording && a->bus == b->bus;
}

static void count_block(leat_can_capture *capture, const leat_can_block *block) {
    if (capture->frames == 0 || block->first_s < capture->first_s) {
        capture->first_s = block->first_s;
    }
    if (capture->frames == 0 || block->last_s > capture->last_s) capture->last_s = block->last_s;
    capture->file_index = leat_can_block_file(block);
    capture->recording = block->recording;
    capture->bus = block->bus;
    capture->frames += block->count;
    capture->attack_frames += block->attack_frames;
    capture->steps_back += block->steps_back;
}

leat_code leat_can_store_make_captures(leat_can_store *store, leat_error *err) {
    const leat_can_block *blocks = store->blocks;
    LEAT_TRY(make_recordings(store, err));
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
    LEAT_ASSERT(store->capture_count == count);
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
    LEAT_ASSERT(store->block_count == count);
    return LEAT_OK;
}

leat_code leat_can_store_finish(leat_can_store *store, leat_error *err) {
    LEAT_ASSERT(!store->finished && store->workers != NULL);
    if (atomic_load(&store->is_short)) {
        const leat_can_store_facts facts = leat_can_store_get_facts(store);
        return leat_can_room_fail(store, leat_can_facts_least_bytes(&facts, 0), err);
    }
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

int64_t leat_can_store_recordings(const leat_can_store *store,
                                  const leat_can_recording **recordings) {
    *recordings = store->recordings;
    return store->recording_count;
}
