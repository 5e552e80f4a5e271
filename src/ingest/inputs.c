/*
 * Which files are read, and as what. Names lie (".txt", ".parquet" of a CSV), so the format is told
 * by content: Parquet by its magic, gzip by its magic and what is inside, NDJSON by the brace that
 * it begins with; the rest is CSV, whose header is checked later. The formats of vehicle logs are
 * told by their lines (can_detect.c).
 */
#include <stdlib.h>
#include <string.h>

#include "format/can_cache.h"
#include "format/manifest.h"
#include "ingest/source_parts.h"

/* Folders below a folder that is named are entered so deep; no file system needs more. */
enum { FOLDER_DEPTH_MAX = 32 };
/* More files than this are more likely a wrong pattern than a data set. */
#define INPUTS_MAX (INT64_C(1) << 20)

/* What is made of the paths. */
typedef struct search {
    const leat_input_kind *kind;
    leat_input_list *inputs;
} search;

/* What is read of a folder: by name here, since folders hold other files too. */
static bool is_input_name(const leat_input_kind *kind, const char *name) {
    if (name[0] == '.' || name[0] == '_') return false;
    for (const char *const *suffix = kind->suffixes; *suffix != NULL; suffix++) {
        if (leat_path_has_suffix(name, *suffix)) return true;
    }
    return false;
}

static leat_code add_file(leat_input_list *inputs, const char *path, const leat_path_facts *facts,
                          leat_error *err) {
    if (facts->kind != LEAT_PATH_FILE) {
        return leat_fail(err, LEAT_ERR_INPUT,
                         "input \"%s\" is no regular file: it is read more than once, so save it "
                         "to one first",
                         path);
    }
    if (inputs->count == INPUTS_MAX) {
        return leat_fail(err, LEAT_ERR_LIMIT, "more than %lld input files", (long long)INPUTS_MAX);
    }
    LEAT_TRY(LEAT_GROW(&inputs->items, &inputs->capacity, inputs->count + 1, err));
    leat_input *input = &inputs->items[inputs->count];
    *input = (leat_input){.facts = *facts};
    LEAT_TRY(leat_strdup(&input->path, path, err));
    inputs->count++;
    return LEAT_OK;
}

/* A data set or cache of leat, or one being made: its rejected.csv and JSON files are no input. */
static bool is_output(const leat_path_list *names) {
    bool work = false, manifest = false, index = false, graphs = false;
    for (int64_t i = 0; i < names->count; i++) {
        work = work || strcmp(names->paths[i], LEAT_WORK_NAME) == 0;
        manifest = manifest || strcmp(names->paths[i], LEAT_MANIFEST_NAME) == 0;
        index = index || strcmp(names->paths[i], LEAT_INDEX_NAME) == 0;
        graphs = graphs || strcmp(names->paths[i], leat_can_document_name(LEAT_CAN_METADATA)) == 0;
    }
    return work || graphs || (manifest && index);
}

static leat_code add_folder(const search *to, const char *path, int depth, leat_error *err) {
    if (depth > FOLDER_DEPTH_MAX) {
        return leat_fail(err, LEAT_ERR_LIMIT, "folders nested deeper than %d at \"%s\"",
                         FOLDER_DEPTH_MAX, path);
    }
    leat_path_list names = {0};
    LEAT_TRY(leat_path_list_dir(path, &names, err));
    leat_code code = LEAT_OK;
    int64_t count = is_output(&names) ? 0 : names.count;
    for (int64_t i = 0; i < count && code == LEAT_OK; i++) {
        char child[LEAT_PATH_BYTES];
        leat_path_facts facts = {0};
        code = leat_path_join(child, sizeof child, path, names.paths[i], err);
        if (code == LEAT_OK) code = leat_path_stat(child, &facts, err);
        if (code != LEAT_OK || names.paths[i][0] == '.') continue;
        if (facts.kind == LEAT_PATH_DIR) {
            code = add_folder(to, child, depth + 1, err);
        } else if (facts.kind == LEAT_PATH_FILE && is_input_name(to->kind, names.paths[i])) {
            code = add_file(to->inputs, child, &facts, err);
        }
    }
    leat_path_list_free(&names);
    return code;
}

static leat_code add_path(const search *to, const char *path, leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_DIR) return add_file(to->inputs, path, &facts, err);
    char folder[LEAT_PATH_BYTES];
    size_t size = strlen(path);
    if (size >= sizeof folder) {
        return leat_fail(err, LEAT_ERR_LIMIT, "path \"%.64s...\" is too long", path);
    }
    memcpy(folder, path, size + 1);
    while (size > 1 && folder[size - 1] == '/') folder[--size] = 0;
    int64_t before = to->inputs->count;
    LEAT_TRY(add_folder(to, folder, 0, err));
    if (to->inputs->count > before) return LEAT_OK;
    if (leat_path_join(folder, sizeof folder, path, LEAT_MANIFEST_NAME, NULL) == LEAT_OK &&
        leat_path_stat(folder, &facts, NULL) == LEAT_OK && facts.kind == LEAT_PATH_FILE) {
        return leat_fail(
            err, LEAT_ERR_INPUT,
            "folder \"%s\" holds a data set, which is what an ingest makes: `leat cat` "
            "gives its measurements back as input",
            path);
    }
    return leat_fail(err, LEAT_ERR_NOT_FOUND, "folder \"%s\" holds no %s (or .gz)", path,
                     to->kind->shown);
}

/* A file or folder of that very name comes first; else the text is a pattern. */
static leat_code expand(const search *to, const char *path, leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_NONE) return add_path(to, path, err);
    if (strpbrk(path, "*?[") == NULL) {
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "input \"%s\" is not there", path);
    }
    leat_path_list found = {0};
    LEAT_TRY(leat_path_glob(path, &found, err));
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < found.count && code == LEAT_OK; i++) {
        code = add_path(to, found.paths[i], err);
    }
    leat_path_list_free(&found);
    return code;
}

static int compare_identity(const void *a, const void *b) {
    const leat_input *x = a, *y = b;
    if (x->facts.device != y->facts.device) return x->facts.device < y->facts.device ? -1 : 1;
    if (x->facts.inode != y->facts.inode) return x->facts.inode < y->facts.inode ? -1 : 1;
    return strcmp(x->path, y->path);
}

static int compare_paths(const void *a, const void *b) {
    return strcmp(((const leat_input *)a)->path, ((const leat_input *)b)->path);
}

/* One file under several names, or named twice, is read once, by the first of its names. */
static void drop_doubles(leat_input_list *inputs) {
    if (inputs->count < 2) return;
    qsort(inputs->items, (size_t)inputs->count, sizeof *inputs->items, compare_identity);
    int64_t kept = 1;
    for (int64_t i = 1; i < inputs->count; i++) {
        const leat_path_facts *one = &inputs->items[kept - 1].facts, *two = &inputs->items[i].facts;
        if (one->device == two->device && one->inode == two->inode) {
            leat_free(inputs->items[i].path);
        } else {
            inputs->items[kept++] = inputs->items[i];
        }
    }
    inputs->count = kept;
    qsort(inputs->items, (size_t)inputs->count, sizeof *inputs->items, compare_paths);
}

/* ---- formats ---- */

/* Another kind of compression, UTF-16, a program: none has a first line without control bytes. */
static bool is_binary(const leat_line *line) {
    for (int64_t i = 0; i < line->size_bytes; i++) {
        unsigned char byte = (unsigned char)line->data[i];
        if (byte < 0x20 && byte != '\t' && byte != '\r' && byte != '\n') return true;
    }
    return false;
}

/* CSV or NDJSON, by the first line that is not blank. */
static leat_code tell_text(leat_input *input, leat_error *err) {
    leat_lines_options options = {.gzip = input->gzip};
    leat_lines *lines = NULL;
    LEAT_TRY(leat_lines_open(&lines, input->path, &options, err));
    leat_line line;
    bool found = false;
    leat_code code = leat_text_first(lines, &line, &found, err);
    /* a file without a line has no header: said when it is checked; no object at all is fine */
    input->format = leat_path_has_suffix(input->path, ".csv") ||
                            leat_path_has_suffix(input->path, ".csv.gz") || found
                        ? LEAT_INPUT_CSV
                        : LEAT_INPUT_NDJSON;
    if (code == LEAT_OK && found) {
        int64_t at = 0;
        while (at < line.size_bytes && (line.data[at] == ' ' || line.data[at] == '\t')) at++;
        char first = at < line.size_bytes ? line.data[at] : 0;
        if (first == '{') input->format = LEAT_INPUT_NDJSON;
        if (is_binary(&line)) {
            code = leat_fail(err, LEAT_ERR_INPUT,
                             "\"%s\" is no text: inputs are Parquet, and CSV or NDJSON in UTF-8, "
                             "plain or gzipped",
                             input->path);
        } else if (first == '[') {
            code = leat_fail(err, LEAT_ERR_INPUT,
                             "\"%s\" is one JSON array: give one object a line (jq -c '.[]')",
                             input->path);
        } else if (input->gzip && line.size_bytes >= 4 && memcmp(line.data, "PAR1", 4) == 0) {
            code =
                leat_fail(err, LEAT_ERR_INPUT,
                          "\"%s\" is a Parquet file inside gzip: unpack it (gunzip)", input->path);
        }
    }
    leat_lines_close(lines);
    return code;
}

static leat_code tell_probes(leat_input *input, const uint8_t *magic, int64_t size,
                             leat_error *err) {
    if (size == 4 && memcmp(magic, "PAR1", 4) == 0) {
        input->format = LEAT_INPUT_PARQUET;
        return LEAT_OK;
    }
    if (size == 4 && memcmp(magic, "PARE", 4) == 0) {
        return leat_fail(err, LEAT_ERR_UNSUPPORTED, "\"%s\" is an encrypted Parquet file",
                         input->path);
    }
    if (leat_path_has_suffix(input->path, ".parquet")) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "\"%s\" is no Parquet file: it does not begin with PAR1", input->path);
    }
    return tell_text(input, err);
}

/* Which log it is shows when its lines are read; comma-separated or not, they are text. */
static leat_code tell_can(leat_input *input, const uint8_t *magic, int64_t size, leat_error *err) {
    input->format = LEAT_INPUT_CSV;
    if (size < 4 || memcmp(magic, "PAR1", 4) != 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\" is a Parquet file: vehicle logs are read as text, write it as CSV",
                     input->path);
}

static const char *const probe_suffixes[] = {".parquet",   ".csv",   ".csv.gz",   ".ndjson",
                                             ".ndjson.gz", ".jsonl", ".jsonl.gz", ".json",
                                             ".json.gz",   NULL};
static const char *const can_suffixes[] = {".csv", ".csv.gz", ".log", ".log.gz",
                                           ".txt", ".txt.gz", NULL};
const leat_input_kind leat_probe_inputs = {
    probe_suffixes, "*.parquet, *.csv, *.ndjson, *.jsonl, *.json", tell_probes};
const leat_input_kind leat_can_inputs = {can_suffixes, "*.csv, *.log, *.txt", tell_can};

static leat_code tell_format(leat_input *input, const leat_input_kind *kind, leat_error *err) {
    uint8_t magic[4] = {0};
    leat_file *file = NULL;
    LEAT_TRY(leat_file_open(&file, input->path, LEAT_FILE_READ, err));
    int64_t size = input->facts.size_bytes < 4 ? input->facts.size_bytes : 4;
    leat_code code = leat_file_pread(file, magic, size, 0, err);
    leat_file_close(file);
    if (code != LEAT_OK) return code;
    input->gzip = magic[0] == 0x1f && magic[1] == 0x8b;
    return kind->tell(input, magic, size, err);
}

leat_code leat_inputs_find(const char *const *paths, int64_t path_count,
                           const leat_input_kind *kind, leat_input_list *inputs, leat_error *err) {
    *inputs = (leat_input_list){0};
    search to = {kind, inputs};
    leat_code code = LEAT_OK;
    if (path_count < 1) code = leat_fail(err, LEAT_ERR_OPTION, "no input is named");
    for (int64_t i = 0; i < path_count && code == LEAT_OK; i++) {
        code = expand(&to, paths[i], err);
    }
    if (code == LEAT_OK) drop_doubles(inputs);
    for (int64_t i = 0; i < inputs->count && code == LEAT_OK; i++) {
        code = tell_format(&inputs->items[i], kind, err);
    }
    if (code != LEAT_OK) leat_input_list_free(inputs);
    return code;
}

void leat_input_list_free(leat_input_list *inputs) {
    for (int64_t i = 0; i < inputs->count; i++) leat_free(inputs->items[i].path);
    leat_free(inputs->items);
    *inputs = (leat_input_list){0};
}
