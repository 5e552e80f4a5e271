/*
 * Tickets: any input, as the text after "leat1:", and as a record whose sum is right, so that the
 * reader of its fields is reached. What is accepted is written as the same text.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "crowd/ticket.h"

enum { SUM_BYTES = 4 };

static void try_text(const char *text) {
    leat_ticket ticket;
    leat_error err;
    char again[LEAT_TICKET_TEXT_BYTES], url[LEAT_PG_URL_BYTES], pem[LEAT_PG_PEM_BYTES];
    if (leat_ticket_parse(&ticket, text, &err) != LEAT_OK) return;
    if (leat_ticket_write(&ticket, again, &err) != LEAT_OK) abort();
    if (strcmp(text, again) != 0) abort();
    leat_ticket_url(&ticket, url);
    leat_ticket_pem(&ticket, pem);
    if (strncmp(url, "postgresql://", 13) != 0) abort();
    if ((pem[0] != 0) != (ticket.check == LEAT_TICKET_AUTHORITY)) abort();
}

/* The text of a record. */
static void try_record(const uint8_t *data, size_t size) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint8_t sum[32];
    leat_sha256 sha;
    leat_sha256_init(&sha);
    leat_sha256_update(&sha, data, (int64_t)size);
    leat_sha256_final(&sha, sum);
    char *text = malloc(16 + (size + SUM_BYTES) * 2);
    if (text == NULL) abort();
    size_t at = 6;
    uint32_t bits = 0;
    int held = 0;
    memcpy(text, "leat1:", 6);
    for (size_t i = 0; i < size + SUM_BYTES; i++) {
        bits = bits << 8 | (i < size ? data[i] : sum[i - size]);
        for (held += 8; held >= 6; held -= 6) text[at++] = letters[bits >> (held - 6) & 63];
    }
    if (held > 0) text[at++] = letters[bits << (6 - held) & 63];
    text[at] = 0;
    try_text(text);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 7);
    if (text == NULL) abort();
    memcpy(text, "leat1:", 6);
    if (size > 0) memcpy(text + 6, data, size);
    text[size + 6] = 0;
    try_text(text);
    free(text);
    try_record(data, size);
    return 0;
}
