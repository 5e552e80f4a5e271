/*
 * Makes one sequence: finds its row, fetches its measurements, writes its six arrays.
 *
 * Room sample makes all decisions; a maker only provides what it requests: row sizes from the index
 * and measurements from the shards. Waits for memory overlap within a context
 * (format/probe/gather.c); fetching the row of the next context ahead as well has no measurable
 * effect.
 */
#include <string.h>

#include "load/probes/loader_plan.h"

struct leat_maker {
    const leat_loader_plan *plan;
    leat_row *cursor;
    leat_context *context;
    leat_row_reader reader;
    leat_measurement *points;
    leat_error cause;   /* why the current sequence could not be made */
    int64_t failed_row; /* of the data set, in the current sequence; -1: none */
    leat_explain_fn explain;
    void *explain_user;
    /* by client: the probes of a step, and of a round */
    int64_t clients_step, clients_round;
    int64_t *probes, *round_probes, *scratch;
    /* in the windowed order: what was taken, or the window of the last sequence */
    const leat_taken *taken;
    leat_block_orders orders;
    leat_window window;
};

/* ---- what room batch asks for ------------------------------------------------------------------
 */

static leat_code row_size(void *user, int64_t split_row, int64_t *n, int *ip_version,
                          leat_error *err) {
    leat_maker *maker = user;
    leat_row_facts facts;
    int64_t row = leat_loader_plan_row(maker->plan, split_row);
    leat_code code = leat_dataset_row(maker->plan->dataset, row, &facts, err);
    if (code != LEAT_OK) maker->failed_row = row;
    *n = facts.n_measurements;
    *ip_version = facts.ip_version;
    return code;
}

/* What was read of the row; NULL: nothing. */
static const leat_loaded_part *held(const leat_maker *maker, int64_t row) {
    const leat_loaded_part *part = NULL;
    if (maker->taken == NULL) return NULL;
    for (int64_t i = 0; i < maker->taken->window->block_count && part == NULL; i++)
        part = leat_loaded_find(&maker->taken->blocks[i], row);
    return part;
}

static leat_code read_points(void *user, int64_t split_row, const int64_t *index, int32_t count,
                             leat_measurement *points, leat_error *err) {
    leat_maker *maker = user;
    int64_t row = leat_loader_plan_row(maker->plan, split_row);
    leat_code code =
        leat_dataset_row_open_in(maker->plan->dataset, row, maker->cursor, held(maker, row), err);
    if (code == LEAT_OK) code = leat_row_gather(maker->cursor, index, count, points, err);
    if (code != LEAT_OK) maker->failed_row = row;
    return code;
}

static void tell(void *user, int64_t t, int64_t row, int64_t k, const leat_context *context,
                 const leat_measurement *points) {
    leat_maker *maker = user;
    if (maker->explain != NULL) maker->explain(maker->explain_user, t, row, k, context, points);
}

/* ---- made and destroyed ------------------------------------------------------------------------
 */

static leat_code make_room(leat_maker *maker, leat_error *err) {
    const leat_loader_plan *plan = maker->plan;
    const leat_loader_options *options = &plan->options;
    int32_t capacity = leat_context_capacity(plan->sample.length);
    LEAT_TRY(leat_row_create(&maker->cursor, plan->dataset, err));
    leat_row_set_io(maker->cursor, options->io, options->on_corrupt == LEAT_CORRUPT_MASK);
    LEAT_TRY(leat_context_create(&maker->context, &plan->sample, err));
    LEAT_TRY(LEAT_NEW(&maker->points, capacity, err));
    /* texts only where they decide the order of fields */
    leat_row_keep_texts(maker->cursor, plan->sample.field_order == LEAT_FIELDS_CONTENT);
    if (!options->by_client) return LEAT_OK;
    int64_t drawn =
        options->clients_per_round > options->batch ? options->clients_per_round : options->batch;
    LEAT_TRY(LEAT_NEW(&maker->probes, options->batch, err));
    LEAT_TRY(LEAT_NEW(&maker->round_probes, drawn, err));
    return LEAT_NEW(&maker->scratch, drawn, err);
}

leat_code leat_maker_create(leat_maker **out, const leat_loader_plan *plan, leat_error *err) {
    leat_maker *maker = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&maker, 1, err));
    maker->plan = plan;
    maker->clients_step = maker->clients_round = -1;
    leat_code code = make_room(maker, err);
    if (code != LEAT_OK) {
        leat_maker_destroy(maker);
        return code;
    }
    maker->reader = (leat_row_reader){.user = maker,
                                      .row_size = row_size,
                                      .points = read_points,
                                      .point = maker->points,
                                      .explain = tell};
    *out = maker;
    return LEAT_OK;
}

void leat_maker_destroy(leat_maker *maker) {
    if (maker == NULL) return;
    leat_row_destroy(maker->cursor);
    leat_context_destroy(maker->context);
    leat_free(maker->points);
    leat_free(maker->probes);
    leat_free(maker->round_probes);
    leat_free(maker->scratch);
    leat_block_orders_free(&maker->orders);
    leat_window_free(&maker->window);
    leat_free(maker);
}

const leat_loader_plan *leat_maker_plan(const leat_maker *maker) { return maker->plan; }

int64_t leat_maker_bytes(const leat_loader_plan *plan) {
    int64_t capacity = leat_context_capacity(plan->sample.length);
    int64_t per_point = (int64_t)sizeof(leat_measurement) + 64; /* and what a context holds of it */
    if (plan->sample.field_order == LEAT_FIELDS_CONTENT) per_point += LEAT_PROBE_TEXTS_BYTES;
    int64_t bytes = (INT64_C(128) << 10) + capacity * per_point;
    if (plan->options.by_client)
        bytes += 8 * (plan->options.batch + 2 * plan->options.clients_per_round + 2);
    return bytes;
}

void leat_maker_listen(leat_maker *maker, leat_explain_fn explain, void *user) {
    maker->explain = explain;
    maker->explain_user = user;
}

/* ---- where a sequence comes from --------------------------------------------------------------
 */

/* The probes of the step, once a step. */
static leat_code draw_clients(leat_maker *maker, int64_t step, leat_error *err) {
    const leat_loader_plan *plan = maker->plan;
    const leat_loader_options *options = &plan->options;
    uint64_t seed = plan->sample.seed;
    const leat_clients_drawn rows = {(int32_t)options->batch, maker->probes, maker->scratch};
    const leat_clients_drawn clients = {(int32_t)options->clients_per_round, maker->round_probes,
                                        maker->scratch};
    if (maker->clients_step == step) return LEAT_OK;
    maker->clients_step = -1;
    if (clients.count == 0) {
        LEAT_TRY(leat_clients_batch(plan->clients, seed, step, &rows, err));
        maker->clients_step = step;
        return LEAT_OK;
    }
    int64_t round = step / options->steps_per_round;
    if (maker->clients_round != round) {
        maker->clients_round = -1;
        LEAT_TRY(leat_clients_round(plan->clients, seed, round, &clients, err));
        maker->clients_round = round;
    }
    LEAT_TRY(leat_clients_round_batch(seed, step, &clients, &rows, err));
    maker->clients_step = step;
    return LEAT_OK;
}

static leat_code find_window(leat_maker *maker, leat_origin *origin, leat_error *err) {
    const leat_loader_plan *plan = maker->plan;
    const leat_window *window = &maker->window;
    int64_t place = 0;
    if (maker->taken != NULL) {
        window = maker->taken->window;
        place = maker->taken->place;
    } else {
        LEAT_TRY(leat_blocks_window(plan->blocks, &maker->orders, origin->sequence, &maker->window,
                                    &place, err));
    }
    origin->source = leat_source_of_window(window, place, origin->sequence % plan->epoch_sequences);
    return LEAT_OK;
}

bool leat_loader_plan_is_past_end(const leat_loader_plan *plan, int64_t step, int64_t batch_row) {
    return step * plan->options.batch + batch_row >= plan->sequence_count;
}

leat_code leat_maker_find(leat_maker *maker, int64_t step, int64_t batch_row, leat_origin *origin,
                          leat_error *err) {
    const leat_loader_plan *plan = maker->plan;
    uint64_t seed = plan->sample.seed;
    *origin = (leat_origin){.step = step, .batch_row = batch_row, .client = -1};
    origin->sequence = step * plan->options.batch + batch_row;
    if (plan->clients != NULL) {
        LEAT_TRY(draw_clients(maker, step, err));
        int64_t client = maker->probes[batch_row];
        int64_t first = plan->client_first[client];
        origin->client = client;
        origin->source = leat_source_of_client(seed, first, plan->client_first[client + 1] - first,
                                               step, batch_row);
        return LEAT_OK;
    }
    origin->is_past_end = leat_loader_plan_is_past_end(plan, step, batch_row);
    if (origin->is_past_end) return LEAT_OK;
    if (plan->blocks != NULL) return find_window(maker, origin, err);
    origin->source = leat_source_of_epoch(seed, plan->epoch_sequences, origin->sequence);
    return LEAT_OK;
}

void leat_maker_take(leat_maker *maker, const leat_taken *taken) {
    maker->taken = taken;
    leat_row_close(maker->cursor); /* what it has open may be in another window */
}

/* ---- made ---------------------------------------------------------------------------------------
 */

static leat_sequence sequence_on(const leat_loader_plan *plan, const leat_arrays *arrays) {
    return (leat_sequence){
        .inputs = arrays->inputs,
        .targets = arrays->targets,
        .inputs_position = arrays->inputs_position,
        .targets_position = arrays->targets_position,
        .inputs_segmentation = arrays->inputs_segmentation,
        .targets_segmentation = arrays->targets_segmentation,
        .length = plan->sample.length,
        .boundary = plan->sample.boundary,
    };
}

const char *leat_maker_reason(const leat_maker *maker) { return maker->cause.message; }

/* LEAT_OK if the sequence is to be zeros because bytes that it requires are damaged. */
static leat_code judge(leat_maker *maker, leat_code code, leat_made *made, leat_error *err) {
    const leat_loader_plan *plan = maker->plan;
    bool is_damage = code == LEAT_ERR_CORRUPT || code == LEAT_ERR_INPUT;
    if (!is_damage || plan->options.on_corrupt != LEAT_CORRUPT_MASK || maker->failed_row < 0)
        return leat_error_copy(err, &maker->cause);
    made->is_masked = true;
    return leat_quarantine_add(plan->quarantine, plan->dataset, maker->failed_row, &maker->cause,
                               err);
}

leat_code leat_maker_make(leat_maker *maker, int64_t step, int64_t batch_row,
                          const leat_arrays *arrays, leat_made *made, leat_error *err) {
    const leat_loader_plan *plan = maker->plan;
    leat_sequence sequence = sequence_on(plan, arrays);
    leat_origin origin;
    leat_error *cause = &maker->cause;
    *made = (leat_made){0};
    *cause = (leat_error){0};
    maker->failed_row = -1;
    leat_sequence_begin(&sequence);
    leat_code code = leat_maker_find(maker, step, batch_row, &origin, cause);
    if (code != LEAT_OK || origin.is_past_end) {
        leat_sequence_finish(&sequence);
        made->is_past_end = code == LEAT_OK;
        return code == LEAT_OK ? code : leat_error_copy(err, cause);
    }
    code = leat_sequence_make(&sequence, &origin.source, plan->anchors, maker->context,
                              &maker->reader, cause);
    if (code == LEAT_OK) {
        made->tokens = sequence.used;
        made->segments = sequence.segments;
        made->measurements = sequence.kept;
        made->dropped = sequence.drawn - sequence.kept;
        return LEAT_OK;
    }
    code = judge(maker, code, made, err);
    if (code == LEAT_OK) return code;
    return leat_error_context(err, code, "step %lld, row %lld", (long long)step,
                              (long long)batch_row);
}
