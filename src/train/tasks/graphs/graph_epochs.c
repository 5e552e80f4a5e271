/* See graph_epochs.h. */
#include "train/tasks/graphs/graph_epochs.h"

#include "base/mem.h"
#include "base/thread.h"

/* Where an epoch begins: steps, and graphs used, before it; and how many batches it has. */
typedef struct beginning {
    int64_t step, position, batches;
} beginning;

/* An epoch that is planned, in the slot of its number. */
typedef struct slot {
    leat_graph_epoch epoch;
    bool planned;
} slot;
enum { SLOTS = 2 };

struct leat_graph_epochs {
    leat_graph_plan *plan;
    leat_graph_sizes sizes;
    leat_graph_limits largest; /* of a batch */
    int64_t step_batches, steps_most;
    pthread_mutex_t lock; /* of all that follows, and of the plan */
    slot slots[SLOTS];
    beginning *begin; /* of epochs 0 .. known; the last one has no batches yet */
    int64_t known, capacity;
};

/* ---- Planned, under the lock ---------------------------------------------------------------- */

static int64_t divide_up(int64_t count, int64_t by) {
    return count == 0 ? 0 : (count - 1) / by + 1;
}

static leat_code plan(leat_graph_epochs *self, int64_t number, const leat_graph_epoch **out,
                      leat_error *err) {
    slot *of = &self->slots[number % SLOTS];
    if (!of->planned || of->epoch.number != number) {
        of->planned = false;
        LEAT_TRY(leat_graph_plan_epoch(self->plan, number, &of->epoch, err));
        of->planned = true;
    }
    *out = &of->epoch;
    return LEAT_OK;
}

/* Where the epoch after the last known one begins. */
static leat_code learn(leat_graph_epochs *self, leat_error *err) {
    const leat_graph_epoch *epoch = NULL;
    LEAT_ASSERT(self->known <= LEAT_GRAPH_RUN_EPOCHS_MAX); /* the caller's numbers are below it */
    LEAT_TRY(LEAT_GROW(&self->begin, &self->capacity, self->known + 2, err));
    LEAT_TRY(plan(self, self->known, &epoch, err));
    /* tiers are only added: what the first epoch has, all have */
    LEAT_ASSERT(epoch->batch_count >= 1 || self->known == 0);
    beginning *last = &self->begin[self->known++];
    last->batches = epoch->batch_count;
    last[1] = (beginning){.step = last->step + divide_up(last->batches, self->step_batches),
                          .position = last->position + epoch->graph_count};
    return LEAT_OK;
}

static leat_code learn_to(leat_graph_epochs *self, int64_t number, leat_error *err) {
    while (self->known < number) LEAT_TRY(learn(self, err));
    return LEAT_OK;
}

static leat_code find(leat_graph_epochs *self, int64_t step, leat_graph_stretch *out,
                      leat_error *err) {
    while (self->begin[self->known].step <= step) LEAT_TRY(learn(self, err));
    int64_t low = 0, high = self->known - 1;
    while (low < high) {
        const int64_t middle = (low + high + 1) / 2;
        if (self->begin[middle].step <= step) low = middle;
        else high = middle - 1;
    }
    const beginning *of = &self->begin[low];
    const int64_t first = (step - of->step) * self->step_batches, left = of->batches - first;
    *out = (leat_graph_stretch){.epoch = low,
                                .first = first,
                                .count = left < self->step_batches ? left : self->step_batches};
    return LEAT_OK;
}

/* What graphs list[0 .. count - 1] hold. */
static leat_graph_contents contents_of(const leat_graph_epochs *self, const uint32_t *list,
                                       int64_t count) {
    leat_graph_contents sum = {.graphs = count};
    for (int64_t i = 0; i < count; i++) {
        sum.nodes += self->sizes.nodes[list[i]];
        sum.edges += self->sizes.edges[list[i]];
    }
    return sum;
}

/* ---- Made ----------------------------------------------------------------------------------- */

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* No epoch has fewer graphs than the first, and no batch more than the largest. */
static int64_t least_batches(const leat_graph_epochs *self, const leat_graph_epoch *first) {
    const leat_graph_limits *most = &self->largest;
    const leat_graph_contents has = contents_of(self, first->graph, first->graph_count);
    return larger(divide_up(has.graphs, most->graphs),
                  larger(divide_up(has.nodes, most->nodes), divide_up(has.edges, most->edges)));
}

static leat_code fill(leat_graph_epochs *self, leat_error *err) {
    const leat_graph_epoch *first = NULL;
    LEAT_TRY(LEAT_GROW(&self->begin, &self->capacity, 1, err));
    self->begin[0] = (beginning){0};
    LEAT_TRY(learn(self, err));
    LEAT_TRY(plan(self, 0, &first, err));
    if (first->batch_count == 0)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "no graph of the first epoch fits into a batch; raise max-nodes and "
                         "max-edges");
    self->steps_most =
        LEAT_GRAPH_RUN_EPOCHS_MAX * divide_up(least_batches(self, first), self->step_batches);
    return LEAT_OK;
}

leat_code leat_graph_epochs_create(leat_graph_epochs **out, leat_graph_plan *of,
                                   const leat_graph_sizes *sizes, int64_t step_batches,
                                   leat_error *err) {
    leat_graph_epochs *self = NULL;
    leat_graph_plan_facts facts;
    *out = NULL;
    LEAT_ASSERT(step_batches >= 1);
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->plan = of;
    self->sizes = *sizes;
    self->step_batches = step_batches;
    leat_graph_plan_get_facts(of, &facts);
    self->largest = facts.largest;
    pthread_mutex_init(&self->lock, NULL);
    const leat_code code = fill(self, err);
    if (code == LEAT_OK) *out = self;
    else leat_graph_epochs_destroy(self);
    return code;
}

void leat_graph_epochs_destroy(leat_graph_epochs *epochs) {
    if (epochs == NULL) return;
    for (int i = 0; i < SLOTS; i++) leat_graph_epoch_free(&epochs->slots[i].epoch);
    pthread_mutex_destroy(&epochs->lock);
    leat_free(epochs->begin);
    leat_free(epochs);
}

int64_t leat_graph_epochs_bytes(int64_t graphs, int64_t epochs) {
    const int64_t most = LEAT_GRAPH_RUN_EPOCHS_MAX + 2;
    const int64_t begins = epochs + 2 < most ? epochs + 2 : most;
    return (int64_t)sizeof(leat_graph_epochs) +
           SLOTS * 12 * graphs +                    /* as many batches as graphs */
           2 * begins * (int64_t)sizeof(beginning); /* twice, for what grows */
}

int64_t leat_graph_epochs_steps_most(const leat_graph_epochs *epochs) { return epochs->steps_most; }

/* ---- Asked ---------------------------------------------------------------------------------- */

leat_code leat_graph_epochs_steps(leat_graph_epochs *epochs, int64_t number, int64_t *steps,
                                  leat_error *err) {
    LEAT_ASSERT(number >= 0 && number <= LEAT_GRAPH_RUN_EPOCHS_MAX);
    pthread_mutex_lock(&epochs->lock);
    const leat_code code = learn_to(epochs, number, err);
    *steps = code == LEAT_OK ? epochs->begin[number].step : 0;
    pthread_mutex_unlock(&epochs->lock);
    return code;
}

leat_code leat_graph_epochs_find(leat_graph_epochs *epochs, int64_t step, leat_graph_stretch *out,
                                 leat_error *err) {
    *out = (leat_graph_stretch){0};
    LEAT_ASSERT(step >= 0);
    if (step > epochs->steps_most) /* a number from a database, for example */
        return leat_fail(err, LEAT_ERR_OPTION,
                         "no step %lld: a run over these graphs has at most %lld steps",
                         (long long)step + 1, (long long)epochs->steps_most);
    pthread_mutex_lock(&epochs->lock);
    const leat_code code = find(epochs, step, out, err);
    pthread_mutex_unlock(&epochs->lock);
    return code;
}

leat_code leat_graph_epochs_position(leat_graph_epochs *epochs, const leat_graph_stretch *of,
                                     int64_t *position, leat_error *err) {
    const leat_graph_epoch *epoch = NULL;
    *position = 0;
    pthread_mutex_lock(&epochs->lock);
    leat_code code = learn_to(epochs, of->epoch, err);
    if (code == LEAT_OK && of->first > 0) code = plan(epochs, of->epoch, &epoch, err);
    if (code == LEAT_OK) {
        LEAT_ASSERT(of->first == 0 || of->first < epoch->batch_count);
        *position =
            epochs->begin[of->epoch].position + (of->first > 0 ? epoch->first[of->first] : 0);
    }
    pthread_mutex_unlock(&epochs->lock);
    return code;
}

leat_code leat_graph_epochs_count(leat_graph_epochs *epochs, const leat_graph_stretch *of,
                                  leat_graph_contents *out, leat_error *err) {
    const leat_graph_epoch *epoch = NULL;
    *out = (leat_graph_contents){0};
    pthread_mutex_lock(&epochs->lock);
    const leat_code code = plan(epochs, of->epoch, &epoch, err);
    if (code == LEAT_OK) {
        LEAT_ASSERT(of->first >= 0 && of->first + of->count <= epoch->batch_count);
        const int64_t first = epoch->first[of->first], end = epoch->first[of->first + of->count];
        *out = contents_of(epochs, epoch->graph + first, end - first);
    }
    pthread_mutex_unlock(&epochs->lock);
    return code;
}

leat_code leat_graph_epochs_read(leat_graph_epochs *epochs, int64_t number, int64_t batch,
                                 int64_t *graphs, leat_graph_contents *out, leat_error *err) {
    const leat_graph_epoch *epoch = NULL;
    *out = (leat_graph_contents){0};
    pthread_mutex_lock(&epochs->lock);
    const leat_code code = plan(epochs, number, &epoch, err);
    if (code == LEAT_OK) {
        LEAT_ASSERT(batch >= 0 && batch < epoch->batch_count);
        const uint32_t *list = epoch->graph + epoch->first[batch];
        *out = contents_of(epochs, list, epoch->first[batch + 1] - epoch->first[batch]);
        LEAT_ASSERT(out->graphs <= epochs->largest.graphs);
        for (int64_t i = 0; i < out->graphs; i++) graphs[i] = list[i];
    }
    pthread_mutex_unlock(&epochs->lock);
    return code;
}
