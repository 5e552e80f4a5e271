/*
 * Schemas of probe rows, known by their bytes.
 *
 * Nearly every record has one of three schema messages, byte for byte: leat's, which are also
 * PyArrow's. Walking a schema is most of the work of opening a row, so its bytes are compared
 * first, and the result of the walk is a constant here. Any other schema is walked; a test compares
 * both.
 */
#include <string.h>

#include "format/probe/read.h"
#include "format/probe/template.h"

const char *const leat_probe_fact_names[LEAT_PROBE_FACTS + 1] = {"src_id",
                                                                 "measurements",
                                                                 "n_measurements",
                                                                 "time_span_seconds",
                                                                 "first_timestamp",
                                                                 "last_timestamp",
                                                                 NULL};
const char *const leat_probe_field_names[LEAT_PROBE_FIELDS + 1] = {
    "event_time", "src_addr", "dst_addr", "ip_version", "rtt", NULL};

#define V5 4
#define MICROSECONDS                                                                               \
    { LEAT_ARROW_TIMESTAMP, 8, 2, false }
#define INTEGER(bytes)                                                                             \
    { LEAT_ARROW_INT, bytes, 0, true }
#define FLOAT(bytes)                                                                               \
    { LEAT_ARROW_FLOAT, bytes, 0, false }
#define TEXT                                                                                       \
    { LEAT_ARROW_UTF8, 4, 0, false }

static const leat_arrow_schema outer_schema = {
    .columns = {{.present = true, .type = INTEGER(8), .node = 0, .buffer = 0},
                {.present = true, .type = {LEAT_ARROW_BINARY, 4, 0, false}, .node = 1, .buffer = 2},
                {.present = true, .type = INTEGER(4), .node = 2, .buffer = 5},
                {.present = true, .type = FLOAT(8), .node = 3, .buffer = 7},
                {.present = true, .type = MICROSECONDS, .node = 4, .buffer = 9},
                {.present = true, .type = MICROSECONDS, .node = 5, .buffer = 11}},
    .version = V5,
    .node_count = 6,
    .buffer_count = 13,
    .top_nodes = {63},
};

static const leat_arrow_schema plain_schema = {
    .columns = {{.present = true, .type = MICROSECONDS, .node = 0, .buffer = 0},
                {.present = true, .type = TEXT, .node = 1, .buffer = 2},
                {.present = true, .type = TEXT, .node = 2, .buffer = 5},
                {.present = true, .type = INTEGER(1), .node = 3, .buffer = 8},
                {.present = true, .type = FLOAT(4), .node = 4, .buffer = 10}},
    .version = V5,
    .node_count = 5,
    .buffer_count = 12,
    .top_nodes = {31},
};

static const leat_arrow_schema coded_schema = {
    .columns = {{.present = true, .type = MICROSECONDS, .node = 0, .buffer = 0},
                {.present = true,
                 .is_coded = true,
                 .type = TEXT,
                 .index = INTEGER(1),
                 .dictionary_id = 0,
                 .node = 1,
                 .buffer = 2},
                {.present = true, .type = TEXT, .node = 2, .buffer = 4},
                {.present = true, .type = INTEGER(1), .node = 3, .buffer = 7},
                {.present = true, .type = FLOAT(4), .node = 4, .buffer = 9}},
    .version = V5,
    .node_count = 5,
    .buffer_count = 11,
    .dictionary_count = 1,
    .dictionary_ids = {0},
    .top_nodes = {31},
};

static const struct {
    const uint8_t *bytes;
    int64_t size_bytes;
    const char *const *names;
    const leat_arrow_schema *schema;
} known[] = {
    {leat_outer_schema, sizeof leat_outer_schema, leat_probe_fact_names, &outer_schema},
    {leat_inner_schema, sizeof leat_inner_schema, leat_probe_field_names, &plain_schema},
    {leat_coded_schema, sizeof leat_coded_schema, leat_probe_field_names, &coded_schema},
};

leat_code leat_probe_schema_read(leat_arrow_stream *stream, const char *const *names,
                                 leat_arrow_schema *room, const leat_arrow_schema **schema,
                                 leat_error *err) {
    bool is_memory = leat_view_memory(stream->view) != NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int64_t size = known[i].size_bytes;
        const uint8_t *bytes;
        if (known[i].names != names || size > stream->end - stream->position ||
            (!is_memory && size > stream->scratch_bytes))
            continue;
        LEAT_TRY(
            leat_view_bytes(stream->view, stream->position, size, stream->scratch, &bytes, err));
        if (memcmp(bytes, known[i].bytes, (size_t)size) != 0) continue;
        stream->position += size;
        *schema = known[i].schema;
        return LEAT_OK;
    }
    *schema = room;
    return leat_arrow_read_schema(stream, names, room, err);
}
