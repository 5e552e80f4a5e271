/* Frames of a stream: rows of its segments, read piece by piece and split into columns. */
#include "ingest/can/store/tables.h"

/* Read at once, to the stack. */
#define PIECE_ROWS 512

/* The segment that contains a row of the stream. */
static const leat_can_segment *find_segment(const leat_can_store *store,
                                            const leat_can_stream_parts *stream, int64_t row) {
    const leat_can_segment *segments = store->segments + stream->first_segment;
    int64_t low = 0, high = stream->segment_count - 1;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (segments[middle].start <= row) low = middle;
        else high = middle - 1;
    }
    return segments + low;
}

static void unpack_bytes(const leat_can_row *row, int16_t bytes[LEAT_CAN_BYTES]) {
    for (int k = 0; k < LEAT_CAN_BYTES; k++) bytes[k] = row->bytes[k];
    uint32_t signs = row->place >> LEAT_CAN_ROW_SIGN_BIT;
    if (__builtin_expect(signs == 0, 1)) return;
    for (int k = 0; k < LEAT_CAN_BYTES; k++) {
        if ((signs >> k & 1) != 0) bytes[k] = (int16_t)(bytes[k] - 256);
    }
}

/* Rows to columns, from index `at` of the caller's arrays on; false if an identifier is unknown. */
static bool part_rows(const leat_can_spill *source, int32_t file, const leat_can_row *rows,
                      int64_t count, const leat_can_frames_out *out, int64_t at) {
    if (out->time != NULL) {
        for (int64_t i = 0; i < count; i++) out->time[at + i] = rows[i].time;
    }
    for (int64_t i = 0; out->id != NULL && i < count; i++) {
        uint32_t number = rows[i].id & LEAT_CAN_ROW_ID;
        if (__builtin_expect(number >= source->id_count, 0)) return false;
        out->id[at + i] = source->number[number];
    }
    if (out->bytes != NULL) {
        for (int64_t i = 0; i < count; i++) unpack_bytes(&rows[i], out->bytes[at + i]);
    }
    if (out->attack != NULL) {
        for (int64_t i = 0; i < count; i++) {
            out->attack[at + i] = rows[i].id >> LEAT_CAN_ROW_LABEL_BIT != 0;
        }
    }
    for (int64_t i = 0; out->type != NULL && i < count; i++) {
        uint32_t label = rows[i].id >> LEAT_CAN_ROW_LABEL_BIT;
        out->type[at + i] = (uint8_t)(label > 0 ? label - 1 : 0);
    }
    for (int64_t i = 0; out->file != NULL && i < count; i++) {
        out->file[at + i] = file >= 0 ? file : (int32_t)(rows[i].place & LEAT_CAN_ROW_PLACE);
    }
    return true;
}

leat_code leat_can_store_read(const leat_can_store *store, int32_t stream, int64_t first,
                              int64_t count, const leat_can_frames_out *out, leat_error *err) {
    LEAT_ASSERT(stream >= 0 && stream < store->stream_count);
    const leat_can_stream_parts *parts = &store->streams[stream];
    LEAT_ASSERT(first >= 0 && count >= 0 && first <= parts->frames &&
                count <= parts->frames - first);
    if (count == 0) return LEAT_OK;
    leat_can_row rows[PIECE_ROWS];
    const leat_can_segment *segment = find_segment(store, parts, first);
    const leat_can_segment *last =
        store->segments + parts->first_segment + parts->segment_count - 1;
    for (int64_t done = 0; done < count; segment++) {
        LEAT_ASSERT(segment <= last && segment->start <= first + done);
        const leat_can_spill *source = segment->source < store->spill_count
                                           ? &store->spills[segment->source]
                                           : &store->ordered[segment->source - store->spill_count];
        int64_t end = segment == last ? parts->frames : segment[1].start;
        while (done < count && first + done < end) {
            int64_t at = first + done, left = count - done;
            int64_t piece = end - at < left ? end - at : left;
            if (piece > PIECE_ROWS) piece = PIECE_ROWS;
            LEAT_TRY(leat_file_pread(source->file, rows, piece * LEAT_CAN_ROW_BYTES,
                                     segment->offset + (at - segment->start) * LEAT_CAN_ROW_BYTES,
                                     err));
            if (!part_rows(source, segment->file, rows, piece, out, done)) {
                return leat_fail(err, LEAT_ERR_CORRUPT,
                                 "temporary file \"%s\" was changed while it was in use: frame "
                                 "%lld of a stream has an unknown identifier",
                                 leat_file_path(source->file), (long long)at);
            }
            done += piece;
        }
    }
    return LEAT_OK;
}
