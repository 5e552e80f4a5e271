/*
 * Inputs that change while they are read: each way to change a file, in each format, at a moment
 * that the progress function picks. A run that has read one ends with an error and leaves nothing.
 */
#include "ingest_support.h"
#include "source_support.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "duckdb/api.h"

#define HEADER "event_time,src_addr,dst_addr,rtt\n"
#define JSON(second)                                                                               \
    "{\"event_time\":155613600" #second ",\"src_addr\":\"192.0.2.1\","                             \
    "\"dst_addr\":\"198.51.100.1\",\"rtt\":1.5}\n"
static const char csv[] = HEADER "1556136000,192.0.2.1,198.51.100.1,1.5\n"
                                 "1556136001,192.0.2.2,198.51.100.1,2.5\n";
static const char csv_row[] = "1556136002,192.0.2.1,198.51.100.1,3.5\n";
static const char json[] = JSON(0) JSON(1);
static const char json_row[] = JSON(2);

typedef enum change {
    APPENDED,
    CUT,
    OVERWRITTEN, /* a byte, in place */
    SET_BACK,    /* the same, and its modification time as it was */
    REPLACED,    /* by a file of the same size and modification time */
    REMOVED,
    MODE, /* permissions and links: the contents stay */
    LINK,
    CHANGES
} change;

static const struct {
    const char *words; /* NULL: the run does not mind */
} changes[CHANGES] = {
    [APPENDED] = {" (different modification time); run again once nothing writes to it, or on a "},
    [CUT] = {" (different modification time)"},
    [OVERWRITTEN] = {" (different modification time)"},
    [SET_BACK] = {" (same modification time, later change time)"},
    [REPLACED] = {" (different file)"},
    [REMOVED] = {" bytes was removed while it was read"},
};

typedef struct input {
    const char *name;
    const char *text, *row; /* NULL: Parquet */
    bool gzip;
    int64_t at; /* a byte whose change nobody would see; of gzip, what its check is over */
} input;

static const input inputs[] = {
    {"b.csv", csv, csv_row, false, 42},      {"b.csv.gz", csv, csv_row, true, 30},
    {"b.ndjson", json, json_row, false, 23}, {"b.ndjson.gz", json, json_row, true, 30},
    {"b.parquet", NULL, NULL, false, 0},
};
enum { INPUTS = sizeof inputs / sizeof *inputs };

static void copy(const char *from, const char *to) {
    core_image image = core_load(from);
    core_save(to, image.data, image.size_bytes);
    free(image.data);
}

/* Long ago, so that any other time is another, however coarse the clock of files is. */
static void set_time(const char *path) {
    const struct timespec times[2] = {{.tv_sec = 1556136000}, {.tv_sec = 1556136000}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static const char *write_input(const input *of) {
    const char *path = core_path(of->name);
    unlink(path);
    if (of->text == NULL) copy(LEAT_SOURCE_DIR "/tests/golden/parquet/whole.parquet", path);
    else if (of->gzip) source_gzip(of->name, of->text, (int64_t)strlen(of->text), 1);
    else source_text(of->name, of->text);
    set_time(path);
    return path;
}

/* Until the clock of files has left the moment in which this one was made. */
static void wait_for_clock(const char *path) {
    struct stat facts;
    struct timespec now;
    assert_int_equal(stat(path, &facts), 0);
    do {
        usleep(1000);
        assert_int_equal(clock_gettime(CLOCK_REALTIME_COARSE, &now), 0);
    } while (now.tv_sec < facts.st_ctim.tv_sec ||
             (now.tv_sec == facts.st_ctim.tv_sec && now.tv_nsec <= facts.st_ctim.tv_nsec));
}

static void append(const input *of, const char *path) {
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    if (of->gzip) {
        source_gzip("more.gz", of->row, (int64_t)strlen(of->row), 1);
        core_image more = core_load(core_path("more.gz"));
        assert_int_equal(fwrite(more.data, 1, (size_t)more.size_bytes, file), more.size_bytes);
        free(more.data);
    } else {
        assert_true(fputs(of->row != NULL ? of->row : "x", file) >= 0);
    }
    assert_int_equal(fclose(file), 0);
}

/* In Parquet: an rtt of 1.0, beside those before and after it. */
static int64_t find_rtt(const char *path) {
    static const uint8_t rtts[12] = {0, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40};
    core_image image = core_load(path);
    int64_t at = 0;
    while (at < image.size_bytes - 12 && memcmp(image.data + at, rtts, 12) != 0) at++;
    assert_true(at < image.size_bytes - 12);
    free(image.data);
    return at + 6;
}

static void overwrite(const input *of, const char *path) {
    int64_t at = of->text != NULL ? of->at : find_rtt(path);
    int file = open(path, O_RDWR);
    char byte = 0;
    assert_true(file >= 0);
    assert_int_equal(pread(file, &byte, 1, at), 1);
    byte ^= 1;
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
    assert_int_equal(close(file), 0);
}

static void apply(change how, const input *of) {
    const char *path = core_path(of->name), *other = core_path("other");
    wait_for_clock(path);
    switch (how) {
    case APPENDED: append(of, path); return;
    case CUT: {
        struct stat facts;
        assert_int_equal(stat(path, &facts), 0);
        assert_int_equal(truncate(path, facts.st_size - 5), 0);
        return;
    }
    case OVERWRITTEN: overwrite(of, path); return;
    case SET_BACK:
        overwrite(of, path);
        set_time(path);
        return;
    case REPLACED:
        copy(path, other);
        overwrite(of, other);
        set_time(other);
        assert_int_equal(rename(other, path), 0);
        return;
    case REMOVED: assert_int_equal(unlink(path), 0); return;
    case MODE: assert_int_equal(chmod(path, 0400), 0); return;
    case LINK: assert_int_equal(link(path, other), 0); return;
    default: fail_msg("no such change");
    }
}

/* ---- while a run reads ----------------------------------------------------------------------- */

typedef struct changer {
    change how;
    const input *of;
    bool done;
} changer;

static bool change_now(void *user, const leat_progress *progress) {
    changer *self = user;
    if (self->done || strcmp(progress->stage, "reading") != 0) return true;
    self->done = true;
    apply(self->how, self->of);
    return true;
}

static leat_code ingest(const input *of, leat_probes_ingest_options *options,
                        leat_probes_ingest_result *result, leat_error *err) {
    const char *paths[] = {core_path("a.csv"), core_path(of->name)};
    options->memory_bytes = ingest_memory(300);
    return leat_probes_ingest(paths, 2, core_path("out"), options, result, err);
}

static void one_change(const input *of, change how, const dataset_digest *want) {
    char path[LEAT_PATH_BYTES + 2];
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    changer user = {.how = how, .of = of};
    options.progress = change_now;
    options.progress_user = &user;
    snprintf(path, sizeof path, "\"%s\"", write_input(of));
    const char *words = changes[how].words;
    leat_error error = {0};
    leat_code code = ingest(of, &options, &result, &error);
    assert_true(user.done);
    unlink(core_path("other"));
    if (words == NULL) {
        assert_int_equal(code, LEAT_OK);
    } else {
        if (code != LEAT_ERR_INPUT || strstr(error.message, words) == NULL ||
            strstr(error.message, path) == NULL || strstr(error.message, "while it was") == NULL) {
            fail_msg("%s, change %d: code %d: %s", of->name, (int)how, (int)code, error.message);
        }
        /* nothing to resume: what was read goes, and the file is read anew */
        assert_false(path_exists(core_path("out")));
        write_input(of);
        options.progress = NULL;
        options.resume = true;
        assert_ok(ingest(of, &options, &result, err));
        assert_false(result.resumed);
    }
    assert_same_dataset(core_path("out"), *want);
    assert_ok(leat_path_remove_tree(core_path("out"), err));
}

static void while_it_is_read(void **state) {
    (void)state;
    source_text("a.csv", csv);
    for (int i = 0; i < INPUTS; i++) {
        leat_probes_ingest_options options = ingest_options();
        leat_probes_ingest_result result;
        if (inputs[i].text == NULL && !LEAT_HAVE_DUCKDB) continue;
        write_input(&inputs[i]);
        assert_ok(ingest(&inputs[i], &options, &result, err));
        dataset_digest want = dataset_hash(core_path("out"));
        assert_ok(leat_path_remove_tree(core_path("out"), err));
        for (change how = 0; how < CHANGES; how++) one_change(&inputs[i], how, &want);
    }
}

/* A row that --strict stops at is not the reason if the file that it is in was changed. */
static void strict(void **state) {
    (void)state;
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    static const input bad = {"b.csv", HEADER "1556136000,192.0.2.1,nowhere,1.5\n", csv_row, false,
                              0};
    changer user = {.how = APPENDED, .of = &bad};
    source_text("a.csv", csv);
    write_input(&bad);
    options.strict = true;
    options.progress_user = &user;
    assert_fails(ingest(&bad, &options, &result, err), LEAT_ERR_INPUT, "dst_addr_unparsable");
    options.progress = change_now;
    assert_fails(ingest(&bad, &options, &result, err), LEAT_ERR_INPUT, "changed while it was read");
    assert_false(path_exists(core_path("out")));
}

/* ---- the check itself ------------------------------------------------------------------------ */

/* The facts are those that were there before a byte was read to tell the format. */
static void since_it_was_found(void **state) {
    (void)state;
    const char *paths[] = {source_text("a.csv", csv), core_path("b.csv")};
    char sizes[64];
    snprintf(sizes, sizeof sizes, "it had %zu bytes and now has %zu", sizeof csv - 1,
             sizeof csv - 1 + sizeof csv_row - 1);
    for (change how = 0; how < CHANGES; how++) {
        leat_input_list list;
        write_input(&inputs[0]);
        assert_ok(leat_inputs_find(paths, 2, &leat_probe_inputs, &list, err));
        assert_ok(leat_inputs_unchanged(&list, err));
        apply(how, &inputs[0]);
        if (changes[how].words == NULL) assert_ok(leat_inputs_unchanged(&list, err));
        else assert_fails(leat_inputs_unchanged(&list, err), LEAT_ERR_INPUT, changes[how].words);
        if (how == APPENDED) assert_fails(leat_inputs_unchanged(&list, err), LEAT_ERR_INPUT, sizes);
        leat_input_list_free(&list);
        unlink(core_path("other"));
    }
}

/* A pipe or a folder that stands there now is not opened. */
static void no_file_any_more(void **state) {
    (void)state;
    const char *path = write_input(&inputs[0]);
    leat_input_list list;
    assert_ok(leat_inputs_find(&path, 1, &leat_probe_inputs, &list, err));
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_fails(leat_inputs_unchanged(&list, err), LEAT_ERR_INPUT, "was removed");
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_fails(leat_inputs_unchanged(&list, err), LEAT_ERR_INPUT, "was removed");
    rmdir(path);
    leat_input_list_free(&list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_it_is_read),
        cmocka_unit_test(strict),
        cmocka_unit_test(since_it_was_found),
        cmocka_unit_test(no_file_any_more),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    core_dir_remove();
    return failed;
}
