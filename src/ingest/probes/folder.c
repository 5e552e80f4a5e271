/* What a data set of probe rows is in the output folder (ingest/folder.h): its names, what may be
 * replaced, what is third-party. folder_publish.c moves it into place. */
#include <stdio.h>
#include <string.h>

#include "ingest/probes/job.h"
#include "ingest/source.h"

/* Everything that a run keeps in DIR/.leat; the contents of temp/ may be elsewhere. */
static const char *const work_names[] = {
    LEAT_STATE_NAME,
    LEAT_STREAMS_NAME,
    LEAT_JOURNAL_NAME,
    "out/",
    "out/train/",
    "out/train/train_shard_*" LEAT_SHARD_SUFFIX,
    "out/test/",
    "out/test/test_shard_*" LEAT_SHARD_SUFFIX,
    "out/" LEAT_INDEX_NAME,
    "out/" LEAT_RUN_NAME,
    "out/" LEAT_REJECTED_NAME,
    "out/" LEAT_MANIFEST_NAME,
    "parts/",
    "parts/train_*.part",
    "parts/test_*.part",
    "temp/",
    "temp/spill_*",
    "temp/rejected.*",
    "temp/scratch",
    "temp/plain_*",
    NULL,
};

static leat_job_output *output_of(const leat_job_folder *folder) { return folder->context; }

/* A journal that cannot be read is reported, or dropped, later. */
static leat_code is_publishing(const leat_job_folder *folder, bool *publishing, leat_error *err) {
    leat_journal journal;
    leat_error why = {0};
    leat_code code = leat_journal_load(folder->work, &journal, publishing, &why);
    if (code != LEAT_OK && code != LEAT_ERR_CORRUPT) return leat_error_copy(err, &why);
    *publishing = *publishing || code != LEAT_OK;
    return LEAT_OK;
}

/* ---- third-party files ---- */

/* Whether a name in DIR/train or DIR/test is that of a shard below `shard_count`. */
static bool is_shard_name(leat_split split, const char *name, int64_t shard_count) {
    char shard[LEAT_PATH_BYTES];
    snprintf(shard, sizeof shard, "%s/%s", leat_split_name(split), name);
    int64_t number = leat_layout_shard_number(split, shard);
    return number >= 0 && number < shard_count;
}

/* Whether DIR/train (DIR/test) is a folder, not a link to one, and contains only leat's shards
 * below shard_count. */
static leat_code check_split(const leat_job_folder *folder, leat_split split, int64_t shard_count,
                             leat_error *err) {
    char dir[LEAT_PATH_BYTES];
    leat_path_facts facts;
    bool link = false;
    LEAT_TRY(leat_path_join(dir, sizeof dir, folder->out, leat_split_name(split), err));
    LEAT_TRY(leat_path_is_link(dir, &link, err));
    if (link)
        return leat_fail(
            err, LEAT_ERR_EXISTS,
            "\"%s\" is a link: a data set whose folders are links cannot be replaced (nothing was "
            "changed); replace the link by the folder itself, or write to another folder",
            dir);
    LEAT_TRY(leat_path_stat(dir, &facts, err));
    if (facts.kind == LEAT_PATH_NONE) return LEAT_OK;
    if (facts.kind != LEAT_PATH_DIR)
        return leat_ingest_folder_refuse_other(folder->out, leat_split_name(split), err);
    leat_path_list names = {0};
    leat_code code = leat_path_list_dir(dir, &names, err);
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
        if (is_shard_name(split, names.paths[i], shard_count)) continue;
        code = leat_ingest_folder_refuse_other(dir, names.paths[i], err);
    }
    leat_path_list_free(&names);
    return code;
}

/* Checks that the place of a new data set holds nothing but the one that it replaces. */
static leat_code check_others(const leat_job_folder *folder, leat_error *err) {
    static const char *const files[] = {LEAT_INDEX_NAME, LEAT_RUN_NAME, LEAT_REJECTED_NAME,
                                        LEAT_MANIFEST_NAME};
    const leat_job_output *output = output_of(folder);
    for (int split = 0; split < LEAT_SPLITS; split++)
        LEAT_TRY(check_split(folder, (leat_split)split, output->old_shards[split], err));
    char path[LEAT_PATH_BYTES];
    bool is_log = true;
    LEAT_TRY(leat_path_join(path, sizeof path, folder->out, LEAT_REJECTED_NAME, err));
    LEAT_TRY(leat_reject_is_log(&leat_probe_rejects, path, &is_log, err));
    if (!is_log) return leat_ingest_folder_refuse_other(folder->out, LEAT_REJECTED_NAME, err);
    if (output->old_shards[0] + output->old_shards[1] > 0) return LEAT_OK;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        bool there = false;
        LEAT_TRY(leat_ingest_folder_has(folder->out, files[i], &there, err));
        if (there) return leat_ingest_folder_refuse_other(folder->out, files[i], err);
    }
    return LEAT_OK;
}

/* ---- the data set that is replaced ---- */

static leat_code load_old(const leat_job_folder *folder, leat_manifest *old, leat_error *err) {
    leat_code code = leat_manifest_load(folder->out, old, err);
    if (code == LEAT_OK || code == LEAT_ERR_MEMORY || code == LEAT_ERR_IO) return code;
    return leat_error_context(err, LEAT_ERR_EXISTS,
                              "\"%s\" is not empty and does not hold a data set that this version "
                              "of leat can replace; remove it yourself, or use another folder",
                              folder->out);
}

static leat_code look_at_old(leat_job_folder *folder, leat_error *err) {
    leat_job_output *output = output_of(folder);
    leat_manifest old = {0};
    LEAT_TRY(load_old(folder, &old, err));
    for (int split = 0; split < LEAT_SPLITS; split++) {
        int64_t count = old.split[split].shard_count;
        if (count > output->old_shards[split]) output->old_shards[split] = count;
    }
    leat_manifest_free(&old);
    return LEAT_OK;
}

/* Shards in DIR, of any data set. */
static leat_code count_shards(const leat_job_folder *folder, leat_split split, int64_t *count,
                              leat_error *err) {
    char dir[LEAT_PATH_BYTES], shard[LEAT_PATH_BYTES];
    leat_path_facts facts;
    leat_path_list names = {0};
    *count = 0;
    LEAT_TRY(leat_path_join(dir, sizeof dir, folder->out, leat_split_name(split), err));
    LEAT_TRY(leat_path_stat(dir, &facts, err));
    if (facts.kind != LEAT_PATH_DIR) return LEAT_OK;
    LEAT_TRY(leat_path_list_dir(dir, &names, err));
    for (int64_t i = 0; i < names.count; i++) {
        snprintf(shard, sizeof shard, "%s/%s", leat_split_name(split), names.paths[i]);
        int64_t number = leat_layout_shard_number(split, shard);
        if (number >= *count) *count = number + 1;
    }
    leat_path_list_free(&names);
    return LEAT_OK;
}

/* Gives up a data set that could not be moved into place; whatever is in DIR by now is replaced
 * with the rest. */
static leat_code give_up(leat_job_folder *folder, leat_error *err) {
    leat_job_output *output = output_of(folder);
    leat_journal journal;
    bool there = false;
    leat_error why = {0};
    leat_code code = leat_journal_load(folder->work, &journal, &there, &why);
    if (code != LEAT_OK && code != LEAT_ERR_CORRUPT) return leat_error_copy(err, &why);
    for (int split = 0; split < LEAT_SPLITS; split++) {
        int64_t *count = &output->old_shards[split];
        int64_t now = journal.shards[split], old = journal.old_shards[split];
        if (there) *count = now > old ? now : old;
        else LEAT_TRY(count_shards(folder, (leat_split)split, count, err));
    }
    return LEAT_OK;
}

/* ---- opening ---- */

static const leat_ingest_folder_kind kind = {
    .output = LEAT_OUTPUT_PROBES,
    .work_names = work_names,
    .identity = LEAT_MANIFEST_NAME,
    .state = LEAT_STATE_NAME,
    .last = LEAT_JOURNAL_NAME,
    .is_publishing = is_publishing,
    .look_at_old = look_at_old,
    .check_others = check_others,
    .publish = leat_job_folder_publish,
    .give_up = give_up,
};

leat_code leat_job_folder_open(leat_job_folder *folder, leat_job_output *output,
                               const char *out_dir, const leat_probes_ingest_options *options,
                               leat_error *err) {
    const leat_ingest_folder_options how = {options->resume, options->replace, options->temp_dir};
    *output = (leat_job_output){0};
    return leat_ingest_folder_open(folder, &kind, output, out_dir, &how, err);
}

leat_code leat_job_folder_prepare(const leat_job_folder *folder, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    for (int split = 0; split < LEAT_SPLITS; split++) {
        const char *name = leat_split_name((leat_split)split);
        LEAT_TRY(leat_path_join(path, sizeof path, folder->stage, name, err));
        LEAT_TRY(leat_path_make_dir(path, err));
    }
    leat_job_output *output = output_of(folder);
    LEAT_TRY(leat_path_join(output->parts, sizeof output->parts, folder->work, "parts", err));
    return leat_path_make_dir(output->parts, err);
}
