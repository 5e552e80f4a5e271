/*
 * A trained detector, opened for scoring: the weights of a checkpoint, what its run knows of the
 * data (graph_context.h), and its calibration.
 */
#ifndef LEAT_TRAIN_TASKS_GRAPHS_DETECTOR_H
#define LEAT_TRAIN_TASKS_GRAPHS_DETECTOR_H

#include "train/run/run_reader.h"
#include "train/tasks/graphs/calibration.h"
#include "train/tasks/graphs/graph_context.h"

enum { LEAT_DETECTOR_NOTE_BYTES = 400 };

typedef struct leat_detector {
    leat_run *run;
    const leat_checkpoint *checkpoint; /* of the run */
    bool best; /* of the run, by what was measured; false if a better one is lost */
    float *parameters;
    leat_graph_scoring scoring; /* refers to the above; its wants are those of the score */
    leat_graph_context *context;
    leat_window_score score;
    leat_calibration *calibration;       /* NULL before leat_detector_calibrate */
    bool reused;                         /* the calibration was found in the run's folder */
    char note[LEAT_DETECTOR_NOTE_BYTES]; /* of the checkpoint, for the user; "" */
} leat_detector;

/*
 * Opens a run by its best checkpoint, or the last if nothing was measured (step -1), or that of a
 * step. With step -1, the note says if the run has measured a better state than any that has a
 * checkpoint. LEAT_ERR_UNSUPPORTED: its model is no detector; LEAT_ERR_OPTION: no such checkpoint,
 * or the model has no such score; LEAT_ERR_NOT_FOUND: it has no checkpoint; LEAT_ERR_INPUT: a
 * weight is not finite; LEAT_ERR_CORRUPT: its detector.json is damaged, or of another cache than it
 * was trained on. `kernels` is not copied.
 */
LEAT_MUST_CHECK leat_code leat_detector_open(leat_detector **out, const char *run, int64_t step,
                                             leat_window_score score, const char *kernels,
                                             leat_error *err);
void leat_detector_close(leat_detector *detector);
/* "residual", "reference", "difficulty"; of a GAT "probability". */
const char *leat_detector_score_name(const leat_detector *detector);

/*
 * Gets the calibration from the run's folder, or makes it from the cache that the run was trained
 * on, and keeps it there if `keep` is set; the calibrations of checkpoints that are gone are
 * removed then. A damaged one, or one of other weights or of another cache, is made again.
 * with->cache NULL, or another one: LEAT_ERR_INPUT if there is none, with the command that makes
 * it. If it cannot be written, or only through a link, that is no error: it is in the note, with
 * the remedy, which is "" otherwise (NULL: for those who do not keep it).
 */
LEAT_MUST_CHECK leat_code leat_detector_calibrate(leat_detector *detector,
                                                  const leat_scoring_work *with, bool keep,
                                                  char note[LEAT_DETECTOR_NOTE_BYTES],
                                                  leat_error *err);

/* For `leat train`, at its end: makes and keeps the calibration of the best checkpoint of a run
 * that was trained with this feed, unless it is there. So detectors work right after training. The
 * note as above, and that of the checkpoint. */
LEAT_MUST_CHECK leat_code leat_detector_prepare(const char *run, const leat_feed *feed,
                                                const leat_train_options *options,
                                                leat_ticker *ticker,
                                                char note[LEAT_DETECTOR_NOTE_BYTES],
                                                leat_error *err);

#endif
