/*
 * The plan of a loader: the rows of its split, their anchors, its share of the global batch, all
 * computed once and then only read.
 */
#include "load/probes/loader_plan.h"

#include <string.h>
#include <unistd.h>

#include "base/pool.h"

/* ---- rows of the split --------------------------------------------------------------------------
 */

static leat_code find_ranges(leat_loader_plan *plan, leat_error *err) {
    const leat_dataset *dataset = plan->dataset;
    LEAT_TRY(LEAT_NEW(&plan->ranges, dataset->shard_count, err));
    for (int64_t k = 0; k < dataset->shard_count; k++) {
        const leat_dataset_shard *shard = &dataset->shards[k].facts;
        bool wanted = plan->options.split == LEAT_SPLIT_NONE || shard->split == plan->options.split;
        if (!wanted || shard->row_count == 0) continue;
        const leat_row_range *last =
            plan->range_count == 0 ? NULL : &plan->ranges[plan->range_count - 1];
        if (last == NULL || last->row + (plan->split_rows - last->first) != shard->first_row) {
            plan->ranges[plan->range_count++] =
                (leat_row_range){plan->split_rows, shard->first_row};
        }
        plan->split_rows += shard->row_count;
    }
    if (plan->split_rows > 0) return LEAT_OK;
    static const char *const names[] = {"no rows in the split train", "no rows in the split test",
                                        "no rows"};
    return leat_fail(err, LEAT_ERR_OPTION,
                     "loader: the data set has %s (%lld in train, %lld in test, %lld in neither); "
                     "choose a split that has rows",
                     names[plan->options.split],
                     (long long)dataset->facts.split_rows[LEAT_SPLIT_TRAIN],
                     (long long)dataset->facts.split_rows[LEAT_SPLIT_TEST],
                     (long long)dataset->facts.split_rows[LEAT_SPLIT_NONE]);
}

int64_t leat_loader_plan_row(const leat_loader_plan *plan, int64_t split_row) {
    if (plan->order != NULL) return plan->order[split_row];
    int64_t low = 0, high = plan->range_count - 1;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (plan->ranges[middle].first <= split_row) low = middle;
        else high = middle - 1;
    }
    return plan->ranges[low].row + (split_row - plan->ranges[low].first);
}

/* ---- facts of all of them -----------------------------------------------------------------------
 */

static leat_code look_at_row(void *context, int worker, int64_t row, leat_error *err) {
    const leat_loader_plan *plan = context;
    leat_row_facts facts;
    (void)worker;
    return leat_dataset_row(plan->dataset, leat_loader_plan_row(plan, row), &facts, err);
}

/* Third-party rows must be decoded to know their facts, which is work for all threads. */
static leat_code know_rows(leat_loader_plan *plan, leat_error *err) {
    leat_pool_job job = {.parts = plan->split_rows,
                         .threads = leat_dataset_share(plan->dataset, plan->options.threads),
                         .context = plan,
                         .make = look_at_row};
    return plan->dataset->index != NULL ? LEAT_OK : leat_pool_once(&job, err);
}

static leat_code row_size(void *user, int64_t split_row, int64_t *n, int *ip_version,
                          leat_error *err) {
    leat_loader_plan *plan = user;
    leat_row_facts facts;
    LEAT_TRY(leat_dataset_row(plan->dataset, leat_loader_plan_row(plan, split_row), &facts, err));
    *n = facts.n_measurements;
    *ip_version = facts.ip_version;
    if (facts.record_bytes > plan->record_bytes_max) plan->record_bytes_max = facts.record_bytes;
    return LEAT_OK;
}

static leat_code count_sequences(leat_loader_plan *plan, leat_error *err) {
    const leat_loader_options *options = &plan->options;
    int64_t anchors = leat_anchors_count(plan->anchors);
    if (anchors == 0) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "loader: the rows of the split have no measurements");
    }
    plan->epoch_sequences = options->by_client ? -1 : anchors;
    plan->sequence_count = INT64_MAX;
    plan->step_count = -1;
    if (options->epochs == 0) return LEAT_OK;
    if (anchors > (LEAT_STEPS_MAX - 1) / options->epochs) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "loader: %lld epochs of %lld sequences are more than 2^40",
                         (long long)options->epochs, (long long)anchors);
    }
    plan->sequence_count = options->epochs * anchors;
    plan->step_count = (plan->sequence_count + options->batch - 1) / options->batch;
    return LEAT_OK;
}

/* ---- this host's share --------------------------------------------------------------------------
 */

static leat_code take_rows(leat_loader_plan *plan, const leat_loader_options *options,
                           leat_error *err) {
    int64_t share = options->batch / options->host_count;
    plan->row_count = options->rows != NULL ? options->row_count : share;
    LEAT_TRY(LEAT_NEW(&plan->rows, plan->row_count, err));
    for (int64_t i = 0; i < plan->row_count; i++) {
        plan->rows[i] = options->rows != NULL ? options->rows[i] : options->host_index * share + i;
    }
    return LEAT_OK;
}

/* ---- all together -------------------------------------------------------------------------------
 */

static leat_code check_dataset(const leat_loader_plan *plan, leat_error *err) {
    const leat_dataset *dataset = plan->dataset;
    if (dataset->process != getpid()) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "loader: the data set was opened before fork, by process %lld, whose "
                         "threads may have been using it; open it in the child",
                         (long long)dataset->process);
    }
    if (plan->options.on_corrupt == LEAT_CORRUPT_MASK && dataset->index == NULL) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "loader: on_corrupt mask requires a data set written by leat, whose index "
                         "lists the rows of a damaged file");
    }
    return LEAT_OK;
}

static leat_code fill(leat_loader_plan *plan, const leat_loader_options *options, leat_error *err) {
    LEAT_TRY(leat_loader_options_check(options, err));
    LEAT_TRY(check_dataset(plan, err));
    LEAT_TRY(take_rows(plan, options, err));
    LEAT_TRY(find_ranges(plan, err));
    LEAT_TRY(leat_loader_plan_check_chunks(plan, err));
    LEAT_TRY(know_rows(plan, err));
    if (options->by_client) LEAT_TRY(leat_loader_plan_order_by_client(plan, err));
    LEAT_TRY(
        leat_anchors_create(&plan->anchors, &plan->sample, plan->split_rows, row_size, plan, err));
    LEAT_TRY(count_sequences(plan, err));
    if (options->by_client) LEAT_TRY(leat_loader_plan_find_clients(plan, options, err));
    if (options->window_bytes > 0) LEAT_TRY(leat_blocks_create(&plan->blocks, plan, err));
    LEAT_TRY(leat_dataset_fingerprint(plan->dataset, plan->fingerprint, err));
    return leat_loader_plan_describe(plan, err);
}

leat_code leat_loader_plan_create(leat_loader_plan **out, const leat_dataset *dataset,
                                  const leat_loader_options *options, leat_error *err) {
    leat_loader_plan *plan = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&plan, 1, err));
    plan->dataset = dataset;
    plan->sample = options->sample;
    plan->options = *options;
    /* these pointers belong to the caller */
    plan->options.rows = NULL;
    plan->options.client_weights = NULL;
    leat_code code = fill(plan, options, err);
    if (code != LEAT_OK) {
        leat_loader_plan_destroy(plan);
        return code;
    }
    *out = plan;
    return LEAT_OK;
}

void leat_loader_plan_destroy(leat_loader_plan *plan) {
    if (plan == NULL) return;
    leat_anchors_destroy(plan->anchors);
    leat_clients_destroy(plan->clients);
    leat_blocks_destroy(plan->blocks);
    leat_src_table_destroy(plan->weights);
    leat_free(plan->client_first);
    leat_free(plan->ranges);
    leat_free(plan->order);
    leat_free(plan->rows);
    leat_free(plan->words);
    leat_free(plan);
}
