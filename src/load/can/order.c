/*
 * Epochs, planned one ahead.
 *
 * There are two turns. While the caller takes batches of one epoch, the next is planned into the
 * other turn; when the last batch of an epoch is returned its turn is free, since no worker is on
 * its steps any more. So a step in work belongs to the newest epoch or the one before, and one
 * number, with the first step of the newest and its turn, decides which.
 */
#include "load/can/loader.h"

leat_code leat_graph_plan_again(const leat_graph_loader *loader, int64_t number,
                                leat_graph_epoch *epoch, leat_error *err) {
    leat_graph_loader *ours = (leat_graph_loader *)(uintptr_t)loader; /* for its lock */
    pthread_mutex_lock(&ours->lock);
    leat_code code = leat_graph_plan_epoch(ours->plan, number, epoch, err);
    pthread_mutex_unlock(&ours->lock);
    return code;
}

int64_t leat_graph_steps(const leat_graph_loader *loader, int64_t batch_count) {
    int64_t hosts = loader->options.host_count;
    return batch_count == 0 ? 1 : (batch_count + hosts - 1) / hosts;
}

/* Makes the turn's planned epoch visible; returns where its steps end. */
static int64_t publish(leat_graph_loader *loader, int64_t number, int64_t first_step) {
    leat_graph_turn *turn = &loader->turns[number % 2];
    turn->first_step = first_step;
    turn->step_count = leat_graph_steps(loader, turn->epoch.batch_count);
    atomic_store(&loader->newest, first_step * 2 + number % 2);
    atomic_store(&loader->planned, number);
    return first_step + turn->step_count;
}

int64_t leat_graph_turns_begin(leat_graph_loader *loader, leat_graph_epoch *epoch) {
    int64_t number = epoch->number;
    leat_graph_turn *turn = &loader->turns[number % 2];
    leat_graph_epoch_free(&turn->epoch);
    *turn = (leat_graph_turn){.epoch = *epoch};
    *epoch = (leat_graph_epoch){0};
    atomic_store(&loader->wanted, number);
    return publish(loader, number, 0);
}

void leat_graph_turns_want(leat_graph_loader *loader, int64_t number) {
    int64_t epochs = loader->options.batches.epochs;
    if (epochs > 0 && number >= epochs) return;
    atomic_store(&loader->wanted, number);
    leat_ring_announce(loader->ring);
}

static int64_t plan_next(leat_graph_loader *loader) {
    int64_t number = atomic_load(&loader->planned) + 1;
    const leat_graph_turn *before = &loader->turns[(number + 1) % 2];
    leat_graph_turn *turn = &loader->turns[number % 2];
    int64_t first_step = before->first_step + before->step_count;
    turn->failure.code = LEAT_OK;
    leat_code code = leat_graph_plan_again(loader, number, &turn->epoch, &turn->failure);
    if (code != LEAT_OK) turn->epoch.batch_count = 0;
    return publish(loader, number, first_step);
}

bool leat_graph_turns_plan(leat_graph_loader *loader) {
    if (atomic_load(&loader->planned) >= atomic_load(&loader->wanted)) return false;
    if (atomic_exchange(&loader->planning, 1) != 0) return false;
    /* another thread may have planned it since */
    bool is_wanted = atomic_load(&loader->planned) < atomic_load(&loader->wanted);
    if (is_wanted) leat_ring_extend(loader->ring, plan_next(loader));
    atomic_store(&loader->planning, 0);
    return is_wanted;
}

const leat_graph_turn *leat_graph_turn_of(const leat_graph_loader *loader, int64_t step) {
    int64_t newest = atomic_load(&loader->newest);
    bool is_newest = step >= newest / 2;
    return &loader->turns[is_newest ? newest % 2 : 1 - newest % 2];
}

void leat_graph_turns_free(leat_graph_loader *loader) {
    for (int i = 0; i < 2; i++) leat_graph_epoch_free(&loader->turns[i].epoch);
}
