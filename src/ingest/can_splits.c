/*
 * Which logs are training and which are which test: by a catalog's folders, by patterns of the
 * user's, by the names of folders, or all of them training. See can_job.h.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "ingest/can_job.h"

/* ---- attacks by name ------------------------------------------------------------------------ */

typedef struct keyword {
    const char *word;
    int code;
} keyword;

static const keyword short_list[] = {
    {"normal", 0},   {"attack_free", 0}, {"benign", 0}, {"dos", 1},
    {"fuzzy", 2},    {"fuzzing", 2},     {"gear", 3},   {"rpm", 4},
    {"flooding", 5}, {"malfunction", 6}, {NULL, 0},
};
/* The first that is found decides, so the longer words come before those that they hold. */
static const keyword long_list[] = {
    {"normal", 0},         {"attack_free", 0}, {"benign", 0},        {"dos", 1},
    {"fuzzy", 2},          {"fuzzing", 2},     {"force-neutral", 3}, {"gear", 3},
    {"rpm-accessory", 12}, {"rpm", 4},         {"flooding", 5},      {"malfunction", 6},
    {"double", 7},         {"triple", 8},      {"interval", 9},      {"speed-accessory", 11},
    {"speed", 10},         {"standstill", 13}, {"systematic", 14},   {"suppress", 15},
    {"masquerade", 16},    {"replay", 17},     {"spoof", 18},        {NULL, 0},
};

/* The name without ".gz" and without its last suffix. */
static size_t stem_bytes(const char *name) {
    size_t size = strlen(name);
    if (size > 3 && strcmp(name + size - 3, ".gz") == 0) size -= 3;
    for (size_t dot = size; dot-- > 1;) {
        if (name[dot] == '.') return dot;
    }
    return size;
}

int leat_can_attack_code(const char *name, const char *folder, bool longer) {
    char text[2 * LEAT_PATH_BYTES];
    int size = snprintf(text, sizeof text, "%.*s %s", (int)stem_bytes(name), name, folder);
    for (int i = 0; i < size && text[i] != 0; i++) text[i] = (char)tolower((unsigned char)text[i]);
    for (const keyword *it = longer ? long_list : short_list; it->word != NULL; it++) {
        if (strstr(text, it->word) != NULL) return it->code;
    }
    return 0;
}

/* ---- splits --------------------------------------------------------------------------------- */

static const char *const train_folders[] = {"train_01_attack_free", "train_02_with_attacks", NULL};
static const char *const ch_tests[] = {"test_01_DoS", "test_02_fuzzing", "test_03_gear_spoofing",
                                       "test_04_rpm_spoofing", NULL};
static const char *const sa_tests[] = {
    "test_01_known_vehicle_known_attack", "test_02_unknown_vehicle_known_attack",
    "test_03_known_vehicle_unknown_attack", "test_04_unknown_vehicle_unknown_attack", NULL};
static const char *const set_tests[] = {"test_01_known_vehicle_known_attack",
                                        "test_02_unknown_vehicle_known_attack",
                                        "test_03_known_vehicle_unknown_attack",
                                        "test_04_unknown_vehicle_unknown_attack",
                                        "test_05_suppress",
                                        "test_06_masquerade",
                                        NULL};

static const struct catalog {
    const char *name;
    const char *const *tests;
} catalog[] = {
    {"hcrl_ch", ch_tests}, {"hcrl_sa", sa_tests}, {"set_01", set_tests},
    {"set_02", set_tests}, {"set_03", set_tests}, {"set_04", set_tests},
};

static const char *base_name(const char *path, size_t *size) {
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/') begin--;
    *size = end - begin;
    return path + begin;
}

/* The number of the split with this name, made if there is none. */
static leat_code split_of(leat_can_splits *splits, const char *prefix, const char *name,
                          size_t size, int *number, leat_error *err) {
    char text[LEAT_CAN_NAME_BYTES];
    bool has = strlen(prefix) <= size && memcmp(name, prefix, strlen(prefix)) == 0;
    int length = snprintf(text, sizeof text, "%s%.*s", has ? "" : prefix, (int)size, name);
    if (length < 0 || length >= (int)sizeof text) {
        return leat_fail(err, LEAT_ERR_LIMIT, "the name of split \"%.64s...\" is longer than %d",
                         name, LEAT_CAN_NAME_BYTES - 1);
    }
    for (int i = 0; text[i] != 0; i++) {
        bool plain = isalnum((unsigned char)text[i]) || strchr("-_.", text[i]) != NULL;
        if (!plain) text[i] = '_';
    }
    for (*number = 0; *number < splits->count; (*number)++) {
        if (strcmp(splits->name[*number], text) == 0) return LEAT_OK;
    }
    if (splits->count == LEAT_CAN_SPLITS_MAX - 1) { /* one more is validation */
        return leat_fail(err, LEAT_ERR_LIMIT, "more than %d tests", LEAT_CAN_SPLITS_MAX - 2);
    }
    memcpy(splits->name[splits->count++], text, (size_t)length + 1);
    return LEAT_OK;
}

/* Adds the files of a path to the split. */
static leat_code add_path(leat_can_splits *splits, int split, const char *path, leat_error *err) {
    leat_input_list found = {0};
    const char *paths[1] = {path};
    LEAT_TRY(leat_inputs_find(paths, 1, &leat_can_inputs, &found, err));
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < found.count && code == LEAT_OK; i++) {
        int64_t capacity = splits->inputs.capacity, at = splits->inputs.count;
        code = LEAT_GROW(&splits->inputs.items, &splits->inputs.capacity, at + 1, err);
        if (code == LEAT_OK) code = LEAT_GROW(&splits->files, &capacity, at + 1, err);
        if (code != LEAT_OK) break;
        splits->inputs.items[at] = found.items[i];
        splits->files[at] = (leat_can_source){.split = split};
        splits->inputs.count++;
        found.items[i].path = NULL; /* it has moved */
    }
    leat_input_list_free(&found);
    return code;
}

/* "<dir>/<name>" if that is a folder; *is false if there is nothing of that name. */
static leat_code folder_in(const char *dir, const char *name, char path[LEAT_PATH_BYTES], bool *is,
                           leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_join(path, LEAT_PATH_BYTES, dir, name, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    *is = facts.kind == LEAT_PATH_DIR;
    return LEAT_OK;
}

static leat_code by_catalog(const char *dir, const char *name, leat_can_splits *splits,
                            leat_error *err) {
    const struct catalog *it = NULL;
    for (size_t i = 0; i < sizeof catalog / sizeof *catalog; i++) {
        if (strcmp(catalog[i].name, name) == 0) it = &catalog[i];
    }
    if (it == NULL) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "dataset \"%.40s\" is none of hcrl_ch, hcrl_sa, set_01, set_02, set_03, "
                         "set_04: name folders with --train and --test",
                         name);
    }
    char inside[LEAT_PATH_BYTES], path[LEAT_PATH_BYTES];
    bool is = false;
    LEAT_TRY(folder_in(dir, name, inside, &is, err));
    const char *root = is ? inside : dir;
    for (int i = 0; train_folders[i] != NULL; i++) {
        LEAT_TRY(folder_in(root, train_folders[i], path, &is, err));
        if (!is) {
            return leat_fail(err, LEAT_ERR_NOT_FOUND,
                             "data set %s: training folder \"%s\" is not there", name, path);
        }
        LEAT_TRY(add_path(splits, 0, path, err));
    }
    for (int i = 0; it->tests[i] != NULL; i++) {
        LEAT_TRY(folder_in(root, it->tests[i], path, &is, err));
        if (!is) continue;
        int split = 0;
        LEAT_TRY(split_of(splits, "test_", it->tests[i], strlen(it->tests[i]), &split, err));
        LEAT_TRY(add_path(splits, split, path, err));
    }
    return LEAT_OK;
}

/* A test of another path that was given the same name would be one split with it, unsaid. */
static leat_code check_name(const leat_can_splits *splits, int split, const char *path,
                            leat_error *err) {
    size_t size = strlen(path);
    for (int64_t i = 0; i < splits->inputs.count; i++) {
        const char *before = splits->inputs.items[i].path;
        if (splits->files[i].split != split) continue;
        if (strncmp(before, path, size) == 0 && (before[size] == 0 || before[size] == '/'))
            return LEAT_OK; /* the same one twice: check_doubles tells */
        return leat_fail(err, LEAT_ERR_INPUT,
                         "--test: \"%s\" and \"%s\" would both be split %s: name the folders that "
                         "they are in, or rename one",
                         before, path, splits->name[split]);
    }
    return LEAT_OK;
}

/* A pattern of --train or --test, inside the folder if one is given. */
static leat_code by_pattern(const char *dir, const char *pattern, bool test,
                            leat_can_splits *splits, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_list found = {0};
    if (dir != NULL && pattern[0] != '/') {
        LEAT_TRY(leat_path_join(path, sizeof path, dir, pattern, err));
    } else {
        LEAT_TRY(leat_path_join(path, sizeof path, pattern[0] == '/' ? "/" : ".",
                                pattern + (pattern[0] == '/'), err));
    }
    LEAT_TRY(leat_path_glob(path, &found, err));
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < found.count && code == LEAT_OK; i++) {
        int split = 0;
        if (test) {
            size_t size = 0;
            const char *name = base_name(found.paths[i], &size);
            leat_path_facts facts;
            code = leat_path_stat(found.paths[i], &facts, err);
            if (code == LEAT_OK && facts.kind == LEAT_PATH_FILE) size = stem_bytes(name);
            if (code == LEAT_OK) code = split_of(splits, "test_", name, size, &split, err);
            if (code == LEAT_OK) code = check_name(splits, split, found.paths[i], err);
        }
        if (code == LEAT_OK) code = add_path(splits, split, found.paths[i], err);
    }
    leat_path_list_free(&found);
    return code;
}

/* The folder's train_... and test_... folders; *any false if it has none of the first kind. */
static leat_code by_folders(const char *dir, leat_can_splits *splits, bool *any, leat_error *err) {
    leat_path_list names = {0};
    LEAT_TRY(leat_path_list_dir(dir, &names, err));
    leat_code code = LEAT_OK;
    *any = false;
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
        char path[LEAT_PATH_BYTES];
        const char *name = names.paths[i];
        bool train = strncmp(name, "train_", 6) == 0, test = strncmp(name, "test_", 5) == 0;
        bool is = false;
        if (!train && !test) continue;
        code = folder_in(dir, name, path, &is, err);
        if (code != LEAT_OK || !is) continue;
        int split = 0;
        *any = *any || train;
        if (test) code = split_of(splits, "test_", name, strlen(name), &split, err);
        if (code == LEAT_OK) code = add_path(splits, split, path, err);
    }
    leat_path_list_free(&names);
    return code;
}

static leat_code by_paths(const char *const *paths, int64_t path_count, leat_can_splits *splits,
                          leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(paths[0], &facts, err));
    if (path_count == 1 && facts.kind == LEAT_PATH_DIR) {
        bool any = false;
        LEAT_TRY(by_folders(paths[0], splits, &any, err));
        if (any) return LEAT_OK;
        leat_can_splits_free(splits);
        *splits = (leat_can_splits){.count = 1, .name = {"train"}};
    }
    for (int64_t i = 0; i < path_count; i++) LEAT_TRY(add_path(splits, 0, paths[i], err));
    return LEAT_OK;
}

/* ---- files in their order ------------------------------------------------------------------- */

typedef struct sorted_file {
    leat_input input;
    leat_can_source file;
} sorted_file;

static int compare_files(const void *a, const void *b) {
    const sorted_file *x = a, *y = b;
    if (x->file.split != y->file.split) return x->file.split < y->file.split ? -1 : 1;
    return strcmp(x->input.path, y->input.path);
}

static leat_code name_file(leat_can_splits *splits, int64_t i, bool longer, leat_error *err) {
    leat_can_source *file = &splits->files[i];
    const char *path = splits->inputs.items[i].path;
    size_t size = 0, folder_size = 0;
    const char *name = base_name(path, &size);
    char folder[LEAT_PATH_BYTES];
    if (!leat_json_is_utf8(path, (int64_t)strlen(path))) {
        return leat_fail(
            err, LEAT_ERR_INPUT,
            "log \"%s\": its path is not UTF-8, which the cache's JSON must be: rename "
            "it",
            path);
    }
    snprintf(folder, sizeof folder, "%.*s", (int)(name - path), path);
    const char *last = base_name(folder, &folder_size);
    LEAT_TRY(leat_strdup(&file->name, name, err));
    folder[last - folder + (int64_t)folder_size] = 0;
    LEAT_TRY(leat_strdup(&file->folder, last, err));
    file->attack_code = leat_can_attack_code(file->name, file->folder, longer);
    return LEAT_OK;
}

static int compare_identity(const void *a, const void *b) {
    const leat_path_facts *x = &((const sorted_file *)a)->input.facts;
    const leat_path_facts *y = &((const sorted_file *)b)->input.facts;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->inode != y->inode) return x->inode < y->inode ? -1 : 1;
    return compare_files(a, b);
}

/* A file that is in two splits would be trained and tested on. */
static leat_code check_doubles(const sorted_file *files, int64_t count, leat_error *err) {
    for (int64_t i = 1; i < count; i++) {
        const leat_path_facts *a = &files[i - 1].input.facts, *b = &files[i].input.facts;
        if (a->device != b->device || a->inode != b->inode) continue;
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\" and \"%s\" are the same file: name it once, in one split",
                         files[i - 1].input.path, files[i].input.path);
    }
    return LEAT_OK;
}

static leat_code put_in_order(leat_can_splits *splits, leat_error *err) {
    int64_t count = splits->inputs.count;
    sorted_file *sorted = NULL;
    LEAT_TRY(LEAT_NEW(&sorted, count, err));
    for (int64_t i = 0; i < count; i++)
        sorted[i] = (sorted_file){splits->inputs.items[i], splits->files[i]};
    qsort(sorted, (size_t)count, sizeof *sorted, compare_identity);
    leat_code code = check_doubles(sorted, count, err);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_files);
    for (int64_t i = 0; i < count; i++) {
        splits->inputs.items[i] = sorted[i].input;
        splits->files[i] = sorted[i].file;
    }
    leat_free(sorted);
    return code;
}

/* Tests stand by name, whatever the order in which they were named. */
static void sort_tests(leat_can_splits *splits) {
    int order[LEAT_CAN_SPLITS_MAX], place[LEAT_CAN_SPLITS_MAX];
    char names[LEAT_CAN_SPLITS_MAX][LEAT_CAN_NAME_BYTES];
    for (int i = 0; i < splits->count; i++) {
        int at = i;
        for (; at > 1 && strcmp(splits->name[order[at - 1]], splits->name[i]) > 0; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    memcpy(names, splits->name, sizeof names);
    for (int i = 0; i < splits->count; i++) {
        place[order[i]] = i;
        memcpy(splits->name[i], names[order[i]], sizeof names[i]);
    }
    for (int64_t i = 0; i < splits->inputs.count; i++)
        splits->files[i].split = place[splits->files[i].split];
}

/* Folders test_... among other training logs: these were found deeper, or beside other paths, than
 * folders are looked for, and a model would be trained on what it is tested with. */
static leat_code refuse_tests(const leat_can_splits *splits, leat_error *err) {
    const char *path = NULL;
    bool other = false;
    for (int64_t i = 0; i < splits->inputs.count; i++) {
        bool test = strncmp(splits->files[i].folder, "test_", 5) == 0;
        if (test && path == NULL) path = splits->inputs.items[i].path;
        other = other || !test;
    }
    if (path == NULL || !other) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\" would be a training log although its folder is named a test: give the "
                     "one folder that holds train_... and test_..., or say --train and --test",
                     path);
}

leat_code leat_can_splits_find(const char *const *paths, int64_t path_count,
                               const leat_can_ingest_options *options, leat_can_splits *splits,
                               leat_error *err) {
    *splits = (leat_can_splits){.count = 1, .name = {"train"}};
    bool named = options->train_count + options->test_count > 0;
    const char *dir = path_count > 0 ? paths[0] : NULL;
    leat_code code = LEAT_OK;
    if (path_count < 1 && !named) {
        code = leat_fail(err, LEAT_ERR_OPTION, "no input is named");
    } else if ((options->dataset != NULL || named) && path_count > 1) {
        code = leat_fail(err, LEAT_ERR_OPTION,
                         "--dataset, --train and --test take one folder, not %lld paths",
                         (long long)path_count);
    } else if (options->dataset != NULL && (named || dir == NULL)) {
        code = leat_fail(err, LEAT_ERR_OPTION,
                         "--dataset takes a folder, and no --train or --test besides");
    } else if (options->dataset != NULL) {
        code = by_catalog(dir, options->dataset, splits, err);
    } else if (!named) {
        code = by_paths(paths, path_count, splits, err);
    }
    for (int64_t i = 0; i < options->train_count && code == LEAT_OK; i++)
        code = by_pattern(dir, options->train[i], false, splits, err);
    for (int64_t i = 0; i < options->test_count && code == LEAT_OK; i++)
        code = by_pattern(dir, options->test[i], true, splits, err);
    if (code == LEAT_OK) sort_tests(splits);
    if (code == LEAT_OK) code = put_in_order(splits, err);
    bool longer = options->settings.attack_codes == LEAT_CODES_LONG;
    for (int64_t i = 0; i < splits->inputs.count && code == LEAT_OK; i++)
        code = name_file(splits, i, longer, err);
    if (code == LEAT_OK && (splits->inputs.count == 0 || splits->files[0].split != 0)) {
        code = leat_fail(err, LEAT_ERR_INPUT, "there is no training log: name some with --train");
    }
    if (code == LEAT_OK && !named && splits->count == 1) code = refuse_tests(splits, err);
    if (code != LEAT_OK) leat_can_splits_free(splits);
    return code;
}

void leat_can_splits_free(leat_can_splits *splits) {
    for (int64_t i = 0; i < splits->inputs.count; i++) {
        leat_free(splits->files[i].folder);
        leat_free(splits->files[i].name);
    }
    leat_free(splits->files);
    leat_input_list_free(&splits->inputs);
    *splits = (leat_can_splits){0};
}
