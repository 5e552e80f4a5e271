/*
 * Token sequences from anywhere. The first byte chooses: bit 0 whether there are segments (one byte
 * a token, behind the tokens), bit 1 how tokens are read: two bytes each, or one byte of a small
 * alphabet that makes measurements likely. What is accepted must be what it says: the measurements
 * lie end to end, only the last is cut, and encoding one again gives the same one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leat/batch.h"

enum { LENGTH_MAX = 4096 };

static void check(bool condition) {
    if (!condition) abort();
}

/* A whole measurement, encoded anew as the first of a sequence, reads back as the same one. */
static void check_again(const leat_decoded *it) {
    leat_measurement point = {.ip_version = it->src_version, .rtt = -1};
    int32_t tokens[LEAT_TOKENS_MAX], found = 0;
    int64_t clock_us = LEAT_CLOCK_UNSET;
    leat_decoded again;
    bool timed = it->time_token != 0;
    if (it->cut || it->src_version != it->dst_version) return;
    if (timed && it->time_s > INT64_MAX / 1000000) return;
    if (!it->failed) point.rtt = (float)((double)it->rtt_us / 1000);
    point.time_us = timed ? it->time_s * 1000000 : 0;
    memcpy(point.src_bytes, it->src_bytes, 16);
    memcpy(point.dst_bytes, it->dst_bytes, 16);
    uint8_t order[LEAT_FIELDS] = {it->order[0], it->order[1], it->order[2], LEAT_FIELD_TIME};
    if (timed) order[3] = it->order[3];
    int32_t count = leat_tokens_encode(&point, order, timed, &clock_us, tokens);
    check(leat_tokens_decode(tokens, NULL, count, &again, 1, &found, NULL) == LEAT_OK);
    check(found == 1 && !again.cut && again.count == count);
    check(again.field_count == it->field_count && again.time_s == it->time_s);
    check(memcmp(again.order, it->order, (size_t)it->field_count) == 0);
    check(memcmp(again.src_bytes, it->src_bytes, 16) == 0);
    check(memcmp(again.dst_bytes, it->dst_bytes, 16) == 0);
    check(again.failed == it->failed);
    /* a float holds seven digits of what a code may say in thirteen; 0 is written as 1 */
    double off = (double)(again.rtt_us - it->rtt_us), most = 1 + 0.002 * (double)it->rtt_us;
    check(off <= most && -off <= most);
}

static void check_decoded(const leat_decoded *out, int32_t count, const int32_t *tokens,
                          int32_t length) {
    int32_t at = 0, segment = 0;
    for (int32_t i = 0; i < count; i++) {
        check(out[i].first == at && out[i].count >= 1);
        check(tokens[at] == LEAT_TOKEN_MEASUREMENT_START);
        check(!out[i].cut || (i == count - 1 && at + out[i].count == length));
        check(out[i].segment == segment || out[i].segment == segment + 1);
        segment = out[i].segment;
        if (!out[i].cut) {
            check(out[i].count >= LEAT_TOKENS_MIN && out[i].count <= LEAT_TOKENS_MAX);
            check(out[i].src_version != 0 && out[i].dst_version != 0 && out[i].has_result);
        }
        check_again(&out[i]);
        at += out[i].count;
    }
    check(at <= length);
}

static int32_t read_tokens(const uint8_t *data, size_t size, int kind, int32_t *tokens,
                           int32_t *segments) {
    int32_t width = (kind & 2) != 0 ? 1 : 2, length = 0;
    size_t each = (size_t)width + (kind & 1);
    for (; length < LENGTH_MAX && size >= each; data += each, size -= each, length++) {
        tokens[length] = width == 2 ? (int16_t)(data[0] | data[1] << 8) : data[0] % 16;
        segments[length] = (kind & 1) != 0 ? (int8_t)data[width] : 1;
    }
    return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int32_t tokens[LENGTH_MAX], segments[LENGTH_MAX];
    static leat_decoded out[LENGTH_MAX];
    if (size < 1) return 0;
    int kind = data[0];
    int32_t length = read_tokens(data + 1, size - 1, kind, tokens, segments), count = -1;
    leat_error err = {0};
    leat_textbuf *text = NULL;
    const char *words = NULL;
    int64_t words_size = 0;
    leat_code code = leat_tokens_decode(tokens, (kind & 1) != 0 ? segments : NULL, length, out,
                                        LENGTH_MAX, &count, &err);
    check(code == LEAT_OK || (code == LEAT_ERR_CORRUPT && count == 0 && err.message[0] != 0));
    if (code == LEAT_OK) check_decoded(out, count, tokens, length);
    if (leat_textbuf_create(&text, NULL) != LEAT_OK) abort();
    check(leat_tokens_words(tokens, (kind & 1) != 0 ? segments : NULL, length, text, NULL) == code);
    check(leat_textbuf_finish(text, &words, &words_size, NULL) == LEAT_OK);
    leat_textbuf_destroy(text);
    return 0;
}
