/*
 * A capture over time: which identifiers its windows hold, from its first to its last, where its
 * attacks are, and how dense its frames follow. One thread counts; its windows are visited twice,
 * first to find the most frequent identifiers, then to count those per column, so that memory does
 * not depend on the number of windows.
 */
#include <stdlib.h>
#include <string.h>

#include "base/ticker.h"
#include "load/can/summary.h"
#include "load/subset.h"

typedef struct job {
    const leat_can_cache *cache;
    leat_can_raster *raster;
    int32_t capture;
    int64_t stride, positions; /* where a window of the capture may begin */
    int64_t read_bytes_max;
    int64_t bytes; /* of its graphs, about */
    leat_ticker ticker;
    int64_t *frames; /* [vocabulary + 1] of each identifier; of those without a number in 0 */
    int *row;        /* [vocabulary + 1] of the raster; -1: among the others */
} job;

/* What is done with a window that is read. */
typedef void visit_fn(job *work, const leat_can_graph *graph, int column);

static int column_of(const job *work, int64_t window_start) {
    int64_t place = window_start < 0 ? 0 : window_start / work->stride;
    if (place >= work->positions) place = work->positions - 1;
    return (int)(place * work->raster->column_count / work->positions);
}

/* ---- labels --------------------------------------------------------------------------------- */

static void make_columns(job *work) {
    leat_can_raster *raster = work->raster;
    int64_t places = work->positions;
    int count = LEAT_CAN_RASTER_COLUMNS;
    if (places < count) count = (int)places;
    raster->column_count = count;
    for (int i = 0; i < count; i++) {
        raster->columns[i].first = (i * places + count - 1) / count * work->stride;
        raster->columns[i].end = ((i + 1) * places + count - 1) / count * work->stride;
    }
}

static leat_code count_labels(job *work, leat_error *err) {
    leat_can_raster *raster = work->raster;
    leat_can_facts cache;
    leat_can_cache_get_facts(work->cache, &cache);
    for (int i = 0; i < cache.split_count; i++) {
        const leat_graph_file *file = NULL;
        leat_can_split split;
        int64_t here = 0;
        LEAT_TRY(leat_can_cache_get_split(work->cache, i, &split, err));
        LEAT_TRY(leat_can_cache_file(work->cache, split.name, &file, err));
        for (int64_t g = 0; g < split.graph_count; g++) {
            leat_can_graph_facts facts;
            LEAT_TRY(leat_graph_file_facts_of(file, g, &facts, err));
            if (facts.capture != work->capture) continue;
            int column = column_of(work, facts.window_start);
            raster->columns[column].windows[leat_can_label_of(&facts)]++;
            here++;
        }
        raster->windows += here;
        if (here > 0) work->bytes += split.file_bytes / split.graph_count * here;
    }
    return LEAT_OK;
}

/* ---- windows -------------------------------------------------------------------------------- */

/* `number`: of the capture's windows so far. */
static leat_code visit_split(job *work, const char *split, int64_t *number, visit_fn *visit,
                             leat_error *err) {
    leat_can_reader *reader = NULL;
    leat_can_split of;
    LEAT_TRY(leat_can_cache_find_split(work->cache, split, &of, err));
    leat_code code = leat_can_reader_create(&reader, work->cache, split, LEAT_SCALE_NONE, err);
    for (int64_t g = 0; g < of.graph_count && code == LEAT_OK; g++) {
        leat_can_graph_facts facts;
        leat_can_graph graph;
        code = leat_can_reader_facts(reader, g, &facts, err);
        if (code != LEAT_OK || facts.capture != work->capture) continue;
        if (!leat_subset_has((*number)++, work->read_bytes_max, work->bytes)) continue;
        code = leat_can_reader_graph(reader, g, &graph, err);
        if (code != LEAT_OK) continue;
        visit(work, &graph, column_of(work, facts.window_start));
        code = leat_ticker_step(&work->ticker, 1, err);
    }
    leat_can_reader_destroy(reader);
    return code;
}

static leat_code visit_windows(job *work, visit_fn *visit, leat_error *err) {
    leat_can_facts cache;
    int64_t number = 0;
    leat_can_cache_get_facts(work->cache, &cache);
    for (int i = 0; i < cache.split_count; i++) {
        leat_can_split split;
        LEAT_TRY(leat_can_cache_get_split(work->cache, i, &split, err));
        LEAT_TRY(visit_split(work, split.name, &number, visit, err));
    }
    return LEAT_OK;
}

static void count_identifiers(job *work, const leat_can_graph *graph, int column) {
    (void)column;
    for (int64_t i = 0; i < graph->facts.node_count; i++)
        work->frames[graph->node_id[i]] += leat_can_node_frames(graph, i);
}

static void count_cells(job *work, const leat_can_graph *graph, int column) {
    leat_can_raster *raster = work->raster;
    leat_can_raster_column *at = &raster->columns[column];
    for (int64_t i = 0; i < graph->facts.node_count; i++) {
        int row = work->row[graph->node_id[i]];
        leat_can_raster_row *of = row < 0 ? &raster->others : &raster->rows[row];
        int64_t frames = leat_can_node_frames(graph, i);
        of->cell[column] += frames;
        of->frames += frames;
    }
    for (int64_t i = 0; i < graph->facts.edge_count; i++)
        at->seconds += (double)graph->edge_attr[i * LEAT_EDGE_FEATURES + LEAT_EDGE_IAT];
    at->steps += graph->facts.edge_count;
    at->read_windows++;
    raster->read_windows++;
}

/* ---- rows ----------------------------------------------------------------------------------- */

typedef struct ranked {
    int64_t id, frames;
} ranked;

static int compare_ranks(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->frames != y->frames) return x->frames > y->frames ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static leat_code choose_rows(job *work, int64_t vocabulary, leat_error *err) {
    leat_can_raster *raster = work->raster;
    ranked *found = NULL;
    int64_t count = 0;
    LEAT_TRY(LEAT_NEW(&found, vocabulary + 1, err));
    for (int64_t id = 0; id <= vocabulary; id++) {
        work->row[id] = -1;
        if (work->frames[id] > 0) found[count++] = (ranked){id, work->frames[id]};
    }
    qsort(found, (size_t)count, sizeof *found, compare_ranks);
    for (int64_t i = 0; i < count && i < LEAT_CAN_RASTER_ROWS; i++) {
        int64_t id = found[i].id;
        work->row[id] = raster->row_count;
        raster->rows[raster->row_count++].text =
            id == 0 ? NULL : leat_can_cache_identifier(work->cache, id - 1);
    }
    raster->other_count = count - raster->row_count;
    leat_free(found);
    return LEAT_OK;
}

/* ---- times ---------------------------------------------------------------------------------- */

static void place_columns(leat_can_raster *raster) {
    leat_part_steps parts[LEAT_CAN_RASTER_COLUMNS];
    double ends[LEAT_CAN_RASTER_COLUMNS];
    for (int i = 0; i < raster->column_count; i++) {
        const leat_can_raster_column *of = &raster->columns[i];
        parts[i] = (leat_part_steps){(double)(of->end - of->first), of->steps, of->seconds};
    }
    raster->scaled = leat_part_ends(&raster->capture, parts, raster->column_count, ends);
    for (int i = 0; i < raster->column_count; i++) raster->columns[i].end_s = ends[i];
}

/* ---- all of it ------------------------------------------------------------------------------ */

static leat_code fill(job *work, leat_error *err) {
    leat_can_raster *raster = work->raster;
    leat_can_facts cache;
    leat_can_cache_get_facts(work->cache, &cache);
    LEAT_TRY(leat_can_cache_get_capture(work->cache, work->capture, &raster->capture, err));
    work->stride = cache.stride;
    /* a damaged one may claim more windows than have a place */
    work->positions = raster->capture.frames / cache.stride + 1;
    if (work->positions > raster->capture.windows) work->positions = raster->capture.windows;
    if (work->positions < 1) return LEAT_OK;
    make_columns(work);
    LEAT_TRY(count_labels(work, err));
    if (work->read_bytes_max == 0) return LEAT_OK;
    LEAT_TRY(LEAT_NEW(&work->frames, cache.vocab_count + 1, err));
    LEAT_TRY(LEAT_NEW(&work->row, cache.vocab_count + 1, err));
    leat_ticker_stage(&work->ticker, "reading a capture", "graphs", -1);
    LEAT_TRY(visit_windows(work, count_identifiers, err));
    LEAT_TRY(choose_rows(work, cache.vocab_count, err));
    LEAT_TRY(visit_windows(work, count_cells, err));
    place_columns(raster);
    return LEAT_OK;
}

leat_code leat_can_raster_create(leat_can_raster **out, const leat_can_cache *cache,
                                 int32_t capture, const leat_can_summary_options *options,
                                 leat_error *err) {
    const leat_can_summary_options chosen =
        options != NULL ? *options : leat_can_summary_options_default();
    job work = {.cache = cache, .capture = capture, .read_bytes_max = chosen.read_bytes_max};
    *out = NULL;
    LEAT_TRY(leat_can_cache_check_process(cache, err));
    LEAT_TRY(LEAT_NEW(&work.raster, 1, err));
    work.raster->scaled = -1;
    leat_ticker_create(&work.ticker, chosen.progress, chosen.progress_user);
    leat_code code = fill(&work, err);
    leat_ticker_destroy(&work.ticker);
    leat_free(work.frames);
    leat_free(work.row);
    if (code != LEAT_OK) {
        leat_can_raster_destroy(work.raster);
        return code;
    }
    *out = work.raster;
    return LEAT_OK;
}

void leat_can_raster_destroy(leat_can_raster *raster) { leat_free(raster); }
