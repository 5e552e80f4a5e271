/*
 * Synthetic vehicle logs on disk: the number of frames is kept exactly, lines are what the drives
 * say, the bytes do not depend on threads, and the folder appears whole or not at all.
 */
/* TSan: logs written by several threads. */
#include "ingest/core_support.h"

#include "base/file.h"
#include "base/hash.h"
#include "synth/can/can.h"

static void assert_between(const char *what, double value, double least, double most) {
    if (!(value >= least && value <= most))
        fail_msg("%s: %g is not between %g and %g", what, value, least, most);
}

/* ---- The plan ------------------------------------------------------------------------------ */

static leat_synth_can_options options_of(int64_t vehicles, int64_t frames, unsigned attacks) {
    leat_synth_can_options options = leat_synth_can_options_default();
    options.vehicles = vehicles;
    options.frames = frames;
    options.attacks = attacks;
    options.seed = 3;
    return options;
}

static const struct {
    int64_t vehicles, frames;
    unsigned attacks;
    int64_t files, held_out;
    const char *folders; /* the tests' */
} plans[] = {
    {1, 700, LEAT_SYNTH_CAN_DOS, 3, 0, "test_01_dos"},
    {1, 1900, LEAT_SYNTH_CAN_ALL, 11, 0,
     "test_01_dos test_02_fuzzing test_03_replay test_04_spoof test_05_suppress"},
    {2, 1000001, LEAT_SYNTH_CAN_SPOOF, 4, 1, "test_01_spoof test_02_unknown_vehicle"},
    {3, 12345, LEAT_SYNTH_CAN_DOS | LEAT_SYNTH_CAN_REPLAY, 12, 1,
     "test_01_dos test_02_replay test_03_unknown_vehicle"},
    {4, 50000000, LEAT_SYNTH_CAN_ALL, 41, 1,
     "test_01_dos test_02_fuzzing test_03_replay test_04_spoof test_05_suppress "
     "test_06_unknown_vehicle"},
    {9, 999999, LEAT_SYNTH_CAN_SUPPRESS, 23, 2, "test_01_suppress test_02_unknown_vehicle"},
    {1, 20000000, LEAT_SYNTH_CAN_ALL, 18, 0,
     "test_01_dos test_02_fuzzing test_03_replay test_04_spoof test_05_suppress"},
    {1000, 2000000, LEAT_SYNTH_CAN_ALL, 9500, 250,
     "test_01_dos test_02_fuzzing test_03_replay test_04_spoof test_05_suppress "
     "test_06_unknown_vehicle"},
    {1, LEAT_SYNTH_CAN_FRAMES_MAX, LEAT_SYNTH_CAN_DOS, 5002, 0, "test_01_dos"},
};

static int compare_files(const void *a, const void *b) {
    const leat_synth_can_file *x = *(leat_synth_can_file *const *)a;
    const leat_synth_can_file *y = *(leat_synth_can_file *const *)b;
    if (x->vehicle != y->vehicle) return x->vehicle < y->vehicle ? -1 : 1;
    if (x->trip.start_us != y->trip.start_us) return x->trip.start_us < y->trip.start_us ? -1 : 1;
    return 0;
}

/* The drives of a vehicle do not overlap, with a fifth of room for what attacks take, and tests
 * come last. */
static void check_times(const leat_synth_can_plan *plan, uint64_t seed) {
    leat_synth_can_file **files = calloc((size_t)plan->file_count, sizeof(leat_synth_can_file *));
    leat_synth_can_vehicle vehicle = {0};
    for (int64_t i = 0; i < plan->file_count; i++) files[i] = &plan->files[i];
    qsort(files, (size_t)plan->file_count, sizeof *files, compare_files);
    for (int64_t i = 1; i < plan->file_count; i++) {
        const leat_synth_can_file *before = files[i - 1];
        if (files[i]->vehicle != before->vehicle) continue;
        if (vehicle.number != before->vehicle)
            leat_synth_can_vehicle_init(&vehicle, seed, before->vehicle);
        double seconds = (double)(files[i]->trip.start_us - before->trip.start_us) * 1e-6;
        assert_between("time of a drive",
                       seconds * vehicle.frames_per_second / (double)before->trip.frames, 1.05,
                       1.5);
        if (before->folder > 1) assert_true(files[i]->folder > 1);
    }
    free(files);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void check_names(const leat_synth_can_plan *plan, const char *folders) {
    const char **names = calloc((size_t)plan->file_count, sizeof *names);
    char text[256] = "";
    for (int i = 0; i < plan->folder_count; i++) {
        assert_true(leat_synth_can_is_ours(plan->folders[i]));
        if (i < 2) continue;
        if (i > 2) strcat(text, " ");
        strcat(text, plan->folders[i]);
    }
    assert_string_equal(text, folders);
    for (int64_t i = 0; i < plan->file_count; i++) {
        names[i] = plan->files[i].name;
        assert_true(leat_synth_can_is_ours(names[i]));
    }
    qsort(names, (size_t)plan->file_count, sizeof *names, compare_names);
    for (int64_t i = 1; i < plan->file_count; i++) assert_true(strcmp(names[i - 1], names[i]) != 0);
    free(names);
}

static void test_plan(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        leat_synth_can_options options =
            options_of(plans[i].vehicles, plans[i].frames, plans[i].attacks);
        leat_synth_can_plan plan;
        int64_t frames = 0, known = plans[i].vehicles - plans[i].held_out;
        assert_int_equal(leat_synth_can_plan_make(&plan, &options, NULL), LEAT_OK);
        assert_int_equal(plan.file_count, plans[i].files);
        assert_int_equal(plan.held_out, plans[i].held_out);
        assert_string_equal(plan.folders[0], "train_01_attack_free");
        assert_string_equal(plan.folders[1], "train_02_with_attacks");
        for (int64_t k = 0; k < plan.file_count; k++) {
            const leat_synth_can_file *file = &plan.files[k];
            const char *folder = plan.folders[file->folder];
            assert_in_range(file->trip.frames, 100, LEAT_SYNTH_CAN_FILE_FRAMES);
            assert_memory_equal(file->name, folder, strlen(folder));
            assert_true((file->trip.attack == 0) == (file->folder == 0));
            assert_true((file->trip.attack & ~plans[i].attacks) == 0);
            assert_int_equal(strstr(folder, "unknown") != NULL, file->vehicle > known);
            frames += file->trip.frames;
        }
        assert_int_equal(frames, plans[i].frames);
        check_times(&plan, options.seed);
        check_names(&plan, plans[i].folders);
        leat_synth_can_plan_free(&plan);
    }
}

static void test_plan_refused(void **state) {
    static const struct {
        int64_t vehicles, frames;
        unsigned attacks;
        int threads;
        const char *words;
    } cases[] = {
        {0, 100000, LEAT_SYNTH_CAN_ALL, 1, "vehicles must be between 1 and 1000, not 0"},
        {1001, 100000000, LEAT_SYNTH_CAN_ALL, 1, "1000, not 1001"},
        {1, 100000, 0, 1, "attacks 0x0"},
        {1, 100000, 32, 1, "attacks 0x20"},
        {1, 1899, LEAT_SYNTH_CAN_ALL, 1, "between 1900"},
        {1, -1, LEAT_SYNTH_CAN_ALL, 1, "not -1"},
        {1, LEAT_SYNTH_CAN_FRAMES_MAX + 1, LEAT_SYNTH_CAN_ALL, 1, "and 10000000000, not"},
        {1, 100000, LEAT_SYNTH_CAN_ALL, 0, "threads must be between 1 and 256, not 0"},
        {1, 100000, LEAT_SYNTH_CAN_ALL, 257, "256, not 257"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_synth_can_options options =
            options_of(cases[i].vehicles, cases[i].frames, cases[i].attacks);
        leat_synth_can_plan plan;
        options.threads = cases[i].threads;
        assert_fails(leat_synth_can_plan_make(&plan, &options, err), LEAT_ERR_OPTION,
                     cases[i].words);
        assert_null(plan.files);
    }
}

static void test_names(void **state) {
    static const struct {
        const char *name;
        bool ours;
    } cases[] = {
        {"attacks.csv", true},
        {"train_01_attack_free", true},
        {"train_02_with_attacks", true},
        {"test_01_dos", true},
        {"test_12_unknown_vehicle", true},
        {"train_01_attack_free/attack_free_001-1.csv", true},
        {"test_01_dos/dos_1234-1000.csv", true},
        {"", false},
        {"attacks.csv.gz", false},
        {"attacks", false},
        {"train_01", false},
        {"train_01_attack_freed", false},
        {"train_03_with_attacks", false},
        {"test_01_DoS", false},
        {"test__dos", false},
        {"test_01_dos2", false},
        {"train_01_attack_free/", false},
        {"train_01_attack_free/attack_free-v40.csv", false},
        {"train_01_attack_free/attack_free_001-1.csv.gz", false},
        {"train_01_attack_free/attack_free_001-1", false},
        {"train_01_attack_free/attack_free_001-.csv", false},
        {"train_01_attack_free/attack_free_-1.csv", false},
        {"train_02_with_attacks/notes.txt", false},
        {"test_01_dos/dos_001-1.csv/x", false},
        {"test_01_dos/sub/dos_001-1.csv", false},
        {"dos_001-1.csv", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (leat_synth_can_is_ours(cases[i].name) != cases[i].ours)
            fail_msg("\"%s\" is taken wrong", cases[i].name);
    assert_string_equal(leat_synth_can_attack_name(0), "dos");
    assert_string_equal(leat_synth_can_attack_name(4), "suppress");
    assert_null(leat_synth_can_attack_name(5));
    assert_null(leat_synth_can_attack_name(-1));
}

/* ---- Files --------------------------------------------------------------------------------- */

static leat_code write_logs(const char *name, const leat_synth_can_options *options,
                            leat_synth_can_result *result) {
    leat_error err = {0};
    leat_code code = leat_synth_can(core_path(name), options, result, &err);
    if (code != LEAT_OK) assert_true(err.message[0] != 0);
    assert_int_equal(result->frames, code == LEAT_OK ? options->frames : 0);
    return code;
}

static char *load(const char *folder, const char *name, int64_t *size_bytes) {
    char path[LEAT_PATH_BYTES];
    uint8_t *bytes = NULL;
    leat_error err = {0};
    assert_int_equal(leat_path_join(path, sizeof path, core_path(folder), name, &err), LEAT_OK);
    if (leat_file_load(path, 1 << 30, &bytes, size_bytes, &err) != LEAT_OK)
        fail_msg("%s", err.message);
    return (char *)bytes;
}

static int64_t names_in(const char *name) {
    leat_path_list names = {0};
    assert_int_equal(leat_path_list_dir(core_path(name), &names, NULL), LEAT_OK);
    int64_t count = names.count;
    leat_path_list_free(&names);
    return count;
}

static void remove_folder(const char *name) {
    assert_int_equal(leat_path_remove_tree(core_path(name), NULL), LEAT_OK);
}

/* What a file must hold, by printf. */
static char *expected_text(const leat_synth_can_file *file, uint64_t seed, int64_t *attacked) {
    leat_synth_can_vehicle vehicle;
    leat_synth_can_frame frame;
    leat_synth_can_drive *drive = NULL;
    char *text = malloc(100 + (size_t)file->trip.frames * 64), *to = text;
    leat_synth_can_vehicle_init(&vehicle, seed, file->vehicle);
    assert_int_equal(leat_synth_can_drive_create(&drive, &vehicle, &file->trip, NULL), LEAT_OK);
    to += sprintf(to, "timestamp,arbitration_id,data_field,attack\n");
    for (int64_t i = 0; i < file->trip.frames; i++) {
        leat_synth_can_drive_next(drive, &frame);
        to += sprintf(to, "%lld.%06lld,", (long long)(frame.time_us / 1000000),
                      (long long)(frame.time_us % 1000000));
        to += sprintf(to, frame.extended ? "%08X," : "%03X,", (unsigned)frame.id);
        for (int k = 0; k < frame.size_bytes; k++)
            to += sprintf(to, "%02X", (unsigned)(frame.payload >> 8 * k & 255));
        to += sprintf(to, ",%d\n", (int)frame.attack);
        *attacked += frame.attack;
    }
    leat_synth_can_drive_destroy(drive);
    return text;
}

static int64_t count_lines(const char *text) {
    int64_t lines = 0;
    for (; *text != 0; text++) lines += *text == '\n';
    return lines;
}

static void test_files(void **state) {
    leat_synth_can_options options = options_of(3, 200003, LEAT_SYNTH_CAN_ALL);
    leat_synth_can_result result;
    leat_synth_can_plan plan;
    int64_t size_bytes = 0, sum_bytes = 0, attacked = 0;
    (void)state;
    assert_int_equal(write_logs("files", &options, &result), LEAT_OK);
    assert_int_equal(leat_synth_can_plan_make(&plan, &options, NULL), LEAT_OK);
    for (int64_t i = 0; i < plan.file_count; i++) {
        char *text = load("files", plan.files[i].name, &size_bytes);
        char *expected = expected_text(&plan.files[i], options.seed, &attacked);
        assert_string_equal(text, expected);
        assert_int_equal(count_lines(text), plan.files[i].trip.frames + 1);
        sum_bytes += size_bytes;
        free(expected);
        leat_free(text);
    }
    char *attacks = load("files", "attacks.csv", &size_bytes);
    assert_int_equal(count_lines(attacks), result.intervals + 1);
    leat_free(attacks);
    assert_int_equal(result.bytes_written, sum_bytes + size_bytes);
    assert_int_equal(result.attack_frames, attacked);
    assert_int_equal(result.files, plan.file_count);
    assert_int_equal(result.vehicles, 3);
    assert_int_equal(result.held_out, 1);
    assert_int_equal(result.intervals, plan.file_count - 2); /* short: one each */
    assert_int_equal(names_in("files"), plan.folder_count + 1);
    leat_synth_can_plan_free(&plan);
    remove_folder("files");
}

/* The lines of attacks.csv, read back, bound the labelled lines of the files that they name. */
static void test_attack_list(void **state) {
    leat_synth_can_options options = options_of(2, 700000, LEAT_SYNTH_CAN_ALL);
    leat_synth_can_result result;
    int64_t size_bytes = 0, labelled = 0, listed = 0;
    (void)state;
    assert_int_equal(write_logs("list", &options, &result), LEAT_OK);
    char *attacks = load("list", "attacks.csv", &size_bytes), *rest = NULL;
    char *line = strtok_r(attacks, "\n", &rest);
    assert_string_equal(line, "file,attack,begin,end,arbitration_id,frames");
    while ((line = strtok_r(NULL, "\n", &rest)) != NULL) {
        char file[128], attack[32], id[16] = "";
        double begin, end, time = 0;
        long long frames, found = 0;
        int read = sscanf(line, "%127[^,],%31[^,],%lf,%lf,%15[^,],%lld", file, attack, &begin, &end,
                          id, &frames);
        if (read == 4) read = 1 + sscanf(line, "%*[^,],%*[^,],%*f,%*f,,%lld", &frames) + 4;
        assert_int_equal(read, 6);
        assert_non_null(strstr(file, attack));
        bool suppress = strcmp(attack, "suppress") == 0;
        char *text = load("list", file, &size_bytes), *more = NULL;
        for (char *at = strtok_r(text, "\n", &more); at != NULL; at = strtok_r(NULL, "\n", &more)) {
            char seen[16], payload[20], label[4];
            if (sscanf(at, "%lf,%15[^,],%19[^,],%3s", &time, seen, payload, label) != 4) continue;
            if (time < begin || time > end) continue;
            if (label[0] == '1' && id[0] != 0) assert_string_equal(seen, id);
            if (suppress && time > begin + 0.001) assert_string_not_equal(seen, id);
            found += label[0] == '1';
        }
        leat_free(text);
        assert_true(begin <= end && end <= time);
        assert_int_equal(found, suppress ? 0 : frames);
        labelled += found;
        listed++;
    }
    leat_free(attacks);
    assert_int_equal(listed, result.intervals);
    assert_int_equal(labelled, result.attack_frames);
    remove_folder("list");
}

/* SHA-256 of the names and contents of a plan's files, and of attacks.csv. */
static void digest_of(const char *folder, const leat_synth_can_plan *plan, char hex[65]) {
    uint8_t digest[32];
    leat_sha256 sha;
    leat_sha256_init(&sha);
    for (int64_t i = 0; i <= plan->file_count; i++) {
        int64_t size_bytes = 0;
        const char *name = i < plan->file_count ? plan->files[i].name : LEAT_SYNTH_CAN_ATTACKS;
        char *text = load(folder, name, &size_bytes);
        leat_sha256_update(&sha, name, (int64_t)strlen(name));
        leat_sha256_update(&sha, text, size_bytes);
        leat_free(text);
    }
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, hex);
}

/* The bytes are a promise, to other processors, compilers and releases, and for any threads. */
static void test_bytes(void **state) {
    static const struct {
        int64_t vehicles, frames;
        unsigned attacks;
        uint64_t seed;
        const char *sha256;
    } cases[] = {
        {1, 20000, LEAT_SYNTH_CAN_ALL, 0,
         "f3f52ac4fb973e7a40ce63774c64f53e4b8497b0883c5145e046c1914e25b6d9"},
        {4, 60000, LEAT_SYNTH_CAN_ALL, 1,
         "49ad390aae768fd1838d50fa5eb27672dd62408341bd3238825080600cf13bb1"},
        {2, 500000, LEAT_SYNTH_CAN_REPLAY | LEAT_SYNTH_CAN_SPOOF, 2,
         "1802f8576271821e8f5a83bd5d70d4c3379d1090b9c652d885b9dda32d5da1a1"},
    };
    static const int threads[] = {1, 2, 3, 8};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_synth_can_options options =
            options_of(cases[i].vehicles, cases[i].frames, cases[i].attacks);
        leat_synth_can_plan plan;
        options.seed = cases[i].seed;
        options.replace = true;
        assert_int_equal(leat_synth_can_plan_make(&plan, &options, NULL), LEAT_OK);
        for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
            leat_synth_can_result result;
            char hex[65];
            options.threads = threads[k];
            assert_int_equal(write_logs("bytes/", &options, &result), LEAT_OK);
            digest_of("bytes", &plan, hex);
            assert_string_equal(hex, cases[i].sha256);
        }
        leat_synth_can_plan_free(&plan);
    }
    remove_folder("bytes");
}

/* A drive stays as it is when other vehicles and attacks join. */
static void test_drives_are_their_own(void **state) {
    leat_synth_can_options few = options_of(2, 1000000, LEAT_SYNTH_CAN_SPOOF);
    leat_synth_can_options many = options_of(8, 9000000, LEAT_SYNTH_CAN_ALL);
    leat_synth_can_plan a, b;
    int64_t found = 0;
    (void)state;
    assert_int_equal(leat_synth_can_plan_make(&a, &few, NULL), LEAT_OK);
    assert_int_equal(leat_synth_can_plan_make(&b, &many, NULL), LEAT_OK);
    for (int64_t i = 0; i < a.file_count; i++)
        for (int64_t k = 0; k < b.file_count; k++) {
            const leat_synth_can_file *x = &a.files[i], *y = &b.files[k];
            bool same = x->vehicle == y->vehicle && x->trip.attack == y->trip.attack &&
                        x->drive == y->drive && (x->folder > 1) == (y->folder > 1);
            assert_int_equal(same, x->trip.key == y->trip.key);
            found += same;
        }
    assert_int_equal(found, a.file_count);
    leat_synth_can_plan_free(&a);
    leat_synth_can_plan_free(&b);
}

static void test_output_refused(void **state) {
    leat_synth_can_options options = options_of(1, 5000, LEAT_SYNTH_CAN_DOS);
    leat_synth_can_result result;
    (void)state;
    assert_int_equal(leat_path_make_dir(core_path("in"), NULL), LEAT_OK);
    assert_int_equal(leat_path_make_dir(core_path("in/empty"), NULL), LEAT_OK);
    assert_int_equal(write_logs("in/empty", &options, &result), LEAT_OK);
    assert_int_equal(write_logs("in/empty", &options, &result), LEAT_ERR_EXISTS);
    options.replace = true;
    options.attacks = LEAT_SYNTH_CAN_SPOOF;
    assert_int_equal(write_logs("in/empty", &options, &result), LEAT_OK);
    assert_int_equal(names_in("in/empty"), 4);
    assert_int_equal(names_in("in/empty/test_01_spoof"), 1);
    /* what is not ours is kept, wherever it lies */
    static const char *const foreign[] = {"in/empty/notes.txt", "in/empty/test_01_spoof/mine.csv"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        assert_int_equal(leat_file_save(core_path(foreign[i]), "x", 1, NULL), LEAT_OK);
        assert_int_equal(write_logs("in/empty", &options, &result), LEAT_ERR_EXISTS);
        assert_int_equal(names_in("in/empty/train_02_with_attacks"), 1);
        assert_int_equal(leat_path_remove(core_path(foreign[i]), NULL), LEAT_OK);
    }
    assert_int_equal(write_logs("in/empty", &options, &result), LEAT_OK);
    assert_int_equal(leat_file_save(core_path("in/file"), "x", 1, NULL), LEAT_OK);
    assert_int_equal(write_logs("in/file", &options, &result), LEAT_ERR_EXISTS);
    assert_int_equal(names_in("in"), 2);
    remove_folder("in");
}

static bool stop_later(void *user, const leat_progress *progress) {
    assert_string_equal(progress->unit, "frames");
    assert_true(progress->done >= 0 && progress->done <= progress->total);
    return ++*(int *)user < 2;
}

static void test_cancelled(void **state) {
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        leat_synth_can_options options = options_of(2, 20000000, LEAT_SYNTH_CAN_ALL);
        leat_synth_can_result result;
        int calls = 0;
        options.threads = threads;
        options.progress = stop_later;
        options.progress_user = &calls;
        assert_int_equal(leat_path_make_dir(core_path("in"), NULL), LEAT_OK);
        assert_int_equal(write_logs("in/x", &options, &result), LEAT_ERR_CANCELLED);
        assert_int_equal(calls, 2);
        assert_int_equal(names_in("in"), 0);
        remove_folder("in");
    }
}

static int remove_all(void **state) {
    (void)state;
    core_dir_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_plan_refused),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_attack_list),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_drives_are_their_own),
        cmocka_unit_test(test_output_refused),
        cmocka_unit_test(test_cancelled),
    };
    core_in_memory(256 << 20);
    return cmocka_run_group_tests(tests, NULL, remove_all);
}
