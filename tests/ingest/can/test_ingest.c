/*
 * The whole of `leat ingest can`: going on behind a scan, from whatever is left of it; temporary
 * folders; what the result says of a cache that is made and of one that is found.
 */
/* TSan: a cache from logs by several threads. */
#include "can_logs.h"
#include "core_support.h"
#include "ingest_support.h"

#include <unistd.h>

#include "base/hash.h"
#include "base/workdir.h"
#include "ingest/can/read/scan.h"

static can_digest want;

static leat_code run(const leat_can_ingest_options *options, leat_can_ingest_result *result,
                     leat_error *err) {
    return can_logs_ingest(core_path("logs"), core_path("out"), options, result, err);
}

static void check_cache(void) {
    assert_string_equal(can_cache_digest(core_path("out")).text, want.text);
    assert_int_equal(dir_count(core_path("out")), 1);
}

/* Stopped when its scan was saved; returns the work folder. */
static const char *interrupted(const char *temp) {
    leat_can_ingest_options options = can_logs_options();
    leat_can_ingest_result result;
    options.temp_dir = core_made(temp);
    options.progress = can_logs_stop;
    options.progress_user = "planning";
    assert_ok(leat_path_remove_tree(core_path("out"), err));
    assert_fails(run(&options, &result, err), LEAT_ERR_CANCELLED,
                 "stopped while planning; use --resume to continue after the scan");
    const char *work = can_work(core_path("out"));
    assert_non_null(work);
    return work;
}

static void goes_on(const char *temp, bool resumed, const char *why) {
    leat_can_ingest_options options = can_logs_options();
    leat_can_ingest_result result;
    leat_error err = {0};
    options.temp_dir = core_made(temp);
    options.resume = true;
    if (run(&options, &result, &err) != LEAT_OK) fail_msg("%s: %s", why, err.message);
    if (result.resumed != resumed) fail_msg("%s: it went on: %d", why, result.resumed);
    assert_int_equal(result.frames, CAN_LOGS_FRAMES);
    assert_int_equal(result.rejected, CAN_LOGS_REJECTED);
    assert_int_equal(result.frames_stepped_back, 1); /* kept by what is resumed, too */
    check_cache();
}

/* ---- what an interrupted run has left -------------------------------------------------------- */

/* The files of an interrupted run, to be put back as often as one likes. */
enum { STATE, COUNTS, REJECTED, SPILL, LEFT };
static const char *const left_names[LEFT] = {"scan.state", "scan.json", "out/rejected.csv",
                                             "temp/can_spill_000"};
typedef struct left_over {
    char work[LEAT_PATH_BYTES];
    core_image mark;
    core_image files[LEFT];
} left_over;

static const char *left_path(const left_over *left, int which) {
    static char path[LEAT_PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/%s", left->work, left_names[which]);
    return path;
}

static left_over keep_left(void) {
    left_over left;
    char path[LEAT_PATH_BYTES + 32];
    snprintf(left.work, sizeof left.work, "%s", interrupted(NULL));
    snprintf(path, sizeof path, "%s/" LEAT_WORKDIR_MARK, left.work);
    left.mark = core_load(path);
    for (int i = 0; i < LEFT; i++) left.files[i] = core_load(left_path(&left, i));
    return left;
}

static void put_left(const left_over *left) {
    static const char *const dirs[] = {"temp", "out"};
    char path[LEAT_PATH_BYTES + 32];
    assert_ok(leat_path_remove_tree(core_path("out"), err));
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", left->work, dirs[i]);
        assert_ok(leat_path_make_dir(path, err));
    }
    snprintf(path, sizeof path, "%s/" LEAT_WORKDIR_MARK, left->work);
    core_save(path, left->mark.data, left->mark.size_bytes);
    for (int i = 0; i < LEFT; i++)
        core_save(left_path(left, i), left->files[i].data, left->files[i].size_bytes);
}

static void free_left(left_over *left) {
    for (int i = 0; i < LEFT; i++) free(left->files[i].data);
    free(left->mark.data);
}

static void cut_short(void **state) {
    (void)state;
    left_over left = keep_left();
    put_left(&left);
    goes_on(NULL, true, "as it was");
    for (int which = 0; which < LEFT; which++) {
        const core_image *image = &left.files[which];
        int64_t step = which == SPILL ? 5003 : 1;
        if (which == REJECTED) continue; /* only that it is there is looked at */
        for (int64_t size = 0; size < image->size_bytes; size += step) {
            put_left(&left);
            core_save(left_path(&left, which), image->data, size);
            /* a text without the end of its last line says as much */
            bool whole = which == COUNTS && image->data[size] == '\n';
            goes_on(NULL, whole, left_names[which]);
        }
    }
    for (int which = 0; which < LEFT; which++) {
        put_left(&left);
        assert_ok(leat_path_remove(left_path(&left, which), err));
        goes_on(NULL, false, left_names[which]);
    }
    free_left(&left);
}

/* Where no line was set aside there is no rejected.csv, and none is missed. */
static void no_rejects(void **state) {
    (void)state;
    leat_can_ingest_options options = can_logs_options();
    leat_can_ingest_result result;
    can_logs_write(core_path("clean"), true);
    assert_ok(leat_path_remove_tree(core_path("out"), err));
    for (int again = 0; again < 2; again++) {
        leat_error err = {0};
        options.resume = again == 1;
        options.progress = again == 1 ? NULL : can_logs_stop;
        options.progress_user = "planning";
        leat_code code =
            can_logs_ingest(core_path("clean"), core_path("out"), &options, &result, &err);
        assert_int_equal(code, again == 1 ? LEAT_OK : LEAT_ERR_CANCELLED);
    }
    assert_true(result.resumed);
    assert_int_equal(result.rejected, 0);
}

/* ---- edited counts --------------------------------------------------------------------------- */

enum {
    FORMAT,
    LOOKS,
    LABELLED,
    LINES,
    FRAMES,
    FIRST,
    NO_TIME,
    IDS,
    DOUBTS,
    MARKS,
    CUT,
    EQUAL,
    COLUMNS,
    SPARSE,
    GAPS,
    REJECTS
};
enum { PER_FILE = REJECTS + LEAT_CAN_REJECT_COUNT, FILES = 3, NUMBERS = FILES * PER_FILE };

static void read_counts(const core_image *image, int64_t numbers[NUMBERS + 1]) {
    const char *at = strchr((const char *)image->data, '[');
    assert_non_null(at);
    for (int i = 0; i <= NUMBERS; i++) {
        char *end = NULL;
        numbers[i] = strtoll(at + 1, &end, 10);
        assert_true(end != at + 1);
        at = strpbrk(end, ",]");
        assert_non_null(at);
    }
}

/* With the hash of these numbers behind them, or as it was. */
static void save_counts(const char *path, int64_t numbers[NUMBERS + 1], bool seal) {
    char text[NUMBERS * 24];
    int size = 0;
    if (seal) numbers[NUMBERS] = (int64_t)(leat_xxh3(numbers, NUMBERS * 8) >> 1);
    for (int i = 0; i <= NUMBERS; i++)
        size += snprintf(text + size, sizeof text - (size_t)size, "%c%lld", i == 0 ? '[' : ',',
                         (long long)numbers[i]);
    text[size++] = ']';
    core_save(path, text, size);
}

/* Numbers that no scan of these files gives, one change or two, each with a hash that is right. */
static void edited(void **state) {
    (void)state;
    static const struct {
        const char *what;
        struct {
            int file, number;
            int64_t value;
            bool added;
        } edits[2];
    } cases[] = {
        {"a format that is none", {{0, FORMAT, LEAT_CAN_FORMATS, false}}},
        {"a format by its low bits", {{0, FORMAT, (INT64_C(1) << 32) + LEAT_CAN_CSV, false}}},
        {"looks like none", {{1, LOOKS, 1000, false}}},
        {"negative", {{1, LOOKS, -1, false}}},
        {"neither labelled nor not", {{0, LABELLED, 2, false}}},
        {"times neither invented nor not", {{0, NO_TIME, 2, false}}},
        {"times that are gaps and more", {{0, GAPS, 4, false}}},
        {"identifiers that look like nothing", {{0, IDS, 256, false}}},
        {"a doubt that is none", {{0, DOUBTS, LEAT_CAN_DOUBTS_END, false}}},
        {"a mark that is none", {{0, MARKS, LEAT_CAN_MARKS_END, false}}},
        {"more frames cut than there are", {{0, CUT, 1000000, false}}},
        {"more frames without labels", {{0, SPARSE, INT64_C(1) << 30, false}}},
        {"more columns than there are", {{0, COLUMNS, INT64_C(1) << 24, false}}},
        {"more equal times than there are frames", {{0, EQUAL, 1000000, false}}},
        {"a line more", {{2, LINES, 1, true}}},
        {"a frame less", {{2, FRAMES, -1, true}}},
        {"a frame less, a line less", {{2, FRAMES, -1, true}, {2, LINES, -1, true}}},
        {"a frame set aside", {{0, FRAMES, -1, true}, {0, REJECTS + 5, 1, true}}},
        {"no first malformed line", {{0, FIRST, 0, false}}},
        {"more lines than there can be", {{0, LINES, INT64_MAX, false}}},
        {"sums that overflow",
         {{0, REJECTS, INT64_MAX, false}, {0, REJECTS + 1, INT64_MAX, false}}},
    };
    left_over left = keep_left();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int64_t numbers[NUMBERS + 1];
        read_counts(&left.files[COUNTS], numbers);
        for (int e = 0; e < 2; e++) {
            int at = cases[c].edits[e].file * PER_FILE + cases[c].edits[e].number;
            if (e == 1 && cases[c].edits[e].value == 0) break;
            numbers[at] = cases[c].edits[e].value + (cases[c].edits[e].added ? numbers[at] : 0);
        }
        put_left(&left);
        save_counts(left_path(&left, COUNTS), numbers, true);
        goes_on(NULL, false, cases[c].what);
    }
    int64_t numbers[NUMBERS + 1];
    read_counts(&left.files[COUNTS], numbers);
    put_left(&left);
    save_counts(left_path(&left, COUNTS), numbers, true); /* the hash is made here as there */
    goes_on(NULL, true, "unedited");
    numbers[PER_FILE + FORMAT]++; /* nothing but the hash tells */
    put_left(&left);
    save_counts(left_path(&left, COUNTS), numbers, false);
    goes_on(NULL, false, "another format");
    /* frames of one file that are said to be another's */
    read_counts(&left.files[COUNTS], numbers);
    for (int i = 0; i < PER_FILE; i++) {
        int64_t other = numbers[i];
        numbers[i] = numbers[PER_FILE + i];
        numbers[PER_FILE + i] = other;
    }
    put_left(&left);
    save_counts(left_path(&left, COUNTS), numbers, true);
    goes_on(NULL, false, "files exchanged");
    free_left(&left);
}

enum { TAKEN_BYTES = 32 << 20 };

/* A failure while it resumes, of whatever kind, leaves what the next one goes on with. */
static void resume_fails(void **state) {
    (void)state;
    leat_can_ingest_result result;
    interrupted(core_path("temp"));
    for (int i = 0; i < 2; i++) {
        leat_can_ingest_options options = can_logs_options();
        options.temp_dir = core_made(core_path("temp"));
        options.resume = true;
        uint8_t *taken = malloc(TAKEN_BYTES);
        assert_non_null(taken);
        memset(taken, 1, TAKEN_BYTES); /* the limit counts what the process has already */
        if (i == 0) options.memory_bytes = INT64_C(16) << 20;
        options.progress = can_logs_stop;
        options.progress_user = "checking";
        assert_int_equal(run(&options, &result, NULL),
                         i == 0 ? LEAT_ERR_LIMIT : LEAT_ERR_CANCELLED);
        free(taken);
        assert_non_null(can_work(core_path("out")));
        assert_int_equal(dir_count(core_path("temp")), 1);
    }
    goes_on(core_path("temp"), true, "after failures");
    assert_int_equal(dir_count(core_path("temp")), 0);
}

/* In the first file already, before there is a folder to leave. */
static void hashing_stopped(void **state) {
    (void)state;
    leat_can_ingest_options options = can_logs_options();
    leat_can_ingest_result result;
    options.progress = can_logs_stop;
    options.progress_user = "hashing inputs";
    assert_ok(leat_path_remove_tree(core_path("out"), err));
    assert_fails(run(&options, &result, err), LEAT_ERR_CANCELLED,
                 "stopped while hashing inputs; there is no complete scan that --resume could");
    assert_false(path_exists(core_path("out")));
}

/* Asked for in any stage behind the scan, even the last, it stops the run, which can go on. */
static void stopped_late(void **state) {
    (void)state;
    static const char *const stages[] = {"planning", "writing", "hashing graphs", "scaling",
                                         "publishing"};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        leat_can_ingest_options options = can_logs_options();
        leat_can_ingest_result result;
        leat_error err = {0};
        options.settings.scaler = LEAT_SCALER_ROBUST_BENIGN;
        options.progress = can_logs_stop;
        options.progress_user = (void *)stages[i];
        assert_ok(leat_path_remove_tree(core_path("out"), err));
        if (run(&options, &result, &err) != LEAT_ERR_CANCELLED)
            fail_msg("%s: not stopped", stages[i]);
        assert_non_null(strstr(err.message, stages[i]));
        assert_string_equal(can_cache_digest(core_path("out")).text, "");
        options.progress = NULL;
        options.resume = true;
        assert_ok(run(&options, &result, err));
        assert_true(result.resumed);
    }
}

/* What was noted of the files while they were read is in the words of the run that resumes, too. */
static void noted(void **state) {
    (void)state;
    leat_buf text = {0};
    assert_ok(
        leat_buf_printf(&text, err, "time,id,data,label_of_the_detector,second_label,Segment\n"));
    for (int i = 0; i < 500; i++)
        assert_ok(leat_buf_printf(&text, err, "%d,%d,00,R,R,%c\n", i, 1000 + i % 7, "AB"[i % 2]));
    core_made(core_path("noted"));
    core_save(core_path("noted/x.csv"), text.data, text.size);
    leat_buf_free(&text);
    leat_can_ingest_options options = can_logs_options();
    leat_can_ingest_result first, resumed;
    options.settings.val_fraction = 0;
    assert_ok(leat_path_remove_tree(core_path("out"), err));
    assert_ok(can_logs_ingest(core_path("noted"), core_path("out"), &options, &first, err));
    assert_non_null(strstr(first.warning, "label=label_of_the_detector+second_label to read"));
    assert_non_null(strstr(first.warning, "of few values are not used: \"Segment\";"));
    assert_non_null(strstr(first.warning, "all of them could be decimal"));
    assert_non_null(strstr(first.warning, "times are read as seconds, but all"));
    assert_ok(leat_path_remove_tree(core_path("out"), err));
    options.progress = can_logs_stop;
    options.progress_user = "planning";
    assert_int_equal(
        can_logs_ingest(core_path("noted"), core_path("out"), &options, &resumed, NULL),
        LEAT_ERR_CANCELLED);
    options.progress = NULL;
    options.resume = true;
    assert_ok(can_logs_ingest(core_path("noted"), core_path("out"), &options, &resumed, err));
    assert_true(resumed.resumed);
    assert_string_equal(resumed.warning, first.warning);
    assert_ok(leat_path_remove_tree(core_path("out"), err));
}

/* ---- logs that change ------------------------------------------------------------------------ */

/* A line more, once, when a stage begins. */
typedef struct growing {
    const char *stage;
    bool grown;
} growing;

static bool grow(void *user, const leat_progress *progress) {
    growing *self = user;
    if (self->grown || strcmp(progress->stage, self->stage) != 0) return true;
    self->grown = true;
    FILE *file = fopen(core_path("growing/train_a/drive.csv"), "a");
    bool ok = file != NULL && fputs("1000.6,1A0,00,0\n", file) > 0;
    ok = file != NULL && fclose(file) == 0 && ok;
    return ok;
}

/* Neither a cache nor a scan to resume is left of it, and the next run is of the log as it is. */
static void changed(void **state) {
    (void)state;
    static const char *const stages[] = {"hashing inputs", "reading"};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        leat_can_ingest_options options = can_logs_options();
        leat_can_ingest_result result;
        growing user = {.stage = stages[i]};
        assert_ok(leat_path_remove_tree(core_path("growing"), err));
        assert_ok(leat_path_remove_tree(core_path("grown"), err));
        can_logs_write(core_path("growing"), true);
        options.progress = grow;
        options.progress_user = &user;
        assert_fails(
            can_logs_ingest(core_path("growing"), core_path("grown"), &options, &result, err),
            LEAT_ERR_INPUT, "changed while it was read");
        assert_true(user.grown);
        if (path_exists(core_path("grown"))) assert_int_equal(dir_count(core_path("grown")), 0);
        options.resume = true;
        options.progress = NULL;
        assert_ok(
            can_logs_ingest(core_path("growing"), core_path("grown"), &options, &result, err));
        assert_false(result.resumed);
        /* a cache of the content that was hashed is there: it would remember the size of another */
        can_logs_write(core_path("growing"), true);
        user = (growing){.stage = "hashing inputs"};
        options.progress = grow;
        assert_fails(
            can_logs_ingest(core_path("growing"), core_path("grown"), &options, &result, err),
            LEAT_ERR_INPUT, "changed while it was read");
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Said before a byte is hashed, not when all is made. */
static void not_utf8(void **state) {
    (void)state;
    static const char *const paths[] = {"named/caf\xe9.csv", "caf\xe9/log.csv"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        leat_can_ingest_options options = can_logs_options();
        leat_can_ingest_result result;
        const char *path = core_path(paths[i]);
        options.progress = can_logs_stop;
        options.progress_user = "hashing inputs";
        assert_ok(leat_path_make_dir(core_path(i == 0 ? "named" : "caf\xe9"), err));
        core_save(path, "timestamp,arbitration_id,data_field\n1,0F5,00\n", 45);
        assert_fails(leat_can_ingest(&path, 1, core_path("grown"), &options, &result, err),
                     LEAT_ERR_INPUT, "is not UTF-8");
    }
}

/* ---- temporary files ------------------------------------------------------------------------- */

/* A run goes on with the files that it left, and nothing of it stays in --temp. */
static void own_temp(void **state) {
    (void)state;
    const char *temp = core_path("temp");
    assert_ok(leat_path_remove_tree(temp, err));
    assert_ok(leat_path_make_dir(temp, err));
    core_save(core_path("temp/can_spill_000"), "another's", 9);
    interrupted(temp);
    assert_int_equal(dir_count(temp), 2);
    goes_on(temp, true, "with --temp");
    assert_int_equal(dir_count(temp), 1);
    /* without --resume it begins anew, and removes them all the same */
    interrupted(temp);
    leat_can_ingest_options options = can_logs_options();
    leat_can_ingest_result result;
    options.temp_dir = core_made(temp);
    assert_ok(run(&options, &result, err));
    assert_false(result.resumed);
    check_cache();
    assert_int_equal(dir_count(temp), 1);
    core_image image = core_load(core_path("temp/can_spill_000"));
    assert_string_equal((char *)image.data, "another's");
    free(image.data);
    /* nor does a run stay that fails before its scan is whole */
    options.progress = can_logs_stop;
    options.progress_user = "reading";
    assert_ok(leat_path_remove_tree(core_path("out"), err));
    assert_int_equal(run(&options, &result, NULL), LEAT_ERR_CANCELLED);
    assert_false(path_exists(core_path("out"))); /* it was this run that made it */
    assert_int_equal(dir_count(temp), 1);
}

/* What was spilled to another --temp goes, by whatever name, and nothing that is not a run's. */
static void another_temp(void **state) {
    (void)state;
    const char *temp = core_path("temp"), *link_path = core_path("link");
    leat_can_ingest_options options = can_logs_options();
    leat_can_ingest_result result;
    char mark[LEAT_PATH_BYTES + 32], here[LEAT_PATH_BYTES];
    assert_ok(leat_path_remove_tree(temp, err));
    interrupted(temp);
    assert_int_equal(dir_count(temp), 1);
    assert_ok(run(&options, &result, err));
    check_cache();
    assert_int_equal(dir_count(temp), 0);
    interrupted(temp);
    goes_on(core_path("temp2"), false, "another --temp");
    assert_int_equal(dir_count(temp), 0);
    assert_int_equal(dir_count(core_path("temp2")), 0);
    /* it is the same folder: nothing is given up */
    assert_int_equal(symlink(temp, link_path), 0);
    interrupted(temp);
    goes_on(link_path, true, "by a link");
    assert_int_equal(dir_count(temp), 0);
    /* from another folder than the one that the path was meant from */
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(temp), 0);
    interrupted("below");
    assert_int_equal(dir_count(core_path("temp/below")), 1);
    assert_int_equal(chdir(here), 0);
    assert_ok(run(&options, &result, err));
    assert_int_equal(dir_count(core_path("temp/below")), 0);
    /* no run has written these: a mark of another format, and one that names a folder of others */
    static const char named[] = "{\"format\": \"leat work folder\", \"version\": 1, "
                                "\"run\": \"0123456789abcdef\", \"temp\": \"%s\", \"note\": \"\"}";
    const char *theirs = core_path("temp2/leat-0123456789abcdef");
    char text[LEAT_PATH_BYTES + sizeof named];
    snprintf(mark, sizeof mark, "%s/" LEAT_WORKDIR_MARK, interrupted(temp));
    assert_ok(leat_path_make_dir(theirs, err));
    core_save(core_path("temp2/leat-0123456789abcdef/can_spill_000"), "mine", 4);
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, named, i == 1 ? core_path("temp2") : theirs);
        core_save(mark, i == 0 ? "mine" : text, i == 0 ? 4 : (int64_t)strlen(text));
        assert_fails(run(&options, &result, err), LEAT_ERR_EXISTS, "move");
        assert_true(path_exists(core_path("temp2/leat-0123456789abcdef/can_spill_000")));
    }
    assert_ok(leat_path_remove_tree(core_path("out"), err));
    assert_ok(leat_path_remove_tree(core_path("temp2"), err));
    assert_ok(leat_path_remove_tree(temp, err));
}

/* A folder in --temp that leat does not remove, since it has not made it. */
static bool dig(void *user, const leat_progress *progress) {
    char *deep = user;
    leat_path_list names = {0};
    if (strcmp(progress->stage, "publishing") != 0) return true;
    if (leat_path_glob(core_path("temp/leat-*"), &names, NULL) != LEAT_OK) return false;
    snprintf(deep, LEAT_PATH_BYTES, "%s", names.count == 1 ? names.paths[0] : "");
    strcat(deep, "/mine");
    leat_path_list_free(&names);
    return leat_path_make_dir(deep, NULL) == LEAT_OK;
}

/* A finished cache is kept, whatever becomes of files beside it. */
static void stuck_temp(void **state) {
    (void)state;
    char deep[LEAT_PATH_BYTES] = "";
    leat_can_ingest_options options = can_logs_options();
    leat_can_ingest_result result;
    options.temp_dir = core_made(core_path("temp"));
    options.progress = dig;
    options.progress_user = deep;
    assert_ok(leat_path_remove_tree(core_path("out"), err));
    assert_ok(run(&options, &result, err));
    assert_true(path_exists(deep));
    assert_non_null(strstr(result.warning, "/mine"));
    assert_int_equal(dir_count(core_path("out")), 2);
    options.progress = NULL;
    assert_ok(run(&options, &result, err));
    assert_true(result.found && path_exists(deep));
    assert_non_null(strstr(result.warning, "/mine"));
    assert_ok(leat_path_remove_dir(deep, err)); /* then the next plain run removes the rest */
    assert_ok(run(&options, &result, err));
    assert_true(result.found);
    assert_null(strstr(result.warning, "/mine"));
    check_cache();
    assert_int_equal(dir_count(core_path("temp")), 0);
}

/* Sizes of the spilled files when planning begins. */
static bool measure(void *user, const leat_progress *progress) {
    int64_t *spilled = user;
    leat_path_list names = {0};
    if (strcmp(progress->stage, "planning") != 0) return true;
    *spilled = 0;
    if (leat_path_glob(core_path("temp/leat-*/can_spill_*"), &names, NULL) != LEAT_OK) return false;
    for (int64_t i = 0; i < names.count; i++) {
        leat_path_facts facts;
        if (leat_path_stat(names.paths[i], &facts, NULL) != LEAT_OK) return false;
        *spilled += facts.size_bytes;
    }
    leat_path_list_free(&names);
    return true;
}

/* Whoever begins anew keeps nothing of the spill that is of no use. */
static void no_old_spill(void **state) {
    (void)state;
    char path[LEAT_PATH_BYTES];
    leat_can_ingest_options options = can_logs_options();
    leat_can_ingest_result result;
    int64_t scanned = -1;
    assert_ok(leat_path_remove_tree(core_path("temp"), err));
    snprintf(path, sizeof path, "%s/scan.state", interrupted(core_path("temp")));
    core_save(path, "none", 4);
    leat_path_list temp = {0};
    assert_ok(leat_path_list_dir(core_path("temp"), &temp, err));
    assert_int_equal(temp.count, 1);
    snprintf(path, sizeof path, "%s/%s/can_spill_007", core_path("temp"), temp.paths[0]);
    core_save(path, "of an eighth thread", 19);
    leat_path_list_free(&temp);
    options.temp_dir = core_made(core_path("temp"));
    options.resume = true;
    options.progress = measure;
    options.progress_user = &scanned;
    assert_ok(run(&options, &result, err));
    assert_int_equal(scanned, CAN_LOGS_FRAMES * 24);
    check_cache();
}

static void spilled(void **state) {
    (void)state;
    for (int merged = 0; merged < 2; merged++) {
        leat_can_ingest_options options = can_logs_options();
        leat_can_ingest_result result;
        int64_t scanned = -1;
        options.temp_dir = core_made(core_path("temp"));
        options.threads = 2;
        options.settings.captures = merged ? LEAT_CAPTURES_MERGED : LEAT_CAPTURES_SEPARATE;
        options.progress = measure;
        options.progress_user = &scanned;
        assert_ok(leat_path_remove_tree(core_path("out"), err));
        assert_ok(run(&options, &result, err));
        assert_int_equal(scanned, CAN_LOGS_FRAMES * 24);
        if (!merged) assert_int_equal(result.bytes_spilled, scanned);
        else assert_in_range(result.bytes_spilled, scanned + 300 * 24, 2 * scanned);
    }
}

/* ---- what the result says -------------------------------------------------------------------- */

static void found(void **state) {
    (void)state;
    leat_can_ingest_result made, again;
    leat_can_ingest_options options = can_logs_options();
    options.settings.stride = 13;
    for (int bus = -1; bus <= 0; bus++) {
        options.settings.bus = bus == 0 ? 0 : options.settings.bus;
        assert_ok(leat_path_remove_tree(core_path("out"), err));
        assert_ok(run(&options, &made, err));
        assert_ok(run(&options, &again, err));
        assert_true(!made.found && again.found);
        assert_int_equal(made.lines_read, CAN_LOGS_FRAMES + CAN_LOGS_REJECTED);
        assert_int_equal(again.lines_read, -1);
        assert_int_equal(again.rejected, -1);
        assert_int_equal(made.frames_stepped_back, 1); /* one log has its second half in front */
        assert_int_equal(again.frames_stepped_back, -1);
        assert_int_equal(again.frames, bus == 0 ? -1 : made.frames);
        assert_int_equal(again.frames_left_out, bus == 0 ? -1 : 0);
        assert_true(made.frames_between > 0 && made.frames_tail > 0 && made.frames_dropped > 0);
        assert_int_equal(again.frames_windowed, made.frames_windowed);
        assert_int_equal(again.frames_between, made.frames_between);
        assert_int_equal(again.frames_tail, made.frames_tail);
        assert_int_equal(again.frames_dropped, made.frames_dropped);
        assert_int_equal(again.windows_dropped, made.windows_dropped);
        assert_int_equal(again.captures, made.captures);
        assert_int_equal(again.identifiers, made.identifiers);
        assert_int_equal(again.vocabulary, made.vocabulary);
        assert_int_equal(again.files, made.files);
        for (int i = 0; i < made.split_count; i++)
            assert_int_equal(again.split_graphs[i], made.split_graphs[i]);
    }
}

/* Logs without labels stay what they are when a run resumes behind its scan. */
static void unlabelled(void **state) {
    (void)state;
    static const char *const names[] = {"drive.log", "normal.log"};
    can_digest whole = {""};
    for (int i = 0; i < 2; i++) {
        char path[LEAT_PATH_BYTES];
        snprintf(path, sizeof path, "%s/%s", core_made(core_path("plain")), names[i]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        for (int k = 0; k < 300; k++)
            fprintf(file, "(%d.%06d) can0 %03X#%04X\n", 1000 + i, k * 1000, 256 + k % 7, k);
        assert_int_equal(fclose(file), 0);
    }
    for (int pass = 0; pass < 3; pass++) { /* at once; stopped; resumed */
        leat_can_ingest_options options = can_logs_options();
        leat_can_ingest_result result;
        leat_error err = {0};
        options.progress = pass == 1 ? can_logs_stop : NULL;
        options.progress_user = "planning";
        options.resume = pass == 2;
        if (pass < 2) assert_ok(leat_path_remove_tree(core_path("out"), err));
        leat_code code =
            can_logs_ingest(core_path("plain"), core_path("out"), &options, &result, &err);
        assert_int_equal(code, pass == 1 ? LEAT_ERR_CANCELLED : LEAT_OK);
        if (pass == 1) continue;
        assert_int_equal(result.resumed, pass == 2);
        assert_int_equal(result.files_benign, 1);
        assert_int_equal(result.files_unlabelled, 1);
        assert_true(result.split_unlabelled[0] > 0);
        assert_true(result.split_unlabelled[0] < result.split_graphs[0]);
        if (pass == 0) whole = can_cache_digest(core_path("out"));
        else assert_string_equal(can_cache_digest(core_path("out")).text, whole.text);
    }
}

static int setup(void **state) {
    (void)state;
    core_in_memory(INT64_C(64) << 20);
    can_logs_write(core_path("logs"), false);
    leat_can_ingest_options options = can_logs_options();
    leat_can_ingest_result result;
    assert_ok(run(&options, &result, err));
    want = can_cache_digest(core_path("out"));
    return 0;
}

static int teardown(void **state) {
    (void)state;
    core_dir_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_short),       cmocka_unit_test(no_rejects),
        cmocka_unit_test(hashing_stopped), cmocka_unit_test(edited),
        cmocka_unit_test(resume_fails),    cmocka_unit_test(own_temp),
        cmocka_unit_test(no_old_spill),    cmocka_unit_test(spilled),
        cmocka_unit_test(found),           cmocka_unit_test(changed),
        cmocka_unit_test(stopped_late),    cmocka_unit_test(not_utf8),
        cmocka_unit_test(another_temp),    cmocka_unit_test(stuck_temp),
        cmocka_unit_test(unlabelled),      cmocka_unit_test(noted),
    };
    return cmocka_run_group_tests_name("ingest of logs", tests, setup, teardown);
}
