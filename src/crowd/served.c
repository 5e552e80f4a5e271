/* See served.h. */
#include "crowd/served.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int compare(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static leat_code read_sample(const void *context, int64_t index, uint8_t *out, leat_error *err) {
    const leat_served *self = context;
    const leat_served_unit *of = &self->units[self->reading];
    const int64_t *at =
        bsearch(&index, of->numbers, (size_t)of->count, sizeof *of->numbers, compare);
    (void)err;
    LEAT_ASSERT(at != NULL && of->fetched == of->count); /* the plan has chosen them */
    const int64_t size = self->samples.sample_bytes;
    memcpy(out, of->bytes + (at - of->numbers) * size, (size_t)size);
    return LEAT_OK;
}

leat_code leat_served_open(leat_served *served, const leat_store_run *run, leat_error *err) {
    *served = (leat_served){0};
    if (run->sample_bytes != leat_model_sample_bytes())
        return leat_fail(err, LEAT_ERR_OPTION,
                         "the images in the database have %lld bytes each, those of a %s %lld",
                         (long long)run->sample_bytes, leat_model_name(),
                         (long long)leat_model_sample_bytes());
    snprintf(served->fingerprint, sizeof served->fingerprint, "%s", run->data);
    served->samples = (leat_samples){.count = run->samples,
                                     .fingerprint = served->fingerprint,
                                     .sample_bytes = run->sample_bytes,
                                     .read = read_sample,
                                     .context = served};
    return LEAT_OK;
}

static int64_t numbers_bytes(const leat_plan *plan) {
    return plan->unit_size * (int64_t)sizeof(int64_t);
}

static int64_t images_bytes(const leat_served *served, const leat_plan *plan) {
    return plan->unit_size * served->samples.sample_bytes;
}

int64_t leat_served_bytes(const leat_served *served, const leat_plan *plan) {
    return 2 * (numbers_bytes(plan) + images_bytes(served, plan));
}

leat_code leat_served_reserve(leat_served *served, const leat_plan *plan, leat_error *err) {
    served->plan = *plan;
    for (int i = 0; i < 2; i++) {
        leat_served_unit *of = &served->units[i];
        LEAT_TRY(leat_block_alloc((void **)&of->numbers, numbers_bytes(plan), err));
        LEAT_TRY(leat_block_alloc((void **)&of->bytes, images_bytes(served, plan), err));
    }
    return LEAT_OK;
}

void leat_served_close(leat_served *served) {
    for (int i = 0; i < 2; i++) {
        leat_served_unit *of = &served->units[i];
        leat_block_free(of->numbers, numbers_bytes(&served->plan));
        leat_block_free(of->bytes, images_bytes(served, &served->plan));
    }
    *served = (leat_served){0};
}

void leat_served_begin(leat_served *served, int64_t step, int64_t unit) {
    const leat_plan *plan = &served->plan;
    leat_served_unit *of = &served->units[1 - served->reading];
    const int64_t position = leat_plan_position(plan, step, unit);
    for (int64_t i = 0; i < plan->unit_size; i++)
        of->numbers[i] = leat_plan_sample(plan, position + i);
    qsort(of->numbers, (size_t)plan->unit_size, sizeof *of->numbers, compare);
    of->count = of->fetched = 0;
    for (int64_t i = 0; i < plan->unit_size; i++)
        if (i == 0 || of->numbers[i] != of->numbers[of->count - 1])
            of->numbers[of->count++] = of->numbers[i];
}

bool leat_served_complete(const leat_served *served) {
    const leat_served_unit *of = &served->units[1 - served->reading];
    return of->fetched == of->count;
}

leat_code leat_served_fetch(leat_served *served, leat_pg *pg, int64_t run, int64_t part_bytes,
                            leat_error *err) {
    leat_served_unit *of = &served->units[1 - served->reading];
    const int64_t size = served->samples.sample_bytes, left = of->count - of->fetched;
    const int64_t most = leat_store_samples_most(part_bytes, size);
    const int64_t count = left < most ? left : most;
    if (count == 0) return LEAT_OK;
    LEAT_TRY(leat_store_samples(pg, run, of->numbers + of->fetched, count,
                                of->bytes + of->fetched * size, count * size, err));
    of->fetched += count;
    return LEAT_OK;
}

void leat_served_turn(leat_served *served) {
    const leat_served_unit *of = &served->units[1 - served->reading];
    LEAT_ASSERT(of->fetched == of->count);
    served->reading = 1 - served->reading;
}
