/* What a training has done, in words and as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train/train.h"

/* ---- Warnings ------------------------------------------------------------------------------ */

bool leat_train_warned(const leat_train_warning *warnings, int kind,
                       char text[LEAT_WARNING_BYTES]) {
    text[0] = 0;
    if (warnings[kind].step == 0) return false;
    leat_train_warning_text(&warnings[kind], text);
    return true;
}

void leat_train_json_warnings(leat_json *json, const leat_train_warning *warnings) {
    leat_json_key(json, "warnings");
    leat_json_begin_array(json);
    for (int kind = 0; kind < LEAT_WARNINGS_MAX; kind++) {
        char text[LEAT_WARNING_BYTES];
        if (!leat_train_warned(warnings, kind, text)) continue;
        leat_json_begin_object(json);
        leat_json_member_string(json, "kind", warnings[kind].name);
        leat_json_member_int(json, "step", warnings[kind].step);
        if (warnings[kind].over > 0) leat_json_member_int(json, "over", warnings[kind].over);
        leat_json_member_string(json, "text", text);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

/* ---- Values of a step ------------------------------------------------------------------------ */

static bool is_same(const char *a, const char *b) {
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

bool leat_train_sum_at(const leat_value *names, const double *values, int k, leat_train_sum *out) {
    const int count = leat_value_count(names);
    for (int i = 0; i < count; i++) {
        int first = 0;
        while (first < i && !is_same(names[first].sum, names[i].sum)) first++;
        if (names[i].sum == NULL || first < i || k-- > 0) continue;
        *out = (leat_train_sum){.words = names[i].sum};
        for (int j = i; j < count; j++)
            if (is_same(names[j].sum, names[i].sum)) out->value += values[j];
        return true;
    }
    return false;
}

/* ---- The result ----------------------------------------------------------------------------- */

const char *leat_train_best_word(const leat_value *measure) {
    return measure->better > 0 ? "highest" : "lowest";
}

const char *leat_train_better_words(int better) {
    if (better == 0) return NULL;
    return better > 0 ? "higher is better:" : "lower is better:";
}

static void write_warnings(leat_cli *cli, const leat_train_result *result) {
    for (int kind = 0; kind < LEAT_WARNINGS_MAX; kind++) {
        char text[LEAT_WARNING_BYTES];
        if (leat_train_warned(result->warnings, kind, text)) leat_out(cli, "warning %s\n", text);
    }
}

static double measured(const leat_train_result *result, const char *name) {
    return leat_value_get(result->measures, result->measured, name);
}

/* What a model does not measure is not known. */
static void write_score(leat_cli *cli, const leat_train_result *result) {
    const double score = measured(result, "score"), spread = measured(result, "spread");
    const double spread_data = measured(result, "spread_data");
    const double deviation = measured(result, "deviation");
    if (isnan(score)) return;
    leat_out(cli, "score   %.4g", score);
    if (!isnan(result->untrained)) leat_out(cli, "; untrained %.4g", result->untrained);
    if (!isnan(result->reference.value))
        leat_out(cli, "; half of the images against the other half: %.4g", result->reference.value);
    if (!isnan(deviation)) leat_out(cli, "; deviation of the samples %.3f", deviation);
    leat_out(cli, "\n");
    if (isnan(spread)) return;
    leat_out(cli, "spread  %.3f between the samples", spread);
    if (!isnan(spread_data))
        leat_out(cli, ", %.3f between the images of the data set", spread_data);
    leat_out(cli, "\n");
}

int leat_train_fail(leat_cli *cli, const leat_error *err) {
    const int status = leat_cli_fail(cli, err);
    if (err->code == LEAT_ERR_NO_SPACE)
        leat_cli_note(cli, "checkpoints that were written before are complete: free some space, "
                           "and continue with --resume");
    return status;
}

void leat_train_write_result(leat_cli *cli, const char *run, const leat_train_result *result) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    if (result->last_step == result->first_step)
        leat_out(cli, "steps   all %s steps were already done\n",
                 leat_words_count(a, result->last_step));
    else
        leat_out(cli, "steps   %s to %s, %.1f %s/s\n", leat_words_count(a, result->first_step + 1),
                 leat_words_count(b, result->last_step), result->samples_per_second, result->many);
    write_score(cli, result);
    write_warnings(cli, result);
    leat_out(cli, "state   %s\n", result->state);
    leat_out(cli, "run     ");
    leat_out_name(cli, run);
    leat_out(cli, ": report.html, samples/, checkpoints/\n");
    leat_out(cli, "time    %s, peak memory %s\n", leat_words_seconds(a, result->seconds),
             leat_words_bytes(b, result->memory_peak_bytes));
}

/* Of the first measure also what to compare it with. */
static void json_measured(leat_json *json, const leat_train_result *result) {
    for (int i = 0; i < leat_value_count(result->measures); i++) {
        char key[64];
        leat_json_member_known(json, result->measures[i].name, result->measured[i]);
        if (i > 0) continue;
        snprintf(key, sizeof key, "%s_untrained", result->measures[i].name);
        leat_json_member_known(json, key, result->untrained);
        if (result->reference.name != NULL)
            leat_json_member_known(json, result->reference.name, result->reference.value);
    }
}

void leat_train_json_result(leat_json *json, const char *run, const leat_train_result *result) {
    char key[64];
    leat_json_member_string(json, "run", run);
    leat_json_member_int(json, "first_step", result->first_step);
    leat_json_member_int(json, "last_step", result->last_step);
    leat_json_member_string(json, "run_hash", result->run);
    leat_json_member_string(json, "state", result->state);
    leat_json_member_string(json, "checkpoint", result->checkpoint);
    json_measured(json, result);
    leat_train_json_warnings(json, result->warnings);
    snprintf(key, sizeof key, "%s_per_second", result->many);
    leat_json_member_double(json, key, result->samples_per_second);
    leat_json_member_int(json, "memory_peak_bytes", result->memory_peak_bytes);
    leat_json_member_double(json, "seconds", result->seconds);
}
