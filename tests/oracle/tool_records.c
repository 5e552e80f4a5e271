/*
 * ArrayRecord files and their probe rows in leat's hands, for tests that hold them against the
 * software of others. Numbers are little-endian; a framed record is its size in 32 bits, then its
 * bytes.
 *
 *   tool write OUT COMPRESSION GROUP PAD   framed records of stdin as a file
 *   tool read FILE SEED                    all records, framed: read in order, and each again in a
 *                                          random order, and the file verified
 *   tool rows FILE...                      of each record of the files what it decodes to, in every
 *                                          way that there is, which must agree:
 *     u8 1, i64 src_id, i64 count, and `count` times {i64 us, f32 rtt, u8 version, u8 size and text
 *     of the source, u8 size and text of the destination}; or u8 0, u32 code, u32 size, message
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/probe/row.h"
#include "leat/load.h"

static void put(const void *bytes, size_t size) {
    if (fwrite(bytes, 1, size, stdout) != size) abort();
}

static void put32(int64_t value) {
    uint32_t word = (uint32_t)value;
    put(&word, sizeof word);
}

static void require(bool condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "tool_records: %s\n", what);
    abort();
}

/* ---- files --------------------------------------------------------------------------------- */

static leat_code append_all(leat_ar_writer *writer, leat_error *err) {
    uint32_t size;
    while (fread(&size, sizeof size, 1, stdin) == 1) {
        uint8_t *record = malloc(size + 1);
        require(record != NULL && fread(record, 1, size, stdin) == size, "stdin ends in a record");
        leat_code code = leat_ar_writer_append(writer, record, size, err);
        free(record);
        if (code != LEAT_OK) return code;
    }
    return leat_ar_writer_finish(writer, err);
}

static leat_code write_file(char **words, leat_error *err) {
    leat_ar_options options = leat_ar_options_default();
    leat_ar_writer *writer = NULL;
    LEAT_TRY(leat_ar_options_parse(words[1], &options, err));
    options.group_size = (int32_t)strtol(words[2], NULL, 10);
    options.pad_to_block_boundary = words[3][0] == '1';
    LEAT_TRY(leat_ar_writer_create(&writer, words[0], &options, true, err));
    leat_code code = append_all(writer, err);
    leat_ar_writer_destroy(writer);
    return code;
}

static leat_code read_records(const leat_ar_reader *reader, uint64_t seed, leat_error *err) {
    leat_ar_record record = {0}, again = {0};
    int64_t count = leat_ar_reader_record_count(reader);
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < count && code == LEAT_OK; i++) {
        code = leat_ar_reader_read(reader, i, &record, err);
        if (code != LEAT_OK) break;
        put32(record.size_bytes);
        put(record.data, (size_t)record.size_bytes);
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        code = leat_ar_reader_read(reader, (int64_t)((seed >> 33) % (uint64_t)count), &again, err);
        if (code == LEAT_OK) code = leat_ar_reader_read(reader, i, &again, err);
        if (code != LEAT_OK) break;
        require(again.size_bytes == record.size_bytes &&
                    memcmp(again.data, record.data, (size_t)record.size_bytes) == 0,
                "a record read again differs");
    }
    leat_ar_record_free(&record);
    leat_ar_record_free(&again);
    return code;
}

static leat_code read_file(char **words, leat_error *err) {
    leat_ar_reader *reader = NULL;
    leat_ar_check check;
    LEAT_TRY(leat_ar_reader_open(&reader, words[0], NULL, err));
    leat_code code = read_records(reader, strtoull(words[1], NULL, 10), err);
    leat_ar_reader_close(reader);
    if (code != LEAT_OK) return code;
    return leat_ar_verify(words[0], NULL, NULL, NULL, &check, err);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void put_measurement(const leat_measurement *m) {
    uint8_t src = (uint8_t)m->src_size, dst = (uint8_t)m->dst_size,
            version = (uint8_t)m->ip_version;
    put(&m->time_us, sizeof m->time_us);
    put(&m->rtt, sizeof m->rtt);
    put(&version, 1);
    put(&src, 1);
    put(m->src, src);
    put(&dst, 1);
    put(m->dst, dst);
}

static bool same(const leat_measurement *a, const leat_measurement *b) {
    return a->time_us == b->time_us && memcmp(&a->rtt, &b->rtt, sizeof a->rtt) == 0 &&
           a->ip_version == b->ip_version && a->src_size == b->src_size &&
           a->dst_size == b->dst_size && memcmp(a->src, b->src, (size_t)a->src_size) == 0 &&
           memcmp(a->dst, b->dst, (size_t)a->dst_size) == 0 &&
           memcmp(a->src_bytes, b->src_bytes, sizeof a->src_bytes) == 0 &&
           memcmp(a->dst_bytes, b->dst_bytes, sizeof a->dst_bytes) == 0;
}

/* The cursor's single measurements against all of them, where these could be decoded; else only
 * that nothing goes wrong. */
static void read_singly(leat_row *cursor, const leat_measurements *all) {
    const leat_row_facts *facts = leat_row_get_facts(cursor);
    leat_error err;
    require(all == NULL || facts->n_measurements == all->count, "counts differ");
    int64_t count = facts->n_measurements < 5000 ? facts->n_measurements : 5000;
    for (int64_t i = 0; i < count; i++) {
        leat_measurement one, want, gathered;
        leat_code code = leat_row_measurement(cursor, i, &one, &err);
        if (all == NULL) continue;
        require(code == LEAT_OK, err.message);
        leat_measurements_get(all, i, &want);
        require(same(&one, &want), "a single measurement differs");
        leat_row_keep_texts(cursor, true);
        require(leat_row_gather(cursor, &i, 1, &gathered, &err) == LEAT_OK, err.message);
        require(same(&gathered, &want), "a gathered measurement differs");
    }
}

/* A record in one piece, opened in place: as leat batches reads it. */
static void read_in_place(const leat_measurements *all, const uint8_t *bytes, int64_t size) {
    leat_view view = leat_view_of(bytes, size);
    leat_probe_row row;
    leat_error err;
    leat_code code = leat_probe_row_open(&row, &view, NULL, &err);
    require(all == NULL || code == LEAT_OK, err.message);
    if (code != LEAT_OK) return;
    for (int64_t i = 0; i < row.info.n_measurements && i < 5000; i++) {
        leat_measurement one, want;
        code = leat_probe_row_get(&row, i, &one, &err);
        if (all == NULL) continue;
        require(code == LEAT_OK, err.message);
        leat_measurements_get(all, i, &want);
        require(same(&one, &want), "a measurement in place differs");
    }
    leat_probe_row_close(&row);
}

static leat_code decode(const leat_dataset *dataset, leat_row *cursor, int64_t row,
                        leat_measurements *all, int64_t *src_id, leat_error *err) {
    leat_row_facts facts;
    LEAT_TRY(leat_dataset_row_open(dataset, row, cursor, err));
    *src_id = leat_row_get_facts(cursor)->src_id;
    read_singly(cursor, NULL);
    LEAT_TRY(leat_dataset_row_decode(cursor, all, err));
    read_singly(cursor, all);
    LEAT_TRY(leat_dataset_row(dataset, row, &facts, err));
    require(facts.n_measurements == all->count && facts.src_id == *src_id, "facts differ");
    return LEAT_OK;
}

static void put_row(const leat_dataset *dataset, leat_row *cursor, int64_t row,
                    const leat_ar_record *record, leat_measurements *all) {
    leat_error err = {0}, other = {0};
    leat_measurements direct = {0};
    leat_probe_row_info info;
    int64_t src_id = 0;
    leat_code code = decode(dataset, cursor, row, all, &src_id, &err);
    leat_code plain =
        leat_probe_record_decode(record->data, record->size_bytes, NULL, &direct, &info, &other);
    require((code == LEAT_OK) == (plain == LEAT_OK), "data set and record decoding differ");
    read_in_place(code == LEAT_OK ? all : NULL, record->data, record->size_bytes);
    uint8_t good = code == LEAT_OK;
    put(&good, 1);
    if (code != LEAT_OK) {
        put32(code);
        put32((int64_t)strlen(err.message));
        put(err.message, strlen(err.message));
    } else {
        require(direct.count == all->count && info.src_id == src_id, "record and row differ");
        put(&src_id, sizeof src_id);
        put(&all->count, sizeof all->count);
        for (int64_t i = 0; i < all->count; i++) {
            leat_measurement one, want;
            leat_measurements_get(all, i, &one);
            leat_measurements_get(&direct, i, &want);
            require(same(&one, &want), "record and row differ");
            put_measurement(&one);
        }
    }
    leat_measurements_free(&direct);
}

static leat_code put_rows(const char *path, leat_error *err) {
    leat_dataset *dataset = NULL;
    leat_ar_reader *reader = NULL;
    leat_row *cursor = NULL;
    leat_ar_record record = {0};
    leat_measurements all = {0};
    leat_code code = leat_dataset_open(&dataset, &path, 1, NULL, err);
    if (code == LEAT_OK) code = leat_ar_reader_open(&reader, path, NULL, err);
    if (code == LEAT_OK) code = leat_row_create(&cursor, dataset, err);
    int64_t count = code == LEAT_OK ? leat_ar_reader_record_count(reader) : 0;
    for (int64_t row = 0; row < count && code == LEAT_OK; row++) {
        code = leat_ar_reader_read(reader, row, &record, err);
        if (code == LEAT_OK) put_row(dataset, cursor, row, &record, &all);
    }
    leat_measurements_free(&all);
    leat_ar_record_free(&record);
    leat_row_destroy(cursor);
    leat_ar_reader_close(reader);
    leat_dataset_close(dataset);
    return code;
}

int main(int argc, char **argv) {
    leat_error err = {0};
    leat_code code = LEAT_ERR_OPTION;
    if (argc == 6 && strcmp(argv[1], "write") == 0) code = write_file(argv + 2, &err);
    if (argc == 4 && strcmp(argv[1], "read") == 0) code = read_file(argv + 2, &err);
    if (argc > 2 && strcmp(argv[1], "rows") == 0) {
        code = LEAT_OK;
        for (int i = 2; i < argc && code == LEAT_OK; i++) code = put_rows(argv[i], &err);
    }
    if (code == LEAT_OK) return 0;
    fprintf(stderr, "tool_records: %s\n", err.message);
    return 1;
}
