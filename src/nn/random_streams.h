/*
 * What random numbers of the models are drawn for: every purpose has its stream, the second word of
 * leat_random. Disjoint from those of batch/random_streams.h and from the small ones of format and
 * load, so that equal seeds never give equal numbers (tests/nn/test_random.c). Never renumbered;
 * new ones come last.
 */
#ifndef LEAT_NN_RANDOM_STREAMS_H
#define LEAT_NN_RANDOM_STREAMS_H

enum {
    LEAT_STREAM_INIT = 0x6e6e6f70, /* initial weights; the position is the tensor's number */
    LEAT_STREAM_NOISE,             /* latent vectors of the training steps */
    LEAT_STREAM_FIXED_NOISE,       /* latent vectors that stay the same: of sample grids */
    LEAT_STREAM_FEATURES,          /* weights of the net that measures images */
    LEAT_STREAM_ROUNDING,          /* of gradients to 8 bits; the position is that of the unit */
    LEAT_STREAM_NODE_MASK,         /* nodes of graphs that are hidden from a model */
    LEAT_STREAM_ID_DROP,           /* nodes whose identifier becomes unknown */
    LEAT_STREAM_DROPOUT,           /* activations of graphs */
    LEAT_STREAM_LATENT,            /* noise of a graph's latent vectors */
    LEAT_STREAM_NEGATIVES,         /* identifiers that are no neighbours */
    LEAT_STREAM_SCORE_MASK,        /* nodes that are hidden when a graph is scored */
    LEAT_STREAM_TOKEN_DROPOUT,     /* activations of sequences of tokens */
    LEAT_STREAM_NN_END,
};

#endif
