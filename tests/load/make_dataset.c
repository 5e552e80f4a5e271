/* Small data sets for tests: see make_dataset.h. */
#include "make_dataset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/address.h"
#include "format/arrayrecord/arrayrecord.h"

int64_t make_count(int64_t row) { return row == 5 ? 60000 : 1 + row * 37; }

make_options make_options_default(void) {
    return (make_options){.record = leat_ar_options_default(),
                          .shards = {3, 1},
                          .rows_per_shard = 4,
                          .count_of = make_count};
}

void make_source(int64_t row, char src[LEAT_PROBE_SRC_BYTES]) {
    if (row % 2 == 0)
        snprintf(src, LEAT_PROBE_SRC_BYTES, "10.0.%d.%d", (int)row / 200, (int)row % 200);
    else snprintf(src, LEAT_PROBE_SRC_BYTES, "2001:db8::%x", (unsigned)row);
}

made make_measurement(int64_t row, int64_t i) {
    made out = {.time_us = INT64_C(1556064000000000) + row * 1000000007 + i * 240000001,
                .ip_version = row % 2 == 0 ? 4 : 6,
                .rtt = i % 25 == 7 ? -1.0f : (float)(i % 500) / 4};
    if (row % 2 == 0) snprintf(out.dst, sizeof(out.dst), "192.0.2.%d", (int)(i % 200 + 1));
    else snprintf(out.dst, sizeof(out.dst), "2001:db8:1::%x", (unsigned)(i % 5000 + 1));
    return out;
}

static void fill_columns(const make_options *options, int64_t row, const leat_probe_plan *plan,
                         const leat_probe_facts *facts, uint8_t *record) {
    uint8_t *at[LEAT_PROBE_COLUMNS];
    for (int c = 0; c < LEAT_PROBE_COLUMNS; c++) at[c] = record + plan->column_offset[c];
    int32_t dst_end = 0, src_end = 0;
    for (int64_t i = 0; i < facts->n_measurements; i++) {
        made it = make_measurement(row, i);
        int32_t dst_size = (int32_t)strlen(it.dst);
        memcpy(at[LEAT_PROBE_EVENT_TIME] + 8 * i, &it.time_us, 8);
        memcpy(at[LEAT_PROBE_DST_OFFSETS] + 4 * i, &dst_end, 4);
        memcpy(at[LEAT_PROBE_DST_DATA] + dst_end, it.dst, (size_t)dst_size);
        dst_end += dst_size;
        at[LEAT_PROBE_IP_VERSION][i] = (uint8_t)it.ip_version;
        memcpy(at[LEAT_PROBE_RTT] + 4 * i, &it.rtt, 4);
        if (options->dictionary_src) {
            at[LEAT_PROBE_SRC_OFFSETS][i] = 0;
        } else {
            memcpy(at[LEAT_PROBE_SRC_OFFSETS] + 4 * i, &src_end, 4);
            memcpy(at[LEAT_PROBE_SRC_DATA] + src_end, facts->src, (size_t)facts->src_size);
            src_end += facts->src_size;
        }
    }
    memcpy(at[LEAT_PROBE_DST_OFFSETS] + 4 * facts->n_measurements, &dst_end, 4);
    if (!options->dictionary_src) {
        memcpy(at[LEAT_PROBE_SRC_OFFSETS] + 4 * facts->n_measurements, &src_end, 4);
    }
}

static leat_probe_facts facts_of(const make_options *options, int64_t row) {
    leat_probe_facts facts = {.n_measurements = options->count_of(row)};
    make_source(row, facts.src);
    facts.src_size = (int32_t)strlen(facts.src);
    facts.src_id = leat_address_src_id(facts.src, facts.src_size);
    facts.first_us = make_measurement(row, 0).time_us;
    facts.last_us = make_measurement(row, facts.n_measurements - 1).time_us;
    for (int64_t i = 0; i < facts.n_measurements; i++) {
        facts.dst_bytes += (int64_t)strlen(make_measurement(row, i).dst);
    }
    return facts;
}

leat_code make_record(const make_options *options, int64_t row, uint8_t **record, int64_t *bytes,
                      leat_error *err) {
    leat_probe_facts facts = facts_of(options, row);
    leat_probe_plan plan;
    *record = NULL;
    LEAT_TRY(leat_probe_plan_row(&facts, options->dictionary_src, &plan, err));
    LEAT_TRY(leat_alloc((void **)record, plan.record_bytes, 1, err));
    leat_probe_plan_put_frame(&plan, *record);
    fill_columns(options, row, &plan, &facts, *record);
    *bytes = plan.record_bytes;
    return LEAT_OK;
}

static leat_code append_row(const make_options *options, int64_t row, leat_ar_sink_writer *writer,
                            leat_sha256 *records, leat_shard_part *part, leat_error *err) {
    uint8_t *record = NULL;
    int64_t bytes = 0;
    leat_ar_place place;
    LEAT_TRY(make_record(options, row, &record, &bytes, err));
    leat_sha256_update(records, &bytes, 8);
    leat_sha256_update(records, record, bytes);
    leat_code code = leat_ar_sink_writer_append(writer, record, bytes, &place, err);
    leat_free(record);
    LEAT_TRY(code);
    leat_probe_facts facts = facts_of(options, row);
    leat_index_row indexed = {
        .src_id = facts.src_id,
        .first_us = facts.first_us,
        .last_us = facts.last_us,
        .chunk_offset = place.chunk_offset,
        .record_bytes = bytes,
        .n_measurements = (uint32_t)facts.n_measurements,
        .ip_version = row % 2 == 0 ? 4 : 6,
    };
    if (options->lie != NULL) options->lie(row, &indexed);
    return leat_shard_part_add_row(part, &indexed, err);
}

static leat_code write_rows(const make_options *options, int64_t first_row, leat_sink *sink,
                            leat_shard_part *part, leat_error *err) {
    leat_ar_sink_writer *writer = NULL;
    leat_sha256 records;
    leat_sha256_init(&records);
    LEAT_TRY(leat_ar_sink_writer_create(&writer, sink, &options->record, err));
    leat_code code = LEAT_OK;
    for (int i = 0; i < options->rows_per_shard && code == LEAT_OK; i++) {
        code = append_row(options, first_row + i, writer, &records, part, err);
    }
    if (code == LEAT_OK) code = leat_ar_sink_writer_finish(writer, err);
    if (code == LEAT_OK) code = leat_sink_finish(sink, err);
    leat_ar_sink_writer_destroy(writer);
    leat_sha256_final(&records, part->info.records_sha256);
    return code;
}

/* One shard: its file, its part, its entry in the manifest. */
static leat_code write_shard(const char *dir, const make_options *options, int64_t k,
                             leat_manifest *manifest, leat_shard_part *part, leat_error *err) {
    char name[LEAT_SHARD_NAME_BYTES], path[LEAT_PATH_BYTES];
    leat_file *file = NULL;
    leat_sink *sink = NULL;
    leat_sink_options sink_options = {.want_sha256 = true, .want_page_hashes = true};
    part->info.split = k < options->shards[0] ? LEAT_SPLIT_TRAIN : LEAT_SPLIT_TEST;
    part->info.number = (int32_t)(k < options->shards[0] ? k : k - options->shards[0]);
    leat_layout_shard_name(part->info.split, part->info.number, name);
    LEAT_TRY(leat_path_join(path, sizeof(path), dir, name, err));
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_CREATE, err));
    leat_code code = leat_sink_create(&sink, file, &sink_options, err);
    if (code == LEAT_OK) code = write_rows(options, k * options->rows_per_shard, sink, part, err);
    if (code == LEAT_OK) {
        int64_t pages = 0;
        const uint64_t *hashes = leat_sink_page_hashes(sink, &pages);
        part->info.file_bytes = leat_sink_position(sink);
        leat_sink_sha256(sink, part->info.file_sha256);
        if (options->record.compression != LEAT_COMPRESSION_NONE) pages = 0;
        code = leat_shard_part_set_pages(part, hashes, pages, err);
    }
    if (code == LEAT_OK) code = leat_manifest_add_shard(manifest, &part->info, err);
    leat_sink_destroy(sink);
    leat_file_close(file);
    return code;
}

typedef struct job {
    const char *dir;
    const make_options *options;
    leat_manifest manifest;
} job;

static leat_code load_part(void *context, int64_t k, leat_shard_part *part, leat_error *err) {
    job *work = context;
    return write_shard(work->dir, work->options, k, &work->manifest, part, err);
}

leat_code make_dataset(const char *dir, const make_options *options, leat_error *err) {
    static const char *const folders[] = {"train", "test"};
    char path[LEAT_PATH_BYTES];
    leat_index_facts facts;
    job work = {dir, options, {0}};
    for (int i = 0; i < 2; i++) {
        LEAT_TRY(leat_path_join(path, sizeof(path), dir, folders[i], err));
        LEAT_TRY(leat_path_make_dir(path, err));
    }
    LEAT_TRY(leat_path_join(path, sizeof(path), dir, LEAT_INDEX_NAME, err));
    int64_t shards = options->shards[0] + options->shards[1];
    leat_code code = leat_index_build(path, shards, load_part, &work, &facts, err);
    work.manifest.index_bytes = facts.file_bytes;
    memcpy(work.manifest.index_sha256, facts.table_sha256, 32);
    if (code == LEAT_OK) code = leat_manifest_save(&work.manifest, dir, err);
    leat_manifest_free(&work.manifest);
    return code;
}

leat_code make_files_of_others(const char *dir, leat_error *err) {
    static const char *const ours[] = {LEAT_MANIFEST_NAME, LEAT_INDEX_NAME};
    for (int i = 0; i < 2; i++) {
        char path[LEAT_PATH_BYTES];
        LEAT_TRY(leat_path_join(path, sizeof path, dir, ours[i], err));
        LEAT_TRY(leat_path_remove(path, err));
    }
    return LEAT_OK;
}

void make_flip(const char *path, int64_t byte, int bit) {
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, byte, SEEK_SET), 0);
    int value = fgetc(file);
    assert_int_not_equal(value, EOF);
    assert_int_equal(fseek(file, byte, SEEK_SET), 0);
    fputc(value ^ 1 << bit, file);
    assert_int_equal(fclose(file), 0);
}
