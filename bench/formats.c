/*
 * In-process figures of the formats: bench_formats DIR [MILLISECONDS [FILE_BYTES]]: one sample of
 * each, measured for at least MILLISECONDS, and its bound: copying the same bytes, writing them
 * with write(2), the C library's own address parser. Files go to DIR, which should be a memory file
 * system, so that no disk is measured. bench/formats.py starts it repeatedly, in turn with
 * array_record and PyArrow.
 */
#include <arpa/inet.h>

#include "base/address.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/rng.h"
#include "bench.h"
#include "format/probe/row.h"

#define HASHED_BYTES (INT64_C(8) << 20)  /* a row of the largest size */
#define COPIED_BYTES (INT64_C(64) << 20) /* beyond the caches */
#define PAGE_BYTES 4096
#define TARGETS 300   /* destinations that a row's measurements choose from */
#define SMALL_ROW 235 /* measurements of the mean probe of `leat synth probes` */
#define LARGE_ROW 180000

typedef struct row {
    uint8_t *bytes;
    int64_t size_bytes;
} row;

typedef struct bench {
    uint8_t *from, *to;                         /* COPIED_BYTES each */
    char address[2][TARGETS][INET6_ADDRSTRLEN]; /* IPv4, IPv6 */
    leat_probe_facts facts;
    row small, large;
    leat_measurements decoded;
    const char *dir;
    int64_t file_bytes;
    uint64_t sum; /* of results, so that no work is optimized away */
} bench;

/* ---- data --------------------------------------------------------------------------------- */

static void make_addresses(bench *b) {
    for (int i = 0; i < TARGETS; i++) {
        uint8_t bytes[16];
        for (int k = 0; k < 16; k++) bytes[k] = (uint8_t)leat_random(7, (uint64_t)i, (uint64_t)k);
        bytes[0] = 0x20; /* global unicast; in IPv4 a public network */
        inet_ntop(AF_INET, bytes, b->address[0][i], INET6_ADDRSTRLEN);
        inet_ntop(AF_INET6, bytes, b->address[1][i], INET6_ADDRSTRLEN);
    }
}

static int target_of(int64_t measurement) {
    return (int)leat_random_below(leat_random(8, 0, (uint64_t)measurement), TARGETS);
}

static leat_probe_facts make_facts(const bench *b, int64_t n) {
    const char *source = b->address[0][0];
    leat_probe_facts facts = {.n_measurements = n, .first_us = INT64_C(1556136002000000)};
    facts.last_us = facts.first_us + (n - 1) * 180000000;
    facts.src_size = (int32_t)strlen(source);
    facts.src_id = leat_address_src_id(source, facts.src_size);
    memcpy(facts.src, source, (size_t)facts.src_size);
    for (int64_t i = 0; i < n; i++) facts.dst_bytes += (int64_t)strlen(b->address[0][target_of(i)]);
    return facts;
}

static row make_row(const bench *b, int64_t n) {
    leat_probe_facts facts = make_facts(b, n);
    leat_probe_plan plan;
    leat_error err = {0};
    bench_must(leat_probe_plan_row(&facts, false, &plan, &err), &err);
    row made = {bench_room(plan.record_bytes), plan.record_bytes};
    leat_probe_plan_put_frame(&plan, made.bytes);
    uint8_t *column[LEAT_PROBE_COLUMNS];
    for (int k = 0; k < LEAT_PROBE_COLUMNS; k++) column[k] = made.bytes + plan.column_offset[k];
    int32_t src_end = 0, dst_end = 0;
    memcpy(column[LEAT_PROBE_SRC_OFFSETS], &src_end, 4);
    memcpy(column[LEAT_PROBE_DST_OFFSETS], &dst_end, 4);
    for (int64_t i = 0; i < n; i++) {
        const char *target = b->address[0][target_of(i)];
        int64_t time_us = facts.first_us + i * 180000000;
        float rtt = i % 28 == 0 ? -1.0f : 10.0f + (float)(i % 90);
        int32_t size = (int32_t)strlen(target);
        memcpy(column[LEAT_PROBE_EVENT_TIME] + 8 * i, &time_us, 8);
        memcpy(column[LEAT_PROBE_SRC_DATA] + src_end, facts.src, (size_t)facts.src_size);
        memcpy(column[LEAT_PROBE_DST_DATA] + dst_end, target, (size_t)size);
        src_end += facts.src_size;
        dst_end += size;
        memcpy(column[LEAT_PROBE_SRC_OFFSETS] + 4 * (i + 1), &src_end, 4);
        memcpy(column[LEAT_PROBE_DST_OFFSETS] + 4 * (i + 1), &dst_end, 4);
        column[LEAT_PROBE_IP_VERSION][i] = 4;
        memcpy(column[LEAT_PROBE_RTT] + 4 * i, &rtt, 4);
    }
    return made;
}

/* ---- what is measured: each call returns how many units of work it did -------------------------
 */

static int64_t do_copy(bench *b) {
    memcpy(b->to, b->from, COPIED_BYTES);
    __asm__ volatile("" : : "r"(b->to) : "memory");
    return COPIED_BYTES;
}

/* The same size as the hashes below read, which may stay in the last-level cache. */
static int64_t do_copy_row(bench *b) {
    memcpy(b->to, b->from, HASHED_BYTES);
    __asm__ volatile("" : : "r"(b->to) : "memory");
    return HASHED_BYTES;
}

static int64_t do_highway(bench *b) {
    b->sum += leat_highwayhash_of(b->from, HASHED_BYTES);
    return HASHED_BYTES;
}

static int64_t do_highway_portable(bench *b) {
    static const uint64_t key[4] = {1, 2, 3, 4};
    b->sum += leat_highwayhash_portable(key, b->from, HASHED_BYTES);
    return HASHED_BYTES;
}

static int64_t do_sha256(bench *b) {
    leat_sha256 sha;
    uint8_t digest[32];
    leat_sha256_init(&sha);
    leat_sha256_update(&sha, b->from, HASHED_BYTES);
    leat_sha256_final(&sha, digest);
    b->sum += digest[0];
    return HASHED_BYTES;
}

static int64_t do_page_hashes(bench *b) {
    for (int64_t at = 0; at < HASHED_BYTES; at += PAGE_BYTES)
        b->sum += leat_xxh3(b->from + at, PAGE_BYTES);
    return HASHED_BYTES;
}

static int64_t do_plan(bench *b) {
    leat_probe_plan plan;
    leat_error err = {0};
    bench_must(leat_probe_plan_row(&b->facts, false, &plan, &err), &err);
    b->sum += (uint64_t)plan.record_bytes;
    return 1;
}

static int64_t decode(bench *b, const row *from) {
    leat_error err = {0};
    bench_must(
        leat_probe_record_decode(from->bytes, from->size_bytes, NULL, &b->decoded, NULL, &err),
        &err);
    b->sum += (uint64_t)b->decoded.address_count;
    return b->decoded.count;
}

static int64_t do_decode_small(bench *b) { return decode(b, &b->small); }
static int64_t do_decode_large(bench *b) { return decode(b, &b->large); }

static int64_t parse_all(bench *b, int which) {
    uint8_t bytes[16];
    for (int i = 0; i < TARGETS; i++) {
        const char *text = b->address[which][i];
        b->sum += (uint64_t)leat_address_parse(text, (int64_t)strlen(text), bytes) + bytes[3];
    }
    return TARGETS;
}

static int64_t parse_all_pton(bench *b, int which) {
    uint8_t bytes[16];
    for (int i = 0; i < TARGETS; i++)
        b->sum +=
            (uint64_t)inet_pton(which == 0 ? AF_INET : AF_INET6, b->address[which][i], bytes) +
            bytes[3];
    return TARGETS;
}

static int64_t do_parse_v4(bench *b) { return parse_all(b, 0); }
static int64_t do_parse_v6(bench *b) { return parse_all(b, 1); }
static int64_t do_pton_v4(bench *b) { return parse_all_pton(b, 0); }
static int64_t do_pton_v6(bench *b) { return parse_all_pton(b, 1); }

static int64_t write_records(bench *b, const row *record) {
    leat_ar_options options = leat_ar_options_default();
    leat_ar_writer *writer = NULL;
    leat_error err = {0};
    char path[LEAT_PATH_BYTES];
    int64_t written = 0;
    bench_must(leat_path_join(path, sizeof path, b->dir, "bench.arrayrecord", &err), &err);
    bench_must(leat_ar_writer_create(&writer, path, &options, true, &err), &err);
    for (; written < b->file_bytes; written += record->size_bytes)
        bench_must(leat_ar_writer_append(writer, record->bytes, record->size_bytes, &err), &err);
    bench_must(leat_ar_writer_finish(writer, &err), &err);
    leat_ar_writer_destroy(writer);
    bench_must(leat_path_remove(path, &err), &err);
    return written;
}

static int64_t do_write_small(bench *b) { return write_records(b, &b->small); }
static int64_t do_write_large(bench *b) { return write_records(b, &b->large); }

/* The same file system, the same bytes, in pieces of 256 KiB, as the writer's buffer has. */
static int64_t do_write_plain(bench *b) {
    leat_file *file = NULL;
    leat_error err = {0};
    char path[LEAT_PATH_BYTES];
    int64_t written = 0, piece = 256 * 1024;
    bench_must(leat_path_join(path, sizeof path, b->dir, "bench.plain", &err), &err);
    bench_must(leat_file_open(&file, path, LEAT_FILE_CREATE, &err), &err);
    for (; written < b->file_bytes; written += piece)
        bench_must(leat_file_pwrite(file, b->from + written % COPIED_BYTES, piece, written, &err),
                   &err);
    leat_file_close(file);
    bench_must(leat_path_remove(path, &err), &err);
    return written;
}

/* ---- measuring ---------------------------------------------------------------------------- */

typedef struct measure {
    const char *name;
    int64_t (*work)(bench *b);
} measure;

/* A figure and its bound are adjacent, so that they are measured in turn. */
static const measure measures[] = {
    {"memcpy_bytes", do_copy},
    {"memcpy_row_bytes", do_copy_row},
    {"highway_bytes", do_highway},
    {"highway_portable_bytes", do_highway_portable},
    {"sha256_bytes", do_sha256},
    {"page_hash_bytes", do_page_hashes},
    {"write_plain_bytes", do_write_plain},
    {"write_small_bytes", do_write_small},
    {"write_large_bytes", do_write_large},
    {"plan_rows", do_plan},
    {"decode_small_measurements", do_decode_small},
    {"decode_large_measurements", do_decode_large},
    {"parse_v4_addresses", do_parse_v4},
    {"inet_pton_v4_addresses", do_pton_v4},
    {"parse_v6_addresses", do_parse_v6},
    {"inet_pton_v6_addresses", do_pton_v6},
};

/* Units per second, over at least `seconds`; the first call warms up and is not counted. */
static double rate(bench *b, const measure *m, double seconds) {
    int64_t units = 0, calls = 1;
    m->work(b);
    double begin = bench_seconds(), elapsed = 0;
    while (elapsed < seconds) {
        for (int64_t i = 0; i < calls; i++) units += m->work(b);
        elapsed = bench_seconds() - begin;
        if (elapsed < seconds / 100) calls *= 2; /* so that the clock's cost is negligible */
    }
    return (double)units / elapsed;
}

int main(int argc, char **argv) {
    if (argc < 2 || argc > 4) bench_die("usage: bench_formats DIR [MILLISECONDS [FILE_BYTES]]");
    double seconds = argc > 2 ? (double)bench_number(argv[2], 1) / 1e3 : 0.2;
    bench *b = bench_room(sizeof(bench));
    memset(b, 0, sizeof *b);
    b->dir = argv[1];
    b->file_bytes = argc > 3 ? bench_number(argv[3], 1) : INT64_C(256) << 20;
    b->from = bench_room(COPIED_BYTES);
    b->to = bench_room(COPIED_BYTES);
    for (int64_t i = 0; i < COPIED_BYTES / 8; i++)
        ((uint64_t *)(void *)b->from)[i] = leat_random(9, 0, (uint64_t)i);
    make_addresses(b);
    b->facts = make_facts(b, SMALL_ROW);
    b->small = make_row(b, SMALL_ROW);
    b->large = make_row(b, LARGE_ROW);

    leat_json *json = bench_json_begin();
    for (size_t i = 0; i < sizeof measures / sizeof measures[0]; i++)
        leat_json_member_double(json, measures[i].name, rate(b, &measures[i], seconds));
    leat_json_member_int(json, "small_row_measurements", SMALL_ROW);
    leat_json_member_int(json, "small_row_bytes", b->small.size_bytes);
    leat_json_member_int(json, "large_row_measurements", LARGE_ROW);
    leat_json_member_int(json, "large_row_bytes", b->large.size_bytes);
    leat_json_member_int(json, "sum", (int64_t)(b->sum & INT64_MAX));
    bench_json_end(json);
    leat_measurements_free(&b->decoded);
    free(b->small.bytes);
    free(b->large.bytes);
    free(b->from);
    free(b->to);
    free(b);
    return 0;
}
