/*
 * Parquet files with encrypted columns, behind a footer that anybody can read. DuckDB refuses such
 * a file with a message about the bytes of its nonce, or that of missing keys, even if the columns
 * that are read are not encrypted; so its footer is searched for those that are. PyArrow reads the
 * others without a key.
 *
 * The footer's field 4 has the row groups, whose field 1 has the column chunks: field 3 is the
 * chunk's metadata with its path, field 8 how it is encrypted, by a union: with the footer's key,
 * or with a key of its own, and then with its path again.
 */
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "ingest/probes/parquet.h"

#if LEAT_HAVE_DUCKDB

#define FOOTER_BYTES_MAX (INT64_C(256) << 20)
enum { ROW_GROUPS = 4, ALGORITHM = 8 };
enum { GROUP_COLUMNS = 1, CHUNK_METADATA = 3, CHUNK_ENCRYPTION = 8 };
enum { METADATA_PATH = 3, OWN_KEY = 2, OWN_KEY_PATH = 1 };
enum { NAME_BYTES = 60, PATH_SHOWN_BYTES = 200, LIST_BYTES = 160 };

typedef struct footer {
    leat_thrift in;
    const char *names[LEAT_COLUMNS]; /* that leat reads */
    int name_count;
    bool seen[LEAT_COLUMNS];
    bool uses;   /* the format's encryption, perhaps for a signature alone */
    bool wanted; /* a column that leat reads is encrypted */
    int count;   /* of the encrypted columns */
    char list[LIST_BYTES];
} footer;

/* A column chunk: the first name of its path, and whether there are others. */
typedef struct chunk {
    const char *name;
    int64_t name_bytes;
    bool nested, encrypted;
} chunk;

static void read_path(leat_thrift *in, chunk *found) {
    int type = 0;
    const int64_t count = leat_thrift_list(in, &type);
    if (type != LEAT_THRIFT_TEXT) in->failed = true;
    for (int64_t i = 0; i < count && !in->failed; i++) {
        const int64_t size = (int64_t)leat_thrift_varint(in);
        if (in->failed || size < 0 || size > in->size - in->at) {
            in->failed = true;
            return;
        }
        if (i == 0) {
            found->name = (const char *)in->bytes + in->at;
            found->name_bytes = size;
        }
        in->at += size;
    }
    found->nested = count > 1;
}

/* A struct in which one field, of some type, is a path. */
static void read_path_in(leat_thrift *in, int64_t field, chunk *found) {
    int64_t number = 0;
    int type;
    while (!in->failed && (type = leat_thrift_field(in, &number)) != 0) {
        if (number == field && type == LEAT_THRIFT_LIST) read_path(in, found);
        else leat_thrift_skip(in, type, 0);
    }
}

static void read_chunk(leat_thrift *in, chunk *found) {
    int64_t number = 0, member = 0;
    int type;
    *found = (chunk){0};
    while (!in->failed && (type = leat_thrift_field(in, &number)) != 0) {
        if (number == CHUNK_METADATA && type == LEAT_THRIFT_STRUCT) {
            read_path_in(in, METADATA_PATH, found);
        } else if (number == CHUNK_ENCRYPTION && type == LEAT_THRIFT_STRUCT) {
            found->encrypted = true;
            while (!in->failed && (type = leat_thrift_field(in, &member)) != 0) {
                if (member == OWN_KEY && type == LEAT_THRIFT_STRUCT)
                    read_path_in(in, OWN_KEY_PATH, found);
                else leat_thrift_skip(in, type, 0);
            }
        } else {
            leat_thrift_skip(in, type, 0);
        }
    }
}

static void judge_chunk(footer *self, const chunk *found) {
    for (int k = 0; k < self->name_count; k++) {
        if (found->nested || (int64_t)strlen(self->names[k]) != found->name_bytes ||
            memcmp(self->names[k], found->name, (size_t)found->name_bytes) != 0)
            continue;
        self->seen[k] = true;
        self->wanted = self->wanted || found->encrypted;
    }
    if (!found->encrypted) return;
    char name[NAME_BYTES];
    leat_text_show(name, sizeof name, found->name != NULL ? found->name : "", found->name_bytes);
    const size_t used = strlen(self->list);
    const bool fits = used + strlen(name) + sizeof ", \"\", ..." < sizeof self->list;
    if (fits || strcmp(self->list + used - 3, "...") != 0)
        snprintf(self->list + used, sizeof self->list - used, fits ? "%s\"%s\"" : "%s...",
                 used > 0 ? ", " : "", name);
    self->count++;
}

/* The columns of a row group; all groups have the same. */
static void read_group(footer *self) {
    int64_t number = 0;
    int type;
    while (!self->in.failed && (type = leat_thrift_field(&self->in, &number)) != 0) {
        if (number != GROUP_COLUMNS || type != LEAT_THRIFT_LIST) {
            leat_thrift_skip(&self->in, type, 0);
            continue;
        }
        const int64_t count = leat_thrift_list(&self->in, &type);
        if (type != LEAT_THRIFT_STRUCT) self->in.failed = true;
        for (int64_t i = 0; i < count && !self->in.failed; i++) {
            chunk found;
            read_chunk(&self->in, &found);
            if (!self->in.failed) judge_chunk(self, &found);
        }
    }
}

static void read_footer(footer *self) {
    leat_thrift *in = &self->in;
    int64_t number = 0;
    int type;
    while (!in->failed && (type = leat_thrift_field(in, &number)) != 0) {
        if (number == ALGORITHM) self->uses = true;
        if (number != ROW_GROUPS || type != LEAT_THRIFT_LIST) {
            leat_thrift_skip(in, type, 0);
            continue;
        }
        const int64_t count = leat_thrift_list(in, &type);
        if (type != LEAT_THRIFT_STRUCT) in->failed = true;
        for (int64_t i = 0; i < count && !in->failed; i++) {
            if (i == 0) read_group(self);
            else leat_thrift_skip(in, type, 0);
        }
    }
}

/* ---- the message ---- */

/* The line that writes the columns that leat reads to another file; none if a name of them cannot
 * be shown. */
static leat_code add_line(const footer *self, const char *path, leat_buf *out, leat_error *err) {
    char word[LEAT_MESSAGE_BYTES];
    const bool shown = leat_shell_word(word, sizeof word, path);
    out->size = 0;
    LEAT_TRY(leat_buf_printf(
        out, err,
        "; copy the others with PyArrow%s: python3 -c \"import sys,pyarrow.parquet as "
        "q;f,*c=sys.argv[1:];q.write_table(q.ParquetFile(f).read(columns=c),'decrypted.parquet')\""
        " %s",
        shown ? "" : " (replace FILE by its path)", shown ? word : "FILE"));
    for (int k = 0; k < self->name_count; k++) {
        if (!self->seen[k]) continue;
        if (!leat_shell_word(word, sizeof word, self->names[k])) {
            out->size = 0;
            return LEAT_OK;
        }
        LEAT_TRY(leat_buf_printf(out, err, " %s", word));
    }
    return LEAT_OK;
}

static leat_code refuse(const footer *self, const char *path, leat_error *err) {
    char name[PATH_SHOWN_BYTES];
    leat_buf out = {0}, line = {0};
    leat_inputs_name(path, name, sizeof name);
    leat_code code =
        self->count > 0
            ? leat_buf_printf(&out, err, "\"%s\" has encrypted columns: %s", name, self->list)
            : leat_buf_printf(&out, err, "\"%s\" has a footer signed with a key", name);
    if (code == LEAT_OK && self->wanted)
        code = leat_buf_printf(&out, err, "; write it again without encryption, with their keys");
    else if (code == LEAT_OK)
        code = leat_buf_printf(&out, err, "; DuckDB then reads no column of it");
    if (code == LEAT_OK && !self->wanted) code = add_line(self, path, &line, err);
    if (code == LEAT_OK && out.size + line.size >= LEAT_MESSAGE_BYTES)
        code = add_line(self, "\n", &line, err); /* FILE */
    if (code == LEAT_OK)
        code =
            leat_fail(err, LEAT_ERR_UNSUPPORTED, "%.*s%.*s", (int)out.size, (const char *)out.data,
                      (int)line.size, line.size > 0 ? (const char *)line.data : "");
    leat_buf_free(&line);
    leat_buf_free(&out);
    return code;
}

leat_code leat_parquet_refuse_encrypted(const leat_input *input, const leat_source_options *options,
                                        leat_error *err) {
    const int64_t bytes = input->parquet.metadata_bytes, magic = 8;
    uint8_t *text = NULL;
    leat_file *file = NULL;
    int64_t size = 0;
    footer self = {0};
    if (bytes > FOOTER_BYTES_MAX) return LEAT_OK;
    self.name_count = leat_source_names(&options->columns, self.names);
    LEAT_TRY(LEAT_NEW(&text, bytes + 1, err));
    leat_code code = leat_file_open(&file, input->path, LEAT_FILE_READ, err);
    if (code == LEAT_OK) code = leat_file_size(file, &size, err);
    if (code == LEAT_OK && size >= bytes + magic)
        code = leat_file_pread(file, text, bytes, size - magic - bytes, err);
    leat_file_close(file);
    self.in = (leat_thrift){.bytes = text, .size = bytes};
    if (code == LEAT_OK) read_footer(&self);
    if (code == LEAT_OK && !self.in.failed && self.uses) code = refuse(&self, input->path, err);
    leat_free(text);
    return code;
}

#endif
