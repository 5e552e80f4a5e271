/*
 * Data sets that keep every rule (hash or ordered split, shard ranges, cut rows), with at most one
 * seeded bug: what verification must catch. Values are functions of (probe, measurement).
 */
#ifndef TESTS_LOAD_PLANT_H
#define TESTS_LOAD_PLANT_H

#include "format/dataset/index.h"
#include "format/probe/row.h"

#define PLANT_BUGS(X)                                                                              \
    X(PLANT_NOTHING)                                                                               \
    X(PLANT_SRC_ID)         /* a src_id that is no MD5 of the source */                            \
    X(PLANT_VALUES_SWAPPED) /* two measurements of a row exchanged */                              \
    X(PLANT_TIES_SWAPPED)   /* two of one time, by destination */                                  \
    X(PLANT_RTT_SWAPPED)    /* two of one time and destination */                                  \
    X(PLANT_PROBES_SWAPPED) /* two probes of a shard exchanged */                                  \
    X(PLANT_ROWS_SWAPPED)   /* two rows of a probe exchanged */                                    \
    X(PLANT_CUT_EARLY)      /* a row one measurement shorter than the rule makes it */             \
    X(PLANT_CUT_LATE)       /* and one longer */                                                   \
    X(PLANT_OTHER_SPLIT)    /* a probe moved to the other split */                                 \
    X(PLANT_BOTH_SPLITS)    /* a probe in both */                                                  \
    X(PLANT_OTHER_SHARD)    /* a probe in the shard beside its own */                              \
    X(PLANT_TWO_SOURCES)    /* a row whose second measurement has another source */                \
    X(PLANT_EXTRA_RECORD)   /* a record that neither index nor manifest knows */                   \
    X(PLANT_INDEX_TIME)     /* an index row with another first time */                             \
    X(PLANT_INDEX_COUNT)    /* with another number of measurements */                              \
    X(PLANT_INDEX_VERSION)  /* with another version */                                             \
    X(PLANT_INDEX_SRC)      /* with another src_id */                                              \
    X(PLANT_INDEX_SIZE)     /* with another record size */                                         \
    X(PLANT_SHARD_COUNT)    /* more shards than the options make */                                \
    X(PLANT_PAGE_HASH)      /* a page hash in the index that is not the page's */                  \
    X(PLANT_RECORDS_HASH)   /* a hash of records that is not theirs */                             \
    X(PLANT_FRAME)          /* padding between columns that is not zero */                         \
    X(PLANT_RATIO)          /* options that state another train_ratio */                           \
    X(PLANT_SEED)           /* another seed */                                                     \
    X(PLANT_ROW_LIMIT)      /* another max_row_size */                                             \
    X(PLANT_NO_OPTIONS)     /* no options at all */

#define PLANT_ENUM(name) name,
typedef enum plant_bug { PLANT_BUGS(PLANT_ENUM) PLANT_BUG_COUNT } plant_bug;
#undef PLANT_ENUM

typedef struct plant_options {
    plant_bug bug;
    bool ordered; /* split */
    bool dictionary_src;
    leat_ar_options record;
    int64_t max_row_bytes;
    /* Changes a record before it is written, and hashed; NULL: nothing. */
    void (*spoil)(uint8_t *record, int64_t size_bytes);
} plant_options;
plant_options plant_options_default(void);

#define PLANT_PROBES 40
typedef struct plant_value {
    int64_t time_us;
    char dst[LEAT_PROBE_SRC_BYTES];
    int ip_version;
    float rtt;
} plant_value;

void plant_source(int probe, char src[LEAT_PROBE_SRC_BYTES]);
int64_t plant_count(int probe);
plant_value plant_measurement(int probe, int64_t i);

/* Writes the data set; fails the test when it cannot. */
void plant(const char *dir, const plant_options *options);

/* Progress of work on such a data set that ends the work. */
bool plant_stop_at_once(void *user, const leat_progress *progress);

#endif
