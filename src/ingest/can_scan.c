/*
 * Vehicle logs read by several threads, in turns (turns.h). A turn copies whole lines as they stand
 * and does no more with them than it must in order: the first lines of a file say what its format
 * is, and the interfaces of a candump log get their numbers as they appear. Parting lines and
 * parsing them is left to the worker, which has the reader's lock no longer.
 */
#include <stdatomic.h>
#include <string.h>

#include "ingest/can_lines.h"
#include "ingest/turns.h"
#include "ingest/values.h"

#define BLOCK_BYTES (INT64_C(256) << 10)
#define TEXT_BYTES (BLOCK_BYTES + LEAT_LINE_RUN_ROOM)

/* A file with more malformed lines than that, of either kind, is refused. */
#define MALFORMED_MIN INT64_C(100)
#define MALFORMED_SHARE INT64_C(100) /* one in so many */

/* A worker's block, and what it makes of it. */
typedef struct can_block {
    int32_t file_index;
    int64_t number; /* in its file */
    leat_line_run run;
    int64_t skip_bytes; /* header and blank lines in front */
    leat_can_layout layout;
    char *text; /* TEXT_BYTES */
    leat_buf reject;
    leat_can_file found; /* in this block */
    leat_can_line lines[LEAT_CAN_BLOCK_LINES];
} can_block;

typedef struct can_scan {
    const leat_input_list *inputs;
    const leat_can_scan_options *options;
    leat_reporter reporter;
    atomic_int_least64_t lines; /* so far */
    /* Of the file that is being read; whose turn it is has them. */
    leat_can_layout layout;
    bool told;
    pthread_mutex_t lock; /* for the files */
    leat_can_file *files;
    can_block **blocks;
} can_scan;

/* ---- a turn ---- */

static leat_code open_file(void *context, int32_t input, leat_lines **lines, leat_error *err) {
    can_scan *self = context;
    const leat_input *item = &self->inputs->items[input];
    leat_lines_options reading = {.gzip = item->gzip};
    self->told = false;
    return leat_lines_open(lines, item->path, &reading, err);
}

/* Once a file, when its first line is there. */
static leat_code tell_format(can_scan *self, can_block *block, leat_error *err) {
    const leat_can_scan_options *options = self->options;
    leat_can_format looks;
    LEAT_TRY(leat_can_detect(block->text, block->run.size_bytes,
                             self->inputs->items[block->file_index].path, options->format,
                             &options->lines, &self->layout, &looks, &block->skip_bytes,
                             &self->told, err));
    if (!self->told) return LEAT_OK;
    pthread_mutex_lock(&self->lock);
    leat_can_file *file = &self->files[block->file_index];
    file->format = self->layout.format;
    file->labelled = self->layout.labelled;
    file->looks = looks;
    pthread_mutex_unlock(&self->lock);
    return LEAT_OK;
}

static leat_code fill_block(void *context, int worker, leat_turn *turn, leat_error *err) {
    can_scan *self = context;
    can_block *block = self->blocks[worker];
    block->file_index = turn->input;
    block->number = turn->block;
    block->skip_bytes = 0;
    LEAT_TRY(leat_lines_take(turn->lines, block->text, BLOCK_BYTES, LEAT_CAN_BLOCK_LINES,
                             &block->run, err));
    turn->line_count = block->run.line_count;
    turn->ended = block->run.line_count == 0;
    if (turn->ended) return LEAT_OK;
    if (!self->told) LEAT_TRY(tell_format(self, block, err));
    leat_can_note_buses(&self->layout, block->text, block->run.size_bytes);
    block->layout = self->layout;
    return LEAT_OK;
}

static leat_code tell_progress(void *context, int64_t bytes_done, leat_error *err) {
    can_scan *self = context;
    return leat_reporter_tell(&self->reporter, bytes_done, atomic_load(&self->lines), err);
}

/* ---- lines to frames ---- */

static leat_code set_aside(can_scan *self, int worker, int64_t number, leat_can_reject reason,
                           leat_text text, leat_error *err) {
    can_block *block = self->blocks[worker];
    leat_can_file *found = &block->found;
    found->rejected[reason]++;
    if (reason <= LEAT_CAN_MALFORMED_LAST && found->first_malformed == 0) {
        found->first_malformed = number;
    }
    if (self->options->rejects == NULL) return LEAT_OK;
    block->reject.size = 0;
    LEAT_TRY(
        leat_csv_append(&block->reject, text.data, text.size_bytes, LEAT_REJECT_TEXT_BYTES, err));
    leat_reject_row row = {block->file_index, number, (int)reason, (const char *)block->reject.data,
                           block->reject.size};
    return leat_reject_log_add(self->options->rejects, worker, &row, err);
}

/* Parts the block's text into lines and parses them. */
static leat_code parse_lines(can_scan *self, int worker, leat_error *err) {
    can_block *block = self->blocks[worker];
    leat_can_file *found = &block->found;
    const char *at = block->text, *end = at + block->run.size_bytes;
    const char *begin = at + block->skip_bytes; /* of the frames */
    for (int64_t number = block->run.number; at < end; number++) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed != NULL ? feed : end;
        leat_text text = {at, (int32_t)(stop - at)};
        at = stop + 1;
        if (text.size_bytes > 0 && stop[-1] == '\r') text.size_bytes--;
        if (text.size_bytes == 0 || text.data < begin) continue;
        found->lines++;
        leat_can_reject reason = LEAT_CAN_REJECT_LINE; /* a line that is cut is none */
        if (block->run.fault == LEAT_LINE_GOOD) {
            reason = leat_can_parse_line(&block->layout, &self->options->lines, text.data,
                                         text.size_bytes, &block->lines[found->frames]);
        }
        if (reason == LEAT_CAN_TAKEN) found->frames++;
        else LEAT_TRY(set_aside(self, worker, number, reason, text, err));
    }
    return LEAT_OK;
}

static void add_found(can_scan *self, const can_block *block) {
    const leat_can_file *found = &block->found;
    pthread_mutex_lock(&self->lock);
    leat_can_file *file = &self->files[block->file_index];
    file->lines += found->lines;
    file->frames += found->frames;
    for (int i = 0; i < LEAT_CAN_REJECT_COUNT; i++) file->rejected[i] += found->rejected[i];
    int64_t first = found->first_malformed;
    if (first > 0 && (file->first_malformed == 0 || first < file->first_malformed)) {
        file->first_malformed = first;
    }
    pthread_mutex_unlock(&self->lock);
}

static leat_code parse_block(void *context, int worker, leat_error *err) {
    can_scan *self = context;
    can_block *block = self->blocks[worker];
    block->found = (leat_can_file){0};
    LEAT_TRY(parse_lines(self, worker, err));
    add_found(self, block);
    atomic_fetch_add(&self->lines, block->found.lines);
    leat_can_batch batch = {.file_index = block->file_index,
                            .block = block->number,
                            .count = block->found.frames,
                            .lines = block->lines};
    return self->options->batch(self->options->batch_context, worker, &batch, err);
}

/* ---- the files ---- */

/* A few bad lines are the log's, many are the wrong format. */
static leat_code check_file(const leat_input *input, const leat_can_file *file, leat_error *err) {
    int64_t malformed = 0;
    int most = 0;
    for (int i = 0; i <= LEAT_CAN_MALFORMED_LAST; i++) {
        malformed += file->rejected[i];
        if (file->rejected[i] > file->rejected[most]) most = i;
    }
    if (malformed < MALFORMED_MIN || malformed <= file->lines / MALFORMED_SHARE) return LEAT_OK;
    const char *looks = leat_can_format_name(file->looks);
    bool other = file->looks != file->format && file->looks != LEAT_CAN_AUTO;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\": %lld of its %lld lines are malformed %s (most of them "
                     "%s; the first is line %lld); the file looks like %s%s%s",
                     input->path, (long long)malformed, (long long)file->lines,
                     leat_can_format_name(file->format), leat_can_rejects.reasons[most],
                     (long long)file->first_malformed, looks, other ? ": pass --format " : "",
                     other ? looks : ", damaged or with something else in it");
}

static void free_block(can_block *block) {
    if (block == NULL) return;
    leat_block_free(block->text, TEXT_BYTES);
    leat_buf_free(&block->reject);
    leat_block_free(block, sizeof *block);
}

static leat_code make_block(can_block **out, leat_error *err) {
    LEAT_TRY(leat_block_alloc((void **)out, sizeof **out, err));
    return leat_block_alloc((void **)&(*out)->text, TEXT_BYTES, err);
}

static leat_code run(can_scan *self, leat_error *err) {
    int threads = self->options->threads;
    leat_code code = LEAT_NEW(&self->blocks, threads, err);
    for (int i = 0; i < threads && code == LEAT_OK; i++) code = make_block(&self->blocks[i], err);
    if (code == LEAT_OK) {
        leat_turns turns = {.inputs = self->inputs,
                            .threads = threads,
                            .context = self,
                            .open = open_file,
                            .fill = fill_block,
                            .report = tell_progress,
                            .parse = parse_block};
        code = leat_turns_run(&turns, err);
    }
    for (int i = 0; i < threads && self->blocks != NULL; i++) free_block(self->blocks[i]);
    leat_free(self->blocks);
    for (int64_t i = 0; i < self->inputs->count && code == LEAT_OK; i++) {
        code = check_file(&self->inputs->items[i], &self->files[i], err);
    }
    return code;
}

leat_code leat_can_scan(const leat_input_list *inputs, const leat_can_scan_options *options,
                        leat_can_file *files, leat_error *err) {
    LEAT_ASSERT(options->threads >= 1);
    memset(files, 0, (size_t)inputs->count * sizeof *files);
    can_scan *self = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->inputs = inputs;
    self->options = options;
    self->files = files;
    leat_reporter_init(&self->reporter, options->progress, options->progress_context);
    pthread_mutex_init(&self->lock, NULL);
    leat_code code = run(self, err);
    if (code != LEAT_OK) memset(files, 0, (size_t)inputs->count * sizeof *files);
    pthread_mutex_destroy(&self->lock);
    leat_reporter_destroy(&self->reporter);
    leat_free(self);
    return code;
}

int64_t leat_can_scan_memory(int threads) {
    int64_t block = (int64_t)sizeof(can_block) + TEXT_BYTES + 4 * LEAT_REJECT_TEXT_BYTES;
    return LEAT_LINES_MEMORY_BYTES + threads * block;
}
