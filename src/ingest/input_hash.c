/* SHA-256 of the inputs: threads take one file after another, and each file is read once, from
 * beginning to end. */
#include "base/hash.h"
#include "base/pool.h"
#include "ingest/source.h"

enum { HASH_BYTES = 65536 };

typedef struct hashing {
    leat_input_list *inputs;
    leat_ticker *ticker;
} hashing;

static leat_code hash_open(leat_file *file, leat_ticker *ticker, uint8_t digest[32],
                           leat_error *err) {
    uint8_t piece[HASH_BYTES];
    int64_t size = 0;
    leat_sha256 sha;
    leat_sha256_init(&sha);
    LEAT_TRY(leat_file_size(file, &size, err));
    for (int64_t at = 0; at < size; at += HASH_BYTES) {
        int64_t count = size - at < HASH_BYTES ? size - at : HASH_BYTES;
        LEAT_TRY(leat_file_pread(file, piece, count, at, err));
        leat_sha256_update(&sha, piece, count);
        LEAT_TRY(leat_ticker_step(ticker, count, err));
    }
    leat_sha256_final(&sha, digest);
    return LEAT_OK;
}

static leat_code hash_file(void *context, int worker, int64_t i, leat_error *err) {
    const hashing *job = context;
    leat_input *input = &job->inputs->items[i];
    leat_file *file = NULL;
    (void)worker;
    LEAT_TRY(leat_file_open(&file, input->path, LEAT_FILE_READ, err));
    leat_code code = hash_open(file, job->ticker, input->sha256, err);
    leat_file_close(file);
    return code;
}

leat_code leat_inputs_hash(leat_input_list *inputs, int threads, leat_ticker *ticker,
                           leat_error *err) {
    hashing job = {.inputs = inputs, .ticker = ticker};
    leat_pool_job files = {
        .parts = inputs->count, .threads = threads, .context = &job, .make = hash_file};
    int64_t bytes = 0;
    for (int64_t i = 0; i < inputs->count; i++) bytes += inputs->items[i].facts.size_bytes;
    leat_ticker_stage(ticker, "hashing inputs", "bytes", bytes);
    inputs->hashed = false;
    LEAT_TRY(leat_pool_once(&files, err));
    LEAT_TRY(leat_inputs_unchanged(inputs, err));
    inputs->hashed = true;
    return LEAT_OK;
}
