/* Caches by their content: see can_folder.h. */
#include "ingest/can_folder.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/thread.h"
#include "ingest/temp.h"

/* Letters of the digest in the names of folders. */
enum { DIGEST_LETTERS = 16 };
#define INPUTS_BYTES_MAX (INT64_C(256) << 20)
enum { LOCK_TRIES = 100, WAIT_MS = 100, HASH_BYTES = 65536 };

/* ---- what a cache is made of ---------------------------------------------------------------- */

/* Everything but the inputs, a line each. */
static leat_code settings_text(const leat_can_settings *settings, leat_buf *text, leat_error *err) {
    LEAT_TRY(leat_buf_printf(text, err, "leat %s can cache %d\n", leat_version(),
                             LEAT_CAN_CACHE_VERSION));
    const char *name = NULL;
    for (int i = 0; (name = leat_can_setting_name(i)) != NULL; i++) {
        char value[LEAT_CAN_SETTING_BYTES];
        LEAT_TRY(leat_can_setting_get(settings, name, value, err));
        LEAT_TRY(leat_buf_printf(text, err, "%s %s\n", name, value));
    }
    return leat_buf_append(text, "", 1, err); /* ends as a text */
}

/* Files by split, folder and name, since those decide types of attack and vehicles, and content. */
static leat_code digest_of(const leat_can_splits *splits, const leat_can_settings *settings,
                           char digest[65], leat_error *err) {
    leat_buf text = {0};
    leat_sha256 sha;
    leat_code code = settings_text(settings, &text, err);
    if (code == LEAT_OK) leat_can_digest_begin(&sha, (const char *)text.data);
    for (int64_t i = 0; i < splits->inputs.count && code == LEAT_OK; i++) {
        const leat_can_source *file = &splits->files[i];
        char content[65];
        leat_sha256_hex(file->sha256, content);
        leat_can_digest_file(&sha, splits->name[file->split], file->folder, file->name, content);
    }
    if (code == LEAT_OK) leat_can_digest_end(&sha, digest);
    leat_buf_free(&text);
    return code;
}

typedef struct hashing {
    leat_can_splits *splits;
    leat_ticker *ticker;
    atomic_llong next;
    atomic_bool stop;
} hashing;

static leat_code hash_open(leat_file *file, leat_ticker *ticker, uint8_t digest[32],
                           leat_error *err) {
    uint8_t piece[HASH_BYTES];
    int64_t size = 0;
    leat_sha256 sha;
    leat_sha256_init(&sha);
    LEAT_TRY(leat_file_size(file, &size, err));
    for (int64_t at = 0; at < size; at += HASH_BYTES) {
        int64_t count = size - at < HASH_BYTES ? size - at : HASH_BYTES;
        LEAT_TRY(leat_file_pread(file, piece, count, at, err));
        leat_sha256_update(&sha, piece, count);
        if (!leat_ticker_add(ticker, count)) return leat_ticker_check(ticker, err);
    }
    leat_sha256_final(&sha, digest);
    return LEAT_OK;
}

static leat_code hash_file(const hashing *job, int64_t i, leat_error *err) {
    leat_file *file = NULL;
    LEAT_TRY(leat_file_open(&file, job->splits->inputs.items[i].path, LEAT_FILE_READ, err));
    leat_code code = hash_open(file, job->ticker, job->splits->files[i].sha256, err);
    leat_file_close(file);
    return code;
}

static leat_code hash_files(void *context, int index, leat_error *err) {
    (void)index;
    hashing *job = context;
    leat_code code = LEAT_OK;
    while (code == LEAT_OK && !atomic_load(&job->stop)) {
        int64_t i = atomic_fetch_add(&job->next, 1);
        if (i >= job->splits->inputs.count) break;
        code = hash_file(job, i, err);
    }
    if (code != LEAT_OK) atomic_store(&job->stop, true);
    return code;
}

leat_code leat_can_inputs_unchanged(const leat_can_splits *splits, leat_error *err) {
    for (int64_t i = 0; i < splits->inputs.count; i++) {
        const leat_input *input = &splits->inputs.items[i];
        leat_path_facts now;
        LEAT_TRY(leat_path_stat(input->path, &now, err));
        if (now.kind == input->facts.kind && now.size_bytes == input->facts.size_bytes &&
            now.mtime_ns == input->facts.mtime_ns && now.device == input->facts.device &&
            now.inode == input->facts.inode)
            continue;
        return leat_fail(
            err, LEAT_ERR_INPUT,
            "log \"%s\" changed while it was read: it had %lld bytes and has %lld; run "
            "again when nothing writes to it, or on a copy",
            input->path, (long long)input->facts.size_bytes, (long long)now.size_bytes);
    }
    return LEAT_OK;
}

/* The hash is then of the file that inputs.json tells of. */
static leat_code hash_inputs(leat_can_splits *splits, int threads, leat_ticker *ticker,
                             leat_error *err) {
    hashing job = {.splits = splits, .ticker = ticker};
    int64_t bytes = 0;
    for (int64_t i = 0; i < splits->inputs.count; i++)
        bytes += splits->inputs.items[i].facts.size_bytes;
    leat_ticker_stage(ticker, "hashing inputs", "bytes", bytes);
    LEAT_TRY(leat_threads_run(threads, hash_files, &job, err));
    return leat_can_inputs_unchanged(splits, err);
}

/* ---- inputs.json ---------------------------------------------------------------------------- */

static void write_inputs(leat_json *json, const leat_can_splits *splits, const char *settings) {
    leat_json_begin_object(json);
    leat_json_member_string(json, "settings", settings);
    leat_json_key(json, "files");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < splits->inputs.count; i++) {
        const leat_input *input = &splits->inputs.items[i];
        char content[65];
        leat_sha256_hex(splits->files[i].sha256, content);
        leat_json_begin_object(json);
        leat_json_member_string(json, "split", splits->name[splits->files[i].split]);
        leat_json_member_string(json, "path", input->path);
        leat_json_member_int(json, "size_bytes", input->facts.size_bytes);
        leat_json_member_int(json, "mtime_ns", input->facts.mtime_ns);
        leat_json_member_string(json, "sha256", content);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
    leat_json_end_object(json);
}

static leat_code save_inputs(const char *dir, const leat_can_splits *splits,
                             const leat_can_settings *settings, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_buf text = {0};
    leat_json *json = NULL;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, LEAT_CAN_INPUTS_NAME, err));
    leat_code code = settings_text(settings, &text, err);
    if (code == LEAT_OK) code = leat_json_create(&json, false, err);
    if (code == LEAT_OK) {
        write_inputs(json, splits, (const char *)text.data);
        code = leat_json_save(json, path, err);
    }
    leat_buf_free(&text);
    return code;
}

/* Whether this is the file that was read, as far as its path, size and age tell. */
static bool is_same_file(const json_t *item, const leat_can_splits *splits, int64_t i,
                         uint8_t sha256[32]) {
    static const char what[] = LEAT_CAN_INPUTS_NAME;
    const char *split = NULL, *path = NULL, *content = NULL;
    int64_t size = 0, mtime = 0;
    const leat_input *input = &splits->inputs.items[i];
    if (leat_json_get_string(item, "split", &split, what, NULL) != LEAT_OK) return false;
    if (leat_json_get_string(item, "path", &path, what, NULL) != LEAT_OK) return false;
    if (leat_json_get_string(item, "sha256", &content, what, NULL) != LEAT_OK) return false;
    if (leat_json_get_int(item, "size_bytes", 0, INT64_MAX, &size, what, NULL) != LEAT_OK ||
        leat_json_get_int(item, "mtime_ns", INT64_MIN, INT64_MAX, &mtime, what, NULL) != LEAT_OK)
        return false;
    return strcmp(split, splits->name[splits->files[i].split]) == 0 &&
           strcmp(path, input->path) == 0 && size == input->facts.size_bytes &&
           mtime == input->facts.mtime_ns && leat_sha256_parse(content, sha256);
}

/* Whether the cache in `dir` is of these inputs and settings; then their hashes are filled in. */
static bool is_same_cache(const char *dir, leat_can_splits *splits, const char *settings) {
    char path[LEAT_PATH_BYTES];
    uint8_t *text = NULL;
    int64_t size = 0;
    json_t *root = NULL;
    const char *said = NULL;
    const json_t *files = NULL;
    leat_path_facts facts;
    if (leat_path_join(path, sizeof path, dir, LEAT_CAN_COMPLETE_NAME, NULL) != LEAT_OK ||
        leat_path_stat(path, &facts, NULL) != LEAT_OK || facts.kind != LEAT_PATH_FILE)
        return false;
    if (leat_path_join(path, sizeof path, dir, LEAT_CAN_INPUTS_NAME, NULL) != LEAT_OK ||
        leat_file_load(path, INPUTS_BYTES_MAX, &text, &size, NULL) != LEAT_OK)
        return false;
    bool same = leat_json_parse((const char *)text, size, path, &root, NULL) == LEAT_OK &&
                leat_json_get_string(root, "settings", &said, path, NULL) == LEAT_OK &&
                leat_json_get_array(root, "files", &files, path, NULL) == LEAT_OK &&
                strcmp(said, settings) == 0 &&
                json_array_size(files) == (size_t)splits->inputs.count;
    for (int64_t i = 0; same && i < splits->inputs.count; i++) {
        same = is_same_file(json_array_get(files, (size_t)i), splits, i, splits->files[i].sha256);
    }
    json_decref(root);
    leat_free(text);
    return same;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* "set_01-0123456789abcdef": of the data set, or of the folder or file that was named. */
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

static leat_code set_paths(leat_can_folder *folder, const char *parent, const char *name,
                           leat_error *err) {
    int letters = DIGEST_LETTERS;
    LEAT_TRY(join(folder->cache, parent, err, "%s-%.*s", name, letters, folder->digest));
    LEAT_TRY(join(folder->work, parent, err, ".leat-%.*s", letters, folder->digest));
    return join(folder->lock_path, parent, err, ".leat-%.*s.lock", letters, folder->digest);
}

static leat_code is_complete(const char *cache, bool *complete, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    LEAT_TRY(leat_path_join(path, sizeof path, cache, LEAT_CAN_COMPLETE_NAME, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    *complete = facts.kind == LEAT_PATH_FILE;
    return LEAT_OK;
}

/* Whether a name, not hidden, ends as those of caches do; *digest: its end. */
static bool is_cache_name(const char *name, const char **digest) {
    const char *dash = strrchr(name, '-');
    *digest = dash != NULL ? dash + 1 : "";
    return name[0] != '.' && strlen(*digest) == DIGEST_LETTERS;
}

/* ---- finding -------------------------------------------------------------------------------- */

/* Looks through the parent for a cache of these inputs, by what its inputs.json says. */
static leat_code find_known(leat_can_folder *folder, const char *parent, leat_can_splits *splits,
                            const leat_can_settings *settings, leat_error *err) {
    leat_path_list names = {0};
    leat_buf text = {0};
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(parent, &facts, err));
    if (facts.kind != LEAT_PATH_DIR) return LEAT_OK;
    leat_code code = leat_path_list_dir(parent, &names, err);
    if (code == LEAT_OK) code = settings_text(settings, &text, err);
    for (int64_t i = 0; i < names.count && code == LEAT_OK && !folder->found; i++) {
        const char *digest = NULL;
        if (!is_cache_name(names.paths[i], &digest)) continue;
        code = leat_path_join(folder->cache, sizeof folder->cache, parent, names.paths[i], err);
        if (code != LEAT_OK || !is_same_cache(folder->cache, splits, (const char *)text.data))
            continue;
        code = digest_of(splits, settings, folder->digest, err);
        folder->found = memcmp(folder->digest, digest, DIGEST_LETTERS) == 0;
    }
    leat_buf_free(&text);
    leat_path_list_free(&names);
    return code;
}

/* A cache of the digest, whatever it is named: the same logs may have been named otherwise, as a
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

static leat_code try_lock(leat_can_folder *folder, leat_error *err) {
    leat_code code = leat_file_open(&folder->lock, folder->lock_path, LEAT_FILE_NEW, err);
    bool made = code == LEAT_OK;
    if (code == LEAT_ERR_EXISTS)
        code = leat_file_open(&folder->lock, folder->lock_path, LEAT_FILE_UPDATE, err);
    if (code == LEAT_OK) code = leat_file_lock(folder->lock, err);
    if (code == LEAT_OK) return LEAT_OK;
    if (made && code != LEAT_ERR_BUSY && code != LEAT_ERR_NOT_FOUND)
        leat_path_discard(folder->lock_path);
    leat_file_close(folder->lock);
    folder->lock = NULL;
    return code;
}

static void unlock(leat_can_folder *folder) {
    leat_path_discard(folder->lock_path);
    leat_file_close(folder->lock);
    folder->lock = NULL;
}

/* A run that was killed when its cache was at its place has left no more than its lock. */
static void discard_lock(leat_can_folder *folder, const char *parent) {
    leat_path_facts facts;
    if (join(folder->lock_path, parent, NULL, ".leat-%.*s.lock", (int)DIGEST_LETTERS,
             folder->digest) != LEAT_OK ||
        leat_path_stat(folder->lock_path, &facts, NULL) != LEAT_OK || facts.kind == LEAT_PATH_NONE)
        return;
    if (try_lock(folder, NULL) == LEAT_OK) unlock(folder);
}

/* The lock, or the cache if another process has finished it meanwhile. */
static leat_code lock_or_find(leat_can_folder *folder, const char *parent, leat_ticker *ticker,
                              leat_error *err) {
    bool waiting = false;
    for (int gone = 0; gone < LOCK_TRIES;) {
        LEAT_TRY(find_complete(folder, parent, err));
        if (folder->found) return LEAT_OK;
        leat_code code = try_lock(folder, err);
        if (code == LEAT_OK) { /* it may have been finished before the lock was free */
            code = find_complete(folder, parent, err);
            if (code != LEAT_OK || folder->found) unlock(folder);
            return code;
        }
        if (code == LEAT_ERR_NOT_FOUND) { /* its holder has just ended */
            gone++;
            continue;
        }
        if (code != LEAT_ERR_BUSY) return code;
        if (!waiting) leat_ticker_stage(ticker, "waiting for another process", "", -1);
        waiting = true;
        if (!leat_ticker_add(ticker, 0)) return leat_ticker_check(ticker, err);
        struct timespec pause = {.tv_nsec = WAIT_MS * 1000000L};
        nanosleep(&pause, NULL);
    }
    return leat_fail(err, LEAT_ERR_BUSY, "lock \"%s\" comes and goes", folder->lock_path);
}

/* The inputs have the same content, but another path or age than the cache knows: the next time
 * they need not be hashed. Nothing is lost if this cannot be written, or if another does it. */
static void remember(leat_can_folder *folder, const leat_can_splits *splits,
                     const leat_can_settings *settings) {
    if (try_lock(folder, NULL) != LEAT_OK) return;
    if (save_inputs(folder->cache, splits, settings, NULL) != LEAT_OK) {
        /* they are hashed again */
    }
    unlock(folder);
}

/* ---- the work ------------------------------------------------------------------------------- */

/* In the work folder: where frames are spilled to, if not in it. */
#define NOTE_NAME "temp.path"

static leat_code note_path(const leat_can_folder *folder, char path[LEAT_PATH_BYTES],
                           leat_error *err) {
    return leat_path_join(path, LEAT_PATH_BYTES, folder->work, NOTE_NAME, err);
}

/* What the note says; "": there is none, or none that a run has written whole. */
static leat_code read_note(const leat_can_folder *folder, char temp[LEAT_PATH_BYTES],
                           leat_error *err) {
    char path[LEAT_PATH_BYTES];
    uint8_t *text = NULL;
    int64_t size = 0;
    leat_path_facts facts;
    temp[0] = 0;
    LEAT_TRY(note_path(folder, path, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_FILE || facts.size_bytes >= LEAT_PATH_BYTES) return LEAT_OK;
    LEAT_TRY(leat_file_load(path, LEAT_PATH_BYTES - 1, &text, &size, err));
    memcpy(temp, text, (size_t)size);
    temp[size] = 0;
    leat_free(text);
    if ((int64_t)strlen(temp) != size || !leat_temp_is_ours(temp)) temp[0] = 0;
    return LEAT_OK;
}

static leat_code write_note(const leat_can_folder *folder, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_file *file = NULL;
    LEAT_TRY(note_path(folder, path, err));
    if (!folder->temp_elsewhere) return leat_path_remove(path, err);
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_CREATE, err));
    leat_code code = leat_file_pwrite(file, folder->temp, (int64_t)strlen(folder->temp), 0, err);
    if (code == LEAT_OK) code = leat_file_sync(file, err);
    leat_file_close(file);
    return code;
}

/* Noted before it is made: whatever kills the run, the next one knows what to remove. */
static leat_code make_temp(const leat_can_folder *folder, leat_error *err) {
    char noted[LEAT_PATH_BYTES];
    LEAT_TRY(read_note(folder, noted, err));
    if (strcmp(noted, folder->temp_elsewhere ? folder->temp : "") != 0)
        LEAT_TRY(write_note(folder, err));
    return leat_path_make_dir(folder->temp, err);
}

/* A run that spilled elsewhere and was interrupted: nobody else knows of it. */
static leat_code remove_noted(const leat_can_folder *folder, leat_error *err) {
    char noted[LEAT_PATH_BYTES];
    LEAT_TRY(read_note(folder, noted, err));
    if (noted[0] == 0 || strcmp(noted, folder->temp) == 0) return LEAT_OK;
    return leat_path_remove_tree(noted, err);
}

leat_code leat_can_folder_clear(const leat_can_folder *folder, leat_error *err) {
    leat_path_list names = {0};
    LEAT_TRY(leat_path_remove_tree(folder->temp, err));
    leat_code code = leat_path_list_dir(folder->work, &names, err);
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
        char path[LEAT_PATH_BYTES];
        code = leat_path_join(path, sizeof path, folder->work, names.paths[i], err);
        if (code == LEAT_OK) code = leat_path_remove_tree(path, err);
    }
    leat_path_list_free(&names);
    return code == LEAT_OK ? make_temp(folder, err) : code;
}

/* The work folder of a run before is emptied, not made anew: temp_dir knows it by its number. */
static leat_code prepare(leat_can_folder *folder, const leat_can_ingest_options *options,
                         leat_error *err) {
    LEAT_TRY(leat_path_make_dir(folder->work, err));
    folder->temp_elsewhere = options->temp_dir != NULL;
    if (folder->temp_elsewhere) {
        char dir[LEAT_PATH_BYTES];
        LEAT_TRY(leat_path_make_dir(options->temp_dir, err));
        LEAT_TRY(leat_path_real(options->temp_dir, dir, err));
        LEAT_TRY(leat_temp_path(folder->temp, dir, folder->work, err));
    } else {
        LEAT_TRY(leat_path_join(folder->temp, sizeof folder->temp, folder->work, "temp", err));
    }
    LEAT_TRY(remove_noted(folder, err));
    if (!options->resume) return leat_can_folder_clear(folder, err);
    return make_temp(folder, err);
}

leat_code leat_can_folder_open(leat_can_folder *folder, const char *parent, leat_can_splits *splits,
                               const leat_can_ingest_options *options, leat_ticker *ticker,
                               leat_error *err) {
    *folder = (leat_can_folder){0};
    char name[LEAT_CAN_NAME_BYTES];
    name_of(splits, options, name);
    if (!options->verify) {
        LEAT_TRY(find_known(folder, parent, splits, &options->settings, err));
        if (folder->found) {
            discard_lock(folder, parent);
            return LEAT_OK;
        }
    }
    LEAT_TRY(hash_inputs(splits, options->threads, ticker, err));
    LEAT_TRY(digest_of(splits, &options->settings, folder->digest, err));
    LEAT_TRY(set_paths(folder, parent, name, err));
    LEAT_TRY(leat_path_make_dir(parent, err));
    LEAT_TRY(lock_or_find(folder, parent, ticker, err));
    if (folder->found) {
        remember(folder, splits, &options->settings);
        return LEAT_OK;
    }
    leat_code code = prepare(folder, options, err);
    if (code != LEAT_OK) leat_can_folder_close(folder, options->resume);
    return code;
}

leat_code leat_can_folder_describe(const leat_can_folder *folder, const leat_can_splits *splits,
                                   const leat_can_settings *settings, leat_error *err) {
    return save_inputs(folder->work, splits, settings, err);
}

leat_code leat_can_folder_publish(leat_can_folder *folder, leat_error *err) {
    char note[LEAT_PATH_BYTES];
    LEAT_TRY(note_path(folder, note, err));
    /* before the rename, which takes the note of it away from whoever is killed in between */
    leat_code removed = leat_path_remove_tree(folder->temp, folder->temp_elsewhere ? NULL : err);
    if (removed != LEAT_OK && !folder->temp_elsewhere) return removed;
    LEAT_TRY(leat_path_remove(note, err));
    LEAT_TRY(leat_path_sync_dir(folder->work, err));
    LEAT_TRY(leat_path_replace(folder->work, folder->cache, err));
    if (removed != LEAT_OK) removed = leat_path_remove_tree(folder->temp, NULL);
    (void)removed; /* a finished cache is not given up for files beside it */
    return LEAT_OK;
}

/* What is left goes with the next run: without its work folder, `temp` is nobody's. */
static void discard(const leat_can_folder *folder) {
    leat_code code = folder->temp[0] == 0 ? LEAT_OK : leat_path_remove_tree(folder->temp, NULL);
    if (code == LEAT_OK) code = remove_noted(folder, NULL);
    if (code == LEAT_OK) code = leat_path_remove_tree(folder->work, NULL);
    (void)code;
}

void leat_can_folder_close(leat_can_folder *folder, bool resumable) {
    if (folder->lock == NULL) return;
    if (!resumable) discard(folder);
    unlock(folder);
}
