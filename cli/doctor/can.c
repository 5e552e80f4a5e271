/* leat doctor of a CAN cache: checks that every split opens. */
#include <stdio.h>

#include "doctor/doctor.h"
#include "leat/load_can.h"

/* Every split opens if its file exists with the right size. */
static leat_code open_splits(const leat_can_cache *cache, int count, int64_t *graphs,
                             int64_t *largest, leat_error *err) {
    for (int i = 0; i < count; i++) {
        leat_can_split split;
        leat_can_reader *reader = NULL;
        leat_code code = leat_can_cache_get_split(cache, i, &split, err);
        if (code == LEAT_OK)
            code = leat_can_reader_create(&reader, cache, split.name, LEAT_SCALE_NONE, err);
        if (code != LEAT_OK) return code;
        *graphs += split.graph_count;
        if (split.file_bytes > *largest) *largest = split.file_bytes;
        leat_can_reader_destroy(reader);
    }
    return LEAT_OK;
}

void leat_doctor_can(leat_doctor *doc, const char *path) {
    char what[640], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    leat_can_cache *cache = NULL;
    leat_can_facts facts = {0};
    leat_error err = {0};
    int64_t graphs = 0, largest = 0; /* largest: bytes of a split */
    leat_code code = leat_can_cache_open(&cache, path, &err);
    if (code == LEAT_OK) {
        leat_can_cache_get_facts(cache, &facts);
        code = open_splits(cache, facts.split_count, &graphs, &largest, &err);
    }
    if (code != LEAT_OK) {
        leat_doctor_tell(doc, LEAT_DOCTOR_PROBLEM, err.message, "");
    } else {
        snprintf(what, sizeof what,
                 "CAN cache \"%.300s\" opens: %s in %s, window %lld, stride %lld", facts.path,
                 leat_things(a, graphs, "graph"), leat_things(b, facts.split_count, "split"),
                 (long long)facts.window, (long long)facts.stride);
        leat_doctor_tell(doc, LEAT_DOCTOR_OK, what, "");
        (void)leat_doctor_tell_memory(doc, "its largest split", largest);
        leat_doctor_tell(doc, LEAT_DOCTOR_NOTE, "only the presence of files was checked",
                         "run leat inspect --verify to read everything");
    }
    leat_can_cache_close(cache);
}
