/* What thresholds were fitted on: each detector's on the validation windows that its run has seen,
 * which are not those of the cache that is evaluated if that is another one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "eval/eval.h"

const char *leat_eval_fit_data(const leat_evaluation *of, int method) {
    const int run = of->methods[method].run;
    if (run < 0 || strcmp(of->runs[run].data, of->fingerprint) == 0) return NULL;
    return of->runs[run].data;
}

static bool is_same_share(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static bool is_same_fit(const leat_evaluation *of, int a, int b) {
    const leat_threshold *one = &of->methods[a].threshold, *two = &of->methods[b].threshold;
    const char *data = leat_eval_fit_data(of, a), *other = leat_eval_fit_data(of, b);
    if ((data == NULL) != (other == NULL) || (data != NULL && strcmp(data, other) != 0))
        return false;
    return one->rule == two->rule && is_same_share(one->target_fpr, two->target_fpr) &&
           one->benign == two->benign && one->attacks == two->attacks &&
           strcmp(one->split, two->split) == 0;
}

static void add_word(char text[LEAT_PLAIN_BYTES], const char *word) {
    const size_t used = strlen(text);
    snprintf(text + used, LEAT_PLAIN_BYTES - used, "%s%s", used > 0 ? ", " : "", word);
}

/* Plain tables have one fit, so that they need one name. */
static void name_rows(const leat_evaluation *of, int first, leat_eval_fit *out) {
    char name[LEAT_PLAIN_BYTES];
    bool all = true, plain = false;
    out->who[0] = 0;
    for (int m = 0; m < of->method_count; m++) {
        const bool same = is_same_fit(of, first, m);
        all = all && same;
        if (same && of->methods[m].run >= 0)
            add_word(out->who, leat_eval_method_words(name, of, m));
        plain = plain || (same && of->methods[m].run < 0);
    }
    if (plain) add_word(out->who, "plain tables");
    if (all) out->who[0] = 0;
}

bool leat_eval_fit_at(const leat_eval_report *report, int index, leat_eval_fit *out) {
    const leat_evaluation *of = report->of;
    for (int m = 0; m < of->method_count; m++) {
        bool first = true;
        for (int k = 0; k < m; k++) first = first && !is_same_fit(of, k, m);
        if (!first || index-- > 0) continue;
        out->threshold = &of->methods[m].threshold;
        out->data = leat_eval_fit_data(of, m);
        name_rows(of, m, out);
        return true;
    }
    return false;
}

const char *leat_eval_fit_words(char text[LEAT_EVAL_FIT], const leat_eval_fit *fit) {
    const leat_threshold *of = fit->threshold;
    char benign[LEAT_WORDS_BYTES], attacks[LEAT_WORDS_BYTES], more[2 * LEAT_WORDS_BYTES] = "";
    char cache[96] = "";
    if (of->rule == LEAT_THRESHOLD_F1)
        snprintf(more, sizeof more, ", and %s with an attack,",
                 leat_words_count(attacks, of->attacks));
    if (fit->data != NULL)
        snprintf(cache, sizeof cache, " of the cache of its training (%.16s...)", fit->data);
    snprintf(text, LEAT_EVAL_FIT, "%s%s of %.60s%s",
             leat_things(benign, of->benign, "benign window"), more, of->split, cache);
    return text;
}

const char *leat_eval_fit_note(char text[LEAT_EVAL_FIT_NOTE], const leat_eval_fit *fit) {
    char note[LEAT_THRESHOLD_NOTE_BYTES], who[LEAT_PLAIN_BYTES];
    text[0] = 0;
    if (leat_threshold_note(fit->threshold, note)[0] == 0) return text;
    snprintf(text, LEAT_EVAL_FIT_NOTE, "%s%s%s", leat_plain(who, fit->who),
             fit->who[0] != 0 ? ": " : "", note);
    return text;
}
