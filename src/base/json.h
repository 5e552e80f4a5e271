/* Reading JSON through jansson. The writer is in leat/base.h, but for saving what it wrote. */
#ifndef LEAT_BASE_JSON_H
#define LEAT_BASE_JSON_H

#include <jansson.h>

#include "base/mem.h"

/* Parses text; duplicate keys and anything after the value are refused. json_decref when done. */
LEAT_MUST_CHECK leat_code leat_json_parse(const char *text, int64_t size_bytes, const char *what,
                                          json_t **out, leat_error *err);
/* Members of an object with their type checked; `what` names the document in messages. */
LEAT_MUST_CHECK leat_code leat_json_get_int(const json_t *object, const char *key, int64_t min,
                                            int64_t max, int64_t *out, const char *what,
                                            leat_error *err);
LEAT_MUST_CHECK leat_code leat_json_get_string(const json_t *object, const char *key,
                                               const char **out, const char *what, leat_error *err);
LEAT_MUST_CHECK leat_code leat_json_get_array(const json_t *object, const char *key,
                                              const json_t **out, const char *what,
                                              leat_error *err);
LEAT_MUST_CHECK leat_code leat_json_get_object(const json_t *object, const char *key,
                                               const json_t **out, const char *what,
                                               leat_error *err);

/* From now on the text goes to `out` in pieces, however long it gets; leat_json_finish hands over
 * the last one and gives a text of 0 bytes. */
typedef leat_code (*leat_json_out_fn)(void *context, const void *bytes, int64_t size_bytes,
                                      leat_error *err);
void leat_json_stream(leat_json *json, leat_json_out_fn out, void *context);

/* Finishes the document, saves it as leat_file_save does, and destroys the writer, on failure too.
 */
LEAT_MUST_CHECK leat_code leat_json_save(leat_json *json, const char *path, leat_error *err);

#endif
