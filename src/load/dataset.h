/*
 * A data set opened for reading, private part: its shards and where their bytes come from.
 *
 *   shard of ours, uncompressed   mapped at its first touch; pages checked against the index
 *   shard of ours, compressed     read by a leat_ar_reader; records kept in the cache
 *   file of others                the same, and the facts of a row are found when it is asked for
 */
#ifndef LEAT_LOAD_DATASET_H
#define LEAT_LOAD_DATASET_H

#include <stdatomic.h>

#include "base/thread.h"
#include "format/arrayrecord.h"
#include "format/index.h"
#include "format/paged.h"
#include "format/probe_row.h"
#include "leat/load.h"
#include "load/record_cache.h"
#include "load/src_table.h"

/* What the callback of a shard's page hashes needs. */
typedef struct leat_shard_pages {
    const leat_index *index;
    int64_t shard;
    _Atomic int64_t *payload_bytes; /* of the data set */
} leat_shard_pages;

typedef struct leat_shard {
    leat_dataset_shard facts; /* name included */
    char *name, *path;
    leat_shard_pages pages;
    bool is_mapped;     /* an uncompressed shard of ours */
    leat_map *unmapped; /* of no bytes: names it where its pages are read instead */
    /* Made at the first touch, under the data set's lock, and kept until the end. */
    _Atomic(leat_paged *) paged;
    /* Opened when needed and closed again when too many are: guarded by the lock. */
    leat_ar_reader *reader; /* of records; of pages that are read, `file` */
    leat_file *file;
    int64_t found_bytes; /* that the open file has */
    int users;
    int64_t used;        /* tick of the last use */
    int64_t chunk_count; /* of a file of others: it must not change between two openings */
} leat_shard;

/* A row of others: facts once they are known. */
typedef struct leat_other_row {
    _Atomic int known;
    int8_t ip_version;
    int64_t src_id, n_measurements, first_us, last_us, record_bytes;
} leat_other_row;

struct leat_dataset {
    leat_dataset_facts facts;
    leat_manifest manifest; /* empty unless indexed */
    leat_index *index;      /* NULL unless indexed */
    leat_shard *shards;
    int64_t shard_count;
    leat_other_row *others; /* NULL if indexed */
    leat_record_cache *cache;
    leat_src_table *addresses;     /* NULL: none were given */
    _Atomic int64_t payload_bytes; /* of shards, that were read and checked so far */
    int64_t process;               /* that opened it */
    pthread_mutex_t lock;
    int files_open;
    int64_t tick;
    bool has_fingerprint;
    char fingerprint[65];
};

/* Files that stay open at once. */
#define LEAT_FILES_OPEN_MAX 128

/* ---- dataset_open.c: folders of ours, files of others ---- */
LEAT_MUST_CHECK leat_code leat_dataset_open_ours(leat_dataset *dataset, const char *dir,
                                                 leat_error *err);
LEAT_MUST_CHECK leat_code leat_dataset_open_others(leat_dataset *dataset, const char *const *paths,
                                                   int64_t path_count, leat_error *err);

/* ---- shard.c: bytes of a shard ---- */
/*
 * The mapped shard, which lives as long as the data set. A file that has not the size that the
 * manifest says is refused, or, with any_size, as good as its pages: those past its end are
 * damaged.
 */
LEAT_MUST_CHECK leat_code leat_shard_paged(const leat_dataset *dataset, int64_t shard,
                                           bool any_size, const leat_paged **out, leat_error *err);
/* The reader of a shard, until leat_shard_reader_release. */
LEAT_MUST_CHECK leat_code leat_shard_reader_acquire(const leat_dataset *dataset, int64_t shard,
                                                    bool any_size, const leat_ar_reader **out,
                                                    leat_error *err);
/* The same for a shard that could be mapped: its file, and how many bytes that has. */
LEAT_MUST_CHECK leat_code leat_shard_file_acquire(const leat_dataset *dataset, int64_t shard,
                                                  bool any_size, leat_file **out,
                                                  int64_t *file_bytes, leat_error *err);
void leat_shard_release(const leat_dataset *dataset, int64_t shard);
/* What a leat_paged on pages of the shard has as its hash function; the context is shard->pages. */
LEAT_MUST_CHECK leat_code leat_shard_page_hash(const void *context, int64_t page, uint64_t *hash,
                                               leat_error *err);
/* The fingerprint of files of others. */
LEAT_MUST_CHECK leat_code leat_dataset_hash_others(const leat_dataset *dataset, uint8_t digest[32],
                                                   leat_error *err);
void leat_shard_close(leat_shard *shard);

/* ---- row.c ---- */
/* How the cursor gets at shards that can be mapped, from its next row on; any_size: see
 * leat_shard_paged. */
void leat_row_set_io(leat_row *cursor, leat_io io, bool any_size);

/* ---- extent.c ---- */

/* The pages of one record, read from its shard: the leat_paged reads and checks them where they
 * lie in `record`, by the same numbers as in the whole file. */
typedef struct leat_extent {
    leat_paged paged;
    leat_cached_record *record; /* NULL: none */
} leat_extent;
LEAT_MUST_CHECK leat_code leat_extent_read(leat_extent *extent, const leat_dataset *dataset,
                                           const leat_row_facts *facts, int64_t row,
                                           int64_t chunk_offset, bool any_size, leat_error *err);
/* {0} accepted. */
void leat_extent_release(leat_extent *extent, const leat_dataset *dataset);

/* ---- dataset.c ---- */
/* The shard of a row. */
int64_t leat_dataset_shard_of(const leat_dataset *dataset, int64_t row);
/*
 * The record of a row that is not mapped, from the cache or the file, checked; to be given back by
 * leat_record_cache_release.
 */
LEAT_MUST_CHECK leat_code leat_dataset_record(const leat_dataset *dataset, int64_t row,
                                              bool any_size, leat_cached_record **out,
                                              leat_error *err);
/* The source of rows that have none themselves, by src_id; NULL if none was given. */
const char *leat_dataset_source(const leat_dataset *dataset, int64_t src_id);
/* Bytes of shards that were read and checked so far: a page of a mapped shard once. */
int64_t leat_dataset_payload_bytes(const leat_dataset *dataset);
/* leat_dataset_row, and where the chunk of the row begins in its shard (0 if not indexed). */
LEAT_MUST_CHECK leat_code leat_dataset_row_place(const leat_dataset *dataset, int64_t row,
                                                 leat_row_facts *facts, int64_t *chunk_offset,
                                                 leat_error *err);
/* The manifest and index of a data set of ours; NULL otherwise. */
const leat_manifest *leat_dataset_manifest(const leat_dataset *dataset);
const leat_index *leat_dataset_index(const leat_dataset *dataset);

/* ---- damage.c ---- */
/*
 * Looks for damage in the record of a row of ours: all of its pages, or its chunk. Returns the byte
 * of the shard where it begins and why; -1 if there is none.
 */
int64_t leat_dataset_damaged_byte(const leat_dataset *dataset, int64_t row, leat_error *why);

#endif
