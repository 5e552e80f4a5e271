/* The scores of a split as JSON, of which a curriculum is made: see leat/train_eval.h. */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "format/can_cache/can_cache.h"
#include "train/tasks/graphs/evaluation.h"

typedef struct saving {
    leat_can_cache *cache;
    leat_can_facts facts;
    leat_detector *detector;
    const leat_graph_file *file;
    const char *split;
    leat_ticker ticker;
    int64_t count;
    leat_detected out;
    char note[LEAT_EVALUATION_NOTE_BYTES];
} saving;

static leat_code put_windows(const saving *self, leat_json *json, leat_error *err) {
    for (int column = 0; column < 2; column++) {
        leat_json_key(json, column == 0 ? "capture" : "window_start");
        leat_json_begin_array(json);
        for (int64_t g = 0; g < self->count; g++) {
            leat_can_graph_facts facts;
            LEAT_TRY(leat_graph_file_facts_of(self->file, g, &facts, err));
            leat_json_int(json, column == 0 ? facts.capture : facts.window_start);
        }
        leat_json_end_array(json);
    }
    return LEAT_OK;
}

static leat_code put_document(const saving *self, leat_json *json, leat_error *err) {
    leat_json_begin_object(json);
    leat_json_member_string(json, "format", "leat.scores");
    leat_json_member_int(json, "version", 1);
    leat_json_member_string(json, "fingerprint", self->facts.fingerprint);
    leat_json_member_string(json, "split", self->split);
    leat_json_member_string(json, "model", self->detector->run->identity.model);
    leat_json_member_string(json, "score_name", leat_detector_score_name(self->detector));
    leat_json_member_string(json, "run", self->detector->run->identity.run);
    leat_json_member_int(json, "step", self->detector->checkpoint->step);
    leat_json_member_string(json, "state", self->detector->checkpoint->state);
    LEAT_TRY(put_windows(self, json, err));
    leat_json_member_doubles(json, "score", self->out.score, self->count);
    leat_json_end_object(json);
    return LEAT_OK;
}

static leat_code write_file(const saving *self, const char *path, bool replace, leat_error *err) {
    leat_json *json = NULL;
    const char *text = NULL;
    int64_t size_bytes = 0;
    LEAT_TRY(leat_json_create(&json, true, err));
    leat_code code = put_document(self, json, err);
    if (code == LEAT_OK) code = leat_json_finish(json, &text, &size_bytes, err);
    if (code == LEAT_OK)
        code = leat_file_save_output(path, text, size_bytes, LEAT_MARK_NONE, replace, err);
    leat_json_destroy(json);
    return code;
}

/* A difficulty needs nothing to be compared with. */
static leat_code score_all(saving *self, const leat_evaluation_options *options, leat_error *err) {
    const leat_scoring_work with = {self->cache, options->threads, &self->ticker};
    char note[LEAT_DETECTOR_NOTE_BYTES] = "";
    self->count = self->file->shape.graphs;
    LEAT_TRY(LEAT_NEW(&self->out.score, self->count, err));
    LEAT_TRY(LEAT_NEW(&self->out.identifier, self->count, err));
    LEAT_TRY(LEAT_NEW(&self->out.feature, self->count, err));
    if (options->score != LEAT_WINDOW_SCORE_DIFFICULTY)
        LEAT_TRY(leat_detector_calibrate(self->detector, &with, options->keep, note, err));
    if (note[0] != 0) leat_evaluation_note(self->note, "%s", note);
    return leat_evaluating_detect(self->detector, &with, self->split, &self->out, err);
}

static leat_code save(saving *self, const char *run, const char *cache,
                      const leat_evaluation_options *options, leat_error *err) {
    LEAT_TRY(leat_evaluation_check(options, err));
    LEAT_TRY(leat_can_cache_open(&self->cache, cache, err));
    leat_can_cache_get_facts(self->cache, &self->facts);
    self->split = options->split != NULL ? options->split : LEAT_CAN_SPLIT_TRAIN;
    LEAT_TRY(leat_can_cache_file(self->cache, self->split, &self->file, err));
    LEAT_TRY(leat_detector_open(&self->detector, run, options->step, options->score,
                                options->kernels, err));
    LEAT_TRY(leat_graph_context_compare(self->detector->context, self->cache, err));
    leat_evaluation_note_run(self->note, self->detector, self->facts.fingerprint);
    return score_all(self, options, err);
}

leat_code leat_evaluation_save_scores(const char *run, const char *cache,
                                      const leat_evaluation_options *options,
                                      leat_scores_output *out, leat_error *err) {
    const leat_evaluation_options defaults = leat_evaluation_options_default();
    saving self = {0};
    out->note[0] = 0;
    if (options == NULL) options = &defaults;
    LEAT_TRY(leat_file_can_save(out->path, LEAT_MARK_NONE, out->replace, err));
    leat_ticker_create(&self.ticker, options->progress, options->user);
    leat_code code = save(&self, run, cache, options, err);
    if (code == LEAT_OK) code = write_file(&self, out->path, out->replace, err);
    if (code == LEAT_OK) memcpy(out->note, self.note, sizeof self.note);
    leat_free(self.out.score);
    leat_free(self.out.identifier);
    leat_free(self.out.feature);
    leat_detector_close(self.detector);
    leat_can_cache_close(self.cache);
    leat_ticker_destroy(&self.ticker);
    return code;
}
