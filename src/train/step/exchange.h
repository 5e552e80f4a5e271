/*
 * What machines that train together send each other, as bytes: the weights of a step, the result of
 * a unit (payload.h), the state. One machine's trainer writes them, another one's reads them, and
 * both then have the same bits: what one machine alone computes.
 */
#ifndef LEAT_TRAIN_STEP_EXCHANGE_H
#define LEAT_TRAIN_STEP_EXCHANGE_H

#include "train/step/trainer.h"

typedef struct leat_exchange leat_exchange;

typedef struct leat_exchange_sizes {
    int64_t payload, weights, state; /* bytes of each */
} leat_exchange_sizes;

/* LEAT_ERR_OPTION: a schedule with more than one pass a step, which needs the weights in between.
 */
LEAT_MUST_CHECK leat_code leat_exchange_check(const leat_model_class *class,
                                              const leat_train_options *options, leat_error *err);
/* For a trainer, which must outlive it, of a run with these options and this hash (identity.h).
 * Fails as leat_exchange_check does. LEAT_ERR_CORRUPT: `run`, which may be what a database says, is
 * no hash. */
LEAT_MUST_CHECK leat_code leat_exchange_create(leat_exchange **out, leat_trainer *trainer,
                                               const leat_train_options *options,
                                               const char run[65], leat_error *err);
/* Bytes that it takes, and sizes of what it sends, without memory. */
LEAT_MUST_CHECK leat_code leat_exchange_measure(const leat_model_class *class,
                                                const leat_train_options *options,
                                                const leat_feed *feed, leat_exchange_sizes *sizes,
                                                int64_t *bytes, leat_error *err);
void leat_exchange_destroy(leat_exchange *exchange);
leat_exchange_sizes leat_exchange_get_sizes(const leat_exchange *exchange);

/* Encodes the trainer's weights, from which the units of its next step are computed. out:
 * sizes.weights bytes; hash: SHA-256 of them, as hexadecimal digits. */
LEAT_MUST_CHECK leat_code leat_exchange_put_weights(leat_exchange *exchange, uint8_t *out,
                                                    char hash[65], leat_error *err);
/* Forgets the units that were added since put_weights: they will be added again. */
LEAT_MUST_CHECK leat_code leat_exchange_again(leat_exchange *exchange, leat_error *err);
/* Makes these the weights of step `step`, to compute units of it. LEAT_ERR_CORRUPT: the bytes do
 * not have the hash. */
LEAT_MUST_CHECK leat_code leat_exchange_take_weights(leat_exchange *exchange, int64_t step,
                                                     const uint8_t *bytes, const char hash[65],
                                                     leat_error *err);

/* Computes a unit with the weights of put_weights or take_weights, and encodes it. out:
 * sizes.payload bytes; hash: SHA-256 of them. LEAT_ERR_CORRUPT: the step does not have the unit. */
LEAT_MUST_CHECK leat_code leat_exchange_compute(leat_exchange *exchange, int64_t unit, uint8_t *out,
                                                char hash[65], leat_error *err);
/* From any thread: while it is cancelled, computing ends early, with LEAT_ERR_CANCELLED. */
void leat_exchange_cancel(leat_exchange *exchange, bool cancelled);
/* Decodes a result of the step's weights into *of, whose arrays are the exchange's own, until the
 * next call; for leat_trainer_add. The bytes may be anything: LEAT_ERR_INPUT says what is wrong.
 * LEAT_ERR_CORRUPT: the step does not have the unit. */
LEAT_MUST_CHECK leat_code leat_exchange_read(leat_exchange *exchange, int64_t unit,
                                             const uint8_t *bytes, int64_t size_bytes,
                                             leat_unit_numbers *of, leat_error *err);
/* L2 norms of a unit: of its gradient / weight, and of its statistics. */
typedef struct leat_unit_norms {
    double gradient, statistics;
} leat_unit_norms;
void leat_exchange_measure_unit(const leat_exchange *exchange, const leat_unit_numbers *of,
                                leat_unit_norms *out);
/* Whether all numbers of a unit are finite, small enough to be squared as floats, and its norms at
 * most these (NULL: any); if not, why: "a statistic is not finite". */
#define LEAT_EXCHANGE_WORDS_BYTES 96
bool leat_exchange_is_sound(const leat_exchange *exchange, const leat_unit_numbers *of,
                            const leat_unit_norms *most, char why[LEAT_EXCHANGE_WORDS_BYTES]);

/* The state after the trainer's last step; out: sizes.state bytes. */
void leat_exchange_put_state(const leat_exchange *exchange, uint8_t *out);
/* LEAT_ERR_CORRUPT: they are not a state of this run, or do not have the hash (of
 * leat_trainer_hash); the trainer's state is then undefined. */
LEAT_MUST_CHECK leat_code leat_exchange_take_state(leat_exchange *exchange, const uint8_t *bytes,
                                                   const char hash[65], leat_error *err);

#endif
