/*
 * One run of `leat ingest images`: what its steps share.
 *
 *   list     the files by name (list.h)
 *   folder   lock the output folder; everything is written to DIR/.leat
 *   read     threads read, decode and resize the files; in the order of the names, images are
 *            appended to DIR/.leat/out/images.safetensors, rejected files to rejected.csv, and both
 *            noted in DIR/.leat/images.notes
 *   finish   images.json and .complete; then DIR/.leat/out is moved into place
 *
 * A killed run is continued from its notes: what they say and the file of the images has is kept.
 */
#ifndef LEAT_INGEST_IMAGES_JOB_H
#define LEAT_INGEST_IMAGES_JOB_H

#include "base/budget.h"
#include "base/hash.h"
#include "base/sink.h"
#include "base/thread.h"
#include "format/image_set/image_set.h"
#include "ingest/folder.h"
#include "ingest/images/list.h"
#include "leat/ingest.h"

#define LEAT_IMAGE_NOTES_NAME "images.notes"
/* Of the text that says what is wrong with a file. */
#define LEAT_IMAGE_WHAT_BYTES 240

/* A reason against a file that is not meant to be an image: a text among images. It is skipped. */
#define LEAT_IMAGE_TEXT ((leat_image_reason)(LEAT_IMAGE_GOOD + 1))

/* What became of a file. */
typedef struct leat_image_outcome {
    leat_image_reason reason; /* LEAT_IMAGE_GOOD: it is in the data set, and: */
    int32_t width, height;
    uint32_t remarks;                 /* bits 1 << leat_image_remark */
    uint64_t decoded;                 /* XXH3-64 of its pixels at full size */
    uint64_t resized;                 /* of the resized ones */
    char what[LEAT_IMAGE_WHAT_BYTES]; /* of a rejected file */
} leat_image_outcome;

/* ---- notes.c: what is done, for a run that continues -------------------------------------- */

typedef struct leat_image_notes {
    leat_file *file;
    int64_t offset; /* of the notes on the file */
    leat_buf buffer;
    int64_t count; /* of files in all notes */
} leat_image_notes;

/* Everything that decides the data set apart from the contents of the files: the size, the
 * background, the files' names, sizes and times, and the versions of leat and of the decoders. */
typedef struct leat_image_setting {
    int32_t size, background;
    uint8_t files[32], versions[32]; /* SHA-256 */
} leat_image_setting;
void leat_image_setting_of(const leat_image_list *list, int32_t size, int32_t background,
                           leat_image_setting *out);

/* Whose notes they are. */
typedef struct leat_image_notes_key {
    const char *dir; /* the folder they are in */
    uint64_t run;
    const leat_image_setting *setting;
} leat_image_notes_key;

/* Begins the notes of a run. */
LEAT_MUST_CHECK leat_code leat_image_notes_create(leat_image_notes *notes,
                                                  const leat_image_notes_key *key, leat_error *err);
/* Opens those of an interrupted run and calls `each` for every file that they cover, from the
 * first, until it returns *keep false; later notes are dropped. LEAT_ERR_OPTION: they are of other
 * settings, and the message says which. Notes that are damaged end early. */
typedef leat_code (*leat_image_note_fn)(void *context, int64_t i, const leat_image_outcome *outcome,
                                        bool *keep, leat_error *err);
LEAT_MUST_CHECK leat_code leat_image_notes_open(leat_image_notes *notes,
                                                const leat_image_notes_key *key,
                                                leat_image_note_fn each, void *context,
                                                leat_error *err);
LEAT_MUST_CHECK leat_code leat_image_notes_add(leat_image_notes *notes,
                                               const leat_image_outcome *outcome, leat_error *err);
/* Hands all notes to the system. */
LEAT_MUST_CHECK leat_code leat_image_notes_flush(leat_image_notes *notes, leat_error *err);
void leat_image_notes_close(leat_image_notes *notes);

/* ---- rejects.c: rejected.csv ---------------------------------------------------------------- */

typedef struct leat_image_rejects {
    leat_file *file;
    leat_sink *sink;
    int64_t count;
    int64_t by[LEAT_IMAGE_REASONS];
    char first[400]; /* the first of them in words, for a message: "name": reason: what */
} leat_image_rejects;

LEAT_MUST_CHECK leat_code leat_image_rejects_create(leat_image_rejects *rejects, const char *dir,
                                                    leat_error *err);
LEAT_MUST_CHECK leat_code leat_image_rejects_add(leat_image_rejects *rejects, const char *name,
                                                 const leat_image_outcome *outcome,
                                                 leat_error *err);
/* Syncs the file, or removes it if nothing was rejected. */
LEAT_MUST_CHECK leat_code leat_image_rejects_finish(leat_image_rejects *rejects, leat_error *err);
void leat_image_rejects_close(leat_image_rejects *rejects);
/* Whether the file begins as a rejected.csv of images does; also if it does not exist. */
LEAT_MUST_CHECK leat_code leat_image_rejects_is_log(const char *path, bool *is_log,
                                                    leat_error *err);

/* ---- memory.c ------------------------------------------------------------------------------- */

/* What a thread keeps from file to file: a buffer of this size for files, a resizer that takes no
 * more than this. */
#define LEAT_IMAGE_KEPT_FILE_BYTES (INT64_C(256) << 10)
#define LEAT_IMAGE_KEPT_RESIZE_BYTES (INT64_C(512) << 10)

typedef struct leat_images_memory {
    int64_t limit_bytes;  /* --memory */
    int threads;          /* that read at the same time */
    int archives;         /* how often a zip archive is open */
    int64_t budget_bytes; /* that files may take together beyond what threads keep */
    /* what decides that */
    int threads_wanted;
    int32_t size;
    bool is_zip;
    int64_t files, names_bytes, resident_bytes;
} leat_images_memory;

/* With the resident set of the process as it is, once the files are listed. LEAT_ERR_LIMIT names
 * the minimum. */
LEAT_MUST_CHECK leat_code leat_images_memory_plan(const leat_image_list *list, int32_t size,
                                                  int threads, int64_t limit_bytes,
                                                  leat_images_memory *plan, leat_error *err);
/* The --memory, in MiB, with which one file may take need_bytes. */
int64_t leat_images_memory_for(const leat_images_memory *plan, int64_t need_bytes);
/* Images that are read by one thread before they are written. */
int leat_images_part(int32_t size);

/* ---- picture.c: from a file to S x S pixels ------------------------------------------------- */

/* What threads share. */
typedef struct leat_picture_source {
    const leat_image_list *list;
    int32_t size, background;
    const leat_images_memory *memory;
    leat_budget budget;
    pthread_mutex_t lock; /* of the archives */
    pthread_cond_t freed;
    leat_zip **archives; /* those that no thread uses are first */
    int archive_count, archives_free;
} leat_picture_source;

LEAT_MUST_CHECK leat_code leat_picture_source_create(leat_picture_source *source,
                                                     const leat_image_list *list, int32_t size,
                                                     int32_t background,
                                                     const leat_images_memory *memory,
                                                     leat_error *err);
void leat_picture_source_destroy(leat_picture_source *source);

/* The scratch space of a thread. */
typedef struct leat_picture_maker leat_picture_maker;
LEAT_MUST_CHECK leat_code leat_picture_maker_create(leat_picture_maker **out,
                                                    leat_picture_source *source, leat_error *err);
void leat_picture_maker_destroy(leat_picture_maker *maker);

/* Reads file i. *outcome says whether it is an image, whose pixels [S, S, 3] are then in `pixels`.
 * LEAT_ERR_LIMIT: it requires more memory than there is; *need_bytes is how much. */
LEAT_MUST_CHECK leat_code leat_picture_make(leat_picture_maker *maker, int64_t i, uint8_t *pixels,
                                            leat_image_outcome *outcome, int64_t *need_bytes,
                                            leat_error *err);
/* What the file would require, as far as its header says: 0 if it is not an image. */
LEAT_MUST_CHECK leat_code leat_picture_need(leat_picture_maker *maker, int64_t i,
                                            int64_t *need_bytes, leat_error *err);

/* ---- the job -------------------------------------------------------------------------------- */

typedef struct leat_images_job {
    const leat_images_ingest_options *options;
    leat_images_ingest_result *result;
    leat_image_filter filter;
    leat_image_list list;
    leat_ingest_folder folder;
    leat_image_setting setting;
    leat_images_memory memory;
    leat_image_writer *writer;
    leat_image_notes notes;
    leat_image_rejects rejects;
    int64_t done;    /* files that are written, rejected, skipped or kept from an earlier run */
    int64_t texts;   /* of these, those skipped */
    bool over_share; /* more files are rejected than allowed: a run may go on that allows them */
    bool complete;   /* DIR/.leat/out is a data set, which only has to be moved */
    leat_ticker ticker;
    int64_t begin_ns;
} leat_images_job;

/* folder.c */
extern const leat_ingest_folder_kind leat_images_folder_kind;
/* The data set in the stage is complete and on disk: from here on it is the one of DIR. */
LEAT_MUST_CHECK leat_code leat_images_folder_commit(const leat_ingest_folder *folder,
                                                    leat_error *err);

/* A file becomes an image, a row of rejected.csv, or is skipped; `name` is the list's. */
LEAT_MUST_CHECK leat_code leat_images_job_settle(leat_images_job *job, const char *name,
                                                 const leat_image_outcome *outcome,
                                                 leat_error *err);

/* Fails once the files rejected so far are too many, even if all that are left are good. */
LEAT_MUST_CHECK leat_code leat_images_job_check_share(leat_images_job *job, leat_error *err);

/* ingest_options.c */
LEAT_MUST_CHECK leat_code leat_images_options_check(const leat_images_ingest_options *o,
                                                    leat_error *err);

/* "#rrggbb"; "" for LEAT_IMAGE_DROP_ALPHA. */
void leat_images_background_text(int32_t background, char text[8]);

/* read.c: all files that are not done. */
LEAT_MUST_CHECK leat_code leat_images_job_read(leat_images_job *job, leat_error *err);
/* After it, or when it has stopped: hands what is done to the system. */
LEAT_MUST_CHECK leat_code leat_images_job_save(leat_images_job *job, leat_error *err);

#endif
