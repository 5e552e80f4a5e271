/*
 * Which logs are training and which belong to which test: by a catalog's folders, by the user's
 * patterns, by the names of folders, or all of them training.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "ingest/can/cache/splits.h"

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
#define ENTRY(name, tests) {name, tests##_tests},
    LEAT_CAN_DATASET_TABLE(ENTRY)
#undef ENTRY
};

static const char *base_name(const char *path, size_t *size) {
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/') begin--;
    *size = end - begin;
    return path + begin;
}

/* The splits found so far. */
typedef struct finding {
    leat_can_splits *splits;
    char *from[LEAT_CAN_SPLITS_MAX]; /* the folder or file that each test is named after */
    bool by_pattern;
} finding;

static bool is_same_path(const char *a, const char *b) {
    size_t size_a = strlen(a), size_b = strlen(b);
    while (size_a > 1 && a[size_a - 1] == '/') size_a--;
    while (size_b > 1 && b[size_b - 1] == '/') size_b--;
    return size_a == size_b && memcmp(a, b, size_a) == 0;
}

static bool differs_in_case_only(const char *a, const char *b) {
    while (*a != 0 && tolower((unsigned char)*a) == tolower((unsigned char)*b)) a++, b++;
    return *a == *b;
}

/* Two paths with equal names after cleaning would silently become one split, and names that differ
 * only in case one file on file systems that ignore case. A path that is named twice is left to
 * check_doubles. */
static leat_code check_name(const finding *found, int split, const char *name, const char *path,
                            leat_error *err) {
    const char *before = found->from[split], *known = found->splits->name[split];
    if (is_same_path(before, path)) return LEAT_OK;
    if (strcmp(name, known) == 0) {
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\" and \"%s\" would both be split %s; rename one of them%s", before,
                         path, known,
                         found->by_pattern ? ", or name the folders that contain them" : "");
    }
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\" and \"%s\" would be splits %s and %s, whose files have the same name "
                     "where case is ignored; rename one of them",
                     before, path, known, name);
}

/* The number of the split named after a path, whose own name is the first `size` bytes of `name`;
 * added if it does not exist. Names consist of letters, digits, "-", "_" and "."; other characters
 * become "_". */
static leat_code split_of(finding *found, const char *path, const char *name, size_t size,
                          int *number, leat_error *err) {
    leat_can_splits *splits = found->splits;
    char text[LEAT_CAN_NAME_BYTES];
    bool has = size >= 5 && memcmp(name, "test_", 5) == 0;
    int length = snprintf(text, sizeof text, "%s%.*s", has ? "" : "test_", (int)size, name);
    if (length < 0 || length >= (int)sizeof text) {
        return leat_fail(err, LEAT_ERR_LIMIT, "the name of split \"%.64s...\" is longer than %d",
                         name, LEAT_CAN_NAME_BYTES - 1);
    }
    for (int i = 0; text[i] != 0; i++) {
        bool plain = isalnum((unsigned char)text[i]) || strchr("-_.", text[i]) != NULL;
        if (!plain) text[i] = '_';
    }
    for (*number = 1; *number < splits->count; (*number)++) {
        if (differs_in_case_only(splits->name[*number], text))
            return check_name(found, *number, text, path, err);
    }
    if (splits->count == LEAT_CAN_SPLITS_MAX - 1) { /* one more is validation */
        return leat_fail(err, LEAT_ERR_LIMIT, "more than %d tests", LEAT_CAN_SPLITS_MAX - 2);
    }
    LEAT_TRY(leat_strdup(&found->from[splits->count], path, err));
    memcpy(splits->name[splits->count++], text, (size_t)length + 1);
    return LEAT_OK;
}

/* Adds the files of a path to the split. */
static leat_code add_path(leat_can_splits *splits, int split, const char *path, leat_error *err) {
    leat_input_list found = {0};
    const char *paths[1] = {path};
    leat_code code = leat_inputs_find(paths, 1, &leat_can_inputs, &found, err);
    leat_inputs_skip_all(&splits->inputs.skipped, &found.skipped);
    for (int64_t i = 0; i < found.beside.count && code == LEAT_OK; i++)
        code = leat_path_list_add(&splits->inputs.beside, found.beside.paths[i], err);
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

/* "<dir>/<name>" if that is a folder; *is false if nothing has that name. */
static leat_code folder_in(const char *dir, const char *name, char path[LEAT_PATH_BYTES], bool *is,
                           leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_join(path, LEAT_PATH_BYTES, dir, name, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    *is = facts.kind == LEAT_PATH_DIR;
    return LEAT_OK;
}

static leat_code by_catalog(const char *dir, const char *name, finding *found, leat_error *err) {
    const struct catalog *it = NULL;
    for (size_t i = 0; i < sizeof catalog / sizeof *catalog; i++) {
        if (strcmp(catalog[i].name, name) == 0) it = &catalog[i];
    }
#define NAMED(name, tests) " " name ","
    if (it == NULL) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "dataset \"%.40s\" is unknown; use" LEAT_CAN_DATASET_TABLE(
                             NAMED) " or name folders with --train and --test",
                         name);
    }
#undef NAMED
    char inside[LEAT_PATH_BYTES], path[LEAT_PATH_BYTES];
    bool is = false;
    LEAT_TRY(folder_in(dir, name, inside, &is, err));
    const char *root = is ? inside : dir;
    for (int i = 0; train_folders[i] != NULL; i++) {
        LEAT_TRY(folder_in(root, train_folders[i], path, &is, err));
        if (!is) {
            return leat_fail(err, LEAT_ERR_NOT_FOUND,
                             "dataset %s: training folder \"%s\" does not exist", name, path);
        }
        LEAT_TRY(add_path(found->splits, 0, path, err));
    }
    for (int i = 0; it->tests[i] != NULL; i++) {
        LEAT_TRY(folder_in(root, it->tests[i], path, &is, err));
        if (!is) continue;
        int split = 0;
        LEAT_TRY(split_of(found, path, it->tests[i], strlen(it->tests[i]), &split, err));
        LEAT_TRY(add_path(found->splits, split, path, err));
    }
    return LEAT_OK;
}

/* A pattern of --train or --test, relative to the folder if one is given. */
static leat_code by_pattern(const char *dir, const char *pattern, bool test, finding *found,
                            leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_list paths = {0};
    found->by_pattern = true;
    if (dir != NULL && pattern[0] != '/') {
        LEAT_TRY(leat_path_join(path, sizeof path, dir, pattern, err));
    } else {
        LEAT_TRY(leat_path_join(path, sizeof path, pattern[0] == '/' ? "/" : ".",
                                pattern + (pattern[0] == '/'), err));
    }
    LEAT_TRY(leat_path_glob(path, &paths, err));
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < paths.count && code == LEAT_OK; i++) {
        int split = 0;
        if (test) {
            size_t size = 0;
            const char *name = base_name(paths.paths[i], &size);
            leat_path_facts facts;
            code = leat_path_stat(paths.paths[i], &facts, err);
            if (code == LEAT_OK && facts.kind == LEAT_PATH_FILE) size = leat_can_stem_bytes(name);
            if (code == LEAT_OK) {
                code = split_of(found, paths.paths[i], name, size, &split, err);
            }
        }
        if (code == LEAT_OK) code = add_path(found->splits, split, paths.paths[i], err);
    }
    leat_path_list_free(&paths);
    return code;
}

/* ---- folders by their names ----------------------------------------------------------------- */

/* Which names are those of splits: those that begin with train_ or test_, or where no name does,
 * those that have the word. */
typedef struct split_names {
    bool plain[2];
} split_names;

static bool is_split_name(const split_names *names, const char *name, int test) {
    static const char *const prefixes[] = {"train_", "test_"};
    size_t size = strlen(name);
    if (names->plain[test]) return strncmp(name, prefixes[test], strlen(prefixes[test])) == 0;
    if (name[0] == '.' || name[0] == '_') return false;
    if (test == 1) return leat_can_name_is_test(name, size) && !is_split_name(names, name, 0);
    return leat_can_name_is_train(name, size) && !leat_can_name_is_test(name, size);
}

static leat_code has_split(const char *dir, const leat_path_list *names, const split_names *which,
                           int test, bool *has, leat_error *err) {
    *has = false;
    for (int64_t i = 0; i < names->count && !*has; i++) {
        char path[LEAT_PATH_BYTES];
        if (is_split_name(which, names->paths[i], test))
            LEAT_TRY(folder_in(dir, names->paths[i], path, has, err));
    }
    return LEAT_OK;
}

/* *any: train_..., or another name of training with a test beside it. */
static leat_code find_split_names(const char *dir, const leat_path_list *names, split_names *which,
                                  bool *any, leat_error *err) {
    *which = (split_names){{true, true}};
    for (int test = 0; test < 2; test++) {
        bool plain = false;
        LEAT_TRY(has_split(dir, names, which, test, &plain, err));
        which->plain[test] = plain;
    }
    *any = true;
    return which->plain[0] ? LEAT_OK : has_split(dir, names, which, 1, any, err);
}

/* The train_... and test_... folders among the names in a folder, if there is at least one
 * train_...; *any: there is. Otherwise the names mean nothing: refuse_tests reports tests. */
static leat_code take_folders(const char *dir, const leat_path_list *names,
                              const split_names *which, finding *found, bool *any,
                              leat_error *err) {
    *any = false;
    for (int test = 0; test < 2 && (test == 0 || *any); test++) {
        for (int64_t i = 0; i < names->count; i++) {
            char path[LEAT_PATH_BYTES];
            const char *name = names->paths[i];
            bool is = false;
            int split = 0;
            if (!is_split_name(which, name, test)) continue;
            LEAT_TRY(folder_in(dir, name, path, &is, err));
            if (!is) continue;
            *any = true;
            if (test) LEAT_TRY(split_of(found, path, name, strlen(name), &split, err));
            LEAT_TRY(add_path(found->splits, split, path, err));
        }
    }
    return LEAT_OK;
}

/* What is next to the split folders is not read. */
static leat_code skip_others(const char *dir, const leat_path_list *names, const split_names *which,
                             leat_can_splits *splits, leat_error *err) {
    for (int64_t i = 0; i < names->count; i++) {
        char path[LEAT_PATH_BYTES];
        const char *name = names->paths[i];
        bool is = false;
        if (name[0] == '.') continue;
        LEAT_TRY(folder_in(dir, name, path, &is, err));
        bool split = is_split_name(which, name, 0) || is_split_name(which, name, 1);
        if (!is || !split) leat_inputs_skip(&splits->inputs.skipped, path);
    }
    return LEAT_OK;
}

static leat_code by_folders(const char *dir, finding *found, bool *any, leat_error *err) {
    leat_path_list names = {0};
    split_names which;
    LEAT_TRY(leat_path_list_dir(dir, &names, err));
    leat_code code = find_split_names(dir, &names, &which, any, err);
    if (code == LEAT_OK && *any) code = take_folders(dir, &names, &which, found, any, err);
    if (code == LEAT_OK && *any) code = skip_others(dir, &names, &which, found->splits, err);
    leat_path_list_free(&names);
    return code;
}

/* Whether a file is in a folder test_..., or may be a test by a name. Folders above the path that
 * was given say nothing. */
static void mark_test(const char *given, const char *path, leat_can_source *file) {
    size_t size = 0, at = (size_t)(base_name(given, &size) - given);
    size_t literal = strcspn(given, "*?[");
    while (at > literal) { /* a pattern of folders */
        at--;
        while (at > 0 && given[at - 1] != '/') at--;
    }
    for (const char *name = path + at, *end = NULL; (end = strchr(name, '/')) != NULL;
         name = end + 1) {
        file->in_test = file->in_test || leat_can_name_is_test(name, (size_t)(end - name));
        file->may_be_test =
            file->may_be_test || leat_can_name_may_be_test(name, (size_t)(end - name));
    }
    const char *name = base_name(path, &size);
    size = leat_can_stem_bytes(name);
    file->may_be_test = file->may_be_test || leat_can_name_may_be_test(name, size) ||
                        leat_can_name_is_test(name, size);
}

/* Marks the files from number `first` on, which are those of a path. */
static void mark_tests(leat_can_splits *splits, int64_t first, const char *given) {
    for (int64_t i = first; i < splits->inputs.count; i++)
        mark_test(given, splits->inputs.items[i].path, &splits->files[i]);
}

static leat_code by_paths(const char *const *paths, int64_t path_count, finding *found,
                          leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(paths[0], &facts, err));
    if (path_count == 1 && facts.kind == LEAT_PATH_DIR) {
        bool any = false;
        LEAT_TRY(by_folders(paths[0], found, &any, err));
        found->splits->chosen = any;
        if (any) return LEAT_OK;
    }
    for (int64_t i = 0; i < path_count; i++) {
        int64_t before = found->splits->inputs.count;
        LEAT_TRY(add_path(found->splits, 0, paths[i], err));
        mark_tests(found->splits, before, paths[i]);
    }
    return LEAT_OK;
}

/* ---- files in order ------------------------------------------------------------------------- */

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
            "log \"%s\": its path is not UTF-8, which the cache's JSON requires; rename it", path);
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

/* A file in two splits would be both trained and tested on. */
static leat_code check_doubles(const leat_can_splits *splits, const sorted_file *files,
                               int64_t count, leat_error *err) {
    for (int64_t i = 1; i < count; i++) {
        const leat_path_facts *a = &files[i - 1].input.facts, *b = &files[i].input.facts;
        if (a->device != b->device || a->inode != b->inode) continue;
        const char *one = splits->name[files[i - 1].file.split];
        const char *other = splits->name[files[i].file.split];
        if (files[i - 1].file.split == files[i].file.split)
            return leat_fail(err, LEAT_ERR_INPUT,
                             "\"%s\" and \"%s\" are the same file; list it only once",
                             files[i - 1].input.path, files[i].input.path);
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\" in split %s and \"%s\" in split %s are the same file; list it "
                         "only once, to train or to test on",
                         files[i - 1].input.path, one, files[i].input.path, other);
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
    leat_code code = check_doubles(splits, sorted, count, err);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_files);
    for (int64_t i = 0; i < count; i++) {
        splits->inputs.items[i] = sorted[i].input;
        splits->files[i] = sorted[i].file;
    }
    leat_free(sorted);
    return code;
}

/* ---- what was not chosen --------------------------------------------------------------------- */

/* A file or folder, whatever path leads to it. */
typedef struct identity {
    uint64_t device, inode;
} identity;

typedef struct identities {
    identity *items; /* sorted */
    int64_t count, capacity;
} identities;

static int compare_identities(const void *a, const void *b) {
    const identity *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    return (x->inode > y->inode) - (x->inode < y->inode);
}

static leat_code add_identity(identities *to, const leat_path_facts *facts, leat_error *err) {
    LEAT_TRY(LEAT_GROW(&to->items, &to->capacity, to->count + 1, err));
    to->items[to->count++] = (identity){(uint64_t)facts->device, (uint64_t)facts->inode};
    return LEAT_OK;
}

static bool has_identity(const identities *of, const leat_path_facts *facts) {
    const identity key = {(uint64_t)facts->device, (uint64_t)facts->inode};
    return of->count > 0 &&
           bsearch(&key, of->items, (size_t)of->count, sizeof key, compare_identities) != NULL;
}

/* The chosen files, and the folders in `dir` that lead to them; the paths of these, once each. */
static leat_code find_chosen(const leat_can_splits *splits, const char *dir, identities *chosen,
                             leat_path_list *folders, leat_error *err) {
    leat_path_facts facts;
    const size_t least = strlen(dir);
    LEAT_TRY(leat_path_list_add(folders, dir, err));
    for (int64_t i = 0; i < splits->inputs.count; i++) {
        char path[LEAT_PATH_BYTES];
        snprintf(path, sizeof path, "%s", splits->inputs.items[i].path);
        LEAT_TRY(add_identity(chosen, &splits->inputs.items[i].facts, err));
        if (strncmp(path, dir, least) != 0) continue; /* an absolute pattern */
        for (char *end; (end = strrchr(path, '/')) != NULL && (size_t)(end - path) > least;) {
            *end = 0;
            if (folders->count > 0 && strcmp(folders->paths[folders->count - 1], path) == 0) break;
            LEAT_TRY(leat_path_stat(path, &facts, err));
            LEAT_TRY(add_identity(chosen, &facts, err));
            LEAT_TRY(leat_path_list_add(folders, path, err));
        }
    }
    qsort(chosen->items, (size_t)chosen->count, sizeof *chosen->items, compare_identities);
    leat_path_list_sort(folders);
    return LEAT_OK;
}

/* Logs in a folder, and with `all` other folders, that are not among the chosen ones. */
static leat_code skip_in(const char *folder, bool all, const identities *chosen,
                         leat_can_splits *splits, leat_error *err) {
    leat_path_list names = {0};
    if (!leat_path_may_list(folder)) return LEAT_OK; /* the chosen ones were named one by one */
    LEAT_TRY(leat_path_list_dir(folder, &names, err));
    for (int64_t i = 0; i < names.count; i++) {
        char path[LEAT_PATH_BYTES];
        leat_path_facts facts = {0};
        const char *name = names.paths[i];
        if (name[0] == '.' || name[0] == '_') continue;
        if (leat_path_join(path, sizeof path, folder, name, NULL) != LEAT_OK ||
            leat_path_stat(path, &facts, NULL) != LEAT_OK || has_identity(chosen, &facts))
            continue;
        bool log = facts.kind == LEAT_PATH_FILE && leat_inputs_has_name(&leat_can_inputs, name);
        if (log || (all && facts.kind == LEAT_PATH_DIR))
            leat_inputs_skip(&splits->inputs.skipped, path);
    }
    leat_path_list_free(&names);
    return LEAT_OK;
}

/* Logs beside those that patterns or the folders of a data set have chosen: a pattern may miss some
 * that it was meant for. */
static leat_code skip_unchosen(const char *dir, leat_can_splits *splits, leat_error *err) {
    identities chosen = {0};
    leat_path_list folders = {0};
    leat_code code = find_chosen(splits, dir, &chosen, &folders, err);
    for (int64_t i = 0; i < folders.count && code == LEAT_OK; i++) {
        if (i > 0 && strcmp(folders.paths[i - 1], folders.paths[i]) == 0) continue;
        code = skip_in(folders.paths[i], is_same_path(folders.paths[i], dir), &chosen, splits, err);
    }
    leat_path_list_free(&folders);
    leat_free(chosen.items);
    return code;
}

/* Tests are ordered by name, not by the order on the command line. */
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

/* Folders test_... as training logs: there is no train_..., or they were found deeper, or next to
 * other paths, than split folders are searched for. A model would be trained on its test data.
 * Files that are named one by one may be in such folders if there are no others. */
static leat_code refuse_tests(const leat_can_splits *splits, leat_error *err) {
    const char *path = NULL;
    bool other = false, in_test = false;
    for (int64_t i = 0; i < splits->inputs.count; i++) {
        const leat_can_source *file = &splits->files[i];
        bool test = file->in_test || leat_can_name_is_test(file->folder, strlen(file->folder));
        if (test && path == NULL) path = splits->inputs.items[i].path;
        other = other || !test;
        in_test = in_test || file->in_test;
    }
    if (path == NULL || !(other || in_test)) return LEAT_OK;
    return leat_fail(
        err, LEAT_ERR_INPUT,
        "\"%s\" would be a training log although its folder is named like a test; pass the one "
        "folder that contains train_... and test_..., or use --train and --test (to train on this "
        "folder: --train FOLDER without PATH)",
        path);
}

leat_code leat_can_splits_find(const char *const *paths, int64_t path_count,
                               const leat_can_ingest_options *options, leat_can_splits *splits,
                               leat_error *err) {
    *splits = (leat_can_splits){.count = 1, .name = {"train"}};
    finding found = {.splits = splits};
    bool named = options->train_count + options->test_count > 0;
    splits->chosen = named || options->dataset != NULL;
    const char *dir = path_count > 0 ? paths[0] : NULL;
    leat_code code = LEAT_OK;
    if (path_count < 1 && !named) {
        code = leat_fail(err, LEAT_ERR_OPTION, "no inputs given");
    } else if ((options->dataset != NULL || named) && path_count > 1) {
        code = leat_fail(err, LEAT_ERR_OPTION,
                         "--dataset, --train and --test take one folder, not %lld paths",
                         (long long)path_count);
    } else if (options->dataset != NULL && (named || dir == NULL)) {
        code = leat_fail(err, LEAT_ERR_OPTION,
                         "--dataset takes a folder and excludes --train and --test");
    } else if (options->dataset != NULL) {
        code = by_catalog(dir, options->dataset, &found, err);
    } else if (!named) {
        code = by_paths(paths, path_count, &found, err);
    }
    for (int64_t i = 0; i < options->train_count && code == LEAT_OK; i++)
        code = by_pattern(dir, options->train[i], false, &found, err);
    for (int64_t i = 0; i < options->test_count && code == LEAT_OK; i++)
        code = by_pattern(dir, options->test[i], true, &found, err);
    for (int i = 0; i < LEAT_CAN_SPLITS_MAX; i++) leat_free(found.from[i]);
    if (code == LEAT_OK) sort_tests(splits);
    if (code == LEAT_OK) code = put_in_order(splits, err);
    if (code == LEAT_OK && dir != NULL && (named || options->dataset != NULL))
        code = skip_unchosen(dir, splits, err);
    bool longer = options->settings.attack_codes == LEAT_CODES_LONG;
    for (int64_t i = 0; i < splits->inputs.count && code == LEAT_OK; i++)
        code = name_file(splits, i, longer, err);
    if (code == LEAT_OK && (splits->inputs.count == 0 || splits->files[0].split != 0)) {
        code = leat_fail(err, LEAT_ERR_INPUT, "there is no training log; name some with --train");
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
    leat_free(splits->injections);
    leat_free(splits->spans);
    leat_free(splits->injected_ids);
    leat_free(splits->metadata);
    leat_input_list_free(&splits->inputs);
    *splits = (leat_can_splits){0};
}

/* ---- logs without labels -------------------------------------------------------------------- */

/* Metadata that names an attack in a log, but not when, says more than its name. */
static bool is_benign(const leat_can_splits *splits, int64_t i) {
    const leat_can_source *file = &splits->files[i];
    bool said = file->metadata > 0;
    if (said && splits->injections[i].kind == LEAT_CAN_INJECTION_UNKNOWN) return false;
    return leat_can_name_is_benign(file->name, file->folder) ||
           (said && leat_can_name_is_ambient(file->name));
}

void leat_can_splits_label(leat_can_splits *splits, const leat_can_file *files,
                           leat_can_unlabelled rule, leat_can_label_counts *counts) {
    *counts = (leat_can_label_counts){0};
    for (int64_t i = 0; i < splits->inputs.count; i++) {
        leat_can_source *file = &splits->files[i];
        if (files[i].labelled || files[i].frames == 0) continue;
        bool hints =
            files[i].label_like.names[0] != 0 || files[i].rejected[LEAT_CAN_REJECT_LABEL] > 0;
        bool benign = rule == LEAT_UNLABELLED_BENIGN || rule == LEAT_UNLABELLED_BENIGN_LINES ||
                      (rule == LEAT_UNLABELLED_BY_NAME && !hints && is_benign(splits, i));
        file->unlabelled = !benign;
        counts->benign += benign;
        counts->unlabelled += !benign;
    }
}
