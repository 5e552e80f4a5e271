/* Turns at the reader: see parallel_lines.h. */
#include "ingest/parallel_lines.h"

#include "base/pool.h"

/* The state of the reader; owned by the worker whose turn it is. */
typedef struct state {
    const leat_parallel_lines *turns;
    int64_t next;    /* next input to open */
    int32_t current; /* input that `lines` reads */
    int64_t block;   /* next block of that input */
    leat_lines *lines;
    int64_t bytes_before; /* of completed inputs */
} state;

/* Opens the next selected input; if there is none, `lines` stays NULL. */
static leat_code open_next(state *self, leat_error *err) {
    const leat_parallel_lines *turns = self->turns;
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

static leat_code take_turn(void *context, int worker, int64_t part, bool *more, leat_error *err) {
    state *self = context;
    const leat_parallel_lines *turns = self->turns;
    (void)part;
    for (;;) {
        if (self->lines == NULL) LEAT_TRY(open_next(self, err));
        *more = self->lines != NULL;
        if (!*more) return LEAT_OK;
        leat_line_block turn = {.input = self->current, .block = self->block, .lines = self->lines};
        leat_code code = turns->fill(turns->context, worker, &turn, err);
        self->lines = turn.lines; /* it may have closed them, or opened them again */
        if (code != LEAT_OK) return code;
        LEAT_ASSERT(self->lines != NULL || turn.ended);
        int64_t bytes = self->lines != NULL ? leat_lines_position(self->lines)
                                            : turns->inputs->items[self->current].facts.size_bytes;
        LEAT_TRY(leat_ticker_reach(turns->ticker, self->bytes_before + bytes, err));
        self->block++;
        if (turn.ended) {
            leat_lines_close(self->lines);
            self->lines = NULL;
            self->bytes_before += turns->inputs->items[self->current].facts.size_bytes;
        }
        if (turn.line_count > 0) return LEAT_OK;
    }
}

static leat_code parse(void *context, int worker, int64_t part, leat_error *err) {
    const state *self = context;
    (void)part;
    return self->turns->parse(self->turns->context, worker, err);
}

leat_code leat_parallel_lines_run(const leat_parallel_lines *turns, leat_error *err) {
    state self = {.turns = turns, .bytes_before = turns->bytes_before};
    leat_pool_job blocks = {
        .threads = turns->threads, .context = &self, .fetch = take_turn, .make = parse};
    leat_code code = leat_pool_once(&blocks, err);
    leat_lines_close(self.lines);
    return code;
}
