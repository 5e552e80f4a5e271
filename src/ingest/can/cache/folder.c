/* Caches by their contents: see folder.h. */
#include "ingest/can/cache/folder.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "format/dataset/manifest.h"
#include "ingest/can/cache/identity.h"

/* Digits of the digest in the names of folders. */
enum { DIGEST_LETTERS = 16 };
/* Of a work folder, before the digest. */
#define WORK_PREFIX LEAT_CAN_WORK_PREFIX

/* Everything that a run keeps in its work folder; the contents of temp/ may be elsewhere. */
static const char *const work_names[] = {
    LEAT_CAN_STATE_NAME,
    LEAT_CAN_COUNTS_NAME,
    "out/",
    LEAT_CAN_CACHE_NAMES("out/"),
    "temp/",
    "temp/can_spill_*",
    "temp/scratch",
    "temp/rejected.*",
    NULL,
};
/* What --replace removes of a cache. */
static const char *const cache_names[] = {LEAT_CAN_CACHE_NAMES(""), NULL};

/* ---- names ---------------------------------------------------------------------------------- */

/* "set_01-0123456789abcdef": from the data set, or from the folder or file given. */
static void name_of(const leat_can_splits *splits, const leat_can_ingest_options *options,
                    char name[LEAT_CAN_NAME_BYTES]) {
    const char *from = options->dataset;
    char first[LEAT_CAN_NAME_BYTES] = "can";
    if (from == NULL && splits->inputs.count == 1) {
        snprintf(first, sizeof first, "%.60s", splits->files[0].name);
        first[strcspn(first, ".")] = 0;
    }
    if (from == NULL) from = first[0] != 0 ? first : "can";
    int size = snprintf(name, LEAT_CAN_NAME_BYTES, "%.60s", from);
    for (int i = 0; i < size && name[i] != 0; i++) {
        if (!isalnum((unsigned char)name[i]) && strchr("-_", name[i]) == NULL) name[i] = '_';
    }
}

static leat_code join(char out[LEAT_PATH_BYTES], const char *parent, leat_error *err,
                      const char *format, ...) LEAT_PRINTF(4, 5);
static leat_code join(char out[LEAT_PATH_BYTES], const char *parent, leat_error *err,
                      const char *format, ...) {
    char name[LEAT_CAN_NAME_BYTES + 64];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    return leat_path_join(out, LEAT_PATH_BYTES, parent, name, err);
}

/* Of the digest; the cache also has a name. */
static leat_code set_paths(leat_can_folder *folder, const char *parent, leat_error *err) {
    int letters = DIGEST_LETTERS;
    LEAT_TRY(join(folder->work, parent, err, WORK_PREFIX "%.*s", letters, folder->digest));
    LEAT_TRY(leat_path_join(folder->out, sizeof folder->out, folder->work, "out", err));
    return join(folder->lock_path, parent, err, WORK_PREFIX "%.*s.lock", letters, folder->digest);
}

static leat_code is_complete(const char *cache, bool *complete, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    LEAT_TRY(leat_path_join(path, sizeof path, cache, LEAT_CAN_COMPLETE_NAME, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    *complete = facts.kind == LEAT_PATH_FILE;
    return LEAT_OK;
}

/* Whether a name that is not hidden ends like a cache's name; *digest: its end. */
static bool is_cache_name(const char *name, const char **digest) {
    const char *dash = strrchr(name, '-');
    *digest = dash != NULL ? dash + 1 : "";
    return name[0] != '.' && strlen(*digest) == DIGEST_LETTERS;
}

/* ---- finding -------------------------------------------------------------------------------- */

/* Whether this is the cache of the inputs. One that a development version made of them is not. */
static leat_code is_known(leat_can_folder *folder, const char *digest, leat_can_splits *splits,
                          const leat_can_settings *settings, leat_error *err) {
    int64_t reader = 0;
    if (!leat_can_identity_matches(folder->cache, splits, settings, &reader)) return LEAT_OK;
    if (reader != LEAT_CAN_READER) {
        folder->older_reader = reader;
        memcpy(folder->older, folder->cache, sizeof folder->older);
        return LEAT_OK;
    }
    LEAT_TRY(leat_can_identity_digest(splits, settings, folder->digest, err));
    folder->found = memcmp(folder->digest, digest, DIGEST_LETTERS) == 0;
    return LEAT_OK;
}

/* Searches the parent for a complete cache of these inputs by its inputs.json. */
static leat_code find_known(leat_can_folder *folder, const char *parent, leat_can_splits *splits,
                            const leat_can_settings *settings, leat_error *err) {
    leat_path_list names = {0};
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(parent, &facts, err));
    if (facts.kind != LEAT_PATH_DIR) return LEAT_OK;
    leat_code code = leat_path_list_dir(parent, &names, err);
    for (int64_t i = 0; i < names.count && code == LEAT_OK && !folder->found; i++) {
        const char *digest = NULL;
        if (!is_cache_name(names.paths[i], &digest)) continue;
        code = leat_path_join(folder->cache, sizeof folder->cache, parent, names.paths[i], err);
        bool complete = false;
        if (code != LEAT_OK || is_complete(folder->cache, &complete, NULL) != LEAT_OK || !complete)
            continue;
        code = is_known(folder, digest, splits, settings, err);
    }
    leat_path_list_free(&names);
    return code;
}

/* A cache with the digest, whatever its name: the same logs may have been given differently, as a
 * folder or as --dataset. */
static leat_code find_complete(leat_can_folder *folder, const char *parent, leat_error *err) {
    leat_path_list names = {0};
    LEAT_TRY(is_complete(folder->cache, &folder->found, err));
    if (folder->found) return LEAT_OK;
    LEAT_TRY(leat_path_list_dir(parent, &names, err));
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < names.count && code == LEAT_OK && !folder->found; i++) {
        char path[LEAT_PATH_BYTES];
        const char *digest = NULL;
        if (!is_cache_name(names.paths[i], &digest) ||
            memcmp(folder->digest, digest, DIGEST_LETTERS) != 0)
            continue;
        code = leat_path_join(path, sizeof path, parent, names.paths[i], err);
        if (code == LEAT_OK) code = is_complete(path, &folder->found, err);
        if (folder->found) memcpy(folder->cache, path, sizeof path);
    }
    leat_path_list_free(&names);
    return code;
}

static leat_code fail_busy(const leat_can_folder *folder, leat_error *err) {
    return leat_fail(err, LEAT_ERR_BUSY,
                     "another ingest of these logs is running in \"%s\"; wait until it ends, or "
                     "stop it",
                     folder->parent);
}

/* LEAT_ERR_BUSY if the work folder belongs to a running ingest of these inputs and settings. */
static leat_code check_work(const leat_can_folder *folder, const char *name,
                            leat_can_splits *splits, const leat_can_settings *settings,
                            leat_error *err) {
    char dir[LEAT_PATH_BYTES];
    int64_t reader = 0;
    leat_lock lock = {0};
    LEAT_TRY(join(dir, folder->parent, err, "%s/out", name));
    if (!leat_can_identity_matches(dir, splits, settings, &reader)) return LEAT_OK;
    LEAT_TRY(join(dir, folder->parent, err, "%s.lock", name));
    leat_code code = leat_lock_try(&lock, dir, NULL);
    leat_lock_release(&lock);
    return code == LEAT_ERR_BUSY ? fail_busy(folder, err) : LEAT_OK;
}

/* The digest of the inputs is known only after they were hashed, but whether another process is at
 * work on them can be told before, by what it has noted of them. */
static leat_code check_running(const leat_can_folder *folder, leat_can_splits *splits,
                               const leat_can_settings *settings, leat_error *err) {
    leat_path_list names = {0};
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(folder->parent, &facts, err));
    if (facts.kind != LEAT_PATH_DIR) return LEAT_OK;
    leat_code code = leat_path_list_dir(folder->parent, &names, err);
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
        const char *name = names.paths[i];
        bool work = strncmp(name, WORK_PREFIX, strlen(WORK_PREFIX)) == 0 &&
                    strlen(name) == strlen(WORK_PREFIX) + DIGEST_LETTERS;
        if (work) code = check_work(folder, name, splits, settings, err);
    }
    leat_path_list_free(&names);
    return code;
}

static void discard_parent(const leat_can_folder *folder) {
    if (folder->created && leat_path_remove_dir(folder->parent, NULL) != LEAT_OK) {
        /* it is not empty */
    }
}

/* ---- the work ------------------------------------------------------------------------------- */

/* What a killed run left next to a finished cache: it is not needed any more. */
static leat_code clear_left(const leat_can_folder *folder, leat_error *err) {
    leat_workdir work;
    leat_lock lock = {0};
    leat_path_facts facts, locked;
    LEAT_TRY(leat_path_stat(folder->work, &facts, err));
    LEAT_TRY(leat_path_stat(folder->lock_path, &locked, err));
    if (facts.kind == LEAT_PATH_NONE && locked.kind == LEAT_PATH_NONE) return LEAT_OK;
    leat_error why = {0};
    leat_code code = leat_lock_try(&lock, folder->lock_path, &why);
    if (code == LEAT_ERR_BUSY || code == LEAT_ERR_NOT_FOUND)
        return LEAT_OK; /* another process does */
    if (code == LEAT_OK) code = leat_workdir_look(&work, folder->work, work_names, &why);
    if (code == LEAT_OK) code = leat_workdir_remove(&work, NULL, &why);
    leat_lock_release(&lock);
    return code == LEAT_OK ? LEAT_OK : leat_error_copy(err, &why);
}

static void warn_left(leat_can_folder *folder, leat_code code, const leat_error *why) {
    if (code == LEAT_OK) return;
    snprintf(folder->warning, sizeof folder->warning,
             "the cache is complete, but files of its ingest could not be removed: %s (the next "
             "run removes them)",
             why->message);
}

/* The cache exists. */
static void settle_found(leat_can_folder *folder) {
    leat_error why = {0};
    warn_left(folder, clear_left(folder, &why), &why);
}

/* The inputs have the same contents, but another path or time than the cache records: next time
 * they need not be hashed. Nothing is lost if this cannot be written, or if another process does
 * it. */
static void remember(leat_can_folder *folder, const leat_can_splits *splits,
                     const leat_can_settings *settings) {
    leat_lock lock = {0};
    if (leat_lock_try(&lock, folder->lock_path, NULL) != LEAT_OK) return;
    leat_code code = leat_can_identity_check(folder->cache);
    bool saved = leat_can_identity_save(folder->cache, splits, settings, NULL) == LEAT_OK;
    if (saved && code != LEAT_OK && folder->warning[0] == 0)
        snprintf(folder->warning, sizeof folder->warning,
                 LEAT_CAN_INPUTS_NAME " of the cache was %s; it has been written again",
                 code == LEAT_ERR_NOT_FOUND ? "missing" : "damaged");
    leat_lock_release(&lock);
}

static leat_code begin(leat_can_folder *folder, leat_error *err) {
    LEAT_TRY(leat_workdir_remove(&folder->workdir, NULL, err));
    LEAT_TRY(leat_workdir_begin(&folder->workdir, folder->temp_dir, "", err));
    return leat_path_make_dir(folder->out, err);
}

leat_code leat_can_folder_clear(leat_can_folder *folder, const leat_can_splits *splits,
                                const leat_can_settings *settings, leat_error *err) {
    LEAT_TRY(begin(folder, err));
    return leat_can_identity_save(folder->out, splits, settings, err);
}

/* An interrupted run is resumed where it has spilled: another --temp starts over. */
static leat_code prepare(leat_can_folder *folder, const leat_can_ingest_options *options,
                         leat_error *err) {
    bool same = false;
    folder->temp_dir = options->temp_dir;
    LEAT_TRY(leat_workdir_look(&folder->workdir, folder->work, work_names, err));
    if (options->resume && folder->workdir.run != 0)
        LEAT_TRY(leat_workdir_is_temp(&folder->workdir, options->temp_dir, &same, err));
    if (!same || leat_workdir_check_temp(&folder->workdir, NULL) != LEAT_OK)
        return begin(folder, err);
    return leat_path_make_dir(folder->out, err);
}

/* ---- the place of the cache ------------------------------------------------------------------ */

static leat_code refuse_place(const leat_can_folder *folder, const char *name, leat_error *err) {
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "\"%s\" has no " LEAT_CAN_COMPLETE_NAME
                     ", so it is not a complete cache, but it is not empty (\"%s\"); move the "
                     "folder away, or use --replace to rebuild the cache in it (--replace keeps "
                     "files that do not have the name of a cache file)",
                     folder->cache, name);
}

/* Whether files may be written to the cache's folder; `replace`: also next to other files. */
static leat_code check_place(leat_can_folder *folder, bool replace, leat_error *err) {
    leat_path_facts facts;
    leat_path_list names = {0};
    bool link = false;
    LEAT_TRY(leat_path_is_link(folder->cache, &link, err));
    LEAT_TRY(leat_path_stat(folder->cache, &facts, err));
    if (facts.kind == LEAT_PATH_NONE && !link) return LEAT_OK;
    if (link || facts.kind != LEAT_PATH_DIR)
        return leat_fail(err, LEAT_ERR_EXISTS,
                         "\"%s\" is %s, but the cache must be there; move it away", folder->cache,
                         link ? "a link" : "not a folder");
    LEAT_TRY(leat_path_list_dir(folder->cache, &names, err));
    leat_code code = LEAT_OK;
    folder->in_place = names.count > 0;
    int64_t other = 0; /* prefer to name something that does not belong to a cache */
    while (other < names.count && leat_workdir_lists(cache_names, names.paths[other])) other++;
    if (names.count > 0 && !replace)
        code = refuse_place(folder, names.paths[other < names.count ? other : 0], err);
    leat_path_list_free(&names);
    return code;
}

/* ---- opening -------------------------------------------------------------------------------- */

typedef struct lookout {
    leat_can_folder *folder;
    const char *parent, *name;
    bool replace;
} lookout;

/* For leat_lock_take: the parent exists, and maybe the cache, under its own name or another; with
 * --replace that is where it is rebuilt. */
static leat_code look_out(void *context, bool *found, leat_error *err) {
    lookout *self = context;
    leat_can_folder *folder = self->folder;
    LEAT_TRY(leat_path_make_dir(self->parent, err));
    LEAT_TRY(join(folder->cache, self->parent, err, "%s-%.*s", self->name, (int)DIGEST_LETTERS,
                  folder->digest));
    LEAT_TRY(find_complete(folder, self->parent, err));
    *found = folder->found && !self->replace;
    folder->found = *found;
    return LEAT_OK;
}

/* A cache in its folder would hide a data set of probe rows or images. */
static leat_code check_parent(leat_can_folder *folder, leat_error *err) {
    const char *parent = folder->parent;
    leat_path_facts facts;
    leat_output found;
    LEAT_TRY(leat_path_stat(parent, &facts, err));
    folder->created = facts.kind == LEAT_PATH_NONE;
    LEAT_TRY(leat_output_look(parent, &found, err));
    if (found.kind == LEAT_OUTPUT_NONE || found.kind == LEAT_OUTPUT_CAN) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_EXISTS,
                     "\"%s\" holds %s of `%s`, which a cache in it would hide; use another folder "
                     "for caches",
                     parent, found.complete ? "a data set" : "an unfinished data set",
                     leat_output_command(found.kind));
}

leat_code leat_can_folder_open(leat_can_folder *folder, const char *parent, leat_can_splits *splits,
                               const leat_can_ingest_options *options, leat_ticker *ticker,
                               leat_error *err) {
    *folder = (leat_can_folder){.parent = parent};
    char name[LEAT_CAN_NAME_BYTES];
    bool found = false;
    name_of(splits, options, name);
    LEAT_TRY(check_parent(folder, err));
    if (!options->verify && !options->replace) {
        LEAT_TRY(find_known(folder, parent, splits, &options->settings, err));
        if (folder->found) {
            LEAT_TRY(set_paths(folder, parent, err));
            settle_found(folder);
            return LEAT_OK;
        }
    }
    if (options->temp_dir != NULL) LEAT_TRY(leat_workdir_check_temp_dir(options->temp_dir, err));
    LEAT_TRY(check_running(folder, splits, &options->settings, err));
    LEAT_TRY(leat_inputs_hash(&splits->inputs, options->threads, ticker, err));
    folder->hashed = true;
    lookout self = {folder, parent, name, options->replace};
    LEAT_TRY(leat_can_identity_digest(splits, &options->settings, folder->digest, err));
    LEAT_TRY(set_paths(folder, parent, err));
    leat_code code = leat_lock_take(&folder->lock, folder->lock_path,
                                    (leat_lock_look){look_out, &self}, &found, err);
    if (code != LEAT_OK) {
        discard_parent(folder);
        return code == LEAT_ERR_BUSY ? fail_busy(folder, err) : code;
    }
    if (found) {
        settle_found(folder);
        remember(folder, splits, &options->settings);
        return LEAT_OK;
    }
    code = check_place(folder, options->replace, err);
    if (code == LEAT_OK) code = prepare(folder, options, err);
    if (code == LEAT_OK)
        code = leat_can_identity_save(folder->out, splits, &options->settings, err);
    if (code != LEAT_OK) leat_can_folder_close(folder, options->resume);
    return code;
}

/* ---- an existing cache ---------------------------------------------------------------------- */

/* Counts the lines of a file, up to `most`. */
static leat_code count_lines(const char *path, int64_t most, int64_t *lines, leat_error *err) {
    enum { READ_BYTES = 64 << 10 };
    leat_file *file = NULL;
    char *bytes = NULL;
    int64_t got = 1;
    *lines = 0;
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_READ, err));
    leat_code code = LEAT_NEW(&bytes, READ_BYTES, err);
    while (code == LEAT_OK && got > 0 && *lines < most) {
        code = leat_file_read(file, bytes, READ_BYTES, &got, err);
        for (int64_t i = 0; code == LEAT_OK && i < got; i++) *lines += bytes[i] == '\n';
    }
    leat_free(bytes);
    leat_file_close(file);
    return code;
}

/* No hash covers rejected.csv, but the metadata has the number of its lines. */
static leat_code check_rejected(const leat_can_folder *folder, const leat_can_meta *meta,
                                bool verify, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    int64_t rejected = 0, lines = 0;
    for (int64_t i = 0; i < meta->capture_count; i++) rejected += meta->captures[i].rejected;
    if (rejected == 0) return LEAT_OK;
    LEAT_TRY(leat_path_join(path, sizeof path, folder->cache, LEAT_REJECTED_NAME, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_FILE)
        return leat_fail(err, LEAT_ERR_CORRUPT, "\"%s\" is missing; " LEAT_CAN_REBUILD, path);
    if (verify) LEAT_TRY(count_lines(path, rejected + 1, &lines, err));
    if (!verify || lines > rejected) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "\"%s\" has %lld lines, but the metadata says %lld; " LEAT_CAN_REBUILD, path,
                     (long long)lines, (long long)rejected + 1);
}

leat_code leat_can_folder_check(const leat_can_folder *folder, const leat_can_meta *meta,
                                const leat_can_ingest_options *options, leat_ticker *ticker,
                                leat_error *err) {
    LEAT_TRY(
        leat_can_files_check(meta, folder->cache, options->verify, options->threads, ticker, err));
    return check_rejected(folder, meta, options->verify, err);
}

/* ---- the end -------------------------------------------------------------------------------- */

/* Files of the previous cache that the new one does not have. */
static leat_code remove_stale(const leat_can_folder *folder, const leat_path_list *made,
                              leat_error *err) {
    leat_path_list names = {0};
    LEAT_TRY(leat_path_list_dir(folder->cache, &names, err));
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
        char path[LEAT_PATH_BYTES];
        bool is_new = false;
        for (int64_t k = 0; k < made->count && !is_new; k++)
            is_new = strcmp(names.paths[i], made->paths[k]) == 0;
        if (is_new || !leat_workdir_lists(cache_names, names.paths[i])) continue;
        code = leat_path_join(path, sizeof path, folder->cache, names.paths[i], err);
        if (code == LEAT_OK) code = leat_path_remove(path, err);
    }
    leat_path_list_free(&names);
    return code;
}

/* Into a folder that is not empty. The name of a cache is a digest of its contents, so a reader
 * finds the same bytes before and after each file is replaced, unless it was damaged. */
static leat_code publish_in_place(const leat_can_folder *folder, leat_error *err) {
    leat_path_list made = {0};
    LEAT_TRY(leat_path_list_dir(folder->out, &made, err));
    leat_code code = leat_path_move_files(folder->out, folder->cache, LEAT_CAN_COMPLETE_NAME, err);
    if (code == LEAT_OK) code = remove_stale(folder, &made, err);
    leat_path_list_free(&made);
    return code;
}

leat_code leat_can_folder_publish(leat_can_folder *folder, leat_error *err) {
    leat_error why = {0};
    LEAT_TRY(leat_path_sync_dir(folder->out, err));
    if (folder->in_place) LEAT_TRY(publish_in_place(folder, err));
    else LEAT_TRY(leat_path_move_dir(folder->out, folder->cache, err));
    warn_left(folder, leat_workdir_remove(&folder->workdir, NULL, &why), &why);
    return LEAT_OK;
}

void leat_can_folder_close(leat_can_folder *folder, bool resumable) {
    if (folder->lock.file == NULL) return;
    if (!resumable && leat_workdir_remove(&folder->workdir, NULL, NULL) != LEAT_OK) {
        /* the next run finds its mark and removes it */
    }
    leat_lock_release(&folder->lock);
    discard_parent(folder);
}
