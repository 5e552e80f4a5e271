/* A small cache's metadata, for tests of its JSON. */
#ifndef LEAT_TESTS_CAN_CACHE_SUPPORT_H
#define LEAT_TESTS_CAN_CACHE_SUPPORT_H

#include "format/can_cache/can_cache.h"

/* Two captures of training, one of a test; 4 identifiers with a number and 2 without. */
leat_code can_meta_fill(leat_can_meta *meta, leat_error *err);
/* A document's whole text, with a NUL behind it. */
leat_code can_document_text(leat_can_meta *meta, leat_can_document which, leat_buf *text,
                            leat_error *err);

#endif
