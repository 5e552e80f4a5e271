/* The files of a folder or zip archive: see list.h. */
#include "ingest/images/list.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "format/image/image.h"
#include "format/output.h"

#define FILES_MAX INT32_MAX
/* The folder in which macOS keeps what zip archives cannot hold. */
#define MAC_FOLDER "__MACOSX"

/* ---- names ---------------------------------------------------------------------------------- */

/* The next part of a name, ended by a NUL instead of a slash; `at` goes to the one after it, or to
 * NULL. */
static void take_part(const char **at, char part[LEAT_PATH_BYTES]) {
    const char *end = strchr(*at, '/');
    snprintf(part, LEAT_PATH_BYTES, "%.*s", (int)(end == NULL ? strlen(*at) : (size_t)(end - *at)),
             *at);
    *at = end == NULL ? NULL : end + 1;
}

static bool matches(const char *pattern, const char *name) {
    char part[LEAT_PATH_BYTES], folder[LEAT_PATH_BYTES];
    const size_t size = strlen(pattern);
    if (size > 1 && size < sizeof folder && pattern[size - 1] == '/') { /* "masks/" */
        snprintf(folder, sizeof folder, "%.*s", (int)size - 1, pattern);
        pattern = folder;
    }
    if (strchr(pattern, '/') != NULL) return fnmatch(pattern, name, 0) == 0;
    for (const char *at = name; at != NULL;) {
        take_part(&at, part);
        if (fnmatch(pattern, part, 0) == 0) return true;
    }
    return false;
}

static bool passes(const leat_image_filter *filter, const char *name) {
    if (filter == NULL) return true;
    if (filter->include != NULL && !matches(filter->include, name)) return false;
    return filter->exclude == NULL || !matches(filter->exclude, name);
}

/* Whether a part of the name begins with "." or is the Mac's, or the file is a cache of Windows.
 * "." and ".." are no names. */
static bool is_passed_over(const char *name) {
    char part[LEAT_PATH_BYTES] = "";
    for (const char *at = name; at != NULL;) {
        take_part(&at, part);
        if (strcmp(part, MAC_FOLDER) == 0 && at != NULL) return true;
        if (part[0] == '.' && strcmp(part, ".") != 0 && strcmp(part, "..") != 0) return true;
    }
    return strcasecmp(part, "Thumbs.db") == 0;
}

const char *leat_image_list_bad_name(const leat_image_list *list, int64_t i) {
    char part[LEAT_PATH_BYTES];
    const char *name = leat_image_list_name(list, i);
    const bool letter = (name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z');
    const bool drive = list->is_zip && letter && name[1] == ':' && name[2] == '/';
    if (name[0] == '/' || drive)
        return "the name is an absolute path; names are relative to the archive";
    for (const char *at = name; at != NULL;) {
        take_part(&at, part);
        if (strcmp(part, "..") == 0) return "the name has a part \"..\", which leaves the archive";
    }
    if (i > 0 && strcmp(leat_image_list_name(list, i - 1), name) == 0)
        return "another file before it has the same name";
    return NULL;
}

leat_code leat_image_list_skip(leat_image_list *list, const char *name, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    if (list->is_zip) {
        leat_inputs_skip(&list->skipped, name);
        return LEAT_OK;
    }
    LEAT_TRY(leat_path_join(path, sizeof path, list->path, name, err));
    leat_inputs_skip(&list->skipped, path);
    return LEAT_OK;
}

/* ---- adding --------------------------------------------------------------------------------- */

/* Removes parts that are empty or ".", as a file system does: "./a//b.png" is "a/b.png". A slash at
 * the beginning stays. */
static void drop_parts(char *name) {
    char *to = name;
    const char *at = name;
    if (*at == '/') to++, at++;
    const char *const first = to;
    while (*at != 0) {
        const size_t part = strcspn(at, "/");
        const bool dropped = part == 0 || (part == 1 && at[0] == '.');
        if (!dropped && to > first) *to++ = '/';
        if (!dropped) memmove(to, at, part), to += part;
        at += part + (at[part] == '/');
    }
    *to = 0;
}

/* The name as the list has it, with its NUL. */
static leat_code append_name(leat_image_list *list, const char *name, leat_error *err) {
    const int64_t at = list->names.size;
    LEAT_TRY(leat_buf_append(&list->names, name, (int64_t)strlen(name) + 1, err));
    char *const shown = (char *)list->names.data + at;
    for (char *c = shown; *c != 0; c++)
        if (*c == '\\') *c = '/';
    drop_parts(shown);
    list->names.size = at + (int64_t)strlen(shown) + 1;
    return LEAT_OK;
}

/* Members of archives alone: a file in a folder may have a name that ends in a backslash. */
static bool is_folder_name(const leat_image_list *list, const char *name) {
    const size_t size = strlen(name);
    return list->is_zip && size > 0 && (name[size - 1] == '/' || name[size - 1] == '\\');
}

static leat_code add_name(leat_image_list *list, const char *name, leat_image_file *file,
                          leat_error *err) {
    file->name_at = file->path_at = list->names.size;
    LEAT_TRY(append_name(list, name, err));
    if (list->is_zip || strchr(name, '\\') == NULL) return LEAT_OK;
    file->path_at = list->names.size;
    return leat_buf_append(&list->names, name, (int64_t)strlen(name) + 1, err);
}

/* Adds a file, unless its name says that it is not to be read. */
static leat_code add_file(leat_image_list *list, const char *name, int64_t size_bytes,
                          int64_t index, leat_error *err) {
    leat_image_file file = {.size_bytes = size_bytes, .index = index};
    const int64_t names_bytes = list->names.size;
    if (list->count == FILES_MAX)
        return leat_fail(err, LEAT_ERR_LIMIT, "\"%s\" has more than %d files", list->path,
                         FILES_MAX);
    LEAT_TRY(LEAT_GROW(&list->files, &list->capacity, list->count + 1, err));
    LEAT_TRY(add_name(list, name, &file, err));
    const char *shown = (const char *)list->names.data + file.name_at;
    if (is_folder_name(list, name)) {
        list->names.size = names_bytes;
    } else if (is_passed_over(shown)) {
        LEAT_TRY(leat_image_list_skip(list, name, err));
        list->names.size = names_bytes;
    } else if (!passes(list->filter, shown)) {
        list->names.size = names_bytes;
        list->excluded++;
    } else {
        list->files[list->count++] = file;
    }
    return LEAT_OK;
}

/* ---- folders -------------------------------------------------------------------------------- */

static leat_code add_folder(leat_image_list *list, const char *inside, int depth,
                            leat_ticker *ticker, leat_error *err);

static leat_code add_found(leat_image_list *list, const char *name, const leat_path_facts *facts,
                           leat_error *err) {
    LEAT_TRY(LEAT_GROW(&list->facts_of, &list->facts_capacity, list->facts_count + 1, err));
    list->facts_of[list->facts_count] = *facts;
    return add_file(list, name, facts->size_bytes, list->facts_count++, err);
}

/* A link to a folder that it lies in would never end. */
static leat_code enter_folder(leat_image_list *list, const char *path, const leat_path_facts *facts,
                              int depth, leat_error *err) {
    for (int i = 0; i < depth; i++)
        if (list->inside[i].device == facts->device && list->inside[i].inode == facts->inode)
            return leat_fail(
                err, LEAT_ERR_INPUT,
                "\"%s\" is a folder that contains itself, through a link; remove the link", path);
    if (depth > LEAT_IMAGE_FOLDERS_DEEP)
        return leat_fail(err, LEAT_ERR_LIMIT, "folders nested deeper than %d at \"%s\"",
                         LEAT_IMAGE_FOLDERS_DEEP, path);
    list->inside[depth].device = facts->device;
    list->inside[depth].inode = facts->inode;
    return LEAT_OK;
}

/* What a link to itself leads to cannot be looked at, and is rejected as what it is. */
static leat_code look_at(const char *path, leat_path_facts *facts, leat_error *err) {
    leat_error why = {0};
    bool link = false;
    leat_code code = leat_path_stat(path, facts, &why);
    if (code == LEAT_OK) return LEAT_OK;
    if (leat_path_is_link(path, &link, NULL) == LEAT_OK && link) return LEAT_OK;
    return leat_error_copy(err, &why);
}

static leat_code add_child(leat_image_list *list, const char *inside, const char *child, int depth,
                           leat_ticker *ticker, leat_error *err) {
    char name[LEAT_PATH_BYTES], path[LEAT_PATH_BYTES];
    leat_path_facts facts = {0};
    if (inside[0] == 0) snprintf(name, sizeof name, "%s", child);
    else LEAT_TRY(leat_path_join(name, sizeof name, inside, child, err));
    LEAT_TRY(leat_path_join(path, sizeof path, list->path, name, err));
    /* before what it is, which may not be allowed to be looked at */
    const bool hidden = child[0] == '.';
    if (!hidden) LEAT_TRY(look_at(path, &facts, err));
    if (hidden || (facts.kind == LEAT_PATH_DIR && strcmp(child, MAC_FOLDER) == 0)) {
        leat_inputs_skip(&list->skipped, path);
        return LEAT_OK;
    }
    if (facts.kind == LEAT_PATH_DIR) {
        LEAT_TRY(enter_folder(list, path, &facts, depth + 1, err));
        return add_folder(list, name, depth + 1, ticker, err);
    }
    return add_found(list, name, &facts, err);
}

/* `inside`: relative to the list's folder; "": that itself. */
static leat_code add_folder(leat_image_list *list, const char *inside, int depth,
                            leat_ticker *ticker, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_list names = {0};
    LEAT_TRY(leat_path_join(path, sizeof path, list->path, inside, err));
    LEAT_TRY(leat_path_list_dir(path, &names, err));
    bool is_output = leat_output_has_names(&names);
    leat_code code = leat_ticker_check(ticker, err);
    if (is_output && depth > 0) leat_inputs_skip(&list->skipped, path);
    if (code == LEAT_OK && is_output && depth == 0)
        code = leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\" is the output of an ingest; give the folder of the images", path);
    for (int64_t i = 0; i < names.count && code == LEAT_OK && !is_output; i++)
        code = add_child(list, inside, names.paths[i], depth, ticker, err);
    leat_path_list_free(&names);
    return code;
}

/* ---- archives ------------------------------------------------------------------------------- */

static leat_code add_members(leat_image_list *list, leat_ticker *ticker, leat_error *err) {
    leat_error why = {0};
    if (leat_zip_open(&list->zip, list->path, &why) != LEAT_OK)
        return why.code == LEAT_ERR_INPUT || why.code == LEAT_ERR_CORRUPT
                   ? leat_fail(err, why.code, "%.400s; give a folder of images or a zip archive",
                               why.message)
                   : leat_error_copy(err, &why);
    LEAT_TRY(leat_zip_check_alone(list->zip, true, err));
    for (int64_t i = 0; i < leat_zip_count(list->zip); i++) {
        leat_zip_member member;
        if (i % 1024 == 0) LEAT_TRY(leat_ticker_check(ticker, err));
        LEAT_TRY(leat_zip_get(list->zip, i, &member, err));
        if (!member.folder) LEAT_TRY(add_file(list, member.name, member.size_bytes, i, err));
    }
    return LEAT_OK;
}

/* ---- the list ------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b, void *names) {
    const leat_image_file *x = a, *y = b;
    int order = strcmp((const char *)names + x->name_at, (const char *)names + y->name_at);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static void sort_files(leat_image_list *list) {
    if (list->count < 2) return;
    qsort_r(list->files, (size_t)list->count, sizeof *list->files, compare_names, list->names.data);
}

static leat_code find_files(leat_image_list *list, leat_ticker *ticker, leat_error *err) {
    if (list->facts.kind == LEAT_PATH_NONE)
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "input \"%s\" does not exist", list->path);
    if (list->facts.kind == LEAT_PATH_OTHER)
        return leat_fail(err, LEAT_ERR_INPUT, "input \"%s\" is neither a folder nor a zip archive",
                         list->path);
    list->is_zip = list->facts.kind == LEAT_PATH_FILE;
    if (list->is_zip) {
        LEAT_TRY(add_members(list, ticker, err));
    } else {
        LEAT_TRY(enter_folder(list, list->path, &list->facts, 0, err));
        LEAT_TRY(add_folder(list, "", 0, ticker, err));
    }
    sort_files(list);
    return LEAT_OK;
}

leat_code leat_image_list_find(leat_image_list *list, const char *path,
                               const leat_image_filter *filter, leat_ticker *ticker,
                               leat_error *err) {
    *list = (leat_image_list){.filter = filter};
    LEAT_TRY(leat_path_trim(path, list->path, err));
    leat_code code = leat_path_stat(list->path, &list->facts, err);
    if (code == LEAT_OK) code = find_files(list, ticker, err);
    list->filter = NULL;
    if (code != LEAT_OK) leat_image_list_free(list);
    return code;
}

void leat_image_list_free(leat_image_list *list) {
    leat_zip_close(list->zip);
    leat_free(list->files);
    leat_free(list->facts_of);
    leat_buf_free(&list->names);
    *list = (leat_image_list){0};
}

/* Relative to the folder. */
static const char *path_of(const leat_image_list *list, int64_t i) {
    return (const char *)list->names.data + list->files[i].path_at;
}

leat_code leat_image_list_unchanged(const leat_image_list *list, leat_error *err) {
    if (list->is_zip) return leat_input_unchanged(list->path, &list->facts, err);
    for (int64_t i = 0; i < list->count; i++) {
        char path[LEAT_PATH_BYTES];
        const leat_path_facts *facts = &list->facts_of[list->files[i].index];
        if (facts->kind != LEAT_PATH_FILE) continue;
        LEAT_TRY(leat_path_join(path, sizeof path, list->path, path_of(list, i), err));
        LEAT_TRY(leat_input_unchanged(path, facts, err));
    }
    return LEAT_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

static leat_code reject(leat_image_reason *reason, leat_image_reason which, const leat_error *why,
                        leat_error *err) {
    *reason = which;
    return leat_fail(err, LEAT_ERR_INPUT, "%s", why->message);
}

/* The cause alone, without the path: what is written to rejected.csv must not depend on it. */
static leat_code reject_unreadable(leat_image_reason *reason, const leat_error *why,
                                   leat_error *err) {
    const char *cause = why->message;
    for (const char *at = cause; (at = strstr(at, ": ")) != NULL;) cause = at += 2;
    *reason = LEAT_IMAGE_UNREADABLE;
    return leat_fail(err, LEAT_ERR_INPUT, "cannot be read: %s", cause);
}

static leat_code read_member(leat_zip *zip, const leat_image_file *file, uint8_t *out,
                             int64_t size_bytes, leat_image_reason *reason, leat_error *err) {
    leat_error why = {0};
    leat_zip_member member;
    LEAT_TRY(leat_zip_get(zip, file->index, &member, err));
    if (member.unsupported == NULL &&
        member.size_bytes / LEAT_IMAGE_RATIO_MAX > member.packed_bytes) {
        *reason = LEAT_IMAGE_TOO_LARGE;
        return leat_fail(err, LEAT_ERR_INPUT,
                         "a zip member of %lld bytes in %lld; at most %d:1 is "
                         "unpacked",
                         (long long)member.size_bytes, (long long)member.packed_bytes,
                         LEAT_IMAGE_RATIO_MAX);
    }
    leat_code code = size_bytes == file->size_bytes
                         ? leat_zip_read(zip, file->index, out, size_bytes, &why)
                         : leat_zip_peek(zip, file->index, out, size_bytes, &why);
    switch (code) {
    case LEAT_OK: return LEAT_OK;
    case LEAT_ERR_CORRUPT: return reject(reason, LEAT_IMAGE_DAMAGED, &why, err);
    case LEAT_ERR_UNSUPPORTED: return reject(reason, LEAT_IMAGE_UNSUPPORTED, &why, err);
    case LEAT_ERR_IO: return reject_unreadable(reason, &why, err);
    default: return leat_error_copy(err, &why);
    }
}

static leat_code read_bytes(const char *path, int64_t file_bytes, uint8_t *out, int64_t size_bytes,
                            leat_error *err) {
    leat_file *file = NULL;
    int64_t now = 0;
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_READ, err));
    leat_code code = leat_file_size(file, &now, err);
    if (code == LEAT_OK && now != file_bytes)
        code = leat_fail(err, LEAT_ERR_CORRUPT, "\"%s\" has another size", path);
    if (code == LEAT_OK) code = leat_file_pread(file, out, size_bytes, 0, err);
    leat_file_close(file);
    return code;
}

/* A file that is not as it was found has changed, which is a failure of the run. */
static leat_code read_file(const leat_image_list *list, int64_t i, uint8_t *out, int64_t size_bytes,
                           leat_image_reason *reason, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    const leat_image_file *file = &list->files[i];
    const leat_path_facts *facts = &list->facts_of[file->index];
    leat_error why = {0};
    LEAT_TRY(leat_path_join(path, sizeof path, list->path, path_of(list, i), err));
    if (facts->kind != LEAT_PATH_FILE) {
        (void)leat_fail(&why, LEAT_ERR_INPUT, "%s",
                        facts->kind == LEAT_PATH_NONE ? "it is a link that leads nowhere"
                                                      : "it is not a regular file");
        return reject_unreadable(reason, &why, err);
    }
    leat_code code = read_bytes(path, file->size_bytes, out, size_bytes, &why);
    if (code == LEAT_OK) return LEAT_OK;
    if (code == LEAT_ERR_CORRUPT || code == LEAT_ERR_NOT_FOUND || code == LEAT_ERR_IO)
        LEAT_TRY(leat_input_unchanged(path, facts, err));
    if (code == LEAT_ERR_IO) return reject_unreadable(reason, &why, err);
    return leat_error_copy(err, &why);
}

leat_code leat_image_list_read(const leat_image_list *list, leat_zip *zip, int64_t i, uint8_t *out,
                               int64_t size_bytes, leat_image_reason *reason, leat_error *err) {
    *reason = LEAT_IMAGE_GOOD;
    if (list->is_zip) return read_member(zip, &list->files[i], out, size_bytes, reason, err);
    return read_file(list, i, out, size_bytes, reason, err);
}
