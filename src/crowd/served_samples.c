/* See served_samples.h. */
#include "crowd/served_samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int compare(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static leat_code read_sample(const void *context, int64_t index, uint8_t *out, leat_error *err) {
    const leat_served_samples *self = context;
    const leat_served_unit *of = &self->units[self->reading];
    const int64_t *at =
        bsearch(&index, of->numbers, (size_t)of->count, sizeof *of->numbers, compare);
    (void)err;
    LEAT_ASSERT(at != NULL && of->fetched == of->count); /* the feed has chosen them */
    const int64_t size = self->samples.sample_bytes;
    memcpy(out, of->bytes + (at - of->numbers) * size, (size_t)size);
    return LEAT_OK;
}

void leat_served_samples_open(leat_served_samples *served, const leat_database_run *run) {
    *served = (leat_served_samples){0};
    snprintf(served->fingerprint, sizeof served->fingerprint, "%s", run->data);
    served->samples = (leat_samples){.count = run->samples,
                                     .fingerprint = served->fingerprint,
                                     .sample_bytes = run->sample_bytes,
                                     .read = read_sample,
                                     .context = served};
}

static int64_t numbers_bytes(int64_t samples) { return samples * (int64_t)sizeof(int64_t); }

static int64_t samples_bytes(const leat_served_samples *served, int64_t samples) {
    return samples * served->samples.sample_bytes;
}

int64_t leat_served_samples_bytes(const leat_served_samples *served, const leat_feed *feed) {
    return 2 * (numbers_bytes(feed->samples_most) + samples_bytes(served, feed->samples_most));
}

leat_code leat_served_samples_reserve(leat_served_samples *served, const leat_feed *feed,
                                      leat_error *err) {
    served->feed = feed;
    served->samples_most = feed->samples_most;
    for (int i = 0; i < 2; i++) {
        leat_served_unit *of = &served->units[i];
        LEAT_TRY(leat_block_alloc((void **)&of->numbers, numbers_bytes(feed->samples_most), err));
        LEAT_TRY(
            leat_block_alloc((void **)&of->bytes, samples_bytes(served, feed->samples_most), err));
    }
    return LEAT_OK;
}

void leat_served_samples_close(leat_served_samples *served) {
    for (int i = 0; i < 2; i++) {
        leat_served_unit *of = &served->units[i];
        leat_block_free(of->numbers, numbers_bytes(served->samples_most));
        leat_block_free(of->bytes, samples_bytes(served, served->samples_most));
    }
    *served = (leat_served_samples){0};
}

leat_code leat_served_samples_begin(leat_served_samples *served, int64_t step, int64_t unit,
                                    leat_error *err) {
    leat_served_unit *of = &served->units[1 - served->reading];
    leat_unit_place place;
    int64_t count = 0;
    of->count = of->fetched = 0;
    LEAT_TRY(leat_feed_place(served->feed, step, unit, &place, err));
    LEAT_TRY(served->feed->class->numbers(served->feed, &place, of->numbers, &count, err));
    LEAT_ASSERT(count >= 1 && count <= served->samples_most);
    qsort(of->numbers, (size_t)count, sizeof *of->numbers, compare);
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || of->numbers[i] != of->numbers[of->count - 1])
            of->numbers[of->count++] = of->numbers[i];
    return LEAT_OK;
}

bool leat_served_samples_complete(const leat_served_samples *served) {
    const leat_served_unit *of = &served->units[1 - served->reading];
    return of->fetched == of->count;
}

leat_code leat_served_samples_fetch(leat_served_samples *served, leat_pg *pg, int64_t run,
                                    int64_t part_bytes, leat_error *err) {
    leat_served_unit *of = &served->units[1 - served->reading];
    const int64_t size = served->samples.sample_bytes, left = of->count - of->fetched;
    const int64_t most = leat_database_samples_most(part_bytes, size);
    const int64_t count = left < most ? left : most;
    if (count == 0) return LEAT_OK;
    LEAT_TRY(leat_database_samples(pg, run, of->numbers + of->fetched, count,
                                   of->bytes + of->fetched * size, count * size, err));
    of->fetched += count;
    return LEAT_OK;
}

void leat_served_samples_turn(leat_served_samples *served) {
    const leat_served_unit *of = &served->units[1 - served->reading];
    LEAT_ASSERT(of->fetched == of->count);
    served->reading = 1 - served->reading;
}
