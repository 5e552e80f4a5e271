/*
 * leat/format.h: on-disk formats: ArrayRecord files, probe rows (Arrow IPC), manifest and index;
 * PNG.
 */
#ifndef LEAT_FORMAT_H
#define LEAT_FORMAT_H

#include "leat/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- ArrayRecord ------------------------------------------------------------------------- */

typedef enum leat_compression {
    LEAT_COMPRESSION_NONE,
    LEAT_COMPRESSION_ZSTD,   /* levels -131072..22 */
    LEAT_COMPRESSION_BROTLI, /* levels 0..11 */
    LEAT_COMPRESSION_SNAPPY, /* no level */
} leat_compression;

/* The default level of each compression: 3 for zstd, 6 for brotli. */
#define LEAT_LEVEL_DEFAULT INT32_MIN

typedef struct leat_ar_options {
    leat_compression compression;
    int level;          /* of the compression; ignored without one */
    int32_t group_size; /* records per chunk, 1.. */
    /* Each chunk begins on a block of 65,536 bytes: costs up to a block per chunk. */
    bool pad_to_block_boundary;
} leat_ar_options;

/* Uncompressed, LEAT_LEVEL_DEFAULT, group_size 1, not padded. */
LEAT_API leat_ar_options leat_ar_options_default(void);
/* Reads "none", "zstd", "zstd:5", "brotli:9", "snappy" into compression and level of *options. */
LEAT_API LEAT_MUST_CHECK leat_code leat_ar_options_parse(const char *text, leat_ar_options *options,
                                                         leat_error *err);

/*
 * Writes a file. It grows next to path as ".NAME.leat-<16 hex digits>.tmp" and appears at path,
 * complete and on the disk, when finish returns LEAT_OK; destroying the writer before that removes
 * it. LEAT_ERR_EXISTS, from create or finish: there is a file of that name, which is replaced only
 * if `replace` is set. One thread at a time per writer. After a failure every call but destroy
 * fails.
 */
typedef struct leat_ar_writer leat_ar_writer;
LEAT_API LEAT_MUST_CHECK leat_code leat_ar_writer_create(leat_ar_writer **out, const char *path,
                                                         const leat_ar_options *options,
                                                         bool replace, leat_error *err);
LEAT_API LEAT_MUST_CHECK leat_code leat_ar_writer_append(leat_ar_writer *writer, const void *record,
                                                         int64_t size_bytes, leat_error *err);
LEAT_API LEAT_MUST_CHECK leat_code leat_ar_writer_finish(leat_ar_writer *writer, leat_error *err);
LEAT_API void leat_ar_writer_destroy(leat_ar_writer *writer);

typedef struct leat_ar_read_options {
    /*
     * The largest size of a chunk, encoded and decoded, and so the most memory that decoding uses
     * for each: a larger chunk is LEAT_ERR_LIMIT. 2 GiB if 0.
     */
    int64_t max_chunk_bytes;
} leat_ar_read_options;

/*
 * Reads a file. Opening reads the postscript and the footer, checks that they are plausible (16
 * bytes a chunk stay in memory), and reads no record. options may be NULL. A reader never changes
 * after opening: any number of threads may read from it, each with its own leat_ar_record.
 * LEAT_ERR_CORRUPT: not an ArrayRecord file, truncated, or its index is damaged.
 */
typedef struct leat_ar_reader leat_ar_reader;
LEAT_API LEAT_MUST_CHECK leat_code leat_ar_reader_open(leat_ar_reader **out, const char *path,
                                                       const leat_ar_read_options *options,
                                                       leat_error *err);
/* The bytes belong to the caller and must outlive the reader. */
LEAT_API LEAT_MUST_CHECK leat_code leat_ar_reader_open_memory(leat_ar_reader **out,
                                                              const void *bytes, int64_t size_bytes,
                                                              const leat_ar_read_options *options,
                                                              leat_error *err);
LEAT_API void leat_ar_reader_close(leat_ar_reader *reader);
LEAT_API int64_t leat_ar_reader_record_count(const leat_ar_reader *reader);
LEAT_API int64_t leat_ar_reader_chunk_count(const leat_ar_reader *reader);
/* Records per chunk, except the last; 0 if there are none. */
LEAT_API int64_t leat_ar_reader_group_size(const leat_ar_reader *reader);
/* As "group_size:1,transpose:false,..."; NULL in files without them. */
LEAT_API const char *leat_ar_reader_writer_options(const leat_ar_reader *reader);

/* What the index says of a chunk. */
typedef struct leat_ar_chunk_facts {
    int64_t offset;        /* file position where it begins */
    int64_t decoded_bytes; /* sum of its records' sizes; -1 where the index does not say */
    int64_t first_record;
    int64_t record_count;
} leat_ar_chunk_facts;
/* 0 <= index < chunk_count. */
LEAT_API leat_ar_chunk_facts leat_ar_reader_chunk(const leat_ar_reader *reader, int64_t index);

/*
 * A record that was read, with a buffer for the next one: initially {0}, used with one reader only,
 * freed by leat_ar_record_free before that reader is closed. It keeps its decoded chunk, so reading
 * in order decodes each chunk once.
 */
typedef struct leat_ar_record {
    const uint8_t *data; /* valid until the next read or free */
    int64_t size_bytes;
    struct leat_ar_room *room; /* private */
} leat_ar_record;

/*
 * Record `index`, 0 <= index < record_count (else LEAT_ERR_INPUT). Every hash of its chunk is
 * checked first. LEAT_ERR_CORRUPT: the chunk is damaged; LEAT_ERR_UNSUPPORTED: it is transposed.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_ar_reader_read(const leat_ar_reader *reader, int64_t index,
                                                       leat_ar_record *record, leat_error *err);
LEAT_API void leat_ar_record_free(leat_ar_record *record);

/* A problem in a file. */
typedef struct leat_ar_finding {
    int64_t offset; /* file position of the chunk or block header; -1: the entire file */
    leat_code code;
    const char *message; /* valid during the call */
} leat_ar_finding;
/* Returning false stops the check with LEAT_ERR_CANCELLED. */
typedef bool (*leat_ar_finding_fn)(void *user, const leat_ar_finding *finding);

typedef struct leat_ar_check {
    int64_t file_bytes;
    int64_t chunk_count;  /* intact data chunks */
    int64_t record_count; /* in them */
    int64_t findings;
} leat_ar_check;

/*
 * Checks every byte of a file: block headers, chunk headers, hashes, padding, records, index,
 * postscript. Each problem is passed to `finding` (may be NULL), those of the index first, then in
 * the order of the file; if there is one, the result and *err are those of the first:
 * LEAT_ERR_CORRUPT, or LEAT_ERR_UNSUPPORTED or LEAT_ERR_LIMIT for what cannot be checked. *check
 * (may be NULL) is always filled. options may be NULL.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_ar_verify(const char *path,
                                                  const leat_ar_read_options *options,
                                                  leat_ar_finding_fn finding, void *user,
                                                  leat_ar_check *check, leat_error *err);
LEAT_API LEAT_MUST_CHECK leat_code leat_ar_verify_memory(const void *bytes, int64_t size_bytes,
                                                         const leat_ar_read_options *options,
                                                         leat_ar_finding_fn finding, void *user,
                                                         leat_ar_check *check, leat_error *err);

/* ---- Data sets ---------------------------------------------------------------------------- */

/* The part of a data set that a shard belongs to; NONE only for third-party files. */
typedef enum leat_split { LEAT_SPLIT_TRAIN, LEAT_SPLIT_TEST, LEAT_SPLIT_NONE } leat_split;
#define LEAT_SPLITS 2 /* of a data set written by leat */

/*
 * What the splits of a data set of probe rows share, although each probe is in one of them: a model
 * may have seen, in train, the path back of what it is tested on. Addresses are compared as they
 * are stored. More pairs of hosts, or hosts, than memory allows are halved, by their hashes, until
 * they fit; the counts are then those of the pairs and hosts that are left, an estimate.
 */
typedef struct leat_split_overlap {
    bool known;           /* counted; else all is 0 */
    int64_t measurements; /* in test */
    int64_t mirrored;     /* of these, whose two hosts have measurements in train, in either
                             direction */
    int pairs_halved;     /* how often; 0: all are counted */
    int64_t sources, sources_shared; /* in test; of these, sources or destinations in train */
    int64_t destinations, destinations_shared; /* in test; of these, destinations in train */
    int hosts_halved;
} leat_split_overlap;

/* ---- Probe rows --------------------------------------------------------------------------- */

/*
 * A record of a probe data set: an Arrow IPC stream of one row, whose `measurements` are in turn an
 * Arrow IPC stream. docs/probe-rows.md says what is written and what else can be read.
 */
#define LEAT_PROBE_SRC_BYTES 48 /* fits any address text (45) */

/* An address as a row has it. Empty texts (null, missing, "") have version 0 and zero bytes. */
typedef struct leat_probe_address {
    uint8_t bytes[16];  /* network order; IPv4 uses the first 4 */
    char text[46];      /* as stored, NUL-terminated */
    uint8_t text_bytes; /* without the NUL */
    uint8_t version;    /* 4, 6, or 0: empty */
} leat_probe_address;

typedef struct leat_probe_read_options {
    const char *src_addr;      /* of rows without a src_addr column; NULL: they are rejected */
    int64_t max_decoded_bytes; /* of all compressed buffers of a record; 4 GiB if 0 */
    bool verify;               /* compare src_id with the MD5 of the source too */
    int64_t *needed_bytes;     /* receives the size where it exceeds that; may be NULL */
    /*
     * Single measurements are read from bytes that leat wrote (its index vouches for the pages):
     * the source is read once a row, and the version is taken from the addresses, so that fewer
     * pages are touched. If the bytes are not leat's, nothing is read out of bounds.
     */
    bool trusted;
} leat_probe_read_options;
LEAT_API leat_probe_read_options leat_probe_read_options_default(void);

/* What a row states about its measurements. */
typedef struct leat_probe_row_info {
    int64_t src_id;
    int64_t n_measurements;
    int64_t first_us, last_us; /* computed if the row does not have them; 0 without measurements */
    double time_span_seconds;
    bool has_first, has_last, has_span; /* whether the row has them */
    bool has_src_addr, has_ip_version;  /* columns of its measurements */
} leat_probe_row_info;

/*
 * Measurements as arrays. Initially {0}; each decoding replaces the contents and reuses the memory;
 * leat_measurements_free at the end. src and dst are indices into `addresses`, which usually (not
 * always) holds each text once.
 */
typedef struct leat_measurements {
    int64_t count;
    int64_t *time_us;
    int32_t *src, *dst;
    uint8_t *ip_version; /* 4 or 6 */
    float *rtt;          /* milliseconds; -1: failed */
    leat_probe_address *addresses;
    int64_t address_count;
    struct leat_probe_room *room; /* private */
} leat_measurements;
LEAT_API void leat_measurements_free(leat_measurements *measurements);
/* Measurement `index` as one struct; 0 <= index < count. The texts belong to *measurements. */
LEAT_API void leat_measurements_get(const leat_measurements *measurements, int64_t index,
                                    leat_measurement *out);

/*
 * Decodes and checks a complete record: the row's facts against the measurements, every address,
 * version, time (not before 1970) and rtt (finite). info and options may be NULL. LEAT_ERR_CORRUPT:
 * not a valid Arrow stream. LEAT_ERR_INPUT: valid, but not a probe row. LEAT_ERR_UNSUPPORTED:
 * valid, but uses a feature that is not supported. LEAT_ERR_LIMIT: above max_decoded_bytes.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_probe_record_decode(const void *record, int64_t size_bytes,
                                                            const leat_probe_read_options *options,
                                                            leat_measurements *out,
                                                            leat_probe_row_info *info,
                                                            leat_error *err);
/*
 * As leat_probe_record_decode, for a stream that is itself a table of measurements, of any number
 * of probes and batches. Times before 1970 and an infinite rtt are returned unchanged.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_probe_table_decode(const void *stream, int64_t size_bytes,
                                                           const leat_probe_read_options *options,
                                                           leat_measurements *out, leat_error *err);

/* ---- CAN caches --------------------------------------------------------------------------- */

/* The name of an attack by its code in attack_type: "benign", "dos", ...; "unlabelled" for -1; ""
 * for any other number. Code 0 is also that of attacks whose type is not known. */
LEAT_API const char *leat_can_attack_name(int code);
/* The same of a graph with label y: "attack of unknown type" if y is 1 and the code 0. */
LEAT_API const char *leat_can_attack_name_of(int y, int code);

/* ---- PNG ----------------------------------------------------------------------------------- */

/*
 * A PNG of 8-bit RGB rows without gaps, from top to bottom, with a chunk tEXt (Software, leat) by
 * which leat recognises it; leat_png_destroy. The bytes are a function of the pixels and of the
 * versions of libpng and zlib. LEAT_ERR_OPTION: a side is not in 1..65,500, or the image has more
 * than 2^26 pixels; LEAT_ERR_UNSUPPORTED: leat was built without libpng.
 */
typedef struct leat_png leat_png;
LEAT_API LEAT_MUST_CHECK leat_code leat_png_encode(leat_png **out, const uint8_t *rgb,
                                                   int32_t width, int32_t height, leat_error *err);
/* The bytes belong to the PNG. */
LEAT_API const uint8_t *leat_png_bytes(const leat_png *png, int64_t *size_bytes);
LEAT_API void leat_png_destroy(leat_png *png);
/* Reads a PNG file as it is, up to 64 MiB: its bytes are not decoded, but its size is read.
 * LEAT_ERR_INPUT: it is not a PNG. */
LEAT_API LEAT_MUST_CHECK leat_code leat_png_load(leat_png **out, const char *path, int32_t *width,
                                                 int32_t *height, leat_error *err);
/* Writes the file complete or not at all, as leat_text_save does, and replaces only what that would
 * (LEAT_MARK_PNG). */
LEAT_API LEAT_MUST_CHECK leat_code leat_png_save(const char *path, const uint8_t *rgb,
                                                 int32_t width, int32_t height, bool replace,
                                                 leat_error *err);

/* ---- Image data sets ---------------------------------------------------------------------- */

/* Why a file is not in an image data set. */
typedef enum leat_image_reason {
    LEAT_IMAGE_NOT_AN_IMAGE, /* its content is in none of the formats that are read */
    LEAT_IMAGE_DAMAGED,
    LEAT_IMAGE_TRUNCATED,
    LEAT_IMAGE_TOO_LARGE,
    LEAT_IMAGE_TOO_SMALL,
    LEAT_IMAGE_UNSUPPORTED,
    LEAT_IMAGE_UNREADABLE, /* permissions, input/output errors */
    LEAT_IMAGE_INCOMPLETE, /* a JPEG of several scans that lacks some, with a valid end */
    LEAT_IMAGE_BAD_NAME,   /* absolute, with "..", or given to another file too */
    LEAT_IMAGE_REASONS
} leat_image_reason;
/* "not_an_image", as in rejected.csv; "" for any other number. */
LEAT_API const char *leat_image_reason_name(int reason);

/* What is worth knowing of a file that is in an image data set. */
typedef enum leat_image_remark {
    LEAT_IMAGE_NO_END,      /* a JPEG with all its pixels, but without the marker of its end */
    LEAT_IMAGE_AFTER_END,   /* bytes after the end */
    LEAT_IMAGE_EXTRANEOUS,  /* a JPEG with bytes of no segment; a damaged scan may have left them */
    LEAT_IMAGE_TRANSPARENT, /* it has transparent pixels */
    LEAT_IMAGE_SEVERAL,     /* the first of several pictures (MPO, APNG) */
    LEAT_IMAGE_LOW_RANGE,   /* 16 bits, and no level reaches 1/8 of the range: nearly black */
    LEAT_IMAGE_REMARKS
} leat_image_remark;
/* "no_end_marker"; "" for any other number. */
LEAT_API const char *leat_image_remark_name(int remark);

#ifdef __cplusplus
}
#endif
#endif
