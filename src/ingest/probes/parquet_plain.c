/*
 * The plain form of a Parquet file: see parquet.h.
 *
 * The footer is a Thrift struct whose second field is the list of the schema's elements. An element
 * says in two ways what its values mean: with a converted type (field 6) and with a logical type
 * (field 10, a union). Both are made unknown without changing the size of the footer: field 6
 * becomes field 7, a scale, which matters for decimals only, and the member of the union gets a
 * number that the format reserves. All offsets stay as they are.
 */
#include <stdio.h>
#include <string.h>

#include "ingest/probes/parquet.h"

#if LEAT_HAVE_DUCKDB

/* The schema stands at the beginning of the footer; a larger one is not searched. */
#define SCHEMA_BYTES_MAX (INT64_C(1) << 20)
#define COPY_BYTES (INT64_C(1) << 20)
enum { PATCHES_MAX = 16, ELEMENTS_MAX = 1 << 20, ELEMENT_FIELDS_MAX = 64 };

/* Fields of an element; types of the union; converted types. */
enum { ELEMENT_NAME = 4, ELEMENT_CHILDREN = 5, ELEMENT_CONVERTED = 6, ELEMENT_SCALE = 7 };
enum { ELEMENT_LOGICAL = 10, LOGICAL_TIMESTAMP = 8, LOGICAL_RESERVED = 9 };
enum { CONVERTED_MILLIS = 9, CONVERTED_MICROS = 10 };

typedef struct patch {
    int64_t at; /* in the footer */
    uint8_t byte;
} patch;

/* One element of the schema: where it says what is to be changed; -1: nowhere. */
typedef struct element {
    const char *name;
    int64_t name_bytes, children;
    int64_t converted_at, next_at; /* the heads of field 6 and of the field after it */
    int64_t converted;
    int64_t member_at; /* the head of the union's member */
    int64_t member;
    int64_t unit; /* of a timestamp: 1 for milliseconds, 2, 3 */
} element;

typedef struct schema {
    leat_thrift in;
    const char *names[LEAT_COLUMNS];
    int name_count;
    bool probe_text; /* the names of probes are texts too */
    bool atlas_text; /* or their numbers, beside the addresses */
    patch patches[PATCHES_MAX];
    int patch_count;
    int64_t ticks_per_second;
} schema;

/* ---- the schema ---- */

/* TimestampType: field 2 is a union whose member is the unit. */
static void read_timestamp(leat_thrift *in, element *found) {
    int64_t number = 0, unit = 0;
    int type, fields = 0;
    while (!in->failed && (type = leat_thrift_field(in, &number)) != 0) {
        if (++fields > ELEMENT_FIELDS_MAX) in->failed = true;
        if (number != 2 || type != LEAT_THRIFT_STRUCT) {
            leat_thrift_skip(in, type, 2);
            continue;
        }
        while (!in->failed && (type = leat_thrift_field(in, &unit)) != 0) {
            if (++fields > ELEMENT_FIELDS_MAX) in->failed = true;
            found->unit = unit;
            leat_thrift_skip(in, type, 3);
        }
    }
}

static void read_logical(leat_thrift *in, element *found) {
    int64_t number = 0, at = in->at;
    int type, fields = 0;
    while (!in->failed && (type = leat_thrift_field(in, &number)) != 0) {
        if (++fields > 1) in->failed = true; /* a union has one member */
        found->member_at = at;
        found->member = number;
        if (number == LOGICAL_TIMESTAMP && type == LEAT_THRIFT_STRUCT) read_timestamp(in, found);
        else leat_thrift_skip(in, type, 1);
        at = in->at;
    }
}

static void read_element(leat_thrift *in, element *found) {
    *found = (element){.converted_at = -1, .next_at = -1, .member_at = -1};
    int64_t number = 0, at = in->at;
    int type, fields = 0;
    while (!in->failed) {
        at = in->at;
        type = leat_thrift_field(in, &number);
        if (found->converted_at >= 0 && found->next_at < 0) found->next_at = at;
        if (type == 0) return;
        if (++fields > ELEMENT_FIELDS_MAX) {
            in->failed = true;
        } else if (number == ELEMENT_NAME && type == LEAT_THRIFT_TEXT) {
            found->name_bytes = (int64_t)leat_thrift_varint(in);
            found->name = (const char *)in->bytes + in->at;
            if (found->name_bytes < 0 || found->name_bytes > in->size - in->at) in->failed = true;
            else in->at += found->name_bytes;
        } else if (number == ELEMENT_CHILDREN && type == LEAT_THRIFT_I32) {
            found->children = leat_thrift_integer(in);
        } else if (number == ELEMENT_CONVERTED && type == LEAT_THRIFT_I32) {
            found->converted_at = at;
            found->converted = leat_thrift_integer(in);
        } else if (number == ELEMENT_LOGICAL && type == LEAT_THRIFT_STRUCT) {
            read_logical(in, found);
        } else {
            leat_thrift_skip(in, type, 0);
        }
    }
}

/* ---- patches ---- */

static void add_patch(schema *self, int64_t at, uint8_t byte) {
    if (self->patch_count == PATCHES_MAX) self->in.failed = true;
    else self->patches[self->patch_count++] = (patch){at, byte};
}

/* The converted type becomes a scale: one step further, and one step less to the next field. */
static void hide_converted(schema *self, const element *found) {
    const uint8_t *bytes = self->in.bytes;
    uint8_t head = bytes[found->converted_at], next = bytes[found->next_at];
    if (head >> 4 == 0 || head >> 4 == 15 || (next != 0 && next >> 4 < 2)) {
        self->in.failed = true; /* another form, or there is a scale already */
        return;
    }
    add_patch(self, found->converted_at, (uint8_t)(head + 0x10));
    if (next != 0) add_patch(self, found->next_at, (uint8_t)(next - 0x10));
}

static void hide_logical(schema *self, const element *found) {
    uint8_t head = self->in.bytes[found->member_at];
    if (head >> 4 != found->member) self->in.failed = true; /* another form */
    else add_patch(self, found->member_at, (uint8_t)(LOGICAL_RESERVED << 4 | (head & 15)));
}

static void hide(schema *self, const element *found) {
    if (found->converted_at >= 0) hide_converted(self, found);
    if (found->member_at >= 0) hide_logical(self, found);
}

static bool is_column(const schema *self, const element *found, int column) {
    const char *name = self->names[column];
    return column < self->name_count && (int64_t)strlen(name) == found->name_bytes &&
           memcmp(name, found->name, (size_t)found->name_bytes) == 0;
}

static void judge_element(schema *self, const element *found) {
    static const int64_t ticks[] = {0, 1000, 1000000, 1000000000};
    if (is_column(self, found, LEAT_COLUMN_SRC) || is_column(self, found, LEAT_COLUMN_DST) ||
        (self->probe_text && is_column(self, found, LEAT_COLUMN_PROBE))) {
        hide(self, found);
    }
    if (self->atlas_text && found->name_bytes == (int64_t)strlen(LEAT_PARQUET_ATLAS_COLUMN) &&
        memcmp(found->name, LEAT_PARQUET_ATLAS_COLUMN, (size_t)found->name_bytes) == 0)
        hide(self, found);
    if (!is_column(self, found, LEAT_COLUMN_TIME)) return;
    if (found->member == LOGICAL_TIMESTAMP) {
        if (found->unit < 1 || found->unit > 3) self->in.failed = true;
        else self->ticks_per_second = ticks[found->unit];
    } else if (found->converted_at >= 0 && found->converted == CONVERTED_MILLIS) {
        self->ticks_per_second = 1000;
    } else if (found->converted_at >= 0 && found->converted == CONVERTED_MICROS) {
        self->ticks_per_second = 1000000;
    }
    if (self->ticks_per_second != 0) hide(self, found);
}

/* Field 1 of the footer is its version, field 2 the schema: the root, then each column with the
 * columns in it. */
static bool read_schema(schema *self) {
    leat_thrift *in = &self->in;
    int64_t number = 0, inner = 0;
    int type = leat_thrift_field(in, &number);
    if (number == 1 && type == LEAT_THRIFT_I32) {
        (void)leat_thrift_integer(in);
        type = leat_thrift_field(in, &number);
    }
    if (in->failed || number != 2 || type != LEAT_THRIFT_LIST || in->at >= in->size) return false;
    uint8_t head = in->bytes[in->at++];
    uint64_t count = head >> 4 == 15 ? leat_thrift_varint(in) : head >> 4;
    if ((head & 15) != LEAT_THRIFT_STRUCT || count > ELEMENTS_MAX) return false;
    for (uint64_t i = 0; i < count && !in->failed; i++) {
        element found;
        bool top = inner == 0;
        read_element(in, &found);
        if (in->failed || found.children < 0 || found.children > ELEMENTS_MAX) return false;
        if (i == 0) continue; /* the root */
        inner += found.children - !top;
        if (top && found.children == 0) judge_element(self, &found);
    }
    return !in->failed;
}

/* ---- the copy ---- */

static leat_code copy_range(leat_file *to, leat_file *from, int64_t begin, int64_t end,
                            leat_error *err) {
    uint8_t *bytes = NULL;
    LEAT_TRY(LEAT_NEW(&bytes, COPY_BYTES, err));
    leat_code code = LEAT_OK;
    for (int64_t at = begin; at < end && code == LEAT_OK; at += COPY_BYTES) {
        int64_t size = end - at < COPY_BYTES ? end - at : COPY_BYTES;
        code = leat_file_pread(from, bytes, size, at, err);
        if (code == LEAT_OK) code = leat_file_pwrite(to, bytes, size, at, err);
    }
    leat_free(bytes);
    return code;
}

static leat_code find_patches(schema *self, leat_file *from, int64_t begin, int64_t size,
                              const leat_input *input, leat_error *err) {
    uint8_t *bytes = NULL;
    if (size > SCHEMA_BYTES_MAX) size = SCHEMA_BYTES_MAX;
    LEAT_TRY(LEAT_NEW(&bytes, size + 1, err));
    self->in = (leat_thrift){.bytes = bytes, .size = size};
    leat_code code = leat_file_pread(from, bytes, size, begin, err);
    if (code == LEAT_OK && !read_schema(self)) {
        code = leat_fail(err, LEAT_ERR_UNSUPPORTED, "\"%s\": unusual schema", input->path);
    }
    leat_free(bytes);
    return code;
}

static leat_code make_copy(leat_parquet_plain *plain, schema *self, leat_file *from,
                           const leat_input *input, bool with_data, leat_error *err) {
    int64_t size = 0, footer = input->parquet.metadata_bytes;
    LEAT_TRY(leat_file_size(from, &size, err));
    if (size < footer + 12) {
        return leat_fail(err, LEAT_ERR_CORRUPT, "\"%s\" was truncated while it was read",
                         input->path);
    }
    int64_t begin = size - 8 - footer;
    LEAT_TRY(find_patches(self, from, begin, footer, input, err));
    leat_file *to = NULL;
    LEAT_TRY(leat_file_open(&to, plain->path, LEAT_FILE_CREATE, err));
    leat_code code = leat_file_pwrite(to, "PAR1", 4, 0, err);
    if (code == LEAT_OK) code = copy_range(to, from, with_data ? 4 : begin, size, err);
    for (int i = 0; i < self->patch_count && code == LEAT_OK; i++) {
        code = leat_file_pwrite(to, &self->patches[i].byte, 1, begin + self->patches[i].at, err);
    }
    leat_file_close(to);
    return code;
}

leat_code leat_parquet_plain_make(leat_parquet_plain *plain, int64_t number,
                                  const leat_input *input, const leat_source_options *options,
                                  bool with_data, leat_error *err) {
    *plain = (leat_parquet_plain){0};
    char name[64];
    snprintf(name, sizeof name, LEAT_PARQUET_PLAIN_PREFIX "%lld.parquet", (long long)number);
    schema *self = NULL;
    leat_file *from = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->name_count = leat_source_names(&options->columns, self->names);
    self->probe_text = input->parquet.probe_type == LEAT_PARQUET_PROBE_TEXT;
    self->atlas_text = input->parquet.probe_type == LEAT_PARQUET_PROBE_ATLAS_TEXT;
    leat_code code = leat_path_join(plain->path, sizeof plain->path, options->temp_dir, name, err);
    if (code != LEAT_OK) plain->path[0] = 0;
    if (code == LEAT_OK) code = leat_file_open(&from, input->path, LEAT_FILE_READ, err);
    if (code == LEAT_OK) code = make_copy(plain, self, from, input, with_data, err);
    leat_file_close(from);
    plain->time_ticks_per_second = self->ticks_per_second;
    leat_free(self);
    if (code != LEAT_OK) leat_parquet_plain_remove(plain);
    return code;
}

void leat_parquet_plain_remove(leat_parquet_plain *plain) {
    if (plain->path[0] != 0) leat_path_discard(plain->path);
    plain->path[0] = 0;
}

#endif
