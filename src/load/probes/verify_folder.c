/*
 * The data set as a whole: which shards exist, whether manifest and index can be trusted, which
 * files in the folder do not belong there, and, after the shards, the rules that only all of them
 * together can break: the totals, and that no probe is in both splits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/workdir.h"
#include "format/dataset/journal.h"
#include "load/probes/files.h"
#include "load/probes/verify.h"

/* ---- Shards to look at -------------------------------------------------------------------- */

static leat_code add_shard(leat_verify_job *job, const char *path, const char *name,
                           leat_verify_shard **out, leat_error *err) {
    LEAT_TRY(LEAT_GROW(&job->shards, &job->shard_capacity, job->shard_count + 1, err));
    leat_verify_shard *shard = &job->shards[job->shard_count];
    memset(shard, 0, sizeof *shard);
    LEAT_TRY(leat_strdup(&shard->path, path, err));
    job->shard_count++; /* from here on free_job knows it */
    LEAT_TRY(leat_strdup(&shard->name, name, err));
    leat_path_facts facts;
    if (leat_path_stat(path, &facts, NULL) == LEAT_OK)
        job->bytes_total += 2 * facts.size_bytes; /* as bytes, and as records */
    *out = shard;
    return LEAT_OK;
}

/* Files that are not listed in a manifest; findings name them by their path. A folder written by
 * leat whose manifest cannot be read may have none. */
static leat_code add_others(leat_verify_job *job, const char *path, leat_error *err) {
    leat_path_list files = {0};
    leat_code code =
        job->ours ? leat_files_of_folder(path, &files, err) : leat_files_of_path(path, &files, err);
    for (int64_t i = 0; i < files.count && code == LEAT_OK; i++) {
        leat_verify_shard *shard = NULL;
        code = add_shard(job, files.paths[i], files.paths[i], &shard, err);
        if (code == LEAT_OK) shard->split = leat_layout_split_of_path(files.paths[i]);
    }
    leat_path_list_free(&files);
    return code;
}

/* ---- Manifest, index, other files --------------------------------------------------------- */

static const leat_manifest_option *option_of(const leat_verify_job *job, const char *key,
                                             leat_value_type type) {
    const leat_manifest_option *option = leat_manifest_find(&job->manifest, key);
    return option != NULL && option->type == type ? option : NULL;
}

static void read_rules(leat_verify_job *job) {
    leat_verify_rules *rules = &job->rules;
    const leat_manifest_option *seed = option_of(job, "seed", LEAT_VALUE_INT);
    const leat_manifest_option *ratio = leat_manifest_find(&job->manifest, "train_ratio");
    const leat_manifest_option *split = option_of(job, "split", LEAT_VALUE_TEXT);
    const leat_manifest_option *row = option_of(job, "max_row_size", LEAT_VALUE_INT);
    const leat_manifest_option *dictionary = option_of(job, "dictionary_src", LEAT_VALUE_BOOL);
    const leat_manifest_option *per_shard = option_of(job, "probes_per_shard", LEAT_VALUE_INT);
    const leat_manifest_option *shards = option_of(job, "shards", LEAT_VALUE_INT);
    if (ratio != NULL && ratio->type != LEAT_VALUE_REAL && ratio->type != LEAT_VALUE_INT)
        ratio = NULL;
    double share = ratio == NULL                    ? -1
                   : ratio->type == LEAT_VALUE_REAL ? ratio->real
                                                    : (double)ratio->integer;
    rules->knows_split = seed != NULL && share >= 0 && share <= 1 && split != NULL &&
                         (strcmp(split->text, "hash") == 0 || strcmp(split->text, "ordered") == 0);
    if (rules->knows_split) {
        rules->seed = (uint64_t)seed->integer;
        rules->train_ratio = share;
        rules->ordered = strcmp(split->text, "ordered") == 0;
    }
    rules->knows_rows = row != NULL && dictionary != NULL && row->integer >= 0;
    if (rules->knows_rows) {
        rules->max_row_bytes = row->integer;
        rules->dictionary_src = dictionary->integer != 0;
    }
    rules->named = leat_manifest_probe(&job->manifest) != NULL;
    if (per_shard != NULL) rules->probes_per_shard = per_shard->integer;
    if (shards != NULL) rules->shards = shards->integer;
    for (int split_index = 0; split_index < LEAT_SPLITS; split_index++)
        rules->shard_count[split_index] = job->manifest.split[split_index].shard_count;
    if (!rules->knows_split || !rules->knows_rows ||
        (rules->probes_per_shard <= 0) == (rules->shards <= 0))
        LEAT_PROBLEM(&job->folder, LEAT_MANIFEST_NAME, -1,
                     "its options do not state how it was created (seed, train_ratio, split, "
                     "max_row_size, dictionary_src, and probes_per_shard or shards)");
}

/* Equal data sets have equal manifests, byte by byte: so must this one be written. */
static leat_code check_manifest_bytes(leat_verify_job *job, const leat_places *places,
                                      leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_buf text = {0};
    uint8_t *bytes = NULL;
    int64_t size_bytes = 0;
    LEAT_TRY(leat_places_path(places, LEAT_MANIFEST_NAME, path, err));
    leat_code code = leat_manifest_write(&job->manifest, &text, err);
    leat_error cause = {0};
    if (code == LEAT_OK) {
        leat_code loaded = leat_file_load(path, text.size + 1, &bytes, &size_bytes, &cause);
        if (loaded == LEAT_ERR_MEMORY) code = leat_error_copy(err, &cause);
        else if (loaded != LEAT_OK || size_bytes != text.size ||
                 memcmp(bytes, text.data, (size_t)size_bytes) != 0)
            LEAT_PROBLEM(&job->folder, LEAT_MANIFEST_NAME, -1,
                         "its contents are equivalent, but not byte for byte what leat writes; it "
                         "was edited");
    }
    leat_free(bytes);
    leat_buf_free(&text);
    return code;
}

/* An index that cannot be trusted everywhere is reported once and then ignored. */
static leat_code open_index(leat_verify_job *job, const leat_places *places, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_error cause = {0};
    LEAT_TRY(leat_places_path(places, LEAT_INDEX_NAME, path, err));
    leat_code code = leat_index_open(&job->index, path, job->manifest.index_bytes,
                                     job->manifest.index_sha256, &cause);
    if (code == LEAT_OK) code = leat_index_verify(job->index, &cause);
    if (code == LEAT_OK && leat_index_shard_count(job->index) != job->manifest.shard_count)
        code = leat_fail(&cause, LEAT_ERR_CORRUPT, "has %lld shards, but the manifest %lld",
                         (long long)leat_index_shard_count(job->index),
                         (long long)job->manifest.shard_count);
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &cause);
    if (code != LEAT_OK) {
        LEAT_PROBLEM(&job->folder, LEAT_INDEX_NAME, -1, "%s", cause.message);
        leat_index_close(job->index);
        job->index = NULL;
    }
    return LEAT_OK;
}

/* The index's own table of shards against the manifest's. */
static void compare_index(leat_verify_job *job, int64_t k) {
    const leat_index_shard *in_index = leat_index_shard_get(job->index, k);
    const leat_shard_info *info = &job->manifest.shards[k];
    const struct {
        const char *name;
        int64_t index, manifest;
    } fields[] = {
        {"split", in_index->split, info->split},
        {"number", in_index->number, info->number},
        {"rows", in_index->row_count, info->row_count},
        {"measurements", in_index->measurement_count, info->measurement_count},
        {"bytes", in_index->file_bytes, info->file_bytes},
        {"first time", in_index->first_us, info->first_us},
        {"last time", in_index->last_us, info->last_us},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].index != fields[i].manifest)
            LEAT_PROBLEM(&job->folder, LEAT_INDEX_NAME, -1,
                         "shard %lld: %s is %lld, but the manifest says %lld", (long long)k,
                         fields[i].name, (long long)fields[i].index, (long long)fields[i].manifest);
}

/* Whether an ingest is running in the folder: it holds the lock next to its work folder. */
static leat_code is_at_work(const char *dir, bool *at_work, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_file *lock = NULL;
    *at_work = false;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, LEAT_WORK_NAME ".lock", err));
    leat_error cause = {0};
    leat_code code = leat_file_open(&lock, path, LEAT_FILE_OWN, &cause);
    if (code == LEAT_OK) code = leat_file_lock(lock, &cause);
    leat_file_close(lock);
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &cause);
    *at_work = code == LEAT_ERR_BUSY;
    return LEAT_OK;
}

/* A folder without a manifest that an ingest works in, or worked in until it was killed. */
static leat_code judge_work(leat_verify_job *job, const char *dir, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts state;
    bool at_work = false;
    job->ours = true;
    LEAT_TRY(is_at_work(dir, &at_work, err));
    if (at_work) {
        LEAT_NOTE(&job->folder, LEAT_WORK_NAME, -1,
                  "an ingest is running here; wait until it ends");
        return LEAT_OK;
    }
    LEAT_TRY(leat_path_join(path, sizeof path, dir, LEAT_WORK_NAME "/state.json", err));
    LEAT_TRY(leat_path_stat(path, &state, err));
    LEAT_PROBLEM(&job->folder, LEAT_WORK_NAME, -1,
                 "an ingest was interrupted here, %s; run the same `leat ingest probes` again with "
                 "--resume to continue it, or with --replace to start over",
                 state.kind == LEAT_PATH_NONE ? "before its scan was done"
                                              : "after its scan, while writing");
    return LEAT_OK;
}

static bool is_shard_of_ours(const leat_verify_job *job, const char *name) {
    for (int split = 0; split < LEAT_SPLITS; split++) {
        int64_t number = leat_layout_shard_number((leat_split)split, name);
        if (number >= 0 && number < job->manifest.split[split].shard_count) return true;
    }
    return false;
}

/* What is next to the data set. */
typedef struct beside {
    const leat_places *places;
    bool marked;  /* its .leat is a work folder of leat */
    bool at_work; /* an ingest is going to replace it, or moves it to its place */
} beside;

static bool is_work_name(const beside *it, const char *name) {
    return (it->marked && strcmp(name, LEAT_WORK_NAME) == 0) ||
           strcmp(name, LEAT_WORK_NAME ".lock") == 0;
}

static void judge_name(leat_verify_job *job, const beside *it, const char *name) {
    static const char *const ours[] = {LEAT_MANIFEST_NAME, LEAT_INDEX_NAME, LEAT_RUN_NAME,
                                       LEAT_REJECTED_NAME, "train",         "test"};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (strcmp(name, ours[i]) == 0) return;
    if (is_shard_of_ours(job, name)) return;
    if (leat_path_has_suffix(name, LEAT_SHARD_SUFFIX))
        LEAT_PROBLEM(
            &job->folder, name, -1,
            "is not a shard of this data set, but readers that take all *" LEAT_SHARD_SUFFIX
            " files would read it; remove it");
    else if (it->at_work && is_work_name(it, name))
        LEAT_NOTE(&job->folder, name, -1, "an ingest is running here; keep it");
    else if (strcmp(name, LEAT_WORK_NAME) == 0 && it->places->stage[0] != 0)
        LEAT_NOTE(
            &job->folder, name, -1,
            "an ingest was moving the data set to its place; keep it, since it holds files of the "
            "data set, and run the same `leat ingest probes` again with --resume to move them");
    else if (is_work_name(it, name) || leat_path_has_suffix(name, ".tmp"))
        LEAT_NOTE(&job->folder, name, -1,
                  "left over from an interrupted ingest; it can be removed");
    else LEAT_NOTE(&job->folder, name, -1, "does not belong to the data set");
}

static leat_code judge_names(leat_verify_job *job, const beside *it, const char *folder,
                             leat_error *err) {
    const char *dir = it->places->dir;
    char path[LEAT_PATH_BYTES];
    leat_path_list names = {0};
    leat_path_facts facts;
    if (folder == NULL) snprintf(path, sizeof path, "%s", dir);
    else LEAT_TRY(leat_path_join(path, sizeof path, dir, folder, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_DIR) return LEAT_OK; /* each missing shard is reported */
    leat_code code = leat_path_list_dir(path, &names, err);
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
        char name[LEAT_PATH_BYTES];
        if (folder == NULL) snprintf(name, sizeof name, "%s", names.paths[i]);
        else code = leat_path_join(name, sizeof name, folder, names.paths[i], err);
        if (code == LEAT_OK) judge_name(job, it, name);
    }
    leat_path_list_free(&names);
    return code;
}

/* The manifest that the ingest wrote, as run.json states: totals and hashes of a manifest whose
 * options were edited are still right. */
static leat_code check_run_manifest(leat_verify_job *job, const leat_places *places,
                                    const json_t *run, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_error cause = {0};
    const char *text = NULL;
    uint8_t stated[32], found[32];
    if (json_object_get(run, "manifest_sha256") == NULL) return LEAT_OK; /* it is optional */
    leat_code code = leat_json_get_string(run, "manifest_sha256", &text, LEAT_RUN_NAME, &cause);
    if (code == LEAT_OK && !leat_sha256_parse(text, stated))
        code =
            leat_fail(&cause, LEAT_ERR_CORRUPT, "manifest_sha256 \"%.80s\" is not a SHA-256", text);
    if (code != LEAT_OK) {
        LEAT_PROBLEM(&job->folder, LEAT_RUN_NAME, -1, "%s", cause.message);
        return LEAT_OK;
    }
    LEAT_TRY(leat_places_path(places, LEAT_MANIFEST_NAME, path, err));
    LEAT_TRY(leat_file_sha256(path, found, err));
    if (memcmp(stated, found, sizeof found) != 0)
        LEAT_PROBLEM(
            &job->folder, LEAT_MANIFEST_NAME, -1,
            "its SHA-256 differs from the one in %s: one of them was changed after the ingest, so "
            "the options cannot be trusted; run the ingest again with --replace",
            LEAT_RUN_NAME);
    return LEAT_OK;
}

/* run.json is not needed to use the data; it must still be valid. */
static leat_code check_run(leat_verify_job *job, const leat_places *places, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_error cause = {0};
    leat_path_facts facts;
    uint8_t *bytes = NULL;
    int64_t size_bytes = 0;
    json_t *root = NULL;
    LEAT_TRY(leat_places_path(places, LEAT_RUN_NAME, path, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_NONE) {
        LEAT_NOTE(&job->folder, LEAT_RUN_NAME, -1,
                  "is missing; the settings of the ingest are not known");
        return LEAT_OK;
    }
    if (leat_file_load(path, LEAT_RUN_BYTES_MAX, &bytes, &size_bytes, &cause) != LEAT_OK ||
        leat_json_parse((const char *)bytes, size_bytes, LEAT_RUN_NAME, &root, &cause) != LEAT_OK)
        LEAT_PROBLEM(&job->folder, LEAT_RUN_NAME, -1, "%s", cause.message);
    leat_code code = LEAT_OK;
    if (cause.code == LEAT_ERR_MEMORY) code = leat_error_copy(err, &cause);
    if (root != NULL) code = check_run_manifest(job, places, root, err);
    json_decref(root);
    leat_free(bytes);
    return code;
}

static leat_code find_ours(leat_verify_job *job, const leat_places *places, leat_error *err) {
    leat_error cause = {0};
    const char *dir = places->dir, *folder = NULL;
    job->ours = true;
    LEAT_TRY(leat_places_folder(places, LEAT_MANIFEST_NAME, &folder, err));
    leat_code code = leat_manifest_load(folder, &job->manifest, &cause);
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &cause);
    if (code != LEAT_OK) {
        LEAT_PROBLEM(&job->folder, LEAT_MANIFEST_NAME, -1, "%s", cause.message);
        leat_manifest_free(&job->manifest);
        return add_others(job, dir, err); /* the shards can still be checked */
    }
    read_rules(job);
    LEAT_TRY(check_manifest_bytes(job, places, err));
    LEAT_TRY(open_index(job, places, err));
    for (int64_t k = 0; k < job->manifest.shard_count; k++) {
        const leat_shard_info *info = &job->manifest.shards[k];
        char name[LEAT_SHARD_NAME_BYTES], path[LEAT_PATH_BYTES];
        leat_verify_shard *shard = NULL;
        leat_layout_shard_name(info->split, info->number, name);
        LEAT_TRY(leat_places_path(places, name, path, err));
        LEAT_TRY(add_shard(job, path, name, &shard, err));
        shard->split = info->split;
        shard->number = info->number;
        shard->info = info;
        shard->rules = &job->rules;
        shard->index = job->index;
        shard->index_shard = k;
        if (job->index != NULL) compare_index(job, k);
    }
    beside it = {.places = places};
    LEAT_TRY(is_at_work(dir, &it.at_work, err));
    LEAT_TRY(leat_workdir_is_marked(dir, LEAT_WORK_NAME, &it.marked, err));
    LEAT_TRY(judge_names(job, &it, NULL, err));
    LEAT_TRY(judge_names(job, &it, "train", err));
    LEAT_TRY(judge_names(job, &it, "test", err));
    return check_run(job, places, err);
}

leat_code leat_verify_find(leat_verify_job *job, const char *const *paths, int64_t path_count,
                           leat_error *err) {
    for (int64_t i = 0; i < path_count; i++) {
        bool ours = false, work = false, index_there = false;
        leat_places places;
        LEAT_TRY(leat_index_is_in(paths[i], &index_there, err)); /* first: see leat_dataset_open */
        LEAT_TRY(leat_places_look(&places, paths[i], &ours, err));
        LEAT_TRY(leat_workdir_is_marked(paths[i], LEAT_WORK_NAME, &work, err));
        if ((ours || work) && path_count > 1)
            return leat_fail(
                err, LEAT_ERR_OPTION,
                "verify: \"%s\" is a data set written by leat; give it as the only path", paths[i]);
        if (ours) return find_ours(job, &places, err);
        if (work) return judge_work(job, paths[i], err);
        if (index_there)
            LEAT_PROBLEM(&job->folder, LEAT_MANIFEST_NAME, -1,
                         "is missing, though there is an " LEAT_INDEX_NAME
                         " of leat: which shards belong to the data set is not known; copy the "
                         "whole folder again");
        LEAT_TRY(add_others(job, paths[i], err));
    }
    return LEAT_OK;
}

/* ---- All shards together ------------------------------------------------------------------ */

typedef struct placed_probe {
    int64_t src_id;
    int64_t shard; /* of the job */
} placed_probe;

static int compare_placed(const void *a, const void *b) {
    const placed_probe *x = a, *y = b;
    if (x->src_id != y->src_id) return x->src_id < y->src_id ? -1 : 1;
    return x->shard < y->shard ? -1 : x->shard > y->shard;
}

/* The probes of one side of the split, each once, ascending. */
static leat_code gather(const leat_verify_job *job, leat_split split, placed_probe **out,
                        int64_t *out_count, leat_error *err) {
    int64_t count = 0, kept = 0;
    *out = NULL;
    *out_count = 0;
    for (int64_t k = 0; k < job->shard_count; k++)
        if (job->shards[k].split == split) count += job->shards[k].probe_count;
    LEAT_TRY(LEAT_NEW(out, count, err));
    placed_probe *list = *out;
    count = 0;
    for (int64_t k = 0; k < job->shard_count; k++)
        for (int64_t i = 0; job->shards[k].split == split && i < job->shards[k].probe_count; i++)
            list[count++] = (placed_probe){job->shards[k].probes[i], k};
    qsort(list, (size_t)count, sizeof *list, compare_placed);
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || list[i].src_id != list[kept - 1].src_id) list[kept++] = list[i];
    *out_count = kept;
    return LEAT_OK;
}

static void find_common(leat_verify_job *job, const placed_probe *train, int64_t train_count,
                        const placed_probe *test, int64_t test_count) {
    for (int64_t i = 0, k = 0; i < train_count && k < test_count;) {
        if (train[i].src_id < test[k].src_id) {
            i++;
        } else if (train[i].src_id > test[k].src_id) {
            k++;
        } else {
            LEAT_PROBLEM(&job->folder, job->shards[test[k].shard].name, -1,
                         "probe %lld is also in the train split (%.300s)",
                         (long long)test[k].src_id, job->shards[train[i].shard].name);
            i++;
            k++;
        }
    }
}

/* The number of shards follows from the options, and from the number of probes. */
static void check_shard_counts(leat_verify_job *job, const int64_t probes[LEAT_SPLITS]) {
    const leat_verify_rules *rules = &job->rules;
    for (int split = 0; split < LEAT_SPLITS; split++) {
        int64_t expected = -1;
        if (rules->shards > 0)
            expected =
                leat_layout_fixed_shard_count(rules->shards, rules->train_ratio, (leat_split)split);
        else if (rules->probes_per_shard > 0)
            expected = leat_layout_shard_count(probes[split], rules->probes_per_shard);
        if (expected >= 0 && expected != rules->shard_count[split])
            LEAT_PROBLEM(&job->folder, LEAT_MANIFEST_NAME, -1,
                         "%s has %lld shards, but with %lld probes its options imply %lld",
                         leat_split_name((leat_split)split), (long long)rules->shard_count[split],
                         (long long)probes[split], (long long)expected);
    }
}

/* The ordered split: every address of train before every address of test, and the right number of
 * each. */
static void check_ordered_split(leat_verify_job *job, const int64_t probes[LEAT_SPLITS]) {
    const leat_verify_shard *last_train = NULL, *first_test = NULL;
    for (int64_t k = 0; k < job->shard_count; k++) {
        const leat_verify_shard *shard = &job->shards[k];
        if (!shard->any_address) continue;
        if (shard->split == LEAT_SPLIT_TRAIN &&
            (last_train == NULL ||
             leat_verify_compare_text(&shard->greatest, &last_train->greatest) > 0))
            last_train = shard;
        if (shard->split == LEAT_SPLIT_TEST &&
            (first_test == NULL || leat_verify_compare_text(&shard->least, &first_test->least) < 0))
            first_test = shard;
    }
    /* the order of names is not known here */
    if (!job->rules.named && last_train != NULL && first_test != NULL &&
        leat_verify_compare_text(&last_train->greatest, &first_test->least) >= 0)
        LEAT_PROBLEM(
            &job->folder, first_test->name, -1,
            "address %s is in test, but %s (%.200s) is in train: the split is not by order "
            "of address",
            first_test->least.text, last_train->greatest.text, last_train->name);
    int64_t all = probes[LEAT_SPLIT_TRAIN] + probes[LEAT_SPLIT_TEST];
    int64_t expected = leat_layout_ordered_count(job->rules.train_ratio, all);
    if (expected != probes[LEAT_SPLIT_TRAIN])
        LEAT_PROBLEM(&job->folder, LEAT_MANIFEST_NAME, -1,
                     "train has %lld of %lld probes, but its train_ratio implies %lld",
                     (long long)probes[LEAT_SPLIT_TRAIN], (long long)all, (long long)expected);
}

leat_code leat_verify_whole(leat_verify_job *job, leat_error *err) {
    placed_probe *sides[LEAT_SPLITS] = {NULL, NULL};
    int64_t probes[LEAT_SPLITS] = {0, 0};
    leat_code code = gather(job, LEAT_SPLIT_TRAIN, &sides[0], &probes[0], err);
    if (code == LEAT_OK) code = gather(job, LEAT_SPLIT_TEST, &sides[1], &probes[1], err);
    if (code == LEAT_OK) {
        find_common(job, sides[0], probes[0], sides[1], probes[1]);
        /* Where rows could not be read the number of probes is not known. */
        if (job->manifest.shard_count > 0 && job->findings.problems == 0) {
            check_shard_counts(job, probes);
            if (job->rules.knows_split && job->rules.ordered) check_ordered_split(job, probes);
        }
    }
    leat_free(sides[0]);
    leat_free(sides[1]);
    return code;
}
