/*
 * The frames of an ingest between parsing and windows: the scan's workers spill them block by
 * block, then they are read in time order, by capture or with several captures merged. Memory is
 * bounded however many frames there are and however far their times step back: what does not fit
 * makes more passes over the disk, and tables that do not fit are LEAT_ERR_LIMIT.
 *
 *   create -> take (from the scan, many threads) -> finish -> order -> read (many threads)
 *
 * After a failure of any of these but read, destroy is all that is left to do; of order too, but it
 * may be called again.
 */
#ifndef LEAT_INGEST_CAN_STORE_H
#define LEAT_INGEST_CAN_STORE_H

#include "base/ticker.h"
#include "ingest/can_lines.h"

/* What a store counts with: files, lines of a block, blocks of a file, identifiers of a worker. */
#define LEAT_CAN_FILES_MAX (1 << 24)
#define LEAT_CAN_LINES_MAX (1 << 24)
#define LEAT_CAN_BLOCKS_MAX (INT64_C(1) << 40)
#define LEAT_CAN_IDS_MAX (INT64_C(1) << 31)

/* An identifier, as it was met. */
typedef struct leat_can_id {
    char text[LEAT_CAN_ID_BYTES]; /* zero padded */
    int64_t frames;
    uint16_t bus;
} leat_can_id;

/* One bus of one file, if it has frames. */
typedef struct leat_can_capture {
    double first_s, last_s; /* smallest and largest time */
    int64_t frames;
    int64_t attack_frames;
    int64_t steps_back; /* frames whose time is before that of the capture's frame before it */
    int32_t file_index;
    uint16_t bus;
} leat_can_capture;

typedef struct leat_can_store leat_can_store;
typedef struct leat_can_store_options {
    const char *temp_dir; /* exists; the store's files are made in it */
    int workers;          /* 1..LEAT_THREADS_MAX */
    int64_t memory_bytes; /* of all its tables and buffers */
    int32_t file_count;   /* 1..LEAT_CAN_FILES_MAX */
    leat_ticker *ticker;  /* what load and order tell of; lives as long; may be NULL */
} leat_can_store_options;

LEAT_MUST_CHECK leat_code leat_can_store_create(leat_can_store **out,
                                                const leat_can_store_options *options,
                                                leat_error *err);
/* Removes its files, unless leat_can_store_keep was called. */
void leat_can_store_destroy(leat_can_store *store);

/* A leat_can_batch_fn; `context` is the store. LEAT_ERR_LIMIT names what is needed by then. */
LEAT_MUST_CHECK leat_code leat_can_store_take(void *context, int worker,
                                              const leat_can_batch *batch, leat_error *err);
/* After the scan. */
LEAT_MUST_CHECK leat_code leat_can_store_finish(leat_can_store *store, leat_error *err);

/* From here on the store is finished. Both return the number, and the items by file and bus, or by
 * bus and text: the same whatever threads there were. */
int64_t leat_can_store_captures(const leat_can_store *store, const leat_can_capture **captures);
int64_t leat_can_store_ids(const leat_can_store *store, const leat_can_id **ids);
/* Whether identifier `id` (its index in leat_can_store_ids) was met in a file. */
bool leat_can_store_met(const leat_can_store *store, int64_t id, int32_t file_index);

/*
 * For a run that may be killed and go on. save syncs nothing, since load checks all bytes: after a
 * loss of power the run begins anew, and no other waits for the disk. It writes `path`, whole or
 * not at all. load makes a finished store of it, in the same temp_dir (options->workers does not
 * matter): LEAT_ERR_NOT_FOUND if there is no `path`, LEAT_ERR_CORRUPT if it or a spilled frame is
 * damaged or gone; all bytes are checked, under the ticker's stage "checking". A load that fails
 * removes nothing.
 */
LEAT_MUST_CHECK leat_code leat_can_store_save(leat_can_store *store, const char *path,
                                              leat_error *err);
LEAT_MUST_CHECK leat_code leat_can_store_load(leat_can_store **out,
                                              const leat_can_store_options *options,
                                              const char *path, leat_error *err);
/* The spilled frames outlive the store: a saved state speaks of them. */
void leat_can_store_keep(leat_can_store *store);

/*
 * Puts frames in order: by time, equal times by file, block and line. streams[c] is the stream of
 * capture c, -1 to leave it out; captures of one stream are merged. id_number[i] is what frames
 * with identifier i are called by leat_can_store_read. An order from before is forgotten. Takes up
 * to `threads`, fewer where memory does not allow for them; LEAT_ERR_LIMIT names the least
 * memory_bytes that would do. The ticker's stage is "sorting", of frames.
 */
LEAT_MUST_CHECK leat_code leat_can_store_order(leat_can_store *store, const int32_t *streams,
                                               int32_t stream_count, const uint32_t *id_number,
                                               int threads, leat_error *err);
/* Counts what others keep from now on as taken from memory_bytes. */
LEAT_MUST_CHECK leat_code leat_can_store_hold(leat_can_store *store, int64_t size_bytes,
                                              leat_error *err);
int64_t leat_can_store_frames(const leat_can_store *store, int32_t stream);
/* Bytes that were written to temporary files: every frame by the scan, and by the order those of
 * blocks that overlap in time, where they do, once for each pass that merges them. */
int64_t leat_can_store_spilled(const leat_can_store *store);

/* Where frames go: arrays of the caller, each may be NULL. */
typedef struct leat_can_frames_out {
    double *time;
    uint32_t *id;
    int16_t (*bytes)[LEAT_CAN_BYTES];
    bool *attack;
    int32_t *file; /* that the frame is from */
} leat_can_frames_out;
/* Frames [first, first + count) of a stream. From any number of threads at once; allocates nothing.
 */
LEAT_MUST_CHECK leat_code leat_can_store_read(const leat_can_store *store, int32_t stream,
                                              int64_t first, int64_t count,
                                              const leat_can_frames_out *out, leat_error *err);

#endif
