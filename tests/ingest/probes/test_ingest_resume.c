/*
 * Runs that stop: cancelled at the k-th report, or refused; then continued to the bytes of a run
 * that was left alone. And what a folder must look like to be written to.
 */
/* TSan: runs cancelled while their threads work. */
#include "ingest_support.h"

#include <unistd.h>

#include "format/dataset/manifest.h"
#include "ingest/probes/job.h"

/* ---- cancelled ---- */

/* What a stopped run leaves: its work and no data set. */
static void check_stopped(const char *out, const leat_probes_ingest_result *result) {
    char path[LEAT_PATH_BYTES];
    assert_int_equal(dir_count(out), 1);
    snprintf(path, sizeof path, "%s/.leat", out);
    assert_true(path_exists(path));
    assert_int_equal(result->measurements, 0);
}

static void cancelled(void **state) {
    (void)state;
    static const int stops[] = {1, 2, 3, 5, 8};
    const char *out = core_path("cancelled");
    int resumed = 0, stages = 0;
    for (int twice = 0; twice < 2; twice++) {
        for (size_t k = 0; k < sizeof stops / sizeof *stops; k += 1 + (size_t)twice) {
            leat_probes_ingest_options options = ingest_options();
            leat_probes_ingest_result result = {0};
            ingest_stopper how = {.at = stops[k]};
            assert_ok(leat_path_remove_tree(out, err));
            options.threads = 1 + (int)k % 2;
            options.progress = ingest_stop_at;
            options.progress_user = &how;
            assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_CANCELLED, "stopped");
            check_stopped(out, &result);
            stages |= strcmp(how.stage, "reading") == 0 ? 1 : 2;
            options.resume = true;
            if (twice) {
                how = (ingest_stopper){.at = 4};
                options.threads = 3;
                assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_CANCELLED,
                             "stopped");
                check_stopped(out, &result);
            }
            options.progress = NULL;
            options.threads = 2;
            assert_ok(resume_run(out, &options, &result, err));
            assert_same_dataset(out, resume_want);
            assert_int_equal(result.rows_read, result.measurements + result.rejected);
            assert_int_equal(result.measurements, resume_shape.rows);
            resumed += result.resumed;
        }
        if (twice == 0) assert_in_range(resumed, 1, 4); /* some in the scan, some after it */
    }
    assert_int_equal(stages, 3);
}

/* Shards with their own names under a stopped run. */
static int64_t finished_in(const char *out) {
    char pattern[LEAT_PATH_BYTES];
    leat_path_list names = {0};
    snprintf(pattern, sizeof pattern, "%s/.leat/out/*/*.arrayrecord", out);
    int64_t count = leat_path_glob(pattern, &names, NULL) == LEAT_OK ? names.count : 0;
    leat_path_list_free(&names);
    return count;
}

/* Cuts the part of a shard that is there, as a power failure may. */
static void cut_last_part(const char *out) {
    char pattern[LEAT_PATH_BYTES];
    leat_path_list names = {0};
    snprintf(pattern, sizeof pattern, "%s/.leat/parts/train_*.part", out);
    assert_ok(leat_path_glob(pattern, &names, err));
    core_image image = core_load(names.paths[names.count - 1]);
    core_save(names.paths[names.count - 1], image.data, image.size_bytes / 2);
    free(image.data);
    leat_path_list_free(&names);
}

/* Shards that are there are not made again; one whose part is damaged is. */
static void finished_shards(void **state) {
    (void)state;
    core_shape shape = {.seed = 6, .rows = 3000, .sources = 24, .times = 900, .targets = 9};
    core_row *rows = core_rows(&shape);
    const char *out = core_path("finished"), *file = csv_paths("few", 1)[0];
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result = {0};
    csv_write("few", rows, shape.rows, &(csv_cut){.files = 1});
    free(rows);
    options.probes_per_shard = 2;
    options.threads = 1;
    assert_ok(leat_probes_ingest(&file, 1, out, &options, &result, err));
    dataset_digest few = dataset_hash(out);
    int64_t most = 0;
    for (int at = 4; at <= 19; at += 5) {
        ingest_stopper how = {.at = at};
        options.progress = ingest_stop_at;
        options.progress_user = &how;
        options.resume = false;
        assert_ok(leat_path_remove_tree(out, err));
        assert_fails(leat_probes_ingest(&file, 1, out, &options, &result, err), LEAT_ERR_CANCELLED,
                     "stopped");
        int64_t finished = finished_in(out);
        if (finished > most) most = finished;
        options.resume = true;
        options.progress = NULL;
        bool damaged = at > 10 && finished > 0;
        if (damaged) cut_last_part(out);
        leat_error err = {0};
        leat_code code = leat_probes_ingest(&file, 1, out, &options, &result, &err);
        if (damaged && code == LEAT_ERR_CORRUPT) {
            /* what the shard was made of may be gone by then, as it was known to be whole */
            assert_non_null(strstr(err.message, "temporary file"));
            continue;
        }
        if (code != LEAT_OK) fail_msg("%s", err.message);
        assert_true(result.resumed);
        assert_int_equal(result.shards_resumed, finished - damaged);
        assert_same_dataset(out, few);
    }
    assert_true(most >= 3);
}

/* ---- refused ---- */

/* What a killed scan has set aside is not taken for what the next one sets aside. */
static void stale_rejects(void **state) {
    (void)state;
    core_shape shape = {.seed = 6, .rows = 300, .sources = 9, .times = 900, .targets = 9};
    core_row *rows = core_rows(&shape);
    const char *out = core_path("stale"), *file = csv_paths("stale", 1)[0];
    csv_write("stale", rows, shape.rows, &(csv_cut){.files = 1});
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    ingest_stopper how = {.at = 1};
    options.progress = ingest_stop_at;
    options.progress_user = &how;
    assert_fails(leat_probes_ingest(&file, 1, out, &options, &result, err), LEAT_ERR_CANCELLED, "");
    core_save(core_path("stale/.leat/out/rejected.csv"), "old", 3);
    options.progress = NULL;
    options.resume = true;
    assert_ok(leat_probes_ingest(&file, 1, out, &options, &result, err));
    assert_false(path_exists(core_path("stale/rejected.csv")));
    dataset_check(out, rows, shape.rows, &options);
    free(rows);
}

/* A run that stopped after its scan. */
static void stop_in_write(const char *out) {
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    for (int at = 1;; at++) {
        ingest_stopper how = {.at = at};
        assert_ok(leat_path_remove_tree(out, err));
        options.progress = ingest_stop_at;
        options.progress_user = &how;
        assert_int_equal(resume_run(out, &options, &result, NULL), LEAT_ERR_CANCELLED);
        if (strcmp(how.stage, "writing") == 0) return;
    }
}

static void resume_with_others(void **state) {
    (void)state;
    static const char *const words[] = {"seed",           "train_ratio",      "split",
                                        "max_row_size",   "probes_per_shard", "compression",
                                        "dictionary_src", "zero_address",     "per_packet",
                                        "column_rtt",     "temporary files",  "input files",
                                        "input 2",        "memory limit"};
    const char *out = core_path("others");
    stop_in_write(out);
    core_image second = core_load(csv_paths("resume", 3)[1]);
    for (int i = 0; i < (int)(sizeof words / sizeof *words); i++) {
        leat_probes_ingest_options o = ingest_options();
        leat_probes_ingest_result result;
        o.resume = true;
        if (i == 0) o.seed = 5;
        if (i == 1) o.train_ratio = 0.8999999;
        if (i == 2) o.split = LEAT_SPLIT_ORDERED;
        if (i == 3) o.max_row_bytes = 0;
        if (i == 4) o.probes_per_shard++;
        if (i == 5) o.record.compression = LEAT_COMPRESSION_SNAPPY;
        if (i == 6) o.dictionary_src = true;
        if (i == 7) o.zero_address = true;
        if (i == 8) o.per_packet = true;
        if (i == 9) o.column_rtt = "rtt2";
        if (i == 10) o.temp_dir = core_made(core_path("others_temp"));
        if (i == 13) o.memory_bytes = INGEST_MEMORY_MIN;
        if (i == 12) {
            usleep(20000); /* another time of change */
            core_save(csv_paths("resume", 3)[1], second.data, second.size_bytes);
        }
        leat_error err = {0};
        void *ballast = i == 13 ? ingest_ballast() : NULL;
        leat_code code =
            leat_probes_ingest(csv_paths("resume", 3), i == 11 ? 2 : 3, out, &o, &result, &err);
        free(ballast);
        if (code != (i == 13 ? LEAT_ERR_LIMIT : LEAT_ERR_OPTION) ||
            strstr(err.message, words[i]) == NULL) {
            fail_msg("%s: code %d: %s", words[i], code, err.message);
        }
        char state_path[LEAT_PATH_BYTES];
        snprintf(state_path, sizeof state_path, "%s/.leat/state.json", out);
        assert_true(path_exists(state_path)); /* nothing is lost by a wrong option */
        if (i == 12) stop_in_write(out);
    }
    free(second.data);
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    options.resume = true;
    assert_ok(resume_run(out, &options, &result, err));
    assert_true(result.resumed);
    assert_same_dataset(out, resume_want);
}

/* A state or spill that was changed is told; --replace begins anew. */
static void damaged_state(void **state) {
    (void)state;
    static const char *const files[] = {"state.json", "streams.bin", "temp/spill_*"};
    const char *out = core_path("damaged_state");
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        char path[LEAT_PATH_BYTES];
        leat_probes_ingest_options options = ingest_options();
        leat_probes_ingest_result result;
        stop_in_write(out);
        snprintf(path, sizeof path, "%s/.leat/%s", out, files[f]);
        leat_path_list names = {0};
        assert_ok(leat_path_glob(path, &names, err));
        for (int64_t i = 0; i < names.count; i++) {
            core_image image = core_load(names.paths[i]);
            /* in every block */
            int64_t at = f == 2 ? 30 : image.size_bytes / 2;
            for (; at < image.size_bytes; at += 4096) image.data[at] ^= 0x80;
            core_save(names.paths[i], image.data, image.size_bytes);
            free(image.data);
        }
        leat_path_list_free(&names);
        options.resume = true;
        assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_CORRUPT, "--replace");
        options.resume = false;
        options.replace = true;
        assert_ok(resume_run(out, &options, &result, err));
        assert_same_dataset(out, resume_want);
    }
}

/* A number of the state that was changed, and is as possible as the right one. */
static void changed_number(void **state) {
    (void)state;
    const char *out = core_path("changed_number");
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    stop_in_write(out);
    core_image image = core_load(core_path("changed_number/.leat/state.json"));
    char *at = memmem(image.data, (size_t)image.size_bytes, "\"train_shards\": ", 16);
    assert_non_null(at);
    at[16] = at[16] == '1' ? '2' : '1';
    core_save(core_path("changed_number/.leat/state.json"), image.data, image.size_bytes);
    free(image.data);
    options.resume = true;
    assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_CORRUPT, "--replace");
    options.resume = false;
    assert_ok(resume_run(out, &options, &result, err));
    assert_same_dataset(out, resume_want);
}

/* As a spill that is gone: nothing is lost. */
static void missing_others(void **state) {
    (void)state;
    static const char *const names[] = {"streams.bin", "temp"};
    const char *out = core_path("missing_others");
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    options.resume = true;
    stop_in_write(out);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[LEAT_PATH_BYTES];
        snprintf(path, sizeof path, "%s/.leat/%s", out, names[i]);
        assert_ok(leat_path_rename(path, core_path("elsewhere"), err));
        assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_NOT_FOUND, "--replace");
        assert_ok(leat_path_rename(core_path("elsewhere"), path, err));
    }
    assert_ok(resume_run(out, &options, &result, err));
    assert_true(result.resumed);
}

/* ---- folders ---- */

static void touch(const char *dir, const char *name) {
    char path[LEAT_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_ok(leat_path_make_dir(dir, err));
    core_save(path, "x", 1);
}

static void folders(void **state) {
    (void)state;
    enum { NONE, EMPTY, FOREIGN, COMPLETE, INTERRUPTED, PLAIN_FILE, KINDS };
    static const struct {
        int kind;
        bool resume, replace;
        leat_code code;
        const char *words;
    } cases[] = {
        {NONE, false, false, LEAT_OK, ""},
        {NONE, true, false, LEAT_OK, ""},
        {NONE, false, true, LEAT_OK, ""},
        {EMPTY, false, false, LEAT_OK, ""},
        {EMPTY, true, false, LEAT_OK, ""},
        {FOREIGN, false, false, LEAT_ERR_EXISTS, "does not hold a data set"},
        {FOREIGN, true, false, LEAT_ERR_EXISTS, "is not a JSON object"},
        {FOREIGN, false, true, LEAT_ERR_EXISTS, "is not a JSON object"},
        {COMPLETE, false, false, LEAT_ERR_EXISTS, "--replace"},
        {COMPLETE, true, false, LEAT_ERR_EXISTS, "complete data set"},
        {COMPLETE, false, true, LEAT_OK, ""},
        {INTERRUPTED, false, false, LEAT_ERR_EXISTS, "--resume"},
        {INTERRUPTED, true, false, LEAT_OK, ""},
        {INTERRUPTED, false, true, LEAT_OK, ""},
        {PLAIN_FILE, false, false, LEAT_ERR_EXISTS, "is a file"},
        {PLAIN_FILE, false, true, LEAT_ERR_EXISTS, "is a file"},
    };
    const char *out = core_path("folders");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        leat_probes_ingest_options options = ingest_options();
        leat_probes_ingest_result result;
        assert_ok(leat_path_remove_tree(out, err));
        if (cases[c].kind == EMPTY) assert_ok(leat_path_make_dir(out, err));
        if (cases[c].kind == FOREIGN) touch(out, "manifest.json");
        if (cases[c].kind == PLAIN_FILE) core_save(out, "x", 1);
        if (cases[c].kind == INTERRUPTED) stop_in_write(out);
        if (cases[c].kind == COMPLETE) {
            options.seed = 9;
            assert_ok(resume_run(out, &options, &result, err));
            touch(out, "notes.txt"); /* a file of the user's stays */
            options.seed = 0;
        }
        options.resume = cases[c].resume;
        options.replace = cases[c].replace;
        assert_fails(resume_run(out, &options, &result, err), cases[c].code, cases[c].words);
        if (cases[c].code == LEAT_OK) {
            assert_same_dataset(out, resume_want);
            int64_t names = 6 + (cases[c].kind == COMPLETE);
            assert_int_equal(dir_count(out), names);
        } else if (cases[c].kind == FOREIGN) {
            assert_int_equal(dir_count(out), 1);
        } else if (cases[c].kind == COMPLETE) {
            options.seed = 9;
            assert_memory_not_equal(dataset_hash(out).bytes, resume_want.bytes,
                                    sizeof resume_want.bytes);
        }
    }
}

/* A run that is killed after its last step, and one that is run twice, find their data set whole:
 * they are done. One of other rows, or with other options, is not. */
static void finished(void **state) {
    (void)state;
    const char *out = core_path("finished_run"), *few = csv_paths("resume", 1)[0];
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result first = {0}, again = {0};
    assert_ok(resume_run(out, &options, &first, err));
    options.resume = true;
    for (int left = 0; left < 3; left++) {
        if (left > 0) assert_ok(leat_path_make_dir(core_path("finished_run/.leat"), err));
        if (left > 1) core_save(core_path("finished_run/.leat.lock"), "", 0);
        assert_ok(resume_run(out, &options, &again, err));
        assert_same_dataset(out, resume_want);
        assert_true(again.resumed && again.was_complete && !first.was_complete);
        assert_int_equal(again.measurements, first.measurements);
        assert_int_equal(again.rows_read, first.rows_read);
        assert_int_equal(again.rejected, first.rejected);
        assert_int_equal(again.reject_reasons, first.reject_reasons);
        assert_int_equal(again.bytes_written, first.bytes_written);
        assert_int_equal(again.rows_split, first.rows_split);
        assert_memory_equal(again.probes, first.probes, sizeof first.probes);
        assert_memory_equal(again.rows, first.rows, sizeof first.rows);
        assert_memory_equal(again.shards, first.shards, sizeof first.shards);
    }
    options.strict = true;
    assert_fails(resume_run(out, &options, &again, err), LEAT_ERR_INPUT, "--strict");
    options.strict = false;
    assert_fails(leat_probes_ingest(&few, 1, out, &options, &again, err), LEAT_ERR_EXISTS,
                 "complete data set");
    options.column_rtt = "delay";
    assert_fails(resume_run(out, &options, &again, err), LEAT_ERR_EXISTS, "complete data set");
    options.column_rtt = NULL;
    assert_ok(leat_path_remove(core_path("finished_run/run.json"), err));
    assert_fails(resume_run(out, &options, &again, err), LEAT_ERR_EXISTS, "complete data set");
    assert_same_dataset(out, resume_want);
}

/* Rows that the interrupted run has set aside fail --strict as they fail a run of its own; nothing
 * is lost by it. */
static void strict_resume(void **state) {
    (void)state;
    const char *out = core_path("strict");
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    options.strict = true;
    assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_INPUT, "");
    stop_in_write(out);
    options.resume = true;
    assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_INPUT, "--strict");
    options.strict = false;
    assert_ok(resume_run(out, &options, &result, err));
    assert_true(result.resumed && result.rejected > 0);
    assert_same_dataset(out, resume_want);
}

/* A temporary file that is gone may come back with its disk: it is named, and nothing is lost. */
static void missing_spill(void **state) {
    (void)state;
    const char *out = core_path("missing_spill");
    leat_path_list names = {0};
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    stop_in_write(out);
    assert_ok(leat_path_glob(core_path("missing_spill/.leat/temp/spill_*"), &names, err));
    assert_ok(leat_path_rename(names.paths[0], core_path("elsewhere"), err));
    options.resume = true;
    leat_error err = {0};
    assert_int_equal(resume_run(out, &options, &result, &err), LEAT_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "spill_"));
    assert_non_null(strstr(err.message, "is missing"));
    assert_non_null(strstr(err.message, "--replace"));
    assert_ok(leat_path_rename(core_path("elsewhere"), names.paths[0], err));
    leat_path_list_free(&names);
    assert_ok(resume_run(out, &options, &result, err));
    assert_true(result.resumed);
    assert_same_dataset(out, resume_want);
}

/* Files that are not of the data set are never removed with it. */
static void files_of_others(void **state) {
    (void)state;
    static const char *const places[] = {"train/notes.txt", "test/sub/x",
                                         "train/train_shard_00099.arrayrecord", "train"};
    const char *out = core_path("others_files");
    for (int interrupted = 0; interrupted < 2; interrupted++) {
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            char path[LEAT_PATH_BYTES], dir[LEAT_PATH_BYTES];
            leat_probes_ingest_options options = ingest_options();
            leat_probes_ingest_result result;
            bool is_split = strcmp(places[i], "train") == 0;
            if (is_split && !interrupted) continue;
            assert_ok(leat_path_remove_tree(out, err));
            if (interrupted) stop_in_write(out);
            else assert_ok(resume_run(out, &options, &result, err));
            snprintf(path, sizeof path, "%s/%s", out, places[i]);
            snprintf(dir, sizeof dir, "%s", path);
            *strrchr(dir, '/') = 0;
            assert_ok(leat_path_make_dir(dir, err));
            core_save(path, "x", 1);
            options.replace = true;
            assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_EXISTS, "move it away");
            assert_true(path_exists(path));
            if (!interrupted) assert_false(has_work(out));
            if (interrupted) {
                options.replace = false;
                options.resume = true;
                assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_EXISTS,
                             "move it away");
            }
            assert_ok(leat_path_remove_tree(is_split || i == 1 ? dir : path, err));
            if (is_split) stop_in_write(out);
            assert_ok(resume_run(out, &options, &result, err));
            assert_same_dataset(out, resume_want);
        }
    }
}

/* A manifest that cannot be read is told of as what it is, and nothing is removed. */
static void other_manifests(void **state) {
    (void)state;
    const char *out = core_path("manifests"), *path = core_path("manifests/manifest.json");
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    assert_ok(resume_run(out, &options, &result, err));
    core_image image = core_load(path);
    static const char newer[] = "{\"format\": \"leat.probes\", \"version\": 3}";
    for (int replace = 0; replace < 2; replace++) {
        options.replace = replace;
        core_save(path, newer, (int64_t)sizeof newer - 1);
        assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_EXISTS, "use a newer leat");
        core_save(path, "{\"name\": \"x\"}", 13);
        assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_EXISTS, "\"format\"");
        core_save(path, image.data, image.size_bytes / 2);
        assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_EXISTS, "not valid JSON");
    }
    core_save(path, image.data, image.size_bytes);
    free(image.data);
    assert_same_dataset(out, resume_want);
}

/* A failed replacement leaves the data set that is there. */
static void failed_replacement(void **state) {
    (void)state;
    const char *out = core_path("replacement"), *missing = core_path("no_such.csv");
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    assert_ok(resume_run(out, &options, &result, err));
    options.replace = true;
    assert_fails(leat_probes_ingest(&missing, 1, out, &options, &result, err), LEAT_ERR_NOT_FOUND,
                 "no_such");
    options.strict = true;
    assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_INPUT, "");
    assert_same_dataset(out, resume_want);
    assert_int_equal(dir_count(out), 6);
    /* one that was stopped leaves it too, beside its own work */
    ingest_stopper how = {.at = 3};
    options.strict = false;
    options.progress = ingest_stop_at;
    options.progress_user = &how;
    assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_CANCELLED, "");
    assert_int_equal(dir_count(out), 7);
    options.progress = NULL;
    options.replace = false;
    options.resume = true;
    assert_ok(resume_run(out, &options, &result, err));
    assert_same_dataset(out, resume_want);
}

/* A journal that says nothing: what it was written for is given up, if --replace asks for it. */
static void damaged_journal(void **state) {
    (void)state;
    static const char mark[] = "{\"format\": \"leat work folder\", \"version\": 1, "
                               "\"run\": \"0123456789abcdef\", \"temp\": \"\", \"note\": \"\"}\n";
    char path[LEAT_PATH_BYTES];
    const char *out = core_path("journal");
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    options.probes_per_shard = 2; /* more shards than there will be */
    assert_ok(resume_run(out, &options, &result, err));
    snprintf(path, sizeof path, "%s/.leat", out);
    assert_ok(leat_path_make_dir(path, err));
    snprintf(path, sizeof path, "%s/.leat/leat-work.json", out);
    assert_ok(leat_file_save(path, mark, (int64_t)sizeof mark - 1, err));
    snprintf(path, sizeof path, "%s/.leat/publish.json", out);
    assert_ok(leat_file_save(path, "{", 1, err));
    options = ingest_options();
    assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_CORRUPT, "--replace");
    options.resume = true;
    assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_CORRUPT, "--replace");
    options.resume = false;
    options.replace = true;
    assert_ok(resume_run(out, &options, &result, err));
    assert_same_dataset(out, resume_want);
    assert_int_equal(dir_count(out), 6);
}

/* A journal that somebody removes between two looks at it is an error, not a broken invariant. */
static void removed_journal(void **state) {
    (void)state;
    leat_job_folder folder = {0};
    snprintf(folder.out, sizeof folder.out, "%s", core_path("removed"));
    snprintf(folder.work, sizeof folder.work, "%s/.leat", core_path("removed"));
    assert_fails(leat_job_folder_publish(&folder, err), LEAT_ERR_NOT_FOUND,
                 "/.leat/publish.json\" was removed during the ingest");
}

static void busy(void **state) {
    (void)state;
    char path[LEAT_PATH_BYTES];
    leat_file *lock = NULL;
    const char *out = core_path("busy");
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    stop_in_write(out);
    snprintf(path, sizeof path, "%s/.leat.lock", out);
    assert_ok(leat_file_open(&lock, path, LEAT_FILE_NEW, err));
    assert_ok(leat_file_lock(lock, err));
    assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_BUSY, "another ingest");
    options.resume = true;
    assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_BUSY, "another ingest");
    options.resume = false;
    options.replace = true;
    assert_fails(resume_run(out, &options, &result, err), LEAT_ERR_BUSY, "another ingest");
    leat_file_close(lock);
    options.replace = false;
    options.resume = true;
    assert_ok(resume_run(out, &options, &result, err));
    assert_true(result.resumed);
    assert_same_dataset(out, resume_want);
}

/* Two runs from different folders that call their outputs alike share no temporary files. */
static void shared_temp(void **state) {
    (void)state;
    char before[LEAT_PATH_BYTES], one[LEAT_PATH_BYTES], two[LEAT_PATH_BYTES];
    const char *temp = core_path("shared_temp");
    leat_probes_ingest_options options = ingest_options();
    leat_probes_ingest_result result;
    snprintf(one, sizeof one, "%s", core_path("place_one"));
    snprintf(two, sizeof two, "%s", core_path("place_two"));
    assert_non_null(getcwd(before, sizeof before));
    assert_ok(leat_path_make_dir(one, err));
    assert_ok(leat_path_make_dir(two, err));
    options.temp_dir = core_made(temp);
    ingest_stopper how = {.at = 3};
    options.progress = ingest_stop_at;
    options.progress_user = &how;
    assert_int_equal(chdir(one), 0);
    assert_fails(resume_run("data", &options, &result, err), LEAT_ERR_CANCELLED, "");
    assert_int_equal(dir_count(temp), 1);
    how = (ingest_stopper){.at = 3};
    assert_int_equal(chdir(two), 0);
    assert_fails(resume_run("data", &options, &result, err), LEAT_ERR_CANCELLED, "");
    assert_int_equal(dir_count(temp), 2);
    options.progress = NULL;
    options.resume = true;
    assert_ok(resume_run("data", &options, &result, err));
    assert_same_dataset("data", resume_want);
    assert_int_equal(chdir(one), 0);
    assert_ok(resume_run("data", &options, &result, err));
    assert_same_dataset("data", resume_want);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(dir_count(temp), 0);
}

int main(void) {
    core_in_memory(INT64_C(128) << 20);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cancelled),          cmocka_unit_test(finished_shards),
        cmocka_unit_test(damaged_state),      cmocka_unit_test(changed_number),
        cmocka_unit_test(missing_others),     cmocka_unit_test(stale_rejects),
        cmocka_unit_test(resume_with_others), cmocka_unit_test(folders),
        cmocka_unit_test(failed_replacement), cmocka_unit_test(damaged_journal),
        cmocka_unit_test(removed_journal),    cmocka_unit_test(busy),
        cmocka_unit_test(shared_temp),        cmocka_unit_test(finished),
        cmocka_unit_test(strict_resume),      cmocka_unit_test(missing_spill),
        cmocka_unit_test(files_of_others),    cmocka_unit_test(other_manifests),
    };
    return cmocka_run_group_tests_name("ingest resumed", tests, resume_setup, core_teardown);
}
