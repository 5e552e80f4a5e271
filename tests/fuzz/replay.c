/*
 * Runs a fuzz target over files, without libFuzzer: every file of the folders (or the files) named
 * on the command line is given to it once, and the empty input before all. A sanitizer build finds
 * what a plain one does not; both must come to the end.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_INPUT_BYTES = 64 << 20 };

static int run_file(const char *path, long *count) {
    FILE *in = fopen(path, "rb");
    if (!in) return fprintf(stderr, "cannot read %s\n", path), 1;
    struct stat st;
    if (fstat(fileno(in), &st) != 0 || st.st_size > MAX_INPUT_BYTES) {
        fclose(in);
        return fprintf(stderr, "%s is too large\n", path), 1;
    }
    /* a block of exactly the input's size, so that one byte too many is seen */
    size_t size = (size_t)st.st_size;
    uint8_t *bytes = malloc(size ? size : 1);
    size_t got = bytes ? fread(bytes, 1, size, in) : 0;
    fclose(in);
    if (!bytes || got != size) {
        free(bytes);
        return fprintf(stderr, "cannot read all of %s\n", path), 1;
    }
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    (*count)++;
    return 0;
}

static int run_path(const char *path, long *count) {
    DIR *dir = opendir(path);
    if (!dir) return run_file(path, count);
    int failed = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char name[4096];
        if (entry->d_name[0] == '.') continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        failed |= run_file(name, count);
    }
    closedir(dir);
    return failed;
}

int main(int argc, char **argv) {
    long count = 0;
    int failed = 0;
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) != 0) {
            fprintf(stderr, "no corpus at %s\n", argv[i]);
            failed = 1;
            continue;
        }
        failed |= run_path(argv[i], &count);
    }
    printf("%ld inputs run\n", count);
    return failed;
}
