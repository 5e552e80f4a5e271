/*
 * Which files are read, and in which format. File names can be wrong (".txt", ".parquet" for a
 * CSV), so the format is detected from the contents: Parquet and packed files by their magic,
 * what is packed like a plain file, JSON by its first bracket; the rest is CSV, whose header is
 * checked later. The formats of vehicle logs are detected from their lines
 * (ingest/can/read/detect.c).
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json_scan.h"
#include "format/output.h"
#include "ingest/source.h"
#include "ingest/tables.h"

/* The deepest nesting of folders that is read; real inputs need less. */
enum { FOLDER_DEPTH_MAX = 32 };
/* More files than this are more likely a wrong pattern than a data set. */
#define INPUTS_MAX (INT64_C(1) << 20)

/* What to search for, and where results go. */
typedef struct search {
    const leat_input_kind *kind;
    leat_input_list *inputs;
} search;

/* Texts about the files beside them: "README.txt", "readme-first.txt", "LICENSE.txt". */
static bool is_about_text(const char *name) {
    static const char *const words[] = {"readme",  "read_me",   "license", "licence",
                                        "copying", "changelog", "notice",  "citation"};
    if (!leat_path_has_suffix_any_case(name, ".txt")) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t size = strlen(words[i]);
        if (strncasecmp(name, words[i], size) != 0) continue;
        if (!isalnum((unsigned char)name[size])) return true;
    }
    return false;
}

/* Files of a folder are selected by name, since folders hold other files too. */
bool leat_inputs_has_name(const leat_input_kind *kind, const char *name) {
    if (is_about_text(name)) return false;
    for (const char *const *suffix = kind->suffixes; *suffix != NULL; suffix++) {
        if (leat_path_has_suffix_any_case(name, *suffix)) return true;
    }
    return false;
}

void leat_inputs_name(const char *path, char *name, int64_t size_bytes) {
    size_t size = strlen(path), most = (size_t)size_bytes - 1;
    const char *end = path + size;
    if (size <= most) {
        memcpy(name, path, size + 1);
        return;
    }
    path = end - (most - 3);
    for (int i = 0; i < 3 && ((uint8_t)*path & 0xc0) == 0x80; i++) path++; /* whole characters */
    snprintf(name, most + 1, "...%s", path);
}

void leat_inputs_skip(leat_ingest_skipped *skipped, const char *path) {
    if (skipped->count++ >= LEAT_INGEST_SKIPPED_NAMES) return;
    leat_inputs_name(path, skipped->name[skipped->name_count++], sizeof skipped->name[0]);
}

void leat_inputs_skip_all(leat_ingest_skipped *skipped, const leat_ingest_skipped *more) {
    for (int i = 0; i < more->name_count; i++) leat_inputs_skip(skipped, more->name[i]);
    skipped->count += more->count - more->name_count;
}

static leat_code add_file(leat_input_list *inputs, const char *path, const leat_path_facts *facts,
                          leat_error *err) {
    if (facts->kind != LEAT_PATH_FILE) {
        return leat_fail(err, LEAT_ERR_INPUT,
                         "input \"%s\" is not a regular file: files are read more than once; save "
                         "it to a file first",
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

static leat_code add_folder(const search *to, const char *path, int depth, leat_error *err);

/* Names that begin with "." are not shown anywhere. Those with "_" are by convention unfinished or
 * third-party data ("_temporary", "_SUCCESS"): what could have been read is named. */
static leat_code add_child(const search *to, const char *folder, const char *name, int depth,
                           leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts = {0};
    if (name[0] == '.') return LEAT_OK;
    LEAT_TRY(leat_path_join(path, sizeof path, folder, name, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    bool is_other = false;
    if (to->kind->look != NULL && facts.kind == LEAT_PATH_FILE && name[0] != '_')
        LEAT_TRY(to->kind->look(path, &is_other, err));
    bool is_folder = facts.kind == LEAT_PATH_DIR, hidden = name[0] == '_';
    bool is_input =
        is_other || (facts.kind == LEAT_PATH_FILE && leat_inputs_has_name(to->kind, name));
    if (is_folder && !hidden) return add_folder(to, path, depth + 1, err);
    if (is_input && !hidden) return add_file(to->inputs, path, &facts, err);
    const char *beside = to->kind->beside;
    if (beside != NULL && facts.kind == LEAT_PATH_FILE && strcmp(name, beside) == 0)
        return leat_path_list_add(&to->inputs->beside, path, err);
    if (hidden ? is_folder || is_input : facts.kind == LEAT_PATH_FILE)
        leat_inputs_skip(&to->inputs->skipped, path);
    return LEAT_OK;
}

/* The size of a path without the suffix of a compressed file or archive. */
static int64_t stem_bytes(const char *path) {
    if (leat_path_has_suffix_any_case(path, ".zip")) return (int64_t)strlen(path) - 4;
    return leat_coding_stem_bytes(path);
}

/* Whether another name of the folder is a packed copy of this file, as gunzip -k leaves them, or
 * has the same contents packed in another way. The names are sorted. */
static const char *find_copy(const search *to, const leat_path_list *names, int64_t at) {
    const char *name = names->paths[at];
    const int64_t stem = stem_bytes(name);
    for (int64_t i = at + 1; i < names->count; i++) {
        const char *other = names->paths[i];
        if (strncmp(name, other, (size_t)stem) != 0) break;
        if (stem_bytes(other) == stem && other[stem] != 0 && leat_inputs_has_name(to->kind, other))
            return other;
    }
    return NULL;
}

/* "x.csv" beside "x.csv.gz": read both, and the data counts twice. */
static leat_code check_packed(const search *to, const char *folder, const leat_path_list *names,
                              leat_error *err) {
    for (int64_t i = 0; i < names->count; i++) {
        const char *name = names->paths[i];
        if (name[0] == '.' || name[0] == '_' || !leat_inputs_has_name(to->kind, name)) continue;
        const char *copy = find_copy(to, names, i);
        if (copy == NULL) continue;
        return leat_fail(err, LEAT_ERR_INPUT,
                         "folder \"%s\" contains \"%s\" and \"%s\": the second is a compressed "
                         "copy of the first, so the data would count twice; move one of them "
                         "elsewhere",
                         folder, name, copy);
    }
    return LEAT_OK;
}

static leat_code add_folder(const search *to, const char *path, int depth, leat_error *err) {
    if (depth > FOLDER_DEPTH_MAX) {
        return leat_fail(err, LEAT_ERR_LIMIT, "folders nested deeper than %d at \"%s\"",
                         FOLDER_DEPTH_MAX, path);
    }
    if (to->kind->tables) LEAT_TRY(leat_tables_refuse(path, err));
    leat_path_list names = {0};
    LEAT_TRY(leat_path_list_dir(path, &names, err));
    /* the rejected.csv and JSON files of an output are not inputs */
    int64_t count = leat_output_has_names(&names) ? 0 : names.count;
    leat_code code = count > 0 ? check_packed(to, path, &names, err) : LEAT_OK;
    for (int64_t i = 0; i < count && code == LEAT_OK; i++)
        code = add_child(to, path, names.paths[i], depth, err);
    leat_path_list_free(&names);
    return code;
}

/* Whether a path is not in the folder of the file that was added last, as the files of a pattern
 * usually are. */
static bool in_other_folder(const leat_input_list *inputs, const char *path) {
    const char *last = inputs->count > 0 ? inputs->items[inputs->count - 1].path : NULL;
    const char *end = strrchr(path, '/');
    size_t size = end == NULL ? 0 : (size_t)(end - path) + 1;
    if (last == NULL || strncmp(last, path, size) != 0) return true;
    return strchr(last + size, '/') != NULL;
}

static leat_code add_path(const search *to, const char *path, leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    bool stored = facts.kind == LEAT_PATH_DIR || leat_path_has_suffix_any_case(path, ".parquet");
    if (to->kind->tables && stored && in_other_folder(to->inputs, path))
        LEAT_TRY(leat_tables_refuse_around(path, err));
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
    leat_output output;
    LEAT_TRY(leat_output_look(folder, &output, err));
    if (output.kind != LEAT_OUTPUT_NONE)
        return leat_fail(
            err, LEAT_ERR_INPUT,
            "folder \"%s\" holds the output of `%s`, not raw data; give the files that "
            "it was made from%s",
            folder, leat_output_command(output.kind),
            output.kind == LEAT_OUTPUT_PROBES
                ? ", or turn it back into measurements with `leat cat`"
                : "");
    const leat_ingest_skipped *skipped = &to->inputs->skipped;
    char others[400] = "";
    if (skipped->count > 0)
        snprintf(others, sizeof others, "; it contains %lld other%s: \"%s\"%s",
                 (long long)skipped->count, skipped->count == 1 ? "" : "s", skipped->name[0],
                 skipped->count == 1 ? "" : ", ...");
    return leat_fail(err, LEAT_ERR_NOT_FOUND, "folder \"%s\" does not contain any %s%s", folder,
                     to->kind->shown, others);
}

/* A file or folder with exactly this name takes precedence; otherwise the text is a pattern. */
static leat_code expand(const search *to, const char *path, leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_NONE) return add_path(to, path, err);
    if (strcmp(path, "-") == 0)
        return leat_fail(
            err, LEAT_ERR_INPUT,
            "standard input (\"-\") cannot be an input: files are read more than once; "
            "save it to a file first");
    if (strpbrk(path, "*?[") == NULL) {
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "input \"%s\" does not exist", path);
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

/* A file with several names, or named twice, is read once, under the first of its names. */
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

/* Other compression, UTF-16 and programs all have control bytes in their first line. */
static bool is_binary(const leat_line *line) {
    for (int64_t i = 0; i < line->size_bytes; i++) {
        unsigned char byte = (unsigned char)line->data[i];
        if (byte < 0x20 && byte != '\t' && byte != '\r' && byte != '\n') return true;
    }
    return false;
}

/* CSV or NDJSON, by the first line that is not blank. */
static leat_code detect_text(leat_input *input, leat_error *err) {
    leat_lines_options options = {.coding = input->coding};
    leat_lines *lines = NULL;
    char plain[LEAT_PATH_BYTES];
    snprintf(plain, sizeof plain, "%.*s", (int)stem_bytes(input->path), input->path);
    LEAT_TRY(leat_input_lines_open(&lines, input, &options, err));
    leat_line line;
    bool found = false;
    leat_code code = leat_lines_first(lines, &line, &found, err);
    /* an empty CSV lacks its header, which is reported later; an empty NDJSON is fine */
    input->format = leat_path_has_suffix_any_case(plain, ".csv") ||
                            leat_path_has_suffix_any_case(plain, ".tsv") || found
                        ? LEAT_INPUT_CSV
                        : LEAT_INPUT_NDJSON;
    if (code == LEAT_OK && found) {
        int64_t at = 0;
        while (at < line.size_bytes && (line.data[at] == ' ' || line.data[at] == '\t')) at++;
        char first = at < line.size_bytes ? line.data[at] : 0;
        if (first == '{' || first == '[') input->format = LEAT_INPUT_NDJSON;
        if (is_binary(&line)) {
            code = leat_fail(
                err, LEAT_ERR_INPUT,
                "\"%s\" is not UTF-8 text; supported inputs are Parquet, CSV, TSV "
                "and JSON (the last three also compressed by gzip, bzip2, xz, zstd or zip)",
                input->path);
        } else if ((input->coding != LEAT_CODING_NONE || input->zip) && line.size_bytes >= 4 &&
                   memcmp(line.data, "PAR1", 4) == 0) {
            code = leat_fail(err, LEAT_ERR_INPUT, "\"%s\" is a Parquet file inside %s; unpack it",
                             input->path, input->zip ? "zip" : leat_coding_name(input->coding));
        }
    }
    leat_lines_close(lines);
    return code;
}

/* Whether a file that is named like Parquet is CSV or JSON all the same. */
static leat_code is_table_of_text(const leat_input *input, bool *is, leat_error *err) {
    leat_lines_options options = {.coding = input->coding};
    leat_lines *lines = NULL;
    leat_line line;
    bool found = false;
    *is = false;
    LEAT_TRY(leat_lines_open(&lines, input->path, &options, err));
    leat_code code = leat_lines_first(lines, &line, &found, err);
    if (code == LEAT_OK && found && line.size_bytes > 0)
        *is = !is_binary(&line) && (line.data[0] == '{' || line.data[0] == '[' ||
                                    memchr(line.data, ',', (size_t)line.size_bytes) != NULL ||
                                    memchr(line.data, '\t', (size_t)line.size_bytes) != NULL);
    leat_lines_close(lines);
    return code;
}

/* Files of other kinds, which people give by mistake. */
static leat_code refuse_other_kind(const leat_input *input, const uint8_t *magic, int64_t size,
                                   leat_error *err) {
    static const struct {
        const char *magic, *suffix, *words;
    } kinds[] = {
        {"ORC", "", "an ORC file; write it as Parquet"},
        {"PK\3\4", ".xlsx", "a spreadsheet; save it as CSV"},
        {"PK\3\4", ".ods", "a spreadsheet; save it as CSV"},
        {"\x89PNG", "", "an image; `leat ingest images` reads those"},
        {"\xff\xd8\xff", "", "an image; `leat ingest images` reads those"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const int64_t bytes = (int64_t)strlen(kinds[i].magic);
        if (size >= bytes && memcmp(magic, kinds[i].magic, (size_t)bytes) == 0 &&
            leat_path_has_suffix_any_case(input->path, kinds[i].suffix))
            return leat_fail(err, LEAT_ERR_INPUT, "\"%s\" is %s", input->path, kinds[i].words);
    }
    return LEAT_OK;
}

static leat_code detect_probes(leat_input *input, const uint8_t *magic, int64_t size,
                               leat_error *err) {
    LEAT_TRY(refuse_other_kind(input, magic, size, err));
    if (size >= 4 && memcmp(magic, "PAR1", 4) == 0) {
        input->format = LEAT_INPUT_PARQUET;
        return LEAT_OK;
    }
    if (size >= 4 && memcmp(magic, "PARE", 4) == 0) {
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "\"%s\" is an encrypted Parquet file; write it again without encryption",
                         input->path);
    }
    const bool empty = input->facts.size_bytes == 0;
    if (leat_path_has_suffix_any_case(input->path, ".parquet") && !empty) {
        bool text = false;
        LEAT_TRY(is_table_of_text(input, &text, err));
        if (!text)
            return leat_fail(err, LEAT_ERR_CORRUPT,
                             "\"%s\" is not a Parquet file: it does not begin with PAR1",
                             input->path);
    }
    if (empty && stem_bytes(input->path) < (int64_t)strlen(input->path)) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "\"%s\" is empty, which no compressed file is; get it again, or remove it",
                         input->path);
    }
    input->zip = size >= 4 && memcmp(magic, "PK\3\4", 4) == 0;
    return detect_text(input, err);
}

/* The log format is detected when lines are read; separated by commas or not, it is text. */
static leat_code detect_can(leat_input *input, const uint8_t *magic, int64_t size,
                            leat_error *err) {
    input->format = LEAT_INPUT_CSV;
    /* compressed in another way, it is refused where logs are recognised */
    if (input->coding != LEAT_CODING_GZIP) input->coding = LEAT_CODING_NONE;
    if (size < 4 || memcmp(magic, "PAR1", 4) != 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\" is a Parquet file; vehicle logs are read as text: convert it to CSV",
                     input->path);
}

/* An OpenXC trace, which is named as any JSON is: one of its first lines is a raw CAN message. */
static leat_code look_for_trace(const char *path, bool *is, leat_error *err) {
    enum { LOOK_BYTES = 64 << 10 };
    leat_json_names names = {0};
    leat_json_fields fields;
    leat_file *file = NULL;
    char *text = NULL;
    int64_t size = 0;
    *is = false;
    if (!leat_path_has_suffix_any_case(path, ".json")) return LEAT_OK;
    const int timestamp = leat_json_names_add(&names, "timestamp");
    const int id = leat_json_names_add(&names, "id"), data = leat_json_names_add(&names, "data");
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_READ, err));
    leat_code code = LEAT_NEW(&text, LOOK_BYTES, err);
    if (code == LEAT_OK) code = leat_file_read(file, text, LOOK_BYTES, &size, err);
    leat_file_close(file);
    for (const char *at = text, *end = text + size; code == LEAT_OK && at < end && !*is;) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed != NULL ? feed : end;
        *is = leat_json_scan(at, stop - at, &names, &fields) &&
              leat_json_field(&fields, timestamp)->kind != LEAT_JSON_MISSING &&
              leat_json_field(&fields, id)->kind == LEAT_JSON_INTEGER &&
              leat_json_field(&fields, data)->kind == LEAT_JSON_STRING;
        at = stop + 1;
    }
    leat_free(text);
    return code;
}

#define PACKED(suffix)                                                                             \
    suffix, suffix ".gz", suffix ".bz2", suffix ".xz", suffix ".zst", suffix ".zip"
static const char *const probe_suffixes[] = {".parquet",
                                             PACKED(".csv"),
                                             PACKED(".tsv"),
                                             PACKED(".ndjson"),
                                             PACKED(".jsonl"),
                                             PACKED(".json"),
                                             NULL};
static const char *const can_suffixes[] = {".csv", ".csv.gz", ".log", ".log.gz", ".txt", ".txt.gz",
                                           ".asc", ".asc.gz", ".trc", ".trc.gz", NULL};
const leat_input_kind leat_probe_inputs = {
    probe_suffixes,
    "*.parquet, *.csv, *.tsv, *.ndjson, *.jsonl, *.json (the last "
    "five also with .gz, .bz2, .xz, .zst or .zip)",
    detect_probes,
    true,
    NULL,
    NULL};
const leat_input_kind leat_can_inputs = {
    can_suffixes,   "*.csv, *.log, *.txt, *.asc, *.trc (or .gz), or OpenXC *.json",
    detect_can,     false,
    look_for_trace, LEAT_CAN_METADATA_FILE};

static leat_code detect_format(leat_input *input, const leat_input_kind *kind, leat_error *err) {
    uint8_t magic[LEAT_CODING_MAGIC_BYTES] = {0};
    leat_file *file = NULL;
    LEAT_TRY(leat_file_open(&file, input->path, LEAT_FILE_READ, err));
    int64_t size = input->facts.size_bytes;
    if (size > LEAT_CODING_MAGIC_BYTES) size = LEAT_CODING_MAGIC_BYTES;
    leat_code code = leat_file_pread(file, magic, size, 0, err);
    leat_file_close(file);
    if (code != LEAT_OK) return code;
    input->coding = leat_coding_of(magic, size);
    if (input->facts.size_bytes == size && leat_coding_is_cut(input->path, magic, size))
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "\"%s\" is truncated: it has only the first %lld bytes of a compressed "
                         "file; get it again, or remove it",
                         input->path, (long long)size);
    return kind->detect(input, magic, size, err);
}

leat_code leat_inputs_find(const char *const *paths, int64_t path_count,
                           const leat_input_kind *kind, leat_input_list *inputs, leat_error *err) {
    *inputs = (leat_input_list){0};
    search to = {kind, inputs};
    leat_code code = LEAT_OK;
    if (path_count < 1) code = leat_fail(err, LEAT_ERR_OPTION, "no inputs given");
    for (int64_t i = 0; i < path_count && code == LEAT_OK; i++) {
        code = expand(&to, paths[i], err);
    }
    if (code == LEAT_OK) drop_doubles(inputs);
    for (int64_t i = 0; i < inputs->count && code == LEAT_OK; i++) {
        code = detect_format(&inputs->items[i], kind, err);
    }
    if (code != LEAT_OK) leat_input_list_free(inputs);
    return code;
}

/* ---- whether they are unchanged ---- */

/* The inode does not count: some user-space file systems renumber files from time to time. A file
 * that replaced another has its own ctime. */
static bool is_unchanged(const leat_path_facts *then, const leat_path_facts *now) {
    if (now->kind != then->kind || now->size_bytes != then->size_bytes ||
        now->mtime_ns != then->mtime_ns)
        return false;
    bool explained = now->device == then->device && now->inode == then->inode &&
                     (now->mode != then->mode || now->links != then->links ||
                      now->user != then->user || now->group != then->group);
    return now->ctime_ns == then->ctime_ns || explained;
}

static leat_code report_change(const char *path, const leat_path_facts *then,
                               const leat_path_facts *now, leat_error *err) {
    static const char todo[] = "run again once nothing writes to it, or on a copy";
    if (now->kind != LEAT_PATH_FILE) {
        return leat_fail(err, LEAT_ERR_INPUT,
                         "input \"%s\" of %lld bytes was removed while it was read; %s", path,
                         (long long)then->size_bytes, todo);
    }
    const char *how = " (same modification time, later change time)";
    if (now->mtime_ns != then->mtime_ns) how = " (different modification time)";
    if (now->device != then->device || now->inode != then->inode) how = " (different file)";
    return leat_fail(
        err, LEAT_ERR_INPUT,
        "input \"%s\" changed while it was read: it had %lld bytes and now has %lld%s; %s", path,
        (long long)then->size_bytes, (long long)now->size_bytes, how, todo);
}

leat_code leat_input_unchanged(const char *path, const leat_path_facts *then, leat_error *err) {
    leat_path_facts now;
    LEAT_TRY(leat_path_stat(path, &now, err));
    if (now.kind == LEAT_PATH_FILE) {
        /* a network file system's client may answer from its cache until a file is opened */
        leat_file *file = NULL;
        if (leat_file_open(&file, path, LEAT_FILE_READ, NULL) != LEAT_OK) {
            /* the file is not read any further */
        }
        leat_file_close(file);
        LEAT_TRY(leat_path_stat(path, &now, err));
    }
    return is_unchanged(then, &now) ? LEAT_OK : report_change(path, then, &now, err);
}

leat_code leat_inputs_unchanged(const leat_input_list *inputs, leat_error *err) {
    for (int64_t i = 0; i < inputs->count; i++) {
        LEAT_TRY(leat_input_unchanged(inputs->items[i].path, &inputs->items[i].facts, err));
    }
    return LEAT_OK;
}

leat_code leat_inputs_blame(const leat_input_list *inputs, leat_code code, leat_error *err) {
    leat_error change = {0};
    bool by_change = code == LEAT_ERR_INPUT || code == LEAT_ERR_CORRUPT || code == LEAT_ERR_IO ||
                     code == LEAT_ERR_NOT_FOUND;
    if (!by_change || leat_inputs_unchanged(inputs, &change) != LEAT_ERR_INPUT) return code;
    return leat_error_copy(err, &change);
}

void leat_input_list_free(leat_input_list *inputs) {
    for (int64_t i = 0; i < inputs->count; i++) leat_free(inputs->items[i].path);
    leat_free(inputs->items);
    leat_path_list_free(&inputs->beside);
    *inputs = (leat_input_list){0};
}
