/* Large inputs: see large_support.h. */
#include "large_support.h"

#include <stdio.h>
#include <stdlib.h>

#include "ar_support.h"
#include "can_cache_support.h"
#include "format/safetensors/safetensors.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))
#define EMPTY "{\"dtype\":\"F32\",\"shape\":[5,0],\"data_offsets\":[0,0]}"

void large_headers_refused(void) {
    const int64_t max = LEAT_SAFETENSORS_HEADER_MAX;
    static const struct {
        const char *begin, *piece;
        int64_t pieces; /* -1: to the end */
        leat_code code;
        const char *message;
    } table[] = {
        {"{\"a\":[", "[],", -1, LEAT_ERR_CORRUPT, "the limit is 4096"},
        {"{\"a\":\"", "xxxxxxxxxx", -1, LEAT_ERR_CORRUPT, "the limit is 4096"},
        {"{\"", "xxxxxxxxxx", -1, LEAT_ERR_CORRUPT, "premature end"},
        {"{\"__metadata__\":{\"a\":[", "[],", -1, LEAT_ERR_CORRUPT, "is not a string"},
        {"{\"__metadata__\":{", "\"%07d\":\"\",", 65537, LEAT_ERR_LIMIT, "more than 65536 pairs"},
        {"{", "\"%07d\":" EMPTY ",", 65537, LEAT_ERR_LIMIT, "more than 65536 tensors"},
    };
    char *text = malloc((size_t)max + 256);
    assert_non_null(text);
    for (int i = 0; i < COUNT(table); i++) {
        int64_t size = snprintf(text, 200, "%s", table[i].begin);
        for (int64_t k = 0; k < table[i].pieces; k++)
            size += snprintf(text + size, 200, table[i].piece, (int)k);
        for (size_t piece = strlen(table[i].piece); table[i].pieces < 0 && size < max;
             size += (int64_t)piece)
            memcpy(text + size, table[i].piece, piece);
        if (size > max) size = max;
        const uint64_t stated = (uint64_t)size;
        char *file = malloc((size_t)(8 + size)); /* nothing behind it */
        assert_non_null(file);
        memcpy(file, &stated, sizeof stated);
        memcpy(file + 8, text, (size_t)size);
        leat_safetensors *read = NULL;
        leat_error err = {0};
        leat_code code = leat_safetensors_parse(&read, file, 8 + size, 8 + size, "it", &err);
        if (code != table[i].code || strstr(err.message, table[i].message) == NULL)
            fail_msg("case %d: code %d: %s", i, code, err.message);
        assert_null(read);
        free(file);
    }
    free(text);
}

void large_meta_fill(leat_can_meta *meta) {
    const int64_t captures = 700, ids = 400;
    assert_ok(can_meta_fill(meta, err));
    assert_ok(LEAT_GROW(&meta->ids.text, &meta->ids.capacity, ids, err));
    memset(meta->ids.text, 0, (size_t)ids * LEAT_CAN_ID_TEXT_BYTES);
    for (int64_t i = 0; i < ids; i++)
        snprintf(meta->ids.text[i], LEAT_CAN_ID_TEXT_BYTES, "%08llX", (long long)i * 7);
    meta->ids.count = ids;
    meta->ids.known = 300;
    assert_ok(LEAT_GROW(&meta->captures, &meta->capture_capacity, captures, err));
    for (int64_t i = meta->capture_count; i < captures; i++) {
        leat_can_meta_capture *capture = &meta->captures[i];
        *capture = meta->captures[0];
        assert_ok(leat_strdup(&capture->file, "many.csv", err));
        assert_ok(leat_strdup(&capture->folder, "many", err));
        capture->intervals = NULL;
        capture->interval_capacity = 0;
        assert_ok(LEAT_GROW(&capture->intervals, &capture->interval_capacity, ids, err));
        capture->interval_count = ids;
        capture->frames = 1000 * ids;
        for (int64_t k = 0; k < ids; k++)
            capture->intervals[k] = (leat_can_interval){(uint32_t)k, 1 + (i + k) % 3, 0};
        meta->capture_count++;
    }
}

void large_meta_check(const leat_can_meta *meta) {
    assert_int_equal(meta->capture_count, 700);
    assert_int_equal(meta->captures[699].interval_count, 400);
    for (int i = 0; i < 400; i++) {
        assert_int_equal(meta->captures[699].intervals[i].id, i);
        assert_int_equal(meta->captures[699].intervals[i].frames, 1 + (699 + i) % 3);
    }
}

leat_code large_count(void *context, const void *bytes, int64_t size_bytes, leat_error *err) {
    (void)bytes;
    (void)err;
    *(int64_t *)context += size_bytes;
    return LEAT_OK;
}
