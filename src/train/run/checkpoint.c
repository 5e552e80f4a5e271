/* See checkpoint.h. */
#include "train/run/checkpoint.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "train/run/patience.h"
#include "train/run/task.h"
#include "train/step/weights.h"

#define PREFIX "step-"
#define WEIGHTS ".safetensors"
#define DOCUMENT ".json"
#define SIDECAR ".sha256"
enum { DIGITS = 9, DOCUMENT_BYTES_MAX = 65536, SIDECAR_BYTES_MAX = 1024 };

/* ---- Names ---------------------------------------------------------------------------------- */

static void name_of(int64_t step, const char *suffix, char name[64]) {
    LEAT_ASSERT(step >= 0); /* a sign would be part of the name */
    snprintf(name, 64, PREFIX "%0*" PRId64 "%s", (int)DIGITS, step, suffix);
}

static leat_code path_of(const char *dir, int64_t step, const char *suffix,
                         char path[LEAT_PATH_BYTES], leat_error *err) {
    char name[64];
    name_of(step, suffix, name);
    return leat_path_join(path, LEAT_PATH_BYTES, dir, name, err);
}

leat_code leat_checkpoint_path(const char *dir, int64_t step, char path[LEAT_PATH_BYTES],
                               leat_error *err) {
    return path_of(dir, step, WEIGHTS, path, err);
}

/* The step of a name that ends in this suffix; -1: it is another one. */
static int64_t step_of(const char *name, const char *suffix) {
    char same[64];
    size_t begin = sizeof PREFIX - 1, digits = 0;
    if (strncmp(name, PREFIX, begin) != 0) return -1;
    while (isdigit((unsigned char)name[begin + digits])) digits++;
    if (digits < DIGITS || digits > 16) return -1;
    const int64_t step = strtoll(name + begin, NULL, 10);
    name_of(step, suffix, same);
    return strcmp(name, same) == 0 ? step : -1;
}

int64_t leat_checkpoint_step(const char *name) {
    static const char *const suffixes[] = {SIDECAR, DOCUMENT, WEIGHTS};
    int64_t step = -1;
    for (int i = 0; i < 3 && step < 0; i++) step = step_of(name, suffixes[i]);
    return step;
}

/* ---- The document and the sidecar ----------------------------------------------------------- */

static leat_code document_text(const leat_checkpoint *of, leat_json **json, const char **text,
                               int64_t *size_bytes, leat_error *err) {
    LEAT_TRY(leat_json_create(json, false, err));
    leat_json_begin_object(*json);
    leat_json_member_string(*json, "format", "leat.checkpoint");
    leat_json_member_int(*json, "version", 1);
    leat_json_member_string(*json, "run", of->run);
    leat_json_member_int(*json, "step", of->step);
    leat_json_member_int(*json, "position", of->position);
    leat_json_member_string(*json, "state", of->state);
    leat_json_member_string(*json, "weights_sha256", of->sha256);
    for (int i = 0; i < of->task->saved_measures; i++)
        leat_json_member_known(*json, of->task->measures[i].name, of->measured[i]);
    leat_json_end_object(*json);
    return leat_json_finish(*json, text, size_bytes, err);
}

static leat_code get_real(const json_t *root, const char *key, const char *path, double *out,
                          leat_error *err) {
    return json_object_get(root, key) == NULL ? LEAT_OK
                                              : leat_json_get_double(root, key, out, path, err);
}

static leat_code get_hash(const json_t *root, const char *key, char hex[65], const char *path,
                          leat_error *err) {
    const char *text = NULL;
    uint8_t digest[32];
    LEAT_TRY(leat_json_get_string(root, key, &text, path, err));
    if (!leat_sha256_parse(text, digest))
        return leat_fail(err, LEAT_ERR_CORRUPT, "\"%.300s\": \"%s\" must be 64 hexadecimal digits",
                         path, key);
    memcpy(hex, text, 65);
    return LEAT_OK;
}

static leat_code parse(leat_checkpoint *of, int64_t step, const json_t *root, const char *path,
                       leat_error *err) {
    leat_measured_none(of->measured);
    LEAT_TRY(leat_json_expect_string(root, "format", "leat.checkpoint", path, err));
    LEAT_TRY(leat_json_get_int(root, "version", 1, 1, &of->step, path, err));
    LEAT_TRY(leat_json_get_int(root, "step", step, step, &of->step, path, err));
    LEAT_TRY(leat_json_get_int(root, "position", 0, INT64_MAX, &of->position, path, err));
    LEAT_TRY(get_hash(root, "run", of->run, path, err));
    LEAT_TRY(get_hash(root, "state", of->state, path, err));
    LEAT_TRY(get_hash(root, "weights_sha256", of->sha256, path, err));
    for (int i = 0; i < of->task->saved_measures; i++)
        LEAT_TRY(get_real(root, of->task->measures[i].name, path, &of->measured[i], err));
    return LEAT_OK;
}

/* The text of the sidecar that belongs to a document. */
static void sidecar_text(const leat_checkpoint *of, const char *document, int64_t size_bytes,
                         char text[SIDECAR_BYTES_MAX]) {
    char weights_name[64], document_name[64], hex[65];
    name_of(of->step, WEIGHTS, weights_name);
    name_of(of->step, DOCUMENT, document_name);
    leat_sha256_hex_of(document, size_bytes, hex);
    snprintf(text, SIDECAR_BYTES_MAX, "%s  %s\n%s  %s\n", of->sha256, weights_name, hex,
             document_name);
}

/* ---- Reading -------------------------------------------------------------------------------- */

static leat_code damaged(const char *path, leat_error *err) {
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "\"%.300s\" does not match its " SIDECAR
                     " file: the checkpoint is damaged; remove it, or use another one",
                     path);
}

static leat_code check_sidecar(const char *dir, int64_t step, const char *want, const char *path,
                               leat_error *err) {
    char sidecar[LEAT_PATH_BYTES];
    uint8_t *text = NULL;
    int64_t size = 0;
    LEAT_TRY(path_of(dir, step, SIDECAR, sidecar, err));
    leat_code code = leat_file_load(sidecar, SIDECAR_BYTES_MAX, &text, &size, err);
    if (code == LEAT_ERR_LIMIT) return damaged(path, err);
    LEAT_TRY(code);
    const bool same = (size_t)size == strlen(want) && memcmp(text, want, (size_t)size) == 0;
    leat_free(text);
    return same ? LEAT_OK : damaged(path, err);
}

static leat_code check_document(const char *dir, int64_t step, const uint8_t *document,
                                int64_t size, const char *path, leat_checkpoint *of,
                                leat_error *err) {
    char want[SIDECAR_BYTES_MAX];
    json_t *root = NULL;
    leat_error why = {0};
    leat_code code = leat_json_parse((const char *)document, size, path, &root, &why);
    if (code == LEAT_OK) code = parse(of, step, root, path, &why);
    json_decref(root);
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &why);
    if (code != LEAT_OK) return damaged(path, err);
    sidecar_text(of, (const char *)document, size, want);
    return check_sidecar(dir, step, want, path, err);
}

static leat_code read_document(const leat_task *task, const char *dir, int64_t step,
                               leat_checkpoint *of, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    uint8_t *document = NULL;
    int64_t size = 0;
    *of = (leat_checkpoint){.task = task};
    LEAT_TRY(path_of(dir, step, DOCUMENT, path, err));
    leat_code code = leat_file_load(path, DOCUMENT_BYTES_MAX, &document, &size, err);
    if (code == LEAT_ERR_NOT_FOUND || code == LEAT_ERR_LIMIT) return damaged(path, err);
    LEAT_TRY(code);
    code = check_document(dir, step, document, size, path, of, err);
    leat_free(document);
    return code;
}

/* Whether a training process has removed the checkpoint since its name was listed. */
static bool is_gone(const char *dir, int64_t step) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    return path_of(dir, step, SIDECAR, path, NULL) == LEAT_OK &&
           leat_path_stat(path, &facts, NULL) == LEAT_OK && facts.kind == LEAT_PATH_NONE;
}

static leat_code check_run(const leat_checkpoint *of, const char *dir, const char *run,
                           leat_error *err) {
    if (strcmp(of->run, run) == 0) return LEAT_OK;
    return leat_fail(
        err, LEAT_ERR_CORRUPT,
        "checkpoint %lld in \"%.300s\" belongs to another run (%.16s, not %.16s): move "
        "its files away",
        (long long)of->step, dir, of->run, run);
}

static leat_code add(leat_checkpoints *list, const char *dir, const char *run, int64_t step,
                     leat_error *err) {
    LEAT_TRY(LEAT_GROW(&list->items, &list->capacity, list->count + 1, err));
    leat_checkpoint *of = &list->items[list->count];
    leat_code code = read_document(list->task, dir, step, of, err);
    if (code != LEAT_OK) return is_gone(dir, step) ? LEAT_OK : code;
    LEAT_TRY(check_run(of, dir, run, err));
    list->count++;
    return LEAT_OK;
}

static leat_code list_names(leat_checkpoints *list, const char *dir, const char *run,
                            const leat_path_list *names, bool tolerant, leat_error *err) {
    for (int64_t i = 0; i < names->count; i++) {
        const int64_t step = step_of(names->paths[i], SIDECAR);
        leat_error why = {0};
        if (step < 0) continue;
        leat_code code = add(list, dir, run, step, &why);
        if (code == LEAT_OK) continue;
        if (!tolerant || (code != LEAT_ERR_CORRUPT && code != LEAT_ERR_IO))
            return leat_error_copy(err, &why);
        if (step < list->damaged) continue;
        list->damaged = step;
        list->why = why;
    }
    return LEAT_OK;
}

static int by_step(const void *a, const void *b) {
    const leat_checkpoint *first = a, *second = b;
    return (first->step > second->step) - (first->step < second->step);
}

leat_code leat_checkpoints_list(leat_checkpoints *list, const leat_task *task, const char *dir,
                                const char *run, bool tolerant, leat_error *err) {
    leat_path_list names = {0};
    leat_path_facts facts;
    *list = (leat_checkpoints){.task = task, .damaged = -1};
    LEAT_TRY(leat_path_stat(dir, &facts, err));
    if (facts.kind == LEAT_PATH_NONE) return LEAT_OK;
    LEAT_TRY(leat_path_list_dir(dir, &names, err));
    leat_code code = list_names(list, dir, run, &names, tolerant, err);
    leat_path_list_free(&names);
    /* names are in this order only while steps have DIGITS digits */
    if (list->count > 1) qsort(list->items, (size_t)list->count, sizeof *list->items, by_step);
    if (code != LEAT_OK) leat_checkpoints_free(list);
    return code;
}

void leat_checkpoints_free(leat_checkpoints *list) {
    leat_free(list->items);
    *list = (leat_checkpoints){0};
}

const leat_checkpoint *leat_checkpoints_find(const leat_checkpoints *list, int64_t step) {
    if (step < 0) return list->count > 0 ? &list->items[list->count - 1] : NULL;
    for (int64_t i = 0; i < list->count; i++)
        if (list->items[i].step == step) return &list->items[i];
    return NULL;
}

leat_code leat_checkpoints_refuse(const leat_checkpoints *list, int64_t step, int64_t samples,
                                  leat_error *err) {
    char text[300] = "";
    size_t size = 0;
    if (list->damaged == step) return leat_error_copy(err, &list->why);
    for (int64_t i = 0; i < list->count && size < sizeof text; i++) {
        const leat_checkpoint *of = &list->items[i];
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%lld", i > 0 ? ", " : "",
                                 (long long)of->step);
        if (samples > 0 && size < sizeof text)
            size += (size_t)snprintf(text + size, sizeof text - size, " (%.2f epochs)",
                                     (double)of->position / (double)samples);
    }
    return leat_fail(err, LEAT_ERR_OPTION, "no checkpoint of step %lld; there are: %s%s",
                     (long long)step, list->count == 0 ? "none" : text,
                     size < sizeof text ? "" : "...");
}

/* The measure that decides in all of them; -1: none has one. */
static int decider_of(const leat_checkpoints *list, int64_t last) {
    int decider = -1;
    for (int64_t i = 0; i < list->count; i++) {
        const leat_checkpoint *of = &list->items[i];
        const int here = leat_measure_decider(list->task, of->measured);
        if (of->step <= last && here >= 0 && (decider < 0 || here < decider)) decider = here;
    }
    return decider;
}

const leat_checkpoint *leat_checkpoints_best(const leat_checkpoints *list, int64_t last) {
    const int decider = decider_of(list, last);
    const leat_checkpoint *best = NULL;
    for (int64_t i = 0; decider >= 0 && i < list->count; i++) {
        const leat_checkpoint *of = &list->items[i];
        if (of->step > last || isnan(of->measured[decider])) continue;
        if (best == NULL || leat_value_is_better(&list->task->measures[decider],
                                                 of->measured[decider], best->measured[decider]))
            best = of;
    }
    return best;
}

leat_code leat_checkpoint_load(const char *dir, const leat_checkpoint *of, leat_trainer *trainer,
                               leat_error *err) {
    char path[LEAT_PATH_BYTES], hash[65];
    leat_train_state *state = leat_trainer_state(trainer);
    LEAT_TRY(leat_checkpoint_path(dir, of->step, path, err));
    leat_code code = leat_weights_load(path, of->sha256, leat_trainer_model(trainer), state, err);
    if (code == LEAT_ERR_NOT_FOUND)
        return leat_fail(err, LEAT_ERR_CORRUPT, "\"%.300s\" is missing; use another checkpoint",
                         path);
    LEAT_TRY(code);
    state->step = of->step;
    leat_trainer_hash(trainer, hash);
    return strcmp(hash, of->state) == 0 ? LEAT_OK : damaged(path, err);
}

/* ---- Writing -------------------------------------------------------------------------------- */

static leat_code save_texts(const char *dir, const leat_checkpoint *of, leat_error *err) {
    char path[LEAT_PATH_BYTES], sidecar[SIDECAR_BYTES_MAX];
    leat_json *json = NULL;
    const char *text = NULL;
    int64_t size = 0;
    leat_code code = document_text(of, &json, &text, &size, err);
    if (code == LEAT_OK) code = path_of(dir, of->step, DOCUMENT, path, err);
    if (code == LEAT_OK) code = leat_file_save(path, text, size, err);
    if (code == LEAT_OK) sidecar_text(of, text, size, sidecar);
    if (code == LEAT_OK) code = path_of(dir, of->step, SIDECAR, path, err);
    if (code == LEAT_OK) code = leat_file_save(path, sidecar, (int64_t)strlen(sidecar), err);
    leat_json_destroy(json);
    return code;
}

leat_code leat_checkpoint_save(const char *dir, leat_trainer *trainer, leat_checkpoint *of,
                               leat_error *err) {
    const leat_train_state *state = leat_trainer_state(trainer);
    char path[LEAT_PATH_BYTES];
    const leat_feed *feed = leat_trainer_feed(trainer);
    of->step = state->step;
    of->position = 0;
    if (feed != NULL) LEAT_TRY(leat_feed_position(feed, state->step, &of->position, err));
    leat_trainer_hash(trainer, of->state);
    /* an earlier one of this step is no checkpoint while it is replaced */
    LEAT_TRY(path_of(dir, of->step, SIDECAR, path, err));
    LEAT_TRY(leat_path_remove(path, err));
    LEAT_TRY(leat_checkpoint_path(dir, of->step, path, err));
    LEAT_TRY(leat_weights_save(path, leat_trainer_model(trainer), state, of->sha256, err));
    return save_texts(dir, of, err);
}

/* The sidecar first: without it, the rest is not a checkpoint. */
static leat_code remove_step(const char *dir, int64_t step, leat_error *err) {
    static const char *const suffixes[] = {SIDECAR, DOCUMENT, WEIGHTS};
    for (int i = 0; i < 3; i++) {
        char path[LEAT_PATH_BYTES];
        LEAT_TRY(path_of(dir, step, suffixes[i], path, err));
        LEAT_TRY(leat_path_remove(path, err));
    }
    return LEAT_OK;
}

/* Whether weights or a document are there without being listed. */
static leat_code remove_rest(const char *dir, const leat_checkpoints *list,
                             const leat_path_list *names, leat_error *err) {
    for (int64_t i = 0; i < names->count; i++) {
        char sidecar[LEAT_PATH_BYTES];
        leat_path_facts facts;
        const int64_t step = leat_checkpoint_step(names->paths[i]);
        if (step < 0 || leat_checkpoints_find(list, step) != NULL) continue;
        LEAT_TRY(path_of(dir, step, SIDECAR, sidecar, err));
        LEAT_TRY(leat_path_stat(sidecar, &facts, err));
        if (facts.kind == LEAT_PATH_NONE) LEAT_TRY(remove_step(dir, step, err));
    }
    return leat_path_remove_drafts(dir, err);
}

static leat_code prune(const char *dir, int64_t keep, int64_t last, const leat_checkpoints *list,
                       leat_error *err) {
    leat_path_list names = {0};
    const leat_checkpoint *best = leat_checkpoints_best(list, last);
    int64_t count = 0;      /* of those up to `last` */
    LEAT_ASSERT(keep >= 1); /* the newest one is what a run resumes from */
    while (count < list->count && list->items[count].step <= last) count++;
    for (int64_t i = 0; i < count - keep; i++)
        if (&list->items[i] != best) LEAT_TRY(remove_step(dir, list->items[i].step, err));
    LEAT_TRY(leat_path_list_dir(dir, &names, err));
    leat_code code = remove_rest(dir, list, &names, err);
    leat_path_list_free(&names);
    return code;
}

leat_code leat_checkpoints_prune(const char *dir, const leat_task *task, const char *run,
                                 int64_t keep, int64_t last, leat_error *err) {
    leat_checkpoints list;
    LEAT_TRY(leat_checkpoints_list(&list, task, dir, run, true, err));
    leat_code code = prune(dir, keep, last, &list, err);
    leat_checkpoints_free(&list);
    return code;
}
