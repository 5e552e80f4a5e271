/* A sequence in words, one line per measurement, for people who inspect what a model is trained on.
 */
#include <stdio.h>
#include <string.h>

#include "base/address.h"
#include "base/error.h"
#include "base/time.h"
#include "batch/tokens/decode.h"

static void put_address(leat_textbuf *text, int version, const uint8_t *bytes) {
    char words[LEAT_ADDRESS_TEXT_BYTES + 1];
    if (version == 0) {
        leat_textbuf_put(text, "?");
        return;
    }
    words[leat_address_format(version, bytes, words)] = 0;
    leat_textbuf_put(text, words);
}

static void put_time(leat_textbuf *text, const leat_decoded *it) {
    char words[LEAT_TIME_TEXT_BYTES] = "no time";
    if (it->time_token != 0 && it->time_s <= INT64_MAX / 1000000) {
        int size = leat_time_format(it->time_s * 1000000, words);
        if (size > 8) memcpy(words + size - 8, "Z", 2); /* no ".000000": tokens hold seconds */
    } else if (it->time_token != 0) {
        snprintf(words, sizeof(words), "second %lld", (long long)it->time_s);
    }
    char delta[32] = "";
    if (it->time_token == LEAT_TOKEN_TIMESTAMP_ABS) snprintf(delta, sizeof(delta), "absolute");
    else if (it->time_token != 0) {
        snprintf(delta, sizeof(delta), "+%lld s", (long long)it->time_value);
    }
    leat_textbuf_printf(text, "  %-20s %-10s", words, delta);
}

static void put_line(leat_textbuf *text, const leat_decoded *it) {
    static const char *const fields[] = {"src", "dst", "result", "time"};
    leat_textbuf_printf(text, "%5d +%-2d  segment %d", it->first, it->count, it->segment);
    put_time(text, it);
    leat_textbuf_put(text, "  ");
    put_address(text, it->src_version, it->src_bytes);
    leat_textbuf_put(text, " -> ");
    put_address(text, it->dst_version, it->dst_bytes);
    if (!it->has_result) leat_textbuf_put(text, "  ?");
    else if (it->failed) leat_textbuf_put(text, "  failed");
    else leat_textbuf_printf(text, "  %.3f ms", (double)it->rtt_us / 1000);
    leat_textbuf_put(text, "  [");
    for (int i = 0; i < it->field_count; i++) {
        leat_textbuf_printf(text, "%s%s", i > 0 ? " " : "", fields[it->order[i]]);
    }
    leat_textbuf_put(text, it->cut ? "] cut here\n" : "]\n");
}

leat_code leat_tokens_words(const int32_t *tokens, const int32_t *segments, int32_t length,
                            leat_textbuf *text, leat_error *err) {
    leat_decoder decoder;
    bool found = false;
    leat_decoder_begin(&decoder, tokens, segments, length);
    for (;;) {
        LEAT_TRY(leat_decoder_next(&decoder, &found, err));
        if (!found) break;
        put_line(text, &decoder.now);
    }
    int32_t padding = 0;
    while (segments != NULL && padding < length && segments[length - 1 - padding] == 0) padding++;
    if (padding > 0) leat_textbuf_printf(text, "%5d +%-2d  padding\n", length - padding, padding);
    return LEAT_OK;
}
