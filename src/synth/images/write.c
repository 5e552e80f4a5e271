/*
 * Synthetic portraits on disk: threads draw and encode them; those of an archive are appended in
 * turn, those of a folder are files of their own. The bytes do not depend on the threads.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "format/image/image.h"
#include "format/zip/zip.h"
#include "leat/synth.h"
#include "synth/images/images.h"
#include "synth/output.h"

#define WHAT "synthetic images"
enum { QUALITY = 90, NAME_BYTES = 32, DIGITS_MIN = 6, DIGITS_MAX = 10 };

/* The scratch space of a thread. */
typedef struct painter {
    leat_canvas canvas;
    uint8_t rgb[LEAT_PORTRAIT_HEIGHT * LEAT_PORTRAIT_WIDTH * 3];
    leat_buf jpeg;
} painter;

typedef struct images_job {
    const leat_synth_images_options *options;
    const char *temp; /* the folder; NULL: an archive */
    leat_zip_writer *zip;
    painter *painters;
    int digits; /* of a name */
    leat_ticker ticker;
    atomic_llong bytes_written;
} images_job;

/* ---- names ---------------------------------------------------------------------------------- */

/* "000001.jpg", as in CelebA; as many digits as the last one needs, so that they sort. */
static void name_of(const images_job *job, int64_t index, char name[NAME_BYTES]) {
    snprintf(name, NAME_BYTES, "%0*lld.jpg", job->digits, (long long)index + 1);
}

static bool is_ours(const char *name) {
    int digits = 0;
    while (isdigit((unsigned char)name[digits])) digits++;
    return digits >= DIGITS_MIN && digits <= DIGITS_MAX && strcmp(name + digits, ".jpg") == 0;
}

/* ---- pictures ------------------------------------------------------------------------------- */

static leat_code write_file(images_job *job, int64_t index, const leat_buf *jpeg, leat_error *err) {
    char path[LEAT_PATH_BYTES], name[NAME_BYTES];
    leat_file *file = NULL;
    name_of(job, index, name);
    LEAT_TRY(leat_path_join(path, sizeof path, job->temp, name, err));
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_NEW, err));
    leat_code code = leat_file_pwrite(file, jpeg->data, jpeg->size, 0, err);
    if (code == LEAT_OK) code = leat_file_sync(file, err);
    leat_file_close(file);
    atomic_fetch_add(&job->bytes_written, jpeg->size);
    return code;
}

static leat_code make(void *context, int worker, int64_t index, leat_error *err) {
    images_job *job = context;
    painter *it = &job->painters[worker];
    leat_portrait_draw(job->options->seed, index, &it->canvas, it->rgb);
    it->jpeg.size = 0;
    LEAT_TRY(leat_jpeg_encode(it->rgb, LEAT_PORTRAIT_WIDTH, LEAT_PORTRAIT_HEIGHT, QUALITY,
                              &it->jpeg, err));
    if (job->temp == NULL) return leat_ticker_check(&job->ticker, err);
    LEAT_TRY(write_file(job, index, &it->jpeg, err));
    return leat_ticker_step(&job->ticker, 1, err);
}

static leat_code take(void *context, int worker, int64_t index, leat_error *err) {
    images_job *job = context;
    const leat_buf *jpeg = &job->painters[worker].jpeg;
    char name[NAME_BYTES];
    name_of(job, index, name);
    LEAT_TRY(leat_zip_writer_add(job->zip, name, jpeg->data, jpeg->size, err));
    return leat_ticker_step(&job->ticker, 1, err);
}

/* ---- the output ----------------------------------------------------------------------------- */

static leat_code draw_all(images_job *job, leat_error *err) {
    const int threads = job->options->threads;
    const leat_pool_job parts = {
        .parts = job->options->count,
        .threads = threads,
        .context = job,
        .make = make,
        .take = job->temp == NULL ? take : NULL,
    };
    LEAT_TRY(LEAT_NEW(&job->painters, threads, err));
    leat_code code = leat_pool_once(&parts, err);
    for (int i = 0; i < threads; i++) leat_buf_free(&job->painters[i].jpeg);
    leat_free(job->painters);
    return code;
}

static leat_code write_archive(images_job *job, leat_file *file, leat_error *err) {
    LEAT_TRY(leat_zip_writer_create(&job->zip, file, 0, err));
    leat_code code = draw_all(job, err);
    if (code == LEAT_OK) code = leat_zip_writer_finish(job->zip, err);
    atomic_store(&job->bytes_written, leat_zip_writer_bytes(job->zip));
    leat_zip_writer_destroy(job->zip);
    return code == LEAT_OK ? leat_file_sync(file, err) : code;
}

static leat_code write_to_file(void *context, const char *temp, leat_error *err) {
    images_job *job = context;
    leat_file *file = NULL;
    LEAT_TRY(leat_file_open(&file, temp, LEAT_FILE_NEW, err));
    leat_code code = write_archive(job, file, err);
    leat_file_close(file);
    return code;
}

static leat_code write_to_folder(void *context, const char *temp, leat_error *err) {
    images_job *job = context;
    job->temp = temp;
    LEAT_TRY(leat_path_make_dir(temp, err));
    LEAT_TRY(draw_all(job, err));
    return leat_path_sync_dir(temp, err);
}

leat_synth_images_options leat_synth_images_options_default(void) {
    return (leat_synth_images_options){.threads = leat_cpu_count()};
}

static leat_code check_options(const leat_synth_images_options *options, leat_error *err) {
    if (options->count < 1 || options->count > LEAT_SYNTH_IMAGES_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "--count must be between 1 and %lld, not %lld",
                         (long long)LEAT_SYNTH_IMAGES_MAX, (long long)options->count);
    if (options->threads < 1 || options->threads > LEAT_THREADS_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "--threads must be between 1 and %d, not %d",
                         LEAT_THREADS_MAX, options->threads);
    return LEAT_OK;
}

leat_code leat_synth_images(const char *out_path, const leat_synth_images_options *options,
                            leat_synth_images_result *result, leat_error *err) {
    const int64_t start_ns = leat_clock_ns();
    const bool is_folder = !leat_path_has_suffix_any_case(out_path, ".zip");
    images_job job = {.options = options, .digits = DIGITS_MIN};
    const leat_synth_output output = {
        .what = WHAT,
        .path = out_path,
        .is_folder = is_folder,
        .replace = options->replace,
        .is_ours = is_ours,
        .write = is_folder ? write_to_folder : write_to_file,
        .context = &job,
        .ticker = &job.ticker,
    };
    *result = (leat_synth_images_result){0};
    LEAT_TRY(check_options(options, err));
    for (int64_t most = 1000000; most <= options->count; most *= 10) job.digits++;
    leat_ticker_create(&job.ticker, options->progress, options->progress_user);
    leat_ticker_stage(&job.ticker, "drawing", "images", options->count);
    leat_code code = leat_synth_publish(&output, err);
    leat_ticker_destroy(&job.ticker);
    if (code != LEAT_OK) return code;
    *result = (leat_synth_images_result){
        .images = options->count,
        .bytes_written = atomic_load(&job.bytes_written),
        .memory_peak_bytes = leat_rss_peak_bytes(),
        .seconds = (double)(leat_clock_ns() - start_ns) * 1e-9,
    };
    return LEAT_OK;
}
