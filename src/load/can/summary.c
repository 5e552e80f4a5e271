/*
 * The summary of a CAN cache: labels and sizes of every graph, in order, by one thread; then
 * features and identifiers of the graphs that are read, by all threads. Sums of features are
 * computed in pieces that depend only on the cache and added up in order, so that the result does
 * not depend on threads.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/ticker.h"
#include "load/can/summary.h"
#include "load/subset.h"

enum { PIECES_MAX = 1024, GRAPHS = 256 };
enum { COLUMNS = LEAT_NODE_FEATURES + LEAT_EDGE_FEATURES };

/* Of one column, of the graphs of a piece. */
typedef struct column {
    double sum;
    float min, max;
    int64_t zeros;
} column;

typedef struct sums {
    int64_t graphs, nodes, edges, unknown_nodes;
    column columns[COLUMNS]; /* x, then edge_attr */
} sums;

typedef struct job {
    const leat_can_cache *cache;
    leat_can_summary_options options;
    leat_can_summary *summary;
    leat_ticker ticker;
    leat_window_sizes *sizes; /* of each label */
    int64_t bytes;            /* of the splits that are read */
    /* the current split */
    leat_can_summary_split *split;
    int64_t first_number; /* of its graphs, among those of all such splits */
    int64_t pieces, piece_graphs;
    sums *of_piece;
    leat_pool *pool;
    leat_can_reader **readers;       /* of the current split, one for each worker */
    leat_identifier_tally **tallies; /* of each worker */
    leat_course_tally *courses;      /* of each capture */
} job;

leat_can_summary_options leat_can_summary_options_default(void) {
    return (leat_can_summary_options){.threads = leat_cpu_count(),
                                      .read_bytes_max = INT64_C(4) << 30};
}

/* ---- labels and sizes ----------------------------------------------------------------------- */

enum { UNKNOWN = LEAT_CAN_ATTACKS_MAX, UNLABELLED };
_Static_assert((int)LEAT_CAN_SUMMARY_ATTACKS == (int)UNLABELLED + 1, "all types, and those two");

static int kind_of(const leat_can_graph_facts *facts) {
    if (facts->y < 0) return UNLABELLED;
    return facts->y > 0 && facts->attack_type == 0 ? UNKNOWN : facts->attack_type;
}

static void count_graph(leat_can_summary *summary, leat_can_summary_split *split,
                        leat_can_summary_attack attacks[LEAT_CAN_SUMMARY_ATTACKS],
                        const leat_can_graph_facts *facts, int64_t window) {
    leat_can_summary_capture *capture = &summary->captures[facts->capture];
    leat_distribution_add(&split->nodes, facts->node_count, 1);
    bool attack = facts->y > 0, unlabelled = facts->y < 0;
    split->attack_count += attack;
    split->unlabelled_count += unlabelled;
    split->benign_count += !attack && !unlabelled;
    int kind = kind_of(facts);
    attacks[kind].graphs++;
    attacks[kind].frames += facts->attack_count > 0 ? facts->attack_count : 0;
    capture->graphs++;
    capture->attack_graphs += attack;
    capture->unlabelled_graphs += unlabelled;
    if (facts->window_start < 0 || facts->window_start >= capture->facts.frames) return;
    int bin = leat_course_bin(capture, facts->window_start);
    int last = leat_course_bin(capture, facts->window_start + window - 1);
    for (; bin <= last; bin++) {
        capture->course[bin]++;
        capture->attack_course[bin] += attack;
        capture->unlabelled_course[bin] += unlabelled;
    }
}

static leat_code count_split(job *work, int index, leat_error *err) {
    leat_can_summary_split *split = &work->summary->splits[index];
    leat_can_summary_attack attacks[LEAT_CAN_SUMMARY_ATTACKS] = {{0}};
    const leat_graph_file *file = NULL;
    LEAT_TRY(leat_can_cache_file(work->cache, split->facts.name, &file, err));
    for (int64_t g = 0; g < split->facts.graph_count; g++) {
        leat_can_graph_facts facts;
        LEAT_TRY(leat_graph_file_facts_of(file, g, &facts, err));
        count_graph(work->summary, split, attacks, &facts, file->shape.window);
        leat_window_sizes_add(work->sizes, index, &facts);
        LEAT_TRY(leat_ticker_step(&work->ticker, 1, err));
    }
    for (int type = 0; type < LEAT_CAN_SUMMARY_ATTACKS; type++) {
        if (attacks[type].graphs == 0) continue;
        attacks[type].unknown = type == UNKNOWN;
        attacks[type].type = type == UNKNOWN ? 0 : type == UNLABELLED ? -1 : type;
        split->attacks[split->attack_types++] = attacks[type];
    }
    return LEAT_OK;
}

/* ---- captures and identifiers --------------------------------------------------------------- */

/* The most frequent first, then in the order of the vocabulary, where texts are neighbours. */
static int compare_ids(const void *a, const void *b) {
    const leat_can_summary_id *x = a, *y = b;
    if (x->frames != y->frames) return x->frames > y->frames ? -1 : 1;
    return (x->text > y->text) - (x->text < y->text);
}

/* frames[]: of each identifier without a number. */
static leat_code sort_unknown(const leat_can_ids *ids, const int64_t *frames,
                              leat_can_summary_split *split, leat_error *err) {
    leat_can_summary_id *found = NULL;
    LEAT_TRY(LEAT_NEW(&found, ids->count - ids->known, err));
    for (int64_t i = ids->known; i < ids->count; i++) {
        int64_t here = frames[i - ids->known];
        if (here == 0) continue;
        found[split->unknown_ids++] = (leat_can_summary_id){ids->text[i], here};
        split->unknown_frames += here;
    }
    qsort(found, (size_t)split->unknown_ids, sizeof *found, compare_ids);
    bool all = split->unknown_ids <= LEAT_CAN_SUMMARY_IDS;
    split->unknown_shown = all ? (int)split->unknown_ids : LEAT_CAN_SUMMARY_IDS;
    memcpy(split->unknown, found, (size_t)split->unknown_shown * sizeof *found);
    leat_free(found);
    return LEAT_OK;
}

/* frames[]: of each identifier without a number, all 0. */
static leat_code count_captures(const leat_can_meta *meta, const leat_can_cache *cache,
                                leat_can_summary_split *split, int64_t *frames, leat_error *err) {
    const leat_can_ids *ids = &cache->meta.ids;
    for (int64_t i = 0; i < meta->capture_count; i++) {
        const leat_can_meta_capture *capture = &meta->captures[i];
        if (strcmp(capture->split, split->facts.name) != 0) continue;
        split->captures++;
        split->tail += capture->tail;
        split->between += capture->between;
        split->dropped += capture->dropped;
        split->rejected += capture->rejected;
        for (int64_t k = 0; k < capture->interval_count; k++) {
            const leat_can_interval *it = &capture->intervals[k];
            if (it->id >= ids->known) frames[it->id - ids->known] += it->frames;
        }
    }
    return sort_unknown(ids, frames, split, err);
}

static leat_code count_identifiers(job *work, leat_error *err) {
    leat_can_summary *summary = work->summary;
    leat_can_meta meta = {0};
    int64_t *frames = NULL;
    const char *file = NULL;
    LEAT_TRY(leat_can_meta_load_all(&meta, work->cache->path, &file, err));
    int64_t unknown = work->cache->meta.ids.count - work->cache->meta.ids.known;
    leat_code code = LEAT_OK;
    if (meta.ids.count != work->cache->meta.ids.count ||
        meta.ids.known != work->cache->meta.ids.known)
        code = leat_fail(err, LEAT_ERR_CORRUPT,
                         "\"%.300s\" was replaced by another cache meanwhile", work->cache->path);
    if (code == LEAT_OK) code = LEAT_NEW(&frames, unknown, err);
    for (int i = 0; i < summary->split_count && code == LEAT_OK; i++) {
        memset(frames, 0, (size_t)unknown * sizeof *frames);
        code = count_captures(&meta, work->cache, &summary->splits[i], frames, err);
    }
    leat_free(frames);
    leat_can_meta_free(&meta);
    return code;
}

/* ---- features ------------------------------------------------------------------------------- */

static bool is_train(const leat_can_summary_split *split) {
    return strcmp(split->facts.name, LEAT_CAN_SPLIT_TRAIN) == 0;
}

static void add_rows(column *columns, int count, const float *rows, int64_t row_count, bool fresh) {
    for (int64_t i = 0; i < row_count; i++) {
        for (int k = 0; k < count; k++) {
            float value = rows[i * count + k];
            column *at = &columns[k];
            if ((fresh && i == 0) || value < at->min) at->min = value;
            if ((fresh && i == 0) || value > at->max) at->max = value;
            at->sum += (double)value;
            at->zeros += value == 0;
        }
    }
}

static leat_code read_piece(void *context, int worker, int64_t piece, leat_error *err) {
    job *work = context;
    leat_can_reader *reader = work->readers[worker];
    sums *into = &work->of_piece[piece];
    int64_t first = piece * work->piece_graphs, end = first + work->piece_graphs;
    if (end > work->split->facts.graph_count) end = work->split->facts.graph_count;
    for (int64_t g = first; g < end; g++) {
        leat_can_graph graph;
        if (!leat_subset_has(work->first_number + g, work->options.read_bytes_max, work->bytes))
            continue;
        LEAT_TRY(leat_can_reader_graph(reader, g, &graph, err));
        int64_t nodes = graph.facts.node_count, edges = graph.facts.edge_count;
        leat_identifier_tally_add(work->tallies[worker], &graph);
        leat_course_tally_add(&work->courses[graph.facts.capture],
                              &work->summary->captures[graph.facts.capture], &graph);
        for (int64_t i = 0; i < nodes; i++) into->unknown_nodes += graph.node_id[i] == 0;
        if (is_train(work->split)) {
            add_rows(into->columns, LEAT_NODE_FEATURES, graph.x, nodes, into->nodes == 0);
            add_rows(into->columns + LEAT_NODE_FEATURES, LEAT_EDGE_FEATURES, graph.edge_attr, edges,
                     into->edges == 0);
        }
        into->graphs++;
        into->nodes += nodes;
        into->edges += edges;
    }
    return leat_ticker_step(&work->ticker, end - first, err);
}

static void merge(column *to, const column *from, int count, bool fresh) {
    for (int k = 0; k < count; k++) {
        if (fresh || from[k].min < to[k].min) to[k].min = from[k].min;
        if (fresh || from[k].max > to[k].max) to[k].max = from[k].max;
        to[k].sum += from[k].sum;
        to[k].zeros += from[k].zeros;
    }
}

static void tell(leat_can_feature_facts *out, const column *columns, int count, int64_t rows) {
    for (int k = 0; k < count && rows > 0; k++) {
        out[k] = (leat_can_feature_facts){.min = (double)columns[k].min,
                                          .mean = columns[k].sum / (double)rows,
                                          .max = (double)columns[k].max,
                                          .zeros = (double)columns[k].zeros / (double)rows};
    }
}

static void add_pieces(job *work) {
    sums all = {0};
    for (int64_t i = 0; i < work->pieces; i++) {
        const sums *piece = &work->of_piece[i];
        if (piece->nodes > 0)
            merge(all.columns, piece->columns, LEAT_NODE_FEATURES, all.nodes == 0);
        if (piece->edges > 0)
            merge(all.columns + LEAT_NODE_FEATURES, piece->columns + LEAT_NODE_FEATURES,
                  LEAT_EDGE_FEATURES, all.edges == 0);
        all.graphs += piece->graphs;
        all.nodes += piece->nodes;
        all.edges += piece->edges;
        all.unknown_nodes += piece->unknown_nodes;
    }
    work->split->read_graphs = all.graphs;
    work->split->read_nodes = all.nodes;
    work->split->unknown_nodes = all.unknown_nodes;
    work->summary->read_graphs += all.graphs;
    if (!is_train(work->split)) return;
    tell(work->summary->x, all.columns, LEAT_NODE_FEATURES, all.nodes);
    tell(work->summary->edge_attr, all.columns + LEAT_NODE_FEATURES, LEAT_EDGE_FEATURES, all.edges);
}

static leat_code read_split(job *work, leat_can_summary_split *split, leat_error *err) {
    int64_t graphs = split->facts.graph_count;
    int64_t least = (graphs + PIECES_MAX - 1) / PIECES_MAX;
    int threads = work->options.threads;
    work->split = split;
    work->piece_graphs = least > GRAPHS ? least : GRAPHS;
    work->pieces = (graphs + work->piece_graphs - 1) / work->piece_graphs;
    leat_pool_job pieces = {.parts = work->pieces, .context = work, .make = read_piece};
    leat_code code = LEAT_NEW(&work->of_piece, work->pieces, err);
    if (code == LEAT_OK) code = LEAT_NEW(&work->readers, threads, err);
    for (int i = 0; i < threads && code == LEAT_OK; i++)
        code = leat_can_reader_create(&work->readers[i], work->cache, split->facts.name,
                                      LEAT_SCALE_NONE, err);
    if (code == LEAT_OK) code = leat_pool_run(work->pool, &pieces, err);
    if (code == LEAT_OK) add_pieces(work);
    for (int i = 0; i < threads && work->readers != NULL; i++)
        leat_can_reader_destroy(work->readers[i]);
    leat_free(work->readers);
    leat_free(work->of_piece);
    work->readers = NULL;
    work->of_piece = NULL;
    work->first_number += graphs;
    return code;
}

static leat_code make_tallies(job *work, leat_error *err) {
    int64_t numbers = work->cache->meta.ids.known + 1;
    LEAT_TRY(LEAT_NEW(&work->tallies, work->options.threads, err));
    for (int i = 0; i < work->options.threads; i++)
        LEAT_TRY(LEAT_NEW(&work->tallies[i], numbers, err));
    return LEAT_OK;
}

static leat_code read_graphs(job *work, leat_error *err) {
    leat_can_summary *summary = work->summary;
    for (int i = 0; i < summary->split_count; i++) {
        work->bytes += summary->splits[i].facts.file_bytes;
        summary->graphs += summary->splits[i].facts.graph_count;
    }
    if (work->options.read_bytes_max == 0) return LEAT_OK;
    LEAT_TRY(leat_pool_create(&work->pool, work->options.threads, err));
    LEAT_TRY(make_tallies(work, err));
    LEAT_TRY(LEAT_NEW(&work->courses, summary->capture_count, err));
    leat_ticker_stage(&work->ticker, "reading graphs", "graphs", summary->graphs);
    for (int i = 0; i < summary->split_count; i++)
        LEAT_TRY(read_split(work, &summary->splits[i], err));
    for (int64_t i = 0; i < summary->capture_count; i++)
        leat_course_tally_place(&work->courses[i], &summary->captures[i]);
    return leat_identifier_tallies_rank(work->tallies, work->options.threads, work->cache, summary,
                                        err);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static leat_code begin(job *work, leat_error *err) {
    leat_can_summary *summary = work->summary;
    leat_can_facts facts;
    leat_can_cache_get_facts(work->cache, &facts);
    LEAT_TRY(LEAT_NEW(&summary->splits, facts.split_count, err));
    LEAT_TRY(LEAT_NEW(&summary->captures, facts.capture_count, err));
    summary->split_count = facts.split_count;
    summary->capture_count = facts.capture_count;
    for (int i = 0; i < facts.split_count; i++)
        LEAT_TRY(leat_can_cache_get_split(work->cache, i, &summary->splits[i].facts, err));
    for (int64_t i = 0; i < facts.capture_count; i++)
        LEAT_TRY(leat_can_cache_get_capture(work->cache, i, &summary->captures[i].facts, err));
    return LEAT_OK;
}

static leat_code summarise(job *work, leat_error *err) {
    leat_can_summary *summary = work->summary;
    int64_t graphs = 0;
    LEAT_TRY(begin(work, err));
    for (int i = 0; i < summary->split_count; i++) graphs += summary->splits[i].facts.graph_count;
    leat_ticker_stage(&work->ticker, "reading labels", "graphs", graphs);
    for (int i = 0; i < summary->split_count; i++) LEAT_TRY(count_split(work, i, err));
    LEAT_TRY(leat_window_sizes_choose(work->sizes, work->cache, summary, err));
    LEAT_TRY(count_identifiers(work, err));
    return read_graphs(work, err);
}

leat_code leat_can_summary_create(leat_can_summary **out, const leat_can_cache *cache,
                                  const leat_can_summary_options *options, leat_error *err) {
    job work = {.cache = cache,
                .options = options != NULL ? *options : leat_can_summary_options_default()};
    *out = NULL;
    if (work.options.threads < 1 || work.options.threads > LEAT_THREADS_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "summary: threads is %d; it must be 1 to %d",
                         work.options.threads, LEAT_THREADS_MAX);
    LEAT_TRY(leat_can_cache_check_process(cache, err));
    LEAT_TRY(LEAT_NEW(&work.summary, 1, err));
    leat_code code = LEAT_NEW(&work.sizes, LEAT_CAN_LABELS, err);
    leat_ticker_create(&work.ticker, work.options.progress, work.options.progress_user);
    if (code == LEAT_OK) code = summarise(&work, err);
    leat_ticker_destroy(&work.ticker);
    leat_pool_destroy(work.pool);
    leat_free(work.sizes);
    for (int i = 0; i < work.options.threads && work.tallies != NULL; i++)
        leat_free(work.tallies[i]);
    leat_free(work.tallies);
    leat_free(work.courses);
    if (code != LEAT_OK) {
        leat_can_summary_destroy(work.summary);
        return code;
    }
    *out = work.summary;
    return LEAT_OK;
}

void leat_can_summary_destroy(leat_can_summary *summary) {
    if (summary == NULL) return;
    leat_free(summary->splits);
    leat_free(summary->captures);
    leat_free(summary->identifiers);
    leat_free(summary);
}
