/*
 * A finished store on disk, for a run that resumes after it was killed: the tables, with a checksum
 * over all of it, next to the spill files, whose blocks have hashes in the table.
 *
 *   head | sizes of the spills | identifiers | the files they occurred in | the spills' numbers of
 *   them | blocks | SHA-256 of all before, its first 8 bytes xor the number of the run
 */
#include "base/hash.h"
#include "base/thread.h"
#include "ingest/can/store/tables.h"

#define STATE_MAGIC "leatcan" /* and its NUL */
#define STATE_VERSION 4
#define DIGEST_BYTES 32

typedef struct state_head {
    char magic[8];
    uint32_t version;
    int32_t file_count, spill_count;
    uint32_t zero;
    int64_t block_count, id_count, met_count;
} state_head;

typedef struct state_spill {
    int64_t size_bytes, id_count;
} state_spill;

_Static_assert(sizeof(state_head) == 48 && sizeof(state_spill) == 16, "saved as they are");
_Static_assert(sizeof(leat_can_id) == 32, "identifiers are saved as they are");

/* The position in a state file, read or written in order. */
typedef struct state_file {
    leat_file *file;
    int64_t at;
    leat_sha256 sha;
} state_file;

/* The checksum is of the bytes and of the run that saved them. */
static void finish(state_file *state, uint64_t run, uint8_t digest[DIGEST_BYTES]) {
    leat_sha256_final(&state->sha, digest);
    for (int i = 0; i < 8; i++) digest[i] ^= (uint8_t)(run >> 8 * i);
}

/* ---- saving ---------------------------------------------------------------------------------- */

static leat_code put(state_file *state, const void *bytes, int64_t size_bytes, leat_error *err) {
    if (size_bytes == 0) return LEAT_OK;
    leat_sha256_update(&state->sha, bytes, size_bytes);
    LEAT_TRY(leat_file_pwrite(state->file, bytes, size_bytes, state->at, err));
    state->at += size_bytes;
    return LEAT_OK;
}

#define PUT(state, items, count, err)                                                              \
    put((state), (items), (count) * (int64_t)sizeof(*(items)), (err))

static leat_code put_all(const leat_can_store *store, state_file *state, leat_error *err) {
    state_head head = {.magic = STATE_MAGIC,
                       .version = STATE_VERSION,
                       .file_count = store->file_count,
                       .spill_count = store->spill_count,
                       .block_count = store->block_count,
                       .id_count = store->id_count,
                       .met_count = store->met_count};
    LEAT_TRY(PUT(state, &head, 1, err));
    for (int i = 0; i < store->spill_count; i++) {
        state_spill spill = {store->spills[i].size_bytes, store->spills[i].id_count};
        LEAT_TRY(PUT(state, &spill, 1, err));
    }
    LEAT_TRY(PUT(state, store->ids, store->id_count, err));
    LEAT_TRY(PUT(state, store->met, store->met_count, err));
    for (int i = 0; i < store->spill_count; i++) {
        LEAT_TRY(PUT(state, store->spills[i].id, store->spills[i].id_count, err));
    }
    LEAT_TRY(PUT(state, store->blocks, store->block_count, err));
    uint8_t digest[DIGEST_BYTES];
    finish(state, store->run, digest);
    return leat_file_pwrite(state->file, digest, DIGEST_BYTES, state->at, err);
}

leat_code leat_can_store_save(leat_can_store *store, const char *path, leat_error *err) {
    LEAT_ASSERT(store->finished);
    state_file state = {0};
    leat_sha256_init(&state.sha);
    LEAT_TRY(leat_file_open_draft(&state.file, path, err));
    leat_code code = put_all(store, &state, err);
    if (code == LEAT_OK) code = leat_file_publish(state.file, false, err);
    leat_file_close(state.file);
    return code;
}

/* ---- loading --------------------------------------------------------------------------------- */

static leat_code damaged(const char *path, const char *what, leat_error *err) {
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "cannot resume from \"%s\": %s; run the ingest again without --resume", path,
                     what);
}

static leat_code get(state_file *state, void *bytes, int64_t size_bytes, leat_error *err) {
    if (size_bytes == 0) return LEAT_OK;
    LEAT_TRY(leat_file_pread(state->file, bytes, size_bytes, state->at, err));
    leat_sha256_update(&state->sha, bytes, size_bytes);
    state->at += size_bytes;
    return LEAT_OK;
}

#define GET(state, items, count, err)                                                              \
    get((state), (items), (count) * (int64_t)sizeof(*(items)), (err))

/* Subtracts `count` items of a section from the rest of the file; false if it is shorter. */
static bool take_off(int64_t *left, int64_t count, int64_t item_bytes) {
    if (count < 0 || count > *left / item_bytes) return false;
    *left -= count * item_bytes;
    return true;
}

/* rest: bytes of the sections whose counts are not in the head. */
static leat_code get_head(state_file *state, state_head *head, int64_t *rest, leat_error *err) {
    const char *path = leat_file_path(state->file);
    int64_t left = 0;
    *rest = 0;
    LEAT_TRY(leat_file_size(state->file, &left, err));
    left -= (int64_t)sizeof *head + DIGEST_BYTES;
    if (left < 0) return damaged(path, "it is truncated", err);
    LEAT_TRY(GET(state, head, 1, err));
    if (memcmp(head->magic, STATE_MAGIC, sizeof head->magic) != 0 ||
        head->version != STATE_VERSION || head->zero != 0) {
        return damaged(path, "it is not a state file of this version", err);
    }
    bool ok = head->spill_count >= 1 && head->spill_count <= LEAT_THREADS_MAX &&
              head->block_count <= UINT32_MAX && head->id_count <= LEAT_CAN_IDS_MAX &&
              take_off(&left, head->spill_count, (int64_t)sizeof(state_spill)) &&
              take_off(&left, head->block_count, (int64_t)sizeof(leat_can_block)) &&
              take_off(&left, head->id_count, (int64_t)sizeof(leat_can_id)) &&
              take_off(&left, head->met_count, (int64_t)sizeof(uint64_t));
    if (!ok) return damaged(path, "its counts exceed its size", err);
    *rest = left;
    return LEAT_OK;
}

/* The spills' sizes, which determine how many of their numbers there are. */
static leat_code get_sizes(leat_can_store *store, state_file *state, int64_t rest,
                           leat_error *err) {
    for (int i = 0; i < store->spill_count; i++) {
        state_spill spill;
        LEAT_TRY(GET(state, &spill, 1, err));
        if (!take_off(&rest, spill.id_count, (int64_t)sizeof *store->spills[i].id)) {
            return damaged(leat_file_path(state->file), "its counts exceed its size", err);
        }
        store->spills[i].size_bytes = spill.size_bytes;
        store->spills[i].id_count = spill.id_count;
    }
    if (rest == 0) return LEAT_OK;
    return damaged(leat_file_path(state->file), "its size is wrong", err);
}

static leat_code get_tables(leat_can_store *store, state_file *state, const state_head *head,
                            leat_error *err) {
    LEAT_TRY(LEAT_CAN_ROOM_NEW(store, &store->ids, head->id_count, err));
    store->id_count = head->id_count;
    LEAT_TRY(GET(state, store->ids, store->id_count, err));
    LEAT_TRY(LEAT_CAN_ROOM_NEW(store, &store->met, head->met_count, err));
    store->met_count = head->met_count;
    LEAT_TRY(GET(state, store->met, store->met_count, err));
    for (int i = 0; i < store->spill_count; i++) {
        leat_can_spill *spill = &store->spills[i];
        LEAT_TRY(LEAT_CAN_ROOM_NEW(store, &spill->id, spill->id_count, err));
        LEAT_TRY(GET(state, spill->id, spill->id_count, err));
    }
    LEAT_TRY(LEAT_CAN_ROOM_NEW(store, &store->blocks, head->block_count, err));
    store->block_count = store->block_capacity = head->block_count;
    LEAT_TRY(GET(state, store->blocks, store->block_count, err));
    uint8_t digest[DIGEST_BYTES], saved[DIGEST_BYTES];
    finish(state, store->run, digest);
    LEAT_TRY(leat_file_pread(state->file, saved, DIGEST_BYTES, state->at, err));
    if (memcmp(digest, saved, DIGEST_BYTES) == 0) return LEAT_OK;
    return damaged(leat_file_path(state->file),
                   "its checksum is wrong, or it belongs to another run", err);
}

static bool block_fits(const leat_can_store *store, const leat_can_block *block) {
    if (block->spill >= store->spill_count || block->count < 1 ||
        block->count > LEAT_CAN_LINES_MAX ||
        block->rank >> LEAT_CAN_RANK_FILE_BIT >= (uint64_t)store->file_count) {
        return false;
    }
    int64_t size = store->spills[block->spill].size_bytes;
    return block->offset >= 0 && block->offset <= size &&
           block->count <= (size - block->offset) / LEAT_CAN_ROW_BYTES && block->segment >= 0 &&
           block->first_line >= 0 && block->first_line <= block->last_line &&
           block->last_line < LEAT_CAN_LINES_MAX && block->first_s <= block->last_s &&
           block->last_s - block->last_s == 0 && block->first_s - block->first_s == 0;
}

/* Whether the tables are consistent: every index is in range. */
static bool tables_fit(const leat_can_store *store) {
    for (int i = 0; i < store->spill_count; i++) {
        const leat_can_spill *spill = &store->spills[i];
        for (int64_t k = 0; k < spill->id_count; k++) {
            if (spill->id[k] >= store->id_count) return false;
        }
    }
    for (int64_t i = 0; i < store->met_count; i++) {
        if (i > 0 && store->met[i] <= store->met[i - 1]) return false;
        if (store->met[i] >> 32 >= (uint64_t)store->id_count) return false;
        uint32_t file = (uint32_t)store->met[i] & ~LEAT_CAN_MET_ATTACK;
        if (file >= (uint32_t)store->file_count) return false;
    }
    for (int64_t i = 0; i < store->block_count; i++) {
        if (!block_fits(store, &store->blocks[i])) return false;
    }
    return true;
}

static leat_code open_spills(leat_can_store *store, leat_error *err) {
    for (int i = 0; i < store->spill_count; i++) {
        char path[LEAT_PATH_BYTES];
        leat_path_facts facts;
        LEAT_TRY(leat_can_store_spill_path(store, i, path, err));
        LEAT_TRY(leat_path_stat(path, &facts, err));
        if (facts.kind != LEAT_PATH_FILE) return damaged(path, "the file is missing", err);
        if (facts.size_bytes != store->spills[i].size_bytes) {
            return damaged(path, "the size of the file has changed", err);
        }
        LEAT_TRY(leat_file_open(&store->spills[i].file, path, LEAT_FILE_READ, err));
    }
    return LEAT_OK;
}

/* Every spilled row exists unchanged. */
static leat_code check_spills(leat_can_store *store, leat_error *err) {
    int64_t most = 1, all_bytes = 0;
    for (int64_t i = 0; i < store->block_count; i++) {
        if (store->blocks[i].count > most) most = store->blocks[i].count;
        all_bytes += store->blocks[i].count * LEAT_CAN_ROW_BYTES;
    }
    leat_ticker_stage(store->ticker, "checking", "bytes", all_bytes);
    uint8_t *rows = NULL;
    LEAT_TRY(leat_can_room_take(store, most * LEAT_CAN_ROW_BYTES, err));
    leat_code code = leat_block_alloc((void **)&rows, most * LEAT_CAN_ROW_BYTES, err);
    for (int64_t i = 0; i < store->block_count && code == LEAT_OK; i++) {
        const leat_can_block *block = &store->blocks[i];
        leat_file *file = store->spills[block->spill].file;
        int64_t size_bytes = block->count * LEAT_CAN_ROW_BYTES;
        code = leat_file_pread(file, rows, size_bytes, block->offset, err);
        if (code == LEAT_OK && leat_xxh3(rows, size_bytes) != block->hash) {
            code = damaged(leat_file_path(file), "a block of frames is damaged (its hash differs)",
                           err);
        }
        if (code == LEAT_OK) code = leat_ticker_step(store->ticker, size_bytes, err);
    }
    leat_block_free(rows, most * LEAT_CAN_ROW_BYTES);
    leat_can_room_give(store, most * LEAT_CAN_ROW_BYTES);
    return code;
}

static leat_code load(leat_can_store **out, const leat_can_store_options *options,
                      state_file *state, leat_error *err) {
    state_head head;
    int64_t rest = 0;
    LEAT_TRY(get_head(state, &head, &rest, err));
    const char *path = leat_file_path(state->file);
    if (head.file_count != options->file_count) {
        return damaged(path, "it belongs to a different number of files", err);
    }
    LEAT_TRY(leat_can_store_new(out, options, head.spill_count, err));
    leat_can_store *store = *out;
    store->keep = true; /* until everything is checked */
    LEAT_TRY(get_sizes(store, state, rest, err));
    LEAT_TRY(get_tables(store, state, &head, err));
    if (!tables_fit(store)) return damaged(path, "its tables are inconsistent", err);
    LEAT_TRY(open_spills(store, err));
    LEAT_TRY(check_spills(store, err));
    LEAT_TRY(leat_can_store_make_captures(store, err));
    store->finished = true;
    store->keep = false;
    return LEAT_OK;
}

leat_code leat_can_store_load(leat_can_store **out, const leat_can_store_options *options,
                              const char *path, leat_error *err) {
    *out = NULL;
    state_file state = {0};
    leat_sha256_init(&state.sha);
    LEAT_TRY(leat_file_open(&state.file, path, LEAT_FILE_READ, err));
    leat_code code = load(out, options, &state, err);
    leat_file_close(state.file);
    if (code == LEAT_OK) return LEAT_OK;
    leat_can_store_destroy(*out);
    *out = NULL;
    return code;
}
