/*
 * Who has computed a run, by its ledger: the results of each account that are in the weights. Steps
 * only grow in a ledger, but for those that are taken again: after a rewind, because the database
 * was lost, or because a coordinator died while it committed one. So what each account has computed
 * of each step is a stack, from which a step that comes again takes back all that is not before it.
 *
 * After a rewind of the folder a coordinator may continue from a later state, that of the database,
 * and the steps up to it are in the weights all the same. The ledger does not tell that from steps
 * which leat train took again, so whose they are is not known: they are missing from the stack.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/lines.h"
#include "base/mem.h"
#include "train/run/ledger.h"
#include "train/run/run_reader.h"

/* Units of a step that an account has computed. */
typedef struct share {
    int64_t step, units;
    int64_t account;
} share;

typedef struct tally {
    leat_run_contributor *accounts;
    int64_t count, capacity;
    share *shares; /* by step */
    int64_t share_count, share_capacity;
    int64_t own, unreadable; /* of the coordinator; the first line that cannot be read, 0: none */
    int64_t torn;            /* the first line that is no JSON, 0: none; the last one may be it */
} tally;

enum { OWN = -1 };

/* The number of an account, which is added if it is new. */
static leat_code find_account(tally *self, const char *name, int64_t *account, leat_error *err) {
    for (*account = 0; *account < self->count; ++*account)
        if (strcmp(self->accounts[*account].account, name) == 0) return LEAT_OK;
    LEAT_TRY(LEAT_GROW(&self->accounts, &self->capacity, self->count + 1, err));
    leat_run_contributor *of = &self->accounts[self->count++];
    *of = (leat_run_contributor){0};
    memcpy(of->account, name, strlen(name) + 1);
    return LEAT_OK;
}

static int64_t *units_of(tally *self, int64_t account) {
    return account == OWN ? &self->own : &self->accounts[account].units;
}

/* What was computed of steps after this one is no longer the run's. */
static void take_back(tally *self, int64_t step) {
    while (self->share_count > 0 && self->shares[self->share_count - 1].step > step) {
        const share *last = &self->shares[--self->share_count];
        *units_of(self, last->account) -= last->units;
    }
}

static leat_code add_unit(tally *self, int64_t step, int64_t account, leat_error *err) {
    int64_t at = self->share_count;
    *units_of(self, account) += 1;
    while (at > 0 && self->shares[at - 1].step == step)
        if (self->shares[--at].account == account) {
            self->shares[at].units++;
            return LEAT_OK;
        }
    LEAT_TRY(LEAT_GROW(&self->shares, &self->share_capacity, self->share_count + 1, err));
    self->shares[self->share_count++] = (share){step, 1, account};
    return LEAT_OK;
}

/* A unit that counts, or a result that does not. The units of a step come in order. */
static leat_code take_result(tally *self, const json_t *line, int64_t step, bool counts,
                             bool *readable, leat_error *err) {
    const json_t *unit = json_object_get(line, "unit"), *name = json_object_get(line, "account");
    int64_t account = OWN;
    *readable = json_is_integer(unit) &&
                (name == NULL ||
                 (json_is_string(name) && json_string_length(name) < LEAT_RUN_ACCOUNT_BYTES));
    if (!*readable) return LEAT_OK;
    if (name != NULL) LEAT_TRY(find_account(self, json_string_value(name), &account, err));
    if (!counts) {
        if (account != OWN) self->accounts[account].refused++;
        return LEAT_OK;
    }
    take_back(self, json_integer_value(unit) == 0 ? step - 1 : step);
    return add_unit(self, step, account, err);
}

static bool read_step(const json_t *line, int64_t *step) {
    const json_t *of = json_object_get(line, "step");
    *step = json_integer_value(of);
    return json_is_integer(of) && *step >= 0 && *step < INT64_MAX;
}

static leat_code take_line(tally *self, const leat_line *text, leat_error *err) {
    json_t *line = NULL;
    leat_error why = {0};
    bool readable = true;
    int64_t step = 0;
    leat_code code = leat_json_parse(text->data, text->size_bytes, "a line", &line, &why);
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &why);
    if (code != LEAT_OK) { /* half written, if it is the last one */
        if (self->torn == 0) self->torn = text->number;
        return LEAT_OK;
    }
    if (self->unreadable == 0) self->unreadable = self->torn;
    const char *kind = json_string_value(json_object_get(line, "kind"));
    if (kind == NULL) kind = "";
    if (strcmp(kind, "unit") == 0 || strcmp(kind, "refused") == 0) {
        readable = read_step(line, &step);
        if (readable) code = take_result(self, line, step, kind[0] == 'u', &readable, err);
    } else if (strcmp(kind, "rewind") == 0 || strcmp(kind, "undo") == 0) {
        readable = read_step(line, &step);
        if (readable) take_back(self, step);
    }
    if (!readable && self->unreadable == 0) self->unreadable = text->number;
    json_decref(line);
    return code;
}

static leat_code read_all(tally *self, const char *path, leat_error *err) {
    const leat_lines_options plain = {0};
    leat_lines *lines = NULL;
    leat_line line;
    bool found = true;
    LEAT_TRY(leat_lines_open(&lines, path, &plain, err));
    leat_code code = leat_lines_next(lines, &line, &found, err);
    while (code == LEAT_OK && found) {
        code = take_line(self, &line, err);
        if (code == LEAT_OK) code = leat_lines_next(lines, &line, &found, err);
    }
    leat_lines_close(lines);
    if (code != LEAT_OK || self->unreadable == 0) return code;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "\"%.300s\": line %lld has no valid step, unit or account", path,
                     (long long)self->unreadable);
}

static int compare(const void *a, const void *b) {
    const leat_run_contributor *first = a, *second = b;
    if (first->units != second->units) return first->units < second->units ? 1 : -1;
    return strcmp(first->account, second->account);
}

/* The steps of which something is known, and those between them of which nothing is. */
static void count_steps(const tally *self, leat_run_contributors *out) {
    for (int64_t i = 0; i < self->share_count; i++) {
        const int64_t step = self->shares[i].step;
        if (step == out->last_step) continue;
        if (step > out->last_step + 1) {
            if (out->missing_first == 0) out->missing_first = out->last_step + 1;
            out->missing_last = step - 1;
        }
        out->steps++;
        out->last_step = step;
    }
}

static void add_up(tally *self, leat_run_contributors *out) {
    count_steps(self, out);
    if (self->count > 1)
        qsort(self->accounts, (size_t)self->count, sizeof *self->accounts, compare);
    out->accounts = self->count;
    out->units = out->own = self->own;
    for (int64_t i = 0; i < self->count; i++) {
        out->units += self->accounts[i].units;
        if (i < LEAT_RUN_CONTRIBUTORS_MAX) out->shown[out->count++] = self->accounts[i];
    }
}

leat_code leat_run_contributors_load(const leat_run *run, leat_run_contributors *out,
                                     leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    tally all = {0};
    *out = (leat_run_contributors){0};
    LEAT_TRY(leat_run_folder_join(&run->folder, LEAT_RUN_LEDGER, path, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    out->ledger = facts.kind != LEAT_PATH_NONE;
    if (!out->ledger) return LEAT_OK;
    const leat_code code = read_all(&all, path, err);
    if (code == LEAT_OK) add_up(&all, out);
    leat_free(all.accounts);
    leat_free(all.shares);
    return code;
}
