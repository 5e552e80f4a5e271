/*
 * leat/sample.h: measurements as tokens, and the options that decide which measurements a training
 * sequence holds, and which graphs a training batch. Everything here is arithmetic on plain arrays:
 * no file is opened, nothing is remembered from call to call. docs/tokens.md, docs/sampling.md and
 * docs/can-graphs.md have the rules.
 */
#ifndef LEAT_SAMPLE_H
#define LEAT_SAMPLE_H

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
    LEAT_TOKEN_FAILED = 10,           /* nothing: the measurement got no answer */
    LEAT_TOKEN_BYTE = 11,             /* LEAT_TOKEN_BYTE + b stands for the byte b */
    LEAT_TOKEN_COUNT = 267,
} leat_token;

/* A measurement takes at least 12 tokens (IPv4, failed, no time), at most 47 (IPv6, first). */
#define LEAT_TOKENS_MIN 12
#define LEAT_TOKENS_MAX 47

/* "SRC_IPV4", ..., or "" for a byte token and for what is no token. */
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
 * to `tokens`, which has room for LEAT_TOKENS_MAX, and returns how many. `order` holds every
 * leat_field once; the time is left out if `timed` is false. *clock_us is the time of the last
 * stamped measurement of the segment, LEAT_CLOCK_UNSET before the first: that one's stamp is
 * absolute, and so is one more than 2^32 - 1 s after the last; all others are differences. A timed
 * measurement sets the clock.
 */
LEAT_API int32_t leat_tokens_encode(const leat_measurement *measurement,
                                    const uint8_t order[LEAT_FIELDS], bool timed, int64_t *clock_us,
                                    int32_t *tokens);

/*
 * The order that --field-order content gives: the shuffle of CPython's random.Random(seed), seed
 * the first four bytes of MD5("src|dst|seconds"). With `timed` false LEAT_FIELD_TIME is last.
 */
LEAT_API void leat_tokens_content_order(const leat_measurement *measurement, bool timed,
                                        uint8_t order[LEAT_FIELDS]);

/* The two bytes of an rtt >= 0 in milliseconds, as exponent << 11 | mantissa; and back, in us. */
LEAT_API uint16_t leat_tokens_rtt_encode(float rtt_ms);
LEAT_API int64_t leat_tokens_rtt_decode(uint16_t code);

/* ---- back again --------------------------------------------------------------------------- */

typedef struct leat_decoded {
    int32_t first, count; /* its tokens in the sequence */
    int32_t segment;      /* 1 if no segments were given */
    bool cut;             /* the sequence ends inside of it; what follows holds what was there */
    int field_count;      /* fields that are whole, in the order of `order` */
    uint8_t order[LEAT_FIELDS];
    int src_version, dst_version; /* 4, 6, or 0: not there */
    uint8_t src_bytes[16], dst_bytes[16];
    bool has_result, failed;
    int64_t rtt_us;     /* 0 if failed or not there */
    int32_t time_token; /* LEAT_TOKEN_TIMESTAMP_*, or 0: no timestamp */
    int64_t time_value; /* as written: seconds since 1970, or since the last stamped one */
    int64_t time_s;     /* seconds since 1970; -1: no timestamp */
} leat_decoded;

/*
 * Reads a sequence back. `segments` (as in inputs_segmentation; 0: padding, with which the sequence
 * ends) may be NULL: all tokens are one segment. Writes at most `capacity` measurements to `out`
 * (NULL if that is 0); *count is how many there are. Only the last measurement of a sequence that
 * is full to its end may be cut. What is no sequence of ours is LEAT_ERR_CORRUPT; the message names
 * the place, the token and what should stand there; *count is then 0.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_tokens_decode(const int32_t *tokens,
                                                      const int32_t *segments, int32_t length,
                                                      leat_decoded *out, int32_t capacity,
                                                      int32_t *count, leat_error *err);

/*
 * Appends a sequence in words, a line a measurement: place, segment, time, addresses, result, the
 * order of the fields. Fails as leat_tokens_decode does, after the lines before the fault.
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

typedef struct leat_sample_options {
    leat_sampler sampler;
    int32_t length; /* tokens of a sequence, LEAT_LENGTH_MIN..LEAT_LENGTH_MAX */
    uint64_t seed;
    int timestamp_modes[3]; /* percent, sum 100: plan3 full, partial, none; plan2 full, none, mixed;
                               `all` is always full and looks at none of them */
    leat_field_order field_order;
    leat_packing packing; /* `all` is never filled */
    leat_tail tail;       /* of filled sequences */
    leat_boundary boundary;
} leat_sample_options;

/* plan3, 1024 tokens, seed 0, modes 40,30,30, random order, fill, cut, mask. */
LEAT_API leat_sample_options leat_sample_options_default(void);

/* LEAT_ERR_OPTION names the first option that is wrong, and its value. */
LEAT_API LEAT_MUST_CHECK leat_code leat_sample_options_check(const leat_sample_options *options,
                                                             leat_error *err);

/* The names of the options, "sampler", "length", "seed", "timestamp-modes", ...; NULL at the end.
 */
LEAT_API const char *leat_sample_option_name(int index);

/*
 * Sets one option by name from a text ("timestamp-modes" from "40,30,30"), so that command line,
 * saved state and Python read them alike; and writes it as such a text. LEAT_ERR_OPTION if there is
 * no such option or the text is no value of it; the options are then as before.
 */
#define LEAT_SAMPLE_OPTION_BYTES 32
LEAT_API LEAT_MUST_CHECK leat_code leat_sample_option_set(leat_sample_options *options,
                                                          const char *name, const char *value,
                                                          leat_error *err);
LEAT_API LEAT_MUST_CHECK leat_code leat_sample_option_get(const leat_sample_options *options,
                                                          const char *name,
                                                          char text[LEAT_SAMPLE_OPTION_BYTES],
                                                          leat_error *err);

/* ---- batches of graphs --------------------------------------------------------------------- */

/* How the graphs of an epoch are put into batches; docs/can-graphs.md has the rules. */
typedef enum leat_graph_pack {
    LEAT_PACK_FFD,      /* dealt out by size, then first-fit decreasing */
    LEAT_PACK_NEXT_FIT, /* in random order, each batch filled until a graph does not fit */
    LEAT_PACK_BUCKET,   /* the same, in runs of graphs of like size */
    LEAT_PACK_FIXED,    /* in random order, so many graphs each */
} leat_graph_pack;
/* What becomes of a graph that is over a budget alone. */
typedef enum leat_oversize {
    LEAT_OVERSIZE_SKIP,
    LEAT_OVERSIZE_ALONE,
    LEAT_OVERSIZE_FAIL
} leat_oversize;
/* What graphs without attack are ranked by, in tiers from easy to hard. */
typedef enum leat_curriculum {
    LEAT_CURRICULUM_NONE,
    LEAT_CURRICULUM_RANDOM,
    LEAT_CURRICULUM_SCORES,
} leat_curriculum;
typedef enum leat_graph_preset { LEAT_GRAPHS_DEFAULT, LEAT_GRAPHS_REFERENCE } leat_graph_preset;

typedef struct leat_graph_batch_options {
    leat_graph_pack pack;
    int64_t batch;                /* graphs of a batch; pack fixed alone looks at it */
    int64_t max_nodes, max_edges; /* of a batch; 0: no limit. Pack fixed looks at neither */
    leat_oversize oversize;
    int64_t min_steps; /* batches are made smaller where an epoch would have fewer of them */
    uint64_t seed;
    leat_curriculum curriculum;
    int64_t tiers;
    double curriculum_start, curriculum_end; /* of the ramp */
    int64_t epochs;                          /* of the ramp and of the run; 0: without end */
    /* reference: each tier is packed alone and by pure first-fit decreasing, batches keep their
     * graphs from epoch to epoch (but with bucket and fixed), random ranks are torch.rand's */
    leat_graph_preset preset;
} leat_graph_batch_options;

/* ffd, 32 graphs, 8192 nodes, 32768 edges, skip, 1 step, seed 0, no curriculum, 10 tiers from 1 to
 * 10, without end, default. */
LEAT_API leat_graph_batch_options leat_graph_batch_options_default(void);

/* As leat_sample_options_check, leat_sample_option_name, _set and _get: "pack", "batch",
 * "max-nodes", "max-edges", "oversize", "min-steps", "seed", "curriculum", ... */
LEAT_API LEAT_MUST_CHECK leat_code
leat_graph_batch_options_check(const leat_graph_batch_options *options, leat_error *err);
LEAT_API const char *leat_graph_batch_option_name(int index);
LEAT_API LEAT_MUST_CHECK leat_code leat_graph_batch_option_set(leat_graph_batch_options *options,
                                                               const char *name, const char *value,
                                                               leat_error *err);
LEAT_API LEAT_MUST_CHECK leat_code
leat_graph_batch_option_get(const leat_graph_batch_options *options, const char *name,
                            char text[LEAT_SAMPLE_OPTION_BYTES], leat_error *err);

/* ---- how many nodes and edges a device takes ------------------------------------------------- */

typedef enum leat_graph_model {
    LEAT_GRAPH_VGAE,
    LEAT_GRAPH_VGAE_LARGE,
    LEAT_GRAPH_GAT,
    LEAT_GRAPH_GAT_LARGE,
    LEAT_GRAPH_MODELS,
} leat_graph_model;

/* "vgae", "vgae-large", "gat", "gat-large"; NULL for a number that is none. */
LEAT_API const char *leat_graph_model_name(int model);

/* What a training step takes in memory, float32: bytes = fixed + so many for each node, edge, graph
 * of its batch. src/sample/graph_budget.c has the derivation. */
typedef struct leat_graph_memory {
    int64_t parameters;  /* numbers that are trained */
    int64_t fixed_bytes; /* parameters, their gradients, Adam's two moments */
    int64_t node_bytes, edge_bytes, graph_bytes;
} leat_graph_memory;

/* `vocabulary`: identifiers and the unknown one, 1 .. 2^24. */
LEAT_API LEAT_MUST_CHECK leat_code leat_graph_memory_of(leat_graph_model model, int64_t vocabulary,
                                                        leat_graph_memory *out, leat_error *err);

/* What the graphs of a data set are like. */
typedef struct leat_graph_totals {
    int64_t nodes, edges;           /* of all graphs */
    int64_t nodes_least;            /* of a graph, at least 1 */
    int64_t nodes_most, edges_most; /* of a graph */
} leat_graph_totals;

/*
 * The budget of a batch so that a step takes at most memory_bytes, of which nodes and edges get
 * shares as the data set has of them. LEAT_ERR_LIMIT if that would not hold its largest graph; the
 * message says how many bytes would.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_graph_budget(const leat_graph_memory *memory,
                                                     int64_t memory_bytes,
                                                     const leat_graph_totals *totals,
                                                     int64_t *max_nodes, int64_t *max_edges,
                                                     leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
