/*
 * Sampling by client: the rows of each probe together, and how often each probe is drawn.
 *
 * In a data set written by leat the rows of a probe are consecutive already. Third-party files have
 * them in any order, so their rows are reordered first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "load/probes/loader_plan.h"

typedef struct client_row {
    int64_t src_id, row;
} client_row;

static int by_client(const void *a, const void *b) {
    const client_row *one = a, *two = b;
    if (one->src_id != two->src_id) return one->src_id < two->src_id ? -1 : 1;
    return one->row < two->row ? -1 : one->row > two->row;
}

leat_code leat_loader_plan_order_by_client(leat_loader_plan *plan, leat_error *err) {
    client_row *rows = NULL;
    int64_t *order = NULL;
    leat_row_facts facts;
    if (plan->dataset->index != NULL) return LEAT_OK;
    LEAT_TRY(LEAT_NEW(&rows, plan->split_rows, err));
    leat_code code = LEAT_NEW(&order, plan->split_rows, err);
    for (int64_t i = 0; i < plan->split_rows && code == LEAT_OK; i++) {
        rows[i].row = leat_loader_plan_row(plan, i);
        code = leat_dataset_row(plan->dataset, rows[i].row, &facts, err);
        rows[i].src_id = facts.src_id;
    }
    if (code == LEAT_OK) {
        qsort(rows, (size_t)plan->split_rows, sizeof *rows, by_client);
        for (int64_t i = 0; i < plan->split_rows; i++) order[i] = rows[i].row;
        plan->order = order;
        order = NULL;
    }
    leat_free(order);
    leat_free(rows);
    return code;
}

/* ---- probes -------------------------------------------------------------------------------------
 */

/* What one pass over the rows finds out of each probe that has a measurement. */
typedef struct client_list {
    int64_t *first; /* anchor */
    int64_t first_capacity;
    double *weights; /* by the caller's choice; NULL: all equal */
    int64_t weight_capacity;
    int64_t count;
} client_list;

static leat_code find_weight(const leat_loader_plan *plan, int64_t src_id, double *weight,
                             leat_error *err) {
    const char *text = leat_src_table_find(plan->weights, src_id);
    *weight = 0; /* a probe that the file does not name is never drawn */
    if (text == NULL) return LEAT_OK;
    text += strspn(text, " \t");
    if (leat_decimal_parse(text, (int64_t)strlen(text), 0, weight) && *weight >= 0 &&
        *weight <= 1e300)
        return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "loader: client weights: the weight of src_id %lld is \"%.40s\"; it must be a "
                     "number of at least 0",
                     (long long)src_id, text);
}

static leat_code add_client(const leat_loader_plan *plan, client_list *list, int64_t src_id,
                            int64_t anchor, bool is_weighted, leat_error *err) {
    LEAT_TRY(LEAT_GROW(&list->first, &list->first_capacity, list->count + 2, err));
    list->first[list->count] = anchor;
    if (is_weighted) {
        LEAT_TRY(LEAT_GROW(&list->weights, &list->weight_capacity, list->count + 1, err));
        list->weights[list->count] = 0;
        if (plan->weights != NULL)
            LEAT_TRY(find_weight(plan, src_id, &list->weights[list->count], err));
    }
    list->count++;
    return LEAT_OK;
}

static leat_code list_clients(const leat_loader_plan *plan, client_list *list, bool is_weighted,
                              leat_error *err) {
    int64_t last_id = 0;
    for (int64_t i = 0; i < plan->split_rows; i++) {
        leat_row_facts facts;
        LEAT_TRY(leat_dataset_row(plan->dataset, leat_loader_plan_row(plan, i), &facts, err));
        if (facts.n_measurements == 0) continue;
        if (list->count == 0 || facts.src_id != last_id) {
            LEAT_TRY(add_client(plan, list, facts.src_id, leat_anchors_first(plan->anchors, i),
                                is_weighted, err));
        }
        if (is_weighted && plan->weights == NULL)
            list->weights[list->count - 1] += (double)facts.n_measurements;
        last_id = facts.src_id;
    }
    list->first[list->count] = leat_anchors_count(plan->anchors);
    return LEAT_OK;
}

static leat_code check_enough(const leat_loader_plan *plan, leat_error *err) {
    int64_t there = leat_clients_count(plan->clients);
    int64_t wanted =
        plan->options.clients_per_round > 0 ? plan->options.clients_per_round : plan->options.batch;
    if (there >= wanted) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "loader: by client, every row of a %s is from a different probe: %lld are "
                     "requested, but only %lld can be drawn",
                     plan->options.clients_per_round > 0 ? "round" : "batch", (long long)wanted,
                     (long long)there);
}

leat_code leat_loader_plan_find_clients(leat_loader_plan *plan, const leat_loader_options *options,
                                        leat_error *err) {
    const char *weights = options->client_weights == NULL ? "uniform" : options->client_weights;
    bool is_weighted = strcmp(weights, "uniform") != 0;
    bool is_file = is_weighted && strcmp(weights, "measurements") != 0;
    client_list list = {0};
    plan->weights_name = is_file ? NULL : is_weighted ? "measurements" : "uniform";
    if (is_file) LEAT_TRY(leat_src_table_load(&plan->weights, weights, "weight", err));
    leat_code code = list_clients(plan, &list, is_weighted, err);
    if (code == LEAT_OK) {
        code = leat_clients_create(&plan->clients, list.count, list.weights, err);
    }
    plan->client_first = list.first;
    plan->client_count = list.count;
    leat_free(list.weights);
    return code == LEAT_OK ? check_enough(plan, err) : code;
}
