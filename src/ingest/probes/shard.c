/*
 * Writing and publishing shards: see shard.h. A shard is written under its name with ".tmp",
 * synced, its part saved, and renamed last: a shard with its final name is complete and its part
 * exists.
 */
#include "ingest/probes/shard.h"

#include <stdio.h>
#include <string.h>

#include "base/thread.h"

/* Large shards are written back to disk while they grow. */
#define WRITEBACK_BYTES (INT64_C(32) << 20)

static leat_code shard_path(const char *dir, leat_split split, int64_t shard, const char *suffix,
                            char path[LEAT_PATH_BYTES], leat_error *err) {
    char name[LEAT_SHARD_NAME_BYTES + 8];
    leat_layout_shard_name(split, shard, name);
    size_t length = strlen(name);
    snprintf(name + length, sizeof name - length, "%s", suffix);
    return leat_path_join(path, LEAT_PATH_BYTES, dir, name, err);
}

leat_code leat_shard_part_path(const char *parts_dir, leat_split split, int64_t shard,
                               char path[LEAT_PATH_BYTES], leat_error *err) {
    char name[LEAT_SHARD_NAME_BYTES];
    snprintf(name, sizeof name, "%s_%05lld.part", leat_split_name(split), (long long)shard);
    return leat_path_join(path, LEAT_PATH_BYTES, parts_dir, name, err);
}

leat_code leat_shard_part_sync(const char *parts_dir, leat_split split, int64_t shard,
                               leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_file *file = NULL;
    LEAT_TRY(leat_shard_part_path(parts_dir, split, shard, path, err));
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_READ, err));
    leat_code code = leat_file_sync(file, err);
    leat_file_close(file);
    return code;
}

/* ---- the publisher ---- */

static void done_free(leat_shard_done *done) {
    leat_file_close(done->file);
    leat_shard_part_free(&done->part);
    *done = (leat_shard_done){0};
}

static leat_code publish(const leat_publisher *publisher, leat_shard_done *done, leat_error *err) {
    char from[LEAT_PATH_BYTES], to[LEAT_PATH_BYTES], part_path[LEAT_PATH_BYTES];
    const leat_shard_info *info = &done->part.info;
    LEAT_TRY(shard_path(publisher->options.out_dir, info->split, info->number, ".tmp", from, err));
    LEAT_TRY(shard_path(publisher->options.out_dir, info->split, info->number, "", to, err));
    LEAT_TRY(leat_shard_part_path(publisher->options.parts_dir, info->split, info->number,
                                  part_path, err));
    LEAT_TRY(leat_file_sync(done->file, err));
    LEAT_TRY(leat_shard_part_save(&done->part, publisher->options.run, part_path, err));
    return leat_path_rename(from, to, err);
}

/* Starts the writeback of every queued shard, so that the disk is never idle between two syncs. */
static void ask_writeback(leat_publisher *publisher) {
    for (; publisher->asked < publisher->queued; publisher->asked++) {
        const leat_shard_done *next = &publisher->queue[publisher->asked % LEAT_PUBLISHER_QUEUE];
        leat_file_start_writeback(next->file, 0, next->part.info.file_bytes);
    }
}

static void *publisher_main(void *argument) {
    leat_publisher *publisher = argument;
    pthread_mutex_lock(&publisher->lock);
    for (;;) {
        while (publisher->published == publisher->queued && !publisher->closing) {
            pthread_cond_wait(&publisher->changed, &publisher->lock);
        }
        if (publisher->published == publisher->queued) break;
        leat_shard_done *done = &publisher->queue[publisher->published % LEAT_PUBLISHER_QUEUE];
        bool drop = publisher->code != LEAT_OK;
        if (!drop) ask_writeback(publisher);
        pthread_mutex_unlock(&publisher->lock);
        leat_error err = {0};
        leat_code code = drop ? LEAT_OK : publish(publisher, done, &err);
        if (!drop && code == LEAT_OK && publisher->options.on_published != NULL) {
            publisher->options.on_published(publisher->options.on_published_context, done->tag);
        }
        done_free(done);
        pthread_mutex_lock(&publisher->lock);
        publisher->published++;
        if (publisher->asked < publisher->published) publisher->asked = publisher->published;
        if (code != LEAT_OK && publisher->code == LEAT_OK) {
            publisher->code = code;
            publisher->err = err;
        }
        pthread_cond_broadcast(&publisher->changed);
    }
    pthread_mutex_unlock(&publisher->lock);
    return NULL;
}

leat_code leat_publisher_start(leat_publisher *publisher, const leat_publisher_options *options,
                               leat_error *err) {
    LEAT_ASSERT(options->queue_length >= 1 && options->queue_length <= LEAT_PUBLISHER_QUEUE);
    *publisher = (leat_publisher){.options = *options};
    pthread_mutex_init(&publisher->lock, NULL);
    pthread_cond_init(&publisher->changed, NULL);
    leat_code code = leat_thread_start(&publisher->thread, publisher_main, publisher, err);
    publisher->running = code == LEAT_OK;
    if (publisher->running) return LEAT_OK;
    pthread_mutex_destroy(&publisher->lock);
    pthread_cond_destroy(&publisher->changed);
    return code;
}

leat_code leat_publisher_add(leat_publisher *publisher, leat_shard_done *done, leat_error *err) {
    pthread_mutex_lock(&publisher->lock);
    while (publisher->queued - publisher->published >= publisher->options.queue_length) {
        pthread_cond_wait(&publisher->changed, &publisher->lock);
    }
    leat_code code = publisher->code;
    if (code == LEAT_OK) {
        publisher->queue[publisher->queued % LEAT_PUBLISHER_QUEUE] = *done;
        *done = (leat_shard_done){0};
        publisher->queued++;
        pthread_cond_broadcast(&publisher->changed);
    } else {
        leat_error_copy(err, &publisher->err);
    }
    pthread_mutex_unlock(&publisher->lock);
    done_free(done);
    return code;
}

leat_code leat_publisher_finish(leat_publisher *publisher, bool drop, leat_error *err) {
    if (!publisher->running) return LEAT_OK;
    pthread_mutex_lock(&publisher->lock);
    publisher->closing = true;
    if (drop && publisher->code == LEAT_OK) {
        publisher->code = leat_fail(&publisher->err, LEAT_ERR_CANCELLED, "publishing was stopped");
    }
    pthread_cond_broadcast(&publisher->changed);
    pthread_mutex_unlock(&publisher->lock);
    pthread_join(publisher->thread, NULL);
    publisher->running = false;
    pthread_mutex_destroy(&publisher->lock);
    pthread_cond_destroy(&publisher->changed);
    if (publisher->code != LEAT_OK && !drop) leat_error_copy(err, &publisher->err);
    return drop ? LEAT_OK : publisher->code;
}

/* ---- one shard ---- */

leat_code leat_shard_writer_open(leat_shard_writer *self, leat_split split, int64_t shard,
                                 leat_error *err) {
    LEAT_ASSERT(self->file == NULL);
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(shard_path(self->publisher->options.out_dir, split, shard, ".tmp", path, err));
    LEAT_TRY(leat_file_open(&self->file, path, LEAT_FILE_CREATE, err));
    leat_sink_options options = {
        .want_sha256 = true,
        .want_page_hashes = self->options->compression == LEAT_COMPRESSION_NONE,
        .writeback_bytes = WRITEBACK_BYTES,
    };
    leat_code code = leat_sink_create(&self->sink, self->file, &options, err);
    if (code == LEAT_OK) {
        code = leat_ar_sink_writer_create(&self->writer, self->sink, self->options, err);
    }
    if (code != LEAT_OK) {
        leat_shard_writer_close(self);
        return code;
    }
    leat_sha256_init(&self->records_sha);
    self->part.info.split = split;
    self->part.info.number = (int32_t)shard;
    return LEAT_OK;
}

static leat_code add_index_row(leat_shard_writer *self, const leat_probe_facts *facts,
                               int ip_version, const leat_ar_place *place, leat_error *err) {
    leat_index_row row = {
        .src_id = facts->src_id,
        .first_us = facts->first_us,
        .last_us = facts->last_us,
        .chunk_offset = place->chunk_offset,
        .record_bytes = place->size_bytes,
        .n_measurements = (uint32_t)facts->n_measurements,
        .ip_version = (uint8_t)ip_version,
    };
    return leat_shard_part_add_row(&self->part, &row, err);
}

leat_code leat_shard_writer_append(leat_shard_writer *self, const leat_probe_facts *facts,
                                   int ip_version, const void *record, int64_t record_bytes,
                                   leat_error *err) {
    leat_sha256_update(&self->records_sha, &record_bytes, 8);
    leat_sink_beside(self->sink, &self->records_sha, record, record_bytes);
    leat_ar_place place;
    leat_code code = leat_ar_sink_writer_append(self->writer, record, record_bytes, &place, err);
    leat_sink_beside_end(self->sink);
    if (code != LEAT_OK) return code;
    return add_index_row(self, facts, ip_version, &place, err);
}

/* The first time that a record is produced, its bytes also go into the digest of the records. */
typedef struct digest_tap {
    leat_sha256 *sha;
    const leat_ar_stream *record;
    int passes;
    leat_ar_put_fn put;
    void *put_context;
} digest_tap;

static leat_code put_tapped(void *context, const void *bytes, int64_t size_bytes, leat_error *err) {
    digest_tap *tap = context;
    if (tap->passes == 1) leat_sha256_update(tap->sha, bytes, size_bytes);
    return tap->put(tap->put_context, bytes, size_bytes, err);
}

static leat_code produce_tapped(void *context, leat_ar_put_fn put, void *put_context,
                                leat_error *err) {
    digest_tap *tap = context;
    tap->passes++;
    tap->put = put;
    tap->put_context = put_context;
    return tap->record->produce(tap->record->context, put_tapped, tap, err);
}

leat_code leat_shard_writer_append_stream(leat_shard_writer *self, const leat_probe_facts *facts,
                                          int ip_version, const leat_ar_stream *record,
                                          leat_error *err) {
    digest_tap tap = {.sha = &self->records_sha, .record = record};
    const leat_ar_stream tapped = {record->size_bytes, produce_tapped, &tap};
    leat_sha256_update(&self->records_sha, &record->size_bytes, 8);
    leat_ar_place place;
    LEAT_TRY(leat_ar_sink_writer_append_stream(self->writer, &tapped, self->temp_dir, &place, err));
    return add_index_row(self, facts, ip_version, &place, err);
}

leat_code leat_shard_writer_finish(leat_shard_writer *self, leat_error *err) {
    LEAT_ASSERT(self->file != NULL);
    leat_code code = leat_ar_sink_writer_finish(self->writer, err);
    if (code == LEAT_OK) code = leat_sink_finish(self->sink, err);
    if (code == LEAT_OK) {
        leat_shard_info *info = &self->part.info;
        info->file_bytes = leat_sink_position(self->sink);
        leat_sink_sha256(self->sink, info->file_sha256);
        leat_sha256_final(&self->records_sha, info->records_sha256);
        int64_t page_count = 0;
        const uint64_t *pages = leat_sink_page_hashes(self->sink, &page_count);
        code = leat_shard_part_set_pages(&self->part, pages, page_count, err);
    }
    if (code == LEAT_OK) {
        leat_shard_done done = {.file = self->file, .part = self->part, .tag = self->tag};
        self->file = NULL;
        self->part = (leat_shard_part){0};
        leat_shard_writer_close(
            self); /* no lock or buffer is held while waiting for the publisher */
        code = leat_publisher_add(self->publisher, &done, err);
    }
    leat_shard_writer_close(self);
    return code;
}

void leat_shard_writer_close(leat_shard_writer *self) {
    leat_ar_sink_writer_destroy(self->writer);
    leat_sink_destroy(self->sink);
    leat_file_close(self->file);
    leat_shard_part_free(&self->part);
    self->writer = NULL;
    self->sink = NULL;
    self->file = NULL;
}
