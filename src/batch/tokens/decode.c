/*
 * Tokens back to measurements. The grammar is regular: MEASUREMENT_START, then each field at most
 * once and source, destination and result at least once, whose first token says how many byte
 * tokens follow. The tokens may come from anywhere (a model, a damaged file), so everything is
 * checked before it is used.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "batch/tokens/decode.h"

/* The field that a token opens, and how many bytes follow; false: it opens none. */
static bool open_field(int32_t token, leat_field *field, int *bytes) {
    static const struct {
        int8_t field, bytes;
    } fields[LEAT_TOKEN_BYTE] = {
        [LEAT_TOKEN_MEASUREMENT_START] = {-1, 0},
        [LEAT_TOKEN_SRC_IPV4] = {LEAT_FIELD_SRC, 4},
        [LEAT_TOKEN_SRC_IPV6] = {LEAT_FIELD_SRC, 16},
        [LEAT_TOKEN_DST_IPV4] = {LEAT_FIELD_DST, 4},
        [LEAT_TOKEN_DST_IPV6] = {LEAT_FIELD_DST, 16},
        [LEAT_TOKEN_TIMESTAMP_ABS] = {LEAT_FIELD_TIME, 8},
        [LEAT_TOKEN_TIMESTAMP_DELTA1] = {LEAT_FIELD_TIME, 1},
        [LEAT_TOKEN_TIMESTAMP_DELTA4] = {LEAT_FIELD_TIME, 4},
        [LEAT_TOKEN_RTT_START] = {LEAT_FIELD_RESULT, 2},
        [LEAT_TOKEN_THROUGHPUT_START] = {-1, 2},
        [LEAT_TOKEN_FAILED] = {LEAT_FIELD_RESULT, 0},
    };
    if (token < 0 || token >= LEAT_TOKEN_BYTE || fields[token].field < 0) return false;
    *field = (leat_field)fields[token].field;
    *bytes = fields[token].bytes;
    return true;
}

static leat_code refuse(const leat_decoder *decoder, int32_t at, const char *wanted,
                        leat_error *err) {
    int32_t token = decoder->tokens[at];
    const char *name = leat_token_name(token);
    return leat_fail(err, LEAT_ERR_CORRUPT, "token %d of the sequence is %d%s%s%s, not %s", at,
                     token, *name != 0 ? " (" : "", name, *name != 0 ? ")" : "", wanted);
}

/* Where the segment of `at` ends; of padding too. */
static int32_t segment_end(const leat_decoder *decoder, int32_t at) {
    if (decoder->segments == NULL) return decoder->length;
    int32_t end = at + 1;
    while (end < decoder->length && decoder->segments[end] == decoder->segments[at]) end++;
    return end;
}

static uint64_t join_bytes(const uint8_t *bytes, int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; i++) value = value << 8 | bytes[i];
    return value;
}

/* Puts a whole field into the measurement. False: its time does not fit in 64 bits. */
static bool keep_field(leat_decoder *decoder, leat_field field, int32_t token, const uint8_t *bytes,
                       int count) {
    leat_decoded *out = &decoder->now;
    out->order[out->field_count++] = (uint8_t)field;
    switch (field) {
    case LEAT_FIELD_SRC:
        out->src_version = count == 4 ? 4 : 6;
        memcpy(out->src_bytes, bytes, (size_t)count);
        break;
    case LEAT_FIELD_DST:
        out->dst_version = count == 4 ? 4 : 6;
        memcpy(out->dst_bytes, bytes, (size_t)count);
        break;
    case LEAT_FIELD_RESULT:
        out->has_result = true;
        out->failed = token == LEAT_TOKEN_FAILED;
        if (!out->failed) out->rtt_us = leat_tokens_rtt_decode((uint16_t)join_bytes(bytes, 2));
        break;
    case LEAT_FIELD_TIME: {
        uint64_t value = join_bytes(bytes, count);
        if (value > INT64_MAX) return false;
        out->time_token = token;
        out->time_value = (int64_t)value;
        if (token == LEAT_TOKEN_TIMESTAMP_ABS) decoder->clock_s = out->time_value;
        else if (decoder->clock_s < 0 ||
                 __builtin_add_overflow(decoder->clock_s, out->time_value, &decoder->clock_s)) {
            return false;
        }
        out->time_s = decoder->clock_s;
    }
    }
    return true;
}

/* One field, whose first token is at *at; sets now.cut if the sequence ends inside of it. */
static leat_code read_field(leat_decoder *decoder, int32_t *at, int32_t end, leat_error *err) {
    leat_decoded *out = &decoder->now;
    leat_field field = LEAT_FIELD_SRC;
    int count = 0;
    uint8_t bytes[16] = {0};
    int32_t first = *at, token = decoder->tokens[first];
    if (!open_field(token, &field, &count)) return refuse(decoder, first, "a field", err);
    for (int i = 0; i < out->field_count; i++) {
        if (out->order[i] == field) {
            return refuse(decoder, first, "a field that the measurement does not have yet", err);
        }
    }
    *at += 1;
    for (int i = 0; i < count; i++, *at += 1) {
        if (*at == end) {
            out->cut = true;
            return LEAT_OK;
        }
        int32_t byte = decoder->tokens[*at] - LEAT_TOKEN_BYTE;
        if (byte < 0 || byte > 255) return refuse(decoder, *at, "a byte (11..266)", err);
        bytes[i] = (uint8_t)byte;
    }
    if (!keep_field(decoder, field, token, bytes, count)) {
        return refuse(decoder, first, "a time (below 2^63, a difference only after a time)", err);
    }
    return LEAT_OK;
}

static leat_code begin_segment(leat_decoder *decoder, leat_error *err) {
    int32_t at = decoder->at;
    int32_t segment = decoder->segments == NULL ? 1 : decoder->segments[at];
    int32_t end = segment_end(decoder, at);
    if (segment == 0) {
        for (int32_t i = at; i < end; i++) {
            if (decoder->tokens[i] != 0) return refuse(decoder, i, "0, for padding", err);
        }
        if (end < decoder->length) {
            return leat_fail(
                err, LEAT_ERR_CORRUPT,
                "segment %d begins at token %d, after padding; padding ends a sequence",
                decoder->segments[end], end);
        }
        decoder->at = end;
        return LEAT_OK;
    }
    if (segment != decoder->segment + 1) {
        return leat_fail(
            err, LEAT_ERR_CORRUPT,
            "token %d of the sequence is in segment %d, after segment %d; segments are "
            "numbered 1, 2, 3, ...",
            at, segment, decoder->segment);
    }
    decoder->segment = segment;
    decoder->end = end;
    decoder->clock_s = LEAT_CLOCK_UNSET;
    return LEAT_OK;
}

void leat_decoder_begin(leat_decoder *decoder, const int32_t *tokens, const int32_t *segments,
                        int32_t length) {
    *decoder = (leat_decoder){.tokens = tokens, .segments = segments, .length = length};
}

leat_code leat_decoder_next(leat_decoder *decoder, bool *found, leat_error *err) {
    *found = false;
    if (decoder->at == decoder->end && decoder->at < decoder->length) {
        LEAT_TRY(begin_segment(decoder, err));
    }
    if (decoder->at == decoder->length) return LEAT_OK;
    int32_t at = decoder->at, end = decoder->end;
    leat_decoded *out = &decoder->now;
    *out = (leat_decoded){.first = at, .segment = decoder->segment, .time_s = -1};
    if (decoder->tokens[at] != LEAT_TOKEN_MEASUREMENT_START) {
        return refuse(decoder, at, "MEASUREMENT_START (0)", err);
    }
    at++;
    while (at < end && decoder->tokens[at] != LEAT_TOKEN_MEASUREMENT_START && !out->cut) {
        LEAT_TRY(read_field(decoder, &at, end, err));
    }
    bool whole = !out->cut && out->src_version != 0 && out->dst_version != 0 && out->has_result;
    if (!whole && at < decoder->length) {
        if (at < end) return refuse(decoder, at, "the rest of the previous measurement", err);
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "the measurement at token %d ends incomplete at token %d with its "
                         "segment; only the end of a sequence may cut one",
                         out->first, at);
    }
    out->cut = !whole;
    out->count = at - out->first;
    decoder->at = at;
    *found = true;
    return LEAT_OK;
}

leat_code leat_tokens_decode(const int32_t *tokens, const int32_t *segments, int32_t length,
                             leat_decoded *out, int32_t capacity, int32_t *count, leat_error *err) {
    leat_decoder decoder;
    bool found = false;
    *count = 0;
    int32_t all = 0;
    leat_decoder_begin(&decoder, tokens, segments, length);
    for (;;) {
        LEAT_TRY(leat_decoder_next(&decoder, &found, err));
        if (!found) break;
        if (all < capacity) out[all] = decoder.now;
        all++;
    }
    *count = all;
    return LEAT_OK;
}
