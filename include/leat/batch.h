/*
 * leat/batch.h: measurements as tokens, and the options that decide which measurements a training
 * sequence, and which graphs or images a training batch holds. Everything here is arithmetic on
 * plain arrays: no files are opened, and no state is kept between calls. See docs/tokens.md,
 * docs/sampling.md, docs/can-graphs.md and docs/images.md for the rules.
 */
#ifndef LEAT_BATCH_H
#define LEAT_BATCH_H

#include "leat/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- vocabulary --------------------------------------------------------------------------- */

typedef enum leat_token {
    LEAT_TOKEN_MEASUREMENT_START = 0, /* fields follow */
    LEAT_TOKEN_SRC_IPV4 = 1,          /* 4 bytes */
    LEAT_TOKEN_SRC_IPV6 = 2,          /* 16 bytes */
    LEAT_TOKEN_DST_IPV4 = 3,          /* 4 bytes */
    LEAT_TOKEN_DST_IPV6 = 4,          /* 16 bytes */
    LEAT_TOKEN_TIMESTAMP_ABS = 5,     /* 8 bytes, big-endian: Unix seconds */
    LEAT_TOKEN_TIMESTAMP_DELTA1 = 6,  /* 1 byte: seconds since the last stamped measurement */
    LEAT_TOKEN_TIMESTAMP_DELTA4 = 7,  /* 4 bytes, big-endian: seconds since it */
    LEAT_TOKEN_RTT_START = 8,         /* 2 bytes: 5 bits of exponent, 11 of mantissa */
    LEAT_TOKEN_THROUGHPUT_START = 9,  /* 2 bytes; reserved, never written */
    LEAT_TOKEN_FAILED = 10,           /* no bytes: the measurement got no answer */
    LEAT_TOKEN_BYTE = 11,             /* LEAT_TOKEN_BYTE + b is the byte b */
    LEAT_TOKEN_COUNT = 267,
} leat_token;

/* A measurement takes at least 12 tokens (IPv4, failed, no time), at most 47 (IPv6, first). */
#define LEAT_TOKENS_MIN 12
#define LEAT_TOKENS_MAX 47

/* "SRC_IPV4", ..., or "" for a byte token and any other number. */
LEAT_API const char *leat_token_name(int32_t token);

/* ---- one measurement ---------------------------------------------------------------------- */

/* The fields of a measurement, in the order that the content order shuffles. */
typedef enum leat_field {
    LEAT_FIELD_SRC,
    LEAT_FIELD_DST,
    LEAT_FIELD_RESULT,
    LEAT_FIELD_TIME,
} leat_field;
#define LEAT_FIELDS 4

#define LEAT_CLOCK_UNSET (-1)

/*
 * Writes one measurement (time_us >= 0, ip_version 4 or 6, rtt finite, or negative or NaN: failed)
 * to `tokens`, which has space for LEAT_TOKENS_MAX, and returns how many. `order` holds every
 * leat_field once; the time is omitted if `timed` is false. *clock_us is the time of the last
 * stamped measurement of the segment, LEAT_CLOCK_UNSET before the first: the first timestamp is
 * absolute, and so is one more than 2^32 - 1 s after the last; all others are differences. A timed
 * measurement sets the clock.
 */
LEAT_API int32_t leat_tokens_encode(const leat_measurement *measurement,
                                    const uint8_t order[LEAT_FIELDS], bool timed, int64_t *clock_us,
                                    int32_t *tokens);

/*
 * The field order of --field-order content: the shuffle of CPython's random.Random(seed), seed the
 * first four bytes of MD5("src|dst|seconds"). With `timed` false LEAT_FIELD_TIME is last.
 */
LEAT_API void leat_tokens_content_order(const leat_measurement *measurement, bool timed,
                                        uint8_t order[LEAT_FIELDS]);

/* The two bytes of an rtt >= 0 in milliseconds, as exponent << 11 | mantissa; and back, in us. */
LEAT_API uint16_t leat_tokens_rtt_encode(float rtt_ms);
LEAT_API int64_t leat_tokens_rtt_decode(uint16_t code);

/* ---- decoding ----------------------------------------------------------------------------- */

typedef struct leat_decoded {
    int32_t first, count; /* its tokens in the sequence */
    int32_t segment;      /* 1 if no segments were given */
    bool cut;             /* the sequence ends inside it; the following members hold what is there
                           */
    int field_count;      /* complete fields, in the order of `order` */
    uint8_t order[LEAT_FIELDS];
    int src_version, dst_version; /* 4, 6, or 0: missing */
    uint8_t src_bytes[16], dst_bytes[16];
    bool has_result, failed;
    int64_t rtt_us;     /* 0 if failed or missing */
    int32_t time_token; /* LEAT_TOKEN_TIMESTAMP_*, or 0: no timestamp */
    int64_t time_value; /* as written: seconds since 1970, or since the last stamped one */
    int64_t time_s;     /* seconds since 1970; -1: no timestamp */
} leat_decoded;

/*
 * Decodes a sequence. `segments` (as in inputs_segmentation; 0: padding, with which the sequence
 * ends) may be NULL: all tokens are one segment. Writes at most `capacity` measurements to `out`
 * (NULL if that is 0); *count is how many there are. Only the last measurement of a sequence
 * without padding may be cut. An invalid sequence is LEAT_ERR_CORRUPT; the message names the
 * position, the token and what was expected; *count is then 0.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_tokens_decode(const int32_t *tokens,
                                                      const int32_t *segments, int32_t length,
                                                      leat_decoded *out, int32_t capacity,
                                                      int32_t *count, leat_error *err);

/*
 * Appends a sequence as text, one line per measurement: position, segment, time, addresses, result,
 * the order of the fields. Fails like leat_tokens_decode, after the lines before the error.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_tokens_words(const int32_t *tokens, const int32_t *segments,
                                                     int32_t length, leat_textbuf *text,
                                                     leat_error *err);

/* ---- options of a sampler ----------------------------------------------------------------- */

typedef enum leat_sampler { LEAT_SAMPLER_PLAN3, LEAT_SAMPLER_PLAN2, LEAT_SAMPLER_ALL } leat_sampler;
typedef enum leat_field_order { LEAT_FIELDS_RANDOM, LEAT_FIELDS_CONTENT } leat_field_order;
typedef enum leat_packing { LEAT_PACKING_FILL, LEAT_PACKING_NONE } leat_packing;
typedef enum leat_tail { LEAT_TAIL_CUT, LEAT_TAIL_PAD } leat_tail;
typedef enum leat_boundary { LEAT_BOUNDARY_MASK, LEAT_BOUNDARY_CROSS } leat_boundary;

#define LEAT_LENGTH_MIN 64
#define LEAT_LENGTH_MAX (1 << 20)

typedef struct leat_sampler_options {
    leat_sampler sampler;
    int32_t length; /* tokens of a sequence, LEAT_LENGTH_MIN..LEAT_LENGTH_MAX */
    uint64_t seed;
    int timestamp_modes[3]; /* percent, sum 100: plan3 full, partial, none; plan2 full, none, mixed;
                               `all` is always full and ignores them */
    leat_field_order field_order;
    leat_packing packing; /* `all` is never filled */
    leat_tail tail;       /* of filled sequences */
    leat_boundary boundary;
} leat_sampler_options;

/* plan3, 1024 tokens, seed 0, modes 40,30,30, random order, fill, cut, mask. */
LEAT_API leat_sampler_options leat_sampler_options_default(void);

/* LEAT_ERR_OPTION names the first invalid option and its value. */
LEAT_API LEAT_MUST_CHECK leat_code leat_sampler_options_check(const leat_sampler_options *options,
                                                              leat_error *err);

/* The options by name: "sampler", "length", "seed", "timestamp-modes", ... */
LEAT_API const leat_setting_table *leat_sampler_options_table(void);

/* ---- the order of batches ------------------------------------------------------------------- */

/* What "windowed" without a size means. */
#define LEAT_WINDOW_BYTES_DEFAULT (INT64_C(128) << 20)

/* ---- batches of graphs --------------------------------------------------------------------- */

/* How the graphs of an epoch are packed into batches; see docs/can-graphs.md for the rules. */
typedef enum leat_graph_pack {
    LEAT_PACK_FFD,      /* distributed by size, then first-fit decreasing */
    LEAT_PACK_NEXT_FIT, /* in random order, each batch filled until a graph does not fit */
    LEAT_PACK_BUCKET,   /* the same, in runs of graphs of similar size */
    LEAT_PACK_FIXED,    /* in random order, `batch` graphs each */
} leat_graph_pack;
/* What happens to a graph that alone exceeds a budget. */
typedef enum leat_oversize {
    LEAT_OVERSIZE_SKIP,
    LEAT_OVERSIZE_ALONE,
    LEAT_OVERSIZE_FAIL
} leat_oversize;
/* Which graphs are loaded, by their label y; unlabelled ones (y = -1) only with all. */
typedef enum leat_graph_filter {
    LEAT_FILTER_ALL,
    LEAT_FILTER_BENIGN, /* y = 0 */
    LEAT_FILTER_ATTACK, /* y = 1 */
    LEAT_FILTER_LABELLED,
} leat_graph_filter;
/* What benign graphs are ranked by, in tiers from easy to hard. */
typedef enum leat_curriculum {
    LEAT_CURRICULUM_NONE,
    LEAT_CURRICULUM_RANDOM,
    LEAT_CURRICULUM_SCORES,
} leat_curriculum;
typedef enum leat_graph_preset { LEAT_GRAPHS_DEFAULT, LEAT_GRAPHS_REFERENCE } leat_graph_preset;

typedef struct leat_graph_batch_options {
    leat_graph_pack pack;
    int64_t batch;                /* graphs of a batch; only for pack fixed */
    int64_t max_nodes, max_edges; /* of a batch; 0: no limit. Ignored by pack fixed */
    leat_oversize oversize;
    int64_t min_steps; /* batches are made smaller so that an epoch has at least this many */
    uint64_t seed;
    leat_curriculum curriculum;
    int64_t tiers;
    double curriculum_start, curriculum_end; /* of the ramp */
    int64_t epochs;                          /* of the ramp and of the run; 0: no end */
    /* reference: each tier is packed separately and by pure first-fit decreasing, batches keep
     * their graphs from epoch to epoch (except with bucket and fixed), random ranks are
     * torch.rand's */
    leat_graph_preset preset;
    leat_graph_filter graphs; /* the others are in no batch */
    /* 0: the global order, the graphs of a batch may be anywhere. Else the windowed order, for
     * caches larger than memory: an epoch goes through windows of about this many bytes, and its
     * batches are of one window each. 1 MiB to 1 TiB; not with the preset reference. See
     * docs/can-graphs.md. */
    int64_t window_bytes;
} leat_graph_batch_options;

/* ffd, 32 graphs, 8192 nodes, 32768 edges, skip, 1 step, seed 0, no curriculum, 10 tiers from 1 to
 * 10, without end, default, all graphs, the global order. */
LEAT_API leat_graph_batch_options leat_graph_batch_options_default(void);

/* Also checks combinations of options. */
LEAT_API LEAT_MUST_CHECK leat_code
leat_graph_batch_options_check(const leat_graph_batch_options *options, leat_error *err);
/* The options by name: "graphs", "pack", "batch", "max-nodes", "max-edges", "oversize", ... */
LEAT_API const leat_setting_table *leat_graph_batch_options_table(void);

/* ---- how many nodes and edges fit on a device ------------------------------------------------ */

/* The models and their names, which --model takes. */
#define LEAT_GRAPH_MODEL_TABLE(X)                                                                  \
    X(LEAT_GRAPH_VGAE, "vgae")                                                                     \
    X(LEAT_GRAPH_VGAE_LARGE, "vgae-large")                                                         \
    X(LEAT_GRAPH_GAT, "gat")                                                                       \
    X(LEAT_GRAPH_GAT_LARGE, "gat-large")
#define LEAT_GRAPH_MODEL_ENUM(model, name) model,
typedef enum leat_graph_model {
    LEAT_GRAPH_MODEL_TABLE(LEAT_GRAPH_MODEL_ENUM) LEAT_GRAPH_MODELS
} leat_graph_model;
#undef LEAT_GRAPH_MODEL_ENUM

/* The name in the table; NULL for any other number. */
LEAT_API const char *leat_graph_model_name(int model);

/* The memory of a training step, float32: fixed_bytes plus the bytes of each node, edge and graph
 * of its batch. src/batch/graphs/budget.c has the derivation. */
typedef struct leat_graph_memory {
    int64_t parameters;  /* trainable values */
    int64_t fixed_bytes; /* parameters, their gradients, Adam's two moments */
    int64_t node_bytes, edge_bytes, graph_bytes;
} leat_graph_memory;

/* `vocabulary`: identifiers and the unknown one, 1 .. 2^24. */
LEAT_API LEAT_MUST_CHECK leat_code leat_graph_memory_of(leat_graph_model model, int64_t vocabulary,
                                                        leat_graph_memory *out, leat_error *err);

/* The sizes of the graphs of a data set. */
typedef struct leat_graph_totals {
    int64_t nodes, edges;           /* of all graphs */
    int64_t nodes_least;            /* of a graph, at least 1 */
    int64_t nodes_most, edges_most; /* of a graph */
} leat_graph_totals;

/*
 * The budget of a batch with which a step takes at most memory_bytes, shared between nodes and
 * edges in the proportion of the data set. LEAT_ERR_LIMIT if its largest graph does not fit; the
 * message says how many bytes are enough.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_graph_budget(const leat_graph_memory *memory,
                                                     int64_t memory_bytes,
                                                     const leat_graph_totals *totals,
                                                     int64_t *max_nodes, int64_t *max_edges,
                                                     leat_error *err);

/* ---- images ------------------------------------------------------------------------------- */

/*
 * The image at a position of a run over a data set of `count` images (1 .. 2^31 - 1): position p
 * >= 0 is place p mod count of epoch p / count, whose order is a permutation drawn from the seed
 * and the epoch. So every epoch has every image once, and a batch may straddle two epochs.
 */
LEAT_API int64_t leat_image_at(uint64_t seed, int64_t count, int64_t position);

typedef struct leat_image_order {
    uint64_t seed;
    int64_t count;       /* images, 1 .. 2^31 - 1 */
    int64_t image_bytes; /* of each, size * size * 3; used by the windowed order alone */
    /* 0: the global order, that of leat_image_at. Else the windowed order, for data sets larger
     * than memory: an epoch goes through windows of about this many bytes, from 64 or more places
     * of the file each. See docs/loading.md. */
    int64_t window_bytes;
} leat_image_order;

/* The image at a position, in either order. Both have every image once an epoch. */
LEAT_API int64_t leat_image_in_order(const leat_image_order *order, int64_t position);

/* The value of each level of a pixel in a batch of floats: ((level / 255) - 0.5) / 0.5, each
 * operation rounded to float32: -1 for 0, 1 for 255. */
#define LEAT_PIXEL_LEVELS 256
LEAT_API const float *leat_pixel_table(void);

#ifdef __cplusplus
}
#endif
#endif
