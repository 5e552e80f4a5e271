/* What a scan has found in the files, kept for a run that goes on behind it: scan.json. */
#include "base/json.h"
#include "ingest/can_job.h"

#define COUNTS_BYTES_MAX (INT64_C(256) << 20)
/* Of a file: format, looks, labelled, lines, frames, first malformed line, then the rejected. */
enum { FIRST_REJECTED = 6, NUMBERS = FIRST_REJECTED + LEAT_CAN_REJECT_COUNT };

static void take_apart(const leat_can_file *file, int64_t numbers[NUMBERS]) {
    numbers[0] = file->format;
    numbers[1] = file->looks;
    numbers[2] = file->labelled;
    numbers[3] = file->lines;
    numbers[4] = file->frames;
    numbers[5] = file->first_malformed;
    for (int i = 0; i < LEAT_CAN_REJECT_COUNT; i++) numbers[FIRST_REJECTED + i] = file->rejected[i];
}

static void put_together(const int64_t numbers[NUMBERS], leat_can_file *file) {
    *file = (leat_can_file){
        .format = (leat_can_format)numbers[0],
        .looks = (leat_can_format)numbers[1],
        .labelled = numbers[2] != 0,
        .lines = numbers[3],
        .frames = numbers[4],
        .first_malformed = numbers[5],
    };
    for (int i = 0; i < LEAT_CAN_REJECT_COUNT; i++) file->rejected[i] = numbers[FIRST_REJECTED + i];
}

leat_code leat_can_counts_save(const leat_can_file *files, int64_t count, const char *path,
                               leat_error *err) {
    leat_json *json = NULL;
    LEAT_TRY(leat_json_create(&json, true, err));
    leat_json_begin_array(json);
    for (int64_t i = 0; i < count; i++) {
        int64_t numbers[NUMBERS];
        take_apart(&files[i], numbers);
        for (int k = 0; k < NUMBERS; k++) leat_json_int(json, numbers[k]);
    }
    leat_json_end_array(json);
    return leat_json_save(json, path, err);
}

leat_code leat_can_counts_load(leat_can_file *files, int64_t count, const char *path,
                               leat_error *err) {
    uint8_t *text = NULL;
    int64_t size = 0;
    json_t *root = NULL;
    LEAT_TRY(leat_file_load(path, COUNTS_BYTES_MAX, &text, &size, err));
    leat_code code = leat_json_parse((const char *)text, size, path, &root, err);
    leat_free(text);
    if (code != LEAT_OK) return code;
    bool good = json_is_array(root) && json_array_size(root) == (size_t)(count * NUMBERS);
    for (int64_t i = 0; good && i < count; i++) {
        int64_t numbers[NUMBERS];
        for (int k = 0; k < NUMBERS && good; k++) {
            const json_t *item = json_array_get(root, (size_t)(i * NUMBERS + k));
            numbers[k] = json_integer_value(item);
            good = json_is_integer(item) && numbers[k] >= 0;
        }
        if (good) put_together(numbers, &files[i]);
    }
    json_decref(root);
    if (good) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "\"%s\" is not what a scan of %lld files writes", path,
                     (long long)count);
}
