/* See can_logs.h. */
#include "can_logs.h"

#include "base/hash.h"
#include "core_support.h"
#include "ingest_support.h"

/* A frame a millisecond, some of them labelled; `back`: the second half stands first. */
static void write_log(const char *path, int frames, double begin, int attack_from, int attack_to,
                      bool back, bool clean) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "timestamp,arbitration_id,data_field,attack\n");
    for (int i = 0; i < frames; i++) {
        int at = back ? (i + frames / 2) % frames : i;
        fprintf(file, "%.6f,%03X,%04X,%d\n", begin + at * 1e-3, 0x100 + at * at % 13,
                at * 40503 % 65536, at >= attack_from && at < attack_to);
        if (!clean && i % 400 == 50) fprintf(file, "%.6f,%03X,%04X,none\n", begin, 0x100, i);
    }
    assert_int_equal(fclose(file), 0);
}

void can_logs_write(const char *dir, bool clean) {
    static const char *const folders[] = {"train_a", "test_x"};
    char path[LEAT_PATH_BYTES];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, folders[i]);
        assert_ok(leat_path_make_dir(path, err));
    }
    snprintf(path, sizeof path, "%s/train_a/drive.csv", dir);
    write_log(path, 600, 1000, 0, 0, true, clean);
    snprintf(path, sizeof path, "%s/train_a/dos.csv", dir);
    write_log(path, 300, 1000.2, 100, 140, false, clean);
    snprintf(path, sizeof path, "%s/test_x/fuzzing.csv", dir);
    write_log(path, 130, 2000, 20, 60, false, clean);
}

leat_can_ingest_options can_logs_options(void) {
    leat_can_ingest_options options = leat_can_ingest_options_default();
    options.settings.window = options.settings.stride = 10;
    options.threads = 1;
    options.memory_bytes = ingest_memory(200);
    return options;
}

leat_code can_logs_ingest(const char *dir, const char *parent,
                          const leat_can_ingest_options *options, leat_can_ingest_result *result,
                          leat_error *err) {
    return leat_can_ingest(&dir, 1, parent, options, result, err);
}

bool can_logs_stop(void *user, const leat_progress *progress) {
    return strcmp(progress->stage, user) != 0;
}

static void add_file(leat_sha256 *sha, const char *dir, const char *name) {
    char path[LEAT_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    core_image image = core_load(path);
    leat_sha256_update(sha, name, (int64_t)strlen(name) + 1);
    leat_sha256_update(sha, &image.size_bytes, 8);
    leat_sha256_update(sha, image.data, image.size_bytes);
    free(image.data);
}

static can_digest digest_of(const char *cache) {
    can_digest digest;
    leat_sha256 sha;
    uint8_t bytes[32];
    leat_path_list names = {0};
    leat_sha256_init(&sha);
    assert_ok(leat_path_list_dir(cache, &names, err));
    for (int64_t i = 0; i < names.count; i++) add_file(&sha, cache, names.paths[i]);
    leat_path_list_free(&names);
    leat_sha256_final(&sha, bytes);
    leat_sha256_hex(bytes, digest.text);
    return digest;
}

/* The one folder of `parent` whose name begins with a full stop, or does not; "": none. */
static void find_folder(const char *parent, bool hidden, char path[LEAT_PATH_BYTES]) {
    leat_path_list names = {0};
    path[0] = 0;
    if (!path_exists(parent)) return;
    assert_ok(leat_path_list_dir(parent, &names, err));
    for (int64_t i = 0; i < names.count; i++) {
        const char *name = names.paths[i];
        if ((name[0] == '.') != hidden || strstr(name, ".lock") != NULL) continue;
        if (path[0] != 0) fail_msg("\"%s\" beside \"%s\"", name, path);
        snprintf(path, LEAT_PATH_BYTES, "%s/%s", parent, name);
    }
    leat_path_list_free(&names);
}

can_digest can_cache_digest(const char *parent) {
    char cache[LEAT_PATH_BYTES];
    find_folder(parent, false, cache);
    return cache[0] != 0 ? digest_of(cache) : (can_digest){""};
}

const char *can_work(const char *parent) {
    static char path[LEAT_PATH_BYTES];
    find_folder(parent, true, path);
    return path[0] != 0 ? path : NULL;
}
