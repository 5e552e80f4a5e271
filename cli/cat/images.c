/* leat cat of an image data set: what is known of its images, and one of them as PNG. */
#include <string.h>

#include "cat/cat.h"
#include "data_kinds.h"
#include "leat/load_images.h"

typedef struct cat_images {
    leat_cli *cli;
    leat_images *images;
    leat_images_facts facts;
    bool words;
    leat_cat_range range;
} cat_images;

static void write_json(leat_cli *cli, int64_t index, const leat_image_facts *image) {
    leat_out(cli, "{\"image\":%lld,\"name\":", (long long)index);
    leat_out_json_text(cli, image->name, (int64_t)strlen(image->name));
    leat_out(cli, ",\"width\":%d,\"height\":%d,\"decoded\":\"%016llx\"}\n", image->width,
             image->height, (unsigned long long)image->decoded);
}

static void write_words(leat_cli *cli, int64_t index, const leat_image_facts *image) {
    char words[LEAT_WORDS_BYTES];
    leat_out(cli, "image %s: ", leat_words_count(words, index));
    leat_out_name(cli, image->name);
    leat_out(cli, ", %d x %d pixels, decoded %016llx\n", image->width, image->height,
             (unsigned long long)image->decoded);
}

static leat_code write_all(const cat_images *job, leat_error *err) {
    for (int64_t i = job->range.first; i < job->range.end && !leat_out_broken(job->cli); i++) {
        leat_image_facts image;
        leat_code code = leat_images_get_entry(job->images, i, &image, err);
        if (code != LEAT_OK) return code;
        if (job->words) write_words(job->cli, i, &image);
        else write_json(job->cli, i, &image);
    }
    return LEAT_OK;
}

/* ---- what is asked for ------------------------------------------------------------------- */

/* A number or a range, or else a name. */
static int read_range(cat_images *job) {
    const char *text = leat_cli_text(job->cli, "image");
    if (text != NULL) {
        int64_t index = leat_images_find(job->images, text);
        if (index >= 0) {
            job->range = (leat_cat_range){index, index + 1};
            return 0;
        }
        if (strspn(text, "0123456789:") < strlen(text))
            return leat_cli_usage(job->cli,
                                  "--image: there is no image \"%.200s\"; leat cat without --image "
                                  "lists all",
                                  text);
    }
    return leat_cat_read_range(job->cli, "image", "image", job->facts.count, &job->range);
}

static int cat_set(cat_images *job) {
    const char *path = leat_cli_text(job->cli, "output");
    leat_error err = {0};
    leat_images_get_facts(job->images, &job->facts);
    int status = read_range(job);
    if (status != 0) return status;
    if (path != NULL && job->range.end - job->range.first != 1)
        return leat_cli_usage(job->cli, "--output writes one image; select it with --image");
    if (path != NULL && leat_cli_refuse_not_png(job->cli, path) != 0) return 2;
    leat_code code = LEAT_OK;
    if (path != NULL)
        code = leat_images_save(job->images, job->range.first, path,
                                leat_cli_flag(job->cli, "replace"), &err);
    if (code == LEAT_OK) code = write_all(job, &err);
    return code == LEAT_OK ? 0 : leat_cli_fail(job->cli, &err);
}

int leat_cat_images(leat_cli *cli) {
    const char *format = leat_cli_text(cli, "format");
    leat_error err = {0};
    cat_images job = {.cli = cli, .words = strcmp(format, "words") == 0};
    if (strcmp(format, "csv") == 0)
        return leat_cli_usage(cli,
                              "--format csv is for probe rows; \"%.200s\" holds an image data set",
                              leat_cli_argument(cli, 0));
    if (leat_images_open(&job.images, leat_cli_argument(cli, 0), &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    int status = cat_set(&job);
    leat_images_close(job.images);
    return status;
}
