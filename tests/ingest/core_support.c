/* See core_support.h. */
#include "core_support.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/address.h"
#include "base/hash.h"
#include "memory_folder.h"

static char folder[512];
enum { PATHS_MAX = 4096 };
static char *paths[PATHS_MAX];
static int path_count;

void core_in_memory(int64_t room_bytes) { setenv("TMPDIR", memory_folder(room_bytes), 1); }

const char *core_dir(void) {
    if (folder[0] == 0) {
        const char *base = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/leat-core-XXXXXX", base != NULL ? base : "/tmp");
        assert_non_null(mkdtemp(folder));
    }
    return folder;
}

void core_dir_remove(void) {
    if (folder[0] == 0) return;
    assert_ok(leat_path_remove_tree(folder, err));
    folder[0] = 0;
    while (path_count > 0) free(paths[--path_count]);
}

const char *core_path(const char *name) {
    char text[1024];
    snprintf(text, sizeof text, "%s/%s", core_dir(), name);
    for (int i = 0; i < path_count; i++) {
        if (strcmp(paths[i], text) == 0) return paths[i];
    }
    assert_true(path_count < PATHS_MAX);
    paths[path_count] = strdup(text);
    return paths[path_count++];
}

const char *core_made(const char *path) {
    struct stat found;
    if (path != NULL && stat(path, &found) != 0) assert_int_equal(mkdir(path, 0777), 0);
    return path;
}

core_image core_load(const char *path) {
    core_image image = {0};
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail_msg("cannot open %s", path);
    fseek(file, 0, SEEK_END);
    image.size_bytes = ftell(file);
    rewind(file);
    image.data = malloc((size_t)image.size_bytes + 1);
    assert_int_equal(fread(image.data, 1, (size_t)image.size_bytes, file), image.size_bytes);
    image.data[image.size_bytes] = 0;
    fclose(file);
    return image;
}

void core_save(const char *path, const void *data, int64_t size_bytes) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) fail_msg("cannot make %s", path);
    assert_int_equal(fwrite(data, 1, (size_t)size_bytes, file), size_bytes);
    assert_int_equal(fclose(file), 0);
}

int64_t core_below(core_rng *rng, int64_t bound) {
    return (int64_t)leat_random_below(leat_random(rng->seed, 77, rng->position++), (uint64_t)bound);
}

/* ---- measurements ---- */

int core_version(const char *address) { return strchr(address, ':') != NULL ? 6 : 4; }

/* The first 15 hexadecimal digits of the MD5, read as a number: as the specification has it. */
int64_t core_src_id(const char *address) {
    uint8_t digest[16];
    char digits[16];
    leat_md5(address, (int64_t)strlen(address), digest);
    for (int i = 0; i < 15; i++)
        digits[i] = "0123456789abcdef"[digest[i / 2] >> (4 - i % 2 * 4) & 15];
    digits[15] = 0;
    return (int64_t)strtoll(digits, NULL, 16);
}

int core_row_compare(const void *a, const void *b) {
    const core_row *x = a, *y = b;
    if (x->src_id != y->src_id) return x->src_id < y->src_id ? -1 : 1;
    int order = strcmp(x->src, y->src);
    if (order != 0) return order;
    if (x->time_us != y->time_us) return x->time_us < y->time_us ? -1 : 1;
    order = strcmp(x->dst, y->dst);
    if (order == 0) order = strcmp(x->own, y->own);
    if (order != 0) return order;
    return (x->rtt > y->rtt) - (x->rtt < y->rtt);
}

void core_address(uint64_t number, int version, char text[46]) {
    uint64_t bits = leat_random(5, 5, number / 2);
    unsigned last = (unsigned)(number % 2); /* neighbours: 1.2.3.4 and 1.2.3.40 */
    unsigned a = bits & 255, b = bits >> 8 & 255, c = bits >> 16 & 255, d = bits >> 24 & 31;
    if (version == 4) {
        snprintf(text, 46, "%u.%u.%u.%u", a, b, c, last ? (d % 25 + 1) * 10 : d % 25 + 1);
    } else if (number % 5 == 0) {
        snprintf(text, 46, "2001:0db8:%04x:%04x:%04x:%04x:%04x:%04x", a, b, c, d, last, 0xffffu);
    } else {
        snprintf(text, 46, "2001:db8:%x:%x::%x", a << 8 | b, c << 5 | d, last + 1);
    }
}

core_row *core_rows(const core_shape *shape) {
    core_row *rows = calloc((size_t)shape->rows + 1, sizeof *rows);
    core_rng rng = {.seed = shape->seed};
    for (int64_t i = 0; i < shape->rows; i++) {
        core_row *row = &rows[i];
        bool heavy = core_below(&rng, 100) < shape->heavy;
        int64_t source = heavy ? 0 : core_below(&rng, shape->sources);
        int version = source % 3 == 1 ? 6 : 4;
        if (shape->own > 0) {
            int64_t which = core_below(&rng, shape->own);
            version = (source + which) % 3 == 1 ? 6 : 4;
            snprintf(row->src, sizeof row->src, "probe %lld", (long long)source);
            core_address((uint64_t)(source * 8 + which), version, row->own);
        } else {
            core_address((uint64_t)source, version, row->src);
        }
        core_address(1000000 + (uint64_t)core_below(&rng, shape->targets), version, row->dst);
        row->src_id = core_src_id(row->src);
        int64_t time = i * shape->times / shape->rows;
        if (shape->order == CORE_DESCENDING) time = shape->times - 1 - time;
        if (shape->order == CORE_RANDOM) time = core_below(&rng, shape->times);
        row->time_us = 1556000000000000 + time * 1000003;
        row->rtt = core_below(&rng, 10) == 0 ? -1 : (float)core_below(&rng, 8) * 0.5f;
    }
    return rows;
}

/* ---- spills ---- */

uint32_t core_define(leat_spill *spill, int bucket, int64_t src_id, const char *text) {
    uint32_t number = 0;
    assert_ok(leat_spill_define(spill, bucket, src_id, (leat_text){text, (int32_t)strlen(text)},
                                &number, err));
    return number;
}

void core_measure(leat_spill *spill, int bucket, uint32_t source, const core_row *row) {
    uint8_t *at = NULL;
    int32_t size = (int32_t)strlen(row->dst), own = (int32_t)strlen(row->own);
    int32_t more = own > 0 ? LEAT_SPILL_MORE_BYTES + 1 + own : 0;
    assert_ok(leat_spill_room(spill, bucket, LEAT_SPILL_MEASUREMENT_BYTES + size + more, &at, err));
    memcpy(at, &row->time_us, 8);
    memcpy(at + 8, &source, 4);
    memcpy(at + LEAT_SPILL_RTT_AT, &row->rtt, 4);
    at[LEAT_SPILL_FACTS_AT] = (uint8_t)(size | (core_version(row->dst) == 6 ? LEAT_SPILL_V6 : 0));
    memcpy(at + LEAT_SPILL_TEXT_AT, row->dst, (size_t)size);
    if (more > 0) {
        const uint32_t word = LEAT_SPILL_OWN_SOURCE;
        at[LEAT_SPILL_FACTS_AT] |= LEAT_SPILL_MORE;
        at += LEAT_SPILL_TEXT_AT + size;
        memcpy(at, &word, sizeof word);
        at[sizeof word] = (uint8_t)own;
        memcpy(at + sizeof word + 1, row->own, (size_t)own);
    }
    leat_spill_count(spill, bucket);
}

/* Definitions of one spill since they were last forgotten. */
typedef struct known {
    char (*texts)[46];
    uint32_t *numbers;
    int64_t count, capacity;
} known;

static uint32_t number_of(known *self, leat_spill *spill, const core_row *row) {
    for (int64_t i = 0; i < self->count; i++) {
        if (strcmp(self->texts[i], row->src) == 0) return self->numbers[i];
    }
    if (self->count == self->capacity) {
        self->capacity = self->capacity * 2 + 16;
        self->texts = realloc(self->texts, (size_t)self->capacity * sizeof *self->texts);
        self->numbers = realloc(self->numbers, (size_t)self->capacity * sizeof *self->numbers);
    }
    memcpy(self->texts[self->count], row->src, 46);
    self->numbers[self->count] = core_define(spill, 0, row->src_id, row->src);
    return self->numbers[self->count++];
}

void core_pool_create(leat_spill_pool *pool, core_place place) {
    int64_t bytes = place == CORE_SEGMENTS ? LEAT_SPILL_SLAB_BYTES_MIN : INT64_C(64) << 20;
    assert_ok(leat_spill_pool_create(pool, bytes, NULL, err));
}

void core_finish(leat_spill *spill, const leat_spill_pool *pool, core_place place) {
    leat_spill_finish(spill);
    if (place != CORE_MEMORY) assert_ok(leat_spill_write(spill, pool->encoder, err));
}

core_spills core_spread(const core_row *rows, int64_t row_count, int count, core_place place,
                        int64_t again) {
    static int spills_made;
    core_spills self = {.count = count};
    self.spills = calloc((size_t)count, sizeof *self.spills);
    self.each = calloc((size_t)count, sizeof *self.each);
    self.pools = calloc((size_t)count, sizeof *self.pools);
    known *tables = calloc((size_t)count, sizeof *tables);
    for (int k = 0; k < count; k++) {
        char name[32];
        snprintf(name, sizeof name, "spread_%d", spills_made++);
        core_pool_create(&self.pools[k], place);
        assert_ok(leat_spill_create(&self.spills[k], core_path(name), 7, 1, &self.pools[k], err));
        self.each[k] = &self.spills[k];
    }
    for (int64_t i = 0; i < row_count; i++) {
        int k = (int)(i * 7 % count);
        if (again > 0 && i % again == 0) {
            for (int t = 0; t < count; t++) {
                tables[t].count = 0;
                leat_spill_forget(&self.spills[t]);
            }
        }
        core_measure(&self.spills[k], 0, number_of(&tables[k], &self.spills[k], &rows[i]),
                     &rows[i]);
    }
    for (int k = 0; k < count; k++) {
        core_finish(&self.spills[k], &self.pools[k], place);
        free(tables[k].texts);
        free(tables[k].numbers);
    }
    free(tables);
    return self;
}

void core_spills_close(core_spills *self) {
    for (int k = 0; k < self->count; k++) {
        leat_spill_close(&self->spills[k]);
        leat_spill_pool_destroy(&self->pools[k]);
    }
    free(self->spills);
    free(self->pools);
    free(self->each);
    *self = (core_spills){0};
}

int core_teardown(void **state) {
    (void)state;
    core_dir_remove();
    return 0;
}
