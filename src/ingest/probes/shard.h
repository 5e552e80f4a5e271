/*
 * Shard files: rows are appended one after the other; digests and the index are collected. Finished
 * shards are passed to a publisher, a thread that waits for the disk so that no worker has to.
 */
#ifndef LEAT_INGEST_PROBES_SHARD_H
#define LEAT_INGEST_PROBES_SHARD_H

#include <pthread.h>

#include "format/arrayrecord/arrayrecord.h"
#include "format/dataset/index.h"
#include "format/probe/row.h"

/* A finished shard under its temporary name, all bytes passed to the kernel. */
typedef struct leat_shard_done {
    leat_file *file;
    leat_shard_part part;
    void *tag; /* of the writer, for leat_published_fn */
} leat_shard_done;

/* Called in the publisher's thread when the shard with this tag is on disk. */
typedef void (*leat_published_fn)(void *context, void *tag);

#define LEAT_PUBLISHER_QUEUE 128

typedef struct leat_publisher_options {
    const char *out_dir;            /* shards are published as out_dir/train/... */
    const char *parts_dir;          /* and their parts as parts_dir/train_00003.part */
    uint64_t run;                   /* its number is in the parts */
    int queue_length;               /* at most LEAT_PUBLISHER_QUEUE */
    leat_published_fn on_published; /* may be NULL */
    void *on_published_context;
} leat_publisher_options;

typedef struct leat_publisher {
    leat_publisher_options options;
    pthread_t thread;
    bool running;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    leat_shard_done queue[LEAT_PUBLISHER_QUEUE]; /* a ring */
    int64_t queued, asked, published;            /* counts: queued, writeback started, done */
    bool closing;
    leat_code code; /* the first failure; later shards are dropped */
    leat_error err;
} leat_publisher;

/* Folders and context must outlive it. */
LEAT_MUST_CHECK leat_code leat_publisher_start(leat_publisher *publisher,
                                               const leat_publisher_options *options,
                                               leat_error *err);
/* Takes ownership of file and part, also on failure. Waits while the queue is full. */
LEAT_MUST_CHECK leat_code leat_publisher_add(leat_publisher *publisher, leat_shard_done *done,
                                             leat_error *err);
/* Waits until everything is on disk, or drops the rest if `drop`; ends the thread. */
LEAT_MUST_CHECK leat_code leat_publisher_finish(leat_publisher *publisher, bool drop,
                                                leat_error *err);

/* "<parts_dir>/train_00003.part" */
LEAT_MUST_CHECK leat_code leat_shard_part_path(const char *parts_dir, leat_split split,
                                               int64_t shard, char path[LEAT_PATH_BYTES],
                                               leat_error *err);

/* Waits until a saved part is on disk; its name is on disk once parts_dir is synced. */
LEAT_MUST_CHECK leat_code leat_shard_part_sync(const char *parts_dir, leat_split split,
                                               int64_t shard, leat_error *err);

/* The shard that a worker is writing. */
typedef struct leat_shard_writer {
    const leat_ar_options *options;
    leat_publisher *publisher;
    const char *temp_dir; /* for records that must be compressed separately */
    void *tag;            /* passed on with each finished shard */
    leat_file *file;      /* NULL: none is open */
    leat_sink *sink;
    leat_ar_sink_writer *writer;
    leat_sha256 records_sha;
    leat_shard_part part;
} leat_shard_writer;

LEAT_MUST_CHECK leat_code leat_shard_writer_open(leat_shard_writer *self, leat_split split,
                                                 int64_t shard, leat_error *err);
/* One record; facts go to the index. */
LEAT_MUST_CHECK leat_code leat_shard_writer_append(leat_shard_writer *self,
                                                   const leat_probe_facts *facts, int ip_version,
                                                   const void *record, int64_t record_bytes,
                                                   leat_error *err);
/* One record that is produced piece by piece (leat_ar_sink_writer_append_stream). */
LEAT_MUST_CHECK leat_code leat_shard_writer_append_stream(leat_shard_writer *self,
                                                          const leat_probe_facts *facts,
                                                          int ip_version,
                                                          const leat_ar_stream *record,
                                                          leat_error *err);
/* Ends the open shard and passes it to the publisher. */
LEAT_MUST_CHECK leat_code leat_shard_writer_finish(leat_shard_writer *self, leat_error *err);
/* Drops the open shard. */
void leat_shard_writer_close(leat_shard_writer *self);

#endif
