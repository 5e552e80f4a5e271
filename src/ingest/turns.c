/* Turns at the reader: see turns.h. */
#include "ingest/turns.h"

#include <pthread.h>

#include "base/thread.h"

typedef struct state {
    const leat_turns *turns;
    pthread_mutex_t lock; /* for all below */
    int64_t next;         /* input to be opened next */
    int32_t current;      /* input that `lines` reads */
    int64_t block;        /* of it, next */
    leat_lines *lines;
    int64_t bytes_before; /* of the inputs that are done */
    bool stop;
} state;

/* Opens the next input that is wanted; without one `lines` stays NULL. */
static leat_code open_next(state *self, leat_error *err) {
    const leat_turns *turns = self->turns;
    const leat_input_list *inputs = turns->inputs;
    while (self->next < inputs->count && turns->wanted != NULL &&
           !turns->wanted(turns->context, &inputs->items[self->next])) {
        self->next++;
    }
    if (self->next == inputs->count) return LEAT_OK;
    self->current = (int32_t)self->next++;
    self->block = 0;
    return turns->open(turns->context, self->current, &self->lines, err);
}

/* One turn at the reader; *done when there is no more. With the lock held. */
static leat_code take_turn(state *self, int worker, bool *done, leat_error *err) {
    const leat_turns *turns = self->turns;
    for (;;) {
        if (self->lines == NULL) LEAT_TRY(open_next(self, err));
        if (self->lines == NULL) {
            *done = true;
            return LEAT_OK;
        }
        leat_turn turn = {.input = self->current, .block = self->block, .lines = self->lines};
        LEAT_TRY(turns->fill(turns->context, worker, &turn, err));
        LEAT_TRY(turns->report(turns->context,
                               self->bytes_before + leat_lines_position(self->lines), err));
        self->block++;
        if (turn.ended) {
            leat_lines_close(self->lines);
            self->lines = NULL;
            self->bytes_before += turns->inputs->items[self->current].facts.size_bytes;
        }
        if (turn.line_count > 0) return LEAT_OK;
    }
}

static leat_code worker_main(void *context, int index, leat_error *err) {
    state *self = context;
    leat_code code = LEAT_OK;
    for (;;) {
        bool done = false;
        pthread_mutex_lock(&self->lock);
        if (self->stop) done = true;
        else if (code == LEAT_OK) code = take_turn(self, index, &done, err);
        if (code != LEAT_OK) self->stop = true;
        pthread_mutex_unlock(&self->lock);
        if (code != LEAT_OK || done) return code;
        code = self->turns->parse(self->turns->context, index, err);
    }
}

leat_code leat_turns_run(const leat_turns *turns, leat_error *err) {
    state self = {.turns = turns, .bytes_before = turns->bytes_before};
    pthread_mutex_init(&self.lock, NULL);
    leat_code code = leat_threads_run(turns->threads, worker_main, &self, err);
    leat_lines_close(self.lines);
    pthread_mutex_destroy(&self.lock);
    return code;
}
