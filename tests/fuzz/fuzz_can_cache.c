/*
 * The documents of a CAN cache. The first byte chooses: 0 vocab.json, 1 scaler.json, 2
 * cache_metadata.json with the vocabulary 0C1, 0C9, 316, 7DF. What is accepted must be written and
 * read back as the same text, and without intervals too.
 */
#include <stdlib.h>
#include <string.h>

#include "format/can_cache/can_cache.h"

static leat_code append(void *context, const void *bytes, int64_t size_bytes, leat_error *err) {
    return leat_buf_append(context, bytes, size_bytes, err);
}

/* Reads a document behind the vocabulary that it needs. */
static leat_code parse(leat_can_meta *meta, leat_can_document which, leat_json_span text,
                       bool intervals, leat_error *err) {
    static const char vocab[] =
        "{\"digest\":\"7c26fff13166eb0e571ce6a76c8b865fda5fb759b10695755d3c7b1cffcd3d76\","
        "\"entries\":{\"0C1\":1,\"0C9\":2,\"316\":3,\"7DF\":4},\"unk_index\":0}";
    const leat_json_span known = {vocab, (int64_t)sizeof vocab - 1};
    *meta = (leat_can_meta){0};
    if (which == LEAT_CAN_METADATA &&
        leat_can_document_parse(meta, LEAT_CAN_VOCAB, known, false, "vocabulary", err) != LEAT_OK)
        abort();
    return leat_can_document_parse(meta, which, text, intervals, "input", err);
}

static leat_json_span span_of(const leat_buf *text) {
    return (leat_json_span){(const char *)text->data, text->size};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    leat_can_meta meta, again;
    leat_buf text = {0}, second = {0};
    leat_error err = {0};
    if (size < 1) return 0;
    leat_can_document which = (leat_can_document)(data[0] % LEAT_CAN_DOCUMENTS);
    leat_json_span input = {(const char *)data + 1, (int64_t)size - 1};
    leat_code code = parse(&meta, which, input, true, &err);
    if (code == LEAT_OK) {
        if (leat_can_document_write(&meta, which, append, &text, &err) != LEAT_OK) abort();
        if (parse(&again, which, span_of(&text), true, &err) != LEAT_OK) abort();
        if (leat_can_document_write(&again, which, append, &second, &err) != LEAT_OK) abort();
        if (text.size != second.size || memcmp(text.data, second.data, (size_t)text.size) != 0)
            abort();
        leat_can_meta_free(&again);
        if (parse(&again, which, span_of(&text), false, &err) != LEAT_OK) abort();
        leat_can_meta_free(&again);
    } else if (err.message[0] == 0) {
        abort();
    }
    leat_can_meta_free(&meta);
    leat_buf_free(&text);
    leat_buf_free(&second);
    return 0;
}
