/* See rewind.h. */
#include "train/run/rewind.h"

#include <stdio.h>
#include <string.h>

#include "train/run/checkpoint.h"
#include "train/run/ledger.h"
#include "train/run/metrics.h"

#define DOCUMENT "rewind.json"
enum { DOCUMENT_BYTES_MAX = 65536, FOLDERS_MAX = 10000 };

/* Where what is moved is now. */
typedef struct places {
    const leat_run_folder *folder;
    const char *run, *kept; /* hash of the run; ending of what it keeps of steps */
    char dir[LEAT_PATH_BYTES], document[LEAT_PATH_BYTES];
    char metrics[LEAT_PATH_BYTES], kept_metrics[LEAT_PATH_BYTES]; /* of later steps; the run's */
    char checkpoints[LEAT_PATH_BYTES], samples[LEAT_PATH_BYTES];
    char ledger[LEAT_PATH_BYTES]; /* of the run */
} places;

static leat_code find_places(places *of, const leat_rewind_of *what, leat_error *err) {
    const leat_run_folder *folder = what->folder;
    of->folder = folder;
    of->run = what->run;
    of->kept = what->kept;
    LEAT_TRY(leat_run_folder_join(folder, LEAT_RUN_REWIND, of->dir, err));
    LEAT_TRY(leat_run_folder_join(folder, LEAT_RUN_METRICS, of->kept_metrics, err));
    LEAT_TRY(leat_run_folder_join(folder, LEAT_RUN_LEDGER, of->ledger, err));
    LEAT_TRY(leat_path_join(of->document, LEAT_PATH_BYTES, of->dir, DOCUMENT, err));
    LEAT_TRY(leat_path_join(of->metrics, LEAT_PATH_BYTES, of->dir, LEAT_RUN_METRICS, err));
    LEAT_TRY(leat_path_join(of->checkpoints, LEAT_PATH_BYTES, of->dir, LEAT_RUN_CHECKPOINTS, err));
    return leat_path_join(of->samples, LEAT_PATH_BYTES, of->dir, LEAT_RUN_SAMPLES, err);
}

static leat_code kind_of(const char *path, leat_path_kind *kind, leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    *kind = facts.kind;
    return LEAT_OK;
}

/* ---- Renames -------------------------------------------------------------------------------- */

/* The step of a name in checkpoints or, by its ending, in samples; -1: another file. */
static int64_t step_of(const char *name, const char *kept) {
    return kept == NULL ? leat_checkpoint_step(name) : leat_run_kept_step(name, kept);
}

static leat_code list_folder(const char *path, leat_path_list *names, leat_error *err) {
    leat_path_kind kind;
    *names = (leat_path_list){0};
    LEAT_TRY(kind_of(path, &kind, err));
    return kind == LEAT_PATH_DIR ? leat_path_list_dir(path, names, err) : LEAT_OK;
}

static leat_code has_later(const char *dir, int64_t step, const char *kept, bool *found,
                           leat_error *err) {
    leat_path_list names;
    LEAT_TRY(list_folder(dir, &names, err));
    for (int64_t i = 0; i < names.count; i++)
        *found = *found || step_of(names.paths[i], kept) > step;
    leat_path_list_free(&names);
    return LEAT_OK;
}

static leat_code move_one(const char *from, const char *to, const char *name, leat_error *err) {
    char old[LEAT_PATH_BYTES], new[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_join(old, sizeof old, from, name, err));
    LEAT_TRY(leat_path_join(new, sizeof new, to, name, err));
    return leat_path_rename(old, new, err);
}

/* The last name first: what is left in between is the beginning of a run; and .sha256, without
 * which the others are not a checkpoint, is the last of the three. */
static leat_code move_later(const char *from, const char *to, int64_t step, const char *kept,
                            leat_error *err) {
    leat_path_list names;
    LEAT_TRY(leat_path_make_dir(from, err)); /* somebody may have removed its samples */
    LEAT_TRY(leat_path_make_dir(to, err));
    LEAT_TRY(list_folder(from, &names, err));
    leat_code code = LEAT_OK;
    for (int64_t i = names.count - 1; i >= 0 && code == LEAT_OK; i--)
        if (step_of(names.paths[i], kept) > step) code = move_one(from, to, names.paths[i], err);
    leat_path_list_free(&names);
    if (code == LEAT_OK) code = leat_path_sync_dir(to, err);
    return code == LEAT_OK ? leat_path_sync_dir(from, err) : code;
}

/* ---- The ledger ----------------------------------------------------------------------------- */

/* Only coordinators begin one. */
static leat_code open_ledger(const places *of, leat_ledger *ledger, leat_error *err) {
    leat_path_kind kind;
    *ledger = (leat_ledger){0};
    LEAT_TRY(kind_of(of->ledger, &kind, err));
    return kind == LEAT_PATH_NONE ? LEAT_OK : leat_ledger_open(ledger, of->ledger, err);
}

static leat_code check_ledger(const places *of, leat_error *err) {
    leat_ledger ledger;
    LEAT_TRY(open_ledger(of, &ledger, err));
    leat_ledger_close(&ledger);
    return LEAT_OK;
}

/* Lines of later steps stay, or the chain would break: this line takes them back. */
static leat_code record(const places *of, int64_t step, const char *name, leat_error *err) {
    leat_ledger ledger;
    leat_json *json = NULL;
    LEAT_TRY(open_ledger(of, &ledger, err));
    if (ledger.file == NULL) return LEAT_OK;
    leat_code code = leat_ledger_begin(&ledger, "rewind", &json, err);
    if (code == LEAT_OK) {
        leat_json_member_int(json, "step", step);
        leat_json_member_string(json, "folder", name);
        code = leat_ledger_end(&ledger, json, err);
    }
    if (code == LEAT_OK) code = leat_ledger_sync(&ledger, err);
    leat_ledger_close(&ledger);
    return code;
}

/* ---- Once it is decided --------------------------------------------------------------------- */

/* A name that nothing has. */
static leat_code find_free(const places *of, int64_t step, char name[64], leat_rewound *out,
                           leat_error *err) {
    for (int i = 1; i <= FOLDERS_MAX; i++) {
        leat_path_kind kind;
        bool link = false;
        if (i == 1) snprintf(name, 64, LEAT_RUN_REWOUND "%lld", (long long)step);
        else snprintf(name, 64, LEAT_RUN_REWOUND "%lld-%d", (long long)step, i);
        LEAT_TRY(leat_run_folder_join(of->folder, name, out->path, err));
        LEAT_TRY(kind_of(out->path, &kind, err));
        LEAT_TRY(leat_path_is_link(out->path, &link, err));
        if (kind == LEAT_PATH_NONE && !link) return LEAT_OK;
    }
    return leat_fail(err, LEAT_ERR_EXISTS, "\"%.300s\" has %d folders " LEAT_RUN_REWOUND "%lld",
                     of->folder->path, (int)FOLDERS_MAX, (long long)step);
}

/* Of later steps, which are in the other folder. */
static leat_code cut_metrics(const places *of, int64_t step, leat_error *err) {
    leat_metrics metrics;
    LEAT_TRY(leat_metrics_open(&metrics, NULL, of->kept_metrics, step, err));
    leat_code code = leat_metrics_sync(&metrics, err);
    leat_metrics_close(&metrics);
    return code;
}

static leat_code move_all(const places *of, int64_t step, leat_rewound *out, leat_error *err) {
    char name[64];
    const leat_run_folder *run = of->folder;
    LEAT_TRY(move_later(run->checkpoints, of->checkpoints, step, NULL, err));
    if (of->kept != NULL) LEAT_TRY(move_later(run->samples, of->samples, step, of->kept, err));
    LEAT_TRY(cut_metrics(of, step, err));
    LEAT_TRY(find_free(of, step, name, out, err));
    LEAT_TRY(record(of, step, name, err));
    LEAT_TRY(leat_path_move_dir(of->dir, out->path, err));
    out->step = step;
    return LEAT_OK;
}

/* ---- Decided -------------------------------------------------------------------------------- */

static leat_code write_document(const places *of, int64_t step, leat_error *err) {
    leat_json *json = NULL;
    LEAT_TRY(leat_json_create(&json, false, err));
    leat_json_begin_object(json);
    leat_json_member_string(json, "format", "leat.rewind");
    leat_json_member_int(json, "version", 1);
    leat_json_member_string(json, "run", of->run);
    leat_json_member_int(json, "step", step);
    leat_json_end_object(json);
    return leat_json_save(json, of->document, err);
}

static leat_code parse_document(const json_t *root, const char *run, const char *path,
                                int64_t *step, leat_error *err) {
    int64_t version = 0;
    LEAT_TRY(leat_json_expect_string(root, "format", "leat.rewind", path, err));
    LEAT_TRY(leat_json_get_int(root, "version", 1, 1, &version, path, err));
    LEAT_TRY(leat_json_expect_string(root, "run", run, path, err));
    return leat_json_get_int(root, "step", 0, INT64_MAX, step, path, err);
}

static leat_code read_document(const places *of, int64_t *step, leat_error *err) {
    uint8_t *text = NULL;
    int64_t size = 0;
    json_t *root = NULL;
    leat_error why = {0};
    LEAT_TRY(leat_file_load(of->document, DOCUMENT_BYTES_MAX, &text, &size, err));
    leat_code code = leat_json_parse((const char *)text, size, of->document, &root, &why);
    leat_free(text);
    if (code == LEAT_OK) code = parse_document(root, of->run, of->document, step, &why);
    json_decref(root);
    if (code == LEAT_OK || code == LEAT_ERR_MEMORY) return leat_error_copy(err, &why);
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "\"%.300s\" is not of a rewind of this run; move its folder away",
                     of->document);
}

/* What precedes the decision. The document first, in case it was written but not known to be. */
static leat_code clear(const places *of, leat_error *err) {
    LEAT_TRY(leat_path_remove(of->document, err));
    LEAT_TRY(leat_path_remove_drafts(of->dir, err));
    LEAT_TRY(leat_path_remove(of->metrics, err));
    return leat_path_remove_dir(of->dir, err);
}

static leat_code decide(const places *of, int64_t step, leat_error *err) {
    bool lines = false;
    LEAT_TRY(leat_path_make_dir(of->dir, err));
    LEAT_TRY(leat_metrics_copy_later(of->kept_metrics, step, of->metrics, &lines, err));
    LEAT_TRY(leat_path_sync_parent(of->dir, err));
    return write_document(of, step, err);
}

static leat_code is_needed(const places *of, int64_t step, bool *needed, leat_error *err) {
    const leat_run_folder *run = of->folder;
    *needed = false;
    LEAT_TRY(leat_metrics_copy_later(of->kept_metrics, step, NULL, needed, err));
    LEAT_TRY(has_later(run->checkpoints, step, NULL, needed, err));
    return of->kept == NULL ? LEAT_OK : has_later(run->samples, step, of->kept, needed, err);
}

leat_code leat_rewind(const leat_rewind_of *what, int64_t step, leat_rewound *out,
                      leat_error *err) {
    places of;
    bool needed = false;
    LEAT_ASSERT(step >= 0); /* -1, no rewind, would move all of the run */
    *out = (leat_rewound){.step = step};
    LEAT_TRY(find_places(&of, what, err));
    LEAT_TRY(is_needed(&of, step, &needed, err));
    if (!needed) return LEAT_OK;
    LEAT_TRY(check_ledger(&of, err));
    const leat_code code = decide(&of, step, err);
    if (code == LEAT_OK) return move_all(&of, step, out, err);
    if (clear(&of, NULL) != LEAT_OK) {
        /* the next one clears it, or completes it */
    }
    return code;
}

leat_code leat_rewind_complete(const leat_rewind_of *what, leat_rewound *out, leat_error *err) {
    places of;
    leat_path_kind dir, document;
    int64_t step = 0;
    *out = (leat_rewound){0};
    LEAT_TRY(find_places(&of, what, err));
    LEAT_TRY(kind_of(of.dir, &dir, err));
    if (dir == LEAT_PATH_NONE) return LEAT_OK;
    LEAT_TRY(kind_of(of.document, &document, err));
    if (document == LEAT_PATH_NONE) return clear(&of, err);
    LEAT_TRY(read_document(&of, &step, err));
    return move_all(&of, step, out, err);
}
