/*
 * Payloads of units from any bytes. The first byte chooses codec and kind, the next three the
 * counts. Kind 0: the rest is a payload, whose reader expects a given header. Kind 1: the rest is
 * the body after that very header, so it must be read if its size is right, and what was read must
 * come back when it is written and read again.
 */
#include <stdlib.h>
#include <string.h>

#include "train/step/payload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct arrays {
    float gradient[600], statistics[8];
    double sums[4];
} arrays;

static leat_payload_values of(arrays *all) {
    memset(all, 0, sizeof *all);
    return (leat_payload_values){all->gradient, all->statistics, all->sums};
}

static uint8_t *write_bytes(const leat_payload_header *header, const leat_payload_values *values,
                            int64_t size) {
    uint8_t *bytes = malloc((size_t)size);
    if (bytes == NULL) abort();
    leat_payload_write(header, 7, values, bytes);
    return bytes;
}

/* Written, read and written: the same bytes. The first read may have had other NaNs, and int8 is
 * rounded at random again. */
static void write_again(const leat_payload_header *header, const leat_payload_values *values,
                        int64_t size) {
    static arrays again;
    leat_payload_values back = of(&again);
    leat_error err;
    uint8_t *first = write_bytes(header, values, size);
    if (leat_payload_read(first, size, header, &back, &err) != LEAT_OK) abort();
    uint8_t *second = write_bytes(header, &back, size);
    if (header->codec != LEAT_CODEC_INT8 && memcmp(first, second, (size_t)size) != 0) abort();
    free(first);
    free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static arrays values;
    leat_payload_values out = of(&values);
    leat_error err = {0};
    if (size < 4) return 0;
    const leat_payload_header header = {.codec = (leat_codec)(data[0] % 3),
                                        .run = {1, 2, 3},
                                        .step = 17,
                                        .unit = 2,
                                        .weights = {9, 8, 7},
                                        .pass = LEAT_DCGAN_G,
                                        .weight = 64,
                                        .gradient_count = 1 + 2 * data[1],
                                        .statistics_count = data[2] % 8,
                                        .sum_count = data[3] % 4};
    const bool framed = data[0] >= 128;
    const int64_t rest = (int64_t)size - 4;
    const int64_t wanted = leat_payload_bytes(header.codec, header.gradient_count,
                                              header.statistics_count, header.sum_count);
    const int64_t given = rest + (framed ? LEAT_PAYLOAD_HEADER_BYTES : 0);
    uint8_t *bytes = malloc((size_t)(given > wanted ? given : wanted));
    if (bytes == NULL) abort();
    if (framed) leat_payload_write(&header, 7, &out, bytes);
    memcpy(bytes + given - rest, data + 4, (size_t)rest);
    bytes = realloc(bytes, given > 0 ? (size_t)given : 1); /* exactly, for the sanitizer */
    if (bytes == NULL) abort();
    const leat_code code = leat_payload_read(bytes, given, &header, &out, &err);
    if (framed && (code == LEAT_OK) != (given == wanted)) abort();
    if (code == LEAT_OK) write_again(&header, &out, wanted);
    else if (err.message[0] == 0) abort();
    free(bytes);
    return 0;
}
