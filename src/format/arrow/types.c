/*
 * What a type or a schema says, without reading: names of types, which are texts, which columns
 * have dictionaries.
 */
#include "format/arrow/arrow.h"

const char *leat_arrow_kind_text(int kind) {
    static const char *const names[LEAT_ARROW_KINDS] = {
        "none",
        "null",
        "integer",
        "floating point",
        "binary",
        "string",
        "bool",
        "decimal",
        "date",
        "time",
        "timestamp",
        "interval",
        "list",
        "struct",
        "union",
        "fixed size binary",
        "fixed size list",
        "map",
        "duration",
        "large binary",
        "large string",
        "large list",
        "run-end encoded",
        "binary view",
        "string view",
        "list view",
        "large list view",
    };
    return kind >= 0 && kind < LEAT_ARROW_KINDS ? names[kind] : "unknown";
}

bool leat_arrow_is_view(leat_arrow_type type) {
    return type.kind == LEAT_ARROW_UTF8_VIEW || type.kind == LEAT_ARROW_BINARY_VIEW;
}

bool leat_arrow_is_text(leat_arrow_type type) {
    return type.kind == LEAT_ARROW_UTF8 || type.kind == LEAT_ARROW_BINARY ||
           type.kind == LEAT_ARROW_LARGE_UTF8 || type.kind == LEAT_ARROW_LARGE_BINARY ||
           leat_arrow_is_view(type);
}

bool leat_arrow_has_dictionary(const leat_arrow_schema *schema, int64_t id) {
    for (int i = 0; i < schema->dictionary_count; i++)
        if (schema->dictionary_ids[i] == id) return true;
    return false;
}
