/* What windows that alarm are blamed on, and whether it is what was injected. */
#include <stdlib.h>

#include "base/mem.h"
#include "leat/graph.h"
#include "train/eval/interval.h"
#include "train/eval/windows.h"
#include "train/tasks/graphs/evaluation.h"

typedef struct blaming {
    const leat_split_windows *of;
    const double *score;
    const int32_t *identifier, *feature;
    double threshold;
} blaming;

static bool alarms(const blaming *self, int64_t i) {
    return self->of->label[i] >= 0 && self->score[i] > self->threshold && self->identifier[i] >= 0;
}

/* ---- How often ------------------------------------------------------------------------------ */

static int by_windows(const void *a, const void *b) {
    const leat_blame_count *left = a, *right = b;
    if (left->windows != right->windows) return left->windows > right->windows ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

/* Of numbers 0 .. most - 1, those that are blamed. */
static leat_code count_numbers(const blaming *self, const int32_t *number, int64_t most,
                               const leat_blame_count **out, int64_t *count, leat_error *err) {
    leat_blame_count *all = NULL;
    LEAT_TRY(LEAT_NEW(&all, most, err));
    for (int64_t i = 0; i < self->of->windows.count; i++) {
        if (!alarms(self, i)) continue;
        LEAT_ASSERT(number[i] >= 0 && number[i] < most);
        all[number[i]].number = number[i];
        all[number[i]].windows++;
        all[number[i]].attack_windows += self->of->label[i] == 1;
    }
    *count = 0;
    for (int64_t i = 0; i < most; i++) {
        if (all[i].windows > 0) all[(*count)++] = all[i];
    }
    qsort(all, (size_t)*count, sizeof *all, by_windows);
    *out = all;
    return LEAT_OK;
}

static void name_identifiers(const leat_can_cache *cache, const leat_blame_count *of,
                             int64_t count) {
    leat_blame_count *to = (leat_blame_count *)(uintptr_t)of; /* of count_numbers */
    for (int64_t i = 0; i < count; i++)
        to[i].text =
            to[i].number == 0 ? "unknown" : leat_can_cache_identifier(cache, to[i].number - 1);
}

static void name_features(const leat_blame_count *of, int64_t count) {
    leat_blame_count *to = (leat_blame_count *)(uintptr_t)of;
    for (int64_t i = 0; i < count; i++) to[i].text = leat_node_feature_name(to[i].number);
}

/* ---- How often rightly ---------------------------------------------------------------------- */

static void add_share(const blaming *self, int64_t i, leat_blame_share *to) {
    const int32_t injected = self->of->injected[i];
    to->detected++;
    to->known += injected >= 0;
    to->right += injected >= 0 && injected == self->identifier[i];
}

static int ascending(const void *a, const void *b) {
    const leat_blame_share *left = a, *right = b;
    return left->attack < right->attack ? -1 : left->attack > right->attack;
}

static bool blames_any(const blaming *self) {
    for (int64_t i = 0; i < self->of->windows.count; i++)
        if (self->identifier[i] >= 0) return true;
    return false;
}

/* Of shares of which nothing is known. */
static leat_eval_reason reason_of(const blaming *self, const leat_blame_share *of,
                                  bool is_attacked) {
    if (of->detected > 0) return LEAT_EVAL_NO_INJECTED;
    if (!is_attacked) return LEAT_EVAL_NO_ATTACK;
    return blames_any(self) ? LEAT_EVAL_NO_DETECTION : LEAT_EVAL_NO_BLAME;
}

static void set_share(const blaming *self, bool is_attacked, leat_blame_share *to) {
    const leat_eval_reason reason = reason_of(self, to, is_attacked);
    to->share = to->known == 0 ? leat_eval_undefined(reason)
                               : leat_eval_defined((double)to->right / (double)to->known);
    to->wilson = leat_interval_wilson(to->right, to->known, reason);
}

static leat_code share_of(const blaming *self, leat_evaluation_result *out, leat_error *err) {
    leat_blame_share *all = NULL;
    int64_t count = 1, capacity = 0;
    LEAT_TRY(LEAT_GROW(&all, &capacity, 1, err));
    all[0] = (leat_blame_share){.attack = -1};
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < self->of->windows.count && code == LEAT_OK; i++) {
        int64_t at = 1;
        if (self->of->label[i] != 1) continue;
        while (at < count && all[at].attack != self->of->attack[i]) at++;
        if (at == count) {
            code = LEAT_GROW(&all, &capacity, count + 1, err);
            if (code == LEAT_OK) all[count++] = (leat_blame_share){.attack = self->of->attack[i]};
        }
        if (code != LEAT_OK || !alarms(self, i)) continue;
        add_share(self, i, &all[0]);
        add_share(self, i, &all[at]);
    }
    out->shares = all;
    if (code != LEAT_OK) return code;
    qsort(all, (size_t)count, sizeof *all, ascending);
    /* an attack type is listed if a window has it */
    for (int64_t i = 0; i < count; i++) set_share(self, count > 1, &all[i]);
    out->share_count = count;
    return LEAT_OK;
}

leat_code leat_evaluating_blame(leat_evaluating *self, int index, int method, leat_error *err) {
    const leat_evaluating_split *own = &self->own[index];
    leat_evaluation_result *out = &own->results[method];
    const blaming of = {.of = &own->columns,
                        .score = own->scores[method],
                        .identifier = own->identifier[method],
                        .feature = own->feature[method],
                        .threshold = self->methods[method].threshold.value};
    if (of.identifier == NULL) return LEAT_OK;
    LEAT_TRY(count_numbers(&of, of.identifier, self->facts.vocab_count + 1, &out->identifiers,
                           &out->identifier_count, err));
    name_identifiers(self->cache, out->identifiers, out->identifier_count);
    LEAT_TRY(count_numbers(&of, of.feature, LEAT_NODE_FEATURES, &out->features, &out->feature_count,
                           err));
    name_features(out->features, out->feature_count);
    return share_of(&of, out, err);
}
