/*
 * The six arrays of a sequence, and how contexts fill it. A segment's targets, positions and
 * numbers are written after its tokens, in loops of fixed width that compilers turn into wide
 * stores.
 */
#include <string.h>

#include "base/error.h"
#include "batch/tokens/context.h"

enum { WIDTH = 16 };

static void fill(int32_t *restrict at, int32_t count, int32_t value) {
    int32_t i = 0;
    for (; i + WIDTH <= count; i += WIDTH) {
        for (int j = 0; j < WIDTH; j++) at[i + j] = value;
    }
    for (; i < count; i++) at[i] = value;
}

static void fill_counting(int32_t *restrict at, int32_t count) {
    int32_t i = 0;
    for (; i + WIDTH <= count; i += WIDTH) {
        for (int j = 0; j < WIDTH; j++) at[i + j] = i + j;
    }
    for (; i < count; i++) at[i] = i;
}

void leat_sequence_begin(leat_sequence *sequence) {
    sequence->used = sequence->segments = 0;
    sequence->drawn = sequence->kept = 0;
    sequence->cut = false;
}

void leat_sequence_end_segment(leat_sequence *sequence, int32_t count) {
    int32_t begin = sequence->used, last = begin + count - 1;
    LEAT_ASSERT(count >= 1 && count <= sequence->length - begin);
    int32_t segment = ++sequence->segments;
    sequence->used += count;
    fill(sequence->inputs_segmentation + begin, count, segment);
    fill(sequence->targets_segmentation + begin, count, segment);
    fill_counting(sequence->inputs_position + begin, count);
    fill_counting(sequence->targets_position + begin, count);
    memcpy(sequence->targets + begin, sequence->inputs + begin + 1, 4 * (size_t)(count - 1));
    sequence->targets[last] = 0;
    sequence->targets_segmentation[last] = 0;
    if (sequence->boundary == LEAT_BOUNDARY_CROSS && begin > 0) {
        sequence->targets[begin - 1] = sequence->inputs[begin];
        sequence->targets_segmentation[begin - 1] = segment;
    }
}

void leat_sequence_finish(leat_sequence *sequence) {
    size_t size_bytes = 4 * (size_t)(sequence->length - sequence->used);
    int32_t *arrays[] = {sequence->inputs,
                         sequence->targets,
                         sequence->inputs_position,
                         sequence->targets_position,
                         sequence->inputs_segmentation,
                         sequence->targets_segmentation};
    for (int i = 0; i < 6; i++) memset(arrays[i] + sequence->used, 0, size_bytes);
}

/* ---- the whole of it ---------------------------------------------------------------------- */

/* Context t of the source, into the space that is left. */
static leat_code add_context(leat_sequence *sequence, const leat_source *source, int64_t t,
                             const leat_anchors *anchors, leat_context *context,
                             leat_row_reader *reader, leat_error *err) {
    int64_t row = 0, k = 0, n = 0;
    int ip_version = 0;
    leat_anchors_find(anchors, leat_source_anchor(source, t), &row, &k);
    LEAT_TRY(reader->row_size(reader->user, row, &n, &ip_version, err));
    leat_context_draw(context, n, ip_version, leat_source_key(source, t), k,
                      sequence->length - sequence->used, t == 0);
    LEAT_TRY(reader->points(reader->user, row, context->index, context->count, reader->point, err));
    leat_context_write(context, reader->point, sequence);
    if (reader->explain != NULL) {
        reader->explain(reader->user, t, row, k, context, reader->point);
    }
    return LEAT_OK;
}

bool leat_sequence_wants(const leat_sequence *sequence, const leat_context *context, int64_t t) {
    const leat_sampler_options *options = &context->options;
    if (t == 0) return true;
    int32_t left = sequence->length - sequence->used;
    if (options->packing == LEAT_PACKING_NONE || options->sampler == LEAT_SAMPLER_ALL) return false;
    if (left == 0 || t >= leat_source_contexts_max(sequence->length)) return false;
    /* where nothing is cut, the first filler that finds no room for one measurement is the last */
    return options->tail == LEAT_TAIL_CUT || (left >= LEAT_TOKENS_MIN && context->kept > 0);
}

leat_code leat_sequence_make(leat_sequence *sequence, const leat_source *source,
                             const leat_anchors *anchors, leat_context *context,
                             leat_row_reader *reader, leat_error *err) {
    leat_code code = LEAT_OK;
    leat_sequence_begin(sequence);
    for (int64_t t = 0; code == LEAT_OK && leat_sequence_wants(sequence, context, t); t++) {
        code = add_context(sequence, source, t, anchors, context, reader, err);
    }
    if (code != LEAT_OK) leat_sequence_begin(sequence);
    leat_sequence_finish(sequence);
    return code;
}
