/* Checkpoints: what comes back, which are kept, and that damage of any byte is refused by name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "format/safetensors/safetensors.h"
#include "train/run/checkpoint.h"
#include "train/step/weights.h"
#include "train/tasks/images/dcgan_task.h"
#include "train/tasks/images/measure.h"
#include "train_support.h"

enum { IMAGES = 9 };
#define RUN "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static leat_samples samples;

static leat_trainer *trained(int64_t steps) {
    const leat_train_options options = train_small();
    char hash[65];
    samples = train_samples(IMAGES);
    leat_trainer *trainer = train_create(&options, &samples);
    train_steps(trainer, steps, hash);
    return trainer;
}

static const char *folder(const char *name) {
    const char *path = train_path(name);
    assert_ok(leat_path_make_dir(path, err));
    return path;
}

static leat_checkpoint save(const char *dir, leat_trainer *trainer, double score) {
    leat_checkpoint of = {.task = &leat_dcgan_task, .run = RUN};
    leat_measured_none(of.measured);
    of.measured[LEAT_MEASURE_SCORE] = score;
    assert_ok(leat_checkpoint_save(dir, trainer, &of, err));
    return of;
}

static void the_state_comes_back(void **state) {
    const char *dir = folder("back");
    leat_trainer *a = trained(3), *b = trained(0);
    char hash_a[65], hash_b[65];
    leat_checkpoints list;
    (void)state;
    save(dir, a, 0.25);
    assert_ok(leat_checkpoints_list(&list, &leat_dcgan_task, dir, RUN, false, err));
    assert_int_equal(list.count, 1);
    assert_int_equal(list.items[0].step, 3);
    assert_int_equal(list.items[0].position, 24);
    assert_true(list.items[0].measured[LEAT_MEASURE_SCORE] == 0.25);
    assert_true(isnan(list.items[0].measured[LEAT_MEASURE_DEVIATION]));
    assert_ok(leat_checkpoint_load(dir, &list.items[0], b, err));
    assert_string_equal(train_steps(a, 0, hash_a), train_steps(b, 0, hash_b));
    assert_string_equal(train_steps(a, 2, hash_a), train_steps(b, 2, hash_b));
    leat_checkpoints_free(&list);
    train_destroy(a);
    train_destroy(b);
}

/* "step-1000000000" is before "step-999999999" by name. */
static void the_last_one_is_that_of_the_last_step(void **state) {
    const char *dir = folder("digits");
    leat_trainer *trainer = trained(0);
    leat_checkpoints list;
    (void)state;
    for (int64_t step = 999999998; step <= 1000000001; step++) {
        leat_trainer_state(trainer)->step = step;
        save(dir, trainer, NAN);
    }
    assert_ok(leat_checkpoints_list(&list, &leat_dcgan_task, dir, RUN, false, err));
    assert_int_equal(list.count, 4);
    for (int i = 0; i < 4; i++) assert_int_equal(list.items[i].step, 999999998 + i);
    assert_int_equal(leat_checkpoints_find(&list, -1)->step, 1000000001);
    leat_checkpoints_free(&list);
    assert_ok(leat_checkpoints_prune(dir, &leat_dcgan_task, RUN, 2, 1000000001, err));
    assert_ok(leat_checkpoints_list(&list, &leat_dcgan_task, dir, RUN, false, err));
    assert_int_equal(list.count, 2);
    assert_int_equal(list.items[0].step, 1000000000);
    leat_checkpoints_free(&list);
    train_destroy(trainer);
}

static void bytes_are_a_function_of_the_state(void **state) {
    leat_trainer *a = trained(2), *b = trained(2);
    (void)state;
    const leat_checkpoint x = save(folder("bytes1"), a, NAN), y = save(folder("bytes2"), b, NAN);
    assert_string_equal(x.sha256, y.sha256);
    train_destroy(a);
    train_destroy(b);
}

/* Files of earlier versions have these keys, too, and no others. */
static void measures_have_their_names(void **state) {
    const char *dir = folder("measures");
    leat_trainer *trainer = trained(1);
    leat_checkpoint of = {.task = &leat_dcgan_task, .run = RUN, .measured = {0.25, 0.5, 0.75, 1}};
    char path[LEAT_PATH_BYTES], want[400];
    uint8_t *text = NULL;
    int64_t size = 0;
    (void)state;
    assert_ok(leat_checkpoint_save(dir, trainer, &of, err));
    assert_ok(leat_path_join(path, sizeof path, dir, "step-000000001.json", err));
    assert_ok(leat_file_load(path, 1000, &text, &size, err));
    snprintf(want, sizeof want,
             "\"weights_sha256\": \"%s\",\n  \"score\": 0.25,\n"
             "  \"deviation\": 0.5\n}\n",
             of.sha256);
    assert_true(size > (int64_t)strlen(want));
    assert_memory_equal(text + size - strlen(want), want, strlen(want));
    leat_free(text);
    train_destroy(trainer);
}

static void names_are_those_of_pytorch(void **state) {
    static const char *const names[] = {
        "G.main.0.weight",       "G.main.1.weight",        "G.main.1.bias",
        "G.main.12.weight",      "D.main.0.weight",        "D.main.11.weight",
        "G.main.1.running_mean", "G.main.10.running_var",  "D.main.3.running_mean",
        "D.main.9.running_var",  "adam_m/G.main.0.weight", "adam_v/D.main.11.weight"};
    const char *dir = folder("names");
    leat_trainer *trainer = trained(1);
    leat_safetensors *tensors = NULL;
    char path[LEAT_PATH_BYTES];
    int64_t bytes = 0;
    leat_path_facts facts;
    (void)state;
    save(dir, trainer, NAN);
    assert_ok(leat_checkpoint_path(dir, 1, path, err));
    assert_ok(leat_safetensors_read(&tensors, path, err));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const leat_tensor *tensor = NULL;
        bool found = false;
        for (int64_t k = 0; k < leat_safetensors_count(tensors); k++) {
            tensor = leat_safetensors_at(tensors, k);
            found = found || strcmp(tensor->name, names[i]) == 0;
        }
        if (!found) fail_msg("no tensor %s", names[i]);
    }
    assert_int_equal(leat_safetensors_count(tensors), 3 * 24 + 14);
    assert_string_equal(leat_safetensors_metadata(tensors, "step"), "1");
    assert_ok(leat_path_stat(path, &facts, err));
    assert_ok(leat_weights_bytes(leat_trainer_model(trainer), &bytes, err));
    assert_true(llabs(bytes - facts.size_bytes) <= 128); /* but for its metadata */
    leat_safetensors_destroy(tensors);
    train_destroy(trainer);
}

/* Running statistics lie where the model folds them. */
static void running_statistics_have_their_places(void **state) {
    leat_trainer *trainer = trained(0);
    const leat_model *model = leat_trainer_model(trainer);
    const leat_train_state *of = leat_trainer_state(trainer);
    leat_model_tensor tensor;
    int64_t covered = 0, at = 0;
    (void)state;
    for (int i = 0; leat_model_tensor_at(model, i, &tensor); i++) {
        if (!tensor.running) continue;
        const bool mean = strstr(tensor.name, "_mean") != NULL;
        for (int64_t k = 0; k < tensor.count; k++)
            assert_true(of->running[tensor.offset + k] == (mean ? 0 : 1));
        covered += tensor.count;
        at += tensor.offset;
    }
    assert_int_equal(covered, model->sizes.running);
    assert_true(at > 0);
    train_destroy(trainer);
}

/* ---- which are kept -------------------------------------------------------------------------- */

static void old_ones_are_removed_but_the_best(void **state) {
    const char *dir = folder("keep");
    char hash[65], path[LEAT_PATH_BYTES];
    leat_trainer *trainer = trained(0);
    leat_checkpoints list;
    (void)state;
    for (int i = 1; i <= 6; i++) {
        train_steps(trainer, 1, hash);
        save(dir, trainer, i == 2 ? 0.1 : 0.5);
    }
    /* what a killed run leaves: weights alone, a document alone, a draft; and a third party's file
     */
    const char *const left[] = {"step-000000009.safetensors", "step-000000008.json",
                                ".step-000000007.json.leat-0123456789abcdef.tmp", "notes.txt"};
    for (int i = 0; i < 4; i++) {
        assert_ok(leat_path_join(path, sizeof path, dir, left[i], err));
        assert_ok(leat_file_save(path, "x", 1, err));
    }
    assert_ok(leat_checkpoints_prune(dir, &leat_dcgan_task, RUN, 2, 6, err));
    assert_ok(leat_checkpoints_list(&list, &leat_dcgan_task, dir, RUN, false, err));
    assert_int_equal(list.count, 3);
    assert_int_equal(list.items[0].step, 2);
    assert_int_equal(list.items[1].step, 5);
    assert_int_equal(list.items[2].step, 6);
    assert_int_equal(leat_checkpoints_best(&list, 6)->step, 2);
    assert_int_equal(leat_checkpoints_find(&list, -1)->step, 6);
    assert_null(leat_checkpoints_find(&list, 3));
    leat_checkpoints_free(&list);
    leat_path_list names = {0};
    assert_ok(leat_path_list_dir(dir, &names, err));
    assert_int_equal(names.count, 3 * 3 + 1);
    assert_string_equal(names.paths[0], "notes.txt");
    leat_path_list_free(&names);
    train_destroy(trainer);
}

/* The run continued before damaged ones: the ones it writes now count, and not those. */
static void later_ones_do_not_count(void **state) {
    const char *dir = folder("later");
    char hash[65];
    leat_trainer *trainer = trained(0);
    leat_checkpoints list;
    (void)state;
    for (int i = 1; i <= 5; i++) {
        train_steps(trainer, 1, hash);
        save(dir, trainer, i == 4 ? 0.1 : i == 1 ? 0.2 : 0.5);
    }
    assert_ok(leat_checkpoints_prune(dir, &leat_dcgan_task, RUN, 1, 3, err));
    assert_ok(leat_checkpoints_list(&list, &leat_dcgan_task, dir, RUN, false, err));
    assert_int_equal(list.count, 4);
    assert_int_equal(list.items[0].step, 1);
    assert_int_equal(list.items[1].step, 3);
    assert_int_equal(list.items[3].step, 5);
    leat_checkpoints_free(&list);
    train_destroy(trainer);
}

static void those_of_another_run_are_refused(void **state) {
    const char *dir = folder("other");
    leat_trainer *trainer = trained(1);
    leat_checkpoints list;
    (void)state;
    save(dir, trainer, NAN);
    assert_fails(leat_checkpoints_list(&list, &leat_dcgan_task, dir, OTHER, false, err),
                 LEAT_ERR_CORRUPT, "another run");
    assert_ok(leat_checkpoints_list(&list, &leat_dcgan_task, dir, OTHER, true, err));
    assert_int_equal(list.count, 0);
    assert_int_equal(list.damaged, 1);
    leat_checkpoints_free(&list);
    train_destroy(trainer);
}

static void a_missing_folder_has_none(void **state) {
    leat_checkpoints list;
    (void)state;
    assert_ok(
        leat_checkpoints_list(&list, &leat_dcgan_task, train_path("nowhere"), RUN, false, err));
    assert_int_equal(list.count, 0);
    assert_null(leat_checkpoints_find(&list, -1));
}

/* ---- damage ---------------------------------------------------------------------------------- */

typedef struct victim {
    const char *dir;
    char path[LEAT_PATH_BYTES];
    char *bytes;
    int64_t size;
    leat_trainer *trainer;
} victim;

static void open_victim(victim *v, const char *name, const char *suffix) {
    char file[64];
    v->dir = folder(name);
    v->trainer = trained(1);
    save(v->dir, v->trainer, 0.5);
    snprintf(file, sizeof file, "step-000000001.%s", suffix);
    assert_ok(leat_path_join(v->path, sizeof v->path, v->dir, file, err));
    v->bytes = train_read(v->path, &v->size);
    assert_non_null(v->bytes);
}

static void close_victim(victim *v) {
    leat_free(v->bytes);
    train_destroy(v->trainer);
}

static void write_bytes(const char *path, const void *bytes, int64_t size) {
    leat_file *file = NULL;
    assert_ok(leat_file_open(&file, path, LEAT_FILE_CREATE, err));
    if (size > 0) assert_ok(leat_file_pwrite(file, bytes, size, 0, err));
    leat_file_close(file);
}

/* The checkpoint is refused, and the message names one of its files. */
static void expect_refused(const victim *v, const char *what, int64_t at) {
    leat_checkpoints list;
    leat_error err = {0};
    leat_code code = leat_checkpoints_list(&list, &leat_dcgan_task, v->dir, RUN, false, &err);
    if (code == LEAT_OK && list.count > 0)
        code = leat_checkpoint_load(v->dir, &list.items[0], v->trainer, &err);
    if (code != LEAT_ERR_CORRUPT) fail_msg("%s at %lld: code %d", what, (long long)at, (int)code);
    if (strstr(err.message, "step-000000001") == NULL) fail_msg("%s: %s", what, err.message);
    leat_checkpoints_free(&list);
}

static void truncate_at(const victim *v, int64_t size) {
    write_bytes(v->path, v->bytes, size);
    expect_refused(v, "truncated", size);
}

static void truncated_weights_are_refused(void **state) {
    leat_safetensors *tensors = NULL;
    victim v;
    (void)state;
    open_victim(&v, "truncated", "safetensors");
    assert_ok(leat_safetensors_read(&tensors, v.path, err));
    const int64_t header = leat_safetensors_at(tensors, 0)->offset;
    for (int64_t size = 0; size <= header; size += size < 64 || size > header - 64 ? 1 : 37)
        truncate_at(&v, size);
    for (int64_t k = 0; k < leat_safetensors_count(tensors); k++) {
        const leat_tensor *tensor = leat_safetensors_at(tensors, k);
        truncate_at(&v, tensor->offset);
        truncate_at(&v, tensor->offset + tensor->size_bytes - 1);
    }
    for (uint64_t i = 0; i < 200; i++)
        truncate_at(&v, (int64_t)leat_random_below(leat_random(1, 0, i), (uint64_t)v.size));
    leat_safetensors_destroy(tensors);
    close_victim(&v);
}

static void flipped_bits_are_refused(void **state) {
    static const char *const suffixes[] = {"safetensors", "json", "sha256"};
    (void)state;
    for (int s = 0; s < 3; s++) {
        victim v;
        open_victim(&v, suffixes[s], suffixes[s]);
        for (uint64_t i = 0; i < 300; i++) {
            const uint64_t bit = leat_random_below(leat_random(2, 0, i), (uint64_t)v.size * 8);
            v.bytes[bit / 8] ^= (char)(1 << bit % 8);
            write_bytes(v.path, v.bytes, v.size);
            expect_refused(&v, suffixes[s], (int64_t)bit);
            v.bytes[bit / 8] ^= (char)(1 << bit % 8);
        }
        close_victim(&v);
    }
}

static void truncated_documents_are_refused(void **state) {
    static const char *const suffixes[] = {"json", "sha256"};
    (void)state;
    for (int s = 0; s < 2; s++) {
        char name[32];
        victim v;
        snprintf(name, sizeof name, "cut-%s", suffixes[s]);
        open_victim(&v, name, suffixes[s]);
        for (int64_t size = 0; size < v.size; size++) truncate_at(&v, size);
        close_victim(&v);
    }
}

/* A checkpoint of other weights under the same name. */
static void swapped_files_are_refused(void **state) {
    victim v;
    char path[LEAT_PATH_BYTES], hash[65];
    int64_t size = 0;
    (void)state;
    open_victim(&v, "swapped", "safetensors");
    const char *other = folder("swapped2");
    leat_trainer *trainer = trained(0);
    leat_trainer_state(trainer)->parameters[0] += 1;
    train_steps(trainer, 1, hash);
    save(other, trainer, 0.5);
    assert_ok(leat_checkpoint_path(other, 1, path, err));
    char *bytes = train_read(path, &size);
    write_bytes(v.path, bytes, size);
    expect_refused(&v, "swapped", 0);
    leat_free(bytes);
    train_destroy(trainer);
    close_victim(&v);
}

static void damaged_ones_can_be_passed_over(void **state) {
    victim v;
    leat_checkpoints list;
    char hash[65];
    (void)state;
    open_victim(&v, "tolerant", "json");
    train_steps(v.trainer, 1, hash);
    save(v.dir, v.trainer, NAN);
    write_bytes(v.path, v.bytes, v.size - 1);
    assert_fails(leat_checkpoints_list(&list, &leat_dcgan_task, v.dir, RUN, false, err),
                 LEAT_ERR_CORRUPT, "damaged");
    assert_ok(leat_checkpoints_list(&list, &leat_dcgan_task, v.dir, RUN, true, err));
    assert_int_equal(list.count, 1);
    assert_int_equal(list.items[0].step, 2);
    assert_int_equal(list.damaged, 1);
    leat_checkpoints_free(&list);
    close_victim(&v);
}

/* A list of hashes that is not one, however long. */
static void damaged_hashes_can_be_passed_over(void **state) {
    victim v;
    leat_checkpoints list;
    char *text = NULL;
    (void)state;
    assert_ok(LEAT_NEW(&text, 4000, err));
    open_victim(&v, "sidecar", "sha256");
    write_bytes(v.path, text, 4000);
    assert_fails(leat_checkpoints_list(&list, &leat_dcgan_task, v.dir, RUN, false, err),
                 LEAT_ERR_CORRUPT, "damaged");
    assert_ok(leat_checkpoints_list(&list, &leat_dcgan_task, v.dir, RUN, true, err));
    assert_int_equal(list.count, 0);
    leat_checkpoints_free(&list);
    leat_free(text);
    close_victim(&v);
}

enum { MANY = 300 };
static bool many_tensors(const void *self, int index, leat_model_tensor *out) {
    (void)self;
    *out = (leat_model_tensor){.rank = 1, .shape = {2}, .offset = 2 * index, .count = 2};
    snprintf(out->name, sizeof out->name, "layer.%d.weight", index);
    return index < MANY;
}

/* As many as a model has: what is saved of it has each parameter three times. */
static void any_number_of_tensors(void **state) {
    const leat_model_class class = {.tensor = many_tensors};
    const leat_model model = {.class = &class};
    float *numbers = calloc(6 * MANY, sizeof *numbers);
    leat_train_state of = {.parameters = numbers, .first = numbers, .second = numbers};
    float *there = numbers + 3 * MANY;
    leat_train_state back = {.parameters = there, .first = there, .second = there};
    const char *path = train_path("many.safetensors");
    char hash[65];
    (void)state;
    for (int i = 0; i < 2 * MANY; i++) numbers[i] = (float)i;
    assert_ok(leat_weights_save(path, &model, &of, hash, err));
    assert_ok(leat_weights_load(path, hash, &model, &back, err));
    assert_memory_equal(back.parameters, numbers, 2 * MANY * sizeof *numbers);
    free(numbers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_state_comes_back),
        cmocka_unit_test(the_last_one_is_that_of_the_last_step),
        cmocka_unit_test(bytes_are_a_function_of_the_state),
        cmocka_unit_test(measures_have_their_names),
        cmocka_unit_test(names_are_those_of_pytorch),
        cmocka_unit_test(running_statistics_have_their_places),
        cmocka_unit_test(old_ones_are_removed_but_the_best),
        cmocka_unit_test(later_ones_do_not_count),
        cmocka_unit_test(those_of_another_run_are_refused),
        cmocka_unit_test(a_missing_folder_has_none),
        cmocka_unit_test(truncated_weights_are_refused),
        cmocka_unit_test(flipped_bits_are_refused),
        cmocka_unit_test(truncated_documents_are_refused),
        cmocka_unit_test(swapped_files_are_refused),
        cmocka_unit_test(damaged_ones_can_be_passed_over),
        cmocka_unit_test(damaged_hashes_can_be_passed_over),
        cmocka_unit_test(any_number_of_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
