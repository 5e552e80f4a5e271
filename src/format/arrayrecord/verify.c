/*
 * Accounts for every byte of a file. The file is walked chunk by chunk from its first byte, and the
 * index is compared with the chunks found. If a chunk header is damaged, the walk continues at the
 * next position known from the index or the size of the file.
 */
#include <string.h>

#include "format/arrayrecord/internal.h"

#define BLOCK LEAT_AR_BLOCK_BYTES
#define SIGNATURE_BYTES 64
#define POSTSCRIPT_COPIES 3
/* Padding chunks are filled with zeros; those of leat and Google have fewer than two blocks of
 * them. */
#define PADDING_BYTES_MAX (INT64_C(1) << 26)

typedef struct verify {
    leat_ar_source source;
    leat_ar_room *room;
    leat_ar_window window;
    leat_ar_bytes bytes;
    leat_ar_table table;
    bool indexed; /* the table could be read */
    int64_t next; /* chunk of the index that is to come */
    int64_t max_chunk_bytes;
    leat_ar_finding_fn finding;
    void *user;
    leat_ar_check *check;
    leat_error first;
} verify;

/* Is it about the file, or about this machine? */
static bool is_finding(leat_code code) {
    return code == LEAT_ERR_CORRUPT || code == LEAT_ERR_UNSUPPORTED || code == LEAT_ERR_LIMIT;
}

/* Reports found->message; fails if the check cannot or must not continue. */
static leat_code note(verify *v, int64_t offset, const leat_error *found, leat_error *err) {
    if (!is_finding(found->code)) return leat_error_copy(err, found);
    if (v->check->findings++ == 0) v->first = *found;
    leat_ar_finding finding = {offset, found->code, found->message};
    if (v->finding != NULL && !v->finding(v->user, &finding)) {
        return leat_fail(err, LEAT_ERR_CANCELLED, "the check was stopped at byte %lld",
                         (long long)offset);
    }
    return LEAT_OK;
}

static leat_code note_text(verify *v, int64_t offset, const char *text, leat_error *err) {
    leat_error found;
    leat_fail(&found, LEAT_ERR_CORRUPT, "chunk at byte %lld: %s", (long long)offset, text);
    return note(v, offset, &found, err);
}

/* Index of the first byte that is not zero; size_bytes if there is none. */
static int64_t first_nonzero(const uint8_t *bytes, int64_t size_bytes) {
    if (size_bytes == 0) return 0;
    /* all equal to their neighbour, and the first one zero */
    if (bytes[0] == 0 && memcmp(bytes, bytes + 1, (size_t)size_bytes - 1) == 0) return size_bytes;
    int64_t at = 0;
    while (bytes[at] == 0) at++;
    return at;
}

/* The chunk's own padding: block headers and zeros. */
static leat_code check_spread(verify *v, const leat_ar_chunk *chunk, leat_error *found) {
    int64_t at = chunk->data_end;
    while (at < chunk->end) {
        int64_t stop = (at / BLOCK + 1) * BLOCK;
        if (stop > chunk->end) stop = chunk->end;
        const uint8_t *bytes = v->bytes.get(v->bytes.context, at, stop - at, NULL, found);
        if (bytes == NULL) return found->code;
        int64_t skip = 0;
        if (at % BLOCK == 0) {
            uint8_t expected[LEAT_AR_BLOCK_HEADER_BYTES];
            skip = LEAT_AR_BLOCK_HEADER_BYTES;
            leat_ar_block_header(expected, at, chunk->begin, chunk->end);
            if (memcmp(bytes, expected, (size_t)skip) != 0) {
                return leat_fail(found, LEAT_ERR_CORRUPT,
                                 "chunk at byte %lld: block header at byte %lld is wrong",
                                 (long long)chunk->begin, (long long)at);
            }
        }
        int64_t zeros = first_nonzero(bytes + skip, stop - at - skip);
        if (zeros < stop - at - skip) {
            return leat_fail(
                found, LEAT_ERR_CORRUPT,
                "chunk at byte %lld: byte %lld of the file, in its padding, is not zero",
                (long long)chunk->begin, (long long)(at + skip + zeros));
        }
        at = stop;
    }
    return LEAT_OK;
}

static leat_code bad_kind(leat_error *found, const leat_ar_chunk *chunk, const char *what) {
    return leat_fail(found, LEAT_ERR_CORRUPT, "chunk at byte %lld: type 0x%02x, %lld records: %s",
                     (long long)chunk->begin, chunk->type, (long long)chunk->record_count, what);
}

static leat_code check_padding(verify *v, const leat_ar_chunk *chunk, leat_error *found) {
    if (chunk->record_count != 0 || chunk->decoded_bytes != 0) {
        return bad_kind(found, chunk, "padding has no records");
    }
    int64_t most = PADDING_BYTES_MAX;
    if (v->room->memory_max > 0 && v->room->memory_max < most) most = v->room->memory_max;
    if (chunk->data_bytes > most) {
        return leat_fail(found, LEAT_ERR_LIMIT,
                         "chunk at byte %lld: %lld bytes of padding, more than %lld",
                         (long long)chunk->begin, (long long)chunk->data_bytes, (long long)most);
    }
    LEAT_TRY(leat_buf_reserve(&v->room->data, chunk->data_bytes + 1, found));
    LEAT_TRY(leat_ar_chunk_scan(&v->bytes, chunk, v->room->data.data, NULL, found));
    int64_t zeros = first_nonzero(v->room->data.data, chunk->data_bytes);
    if (zeros < chunk->data_bytes) {
        return leat_fail(found, LEAT_ERR_CORRUPT,
                         "chunk at byte %lld: byte %lld of the padding is not zero",
                         (long long)chunk->begin, (long long)zeros);
    }
    return LEAT_OK;
}

/* A data chunk; `entry` is its number in the index, -1 without an index. */
static leat_code check_records(verify *v, const leat_ar_chunk *chunk, int64_t entry,
                               leat_error *found) {
    leat_ar_decoded decoded;
    if (entry >= 0 && chunk->record_count != leat_ar_table_records(&v->table, entry)) {
        return bad_kind(found, chunk, "the footer has a different number");
    }
    int64_t said = entry >= 0 ? v->table.index.entries[entry].decoded_bytes : -1;
    if (said >= 0 && chunk->decoded_bytes != said) {
        return bad_kind(found, chunk, "the footer has a different size");
    }
    LEAT_TRY(leat_ar_chunk_decode(&v->bytes, chunk, v->max_chunk_bytes, v->room, &decoded, found));
    v->check->chunk_count++;
    v->check->record_count += chunk->record_count;
    if (decoded.prefix_wrong) {
        return bad_kind(found, chunk, "the size before its records is wrong");
    }
    return LEAT_OK;
}

/* What the chunk's position in the file requires, and its hashes. */
static leat_code check_chunk(verify *v, const leat_ar_chunk *chunk, int64_t entry,
                             leat_error *found) {
    bool empty = chunk->record_count == 0 && chunk->decoded_bytes == 0;
    bool index_chunk = v->indexed && (chunk->begin == v->table.footer_offset ||
                                      chunk->begin == v->source.size_bytes - BLOCK);
    if (chunk->begin == 0) {
        if (chunk->type != LEAT_AR_CHUNK_SIGNATURE || !empty || chunk->data_bytes != 0) {
            return bad_kind(found, chunk, "no signature");
        }
    } else if (entry >= 0 || (!v->indexed && chunk->record_count > 0)) {
        return check_records(v, chunk, entry, found);
    } else if (index_chunk) {
        if (chunk->type != LEAT_AR_CHUNK_SIMPLE) return bad_kind(found, chunk, "no index");
    } else if (chunk->type == LEAT_AR_CHUNK_PADDING) {
        return check_padding(v, chunk, found);
    } else if (chunk->type != LEAT_AR_CHUNK_METADATA || chunk->begin != SIGNATURE_BYTES ||
               chunk->record_count != 0) {
        return bad_kind(found, chunk, "it is not in the index");
    }
    return leat_ar_chunk_scan(&v->bytes, chunk, NULL, NULL, found);
}

/* The next position after `position` at which a chunk is known to begin; the end if there is none.
 */
static int64_t resume_after(const verify *v, int64_t position) {
    const leat_ar_index *index = &v->table.index;
    int64_t postscript = v->source.size_bytes - BLOCK;
    if (v->indexed) {
        for (int64_t i = v->next; i < index->count; i++) {
            if (index->entries[i].offset > position) return index->entries[i].offset;
        }
        if (v->table.footer_offset > position) return v->table.footer_offset;
    }
    return postscript > position ? postscript : v->source.size_bytes;
}

/* Checks the chunk at *position and moves past it. */
static leat_code step(verify *v, int64_t *position, leat_error *err) {
    leat_error found = {0};
    leat_ar_chunk chunk;
    const leat_ar_index *index = &v->table.index;
    int64_t begin = *position, entry = -1;
    while (v->indexed && v->next < index->count && index->entries[v->next].offset <= begin) {
        int64_t offset = index->entries[v->next].offset;
        if (offset == begin) entry = v->next;
        v->next++;
        if (offset == begin) continue;
        LEAT_TRY(note_text(v, offset, "it is in the index, but no chunk begins here", err));
    }
    int64_t next = resume_after(v, begin);
    int64_t limit = v->indexed ? next : v->source.size_bytes;
    if (leat_ar_chunk_read(&v->bytes, begin, limit, &chunk, &found) != LEAT_OK) {
        *position = next;
        return note(v, begin, &found, err);
    }
    *position = chunk.end;
    leat_code code = check_chunk(v, &chunk, entry, &found);
    if (code == LEAT_OK) code = check_spread(v, &chunk, &found);
    return code == LEAT_OK ? LEAT_OK : note(v, begin, &found, err);
}

static leat_code check_table(verify *v, leat_error *err) {
    leat_error found = {0};
    if (leat_ar_table_read(&v->bytes, v->room, &v->table, &found) != LEAT_OK) {
        return note(v, -1, &found, err);
    }
    v->indexed = true;
    if (v->table.postscript_count != POSTSCRIPT_COPIES || !v->table.postscripts_equal) {
        LEAT_TRY(note_text(v, v->source.size_bytes - BLOCK,
                           "the postscript does not have its three copies", err));
    }
    if (v->table.extra_entries != 0) {
        LEAT_TRY(
            note_text(v, v->table.footer_offset, "the footer has more entries than chunks", err));
    }
    if (v->table.prefix_wrong) {
        LEAT_TRY(
            note_text(v, v->table.footer_offset, "a size in footer or postscript is wrong", err));
    }
    return LEAT_OK;
}

static leat_code walk(verify *v, leat_error *err) {
    LEAT_TRY(check_table(v, err));
    int64_t position = 0;
    while (position < v->source.size_bytes) LEAT_TRY(step(v, &position, err));
    return LEAT_OK;
}

static leat_code run(verify *v, const char *name, const leat_ar_read_options *options,
                     int64_t memory_max, leat_error *err) {
    LEAT_TRY(leat_ar_read_limit(options, &v->max_chunk_bytes, err));
    v->check->file_bytes = v->source.size_bytes;
    LEAT_TRY(leat_ar_room_create(&v->room, err));
    v->room->memory_max = memory_max;
    if (memory_max > v->max_chunk_bytes) v->max_chunk_bytes = memory_max;
    v->window = (leat_ar_window){&v->source, v->room, v->source.size_bytes};
    v->bytes = leat_ar_window_bytes(&v->window);
    leat_code code = walk(v, err);
    leat_ar_table_free(&v->table);
    leat_ar_room_destroy(v->room);
    if (code == LEAT_OK && v->check->findings > 0) {
        code = leat_error_copy(err, &v->first);
    }
    if (code != LEAT_OK) leat_error_context(err, code, "ArrayRecord file \"%s\"", name);
    return code;
}

leat_code leat_ar_verify(const char *path, const leat_ar_read_options *options,
                         leat_ar_finding_fn finding, void *user, leat_ar_check *check,
                         leat_error *err) {
    return leat_ar_verify_within(path, options, 0, finding, user, check, err);
}

leat_code leat_ar_verify_within(const char *path, const leat_ar_read_options *options,
                                int64_t memory_max, leat_ar_finding_fn finding, void *user,
                                leat_ar_check *check, leat_error *err) {
    leat_ar_check unused;
    if (check == NULL) check = &unused;
    *check = (leat_ar_check){0};
    verify v = {.finding = finding, .user = user, .check = check};
    LEAT_TRY(leat_ar_source_open(&v.source, path, err));
    leat_code code = run(&v, path, options, memory_max, err);
    leat_file_close(v.source.file);
    return code;
}

leat_code leat_ar_verify_memory(const void *bytes, int64_t size_bytes,
                                const leat_ar_read_options *options, leat_ar_finding_fn finding,
                                void *user, leat_ar_check *check, leat_error *err) {
    leat_ar_check unused;
    if (check == NULL) check = &unused;
    *check = (leat_ar_check){0};
    verify v = {.source = {.memory = bytes, .size_bytes = size_bytes},
                .finding = finding,
                .user = user,
                .check = check};
    return run(&v, "(memory)", options, 0, err);
}
