/*
 * The file of scores that a curriculum ranks graphs by, beside a small cache. The first byte
 * chooses: 0 a file as it is, 1 one that begins with the cache's fingerprint, so that its lists are
 * reached. What is taken has a number or nothing for each graph, and says the same when it is
 * written down and read again.
 */
#include "load/make_graphs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "load/can/cache.h"
#include "load/can/loader.h"
#include "memory_folder.h"

enum { GRAPHS = 12 };

static char folder[512], path[600], fingerprint[80];
static leat_can_cache *cache;
static const leat_graph_file *file;

static void remove_folder(void) { (void)!leat_path_remove_tree(folder, NULL); }

static void open_cache(void) {
    char dir[600];
    make_cache of_cache = make_cache_default();
    leat_can_facts facts;
    snprintf(folder, sizeof folder, "%s/leat-fuzz-XXXXXX", memory_folder(INT64_C(16) << 20));
    if (mkdtemp(folder) == NULL || atexit(remove_folder) != 0) abort();
    snprintf(path, sizeof path, "%s/scores.json", folder);
    snprintf(dir, sizeof dir, "%s/cache", folder);
    of_cache.graphs[0] = GRAPHS;
    if (make_can_cache(dir, &of_cache, NULL) != LEAT_OK) abort();
    if (leat_can_cache_open(&cache, dir, NULL) != LEAT_OK) abort();
    if (leat_can_cache_file(cache, "train", &file, NULL) != LEAT_OK) abort();
    leat_can_cache_get_facts(cache, &facts);
    snprintf(fingerprint, sizeof fingerprint, "%s", facts.fingerprint);
}

static leat_code load(const char *text, size_t size, double **scores, leat_error *err) {
    char sha256[65];
    FILE *out = fopen(path, "wb");
    if (out == NULL || fwrite(text, 1, size, out) != size || fclose(out) != 0) abort();
    return leat_graph_scores_load(scores, sha256, path, cache, file, err);
}

/* The graphs that have a score, last ones first. */
static int write_down(const double *scores, char *text, int room) {
    int size = snprintf(text, (size_t)room, "{\"fingerprint\":\"%s\",\"model\":\"\"", fingerprint);
    static const char *const names[] = {"score", "capture", "window_start"};
    for (int list = 0; list < 3; list++) {
        const char *comma = "";
        size += snprintf(text + size, (size_t)(room - size), ",\"%s\":[", names[list]);
        for (int64_t g = GRAPHS - 1; g >= 0; g--) {
            leat_can_graph_facts facts;
            if (isnan(scores[g])) continue;
            if (leat_graph_file_facts_of(file, g, &facts, NULL) != LEAT_OK) abort();
            const double value[] = {scores[g], facts.capture, (double)facts.window_start};
            size += snprintf(text + size, (size_t)(room - size), "%s%.17g", comma, value[list]);
            comma = ",";
        }
        size += snprintf(text + size, (size_t)(room - size), "]");
    }
    return size + snprintf(text + size, (size_t)(room - size), "}");
}

static void check(const double *scores) {
    char text[4096];
    double *again = NULL;
    for (int g = 0; g < GRAPHS; g++) {
        if (isinf(scores[g])) abort();
    }
    int size = write_down(scores, text, (int)sizeof text);
    if (load(text, (size_t)size, &again, NULL) != LEAT_OK) abort();
    for (int g = 0; g < GRAPHS; g++) {
        bool none = isnan(scores[g]);
        if (none ? !isnan(again[g]) : again[g] != scores[g]) abort();
    }
    leat_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    double *scores = NULL;
    leat_error err = {0};
    if (folder[0] == 0) open_cache();
    if (size < 1) return 0;
    char *text = malloc(size + 128);
    if (text == NULL) abort();
    int head = 0;
    if ((data[0] & 1) != 0) head = snprintf(text, 128, "{\"fingerprint\":\"%s\",", fingerprint);
    memcpy(text + head, data + 1, size - 1);
    leat_code code = load(text, (size_t)head + size - 1, &scores, &err);
    if (code == LEAT_OK) {
        check(scores);
    } else if (scores != NULL || (code != LEAT_ERR_INPUT && code != LEAT_ERR_LIMIT) ||
               err.message[0] == 0) {
        abort();
    }
    leat_free(scores);
    free(text);
    return 0;
}
