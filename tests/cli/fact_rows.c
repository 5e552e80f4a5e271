/* The tables of facts of the command: linked with it, it prints them as JSON in its place, for
 * scripts/schemas.py: {"status": [{"key": "run", "type": "string", ...}, ...], ...}. */
#include <stdio.h>
#include <stdlib.h>

#include "facts.h"

static const char *type_of(const leat_fact *row) {
    switch (row->kind) {
    case LEAT_FACT_CHARS:
    case LEAT_FACT_TEXT: return "string";
    case LEAT_FACT_FLAG: return "boolean";
    case LEAT_FACT_INT:
    case LEAT_FACT_INDEX: return "integer";
    case LEAT_FACT_REAL: return "number";
    case LEAT_FACT_LIST: return row->list->shape == LEAT_FACT_ARRAY ? "array" : "object";
    case LEAT_FACT_MEMBER:
    case LEAT_FACT_NAMES:
    case LEAT_FACT_ROWS: break;
    }
    return "";
}

static void write_rows(leat_json *json, const leat_fact *rows);

static void write_row(leat_json *json, const leat_fact *row) {
    leat_json_begin_object(json);
    leat_json_member_string(json, "key", row->key);
    leat_json_member_string(json, "type", type_of(row));
    leat_json_member_bool(json, "optional", row->optional);
    leat_json_member_string(json, "help", row->help != NULL ? row->help : "");
    if (row->kind == LEAT_FACT_LIST && row->list->shape == LEAT_FACT_NAMED) {
        leat_json_key(json, "value");
        write_row(json, &row->list->rows[1]);
    } else if (row->kind == LEAT_FACT_LIST) {
        leat_json_key(json, "items");
        leat_json_begin_array(json);
        write_rows(json, row->list->rows);
        leat_json_end_array(json);
        if (row->list->shape == LEAT_FACT_ARRAY)
            leat_json_member_string(json, "one", row->list->one);
    }
    leat_json_end_object(json);
}

static void write_rows(leat_json *json, const leat_fact *rows) {
    for (const leat_fact *row = rows; row->key != NULL; row++) {
        if (row->rows != NULL) write_rows(json, row->rows);
        else if (row->help != NULL) write_row(json, row);
    }
}

__attribute__((constructor)) static void print_tables(void) {
    leat_json *json = NULL;
    const char *text = "";
    int64_t size_bytes = 0;
    leat_error err = {0};
    if (leat_json_create(&json, false, &err) != LEAT_OK) exit(1);
    leat_json_begin_object(json);
    for (int i = 0; leat_facts_tables[i] != NULL; i++) {
        leat_json_key(json, leat_facts_tables[i]->schema);
        leat_json_begin_array(json);
        write_rows(json, leat_facts_tables[i]->rows);
        leat_json_end_array(json);
    }
    leat_json_end_object(json);
    if (leat_json_finish(json, &text, &size_bytes, &err) != LEAT_OK) exit(1);
    fwrite(text, 1, (size_t)size_bytes, stdout);
    leat_json_destroy(json);
    exit(fflush(stdout) == 0 ? 0 : 1);
}
