/* What random numbers are drawn for: every purpose has its stream, and no number is used twice. */
#ifndef LEAT_BATCH_RANDOM_STREAMS_H
#define LEAT_BATCH_RANDOM_STREAMS_H

/* The `stream` of leat_random under the seed, or under a key made from it. Never renumbered. */
enum {
    LEAT_STREAM_EPOCH = 0x65706f63,
    LEAT_STREAM_ANCHOR,          /* permutations of anchors */
    LEAT_STREAM_CONTEXT,         /* keys of contexts */
    LEAT_STREAM_CLIENT_SEQUENCE, /* sequences by client */
    LEAT_STREAM_CLIENT_STEP,     /* which probes a step holds */
    LEAT_STREAM_CLIENT_ROUND,    /* which probes a round has */
    LEAT_STREAM_ROUND_STEP,      /* which of those a step holds */
    LEAT_STREAM_GRAPH_PACK,      /* which graphs the batches of an epoch hold */
    LEAT_STREAM_GRAPH_STEP,      /* the order of those batches */
    LEAT_STREAM_GRAPH_RANK,      /* random ranks of graphs, of the curriculum */
    LEAT_STREAM_IMAGE_ORDER,     /* the order of an epoch's images */
    LEAT_STREAM_WINDOWED_EPOCH,  /* an epoch in the windowed order; under its key: */
    LEAT_STREAM_BLOCK,           /* the order of its blocks */
    LEAT_STREAM_WINDOW_LANE,     /* keys of lanes, */
    LEAT_STREAM_WINDOW,          /* and of their windows */
    LEAT_STREAM_GRAPH_CHUNK,     /* windowed epochs of graphs: the order of chunks, */
    LEAT_STREAM_GRAPH_WINDOW,    /* and what batches their windows make */
    LEAT_STREAM_IMAGE_CHUNK,     /* windowed epochs of images: the order of chunks, */
    LEAT_STREAM_IMAGE_REST,      /* where the last of the file stands among them, */
    LEAT_STREAM_IMAGE_WINDOW,    /* and the order of a window's images */
};

/* Under the key of a context, as `position` of leat_random_at: single numbers, */
enum {
    LEAT_DRAW_MODE,
    LEAT_DRAW_WINDOW,
    LEAT_DRAW_OFFSET,
    LEAT_DRAW_SHARE, /* of the stamps that the partial mode takes away */
    /* and keys of numbers, one for each measurement */
    LEAT_DRAW_PLACES,
    LEAT_DRAW_STAMPS,
    LEAT_DRAW_MERGE,
    LEAT_DRAW_FIELDS,
};

#endif
