/* A view on one piece of memory: `get` is a pointer addition. */
#include "format/view.h"

static const uint8_t *get_from_memory(void *context, int64_t offset, int64_t size_bytes,
                                      uint8_t *scratch, leat_error *err) {
    (void)size_bytes, (void)scratch, (void)err;
    return (const uint8_t *)context + offset;
}

leat_view leat_view_of(const void *bytes, int64_t size_bytes) {
    /* The context is never written through: get_from_memory only adds to it. */
    leat_view view = {
        .size_bytes = size_bytes, .context = (void *)(uintptr_t)bytes, .get = get_from_memory};
    return view;
}

const uint8_t *leat_view_memory(const leat_view *view) {
    return view->get == get_from_memory ? (const uint8_t *)view->context : NULL;
}

leat_code leat_view_bytes(const leat_view *view, int64_t offset, int64_t size_bytes,
                          uint8_t *scratch, const uint8_t **bytes, leat_error *err) {
    leat_error failure;
    *bytes = view->get(view->context, offset, size_bytes, scratch, &failure);
    return *bytes ? LEAT_OK : leat_error_copy(err, &failure);
}
