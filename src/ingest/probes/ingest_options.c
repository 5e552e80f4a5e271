/* The options of `leat ingest probes` as a table, and those that are recorded in the manifest. */
#include <stdio.h>
#include <string.h>

#include "format/arrayrecord/arrayrecord.h"
#include "format/dataset/layout.h"
#include "ingest/option_rows.h"
#include "ingest/probes/job.h"

leat_probes_ingest_options leat_probes_ingest_options_default(void) {
    return (leat_probes_ingest_options){
        .memory_bytes = INT64_C(512) << 20,
        .threads = leat_cpu_count(),
        .train_ratio = 0.9,
        .split = LEAT_SPLIT_HASH,
        .max_row_bytes = INT64_C(8) << 20,
        .probes_per_shard = 1000,
        .probe = "address",
        .record = leat_ar_options_default(),
    };
}

/* ---- compression -------------------------------------------------------------------------- */

static leat_code parse_compression(const char *text, void *member, leat_error *err) {
    return leat_ar_options_parse(text, member, err);
}

static leat_code check_compression(const void *member, leat_error *err) {
    char text[LEAT_AR_COMPRESSION_TEXT_BYTES];
    return leat_ar_compression_text(member, text, err);
}

static void format_compression(const void *member, char text[LEAT_SETTING_BYTES]) {
    _Static_assert(LEAT_AR_COMPRESSION_TEXT_BYTES <= LEAT_SETTING_BYTES, "a compression fits");
    if (leat_ar_compression_text(member, text, NULL) != LEAT_OK) text[0] = 0;
}

static const leat_setting_type compression = {parse_compression, check_compression,
                                              format_compression};

/* ---- the table ---------------------------------------------------------------------------- */

typedef leat_probes_ingest_options probes;
#define AT(field) .place = offsetof(probes, field)
#define INT(word, field, least, most)                                                              \
    .name = word, .kind = LEAT_SETTING_INT, AT(field), .min = least, .max = most
#define FLAG(word, field) .name = word, .kind = LEAT_SETTING_FLAG, AT(field)

/* Enough for text of any length with one thread and the default compression. */
#define LEAT_PROBES_MEMORY_MIB_MIN 48

/* Those that decide bytes in the order of the manifest. */
static const leat_setting rows[] = {
    {LEAT_INGEST_MEMORY(probes, LEAT_PROBES_MEMORY_MIB_MIN)},
    {LEAT_INGEST_THREADS(probes)},
    {INT("seed", seed, 0, INT64_MAX), .value = "S", .help = "seed of the train/test split"},
    {.name = "train-ratio",
     .kind = LEAT_SETTING_REAL,
     AT(train_ratio),
     .high = 1,
     .value = "R",
     .help = "fraction of the probes in the training split"},
    {.name = "split",
     .kind = LEAT_SETTING_CHOICE,
     AT(split),
     .choices = "hash|ordered",
     .help = "hash: by a keyed hash of the probe, stable when data is added; ordered: the first "
             "probes in byte order of the address are training probes"},
    {.name = "max-row-size",
     .kind = LEAT_SETTING_SIZE,
     AT(max_row_bytes),
     .min = 1024,
     .max = INT64_MAX,
     .choices = "none",
     .value = "SIZE|none",
     .help = "split a probe into rows of at most this many bytes of measurements; none: one row "
             "per probe"},
    {INT("shards", shards, 1, LEAT_SHARDS_MAX), .choices = "auto", .value = "N|auto",
     .help = "write exactly N training shards, and test shards in proportion; auto: by "
             "--probes-per-shard"},
    {INT("probes-per-shard", probes_per_shard, 1, INT64_MAX),
     .help = "number of probes per shard file"},
    {.name = "compression",
     .kind = LEAT_SETTING_OTHER,
     AT(record),
     .type = &compression,
     .value = "NAME",
     .help = "none, snappy, zstd or brotli, the last two with an optional level (zstd:9); loaders "
             "can only map uncompressed data"},
    {FLAG("dictionary-src", dictionary_src),
     .help = "store the source address once per row: about 30 % smaller"},
    {FLAG("zero-address", zero_address),
     .help = "keep rows whose address is empty, as 0.0.0.0 or ::"},
    {.name = "address",
     .kind = LEAT_SETTING_CHOICE,
     AT(address),
     .choices = "auto|written|canonical",
     .help = "auto: store addresses as written, but IPv4-mapped ones (::ffff:192.0.2.1) as IPv4; "
             "written: all as written; canonical: all in the form of RFC 5952, so that each "
             "address is one probe"},
    {.name = "probe",
     .kind = LEAT_SETTING_TEXT,
     AT(probe),
     .value = "address|COLUMN",
     .help =
         "what a probe is, which decides its split and its rows: an address, or a value of this "
         "column or JSON member, such as prb_id of RIPE Atlas"},
    {.name = "lost",
     .kind = LEAT_SETTING_TEXT,
     AT(lost),
     .value = "VALUE[,VALUE]",
     .usually = "no value",
     .help =
         "values of rtt, as they are written in the input (before units), that stand for a lost "
         "ping: 0,9999"},
    {FLAG("per-packet", per_packet),
     .help = "RIPE Atlas: one measurement per packet instead of the average of each result"},
    {.name = "duplicates",
     .kind = LEAT_SETTING_CHOICE,
     AT(duplicates),
     .choices = "keep|drop",
     .help = "measurements that equal another one in all columns: keep and count them, or drop all "
             "but the first; equal answers of one result (--per-packet) are not duplicates"},
    {LEAT_INGEST_FLAG(probes, "strict", strict), .help = "fail on the first row that is rejected"},
    {LEAT_INGEST_TEMP(probes), .help = "existing folder for temporary data"},
    {.name = "spill",
     .kind = LEAT_SETTING_CHOICE,
     AT(spill),
     .neutral = true,
     .choices = "auto|always",
     .help = "auto: write measurements to temporary files only if they do not fit in memory; "
             "always: write all of them, so that an ingest that was killed, not only one that was "
             "stopped, can be resumed after its scan"},
    {LEAT_INGEST_RESUME(probes)},
    {LEAT_INGEST_REPLACE(probes)},
    {LEAT_INGEST_VERIFY(probes),
     .help = "hash the inputs before an existing result is reused; equal sizes and modification "
             "times are not enough"},
    {.name = NULL},
};

static void set_defaults(void *options) {
    *(probes *)options = leat_probes_ingest_options_default();
}

const leat_setting_table *leat_probes_ingest_options_table(void) {
    static const leat_setting_table table = {"an ingest of probes", rows, sizeof(probes),
                                             set_defaults};
    return &table;
}

const char *leat_probes_column(const leat_probes_ingest_options *o) {
    return o->probe == NULL || strcmp(o->probe, "address") == 0 ? NULL : o->probe;
}

leat_code leat_probes_options_check(const leat_probes_ingest_options *o, leat_error *err) {
    leat_probes_ingest_options checked = *o;
    if (checked.shards > 0) checked.probes_per_shard = 1; /* decides nothing */
    LEAT_TRY(leat_settings_check(leat_probes_ingest_options_table(), &checked, err));
    leat_lost lost;
    LEAT_TRY(leat_lost_read(o->lost, &lost, err));
    if (o->record.group_size != 1) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "group size is %d: a chunk holds one probe row; use 1",
                         o->record.group_size);
    }
    return leat_ingest_check_flags(o->resume, o->replace, err);
}

/* ---- in the manifest ---------------------------------------------------------------------- */

/* "max-row-size" as "max_row_size", with the value formatted by kind. */
static leat_code add_setting(leat_manifest *manifest, const leat_setting *row, const probes *o,
                             leat_error *err) {
    const void *at = (const char *)o + row->place;
    char key[LEAT_MANIFEST_KEY_BYTES], text[LEAT_SETTING_BYTES];
    int64_t whole = 0;
    double real = 0;
    snprintf(key, sizeof key, "%s", row->name);
    for (char *c = key; *c != 0; c++) {
        if (*c == '-') *c = '_';
    }
    switch (row->kind) {
    case LEAT_SETTING_FLAG: return leat_manifest_add_bool(manifest, key, *(const bool *)at, err);
    case LEAT_SETTING_REAL:
        memcpy(&real, at, sizeof real);
        return leat_manifest_add_real(manifest, key, real, err);
    case LEAT_SETTING_INT:
    case LEAT_SETTING_SIZE:
        memcpy(&whole, at, sizeof whole);
        return leat_manifest_add_int(manifest, key, whole, err);
    default: return leat_manifest_add_text(manifest, key, leat_setting_get(row, o, text), err);
    }
}

/* In one order and spelling; not without values, as of the versions without the option. */
static leat_code describe_lost(const probes *o, leat_manifest *manifest, leat_error *err) {
    leat_lost lost;
    char text[LEAT_LOST_TEXT_BYTES];
    LEAT_TRY(leat_lost_read(o->lost, &lost, err));
    leat_lost_write(&lost, text);
    return lost.count == 0 ? LEAT_OK : leat_manifest_add_text(manifest, "lost", text, err);
}

leat_code leat_probes_options_describe(const leat_probes_ingest_options *o, leat_manifest *manifest,
                                       leat_error *err) {
    const char *idle = o->shards > 0 ? "probes-per-shard" : "shards";
    for (const leat_setting *row = rows; row->name != NULL; row++) {
        if (row->neutral || strcmp(row->name, idle) == 0) continue;
        /* the default is not recorded: the manifest is that of versions without the option */
        if (row->place == offsetof(probes, duplicates) && o->duplicates == LEAT_DUPLICATES_KEEP)
            continue;
        if (row->place == offsetof(probes, probe) && leat_probes_column(o) == NULL) continue;
        if (row->place == offsetof(probes, address) && o->address == LEAT_ADDRESS_AUTO) continue;
        if (row->place == offsetof(probes, lost)) {
            LEAT_TRY(describe_lost(o, manifest, err));
            continue;
        }
        LEAT_TRY(add_setting(manifest, row, o, err));
    }
    return LEAT_OK;
}
