/* leat batches of an image data set: the result in words. */
#include "batches/images.h"
#include "page/page.h"

void images_write_summary(images_job *job) {
    leat_image_loader_counters counters;
    leat_cli *cli = job->run.cli;
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    const char *as = job->options.as == LEAT_IMAGE_FLOAT ? "floats" : "levels";
    leat_image_loader_get_counters(job->loader, &counters);
    if (job->run.done == job->run.first) {
        leat_out(cli, "steps      none: the next is %lld\n", (long long)job->run.first);
        return;
    }
    leat_out(cli, "steps      %lld:%lld, %s of %d x %d as %s", (long long)job->run.first,
             (long long)job->run.done, leat_things(a, counters.images, "image"), job->facts.size,
             job->facts.size, as);
    leat_out(cli, " (an epoch has %s)\n", leat_words_count(a, job->facts.count));
    leat_out(cli, "read       %s of the file; %s of memory, %lld batches ahead\n",
             leat_words_bytes(a, counters.payload_bytes),
             leat_words_bytes(b, counters.memory_bytes), (long long)counters.prefetch);
    if (!job->run.times) return;
    const batches_made made = {"images", counters.images, counters.work_ns, counters.read_wait_ns,
                               counters.stall_ns};
    batches_write_time(&job->run, &made);
    if (job->options.window_bytes > 0) batches_write_reading(&job->run, &made);
}

/* ---- --explain ---------------------------------------------------------------------------- */

void images_write_explanation(const images_explained *explained) {
    const images_job *job = explained->job;
    leat_cli *cli = job->run.cli;
    for (int64_t row = explained->first_row; row < explained->end_row; row++) {
        int64_t position = explained->step * job->options.batch + row;
        int64_t index = images_at(job, position);
        leat_image_facts image;
        leat_error err = {0};
        if (leat_out_broken(cli) ||
            leat_images_get_entry(job->images, index, &image, &err) != LEAT_OK)
            return;
        leat_out(cli, "step %lld row %lld: epoch %lld, position %lld, image %lld, ",
                 (long long)explained->step, (long long)row,
                 (long long)(position / job->facts.count), (long long)(position % job->facts.count),
                 (long long)index);
        leat_out_name(cli, image.name);
        leat_out(cli, ", original %d x %d\n", image.width, image.height);
    }
}
