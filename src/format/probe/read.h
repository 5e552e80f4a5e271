/* Probe rows, reading side: what whole decoding and reading of single measurements share. */
#ifndef LEAT_FORMAT_PROBE_READ_H
#define LEAT_FORMAT_PROBE_READ_H

#include "format/probe/row.h"

#define LEAT_PROBE_DECODED_MAX (INT64_C(4) << 30) /* default of max_decoded_bytes */

/* ---- schemas (schema.c) -------------------------------------------------------------- */

/* Columns of a record, by what they hold; the first three must be there. */
typedef enum leat_probe_fact {
    LEAT_PROBE_FACT_SRC_ID,
    LEAT_PROBE_FACT_MEASUREMENTS,
    LEAT_PROBE_FACT_COUNT,
    LEAT_PROBE_FACT_SPAN,
    LEAT_PROBE_FACT_FIRST,
    LEAT_PROBE_FACT_LAST,
    LEAT_PROBE_FACTS
} leat_probe_fact;

/* Names by leat_probe_fact and leat_probe_field, NULL at the end. */
extern const char *const leat_probe_fact_names[LEAT_PROBE_FACTS + 1];
extern const char *const leat_probe_field_names[LEAT_PROBE_FIELDS + 1];

/*
 * leat_arrow_read_schema with a short cut for the schemas that we write. names: one of the two
 * above. *schema is *room or a constant.
 */
LEAT_MUST_CHECK leat_code leat_probe_schema_read(leat_arrow_stream *stream,
                                                 const char *const *names, leat_arrow_schema *room,
                                                 const leat_arrow_schema **schema, leat_error *err);

/* ---- single values (values.c) ------------------------------------------------------- */

/* Whether the columns of a schema can be ours: LEAT_ERR_INPUT if not. */
LEAT_MUST_CHECK leat_code leat_probe_check_columns(const char *name,
                                                   const leat_arrow_schema *schema, bool has_source,
                                                   leat_error *err);

/* A stored integer; uint64 past int64 comes out negative, which no use of it allows. */
int64_t leat_probe_int(leat_arrow_type type, const uint8_t *at);
/* Floor to microseconds; false if it does not fit. */
bool leat_probe_time(leat_arrow_type type, const uint8_t *at, int64_t *time_us);
/* Milliseconds as float32, -0 as 0; negative and not-a-number are -1: failed. */
float leat_probe_rtt(leat_arrow_type type, const uint8_t *at);

/* Reads a text into *address; false if it is neither empty nor an address. */
bool leat_probe_address_read(leat_probe_address *address, const char *text, int64_t size_bytes);
LEAT_MUST_CHECK leat_code leat_probe_address_fail(const char *name, int64_t row,
                                                  leat_probe_field field, const char *text,
                                                  int64_t size_bytes, leat_error *err);
/*
 * The version of a measurement from those of its addresses (0: empty) and the stored one (0: none).
 * LEAT_ERR_INPUT where they contradict each other or nothing tells.
 */
LEAT_MUST_CHECK leat_code leat_probe_version(const char *name, int64_t row, int src, int dst,
                                             int64_t stored, uint8_t *version, leat_error *err);
/* What rows do not hold although tables may: LEAT_ERR_INPUT. */
LEAT_MUST_CHECK leat_code leat_probe_check_value(const char *name, int64_t row, int64_t time_us,
                                                 float rtt, leat_error *err);

/* ---- one measurement (row.c) ---------------------------------------------------------- */

/* Reads the source of a measurement into row->source; of a trusted row that has it: nothing. */
LEAT_MUST_CHECK leat_code leat_probe_source_at(leat_probe_row *row, int64_t index, leat_error *err);

/* ---- the outer record (outer.c) ------------------------------------------------------ */

typedef struct leat_probe_outer {
    leat_probe_row_info info;
    leat_arrow_span measurements; /* in the view, or in `decoded` */
    bool is_compressed;
} leat_probe_outer;

/*
 * Reads the outer record. Without `heap` metadata past the stack and compressed bodies are
 * LEAT_ERR_LIMIT; with it `measurements` is decoded to `decoded` where it is compressed.
 */
typedef struct leat_probe_heap {
    leat_buf metadata, decoded;
    int64_t decoded_left;  /* of max_decoded_bytes */
    int64_t *needed_bytes; /* of the options */
} leat_probe_heap;
/* leat_arrow_decoded_size, taken off what is left. */
LEAT_MUST_CHECK leat_code leat_probe_heap_take(leat_probe_heap *heap, leat_arrow_codec codec,
                                               const uint8_t *bytes, int64_t encoded_bytes,
                                               int64_t *size_bytes, leat_error *err);
LEAT_MUST_CHECK leat_code leat_probe_outer_read(const leat_view *view, leat_probe_heap *heap,
                                                leat_probe_outer *outer, leat_error *err);
/* span against first and last. */
LEAT_MUST_CHECK leat_code leat_probe_check_span(const leat_probe_row_info *info, leat_error *err);

/* ---- tables (table.c) ---------------------------------------------------------------- */

/* Reusable memory behind leat_measurements. */
typedef struct leat_probe_room {
    int64_t time_capacity, src_capacity, dst_capacity, version_capacity, rtt_capacity;
    int64_t address_capacity;
    int32_t *slots; /* hash table: 1 + index of an address, 0 empty */
    int64_t slot_count;
    int32_t *entries[2]; /* dictionaries of src_addr, dst_addr: indices of addresses, or < 0 */
    int64_t entry_count[2], entry_capacity[2];
    bool has_dictionary[2];
    leat_buf record; /* a record that its view does not hold in one piece */
    leat_probe_heap heap;
    leat_buf parts[3]; /* validity, values, data of the column at hand, decoded */
    leat_buf views;    /* its variadic buffers, decoded */
    leat_arrow_span *view_spans;
    int64_t view_capacity;
} leat_probe_room;

LEAT_MUST_CHECK leat_code leat_probe_room_get(leat_measurements *out, leat_error *err);
/* Room for `count` measurements in all. */
LEAT_MUST_CHECK leat_code leat_probe_room_grow(leat_measurements *out, int64_t count,
                                               leat_error *err);
/* Forgets addresses and measurements, keeps the memory. */
void leat_probe_room_clear(leat_measurements *out);
/* The index of a text in out->addresses, added if it is new; -1 in *index if it is not an address.
 */
LEAT_MUST_CHECK leat_code leat_probe_intern(leat_measurements *out, const char *text,
                                            int64_t size_bytes, int32_t *index, leat_error *err);
/* The bytes of a table. */
typedef struct leat_probe_table {
    const char *name; /* for messages */
    const uint8_t *bytes;
    int64_t size_bytes;
    bool is_row; /* see leat_probe_check_value */
} leat_probe_table;
/* Decodes a table and refills *out (emptied on failure); the room exists. *info gets has_src_addr
 * and has_ip_version. */
LEAT_MUST_CHECK leat_code leat_probe_read_table(const leat_probe_table *table,
                                                const leat_probe_read_options *options,
                                                leat_measurements *out, leat_probe_row_info *info,
                                                leat_error *err);

#endif
