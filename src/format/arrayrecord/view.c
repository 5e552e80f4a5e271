/* Views on one piece of memory, where `get` is a pointer addition, and on records in mapped files,
 * whose bytes are copied out of checked pages. */
#include "format/arrayrecord/view.h"

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

static const uint8_t *get_from_place(void *context, int64_t offset, int64_t size_bytes,
                                     uint8_t *scratch, leat_error *err) {
    const leat_record_place *place = context;
    int64_t done = 0;
    while (done < size_bytes) {
        int64_t at = 0;
        int64_t size =
            leat_ar_fragment(place->begin, place->first + offset + done, size_bytes - done, &at);
        if (leat_paged_read(place->paged, at, size, scratch + done, err) != LEAT_OK) return NULL;
        done += size;
    }
    return scratch;
}

leat_view leat_view_of_place(leat_record_place *place, int64_t size_bytes) {
    LEAT_ASSERT(place->paged != NULL);
    leat_view view = {.size_bytes = size_bytes, .context = place, .get = get_from_place};
    return view;
}

bool leat_view_place(const leat_view *view, leat_record_place *place) {
    if (view->get == get_from_place) *place = *(const leat_record_place *)view->context;
    else *place = (leat_record_place){.data = leat_view_memory(view)};
    return place->data != NULL;
}

leat_code leat_view_bytes(const leat_view *view, int64_t offset, int64_t size_bytes,
                          uint8_t *scratch, const uint8_t **bytes, leat_error *err) {
    leat_error failure;
    *bytes = view->get(view->context, offset, size_bytes, scratch, &failure);
    return *bytes ? LEAT_OK : leat_error_copy(err, &failure);
}
