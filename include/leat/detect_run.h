/*
 * leat/detect_run.h: the detector of a run on a running bus: a score for each window as soon as it
 * ends, and what it is blamed on. The scores are those of leat_evaluation_create for the same
 * windows of a cache of the same log, bit for bit.
 */
#ifndef LEAT_DETECT_RUN_H
#define LEAT_DETECT_RUN_H

#include "leat/detect.h"
#include "leat/train_eval.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The bus that the run was trained on: its cache's. */
#define LEAT_WATCH_BUS_OF_RUN (-3)

typedef struct leat_watch_options {
    /* The checkpoint, the score and its threshold: step, score, threshold, target_fpr and kernels;
     * the other options do not matter. */
    leat_evaluation_options detector;
    int64_t bus; /* LEAT_WATCH_BUS_OF_RUN, or as in leat_detect_context */
    leat_live_options live;
} leat_watch_options;
LEAT_API leat_watch_options leat_watch_options_default(void);
/* The options by name, except `detector` (leat_evaluation_options_table): "bus", "stride", "from".
 */
LEAT_API const leat_setting_table *leat_watch_options_table(void);

typedef struct leat_watch_facts {
    const char *path, *model, *run; /* as in leat_run_facts */
    int64_t step;
    const char *state; /* hash of the checkpoint's state */
    const char *score; /* "residual", "reference", "difficulty", "probability" */
    leat_threshold threshold;
    int64_t window, stride;     /* frames */
    int64_t bus;                /* as in leat_detect_context */
    int64_t identifiers, timed; /* of the vocabulary; those whose mean interval is known */
    int64_t memory_bytes;       /* of windows, for one bus, and of their scores, at most */
    const char *note;           /* what the user should know of the checkpoint; "" */
} leat_watch_facts;

/* What a frame has brought. */
typedef struct leat_watched {
    leat_live_step live;      /* if it has a window: */
    bool scored;              /* false: by a number that is not finite; `why` */
    leat_alarm_window window; /* for leat_alarms_add; of one that is not scored, the score is NaN,
                                 and it does not alarm */
    const char *why;          /* "" */
} leat_watched;

typedef struct leat_watch leat_watch;

/*
 * Opens a run as an evaluation does. LEAT_ERR_INPUT: it has no calibration of its checkpoint, with
 * the command that makes it; LEAT_ERR_UNSUPPORTED: its model is not a detector, or its cache has a
 * setting that is not known, or windows that mix several buses by --captures merged; others as
 * leat_live_create.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_watch_open(leat_watch **out, const char *run,
                                                   const leat_watch_options *options,
                                                   leat_error *err);
LEAT_API void leat_watch_close(leat_watch *watch);
/* Texts are the handle's. */
LEAT_API void leat_watch_get_facts(const leat_watch *watch, leat_watch_facts *facts);
/* A setting of the cache that the run was trained on, by its name in leat_can_settings_table, for
 * those that say how lines are read; NULL: it has none. */
LEAT_API const char *leat_watch_setting(const leat_watch *watch, const char *name);
/* The text of an identifier of the vocabulary, by its index. */
LEAT_API const char *leat_watch_identifier(const leat_watch *watch, int64_t index);

/* The next frame: leat_live_add, and the score of the window that ends with it. Nothing is
 * allocated. What it brings belongs to the handle, until the next frame. */
LEAT_API LEAT_MUST_CHECK leat_code leat_watch_add(leat_watch *watch, const leat_can_frame *frame,
                                                  leat_watched *out, leat_error *err);
LEAT_API void leat_watch_count(const leat_watch *watch, leat_live_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
