/* What a scan has found in the files, saved for a run that resumes after it: scan.json. */
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "ingest/can/job.h"

#define COUNTS_BYTES_MAX (INT64_C(256) << 20)
/* Per file: format, looks, labelled, lines, frames, first malformed line, whether times were
 * invented, what identifiers look like, what is not sure, marks, frames cut, equal times, columns,
 * frames taken for benign because they have no label, whether times are gaps and identifiers may be
 * decimal, then the rejected. */
enum {
    IDS_MAX = 2 * LEAT_CAN_IDS_BARE_HEX - 1,
    FIRST_REJECTED = 15,
    NUMBERS = FIRST_REJECTED + LEAT_CAN_REJECT_COUNT
};
/* After all files, texts that are not empty: the file times TEXTS, plus which text; and all of it
 * in numbers of seven characters. */
enum { TEXTS = 4, LETTERS = 7 };
static const struct {
    size_t place;
    int bytes, numbers;
} texts[TEXTS] = {
#define TEXT(member, size)                                                                         \
    { offsetof(leat_can_file, member), size, ((size) + LETTERS - 1) / LETTERS }
    TEXT(label_like.names, LEAT_CAN_LABELS_BYTES),
    TEXT(label_like.option, LEAT_CAN_LABELS_BYTES),
    TEXT(unused, LEAT_CAN_UNUSED_BYTES),
    TEXT(late_mark, LEAT_CAN_LABEL_NAME_BYTES),
#undef TEXT
};
/* Per file; keeps sums over all files far from overflow. */
#define LINES_MAX (INT64_C(1) << 38)
_Static_assert(LINES_MAX <= INT64_MAX / LEAT_CAN_FILES_MAX, "sums over files fit");

static const char *text_of_file(const leat_can_file *file, int which) {
    return (const char *)file + texts[which].place;
}

/* The numbers of all texts; `numbers` NULL: only how many there are. */
static int64_t take_texts(const leat_can_file *files, int64_t count, int64_t *numbers) {
    int64_t at = 0;
    for (int64_t i = 0; i < count * TEXTS; i++) {
        const int which = (int)(i % TEXTS);
        const char *text = text_of_file(&files[i / TEXTS], which);
        if (text[0] == 0) continue;
        if (numbers != NULL) {
            int64_t *to = numbers + at;
            memset(to, 0, (size_t)(1 + texts[which].numbers) * sizeof *to);
            to[0] = i;
            for (int k = 0; k < texts[which].bytes; k++)
                to[1 + k / LETTERS] |= (int64_t)(uint8_t)text[k] << (8 * (k % LETTERS));
        }
        at += 1 + texts[which].numbers;
    }
    return at;
}

/* False: they are not those of so many files. */
static bool put_texts(const int64_t *numbers, int64_t number_count, leat_can_file *files,
                      int64_t count) {
    for (int64_t at = 0; at < number_count;) {
        const int64_t item = numbers[at++];
        const int which = (int)(item % TEXTS);
        if (item >= count * TEXTS || texts[which].numbers > number_count - at) return false;
        char *text = (char *)&files[item / TEXTS] + texts[which].place;
        for (int k = 0; k + 1 < texts[which].bytes; k++)
            text[k] = (char)(numbers[at + k / LETTERS] >> (8 * (k % LETTERS)) & 255);
        at += texts[which].numbers;
    }
    return true;
}

static void take_apart(const leat_can_file *file, int64_t numbers[NUMBERS]) {
    numbers[0] = file->format;
    numbers[1] = file->looks;
    numbers[2] = file->labelled;
    numbers[3] = file->lines;
    numbers[4] = file->frames;
    numbers[5] = file->first_malformed;
    numbers[6] = file->no_time;
    numbers[7] = file->ids;
    numbers[8] = file->doubts;
    numbers[9] = file->marks;
    numbers[10] = file->frames_cut;
    numbers[11] = file->equal_times;
    numbers[12] = file->time_column | file->id_column << 8 | file->data_column << 16;
    numbers[13] = file->frames_sparse;
    numbers[14] = file->gaps | file->id_may_be_decimal << 1;
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
        .no_time = numbers[6] != 0,
        .ids = (int)numbers[7],
        .doubts = (int)numbers[8],
        .marks = (int)numbers[9],
        .frames_cut = numbers[10],
        .equal_times = numbers[11],
        .time_column = (uint8_t)(numbers[12] & 255),
        .id_column = (uint8_t)(numbers[12] >> 8 & 255),
        .data_column = (uint8_t)(numbers[12] >> 16 & 255),
        .frames_sparse = numbers[13],
        .gaps = (numbers[14] & 1) != 0,
        .id_may_be_decimal = (numbers[14] & 2) != 0,
    };
    for (int i = 0; i < LEAT_CAN_REJECT_COUNT; i++) file->rejected[i] = numbers[FIRST_REJECTED + i];
}

/* A hash of the numbers follows them, so that any altered character is detected. */
static int64_t hash_of(const int64_t *numbers, int64_t count) {
    return (int64_t)(leat_xxh3(numbers, count * (int64_t)sizeof *numbers) >> 1);
}

leat_code leat_can_saved_write(const leat_can_file *files, int64_t count, const char *path,
                               leat_error *err) {
    leat_json *json = NULL;
    int64_t *numbers = NULL;
    const int64_t all = count * NUMBERS + take_texts(files, count, NULL);
    LEAT_TRY(LEAT_NEW(&numbers, all, err));
    leat_code code = leat_json_create(&json, true, err);
    if (code == LEAT_OK) {
        leat_json_begin_array(json);
        for (int64_t i = 0; i < count; i++) take_apart(&files[i], numbers + i * NUMBERS);
        take_texts(files, count, numbers + count * NUMBERS);
        for (int64_t k = 0; k < all; k++) leat_json_int(json, numbers[k]);
        leat_json_int(json, hash_of(numbers, all));
        leat_json_end_array(json);
        code = leat_json_save(json, path, err);
    }
    leat_free(numbers);
    return code;
}

/* ---- loading -------------------------------------------------------------------------------- */

/* Whether a scan can have produced these counts; the numbers are not negative. */
static bool file_fits(const int64_t numbers[NUMBERS]) {
    int64_t lines = numbers[3], frames = numbers[4], rejected = 0, malformed = 0;
    if (numbers[0] >= LEAT_CAN_FORMATS || numbers[1] >= LEAT_CAN_FORMATS || numbers[2] > 1 ||
        numbers[6] > 1 || numbers[7] > IDS_MAX || numbers[8] >= LEAT_CAN_DOUBTS_END ||
        numbers[9] >= LEAT_CAN_MARKS_END || numbers[10] > frames || numbers[11] > frames ||
        numbers[12] >> 24 != 0 || numbers[13] > frames || numbers[14] > 3 || lines > LINES_MAX ||
        frames > lines) {
        return false;
    }
    for (int i = 0; i < LEAT_CAN_REJECT_COUNT; i++) {
        int64_t some = numbers[FIRST_REJECTED + i];
        if (some > lines) return false;
        rejected += some;
        if (i <= (int)LEAT_CAN_MALFORMED_LAST) malformed += some;
    }
    return frames + rejected == lines && (numbers[5] > 0) == (malformed > 0);
}

/* Whether each file has as many frames as its captures. */
static bool frames_fit(const leat_can_file *files, int64_t count, const leat_can_store *store) {
    const leat_can_capture *captures = NULL;
    int64_t capture_count = leat_can_store_captures(store, &captures), at = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t frames = 0;
        for (; at < capture_count && captures[at].file_index == i; at++)
            frames += captures[at].frames;
        if (frames != files[i].frames) return false;
    }
    return at == capture_count;
}

static bool read_numbers(const json_t *root, int64_t *numbers, int64_t count) {
    for (int64_t k = 0; k < count; k++) {
        const json_t *item = json_array_get(root, (size_t)k);
        numbers[k] = json_integer_value(item);
        if (!json_is_integer(item) || numbers[k] < 0) return false;
    }
    return json_integer_value(json_array_get(root, (size_t)count)) == hash_of(numbers, count);
}

leat_code leat_can_saved_read(leat_can_file *files, int64_t count, const leat_can_store *store,
                              const char *path, leat_error *err) {
    uint8_t *text = NULL;
    int64_t size = 0, *numbers = NULL;
    json_t *root = NULL;
    LEAT_TRY(leat_file_load(path, COUNTS_BYTES_MAX, &text, &size, err));
    leat_code code = leat_json_parse((const char *)text, size, path, &root, err);
    leat_free(text);
    const int64_t all = (int64_t)json_array_size(root) - 1; /* -1: it is no array */
    bool good = code == LEAT_OK && all >= count * NUMBERS;
    if (good) code = LEAT_NEW(&numbers, all, err);
    if (code != LEAT_OK) {
        json_decref(root);
        return code;
    }
    good = good && read_numbers(root, numbers, all);
    json_decref(root);
    for (int64_t i = 0; good && i < count; i++) {
        good = file_fits(numbers + i * NUMBERS);
        if (good) put_together(numbers + i * NUMBERS, &files[i]);
    }
    good = good && put_texts(numbers + count * NUMBERS, all - count * NUMBERS, files, count);
    leat_free(numbers);
    if (good && frames_fit(files, count, store)) return LEAT_OK;
    memset(files, 0, (size_t)count * sizeof *files);
    return leat_fail(err, LEAT_ERR_CORRUPT, "\"%s\" is not what the scan of these %lld files wrote",
                     path, (long long)count);
}
