/*
 * Schemas: which columns a stream has, and where the pieces of each lie in its batches.
 *
 * A batch lists field nodes and buffers of all columns, nested ones included, in depth-first
 * order, with no names. To find a column one must know how many nodes and buffers every type
 * before it takes; so the whole tree of fields is walked once, in bounded depth and number, and
 * only counts are kept of columns that nobody asked for.
 */
#include <string.h>

#include "format/arrow/arrow.h"

/* Fields of the flatbuffer tables, by slot. */
enum { SCHEMA_ENDIANNESS, SCHEMA_FIELDS };
enum { FIELD_NAME, FIELD_NULLABLE, FIELD_KIND, FIELD_TYPE, FIELD_DICTIONARY, FIELD_CHILDREN };
enum { DICTIONARY_ID, DICTIONARY_INDEX };

typedef struct walk {
    leat_flat *flat;
    leat_arrow_schema *schema;
    int32_t visited;     /* fields met, those of dictionaries too: bounds the walk */
    const char *problem; /* why the walk stopped: what this reader does not do */
} walk;

static leat_arrow_type int_type(walk *w, const leat_flat_table *table) {
    int64_t bits = leat_flat_int(w->flat, table, 0, 4, 0);
    bool is_signed = leat_flat_int(w->flat, table, 1, 1, 0) != 0;
    leat_arrow_type type = {LEAT_ARROW_INT, 0, 0, is_signed};
    if (bits == 8 || bits == 16 || bits == 32 || bits == 64) type.bytes = (uint8_t)(bits / 8);
    else w->flat->broken = true;
    return type;
}

static leat_arrow_type read_type(walk *w, const leat_flat_table *field) {
    leat_arrow_type type = {0};
    int64_t kind = leat_flat_int(w->flat, field, FIELD_KIND, 1, 0);
    leat_flat_table table = leat_flat_child(w->flat, field, FIELD_TYPE);
    if (kind <= LEAT_ARROW_NONE || kind >= LEAT_ARROW_KINDS || table.position == 0) {
        if (kind >= LEAT_ARROW_KINDS) w->problem = "an unknown type";
        w->flat->broken = true;
        return type;
    }
    if (kind == LEAT_ARROW_INT) return int_type(w, &table);
    type.kind = (uint8_t)kind;
    int64_t detail = leat_flat_int(w->flat, &table, 0, 2, 0);
    if (kind == LEAT_ARROW_FLOAT && detail >= 0 && detail <= 2) type.bytes = (uint8_t)(2 << detail);
    if (kind == LEAT_ARROW_TIMESTAMP && detail >= 0 && detail <= 3) {
        type.bytes = 8;
        type.unit = (uint8_t)detail;
    }
    if ((kind == LEAT_ARROW_FLOAT || kind == LEAT_ARROW_TIMESTAMP) && type.bytes == 0)
        w->flat->broken = true;
    if (kind == LEAT_ARROW_UTF8 || kind == LEAT_ARROW_BINARY) type.bytes = 4;
    if (kind == LEAT_ARROW_LARGE_UTF8 || kind == LEAT_ARROW_LARGE_BINARY) type.bytes = 8;
    if (kind == LEAT_ARROW_UNION) type.unit = detail == 1; /* dense */
    return type;
}

/* Buffers of a type's own node, children and variadic ones not counted. */
static int own_buffers(const walk *w, leat_arrow_type type) {
    switch (type.kind) {
    case LEAT_ARROW_NULL:
    case LEAT_ARROW_RUN_END: return 0;
    case LEAT_ARROW_STRUCT:
    case LEAT_ARROW_FIXED_LIST: return 1;
    case LEAT_ARROW_BINARY:
    case LEAT_ARROW_UTF8:
    case LEAT_ARROW_LARGE_BINARY:
    case LEAT_ARROW_LARGE_UTF8:
    case LEAT_ARROW_LIST_VIEW:
    case LEAT_ARROW_LARGE_LIST_VIEW: return 3;
    /* Type ids, of dense ones offsets; before V5 a validity buffer too. */
    case LEAT_ARROW_UNION: return 1 + type.unit + (w->schema->version < 4);
    default: return 2;
    }
}

static bool add_dictionary(walk *w, int64_t id) {
    leat_arrow_schema *schema = w->schema;
    if (leat_arrow_has_dictionary(schema, id)) return true;
    if (schema->dictionary_count == LEAT_ARROW_DICTIONARIES_MAX) {
        w->problem = "too many dictionaries";
        return false;
    }
    schema->dictionary_ids[schema->dictionary_count++] = id;
    return true;
}

/* Counts the pieces of one field and its children. `column` is NULL unless somebody wants it. */
static bool walk_field(walk *w, const leat_flat_table *field, int depth,
                       leat_arrow_column *column) {
    leat_arrow_schema *schema = w->schema;
    if (depth > LEAT_ARROW_DEPTH_MAX || w->visited++ >= LEAT_ARROW_NODES_MAX) {
        w->problem = "too deeply nested, or too many fields";
        return false;
    }
    leat_arrow_type type = read_type(w, field);
    leat_flat_table dictionary = leat_flat_child(w->flat, field, FIELD_DICTIONARY);
    leat_flat_vector children = leat_flat_items(w->flat, field, FIELD_CHILDREN, 4);
    if (w->flat->broken) return false;
    leat_arrow_column found = {.present = true, .type = type};
    found.node = schema->node_count;
    found.buffer = schema->buffer_count;
    found.variadic = schema->variadic_count;
    schema->node_count++;
    if (dictionary.position != 0) {
        leat_flat_table index = leat_flat_child(w->flat, &dictionary, DICTIONARY_INDEX);
        leat_arrow_type plain = {LEAT_ARROW_INT, 4, 0, true}; /* what a missing one means */
        found.is_coded = true;
        found.index = index.position != 0 ? int_type(w, &index) : plain;
        found.dictionary_id = leat_flat_int(w->flat, &dictionary, DICTIONARY_ID, 8, 0);
        if (!add_dictionary(w, found.dictionary_id)) return false;
        schema->buffer_count += 2;
    } else {
        schema->buffer_count += own_buffers(w, type);
        schema->variadic_count += leat_arrow_is_view(type);
    }
    if (column) *column = found;
    int32_t nodes = schema->node_count, buffers = schema->buffer_count,
            variadic = schema->variadic_count;
    for (int64_t i = 0; i < children.count; i++) {
        leat_flat_table child = leat_flat_item(w->flat, &children, i);
        if (w->flat->broken || !walk_field(w, &child, depth + 1, NULL)) return false;
    }
    if (dictionary.position != 0) { /* the values' pieces lie in the dictionary's batches */
        schema->node_count = nodes;
        schema->buffer_count = buffers;
        schema->variadic_count = variadic;
    }
    return !w->flat->broken;
}

/* The number of the wanted column with the field's name; -1 if nobody wants it. */
static int wanted_index(walk *w, const leat_flat_table *field, const char *const *names) {
    leat_flat_vector name = leat_flat_items(w->flat, field, FIELD_NAME, 1);
    for (int i = 0; names[i]; i++)
        if ((int64_t)strlen(names[i]) == name.count &&
            memcmp(names[i], w->flat->data + name.position, (size_t)name.count) == 0)
            return i;
    return -1;
}

static leat_code walk_columns(const leat_arrow_stream *stream, walk *w,
                              const leat_flat_vector *fields, const char *const *names,
                              leat_error *err) {
    for (int64_t i = 0; i < fields->count; i++) {
        leat_flat_table field = leat_flat_item(w->flat, fields, i);
        int index = wanted_index(w, &field, names);
        int32_t node = w->schema->node_count;
        leat_arrow_column *column = index >= 0 ? &w->schema->columns[index] : NULL;
        if (!w->flat->broken && column && column->present)
            return leat_fail(err, LEAT_ERR_INPUT, "%s: two columns are named %s", stream->name,
                             names[index]);
        if (!w->flat->broken && walk_field(w, &field, 1, column)) {
            w->schema->top_nodes[node / 64] |= UINT64_C(1) << (node % 64);
            continue;
        }
        if (w->problem)
            return leat_fail(err, LEAT_ERR_UNSUPPORTED, "%s: schema: column %lld has %s",
                             stream->name, (long long)i, w->problem);
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: schema: column %lld is damaged", stream->name,
                         (long long)i);
    }
    return LEAT_OK;
}

leat_code leat_arrow_read_schema(leat_arrow_stream *stream, const char *const *names,
                                 leat_arrow_schema *schema, leat_error *err) {
    memset(schema, 0, sizeof *schema);
    leat_arrow_message message;
    LEAT_TRY(leat_arrow_next(stream, &message, err));
    if (message.header != LEAT_ARROW_SCHEMA)
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: no schema at its beginning", stream->name);
    schema->version = message.version;
    leat_flat *flat = &message.flat;
    leat_flat_vector fields = leat_flat_items(flat, &message.table, SCHEMA_FIELDS, 4);
    int64_t endianness = leat_flat_int(flat, &message.table, SCHEMA_ENDIANNESS, 2, 0);
    if (flat->broken)
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: schema is damaged", stream->name);
    if (endianness != 0)
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "%s: schema: byte order %lld (big-endian) is not supported; write the "
                         "rows little-endian",
                         stream->name, (long long)endianness);
    walk w = {.flat = flat, .schema = schema};
    leat_code code = walk_columns(stream, &w, &fields, names, err);
    if (code != LEAT_OK) memset(schema, 0, sizeof *schema);
    return code;
}
