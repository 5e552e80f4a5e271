/* What a training has done, in words and as JSON. */
#include <math.h>

#include "train/train.h"

static void write_score(leat_cli *cli, const leat_train_result *result) {
    if (isnan(result->score)) return;
    leat_out(cli, "score   %.4g", result->score);
    if (!isnan(result->score_untrained)) leat_out(cli, "; untrained %.4g", result->score_untrained);
    leat_out(cli,
             "; half of the images against the other half: %.4g; deviation of the samples %.3f\n",
             result->score_halves, result->deviation);
}

void leat_train_write_result(leat_cli *cli, const char *run, const leat_train_result *result) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    if (result->last_step == result->first_step)
        leat_out(cli, "steps   all %s steps were already done\n",
                 leat_words_count(a, result->last_step));
    else
        leat_out(cli, "steps   %s to %s, %.1f images/s\n",
                 leat_words_count(a, result->first_step + 1),
                 leat_words_count(b, result->last_step), result->images_per_second);
    write_score(cli, result);
    leat_out(cli, "state   %s\n", result->state);
    leat_out(cli, "run     ");
    leat_out_name(cli, run);
    leat_out(cli, ": report.html, samples/, checkpoints/\n");
    leat_out(cli, "time    %s, peak memory %s\n", leat_words_seconds(a, result->seconds),
             leat_words_bytes(b, result->memory_peak_bytes));
}

void leat_train_json_result(leat_json *json, const char *run, const leat_train_result *result) {
    leat_json_member_string(json, "run", run);
    leat_json_member_int(json, "first_step", result->first_step);
    leat_json_member_int(json, "last_step", result->last_step);
    leat_json_member_string(json, "run_hash", result->run);
    leat_json_member_string(json, "state", result->state);
    leat_json_member_string(json, "checkpoint", result->checkpoint);
    leat_json_member_known(json, "score", result->score);
    leat_json_member_known(json, "score_untrained", result->score_untrained);
    leat_json_member_known(json, "score_halves", result->score_halves);
    leat_json_member_known(json, "deviation", result->deviation);
    leat_json_member_double(json, "images_per_second", result->images_per_second);
    leat_json_member_int(json, "memory_peak_bytes", result->memory_peak_bytes);
    leat_json_member_double(json, "seconds", result->seconds);
}
