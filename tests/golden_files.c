/*
 * See golden_files.h. Only libc and zlib, because programs with fault points use it as well.
 * tests/cli/golden_files.py is the same for tests in Python.
 */
#include "golden_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

enum { FILES = 1000, PATH_BYTES = 1024 };

typedef struct known {
    char *name, *path;
    bool is_ours; /* unpacked here */
} known;

static known files[FILES];
static int file_count;
static char folder[PATH_BYTES];
static pid_t owner;

/* Each file has a folder of its own, because it keeps its name. */
static void remove_unpacked(void) {
    if (getpid() != owner) return; /* a child that a test forked */
    for (int i = 0; i < file_count; i++) {
        if (!files[i].is_ours) continue;
        (void)!unlink(files[i].path);
        *strrchr(files[i].path, '/') = 0;
        (void)!rmdir(files[i].path);
    }
    (void)!rmdir(folder);
}

static void make_folder(void) {
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/leat-golden-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL) fail_msg("cannot create %s", folder);
    owner = getpid();
    atexit(remove_unpacked);
}

static void unpack(const char *packed, const char *to) {
    static char bytes[1 << 16];
    gzFile in = gzopen(packed, "rb");
    FILE *out = fopen(to, "wb");
    int size = 0, status = Z_ERRNO;
    if (in == NULL || out == NULL) fail_msg("cannot unpack %s to %s", packed, to);
    while ((size = gzread(in, bytes, sizeof bytes)) > 0) {
        if (fwrite(bytes, 1, (size_t)size, out) != (size_t)size) fail_msg("cannot write %s", to);
    }
    (void)gzerror(in, &status);
    if (gzclose(in) != Z_OK || size < 0 || status != Z_OK) fail_msg("%s is damaged", packed);
    if (fclose(out) != 0) fail_msg("cannot write %s", to);
}

static const char *keep(const char *name, const char *path, bool is_ours) {
    if (file_count == FILES) fail_msg("more than %d golden files", FILES);
    files[file_count] = (known){strdup(name), strdup(path), is_ours};
    return files[file_count++].path;
}

bool golden_whole(void) {
    const char *shared = getenv("LEAT_SHARED");
    return shared != NULL && *shared != 0;
}

const char *golden_path(const char *name) {
    char path[PATH_BYTES], packed[PATH_BYTES + 3], to[2 * PATH_BYTES];
    for (int i = 0; i < file_count; i++) {
        if (strcmp(files[i].name, name) == 0) return files[i].path;
    }
    snprintf(path, sizeof path, "%s/%s",
             golden_whole() ? getenv("LEAT_SHARED") : LEAT_SOURCE_DIR "/tests/golden/reference",
             name);
    if (access(path, R_OK) == 0) return keep(name, path, false);
    snprintf(packed, sizeof packed, "%s.gz", path);
    if (golden_whole() || access(packed, R_OK) != 0) fail_msg("there is no golden file %s", path);
    if (owner == 0) make_folder();
    snprintf(to, sizeof to, "%s/%d", folder, file_count);
    if (mkdir(to, 0700) != 0) fail_msg("cannot create %s", to);
    const char *file = strrchr(name, '/');
    snprintf(to, sizeof to, "%s/%d/%s", folder, file_count, file != NULL ? file + 1 : name);
    const char *kept = keep(name, to, true); /* first, so that what is left of it is removed */
    unpack(packed, kept);
    return kept;
}

const char *golden_left_out(const char *name) {
    if (!golden_whole()) {
        print_message("skipped: %s is not in the clone (tests/golden/reference/README.md); "
                      "LEAT_SHARED names a folder that has it\n",
                      name);
        skip();
    }
    return golden_path(name);
}

json_t *golden_json(const char *name) {
    const char *path = golden_path(name);
    size_t size = 0, space = 1 << 20;
    char *text = malloc(space);
    gzFile file = gzopen(path, "rb"); /* reads a file that is not packed as it is */
    if (file == NULL) fail_msg("cannot open %s", path);
    for (int more; (more = gzread(file, text + size, (unsigned)(space - size))) > 0;) {
        size += (size_t)more;
        if (size == space) text = realloc(text, space *= 2);
    }
    if (gzclose(file) != Z_OK) fail_msg("%s is damaged", path);
    json_error_t error;
    json_t *out = json_loadb(text, size, 0, &error);
    free(text);
    if (out == NULL) fail_msg("%s: line %d: %s", path, error.line, error.text);
    return out;
}
