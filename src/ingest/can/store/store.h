/*
 * The frames of an ingest between parsing and windows: the scan's workers spill them block by
 * block, then they are read in time order, by capture or with several captures merged. Memory is
 * bounded for any number of frames and however far their times step back: what does not fit takes
 * more passes over the disk, and tables that do not fit are LEAT_ERR_LIMIT.
 *
 *   create -> take (from the scan, many threads) -> finish -> order -> read (many threads)
 *
 * After a failure of any of these except read, only destroy may be called; after a failure of
 * order, order may also be called again.
 */
#ifndef LEAT_INGEST_CAN_STORE_STORE_H
#define LEAT_INGEST_CAN_STORE_STORE_H

#include "base/ticker.h"
#include "graph/recording.h"
#include "ingest/can/store/frame.h"

/* The limits of a store: files, lines of a block, blocks of a file, identifiers of a worker. */
#define LEAT_CAN_FILES_MAX (1 << 24)
#define LEAT_CAN_LINES_MAX (1 << 24)
#define LEAT_CAN_BLOCKS_MAX (INT64_C(1) << 40)
#define LEAT_CAN_IDS_MAX (INT64_C(1) << 27)

/* A distinct identifier. */
typedef struct leat_can_id {
    char text[LEAT_CAN_ID_BYTES]; /* zero padded */
    int64_t frames;
    uint16_t bus;
} leat_can_id;

/* The frames of a file from one fall of its clock, or one pause (leat_can_store_options), to the
 * next, in the order of the file and whatever their bus. */
typedef struct leat_can_recording {
    double fall_s;       /* from the frame before it to its first one, less than 0 if that is a
                            pause; 0: it begins the file */
    int64_t first_frame; /* number in the file, from 0 */
    int64_t steps_back;  /* frames earlier than the recording's previous frame */
    int32_t file_index;
    int32_t number; /* in the file, from 0 */
} leat_can_recording;

/* One bus of one recording, if it has frames. */
typedef struct leat_can_capture {
    double first_s, last_s; /* smallest and largest time */
    int64_t frames;
    int64_t attack_frames;
    int64_t steps_back; /* frames earlier than the capture's previous frame */
    int32_t file_index;
    int32_t recording; /* index of leat_can_store_recordings */
    uint16_t bus;
} leat_can_capture;

typedef struct leat_can_store leat_can_store;
typedef struct leat_can_store_options {
    const char *temp_dir; /* exists; the store's files are created in it */
    uint64_t run;         /* number of the run: a saved store is loaded by the same run only */
    int workers;          /* 1..LEAT_THREADS_MAX */
    int64_t memory_bytes; /* of all its tables and buffers */
    int32_t file_count;   /* 1..LEAT_CAN_FILES_MAX */
    bool split_falls;     /* a fall of more than LEAT_CAN_CLOCK_FALL_S begins a recording; else each
                             file is one */
    double pause_s;      /* with split_falls, a longer time without a frame does as well; 0: none */
    leat_ticker *ticker; /* updated by load and order; must outlive the store; may be NULL */
} leat_can_store_options;

LEAT_MUST_CHECK leat_code leat_can_store_create(leat_can_store **out,
                                                const leat_can_store_options *options,
                                                leat_error *err);
/* Removes its files, unless leat_can_store_keep was called. */
void leat_can_store_destroy(leat_can_store *store);

/* A leat_can_batch_fn; `context` is the store. Once memory_bytes is used up, the remaining lines
 * are only counted, and leat_can_store_finish returns LEAT_ERR_LIMIT. */
LEAT_MUST_CHECK leat_code leat_can_store_take(void *context, int worker,
                                              const leat_can_batch *batch, leat_error *err);
/* After the scan. */
LEAT_MUST_CHECK leat_code leat_can_store_finish(leat_can_store *store, leat_error *err);

/* From here on the store is finished. All return the number, and the items by file and number, by
 * recording and bus, or by bus and text: the same for any number of threads. */
int64_t leat_can_store_recordings(const leat_can_store *store,
                                  const leat_can_recording **recordings);
int64_t leat_can_store_captures(const leat_can_store *store, const leat_can_capture **captures);
int64_t leat_can_store_ids(const leat_can_store *store, const leat_can_id **ids);
/* Whether identifier `id` (its index in leat_can_store_ids) occurs in a file. */
bool leat_can_store_met(const leat_can_store *store, int64_t id, int32_t file_index);
/* The same of frames that are not labelled as attacks. */
bool leat_can_store_met_beside_attacks(const leat_can_store *store, int64_t id, int32_t file_index);

/*
 * For a run that may be killed and resumed. save syncs nothing, since load checks all bytes: after
 * a power failure the run starts over, and no other run waits for the disk. It writes `path`
 * completely or not at all. load turns it into a finished store in the same temp_dir
 * (options->workers does not matter): LEAT_ERR_NOT_FOUND if there is no `path`, LEAT_ERR_CORRUPT if
 * it or a spilled frame is damaged or missing; all bytes are checked, under the ticker's stage
 * "checking". A load that fails removes nothing.
 */
LEAT_MUST_CHECK leat_code leat_can_store_save(leat_can_store *store, const char *path,
                                              leat_error *err);
LEAT_MUST_CHECK leat_code leat_can_store_load(leat_can_store **out,
                                              const leat_can_store_options *options,
                                              const char *path, leat_error *err);
/* The spilled frames outlive the store: a saved state refers to them. */
void leat_can_store_keep(leat_can_store *store);

/*
 * Puts frames in order: by time, equal times by file, block and line. streams[c] is the stream of
 * capture c, -1 to leave it out; captures of one stream are merged. id_number[i] is the number that
 * leat_can_store_read returns for identifier i. Discards an earlier order. Takes up to `threads`,
 * fewer if memory requires it; LEAT_ERR_LIMIT names the smallest sufficient memory_bytes. The
 * ticker's stage is "sorting", of frames.
 */
LEAT_MUST_CHECK leat_code leat_can_store_order(leat_can_store *store, const int32_t *streams,
                                               int32_t stream_count, const uint32_t *id_number,
                                               int threads, leat_error *err);
/* Above each of the order's numbers; 0 without frames. */
int64_t leat_can_store_numbers(const leat_can_store *store);
/* Whether memory_bytes was too low for anything. */
bool leat_can_store_is_short(const leat_can_store *store);
/* What decides how much memory logs take, for all lines given to the store; if not all of them are
 * in it, an estimate that is not too low. */
typedef struct leat_can_store_facts {
    int64_t workers;
    int64_t frames, blocks, captures;
    int64_t buses;    /* at most that many in a block of lines */
    int64_t ids, met; /* distinct ones, and pairs with files */
    int64_t batch_most;
} leat_can_store_facts;
leat_can_store_facts leat_can_store_get_facts(const leat_can_store *store);
/* The smallest memory_bytes sufficient for the scan and the order of such logs, while other parts
 * hold the given amount; and how much of it stays after the order. */
int64_t leat_can_facts_least_bytes(const leat_can_store_facts *facts, int64_t held_bytes);
int64_t leat_can_facts_kept_bytes(const leat_can_store_facts *facts);
/* Counts memory that others hold from now on as taken from memory_bytes. */
LEAT_MUST_CHECK leat_code leat_can_store_hold(leat_can_store *store, int64_t size_bytes,
                                              leat_error *err);
int64_t leat_can_store_frames(const leat_can_store *store, int32_t stream);
/* Bytes written to temporary files: every frame by the scan; and by the order those of blocks that
 * overlap in time, once for each pass that merges them. */
int64_t leat_can_store_spilled(const leat_can_store *store);

/* Where frames go: arrays of the caller, each may be NULL. */
typedef struct leat_can_frames_out {
    double *time;
    uint32_t *id;
    int16_t (*bytes)[LEAT_CAN_BYTES];
    bool *attack;
    uint8_t *type; /* of an attack: LEAT_CAN_TYPE_...; else 0 */
    int32_t *file; /* the frame's file */
} leat_can_frames_out;
/* Frames [first, first + count) of a stream. Callable from any number of threads at once; allocates
 * nothing. */
LEAT_MUST_CHECK leat_code leat_can_store_read(const leat_can_store *store, int32_t stream,
                                              int64_t first, int64_t count,
                                              const leat_can_frames_out *out, leat_error *err);

#endif
