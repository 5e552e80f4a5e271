/* `leat inspect --json` of an image data set: everything that the page shows, as one document. */
#include "inspect/images.h"

static const char *const channels[3] = {"red", "green", "blue"};

static void put_numbers(leat_json *json, const char *name, const int64_t *numbers, int count) {
    leat_json_key(json, name);
    leat_json_begin_array(json);
    for (int i = 0; i < count; i++) leat_json_int(json, numbers[i]);
    leat_json_end_array(json);
}

static void put_originals(leat_json *json, const leat_images_summary *s) {
    leat_json_key(json, "originals");
    leat_json_begin_object(json);
    leat_json_distribution(json, "width", &s->width, 1);
    leat_json_distribution(json, "height", &s->height, 1);
    leat_json_member_int(json, "enlarged", s->enlarged);
    leat_json_end_object(json);
}

static void put_rejected(leat_json *json, const leat_images_summary *s) {
    leat_json_key(json, "rejected");
    leat_json_begin_object(json);
    for (int r = 0; r < LEAT_IMAGE_REASONS; r++) {
        const leat_images_rejects *rejects = &s->rejects[r];
        leat_json_key(json, leat_image_reason_name(r));
        leat_json_begin_object(json);
        leat_json_member_int(json, "count", rejects->count);
        leat_json_key(json, "first");
        leat_json_begin_array(json);
        for (int i = 0; i < rejects->shown; i++) {
            leat_json_begin_object(json);
            leat_json_member_string(json, "file", rejects->file[i]);
            leat_json_member_string(json, "what", rejects->what[i]);
            leat_json_end_object(json);
        }
        leat_json_end_array(json);
        leat_json_end_object(json);
    }
    leat_json_end_object(json);
}

static void put_values(leat_json *json, const leat_images_summary *s) {
    leat_json_key(json, "values");
    leat_json_begin_object(json);
    leat_json_member_bool(json, "of_every_image", s->read_images == s->images);
    leat_json_member_int(json, "images_read", s->read_images);
    for (int c = 0; c < 3 && s->read_images > 0; c++) {
        leat_json_key(json, channels[c]);
        leat_json_begin_object(json);
        leat_json_member_double(json, "mean", s->mean[c]);
        leat_json_member_double(json, "deviation", s->deviation[c]);
        put_numbers(json, "pixels_by_level", s->levels[c], LEAT_PIXEL_LEVELS);
        leat_json_end_object(json);
    }
    if (s->read_images > 0)
        put_numbers(json, "images_by_brightness", s->brightness, LEAT_PIXEL_LEVELS);
    leat_json_end_object(json);
}

static void put_verify(leat_json *json, const leat_images_verify_report *verify) {
    const leat_found found = {verify->findings, verify->finding_count, verify->problem_count,
                              verify->note_count, "line"};
    leat_json_key(json, "verification");
    leat_json_begin_object(json);
    leat_json_member_bool(json, "ok", verify->problem_count == 0);
    leat_json_member_int(json, "images", verify->images);
    leat_json_member_int(json, "rejected", verify->rejected);
    leat_json_member_int(json, "file_bytes", verify->file_bytes);
    leat_found_json(json, &found);
    leat_json_end_object(json);
}

static void put_summary(leat_json *json, const leat_images_report *report) {
    leat_images_facts facts;
    leat_images_get_facts(report->images, &facts);
    leat_json_member_string(json, "kind", "image data set");
    leat_json_member_string(json, "fingerprint", facts.fingerprint);
    leat_json_member_string(json, "decoded_sha256", facts.decoded_sha256);
    if (facts.sorted_sha256[0] != 0)
        leat_json_member_string(json, "sorted_sha256", facts.sorted_sha256);
    leat_json_member_string(json, "background", facts.background);
    leat_json_member_int(json, "images", facts.count);
    leat_json_member_int(json, "size", facts.size);
    leat_json_member_int(json, "file_bytes", facts.file_bytes);
    leat_json_member_int(json, "rejected_files", facts.rejected);
    leat_json_member_int(json, "texts", facts.texts);
    put_originals(json, report->summary);
    put_rejected(json, report->summary);
    put_values(json, report->summary);
}

void leat_images_report_json(leat_json *json, const void *of) {
    const leat_images_report *report = of;
    leat_json_member_string(json, "path", report->name);
    if (report->summary != NULL) put_summary(json, report);
    if (report->verify != NULL) put_verify(json, report->verify);
}
