/* See plant.h. Rows are planned as a list for each shard; a bug changes the list or one row. */
#include "plant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/address.h"
#include "format/arrayrecord/arrayrecord.h"

#define SEED 7
#define TRAIN_RATIO 0.7
#define PROBES_PER_SHARD 5
#define ROWS_MAX 512
#define SHARDS_MAX 64

typedef struct row {
    int probe;
    int64_t first, count;
    int64_t swap; /* exchange measurements swap and swap + 1; -1: none */
    int64_t src_id_change;
    bool second_source, dirty_frame;
    bool unlisted; /* in neither index nor manifest */
} row;

typedef struct shard {
    leat_split split;
    int number;
    row rows[ROWS_MAX];
    int row_count;
} shard;

typedef struct field {
    const plant_options *options;
    const char *dir;
    shard shards[SHARDS_MAX];
    int shard_count, split_shards[2];
    leat_manifest manifest;
} field;

plant_options plant_options_default(void) {
    return (plant_options){.record = leat_ar_options_default(), .max_row_bytes = 2200};
}

static void must(leat_code code, const leat_error *err) {
    if (code != LEAT_OK) fail_msg("%s", err->message);
}

/* ---- Values ------------------------------------------------------------------------------- */

void plant_source(int probe, char src[LEAT_PROBE_SRC_BYTES]) {
    memset(src, 0, LEAT_PROBE_SRC_BYTES);
    if (probe % 2 == 0) snprintf(src, LEAT_PROBE_SRC_BYTES, "192.0.2.%d", probe);
    else snprintf(src, LEAT_PROBE_SRC_BYTES, "2001:db8::%x", probe);
}

int64_t plant_count(int probe) { return probe % 5 == 0 ? 90 + probe : 1 + probe * 7 % 23; }

/* Three measurements at a time: one failed, then two of another destination that differ in rtt. */
plant_value plant_measurement(int probe, int64_t i) {
    plant_value value = {.ip_version = probe % 2 == 0 ? 4 : 6};
    value.time_us = INT64_C(1556136000000000) + probe * INT64_C(1000003) + i / 3 * 60000000;
    value.rtt = i % 3 == 0 ? -1.0f : i % 3 == 1 ? 12.5f : 48.25f + (float)i;
    const char *format = probe % 2 == 0 ? "198.51.100.1%d" : "2001:db8:1::1%d";
    snprintf(value.dst, sizeof value.dst, format, i % 3 == 0 ? 0 : 1);
    return value;
}

static plant_value value_of(const row *r, int64_t i) {
    if (r->swap >= 0 && i == r->swap) i++;
    else if (r->swap >= 0 && i == r->swap + 1) i--;
    return plant_measurement(r->probe, r->first + i);
}

static leat_probe_facts facts_of(const row *r) {
    leat_probe_facts facts = {.n_measurements = r->count};
    plant_source(r->probe, facts.src);
    facts.src_size = (int32_t)strlen(facts.src);
    facts.src_id = leat_address_src_id(facts.src, facts.src_size) + r->src_id_change;
    facts.first_us = plant_measurement(r->probe, r->first).time_us;
    facts.last_us = plant_measurement(r->probe, r->first + r->count - 1).time_us;
    for (int64_t i = 0; i < r->count; i++) facts.dst_bytes += (int64_t)strlen(value_of(r, i).dst);
    return facts;
}

static void put_sources(const leat_probe_plan *plan, const row *r, const leat_probe_facts *facts,
                        uint8_t *record) {
    uint8_t *data = record + plan->column_offset[LEAT_PROBE_SRC_DATA];
    uint8_t *offsets = record + plan->column_offset[LEAT_PROBE_SRC_OFFSETS];
    if (plan->column_bytes[LEAT_PROBE_SRC_DATA] == 0) return; /* dictionary: all indices are 0 */
    for (int64_t i = 0; i <= facts->n_measurements; i++) {
        int32_t offset = (int32_t)(i * facts->src_size);
        memcpy(offsets + 4 * i, &offset, 4);
        if (i < facts->n_measurements) memcpy(data + offset, facts->src, (size_t)facts->src_size);
    }
    if (r->second_source) data[2 * facts->src_size - 1] ^= 1; /* "...2" becomes "...3" */
}

static void put_columns(const leat_probe_plan *plan, const row *r, const leat_probe_facts *facts,
                        uint8_t *record) {
    int32_t at = 0;
    for (int64_t i = 0; i < r->count; i++) {
        plant_value value = value_of(r, i);
        memcpy(record + plan->column_offset[LEAT_PROBE_EVENT_TIME] + 8 * i, &value.time_us, 8);
        memcpy(record + plan->column_offset[LEAT_PROBE_DST_OFFSETS] + 4 * i, &at, 4);
        memcpy(record + plan->column_offset[LEAT_PROBE_DST_DATA] + at, value.dst,
               strlen(value.dst));
        record[plan->column_offset[LEAT_PROBE_IP_VERSION] + i] = (uint8_t)value.ip_version;
        memcpy(record + plan->column_offset[LEAT_PROBE_RTT] + 4 * i, &value.rtt, 4);
        at += (int32_t)strlen(value.dst);
    }
    memcpy(record + plan->column_offset[LEAT_PROBE_DST_OFFSETS] + 4 * r->count, &at, 4);
    put_sources(plan, r, facts, record);
}

/* A padding byte behind the version column, where no reader looks. */
static void dirty(const leat_probe_plan *plan, uint8_t *record) {
    for (int i = 0; i < plan->piece_count; i++)
        if (plan->pieces[i].column == LEAT_PROBE_IP_VERSION && plan->pieces[i].pad_bytes > 0)
            record[plan->pieces[i].offset_bytes + plan->pieces[i].size_bytes] = 1;
}

/* ---- The plan ----------------------------------------------------------------------------- */

static int64_t src_id_of(int probe) {
    char src[LEAT_PROBE_SRC_BYTES];
    plant_source(probe, src);
    return leat_address_src_id(src, (int64_t)strlen(src));
}

static int compare_by_id(const void *a, const void *b) {
    int64_t x = src_id_of(*(const int *)a), y = src_id_of(*(const int *)b);
    return x < y ? -1 : x > y;
}

static int compare_by_text(const void *a, const void *b) {
    char x[LEAT_PROBE_SRC_BYTES], y[LEAT_PROBE_SRC_BYTES];
    plant_source(*(const int *)a, x);
    plant_source(*(const int *)b, y);
    return strcmp(x, y);
}

static void choose_split(const plant_options *options, leat_split of_probe[PLANT_PROBES]) {
    int order[PLANT_PROBES];
    for (int i = 0; i < PLANT_PROBES; i++) order[i] = i;
    qsort(order, PLANT_PROBES, sizeof order[0], compare_by_text);
    int64_t train = leat_layout_ordered_count(TRAIN_RATIO, PLANT_PROBES);
    for (int i = 0; i < PLANT_PROBES; i++) {
        int probe = order[i];
        of_probe[probe] = options->ordered
                              ? (i < train ? LEAT_SPLIT_TRAIN : LEAT_SPLIT_TEST)
                              : leat_layout_hash_split(SEED, TRAIN_RATIO, src_id_of(probe));
    }
}

static int64_t size_of(const plant_options *options, const row *r) {
    leat_probe_facts facts = facts_of(r);
    return leat_probe_measurements_bytes(r->count, r->count * facts.src_size, facts.dst_bytes,
                                         options->dictionary_src);
}

/* Rows of a probe by the rule, or with its first row cut at another place. */
static void add_probe(const plant_options *options, shard *to, int probe, int64_t first_change) {
    for (int64_t first = 0; first < plant_count(probe);) {
        row next = {.probe = probe, .first = first, .count = 1, .swap = -1};
        while (first + next.count < plant_count(probe)) {
            next.count++;
            if (size_of(options, &next) <= options->max_row_bytes) continue;
            next.count--;
            break;
        }
        if (first == 0) next.count += first_change;
        to->rows[to->row_count++] = next;
        first += next.count;
        assert_true(to->row_count < ROWS_MAX);
    }
}

static shard *find_shard(field *f, leat_split split, int64_t number) {
    for (int i = 0; i < f->shard_count; i++)
        if (f->shards[i].split == split && f->shards[i].number == number) return &f->shards[i];
    fail();
    return NULL;
}

static void lay_out(field *f) {
    leat_split of_probe[PLANT_PROBES];
    int order[PLANT_PROBES];
    choose_split(f->options, of_probe);
    for (int split = 0; split < 2; split++) {
        int64_t probes = 0;
        for (int i = 0; i < PLANT_PROBES; i++) probes += of_probe[i] == (leat_split)split;
        int64_t count = leat_layout_shard_count(probes, PROBES_PER_SHARD);
        if (f->options->bug == PLANT_SHARD_COUNT && split == 0) count++;
        f->split_shards[split] = (int)count;
        for (int64_t k = 0; k < count; k++)
            f->shards[f->shard_count++] =
                (shard){.split = (leat_split)split, .number = (int)k, .row_count = 0};
    }
    for (int i = 0; i < PLANT_PROBES; i++) order[i] = i;
    qsort(order, PLANT_PROBES, sizeof order[0], compare_by_id);
    bool changed = false;
    for (int i = 0; i < PLANT_PROBES; i++) {
        int probe = order[i];
        leat_split split = of_probe[probe];
        int64_t number = leat_layout_shard_of(src_id_of(probe), f->split_shards[split]);
        int64_t change = 0;
        bool several = probe % 5 == 0;
        if (several && !changed && f->options->bug == PLANT_CUT_EARLY) change = -1;
        if (several && !changed && f->options->bug == PLANT_CUT_LATE) change = 1;
        changed = changed || change != 0;
        add_probe(f->options, find_shard(f, split, number), probe, change);
    }
}

/* ---- Bugs in the list --------------------------------------------------------------------- */

static void take_rows(shard *from, int first, int count, row *out) {
    memcpy(out, &from->rows[first], (size_t)count * sizeof(row));
    memmove(&from->rows[first], &from->rows[first + count],
            (size_t)(from->row_count - first - count) * sizeof(row));
    from->row_count -= count;
}

static void insert_rows(shard *to, const row *rows, int count) {
    int at = 0;
    while (at < to->row_count && src_id_of(to->rows[at].probe) < src_id_of(rows[0].probe)) at++;
    memmove(&to->rows[at + count], &to->rows[at], (size_t)(to->row_count - at) * sizeof(row));
    memcpy(&to->rows[at], rows, (size_t)count * sizeof(row));
    to->row_count += count;
}

static int rows_of_probe(const shard *s, int first) {
    int count = 1;
    while (first + count < s->row_count && s->rows[first + count].probe == s->rows[first].probe)
        count++;
    return count;
}

/* The first row of the shard with at least `n` measurements. */
static row *long_row(shard *s, int64_t n) {
    for (int i = 0; i < s->row_count; i++)
        if (s->rows[i].count >= n) return &s->rows[i];
    fail();
    return NULL;
}

static shard *shard_with_long_probe(field *f, int *first) {
    for (int k = 0; k < f->shard_count; k++)
        for (int i = 0; i < f->shards[k].row_count; i++)
            if (rows_of_probe(&f->shards[k], i) > 1 && i > 0) {
                *first = i;
                return &f->shards[k];
            }
    fail();
    return NULL;
}

static void move_probe(field *f, bool keep) {
    row moved[ROWS_MAX];
    shard *from = find_shard(f, LEAT_SPLIT_TRAIN, 0);
    int count = rows_of_probe(from, 0);
    int64_t number =
        leat_layout_shard_of(src_id_of(from->rows[0].probe), f->split_shards[LEAT_SPLIT_TEST]);
    memcpy(moved, from->rows, (size_t)count * sizeof(row));
    insert_rows(find_shard(f, LEAT_SPLIT_TEST, number), moved, count);
    if (!keep) take_rows(from, 0, count, moved);
}

static void swap_probes(shard *s) {
    row moved[ROWS_MAX];
    int count = rows_of_probe(s, 0);
    take_rows(s, 0, count, moved);
    int next = rows_of_probe(s, 0);
    memmove(&s->rows[next + count], &s->rows[next], (size_t)(s->row_count - next) * sizeof(row));
    memcpy(&s->rows[next], moved, (size_t)count * sizeof(row));
    s->row_count += count;
}

static void seed_bug(field *f) {
    shard *first = find_shard(f, LEAT_SPLIT_TRAIN, 0);
    row moved[ROWS_MAX];
    int at = 0, count;
    switch (f->options->bug) {
    case PLANT_SRC_ID: first->rows[first->row_count - 1].src_id_change = 1; break;
    case PLANT_VALUES_SWAPPED: long_row(first, 6)->swap = 2; break;
    case PLANT_TIES_SWAPPED: long_row(first, 6)->swap = 0; break;
    case PLANT_RTT_SWAPPED: long_row(first, 6)->swap = 1; break;
    case PLANT_PROBES_SWAPPED: swap_probes(first); break;
    case PLANT_ROWS_SWAPPED: {
        shard *s = shard_with_long_probe(f, &at);
        row kept = s->rows[at];
        s->rows[at] = s->rows[at + 1];
        s->rows[at + 1] = kept;
        break;
    }
    case PLANT_OTHER_SPLIT: move_probe(f, false); break;
    case PLANT_BOTH_SPLITS: move_probe(f, true); break;
    case PLANT_OTHER_SHARD:
        for (at = 0; at + rows_of_probe(first, at) < first->row_count;)
            at += rows_of_probe(first, at);
        count = rows_of_probe(first, at);
        take_rows(first, at, count, moved);
        insert_rows(find_shard(f, LEAT_SPLIT_TRAIN, 1), moved, count);
        break;
    case PLANT_TWO_SOURCES: long_row(first, 2)->second_source = true; break;
    case PLANT_FRAME:
        for (at = 0; at < first->row_count; at++) first->rows[at].dirty_frame = true;
        break;
    case PLANT_EXTRA_RECORD:
        first->rows[first->row_count] = first->rows[first->row_count - 1];
        first->rows[first->row_count++].unlisted = true;
        break;
    default: break;
    }
}

/* ---- Writing ------------------------------------------------------------------------------ */

static void change_index(plant_bug bug, leat_index_row *indexed) {
    if (bug == PLANT_INDEX_TIME) indexed->first_us--;
    if (bug == PLANT_INDEX_COUNT) indexed->n_measurements++;
    if (bug == PLANT_INDEX_VERSION) indexed->ip_version ^= 4 ^ 6;
    if (bug == PLANT_INDEX_SRC) indexed->src_id++;
    if (bug == PLANT_INDEX_SIZE) indexed->record_bytes++;
}

static leat_code append_row(const field *f, const row *r, bool changed, leat_ar_sink_writer *writer,
                            leat_sha256 *records, leat_shard_part *part, leat_error *err) {
    leat_probe_facts facts = facts_of(r);
    leat_probe_plan plan;
    uint8_t *record = NULL;
    leat_ar_place place;
    LEAT_TRY(leat_probe_plan_row(&facts, f->options->dictionary_src, &plan, err));
    LEAT_TRY(leat_alloc((void **)&record, plan.record_bytes, 1, err));
    leat_probe_plan_put_frame(&plan, record);
    put_columns(&plan, r, &facts, record);
    if (r->dirty_frame) dirty(&plan, record);
    if (f->options->spoil != NULL) f->options->spoil(record, plan.record_bytes);
    leat_sha256_update(records, &plan.record_bytes, 8);
    leat_sha256_update(records, record, plan.record_bytes);
    leat_code code = leat_ar_sink_writer_append(writer, record, plan.record_bytes, &place, err);
    leat_free(record);
    LEAT_TRY(code);
    leat_index_row indexed = {.src_id = facts.src_id,
                              .first_us = facts.first_us,
                              .last_us = facts.last_us,
                              .chunk_offset = place.chunk_offset,
                              .record_bytes = plan.record_bytes,
                              .n_measurements = (uint32_t)facts.n_measurements,
                              .ip_version = r->probe % 2 == 0 ? 4 : 6};
    if (changed) change_index(f->options->bug, &indexed);
    return r->unlisted ? LEAT_OK : leat_shard_part_add_row(part, &indexed, err);
}

static leat_code write_rows(const field *f, const shard *s, leat_sink *sink, leat_shard_part *part,
                            leat_error *err) {
    leat_ar_sink_writer *writer = NULL;
    leat_sha256 records;
    leat_sha256_init(&records);
    LEAT_TRY(leat_ar_sink_writer_create(&writer, sink, &f->options->record, err));
    leat_code code = LEAT_OK;
    for (int i = 0; i < s->row_count && code == LEAT_OK; i++)
        code = append_row(f, &s->rows[i], s == f->shards && i == 1, writer, &records, part, err);
    if (code == LEAT_OK) code = leat_ar_sink_writer_finish(writer, err);
    if (code == LEAT_OK) code = leat_sink_finish(sink, err);
    leat_ar_sink_writer_destroy(writer);
    leat_sha256_final(&records, part->info.records_sha256);
    if (f->options->bug == PLANT_RECORDS_HASH && s == f->shards) part->info.records_sha256[5] ^= 16;
    return code;
}

static leat_code write_shard(void *context, int64_t k, leat_shard_part *part, leat_error *err) {
    field *f = context;
    const shard *s = &f->shards[k];
    char name[LEAT_SHARD_NAME_BYTES], path[LEAT_PATH_BYTES];
    leat_file *file = NULL;
    leat_sink *sink = NULL;
    leat_sink_options options = {.want_sha256 = true, .want_page_hashes = true};
    part->info.split = s->split;
    part->info.number = s->number;
    leat_layout_shard_name(s->split, s->number, name);
    LEAT_TRY(leat_path_join(path, sizeof path, f->dir, name, err));
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_CREATE, err));
    leat_code code = leat_sink_create(&sink, file, &options, err);
    if (code == LEAT_OK) code = write_rows(f, s, sink, part, err);
    if (code == LEAT_OK) {
        int64_t pages = 0;
        const uint64_t *hashes = leat_sink_page_hashes(sink, &pages);
        part->info.file_bytes = leat_sink_position(sink);
        leat_sink_sha256(sink, part->info.file_sha256);
        if (f->options->record.compression != LEAT_COMPRESSION_NONE) pages = 0;
        code = leat_shard_part_set_pages(part, hashes, pages, err);
    }
    if (code == LEAT_OK && f->options->bug == PLANT_PAGE_HASH && k == 1) part->page_hashes[1] ^= 1;
    if (code == LEAT_OK) code = leat_manifest_add_shard(&f->manifest, &part->info, err);
    leat_sink_destroy(sink);
    leat_file_close(file);
    return code;
}

static void state_options(field *f) {
    leat_error err = {0};
    leat_manifest *m = &f->manifest;
    plant_bug bug = f->options->bug;
    if (bug == PLANT_NO_OPTIONS) return;
    must(leat_manifest_add_int(m, "seed", bug == PLANT_SEED ? SEED + 1 : SEED, &err), &err);
    double ratio = bug == PLANT_RATIO ? 0.45 : TRAIN_RATIO;
    must(leat_manifest_add_real(m, "train_ratio", ratio, &err), &err);
    must(leat_manifest_add_text(m, "split", f->options->ordered ? "ordered" : "hash", &err), &err);
    int64_t limit = f->options->max_row_bytes + (bug == PLANT_ROW_LIMIT ? 256 : 0);
    must(leat_manifest_add_int(m, "max_row_size", limit, &err), &err);
    must(leat_manifest_add_int(m, "probes_per_shard", PROBES_PER_SHARD, &err), &err);
    must(leat_manifest_add_bool(m, "dictionary_src", f->options->dictionary_src, &err), &err);
    must(leat_manifest_add_bool(m, "per_packet", false, &err), &err);
}

void plant(const char *dir, const plant_options *options) {
    static const char *const folders[] = {"train", "test"};
    char path[LEAT_PATH_BYTES];
    leat_error err = {0};
    leat_index_facts facts;
    field *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->options = options;
    f->dir = dir;
    for (int i = 0; i < 2; i++) {
        must(leat_path_join(path, sizeof path, dir, folders[i], &err), &err);
        must(leat_path_make_dir(path, &err), &err);
    }
    lay_out(f);
    seed_bug(f);
    state_options(f);
    must(leat_path_join(path, sizeof path, dir, LEAT_INDEX_NAME, &err), &err);
    must(leat_index_build(path, f->shard_count, write_shard, f, &facts, &err), &err);
    f->manifest.index_bytes = facts.file_bytes;
    memcpy(f->manifest.index_sha256, facts.table_sha256, 32);
    must(leat_manifest_save(&f->manifest, dir, &err), &err);
    leat_manifest_free(&f->manifest);
    free(f);
}

bool plant_stop_at_once(void *user, const leat_progress *progress) {
    (void)user;
    assert_true(progress->done <= progress->total);
    return false;
}
