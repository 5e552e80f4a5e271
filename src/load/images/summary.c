/*
 * The summary of an image data set. Of the pixels only sums and counts are kept, which are whole
 * numbers: each worker adds up its own, and whatever it read, the totals are the same.
 */
#include <math.h>

#include "base/pool.h"
#include "base/ticker.h"
#include "load/images/rejected.h"
#include "load/subset.h"

enum { PIECE_IMAGES = 64 };

/* What one worker has read. */
typedef struct tally {
    int64_t images;
    int64_t brightness[LEAT_PIXEL_LEVELS], levels[3][LEAT_PIXEL_LEVELS];
    uint64_t *sums;  /* [S, S, 3] */
    uint8_t *pixels; /* of an image */
} tally;

typedef struct summing {
    const leat_images *images;
    int64_t read_bytes_max;
    leat_images_summary *summary;
    leat_ticker ticker;
    int threads;
    tally **tallies;
} summing;

leat_images_summary_options leat_images_summary_options_default(void) {
    return (leat_images_summary_options){.threads = leat_cpu_count(),
                                         .read_bytes_max = INT64_C(4) << 30};
}

/* ---- what is known of each image ------------------------------------------------------------ */

static void count_sizes(const leat_image_set *set, leat_images_summary *summary) {
    for (int64_t i = 0; i < set->count; i++) {
        const leat_image_entry entry = leat_image_set_entry(set, i);
        leat_distribution_add(&summary->width, entry.width, 1);
        leat_distribution_add(&summary->height, entry.height, 1);
        summary->enlarged += entry.width < set->size || entry.height < set->size;
    }
}

static void copy_text(char to[LEAT_IMAGES_REJECT_BYTES], const leat_text *text) {
    size_t size = (size_t)text->size_bytes, most = LEAT_IMAGES_REJECT_BYTES - 1;
    bool fits = size <= most;
    if (!fits) size = most - 3;
    memcpy(to, text->data, size);
    memcpy(to + size, fits ? "" : "...", fits ? 1 : 4);
}

static leat_code count_reject(void *context, const leat_rejected_line *line, leat_error *err) {
    leat_images_summary *summary = context;
    (void)err;
    if (line->reason < 0) return LEAT_OK; /* verification reports it */
    leat_images_rejects *rejects = &summary->rejects[line->reason];
    rejects->count++;
    if (rejects->shown == LEAT_IMAGES_REJECTS_SHOWN) return LEAT_OK;
    copy_text(rejects->file[rejects->shown], &line->file);
    copy_text(rejects->what[rejects->shown], &line->what);
    rejects->shown++;
    return LEAT_OK;
}

/* ---- pixels --------------------------------------------------------------------------------- */

static void count_image(tally *to, int64_t bytes) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < bytes; i += 3) {
        for (int c = 0; c < 3; c++) {
            uint8_t level = to->pixels[i + c];
            to->sums[i + c] += level;
            to->levels[c][level]++;
            sum += level;
        }
    }
    to->images++;
    to->brightness[(sum + (uint64_t)bytes / 2) / (uint64_t)bytes]++;
}

static leat_code tally_create(tally **out, int64_t bytes, leat_error *err) {
    LEAT_TRY(LEAT_NEW(out, 1, err));
    LEAT_TRY(LEAT_NEW(&(*out)->sums, bytes, err));
    return LEAT_NEW(&(*out)->pixels, bytes, err);
}

static void tally_destroy(tally *it) {
    if (it == NULL) return;
    leat_free(it->sums);
    leat_free(it->pixels);
    leat_free(it);
}

static leat_code count_piece(void *context, int worker, int64_t piece, leat_error *err) {
    summing *job = context;
    const leat_image_set *set = &job->images->set;
    int64_t bytes = leat_image_bytes(set->size), first = piece * PIECE_IMAGES;
    int64_t end = first + PIECE_IMAGES < set->count ? first + PIECE_IMAGES : set->count;
    if (job->tallies[worker] == NULL) LEAT_TRY(tally_create(&job->tallies[worker], bytes, err));
    tally *to = job->tallies[worker];
    for (int64_t i = first; i < end; i++) {
        if (!leat_subset_has(i, job->read_bytes_max, set->count * bytes)) continue;
        LEAT_TRY(leat_images_read(job->images, i, to->pixels, err));
        count_image(to, bytes);
    }
    return leat_ticker_step(&job->ticker, end - first, err);
}

/* Adds the second tally, which may be missing, to the first. */
static void tally_add(tally *to, const tally *from, int64_t bytes) {
    if (from == NULL) return;
    to->images += from->images;
    for (int i = 0; i < LEAT_PIXEL_LEVELS; i++) {
        to->brightness[i] += from->brightness[i];
        for (int c = 0; c < 3; c++) to->levels[c][i] += from->levels[c][i];
    }
    for (int64_t i = 0; i < bytes; i++) to->sums[i] += from->sums[i];
}

/* Mean and deviation of the levels of a channel; exact sums of up to 2^51 pixels would not fit 64
 * bits, so they are taken from the counts, in order. */
static void describe_levels(const int64_t counts[LEAT_PIXEL_LEVELS], double *mean,
                            double *deviation) {
    double count = 0, sum = 0, squares = 0;
    for (int i = 0; i < LEAT_PIXEL_LEVELS; i++) {
        count += (double)counts[i];
        sum += (double)counts[i] * i;
    }
    if (count == 0) return;
    *mean = sum / count;
    for (int i = 0; i < LEAT_PIXEL_LEVELS; i++)
        squares += (double)counts[i] * (i - *mean) * (i - *mean);
    *deviation = sqrt(squares / count);
}

static leat_code keep_tally(summing *job, const tally *all, leat_error *err) {
    leat_images_summary *summary = job->summary;
    int64_t bytes = leat_image_bytes(job->images->set.size);
    uint8_t *mean_image = NULL;
    uint64_t count = (uint64_t)all->images;
    LEAT_TRY(LEAT_NEW(&mean_image, bytes, err));
    summary->mean_image = mean_image;
    for (int64_t i = 0; i < bytes && count > 0; i++)
        mean_image[i] = (uint8_t)((all->sums[i] + count / 2) / count);
    summary->read_images = all->images;
    memcpy(summary->brightness, all->brightness, sizeof summary->brightness);
    memcpy(summary->levels, all->levels, sizeof summary->levels);
    for (int c = 0; c < 3; c++)
        describe_levels(all->levels[c], &summary->mean[c], &summary->deviation[c]);
    return LEAT_OK;
}

static leat_code read_pixels(summing *job, leat_error *err) {
    const leat_image_set *set = &job->images->set;
    int64_t bytes = leat_image_bytes(set->size);
    tally *all = NULL;
    const leat_pool_job pieces = {.parts = (set->count + PIECE_IMAGES - 1) / PIECE_IMAGES,
                                  .threads = job->threads,
                                  .context = job,
                                  .make = count_piece};
    LEAT_TRY(LEAT_NEW(&job->tallies, job->threads, err));
    leat_code code = tally_create(&all, bytes, err);
    leat_ticker_stage(&job->ticker, "reading", "images", set->count);
    if (code == LEAT_OK && job->read_bytes_max != 0) code = leat_pool_once(&pieces, err);
    for (int i = 0; i < job->threads; i++) {
        if (code == LEAT_OK) tally_add(all, job->tallies[i], bytes);
        tally_destroy(job->tallies[i]);
    }
    leat_free(job->tallies);
    if (code == LEAT_OK) code = keep_tally(job, all, err);
    tally_destroy(all);
    return code;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static leat_code summarise(summing *job, leat_error *err) {
    leat_images_summary *summary = job->summary;
    const leat_image_set *set = &job->images->set;
    int64_t rejected = 0;
    summary->images = set->count;
    count_sizes(set, summary);
    LEAT_TRY(leat_rejected_read(job->images->path, count_reject, summary, &rejected, err));
    return read_pixels(job, err);
}

leat_code leat_images_summary_create(leat_images_summary **out, const leat_images *images,
                                     const leat_images_summary_options *options, leat_error *err) {
    leat_images_summary_options defaults = leat_images_summary_options_default();
    summing job = {.images = images};
    *out = NULL;
    if (options == NULL) options = &defaults;
    if (options->threads < 1 || options->threads > LEAT_THREADS_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "summary: threads is %d; it must be 1 to %d",
                         options->threads, LEAT_THREADS_MAX);
    job.threads = options->threads;
    job.read_bytes_max = options->read_bytes_max;
    LEAT_TRY(LEAT_NEW(&job.summary, 1, err));
    leat_ticker_create(&job.ticker, options->progress, options->progress_user);
    leat_code code = summarise(&job, err);
    leat_ticker_destroy(&job.ticker);
    if (code != LEAT_OK) {
        leat_images_summary_destroy(job.summary);
        return code;
    }
    *out = job.summary;
    return LEAT_OK;
}

void leat_images_summary_destroy(leat_images_summary *summary) {
    if (summary == NULL) return;
    leat_free((void *)(uintptr_t)summary->mean_image);
    leat_free(summary);
}
