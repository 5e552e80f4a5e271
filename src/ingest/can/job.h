/*
 * One run of `leat ingest can`: what the sources of this folder share, and the steps.
 *
 *   like     vocabulary and scaler of an existing cache, if they are to be used (cache/like.h)
 *   splits   which files are training, which are which test (cache/splits.h)
 *   folder   the cache of these inputs and settings if it exists, or else its work folder,
 *            locked, in the parent (cache/folder.h)
 *   frames   lines -> frames in the store, spilled (read/scan.h, store/store.h)
 *   plan     vocabulary; streams in time order; windows with their node counts and labels;
 *            which are validation; the order of graphs (cache/vocab.h, cache/plan.h)
 *   write    graph by graph into one safetensors file per split, with page hashes; the scaler
 *            (cache/write.h)
 *   publish  metadata, then the work folder becomes the cache (cache/describe.h)
 */
#ifndef LEAT_INGEST_CAN_JOB_H
#define LEAT_INGEST_CAN_JOB_H

#include "ingest/can/cache/folder.h"
#include "ingest/can/cache/plan.h"
#include "ingest/can/cache/vocab.h"
#include "ingest/can/read/column_option.h"
#include "ingest/can/read/scan.h"
#include "ingest/can/store/store.h"

/* Streams of the plan, from captures of the store. */
typedef struct leat_can_streams {
    int32_t *of; /* the stream of each capture of the store; -1: left out */
    leat_can_stream *items;
    int32_t count;
} leat_can_streams;

typedef struct leat_can_job {
    const leat_can_ingest_options *options;
    leat_can_ingest_result *result;
    leat_can_splits splits;
    leat_can_like like;
    leat_can_folder folder;
    leat_can_store *store;
    leat_can_names names;
    leat_can_plan plan;
    leat_can_file *files; /* what the scan found in each */
    const char **paths;   /* of the files, for the reject log */
    leat_reject_log *rejects;
    leat_ticker ticker;
    int64_t begin_ns, resident;
    int scan_threads, plan_threads, write_threads, rank_threads; /* as many as memory allows */
    bool is_short;            /* of memory, not counting the store */
    leat_can_mapping mapping; /* of --column */
    bool resumable; /* the scan is saved, by this run or an earlier one: --resume can use it */
    bool kept;      /* the run has failed, and its work was left for --resume */
} leat_can_job;

/* ---- memory (memory.c) ----------------------------------------------------------------------- */

/* How a limit on memory is shared out to the scan. */
typedef struct leat_can_shares {
    int threads;
    int64_t rejects_bytes, scan_bytes; /* the second with the first */
} leat_can_shares;
/* Half of the memory is for blocks of lines, the rest for what does not depend on threads. */
leat_can_shares leat_can_share_scan(const leat_can_job *job, int64_t memory_bytes);
/* What is left of --memory for the store's tables and buffers during the scan. LEAT_ERR_LIMIT: too
 * little. */
LEAT_MUST_CHECK leat_code leat_can_share_store(const leat_can_job *job,
                                               const leat_can_shares *shares, int64_t *left,
                                               leat_error *err);
/* The threads of the steps after the order, from what is left of --memory. */
LEAT_MUST_CHECK leat_code leat_can_share_threads(leat_can_job *job, const leat_can_streams *streams,
                                                 leat_error *err);
/* A sufficient --memory, in MiB, for logs that were not read. */
int64_t leat_can_unread_mib(const leat_can_job *job);
/* Makes of LEAT_ERR_LIMIT of any step one that names what all of them require. */
LEAT_MUST_CHECK leat_code leat_can_explain_memory(const leat_can_job *job, leat_code code,
                                                  leat_error *err);

/* ---- frames (frames.c) ----------------------------------------------------------------------- */

/* The store, filled by a scan of the logs, or as an interrupted run left it. */
LEAT_MUST_CHECK leat_code leat_can_frames_make(leat_can_job *job, leat_error *err);
/* An error that a full disk caused names the folder of temporary files, which may be on another
 * disk than the cache. */
LEAT_MUST_CHECK leat_code leat_can_name_temp(const leat_can_job *job, leat_code code,
                                             leat_error *err);

/* saved_scan.c: what a scan has found in the files, in the work folder, for --resume. */
LEAT_MUST_CHECK leat_code leat_can_saved_write(const leat_can_file *files, int64_t count,
                                               const char *path, leat_error *err);
/* LEAT_ERR_CORRUPT: it is damaged, or belongs to another scan than the one that filled the store.
 */
LEAT_MUST_CHECK leat_code leat_can_saved_read(leat_can_file *files, int64_t count,
                                              const leat_can_store *store, const char *path,
                                              leat_error *err);

/* ---- streams (streams.c) --------------------------------------------------------------------- */

/* Which captures form a stream; steps of the clock are counted in the result. Freed by the caller,
 * also on failure. */
LEAT_MUST_CHECK leat_code leat_can_streams_make(leat_can_job *job, leat_can_streams *streams,
                                                leat_error *err);

/* ---- what is reported ------------------------------------------------------------------------ */

/* existing_cache.c: the result of a run that found the cache. */
LEAT_MUST_CHECK leat_code leat_can_report_found(leat_can_job *job, leat_error *err);
/* ingest.c: what metadata says, in the result. */
void leat_can_fill_result(leat_can_job *job, const leat_can_meta *meta);
/* Appends a text to the result's warning. */
void leat_can_append_warning(leat_can_ingest_result *result, const char *text);

/* warnings.c: appends to the warning what the user should know about how files were read. */
LEAT_MUST_CHECK leat_code leat_can_warn_files(const leat_can_file *files,
                                              const leat_can_splits *splits,
                                              const leat_can_settings *settings, char *warning,
                                              size_t warning_bytes, leat_error *err);

/* identifiers.c: LEAT_ERR_INPUT: those of a csv may be hexadecimal or decimal. */
LEAT_MUST_CHECK leat_code leat_can_check_ids(leat_can_job *job, leat_error *err);

/* injected.c: the logs that metadata labels, in the result; appends to the warning what does not
 * agree with them. */
LEAT_MUST_CHECK leat_code leat_can_report_injected(leat_can_job *job, char *warning,
                                                   size_t warning_bytes, leat_error *err);

/* Appends a warning if nearly all training graphs have an attack, which few recordings do. */
void leat_can_warn_attacks(const leat_can_ingest_result *result, char *warning,
                           size_t warning_bytes);

#endif
