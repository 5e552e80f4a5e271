/* A context's arrays: made once a thread, for the longest context of the options. */
#include "batch/tokens/context.h"

#include "base/mem.h"

int32_t leat_context_capacity(int32_t length) { return length / LEAT_TOKENS_MIN + 2; }

static leat_code make_arrays(leat_context *self, leat_error *err) {
    int32_t capacity = self->capacity;
    LEAT_TRY(LEAT_NEW(&self->index, capacity, err));
    LEAT_TRY(LEAT_NEW(&self->rank, capacity, err));
    LEAT_TRY(LEAT_NEW(&self->order, capacity, err));
    LEAT_TRY(LEAT_NEW(&self->stamped, capacity, err));
    LEAT_TRY(LEAT_NEW(&self->candidate, capacity, err));
    LEAT_TRY(LEAT_NEW(&self->next, capacity, err));
    LEAT_TRY(LEAT_NEW(&self->place, 2 * (int64_t)capacity, err));
    LEAT_TRY(LEAT_NEW(&self->drawn_place, capacity, err));
    LEAT_TRY(LEAT_NEW(&self->base_tokens, capacity, err));
    return LEAT_NEW(&self->keeps_stamp, capacity, err);
}

leat_code leat_context_create(leat_context **out, const leat_sampler_options *options,
                              leat_error *err) {
    *out = NULL;
    LEAT_TRY(leat_sampler_options_check(options, err));
    leat_context *self = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->options = *options;
    self->capacity = leat_context_capacity(options->length);
    leat_code code = make_arrays(self, err);
    if (code != LEAT_OK) leat_context_destroy(self);
    else *out = self;
    return code;
}

void leat_context_destroy(leat_context *context) {
    if (context == NULL) return;
    leat_free(context->index);
    leat_free(context->rank);
    leat_free(context->order);
    leat_free(context->stamped);
    leat_free(context->candidate);
    leat_free(context->next);
    leat_free(context->place);
    leat_free(context->drawn_place);
    leat_free(context->base_tokens);
    leat_free(context->keeps_stamp);
    leat_free(context);
}
