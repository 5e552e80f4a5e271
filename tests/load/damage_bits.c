/*
 * Every bit and every truncation of a small data set, or a sample of them: whatever is read is an
 * error, or the right bytes.
 */
#include "damage_bits.h"

#include <unistd.h>

#include "format/dataset/layout.h"

static int64_t few(int64_t row) { return 2 + row % 3; }

typedef struct tiny {
    char dir[256];
    run expected;
    leat_loader_options options;
    int64_t detected, harmless; /* damages that gave an error; that touched nothing that is used */
} tiny;

/* All that can be read of the damaged data set: an error, or the right bytes. */
static void look(tiny *data, const char *what, int64_t byte) {
    leat_dataset *dataset = NULL;
    leat_loader *loader = NULL;
    const leat_batch *batch = NULL;
    leat_error err = {0};
    const char *path = data->dir;
    leat_code code = leat_dataset_open(&dataset, &path, 1, NULL, &err);
    if (code == LEAT_OK) code = leat_loader_create(&loader, dataset, &data->options, &err);
    for (;;) {
        if (code == LEAT_OK) code = leat_loader_next(loader, &batch, &err);
        if (code != LEAT_OK || batch == NULL) break;
        run_expect(&data->expected, batch); /* whatever is handed out is right */
        leat_batch_release(batch);
    }
    if (code == LEAT_OK) data->harmless++;
    else data->detected++;
    if (code != LEAT_OK && err.message[0] == 0) fail_msg("%s, byte %d", what, (int)byte);
    leat_loader_destroy(loader);
    leat_dataset_close(dataset);
}

typedef struct content {
    char path[400];
    uint8_t *bytes;
    int64_t size;
} content;

static content content_of(const char *dir, const char *name) {
    content file = {.bytes = NULL};
    leat_error err = {0};
    snprintf(file.path, sizeof file.path, "%s/%s", dir, name);
    must(leat_file_load(file.path, 1 << 20, &file.bytes, &file.size, &err), &err);
    return file;
}

/* Whether the page of a byte has anything in it: most of a small shard is zeros up to where a block
 * of 64 KiB ends, of which a few places stand for all. */
static bool is_used(const content *file, int64_t byte) {
    int64_t begin = byte / LEAT_PAGE_BYTES * LEAT_PAGE_BYTES;
    for (int64_t i = begin; i < begin + LEAT_PAGE_BYTES && i < file->size; i++) {
        if (file->bytes[i] != 0) return true;
    }
    return byte == begin;
}

/* One run over the epoch, every measurement of every row: nothing of the records is left out. */
static void make_tiny(tiny *data, const char *name, leat_compression compression) {
    make_options made = make_options_default();
    made.record.compression = compression;
    made.shards[0] = 1;
    made.shards[1] = 0;
    made.rows_per_shard = 3;
    made.count_of = few;
    *data = (tiny){.options = loader_options()};
    loader_make(name, &made, data->dir);
    data->options.sample.sampler = LEAT_SAMPLER_ALL;
    data->options.split = LEAT_SPLIT_NONE;
    data->options.batch = 6;
    data->options.epochs = 1;
    data->options.threads = 1;
    leat_dataset *dataset = loader_open(data->dir);
    leat_loader *loader = loader_create(dataset, &data->options);
    int64_t steps = leat_loader_step_count(loader);
    leat_loader_destroy(loader);
    data->expected = run_make(dataset, &data->options, 0, steps);
    leat_dataset_close(dataset);
}

static void every_flip(tiny *data, const char *name, int64_t stride) {
    content file = content_of(data->dir, name);
    data->detected = data->harmless = 0;
    for (int64_t bit = 0; bit < file.size * 8; bit += stride) {
        if (!is_used(&file, bit / 8)) continue;
        loader_flip(data->dir, name, bit / 8, (int)(bit % 8));
        look(data, name, bit / 8);
        loader_flip(data->dir, name, bit / 8, (int)(bit % 8));
    }
    /* harmless is only what nothing is read from: a mapped shard's footer, padding */
    assert_true(data->detected > 0);
    leat_free(file.bytes);
}

static void every_truncation(tiny *data, const char *name, int64_t stride) {
    content file = content_of(data->dir, name);
    data->harmless = 0;
    for (int64_t size = file.size - 1; size >= 0; size -= stride) {
        if (!is_used(&file, size)) continue;
        assert_int_equal(truncate(file.path, size), 0);
        look(data, name, size);
    }
    /* a manifest without the newline at its end says the same */
    assert_int_equal(data->harmless, strcmp(name, LEAT_MANIFEST_NAME) == 0 ? 1 : 0);
    FILE *back = fopen(file.path, "wb");
    assert_non_null(back);
    assert_int_equal(fwrite(file.bytes, 1, (size_t)file.size, back), file.size);
    assert_int_equal(fclose(back), 0);
    leat_free(file.bytes);
}

void damage_bits(leat_compression compression, const char *folder, int64_t stride) {
    static const char *const files[] = {"train/train_shard_00000.arrayrecord", LEAT_INDEX_NAME,
                                        LEAT_MANIFEST_NAME};
    tiny data;
    make_tiny(&data, folder, compression);
    for (int f = 0; f < 3; f++) {
        every_flip(&data, files[f], stride);
        every_truncation(&data, files[f], stride);
    }
    run_free(&data.expected);
}
