/*
 * One sample of making batches with one thread: bench_batches DIR STEPS BATCH. The process is
 * fresh: a single batch of a far step comes first, then steps whose pages are checked at their
 * first access, then the same steps with all pages checked. It also measures the bounds: a bare
 * loop that writes the same number of arrays of the same shape, and memcpy of the same number of
 * bytes. bench/batches.py runs it and compares it with Python.
 */
#include "bench.h"
#include "leat/load.h"

enum { ARRAYS = 6, LENGTH = 1024, FAR_STEP = 1000000 };

typedef struct made {
    double seconds;
    int64_t tokens, padding, payload_bytes, memory_bytes;
} made;

static made make_batches(const leat_dataset *dataset, int64_t first, int64_t steps, int64_t batch,
                         int64_t prefetch) {
    leat_loader_options options = leat_loader_options_default();
    leat_loader *loader = NULL;
    leat_error err = {0};
    leat_loader_counters counters;
    options.batch = batch;
    options.threads = 1;
    options.prefetch = prefetch;
    bench_must(leat_loader_create(&loader, dataset, &options, &err), &err);
    bench_must(leat_loader_seek(loader, first, &err), &err);
    double begin = bench_seconds();
    for (int64_t step = 0; step < steps; step++) {
        const leat_batch *made_batch = NULL;
        bench_must(leat_loader_next(loader, &made_batch, &err), &err);
        leat_batch_release(made_batch);
    }
    double seconds = bench_seconds() - begin;
    leat_loader_get_counters(loader, &counters);
    leat_loader_destroy(loader);
    return (made){seconds, counters.tokens, counters.padding, counters.payload_bytes,
                  counters.memory_bytes};
}

/* The least that a loader does: each element of the six arrays is stored once, token by token. */
__attribute__((noinline)) static void store_batch(int32_t *arrays[ARRAYS], int64_t count,
                                                  int32_t seed) {
    for (int64_t i = 0; i < count; i++) {
        int32_t position = (int32_t)(i % LENGTH);
        arrays[0][i] = seed + position;
        arrays[1][i] = seed + position + 1;
        arrays[2][i] = position;
        arrays[3][i] = position;
        arrays[4][i] = 1;
        arrays[5][i] = 1;
    }
}

typedef struct bounds {
    double store_seconds, copy_seconds;
} bounds;

/* Both cycle through as many slots as a loader has ahead, so that the stores leave the cache. */
static bounds measure_bounds(int64_t steps, int64_t batch) {
    enum { SLOTS = 8 };
    int64_t count = batch * LENGTH, bytes = count * (int64_t)sizeof(int32_t);
    int32_t *slots[SLOTS][ARRAYS];
    int32_t *from = bench_room(ARRAYS * bytes);
    for (int slot = 0; slot < SLOTS; slot++) {
        for (int k = 0; k < ARRAYS; k++) slots[slot][k] = bench_room(bytes);
    }
    bounds out;
    double begin = bench_seconds();
    for (int64_t step = 0; step < steps; step++) {
        store_batch(slots[step % SLOTS], count, (int32_t)step);
    }
    out.store_seconds = bench_seconds() - begin;
    begin = bench_seconds();
    for (int64_t step = 0; step < steps; step++) {
        for (int k = 0; k < ARRAYS; k++) {
            memcpy(slots[step % SLOTS][k], from + k * count, (size_t)bytes);
            __asm__ volatile("" ::: "memory");
        }
    }
    out.copy_seconds = bench_seconds() - begin;
    for (int slot = 0; slot < SLOTS; slot++) {
        for (int k = 0; k < ARRAYS; k++) free(slots[slot][k]);
    }
    free(from);
    return out;
}

int main(int argc, char **argv) {
    if (argc != 4) bench_die("usage: bench_batches DIR STEPS BATCH");
    int64_t steps = bench_number(argv[2], 1), batch = bench_number(argv[3], 1);
    const char *paths[] = {argv[1]};
    leat_dataset *dataset = NULL;
    leat_error err = {0};
    leat_dataset_facts facts;
    bench_must(leat_dataset_open(&dataset, paths, 1, NULL, &err), &err);
    leat_dataset_get_facts(dataset, &facts);
    made far = make_batches(dataset, FAR_STEP, 1, batch, 0);
    made fresh = make_batches(dataset, 0, steps, batch, LEAT_PREFETCH_AUTO);
    made again = make_batches(dataset, 0, steps, batch, LEAT_PREFETCH_AUTO);
    bounds limits = measure_bounds(steps, batch);
    int64_t places = steps * batch * LENGTH;
    leat_dataset_close(dataset);

    leat_json *json = bench_json_begin();
    leat_json_member_double(json, "tokens_per_s", (double)again.tokens / again.seconds);
    leat_json_member_double(json, "fresh_tokens_per_s", (double)fresh.tokens / fresh.seconds);
    leat_json_member_double(json, "store_tokens_per_s", (double)places / limits.store_seconds);
    leat_json_member_double(json, "copy_tokens_per_s", (double)places / limits.copy_seconds);
    leat_json_member_double(json, "far_ms", far.seconds * 1e3);
    leat_json_member_int(json, "far_payload_bytes", far.payload_bytes);
    leat_json_member_double(json, "padding",
                            (double)again.padding / (double)(again.padding + again.tokens));
    leat_json_member_int(json, "memory_bytes", again.memory_bytes);
    leat_json_member_int(json, "rows", facts.row_count);
    leat_json_member_int(json, "measurements", facts.measurement_count);
    leat_json_member_int(json, "file_bytes", facts.file_bytes);
    bench_json_end(json);
    return 0;
}
