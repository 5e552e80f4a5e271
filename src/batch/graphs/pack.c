/*
 * First-fit asks for the first batch with room for n nodes and e edges. Node counts decrease, so
 * only the batches with space for n nodes are awake; the others sleep in a heap, from which they
 * are woken as n falls. A tree over those awake holds the most space for edges, and leads to the
 * first that has e. A graph puts at most its own batch to sleep, so each batch is woken at most
 * once a graph: n log n whatever the sizes. (A tree over both rooms would have to backtrack
 * wherever one batch is short of nodes and its neighbour of edges, which is all over when both
 * budgets bind.)
 */
#include "batch/graphs/pack.h"

#include "base/mem.h"
#include "base/rng.h"

typedef struct leat_packer_room {
    int32_t nodes, edges;
} room;

bool leat_graph_fits(const leat_graph_sizes *sizes, const leat_graph_limits *limits,
                     int64_t graph) {
    return sizes->nodes[graph] <= limits->nodes && sizes->edges[graph] <= limits->edges;
}

/* Of graph i of a list. */
static room needs(const leat_pack_list *list, int64_t i) {
    uint32_t graph = list->order[i];
    return (room){list->sizes->nodes[graph], list->sizes->edges[graph]};
}

int64_t leat_pack_next_fit(const leat_pack_list *list) {
    const leat_graph_limits *limits = list->limits;
    int64_t bins = 0, graphs = 0, nodes = 0, edges = 0;
    for (int64_t i = 0; i < list->count; i++) {
        room of = needs(list, i);
        bool fits = graphs < limits->graphs && nodes + of.nodes <= limits->nodes &&
                    edges + of.edges <= limits->edges;
        if (bins == 0 || !fits) {
            bins++;
            graphs = nodes = edges = 0;
        }
        graphs++;
        nodes += of.nodes;
        edges += of.edges;
        list->bin[i] = (uint32_t)(bins - 1);
    }
    return bins;
}

/* ---- the heap of batches that sleep: room for nodes above, number below -------------------- */

static void heap_push(uint64_t *heap, int64_t *count, uint64_t item) {
    int64_t at = (*count)++;
    for (; at > 0 && heap[(at - 1) / 2] < item; at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = item;
}

static void heap_pop(uint64_t *heap, int64_t *count) {
    uint64_t item = heap[--*count];
    int64_t at = 0;
    for (int64_t child = 1; child < *count; child = 2 * at + 1) {
        if (child + 1 < *count && heap[child + 1] > heap[child]) child++;
        if (heap[child] <= item) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
}

/* ---- the tree over batches: node i has the children 2 i and 2 i + 1, leaves stand last ----- */

static void set_leaf(leat_packer *packer, int64_t bin, int32_t edges) {
    int32_t *most = packer->most;
    int64_t i = packer->leaves + bin;
    most[i] = edges;
    for (i /= 2; i > 0; i /= 2) {
        int32_t larger = most[2 * i] > most[2 * i + 1] ? most[2 * i] : most[2 * i + 1];
        if (most[i] == larger) break;
        most[i] = larger;
    }
}

/* The first awake batch with space for that many edges; -1: none. */
static int64_t find_bin(const leat_packer *packer, int32_t edges) {
    const int32_t *most = packer->most;
    if (most[1] < edges) return -1;
    int64_t i = 1;
    while (i < packer->leaves) i = most[2 * i] >= edges ? 2 * i : 2 * i + 1;
    return i - packer->leaves;
}

/* Makes the tree anew, with room for `bins` batches and more; those with room for n are awake. */
static leat_code make_tree(leat_packer *packer, int64_t bins, int32_t n, leat_error *err) {
    int64_t leaves = packer->leaves > 0 ? packer->leaves : 16;
    while (leaves < bins) leaves *= 2;
    LEAT_TRY(LEAT_GROW(&packer->room, &packer->room_capacity, leaves, err));
    LEAT_TRY(LEAT_GROW(&packer->asleep, &packer->asleep_capacity, leaves, err));
    LEAT_TRY(LEAT_GROW(&packer->most, &packer->most_capacity, 2 * leaves, err));
    packer->leaves = leaves;
    for (int64_t i = 0; i < leaves; i++) {
        bool awake = i < packer->bin_count && packer->room[i].nodes >= n;
        packer->most[leaves + i] = awake ? packer->room[i].edges : -1;
    }
    for (int64_t i = leaves - 1; i > 0; i--) {
        int32_t left = packer->most[2 * i], right = packer->most[2 * i + 1];
        packer->most[i] = left > right ? left : right;
    }
    return LEAT_OK;
}

void leat_packer_free(leat_packer *packer) {
    leat_free(packer->room);
    leat_free(packer->most);
    leat_free(packer->asleep);
    *packer = (leat_packer){0};
}

/* ---- first-fit ----------------------------------------------------------------------------- */

static leat_code open_bin(leat_packer *packer, const leat_graph_limits *limits, int32_t n,
                          leat_error *err) {
    if (packer->bin_count == packer->leaves) {
        LEAT_TRY(make_tree(packer, packer->bin_count + 1, n, err));
    }
    packer->room[packer->bin_count++] = (room){(int32_t)limits->nodes, (int32_t)limits->edges};
    return LEAT_OK;
}

static void wake(leat_packer *packer, int32_t n) {
    while (packer->asleep_count > 0 && (int32_t)(packer->asleep[0] >> 32) >= n) {
        int64_t bin = (uint32_t)packer->asleep[0];
        heap_pop(packer->asleep, &packer->asleep_count);
        set_leaf(packer, bin, packer->room[bin].edges);
    }
}

static void put(leat_packer *packer, int64_t bin, int32_t n, int32_t e) {
    room *its = &packer->room[bin];
    its->nodes -= n;
    its->edges -= e;
    bool awake = its->nodes >= n;
    set_leaf(packer, bin, awake ? its->edges : -1);
    if (awake) return;
    heap_push(packer->asleep, &packer->asleep_count, (uint64_t)its->nodes << 32 | (uint64_t)bin);
}

/* Which batch a graph has to try first. Those lie anywhere, so they are found, and their rooms
 * asked for, AHEAD graphs before: as many at a time. */
enum { AHEAD = 16 };
typedef struct dealer {
    uint64_t key;
    int64_t batches, count; /* count: of graphs */
    uint32_t first[2 * AHEAD];
} dealer;

/* For graphs i .. i + AHEAD - 1, i a multiple of AHEAD. */
static void deal(dealer *dealer, const leat_packer *packer, int64_t i) {
    int64_t batches = dealer->batches, left = dealer->count - i;
    int64_t end = i + (left < AHEAD ? left : AHEAD);
    while (i < end) {
        uint32_t *first = dealer->first + i % (2 * AHEAD);
        int64_t of_run = batches - i % batches, some = of_run < end - i ? of_run : end - i;
        uint64_t key = leat_random_at(dealer->key, (uint64_t)(i / batches));
        leat_permute_some(key, batches, i % batches, some, first);
        for (int64_t k = 0; k < some; k++) {
            __builtin_prefetch(&packer->room[first[k]], 1);
            __builtin_prefetch(&packer->most[packer->leaves + first[k]], 1);
        }
        i += some;
    }
}

/* The batch of graph i, after those before it; -1: the graph does not fit there. */
static int64_t dealt_bin(dealer *dealer, const leat_packer *packer, int64_t i, room needed) {
    if (i % AHEAD == 0) deal(dealer, packer, i + AHEAD);
    int64_t bin = dealer->first[i % (2 * AHEAD)];
    const room *its = &packer->room[bin];
    return its->nodes >= needed.nodes && its->edges >= needed.edges ? bin : -1;
}

/* `dealt` batches are open from the start, 0: none; of those each graph has one to try first. */
static leat_code pack(leat_packer *packer, const leat_pack_list *list, int64_t dealt, uint64_t key,
                      leat_error *err) {
    packer->bin_count = packer->leaves = packer->asleep_count = 0;
    LEAT_TRY(make_tree(packer, dealt, 0, err));
    int32_t before = INT32_MAX;
    dealer dealer = {.key = key, .batches = dealt, .count = dealt > 0 ? list->count : 0};
    for (int64_t i = 0; i < dealt; i++) {
        LEAT_TRY(open_bin(packer, list->limits, 0, err));
        set_leaf(packer, i, packer->room[i].edges);
    }
    deal(&dealer, packer, 0);
    for (int64_t i = 0; i < list->count; i++) {
        room of = needs(list, i);
        LEAT_ASSERT(of.nodes <= before &&
                    leat_graph_fits(list->sizes, list->limits, list->order[i]));
        before = of.nodes;
        wake(packer, of.nodes);
        int64_t at = dealt > 0 ? dealt_bin(&dealer, packer, i, of) : -1;
        if (at < 0) at = find_bin(packer, of.edges);
        if (at < 0) {
            at = packer->bin_count;
            LEAT_TRY(open_bin(packer, list->limits, of.nodes, err));
        }
        put(packer, at, of.nodes, of.edges);
        list->bin[i] = (uint32_t)at;
    }
    return LEAT_OK;
}

leat_code leat_pack_first_fit(leat_packer *packer, const leat_pack_list *list, leat_error *err) {
    return pack(packer, list, 0, 0, err);
}

/* The least number of batches that could hold all of them. */
static int64_t least_batches(const leat_pack_list *list) {
    const leat_graph_limits *limits = list->limits;
    int64_t nodes = 0, edges = 0;
    for (int64_t i = 0; i < list->count; i++) {
        room of = needs(list, i);
        nodes += of.nodes;
        edges += of.edges;
    }
    int64_t by_nodes = (nodes + limits->nodes - 1) / limits->nodes;
    int64_t by_edges = (edges + limits->edges - 1) / limits->edges;
    return by_nodes > by_edges ? by_nodes : by_edges;
}

leat_code leat_pack_dealt(leat_packer *packer, const leat_pack_list *list, uint64_t key,
                          leat_error *err) {
    return pack(packer, list, least_batches(list), key, err);
}

/* One batch more, or, where many were opened, half of them; then half as many again each time. Each
 * graph fits into a batch of its own, so there is an end. */
leat_code leat_pack_all_dealt(leat_packer *packer, const leat_pack_list *list, uint64_t key,
                              bool *again, leat_error *err) {
    int64_t least = least_batches(list), more = 0;
    *again = false;
    LEAT_TRY(pack(packer, list, least, key, err));
    while (packer->bin_count > least + more && least + more < list->count) {
        int64_t opened = packer->bin_count - least;
        more = more == 0 ? (opened > 1 ? opened / 2 : 1) : more + (more > 1 ? more / 2 : 1);
        if (least + more > list->count) more = list->count - least;
        *again = true;
        LEAT_TRY(pack(packer, list, least + more, key, err));
    }
    return LEAT_OK;
}
