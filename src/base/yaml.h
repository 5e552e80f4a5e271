/*
 * Settings files in YAML: lines "key: value", and at most one level of sections, each a key whose
 * value is such lines. The door to libyaml, which parses; everything that settings do not need is
 * refused with its line and column: lists, deeper nesting, anchors, aliases, tags, several
 * documents. Values are kept as text; who reads a setting knows its type.
 */
#ifndef LEAT_BASE_YAML_H
#define LEAT_BASE_YAML_H

#include "base/error.h"

#define LEAT_YAML_BYTES_MAX (INT64_C(1) << 20)

typedef struct leat_yaml_item {
    const char *section;  /* "" outside of sections */
    const char *key;      /* not empty */
    const char *value;    /* "" if quoted so; NULL if there is none, or null, or ~ */
    int64_t line, column; /* of the key, from 1 */
} leat_yaml_item;

typedef struct leat_yaml leat_yaml; /* owns its texts */

/* LEAT_ERR_INPUT names file, line and column; also if a key appears twice in a section.
 * LEAT_ERR_LIMIT: more than LEAT_YAML_BYTES_MAX. LEAT_ERR_UNSUPPORTED: built without libyaml. */
LEAT_MUST_CHECK leat_code leat_yaml_load(leat_yaml **out, const char *path, leat_error *err);
/* The same from memory; `name` for messages. */
LEAT_MUST_CHECK leat_code leat_yaml_parse(leat_yaml **out, const char *text, int64_t size_bytes,
                                          const char *name, leat_error *err);
void leat_yaml_destroy(leat_yaml *yaml);
/* In the order of the file; false after the last. */
bool leat_yaml_at(const leat_yaml *yaml, int64_t index, leat_yaml_item *item);
const char *leat_yaml_name(const leat_yaml *yaml); /* path or name, for messages */

/* Whether a text may be a value as it is, so that every reader of YAML 1.1 or 1.2 takes it for this
 * text or this number: letters, digits and some marks, not beginning with a mark, and none of the
 * words with a meaning. Other texts need quotes. */
bool leat_yaml_is_plain(const char *text);

#endif
