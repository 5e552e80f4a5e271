/* See ingest_support.h. */
#include "ingest_support.h"

#include <signal.h>
#include <unistd.h>

#include "base/hash.h"
#include "format/dataset/index.h"
#include "format/dataset/layout.h"
#include "format/dataset/manifest.h"
#include "format/probe/row.h"

/* ---- inputs ---- */

/* The same measurement in one of several spellings. */
static void put_row(FILE *file, const core_row *row, int64_t i) {
    char time[LEAT_TIME_TEXT_BYTES], rtt[32];
    static const char *const failed[] = {"-1", "", "nan", "-0.25"};
    leat_time_format(row->time_us, time);
    if (i % 3 == 0) time[10] = ' ';
    snprintf(rtt, sizeof rtt, "%.9g", row->rtt);
    if (row->rtt < 0) snprintf(rtt, sizeof rtt, "%s", failed[i % 4]);
    if (row->rtt == 0 && i % 2 == 0) snprintf(rtt, sizeof rtt, "-0.0");
    const char *quote = i % 5 == 0 ? "\"" : "";
    fprintf(file, "%s,%s%s%s,%s,%s,%s%s", time, quote, row->src, quote, row->dst,
            i % 7 == 0                    ? ""
            : core_version(row->src) == 6 ? "6"
                                          : "4",
            rtt, i % 11 == 0 ? "\r\n" : "\n");
}

static void put_bad_row(FILE *file, int64_t i) {
    static const char *const rows[] = {
        "2020-01-01T00:00:00Z,1.2.3.400,5.6.7.8,4,1.5",
        "2020-01-01T00:00:00Z,,5.6.7.8,4,1.5",
        "2020-01-01T00:00:00Z,1.2.3.4,,4,1.5",
        "2020-01-01T00:00:00Z,1.2.3.4,5.6,4,1.5",
        "2020-01-01T00:00:00Z,1.2.3.4,5.6.7.8,6,1.5",
        "2020-01-01T00:00:00Z,1.2.3.4,::1,,1.5",
        ",1.2.3.4,5.6.7.8,4,1.5",
        "1969-12-31T23:59:59Z,1.2.3.4,5.6.7.8,4,1.5",
        "2020-01-01T00:00:00Z,1.2.3.4,5.6.7.8,4,inf",
        "not a row",
        "2020-01-01T00:00:00Z,1.2.3.4,5.6.7.8,4,1.5,66",
        "yesterday,1.2.3.4,5.6.7.8,4,1.5",
    };
    fprintf(file, "%s\n", rows[(size_t)i % (sizeof rows / sizeof *rows)]);
}

static const char *csv_path(const char *name, int file) {
    char text[128];
    snprintf(text, sizeof text, "%s-%d.csv", name, file);
    return core_path(text);
}

int64_t csv_write(const char *name, const core_row *rows, int64_t count, const csv_cut *cut) {
    int64_t bad = 0;
    int64_t *order = malloc(((size_t)count + 1) * sizeof *order);
    core_rng rng = {.seed = (uint64_t)cut->files};
    for (int64_t i = 0; i < count; i++) {
        int64_t k = cut->shuffled ? core_below(&rng, i + 1) : i;
        order[i] = order[k];
        order[k] = i;
    }
    for (int f = 0; f < cut->files; f++) {
        FILE *file = fopen(csv_path(name, f), "w");
        assert_non_null(file);
        fprintf(file, "event_time,src_addr,dst_addr,ip_version,rtt\n");
        for (int64_t i = count * f / cut->files; i < count * (f + 1) / cut->files; i++) {
            put_row(file, &rows[order[i]], i);
            if (cut->bad_every > 0 && i % cut->bad_every == 0) put_bad_row(file, bad++);
        }
        assert_int_equal(fclose(file), 0);
    }
    free(order);
    return bad;
}

const char *const *csv_paths(const char *name, int files) {
    enum { FILES_MAX = 16 };
    static char texts[FILES_MAX][1024];
    static const char *paths[FILES_MAX];
    assert_true(files <= FILES_MAX);
    for (int f = 0; f < files; f++) {
        snprintf(texts[f], sizeof texts[f], "%s", csv_path(name, f));
        paths[f] = texts[f];
    }
    return paths;
}

int64_t ingest_memory(int64_t mebibytes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    mebibytes += 600;
#endif
    const int64_t bytes = leat_rss_bytes() + (mebibytes << 20);
    return bytes < INGEST_MEMORY_MIN ? INGEST_MEMORY_MIN : bytes;
}

void *ingest_ballast(void) {
    void *bytes = malloc(INGEST_MEMORY_MIN);
    assert_non_null(bytes);
    return memset(bytes, 1, INGEST_MEMORY_MIN);
}

leat_probes_ingest_options ingest_options(void) {
    leat_probes_ingest_options options = leat_probes_ingest_options_default();
    options.threads = 2;
    options.memory_bytes = ingest_memory(64);
    options.max_row_bytes = 4000;
    options.probes_per_shard = 90;
    return options;
}

leat_code ingest_to(const char *out, const char *name, int files,
                    const leat_probes_ingest_options *options, leat_probes_ingest_result *result,
                    leat_error *err) {
    assert_ok(leat_path_remove_tree(out, err));
    return leat_probes_ingest(csv_paths(name, files), files, out, options, result, err);
}

/* ---- folders ---- */

int64_t dir_count(const char *dir) {
    leat_path_list names = {0};
    if (!path_exists(dir)) return -1;
    assert_ok(leat_path_list_dir(dir, &names, err));
    int64_t count = names.count;
    leat_path_list_free(&names);
    return count;
}

bool path_exists(const char *path) {
    leat_path_facts facts;
    assert_ok(leat_path_stat(path, &facts, err));
    return facts.kind != LEAT_PATH_NONE;
}

static void hash_file(leat_sha256 *sha, const char *dir, const char *name) {
    char path[LEAT_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    core_image image = core_load(path);
    leat_sha256_update(sha, name, (int64_t)strlen(name) + 1);
    leat_sha256_update(sha, &image.size_bytes, 8);
    leat_sha256_update(sha, image.data, image.size_bytes);
    free(image.data);
}

dataset_digest dataset_hash(const char *dir) {
    leat_sha256 sha;
    dataset_digest digest;
    leat_sha256_init(&sha);
    hash_file(&sha, dir, LEAT_INDEX_NAME);
    hash_file(&sha, dir, LEAT_MANIFEST_NAME);
    for (int split = 0; split < LEAT_SPLITS; split++) {
        char folder[LEAT_PATH_BYTES];
        leat_path_list names = {0};
        snprintf(folder, sizeof folder, "%s/%s", dir, leat_split_name(split));
        assert_ok(leat_path_list_dir(folder, &names, err));
        for (int64_t i = 0; i < names.count; i++) hash_file(&sha, folder, names.paths[i]);
        leat_path_list_free(&names);
    }
    leat_sha256_final(&sha, digest.bytes);
    return digest;
}

bool has_work(const char *dir) {
    char work[LEAT_PATH_BYTES];
    snprintf(work, sizeof work, "%s/.leat", dir);
    return path_exists(work);
}

/* ---- the model ---- */

typedef struct model {
    const leat_probes_ingest_options *options;
    core_row *rows; /* sorted */
    int64_t count;
    int64_t probes[LEAT_SPLITS];
    char (*texts)[46]; /* of all probes, sorted, for the ordered split */
    int64_t text_count;
} model;

static int compare_texts(const void *a, const void *b) { return strcmp(a, b); }

static leat_split split_of(const model *self, const core_row *row) {
    const leat_probes_ingest_options *o = self->options;
    if (o->split == LEAT_SPLIT_HASH) {
        return leat_layout_hash_split(o->seed, o->train_ratio, row->src_id);
    }
    int64_t train = (int64_t)(o->train_ratio * (double)self->text_count);
    const void *at = bsearch(row->src, self->texts, (size_t)self->text_count, sizeof *self->texts,
                             compare_texts);
    int64_t rank = (const char(*)[46])at - self->texts;
    return rank < train ? LEAT_SPLIT_TRAIN : LEAT_SPLIT_TEST;
}

static model make_model(core_row *rows, int64_t count, const leat_probes_ingest_options *options) {
    model self = {.options = options, .rows = rows, .count = count};
    qsort(rows, (size_t)count, sizeof *rows, core_row_compare);
    self.texts = malloc(((size_t)count + 1) * sizeof *self.texts);
    for (int64_t i = 0; i < count; i++) {
        bool first = i == 0 || strcmp(rows[i].src, rows[i - 1].src) != 0;
        if (first) memcpy(self.texts[self.text_count++], rows[i].src, 46);
    }
    qsort(self.texts, (size_t)self.text_count, sizeof *self.texts, compare_texts);
    for (int64_t i = 0; i < count; i++) {
        bool first = i == 0 || strcmp(rows[i].src, rows[i - 1].src) != 0;
        if (first) self.probes[split_of(&self, &rows[i])]++;
    }
    return self;
}

static int64_t shard_count(const model *self, leat_split split) {
    const leat_probes_ingest_options *o = self->options;
    if (o->shards > 0) return leat_layout_fixed_shard_count(o->shards, o->train_ratio, split);
    int64_t count = (self->probes[split] + (o->probes_per_shard + 1) / 2) / o->probes_per_shard;
    return count < 1 ? 1 : count;
}

/* How many of the rows from `row` on, `left` of them, stand together in one record. */
static int64_t cut_of(const model *self, const core_row *row, int64_t left) {
    int64_t limit = self->options->max_row_bytes, dst = 0, n = 0;
    int64_t src = (int64_t)strlen(row->src);
    while (n < left && strcmp(row[n].src, row->src) == 0) {
        dst += (int64_t)strlen(row[n].dst);
        bool fits = leat_probe_measurements_bytes(n + 1, (n + 1) * src, dst,
                                                  self->options->dictionary_src) <= limit;
        if (n > 0 && limit > 0 && !fits) break;
        n++;
    }
    return n;
}

static void check_record(const uint8_t *data, int64_t size_bytes, const core_row *row, int64_t n,
                         leat_measurements *room) {
    leat_probe_read_options options = leat_probe_read_options_default();
    options.verify = true;
    leat_probe_row_info info;
    assert_ok(leat_probe_record_decode(data, size_bytes, &options, room, &info, err));
    assert_int_equal(info.n_measurements, n);
    assert_int_equal(info.src_id, row->src_id);
    assert_int_equal(info.first_us, row->time_us);
    assert_int_equal(info.last_us, row[n - 1].time_us);
    for (int64_t k = 0; k < n; k++) {
        leat_measurement one;
        leat_measurements_get(room, k, &one);
        bool same = one.time_us == row[k].time_us && one.rtt == row[k].rtt &&
                    one.src_size == (int32_t)strlen(row[k].src) &&
                    memcmp(one.src, row[k].src, (size_t)one.src_size) == 0 &&
                    one.dst_size == (int32_t)strlen(row[k].dst) &&
                    memcmp(one.dst, row[k].dst, (size_t)one.dst_size) == 0 &&
                    one.ip_version == core_version(row[k].src);
        if (!same) fail_msg("measurement %lld of %s differs", (long long)k, row->src);
    }
}

/* Digests of the file and of its records, and the hash of each page where there are such. */
static void check_hashes(const char *path, const leat_ar_reader *reader, const leat_index *index,
                         const leat_shard_info *info, int64_t shard) {
    leat_sha256 file_sha, records_sha;
    uint8_t digest[32];
    leat_ar_record record = {0};
    core_image image = core_load(path);
    leat_sha256_init(&file_sha);
    leat_sha256_update(&file_sha, image.data, image.size_bytes);
    leat_sha256_final(&file_sha, digest);
    assert_int_equal(info->file_bytes, image.size_bytes);
    assert_memory_equal(info->file_sha256, digest, 32);
    leat_sha256_init(&records_sha);
    for (int64_t i = 0; i < leat_ar_reader_record_count(reader); i++) {
        assert_ok(leat_ar_reader_read(reader, i, &record, err));
        leat_sha256_update(&records_sha, &record.size_bytes, 8);
        leat_sha256_update(&records_sha, record.data, record.size_bytes);
    }
    leat_sha256_final(&records_sha, digest);
    assert_memory_equal(info->records_sha256, digest, 32);
    leat_ar_record_free(&record);
    int64_t pages = leat_index_shard_get(index, shard)->page_count;
    for (int64_t p = 0; p < pages; p++) {
        uint64_t hash = 0;
        int64_t at = p * LEAT_PAGE_BYTES, left = image.size_bytes - at;
        assert_ok(leat_index_page_hash(index, shard, p, &hash, err));
        int64_t size = left < LEAT_PAGE_BYTES ? left : LEAT_PAGE_BYTES;
        assert_int_equal(hash, leat_xxh3(image.data + at, size));
    }
    free(image.data);
}

/* One shard, number k of all, against the rows that belong there; returns its number of records. */
static int64_t check_shard(const model *self, const char *dir, const leat_index *index,
                           const leat_shard_info *info, int64_t k) {
    char name[LEAT_SHARD_NAME_BYTES], path[LEAT_PATH_BYTES];
    leat_layout_shard_name(info->split, info->number, name);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    leat_ar_reader *reader = NULL;
    leat_ar_record record = {0};
    leat_measurements room = {0};
    int64_t records = 0, shards = shard_count(self, info->split);
    assert_ok(leat_ar_verify(path, NULL, NULL, NULL, NULL, err));
    assert_ok(leat_ar_reader_open(&reader, path, NULL, err));
    for (int64_t i = 0; i < self->count;) {
        const core_row *row = &self->rows[i];
        int64_t n = cut_of(self, row, self->count - i);
        i += n;
        if (split_of(self, row) != info->split) continue;
        if (leat_layout_shard_of(row->src_id, shards) != info->number) continue;
        assert_ok(leat_ar_reader_read(reader, records, &record, err));
        check_record(record.data, record.size_bytes, row, n, &room);
        leat_index_row facts;
        int64_t at = leat_index_shard_get(index, k)->first_row + records;
        assert_ok(leat_index_row_get(index, at, &facts, err));
        assert_int_equal(facts.src_id, row->src_id);
        assert_int_equal(facts.n_measurements, n);
        assert_int_equal(facts.first_us, row->time_us);
        assert_int_equal(facts.last_us, row[n - 1].time_us);
        assert_int_equal(facts.record_bytes, record.size_bytes);
        assert_int_equal(facts.ip_version, core_version(row->src));
        assert_int_equal(facts.chunk_offset, leat_ar_reader_chunk(reader, records).offset);
        records++;
    }
    assert_int_equal(leat_ar_reader_record_count(reader), records);
    check_hashes(path, reader, index, info, k);
    leat_measurements_free(&room);
    leat_ar_record_free(&record);
    leat_ar_reader_close(reader);
    return records;
}

void dataset_check(const char *dir, core_row *rows, int64_t count,
                   const leat_probes_ingest_options *options) {
    model self = make_model(rows, count, options);
    leat_manifest manifest = {0};
    leat_index *index = NULL;
    char path[LEAT_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", dir, LEAT_INDEX_NAME);
    assert_ok(leat_manifest_load(dir, &manifest, err));
    assert_ok(leat_index_open(&index, path, manifest.index_bytes, manifest.index_sha256, err));
    assert_ok(leat_index_verify(index, err));
    assert_int_equal(manifest.total.measurement_count, count);
    bool plain = options->record.compression == LEAT_COMPRESSION_NONE;
    assert_int_equal(leat_index_shard_get(index, 0)->page_count > 0, plain);
    assert_int_equal(manifest.shard_count, shard_count(&self, 0) + shard_count(&self, 1));
    int64_t k = 0, all = 0;
    for (int split = 0; split < LEAT_SPLITS; split++) {
        snprintf(path, sizeof path, "%s/%s", dir, leat_split_name(split));
        assert_int_equal(dir_count(path), shard_count(&self, split));
        for (int64_t shard = 0; shard < shard_count(&self, split); shard++, k++) {
            const leat_shard_info *info = &manifest.shards[k];
            assert_int_equal(info->split, split);
            assert_int_equal(info->number, shard);
            int64_t records = check_shard(&self, dir, index, info, k);
            assert_int_equal(info->row_count, records);
            assert_int_equal(leat_index_shard_get(index, k)->row_count, records);
            all += records;
        }
    }
    assert_int_equal(leat_index_row_count(index), all);
    leat_index_close(index);
    leat_manifest_free(&manifest);
    free(self.texts);
}

/* ---- stopping ---- */

bool ingest_stop_at(void *user, const leat_progress *progress) {
    ingest_stopper *self = user;
    snprintf(self->stage, sizeof self->stage, "%s", progress->stage);
    bool is_there = ++self->calls == self->at;
    if (is_there && self->kills) raise(SIGKILL);
    if (is_there) return false;
    usleep(100100);
    return true;
}

/* ---- runs that stop ---- */

const core_shape resume_shape = {.seed = 31,
                                 .rows = 9000,
                                 .sources = 300,
                                 .heavy = 30,
                                 .times = 3000,
                                 .targets = 60,
                                 .order = CORE_RANDOM};

dataset_digest resume_want;

leat_code resume_run(const char *out, const leat_probes_ingest_options *options,
                     leat_probes_ingest_result *result, leat_error *err) {
    return leat_probes_ingest(csv_paths("resume", 3), 3, out, options, result, err);
}

int resume_setup(void **state) {
    (void)state;
    core_row *rows = core_rows(&resume_shape);
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    csv_write("resume", rows, resume_shape.rows, &(csv_cut){.files = 3, .bad_every = 100});
    free(rows);
    if (resume_run(core_path("want"), &options, &result, NULL) != LEAT_OK) return 1;
    resume_want = dataset_hash(core_path("want"));
    return 0;
}
