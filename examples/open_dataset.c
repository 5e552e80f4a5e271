/*
 * Opens a data set and counts the measurements of each split.
 *
 * Build it after make install, and run it:
 *
 *   cc open_dataset.c $(pkg-config --cflags --libs leat) \
 *      -Wl,-rpath,"$(pkg-config --variable=libdir leat)" -o open_dataset
 *   ./open_dataset probes
 *
 * After make install PREFIX=$HOME/.local, this line comes first:
 *
 *   export PKG_CONFIG_PATH=$HOME/.local/lib/pkgconfig
 *
 * PATH is a folder written by leat ingest probes, or a third-party ArrayRecord file of probe rows.
 */
#include <inttypes.h>
#include <leat/leat.h>
#include <stdio.h>

static const char *const split_names[LEAT_SPLITS + 1] = {"train", "test", "neither"};

/* Every call that can fail returns a code and fills `err`, which says what to do. */
static leat_code count(const char *path, int64_t measurements[LEAT_SPLITS + 1],
                       int64_t rows[LEAT_SPLITS + 1], leat_error *err) {
    leat_dataset *dataset = NULL;
    leat_code code = leat_dataset_open(&dataset, &path, 1, NULL, err);
    if (code != LEAT_OK) return code;

    leat_dataset_facts facts;
    leat_dataset_get_facts(dataset, &facts);
    /* A shard belongs to one split and holds rows first_row .. first_row + row_count - 1; a row
     * holds measurements of one probe. In a data set written by leat these facts come from the
     * index: no measurement is read. */
    for (int64_t shard = 0; code == LEAT_OK && shard < facts.shard_count; shard++) {
        leat_dataset_shard at;
        code = leat_dataset_get_shard(dataset, shard, &at, err);
        for (int64_t i = 0; code == LEAT_OK && i < at.row_count; i++) {
            leat_row_facts row;
            code = leat_dataset_row(dataset, at.first_row + i, &row, err);
            if (code != LEAT_OK) break;
            measurements[at.split] += row.n_measurements;
            rows[at.split]++;
        }
    }
    leat_dataset_close(dataset);
    return code;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: open_dataset PATH\n");
        return 2;
    }
    int64_t measurements[LEAT_SPLITS + 1] = {0}, rows[LEAT_SPLITS + 1] = {0};
    leat_error err;
    if (count(argv[1], measurements, rows, &err) != LEAT_OK) {
        fprintf(stderr, "open_dataset: %s\n", err.message);
        return 1;
    }
    for (int split = 0; split <= LEAT_SPLITS; split++) {
        if (rows[split] == 0) continue;
        printf("%s: %" PRId64 " measurements in %" PRId64 " rows\n", split_names[split],
               measurements[split], rows[split]);
    }
    return 0;
}
