/* The parts of an op, on a pool or in turn. */
#include "nn/ops/op.h"

#include "nn/float_mode.h"

typedef struct run {
    void (*make)(void *context, int64_t part);
    void *context;
} run;

static leat_code make_part(void *context, int worker, int64_t part, leat_error *err) {
    const run *self = context;
    (void)worker;
    (void)err;
    const uint64_t mode = leat_float_mode_begin();
    self->make(self->context, part);
    leat_float_mode_end(mode);
    return LEAT_OK;
}

leat_code leat_device_run(const leat_device *device, int64_t parts,
                          void (*make)(void *context, int64_t part), void *context,
                          leat_error *err) {
    LEAT_ASSERT(parts >= 0 && leat_float_mode_is_set());
    if (device->pool != NULL && parts > 1) {
        run self = {make, context};
        leat_pool_job job = {.parts = parts, .context = &self, .make = make_part};
        return leat_pool_run(device->pool, &job, err);
    }
    for (int64_t part = 0; part < parts; part++) make(context, part);
    return LEAT_OK;
}
