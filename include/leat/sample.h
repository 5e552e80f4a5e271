/*
 * leat/sample.h: measurements as tokens, and the options that decide which measurements a training
 * sequence holds. Everything here is arithmetic on plain arrays: no file is opened, nothing is
 * remembered from call to call. docs/tokens.md and docs/sampling.md have the rules.
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

#ifdef __cplusplus
}
#endif
#endif
