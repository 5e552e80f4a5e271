/*
 * leat/load_images.h: image data sets opened for reading: images one by one, and the loader that
 * makes training batches from them. leat/load.h is the same for probe rows.
 */
#ifndef LEAT_LOAD_IMAGES_H
#define LEAT_LOAD_IMAGES_H

#include "leat/batch.h"
#include "leat/format.h"
#include "leat/load.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The images of a folder or zip, as written by leat_images_ingest; docs/images.md says what they
 * are. Opening reads what is known of each image, but no pixel. The file of the pixels is mapped,
 * and each 4 KiB page of it is checked once, before anything in it is returned (LEAT_ERR_CORRUPT
 * and LEAT_ERR_IO name file and byte; the handler of SIGBUS that mapping installs is described in
 * leat/load.h). Several threads may read a data set at once, and so may a forked child. Texts
 * belong to the data set.
 */
typedef struct leat_images leat_images;

/* Whether `path` is the folder of an image data set, finished or not: to be opened with
 * leat_images_open. */
LEAT_API bool leat_images_is_at(const char *path);
/* LEAT_ERR_NOT_FOUND: there is no complete data set at `path`; the message says what is there. */
LEAT_API LEAT_MUST_CHECK leat_code leat_images_open(leat_images **out, const char *path,
                                                    leat_error *err);
/* After its loaders. */
LEAT_API void leat_images_close(leat_images *images);

typedef struct leat_images_facts {
    const char *path;
    const char *fingerprint;    /* SHA-256 of all pixels, 64 hexadecimal digits */
    const char *decoded_sha256; /* of the hashes of the decoded originals: differs where another
                                   decoder gave other pixels */
    int64_t count;              /* N */
    int32_t size;               /* S: images are S x S pixels */
    int64_t image_bytes;        /* S S 3 */
    int64_t rejected;           /* files that are not in it: DIR/rejected.csv */
    int64_t file_bytes;         /* of the pixels' file */
    const char *sorted_sha256;  /* of the hashes of the decoded originals in ascending order: equal
                                   if the pictures are, whatever their names; "": by an older
                                   leat */
    int64_t texts;              /* files that were skipped because they are texts */
    const char *background;     /* "#rrggbb" under transparent pixels; "drop": alpha was dropped */
} leat_images_facts;
LEAT_API void leat_images_get_facts(const leat_images *images, leat_images_facts *facts);

typedef struct leat_image_facts {
    const char *name;      /* relative to the folder or zip, parts separated by "/" */
    int32_t width, height; /* of the original, upright */
    uint64_t decoded;      /* XXH3-64 of its pixels before they were resized */
} leat_image_facts;
/* Image 0 <= index < count; they are in the order of their names. LEAT_ERR_OPTION: there is no such
 * image. */
LEAT_API LEAT_MUST_CHECK leat_code leat_images_get_entry(const leat_images *images, int64_t index,
                                                         leat_image_facts *facts, leat_error *err);
/* The image of this name; -1 if there is none. */
LEAT_API int64_t leat_images_find(const leat_images *images, const char *name);

/* Copies the image_bytes of an image [S, S, 3]: rows from the top, red, green, blue. On failure out
 * is zeroed. LEAT_ERR_OPTION: there is no such image. */
LEAT_API LEAT_MUST_CHECK leat_code leat_images_read(const leat_images *images, int64_t index,
                                                    uint8_t *out, leat_error *err);

/* ---- Images as PNG --------------------------------------------------------------------------- */

/* Writes an image to a file: see leat_png_save. */
LEAT_API LEAT_MUST_CHECK leat_code leat_images_save(const leat_images *images, int64_t index,
                                                    const char *path, bool replace,
                                                    leat_error *err);

#define LEAT_IMAGES_SHEET_COLUMNS 8
/* A contact sheet: up to 64 images, evenly spaced over the data set, in rows of 8. */
typedef struct leat_images_sheet {
    leat_png *png;
    int32_t width, height; /* of the sheet, in pixels */
    int32_t cell, gap;     /* of an image: those of more than 96 pixels are reduced; between two */
    int count;             /* images, that of number i is images[i] of the data set */
    int64_t images[LEAT_IMAGES_SHEET_COLUMNS * LEAT_IMAGES_SHEET_COLUMNS];
} leat_images_sheet;
LEAT_API LEAT_MUST_CHECK leat_code leat_images_sheet_create(leat_images_sheet **out,
                                                            const leat_images *images,
                                                            leat_error *err);
LEAT_API void leat_images_sheet_destroy(leat_images_sheet *sheet);

/* ---- Summary and verification ---------------------------------------------------------------- */

typedef struct leat_images_summary_options {
    int threads;            /* 1..256; the result does not depend on it */
    int64_t read_bytes_max; /* read images up to about this many bytes; -1: all; 0: none */
    leat_progress_fn progress;
    void *progress_user;
} leat_images_summary_options;
/* All processors, 4 GiB. */
LEAT_API leat_images_summary_options leat_images_summary_options_default(void);

#define LEAT_IMAGES_REJECTS_SHOWN 3
#define LEAT_IMAGES_REJECT_BYTES 256
/* Files that were rejected for one reason. */
typedef struct leat_images_rejects {
    int64_t count;
    int shown; /* the first of them, and what was wrong; texts end with "..." if truncated */
    char file[LEAT_IMAGES_REJECTS_SHOWN][LEAT_IMAGES_REJECT_BYTES];
    char what[LEAT_IMAGES_REJECTS_SHOWN][LEAT_IMAGES_REJECT_BYTES];
} leat_images_rejects;

typedef struct leat_images_summary {
    int64_t images;
    /* Of the originals, from what is known of each image. */
    leat_distribution width, height;
    int64_t enlarged; /* with a side shorter than S */
    leat_images_rejects rejects[LEAT_IMAGE_REASONS];
    /* Of the images that were read: all of them, or a sample that depends only on their number. */
    int64_t read_images;
    int64_t brightness[LEAT_PIXEL_LEVELS]; /* images by their mean level, rounded */
    int64_t levels[3][LEAT_PIXEL_LEVELS];  /* pixels by level: red, green, blue */
    double mean[3], deviation[3];          /* of those levels; 0 if no image was read */
    const uint8_t *mean_image;             /* [S, S, 3], rounded; zeros if no image was read */
} leat_images_summary;

/*
 * Summarises a data set. Damage fails the call (leat_images_verify lists all of it). Memory: 5 MB,
 * and 10 bytes a pixel and thread.
 */
LEAT_API LEAT_MUST_CHECK leat_code
leat_images_summary_create(leat_images_summary **out, const leat_images *images,
                           const leat_images_summary_options *options, leat_error *err);
LEAT_API void leat_images_summary_destroy(leat_images_summary *summary);

typedef struct leat_images_verify_report {
    int64_t images, rejected, file_bytes; /* read and checked */
    int64_t problem_count, note_count;
    leat_verify_finding *findings; /* by file and byte; those of the entire data set come last */
    int64_t finding_count;
} leat_images_verify_report;

/*
 * Reads all of a data set and checks it (docs/inspect.md lists what). As with leat_verify, damage
 * does not fail the call; findings name lines of rejected.csv instead of records. NULL options: the
 * defaults. Memory: 8 bytes a page, images.json, and 1 MB a thread.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_images_verify(const char *path,
                                                      const leat_verify_options *options,
                                                      leat_images_verify_report **out,
                                                      leat_error *err);
LEAT_API void leat_images_verify_report_destroy(leat_images_verify_report *report);

/* ---- Batches of images ---------------------------------------------------------------------- */

/*
 * A leat_loader for images: a batch is a pure function of the pixels, the options batch, as and
 * seed, and the step, and what leat/load.h says of threads, slots, waiting and processes applies
 * here too. Row r of step s is position s batch + r of the run, whose image is that of
 * leat_image_at. Positions run on over the ends of epochs, so every batch is full.
 */
typedef struct leat_image_loader leat_image_loader;

typedef enum leat_image_values {
    LEAT_IMAGE_U8,   /* levels: u8 [rows, S, S, 3] */
    LEAT_IMAGE_FLOAT /* values of leat_pixel_table: f32 [rows, 3, S, S] */
} leat_image_values;

typedef struct leat_image_loader_options {
    int64_t batch; /* rows of the global batch, 1 .. 2^20 */
    leat_image_values as;
    uint64_t seed;  /* below 2^63 */
    int64_t epochs; /* steps end with the batch that completes this many; 0: no end */
    /* This host makes rows [host_index batch / host_count, (host_index + 1) batch / host_count):
     * host_count divides batch. */
    int64_t host_index, host_count;
    int threads;      /* 1 .. 256 */
    int64_t prefetch; /* as in leat_loader_options, and memory_bytes too */
    int64_t memory_bytes;
    /* 0: the global order, the images of a batch may be anywhere in the file. Else the windowed
     * order of leat_image_order, for data sets larger than memory: 1 MiB to 1 TiB. Two windows have
     * to fit into the page cache. See docs/loading.md. */
    int64_t window_bytes;
} leat_image_loader_options;
/* Batch 64, levels, seed 0, no end, one host, all processors, LEAT_PREFETCH_AUTO, 512 MiB. */
LEAT_API leat_image_loader_options leat_image_loader_options_default(void);
/* The options by name: "batch", "as", "seed", "epochs", "host", ... */
LEAT_API const leat_setting_table *leat_image_loader_options_table(void);

/* The data set must outlive the loader. NULL options: the defaults. LEAT_ERR_OPTION names the
 * option and its value. */
LEAT_API LEAT_MUST_CHECK leat_code
leat_image_loader_create(leat_image_loader **out, const leat_images *images,
                         const leat_image_loader_options *options, leat_error *err);
/* Batches that the caller holds stay valid. */
LEAT_API void leat_image_loader_destroy(leat_image_loader *loader);

/* Rows of a global batch; each array on pages of its own, read-only, except that the only owner of
 * a batch may write to its arrays until it is released. */
typedef struct leat_image_batch {
    int64_t step;
    int64_t first_position;       /* of the run: that of its first row */
    int64_t first_row, row_count; /* rows of the global batch */
    int32_t size;                 /* S */
    const uint8_t *u8;            /* [row_count, S, S, 3]; NULL with floats */
    const float *f32;             /* [row_count, 3, S, S]; NULL with levels */
    const int64_t *index;         /* [row_count]: the images */
} leat_image_batch;

/* The next batch, owned by the caller until leat_image_batch_release; *out is NULL at the end of
 * the epochs, or after 2^40 steps. A step that failed fails again until leat_image_loader_seek,
 * with the error of its lowest row. */
LEAT_API LEAT_MUST_CHECK leat_code leat_image_loader_next(leat_image_loader *loader,
                                                          const leat_image_batch **out,
                                                          leat_error *err);
/* As leat_loader_wait. */
LEAT_API bool leat_image_loader_wait(leat_image_loader *loader, int64_t timeout_ms);
LEAT_API void leat_image_batch_retain(const leat_image_batch *batch);
LEAT_API void leat_image_batch_release(const leat_image_batch *batch);

/* The step of the next batch; the number of steps, -1 without end. */
LEAT_API int64_t leat_image_loader_step(const leat_image_loader *loader);
LEAT_API int64_t leat_image_loader_step_count(const leat_image_loader *loader);
/* The next batch will be that of `step`, 0 .. step count. */
LEAT_API LEAT_MUST_CHECK leat_code leat_image_loader_seek(leat_image_loader *loader, int64_t step,
                                                          leat_error *err);
/* As leat_loader_state: a run may resume with another number of hosts. */
LEAT_API void leat_image_loader_state(const leat_image_loader *loader,
                                      char text[LEAT_LOADER_STATE_BYTES]);
LEAT_API LEAT_MUST_CHECK leat_code leat_image_loader_restore(leat_image_loader *loader,
                                                             const char *text, leat_error *err);
LEAT_API LEAT_MUST_CHECK leat_code leat_image_loader_save(const leat_image_loader *loader,
                                                          const char *path, bool replace,
                                                          leat_error *err);
LEAT_API LEAT_MUST_CHECK leat_code leat_image_loader_load(leat_image_loader *loader,
                                                          const char *path, leat_error *err);

typedef struct leat_image_loader_counters { /* of the batches returned so far, unless noted */
    int64_t batches, images;
    int64_t payload_bytes; /* of the pixels' file, read and checked since create, each page once */
    int64_t stall_ns;      /* that the caller has waited, including the current wait */
    int64_t work_ns;       /* that all threads together have worked */
    int64_t memory_bytes;  /* that the loader needs by its own count */
    int64_t prefetch;      /* in use */
    int64_t read_wait_ns;  /* windowed order: that threads waited for windows to be read */
} leat_image_loader_counters;
LEAT_API void leat_image_loader_get_counters(const leat_image_loader *loader,
                                             leat_image_loader_counters *out);

/* leat_batch_hash_add for images: a row's line is "step row sha256", over its pixels, levels or
 * little-endian floats. */
LEAT_API void leat_batch_hash_add_images(leat_batch_hash *hash, const leat_image_batch *batch,
                                         leat_textbuf *lines);

#ifdef __cplusplus
}
#endif
#endif
