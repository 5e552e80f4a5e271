/*
 * What the units of a run are made of: a feed opens data, cuts every step into units, says what
 * each unit has and weighs, and makes its micro-batches. All of it is a pure function of the data,
 * the options and (step, unit), so that every machine that computes, adds or checks a unit agrees
 * about it without asking. Steps and units count from 0. What comes after the last step is asked,
 * too (how many samples were used before it), so step steps_most has units and places like others.
 *
 * After leat_feed_plan, any number of threads may use a feed at once.
 */
#ifndef LEAT_TRAIN_STEP_FEED_H
#define LEAT_TRAIN_STEP_FEED_H

#include "base/error.h"
#include "base/mem.h"
#include "leat/train.h"

/* Of a run's samples, each as often as it is used: below it, no position overflows. */
#define LEAT_TRAIN_POSITIONS_MAX (INT64_C(1) << 60)

/* Samples of one size by number, read by any number of threads at once. */
typedef struct leat_samples {
    int64_t count;
    const char *fingerprint; /* which data it is: 64 hexadecimal digits */
    int64_t sample_bytes;
    leat_code (*read)(const void *context, int64_t index, uint8_t *out, leat_error *err);
    const void *context;
} leat_samples;

/* What a unit has. */
typedef struct leat_unit_place {
    int64_t epoch;        /* of its first sample */
    int64_t first, count; /* of the epoch, what the feed counts: samples, planned batches; the first
                             is 0 */
    int64_t batches;      /* micro-batches, at least 1 */
    int64_t position;     /* samples that the units before it have used, in all epochs */
} leat_unit_place;

typedef struct leat_feed leat_feed;

typedef struct leat_feed_class {
    const char *one, *many; /* samples in words: "graph", "graphs" */
    int32_t sample_size;    /* what leat_run_facts says of it; 0: nothing */
    const char *batch;      /* kind of its micro-batches (nn/micro_batch.h) */
    /* Set the members of *feed, all 0 but the class, that leat_feed says. LEAT_ERR_INPUT: `path`
     * holds data of another kind, which the message names. */
    leat_code (*open)(leat_feed *feed, const char *path, leat_error *err);
    /* The same of samples from elsewhere, which must outlive it; NULL, or no `numbers`: there is no
     * such feed. */
    leat_code (*open_samples)(leat_feed *feed, const leat_samples *samples, leat_error *err);
    /* Whenever there is a feed->self, also one that an open which failed has left. */
    void (*close)(void *self);
    /* Sets those of a row's settings (run/task.h) that the data decide and that are 0, "not set":
     * the size of a vocabulary, for example. It leaves the others as they are; whether they fit the
     * data is for `plan` to say. Called once, when the data of a run are opened to train it: from
     * then on they are numbers among its settings, which those have who open the run without its
     * data, or compute its units elsewhere. NULL: the data decide none. */
    leat_code (*settle)(const leat_feed *feed, const leat_train_options *options, void *settings,
                        leat_error *err);
    /* Fixes what the options say, of which `settings` are the row's, once, and sets the members
     * that leat_feed says. LEAT_ERR_OPTION, LEAT_ERR_INPUT: they do not fit together, or the data;
     * or a setting that `settle` sets is 0. */
    leat_code (*plan)(leat_feed *feed, const leat_train_options *options, leat_error *err);
    /* Steps of the run: options->steps, or those of options->epochs; one of the two is set, the
     * other 0. LEAT_ERR_OPTION: too many to count; those above steps_most are refused anyway. */
    leat_code (*steps)(const leat_feed *feed, const leat_train_options *options, int64_t *steps,
                       leat_error *err);
    leat_code (*units)(const leat_feed *feed, int64_t step, int64_t *units, leat_error *err);
    leat_code (*place)(const leat_feed *feed, int64_t step, int64_t unit, leat_unit_place *out,
                       leat_error *err);
    leat_code (*weight)(const leat_feed *feed, const leat_unit_place *place, double *weight,
                        leat_error *err);
    /* Makes micro-batch `index` of the place, of the class's kind, at `batch`: batch_bytes, aligned
     * for any type. */
    leat_code (*make)(const leat_feed *feed, const leat_unit_place *place, int64_t index,
                      void *batch, leat_error *err);
    /* Numbers of the samples that a unit uses, samples_most at most, also more than once. NULL: its
     * samples cannot be sent one by one. */
    leat_code (*numbers)(const leat_feed *feed, const leat_unit_place *place, int64_t *numbers,
                         int64_t *count, leat_error *err);
    /* Writes what else a run keeps of the data into its folder, or checks that what is there is of
     * these data: LEAT_ERR_OPTION, LEAT_ERR_CORRUPT. Once the run is one. NULL: nothing. */
    leat_code (*keep)(const leat_feed *feed, const char *run, leat_error *err);
    /* Appends a list of the samples; in what the data differ from those with such a list, which may
     * come from anywhere, in words for the owner of the data. LEAT_ERR_CORRUPT,
     * LEAT_ERR_UNSUPPORTED: it is no such list. NULL: it cannot tell. */
    leat_code (*list)(const leat_feed *feed, leat_buf *list, leat_error *err);
#define LEAT_FEED_WORDS_BYTES 1024
    leat_code (*difference)(const leat_feed *feed, const uint8_t *list, int64_t list_bytes,
                            char words[LEAT_FEED_WORDS_BYTES], leat_error *err);
} leat_feed_class;

#define LEAT_FEED_NOTE_BYTES 320
struct leat_feed {
    const leat_feed_class *class;
    void *self;
    /* Of the data. */
    int64_t count;               /* samples; an epoch uses each once */
    const char *fingerprint;     /* 64 hexadecimal digits */
    int64_t mapped_bytes;        /* of files that a run maps; 0: not counted */
    const leat_samples *samples; /* NULL: it has none of one size */
    /* Since leat_feed_plan: steps that a run can have, and the most of any step or unit
     * (samples_most only with `numbers`). */
    int64_t steps_most, units_most, batches_most, samples_most, batch_bytes;
    /* Samples of every unit, and then every step has units_most; 0: units or steps differ. */
    int64_t unit_samples;
    /* Fewer samples than a micro-batch of the options has: it has some more than once. */
    bool repeats;
    int64_t bytes; /* of memory that it takes at most, besides batches and mapped files */
    char note[LEAT_FEED_NOTE_BYTES]; /* what the user should know of the plan; "" */
    bool planned;
    int64_t end; /* steps of the run, once leat_feed_end was called; 0: not known */
};

/* Whatever they return, leat_feed_close frees the feed. */
LEAT_MUST_CHECK leat_code leat_feed_open(leat_feed *feed, const leat_feed_class *class,
                                         const char *path, leat_error *err);
LEAT_MUST_CHECK leat_code leat_feed_open_samples(leat_feed *feed, const leat_feed_class *class,
                                                 const leat_samples *samples, leat_error *err);
/* Also of one that was never opened, all 0. */
void leat_feed_close(leat_feed *feed);
/* Before leat_feed_plan, where a run is trained: leat_feed_class.settle; `settings` are of the row,
 * and no others than options->settings. */
LEAT_MUST_CHECK leat_code leat_feed_settle(const leat_feed *feed, const leat_train_options *options,
                                           void *settings, leat_error *err);
LEAT_MUST_CHECK leat_code leat_feed_plan(leat_feed *feed, const leat_train_options *options,
                                         leat_error *err);

/* The functions of the class, with their results checked: a unit that has nothing, or is larger
 * than the feed said, is a broken feed. */
/* LEAT_ERR_OPTION: neither steps nor epochs are set, or both, or too many. */
LEAT_MUST_CHECK leat_code leat_feed_steps(const leat_feed *feed, const leat_train_options *options,
                                          int64_t *steps, leat_error *err);
/* From now on no step after the one that follows the last of `steps` is asked: LEAT_ERR_OPTION. It
 * would be found by planning all epochs before it. */
void leat_feed_end(leat_feed *feed, int64_t steps);
LEAT_MUST_CHECK leat_code leat_feed_units(const leat_feed *feed, int64_t step, int64_t *units,
                                          leat_error *err);
LEAT_MUST_CHECK leat_code leat_feed_place(const leat_feed *feed, int64_t step, int64_t unit,
                                          leat_unit_place *out, leat_error *err);
LEAT_MUST_CHECK leat_code leat_feed_weight(const leat_feed *feed, const leat_unit_place *place,
                                           double *weight, leat_error *err);
/* Samples that all steps before `step` use. */
LEAT_MUST_CHECK leat_code leat_feed_position(const leat_feed *feed, int64_t step, int64_t *position,
                                             leat_error *err);

#endif
