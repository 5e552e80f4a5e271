/*
 * The arithmetic of reading.h. A record is read in two steps: its chunk is decoded (encoded bytes,
 * decoded bytes, the decoder's state), and the result is held while it is read (a copy of the
 * record, and its measurements in the arrays of the reader and of the caller). The memory of the
 * first step is released at once, so threads take turns; the memory of the second belongs to each
 * thread.
 */
#include "load/probes/reading.h"

#define MIB (INT64_C(1) << 20)
/* The process itself: libraries, stacks, everything that is not counted; less with a very small
 * limit. */
#define PROCESS_BYTES (16 * MIB)
/* The decoder's window and code tables, for windows of RFC 7932; checked once they are known. */
#define DECODER_BYTES (40 * MIB)
/* Sizes and offsets of a chunk's records. */
enum { RECORD_TABLE_BYTES = 18 };
/* Arrays of measurements take half the bytes of a record whose addresses repeat, and up to five
 * times as much if none do. */
enum { TABLE_FACTOR = 2, TABLE_FACTOR_MAX = 6 };
/* Or a thread's part of this share of the memory. */
enum { TABLE_SHARE = 4 };
/* A record of a chunk that holds several. */
enum { MEAN_FACTOR = 8 };
#define GROUPED_RECORD_BYTES (16 * MIB)
/* More than any machine has. */
#define CLAIM_MAX (INT64_C(1) << 50)
#define LIMIT_MIB_MAX (INT64_C(1) << 40)
/* The assumed memory of later steps if the first one fails, so that nothing is known about them:
 * the default. */
#define DEFAULT_BYTES (512 * MIB)

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t cache_of(const leat_reading *reading, int64_t memory_bytes) {
    return least(reading->cache_wanted, memory_bytes / 4);
}

/* The memory available for reading under a limit. */
static int64_t left_of(const leat_reading *reading, int64_t memory_bytes) {
    return memory_bytes - least(PROCESS_BYTES, memory_bytes / 4) - cache_of(reading, memory_bytes) -
           reading->table_bytes;
}

void leat_reading_init(leat_reading *reading, int64_t memory_bytes, int64_t cache_wanted) {
    *reading =
        (leat_reading){.memory_bytes = memory_bytes, .cache_wanted = cache_wanted, .threads = 1};
    leat_budget_create(&reading->gate, 0);
}

void leat_reading_destroy(leat_reading *reading) { leat_budget_destroy(&reading->gate); }

int64_t leat_reading_cache_bytes(const leat_reading *reading) {
    return cache_of(reading, reading->memory_bytes);
}

int64_t leat_reading_left(const leat_reading *reading) {
    return most(left_of(reading, reading->memory_bytes), 1);
}

leat_code leat_reading_take(leat_reading *reading, const char *what, int64_t size_bytes,
                            leat_error *err) {
    if (size_bytes <= leat_reading_left(reading)) {
        reading->table_bytes += size_bytes;
        return LEAT_OK;
    }
    int64_t enough = reading->table_bytes + size_bytes;
    return leat_fail(
        err, LEAT_ERR_LIMIT,
        "\"%s\": its tables require %lld MiB of memory, more than is left of the %lld MiB of "
        "--memory; use --memory %lldM",
        what, (long long)(size_bytes / MIB) + 1, (long long)(reading->memory_bytes / MIB),
        (long long)((enough + DEFAULT_BYTES) / MIB) + 1);
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* A number in a footer may be anything. */
static int64_t sane(int64_t said) { return least(said, CLAIM_MAX); }

static int64_t decode_bytes(const leat_reading_chunk *chunk) {
    int64_t decoded = sane(chunk->decoded_bytes);
    return sane(chunk->file_bytes) + decoded + least(8 * decoded, DECODER_BYTES) +
           sane(chunk->record_count) * RECORD_TABLE_BYTES;
}

/* The expected size of the largest record. */
static int64_t record_bytes(const leat_reading_chunk *chunk) {
    int64_t decoded = sane(chunk->decoded_bytes);
    if (chunk->record_count <= 1) return decoded;
    return least(decoded,
                 most(MEAN_FACTOR * (decoded / chunk->record_count), GROUPED_RECORD_BYTES));
}

static int64_t held_bytes(int64_t record) { return record * (1 + 2 * TABLE_FACTOR); }

static int64_t chunk_bytes(const leat_reading_chunk *chunk) {
    return decode_bytes(chunk) + held_bytes(record_bytes(chunk));
}

void leat_reading_widen(leat_reading_chunk *to, const leat_reading_chunk *chunk) {
    to->file_bytes = most(to->file_bytes, chunk->file_bytes);
    to->decoded_bytes = most(to->decoded_bytes, chunk->decoded_bytes);
    to->record_count = most(to->record_count, chunk->record_count);
}

void leat_reading_add_chunk(leat_reading *reading, const leat_reading_chunk *chunk) {
    int64_t bytes = chunk_bytes(chunk);
    reading->most_bytes = most(reading->most_bytes, bytes);
    leat_reading_widen(&reading->most, chunk);
    if (bytes > left_of(reading, reading->memory_bytes)) return;
    reading->fit_decode_bytes = most(reading->fit_decode_bytes, decode_bytes(chunk));
    reading->fit_record_bytes = most(reading->fit_record_bytes, record_bytes(chunk));
}

int leat_reading_share(leat_reading *reading, int threads) {
    int64_t left = leat_reading_left(reading), held = held_bytes(reading->fit_record_bytes);
    int64_t each = held + reading->fit_decode_bytes;
    int64_t count = each > 0 ? left / each : threads;
    if (count > threads) count = threads;
    if (count < 1) count = 1;
    reading->threads = threads;
    leat_budget_set_limit(&reading->gate, left - count * held);
    reading->table_max =
        most(TABLE_FACTOR_MAX * reading->fit_record_bytes + MIB, left / count / TABLE_SHARE);
    return (int)count;
}

int64_t leat_reading_least_mib(const leat_reading *reading, int64_t more_bytes) {
    int64_t need = reading->most_bytes + more_bytes, low = 0, high = 1;
    while (high < LIMIT_MIB_MAX && left_of(reading, high * MIB) < need) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (left_of(reading, middle * MIB) >= need) high = middle;
        else low = middle;
    }
    /* the next step over the same files (summary after verification) has tables of its own */
    return high + 2 + high / 16;
}

int64_t leat_reading_table_bytes(const leat_reading *reading, int64_t decoded_bytes) {
    return sane(decoded_bytes) * TABLE_SHARE * reading->threads;
}

/* ---- the gate -------------------------------------------------------------------------------- */

int64_t leat_reading_enter_most(leat_reading *reading, const leat_reading_chunk *chunk) {
    int64_t bytes = decode_bytes(chunk);
    leat_budget_take(&reading->gate, bytes);
    return bytes;
}

leat_code leat_reading_enter(leat_reading *reading, const leat_reading_chunk *chunk, int64_t *taken,
                             leat_error *err) {
    int64_t all = chunk_bytes(chunk);
    *taken = 0;
    if (all > left_of(reading, reading->memory_bytes)) {
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "its chunk of %lld bytes decodes to %lld bytes, and reading it requires "
                         "up to %lld MiB of memory, more than is left of the %lld MiB of "
                         "--memory; use --memory %lldM",
                         (long long)chunk->file_bytes, (long long)chunk->decoded_bytes,
                         (long long)(all / MIB) + 1, (long long)(reading->memory_bytes / MIB),
                         (long long)leat_reading_least_mib(reading, 0));
    }
    *taken = leat_reading_enter_most(reading, chunk);
    return LEAT_OK;
}

void leat_reading_leave(leat_reading *reading, int64_t taken) {
    leat_budget_return(&reading->gate, taken);
}
