/* leat doctor of an image data set: checks that the files are complete and that an image can be
 * read. */
#include <stdio.h>

#include "doctor/doctor.h"
#include "leat/load_images.h"

/* Reads one image, as a batch of a training run. */
static leat_code read_one(const leat_images *images, leat_error *err) {
    leat_image_loader_options options = leat_image_loader_options_default();
    leat_image_loader *loader = NULL;
    const leat_image_batch *batch = NULL;
    options.batch = options.threads = 1;
    options.prefetch = 0;
    leat_code code = leat_image_loader_create(&loader, images, &options, err);
    if (code == LEAT_OK) code = leat_image_loader_next(loader, &batch, err);
    leat_image_batch_release(batch);
    leat_image_loader_destroy(loader);
    return code;
}

static bool tell_opens(leat_doctor *doc, const char *path) {
    char what[640], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    leat_images *images = NULL;
    leat_images_facts facts = {0};
    leat_error err = {0};
    leat_code code = leat_images_open(&images, path, &err);
    if (code == LEAT_OK) {
        leat_images_get_facts(images, &facts);
        code = read_one(images, &err);
    }
    if (code != LEAT_OK) {
        leat_doctor_tell(doc, LEAT_DOCTOR_PROBLEM, err.message, "");
    } else {
        snprintf(what, sizeof what,
                 "image data set \"%.300s\" opens: %s of %d x %d, %s; %s rejected", facts.path,
                 leat_things(a, facts.count, "image"), facts.size, facts.size,
                 leat_words_bytes(b, facts.file_bytes), leat_things(c, facts.rejected, "file"));
        leat_doctor_tell(doc, LEAT_DOCTOR_OK, what, "");
        (void)leat_doctor_tell_memory(doc, "the data set", facts.file_bytes);
    }
    leat_images_close(images);
    return code == LEAT_OK;
}

void leat_doctor_images(leat_doctor *doc, const char *path) {
    leat_verify_options options = leat_verify_options_default();
    leat_images_verify_report *report = NULL;
    leat_error err = {0};
    options.quick = true;
    options.finding_max = 100;
    if (leat_images_verify(path, &options, &report, &err) != LEAT_OK) {
        leat_doctor_tell(doc, LEAT_DOCTOR_PROBLEM, err.message, "");
        return;
    }
    leat_doctor_tell_findings(doc, report->findings, report->finding_count,
                              report->problem_count + report->note_count);
    if (report->problem_count == 0 && tell_opens(doc, path))
        leat_doctor_tell(doc, LEAT_DOCTOR_NOTE, "only one image was read",
                         "run leat inspect --verify to read everything");
    leat_images_verify_report_destroy(report);
}
