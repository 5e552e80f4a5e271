/* Rtts of Parquet files: converted, and counted as written. See parquet_rtts.h. */
#include "ingest/probes/parquet_rtts.h"

#include <string.h>

#include "ingest/probes/notes.h"
#include "ingest/value_text.h"

static inline double written(const leat_parquet_rtts *rtts, int64_t i) {
    return rtts->is_double ? ((const double *)rtts->data)[i]
                           : (double)((const float *)rtts->data)[i];
}

static inline bool is_valid(const leat_parquet_rtts *rtts, int64_t i) {
    return rtts->valid == NULL || (rtts->valid[i / 64] >> (i % 64) & 1) != 0;
}

void leat_parquet_rtts_take(const leat_parquet_rtts *rtts, const leat_source_options *options,
                            int64_t count, float *out) {
    const leat_lost *lost = options->lost;
    const leat_rtt_unit unit = options->rtt_unit;
    const bool plain = unit == LEAT_RTT_UNIT_MS || unit == LEAT_RTT_UNIT_AUTO;
    if (plain && !rtts->is_double) {
        memcpy(out, rtts->data, (size_t)count * sizeof *out);
    } else {
        for (int64_t i = 0; i < count; i++) out[i] = leat_rtt_of_number(written(rtts, i), unit);
    }
    for (int64_t i = 0; lost != NULL && lost->count > 0 && i < count; i++)
        if (leat_lost_find(lost, written(rtts, i), !rtts->is_double) >= 0) out[i] = NAN;
    for (int64_t i = 0; rtts->valid != NULL && i < count; i++)
        if (!is_valid(rtts, i)) out[i] = NAN;
}

void leat_parquet_rtts_note(const leat_parquet_rtts *rtts, const leat_source_options *options,
                            int32_t file_index, int64_t first, int64_t count) {
    leat_rtt_tally tally = {.single = !rtts->is_double};
    if (options->notes == NULL) return;
    for (int64_t i = first; i < first + count; i++)
        leat_rtt_tally_add(&tally, options->lost,
                           is_valid(rtts, i) ? written(rtts, i) : (double)NAN);
    leat_notes_add_rtts(options->notes, file_index, &tally);
}
