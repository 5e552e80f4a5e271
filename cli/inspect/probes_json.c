/* `leat inspect --json`: everything that the page shows, as one document. Units are in the names.
 */
#include <math.h>

#include "inspect/inspect.h"
#include "overlap.h"

static void put_time(leat_json *json, const char *name, int64_t time_us) {
    char words[LEAT_WORDS_BYTES];
    leat_json_member_string(json, name, leat_words_time(words, time_us));
}

static void put_part(leat_json *json, const char *name, const leat_summary_part *part) {
    leat_json_key(json, name);
    leat_json_begin_object(json);
    leat_json_member_int(json, "shards", part->shards);
    leat_json_member_int(json, "probes", part->probes);
    leat_json_member_int(json, "rows", part->rows);
    leat_json_member_int(json, "measurements", part->measurements);
    leat_json_member_int(json, "record_bytes", part->record_bytes);
    leat_json_member_int(json, "file_bytes", part->file_bytes);
    leat_json_end_object(json);
}

static void put_losses(leat_json *json, const char *name, const char *things,
                       const int64_t counts[LEAT_LOSSES]) {
    leat_json_key(json, name);
    leat_json_begin_array(json);
    for (int i = 0; i < LEAT_LOSSES; i++) {
        leat_json_begin_object(json);
        leat_json_member_string(json, "failed", leat_loss_words[i]);
        leat_json_member_int(json, things, counts[i]);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

static void put_rtts(leat_json *json, const leat_summary *s) {
    static const char *const versions[] = {"ipv4", "ipv6"};
    leat_distribution dist;
    leat_json_key(json, "rtt_ms_by_version");
    leat_json_begin_object(json);
    for (int version = 0; version < 2; version++) {
        leat_summary_rtts(s, -1, version, &dist);
        leat_json_distribution(json, versions[version], &dist, 1e-6);
    }
    leat_json_end_object(json);
    leat_json_key(json, "rtt_ms_by_split");
    leat_json_begin_object(json);
    for (int split = 0; split <= LEAT_SPLITS; split++) {
        leat_summary_rtts(s, split, -1, &dist);
        if (s->split[split].shards > 0)
            leat_json_distribution(json, leat_split_words((leat_split)split), &dist, 1e-6);
    }
    leat_json_end_object(json);
    leat_json_key(json, "rtt_ms_by_hour");
    leat_json_begin_array(json);
    for (int hour = 0; hour < 24; hour++) {
        const leat_distribution *of = &s->rtt_ns_by_hour[hour];
        if (of->count == 0) continue;
        leat_json_begin_object(json);
        leat_json_member_int(json, "hour", hour);
        leat_json_member_int(json, "count", of->count);
        leat_json_member_double(json, "p10", leat_distribution_quantile(of, 0.1) * 1e-6);
        leat_json_member_double(json, "p50", leat_distribution_quantile(of, 0.5) * 1e-6);
        leat_json_member_double(json, "p90", leat_distribution_quantile(of, 0.9) * 1e-6);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
    put_losses(json, "rows_by_failures", "rows", s->rows_by_loss);
}

static void put_destinations(leat_json *json, const leat_summary *s) {
    leat_json_key(json, "destinations");
    leat_json_begin_object(json);
    leat_json_member_int(json, "count", s->destinations);
    leat_json_member_double(json, "sample", ldexp(1, -s->destinations_halved));
    leat_json_member_int(json, "least_measurements", LEAT_SUMMARY_JUDGED);
    put_losses(json, "by_failures", "destinations", s->destinations_by_loss);
    leat_json_key(json, "worst");
    leat_json_begin_array(json);
    for (int i = 0; i < s->worst_count; i++) {
        leat_json_begin_object(json);
        leat_json_member_string(json, "dst_addr", s->worst[i].dst);
        leat_json_member_int(json, "measurements", s->worst[i].measurements);
        leat_json_member_int(json, "failures", s->worst[i].failures);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
    leat_json_end_object(json);
}

static void put_values(leat_json *json, const leat_summary *s) {
    leat_json_key(json, "values");
    leat_json_begin_object(json);
    leat_json_member_bool(json, "of_every_row", s->rows_read == s->all.rows);
    leat_json_member_int(json, "rows_read", s->rows_read);
    leat_json_member_int(json, "measurements_read", s->measurements_read);
    leat_json_member_int(json, "bytes_read", s->bytes_read);
    leat_json_member_int(json, "duplicates", s->duplicates_read);
    leat_json_member_int(json, "ipv4_measurements", s->values_by_version[0]);
    leat_json_member_int(json, "ipv4_failures", s->failures_by_version[0]);
    leat_json_member_int(json, "ipv6_measurements", s->values_by_version[1]);
    leat_json_member_int(json, "ipv6_failures", s->failures_by_version[1]);
    leat_json_distribution(json, "rtt_ms", &s->rtt_ns, 1e-6);
    put_rtts(json, s);
    put_destinations(json, s);
    leat_json_distribution(json, "gap_seconds", &s->gap_us, 1e-6);
    leat_json_key(json, "over_time");
    leat_json_begin_object(json);
    leat_json_member_double(json, "step_seconds", (double)s->timeline.step_us * 1e-6);
    leat_json_key(json, "bins");
    leat_json_begin_array(json);
    for (int i = 0; i < s->timeline.bins; i++) {
        if (s->timeline.measurements[i] == 0) continue;
        leat_json_begin_object(json);
        put_time(json, "begin", s->timeline.begin_us + i * s->timeline.step_us);
        leat_json_member_int(json, "measurements", s->timeline.measurements[i]);
        leat_json_member_int(json, "failures", s->timeline.failures[i]);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
    leat_json_end_object(json);
    leat_json_end_object(json);
}

static void put_ingest(leat_json *json, const leat_summary_ingest *ingest) {
    if (!ingest->known) return;
    leat_json_key(json, "ingest");
    leat_json_begin_object(json);
    leat_json_member_int(json, "rows_read", ingest->rows_read);
    leat_json_member_int(json, "rejected", ingest->rejected);
    leat_json_key(json, "rejected_reasons");
    leat_json_begin_object(json);
    for (int i = 0; i < ingest->reason_count; i++)
        leat_json_member_int(json, ingest->reasons[i].name, ingest->reasons[i].rows);
    leat_json_end_object(json);
    leat_json_key(json, "duplicates");
    if (ingest->duplicates < 0) leat_json_null(json);
    else leat_json_int(json, ingest->duplicates);
    leat_json_member_int(json, "duplicates_dropped", ingest->duplicates_dropped);
    leat_overlap_json(json, &ingest->overlap);
    leat_json_end_object(json);
}

/* Parts of the time of the data set that have answers. */
static void put_course(leat_json *json, const leat_summary *s, const leat_summary_course *course) {
    leat_json_key(json, "course");
    leat_json_begin_array(json);
    for (int part = 0; part < LEAT_SUMMARY_COURSE; part++) {
        if (course->answers[part] == 0) continue;
        leat_json_begin_object(json);
        put_time(json, "from", (int64_t)leat_course_begin(s, part));
        put_time(json, "to", (int64_t)leat_course_begin(s, part + 1));
        leat_json_member_int(json, "answers", course->answers[part]);
        leat_json_member_double(json, "mean_ms", course->ms[part] / (double)course->answers[part]);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

static void put_probes(leat_json *json, const leat_summary *s) {
    leat_json_key(json, "largest_probes");
    leat_json_begin_array(json);
    for (int i = 0; i < s->top_count; i++) {
        const leat_summary_probe *probe = &s->top[i];
        leat_json_begin_object(json);
        leat_json_member_int(json, "src_id", probe->src_id);
        leat_json_member_string(json, "src_addr", probe->src);
        leat_json_member_string(json, "split", leat_split_words(probe->split));
        leat_json_member_int(json, "measurements", probe->measurements);
        leat_json_member_int(json, "rows", probe->rows);
        leat_json_member_int(json, "record_bytes", probe->record_bytes);
        leat_json_member_int(json, "first_row", probe->first_row);
        leat_json_member_int(json, "measurements_read", probe->measurements_read);
        leat_json_member_int(json, "failures", probe->failures);
        put_time(json, "first", probe->first_us);
        put_time(json, "last", probe->last_us);
        if (i < LEAT_SUMMARY_COURSES) put_course(json, s, &s->top_course[i]);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

static void put_measurements(leat_json *json, const leat_summary_row *row) {
    leat_json_key(json, "first_measurements");
    leat_json_begin_array(json);
    for (int k = 0; k < row->shown_count; k++) {
        const leat_summary_measurement *m = &row->shown[k];
        leat_json_begin_object(json);
        put_time(json, "event_time", m->time_us);
        leat_json_member_string(json, "dst_addr", m->dst);
        leat_json_key(json, "rtt_ms");
        if (m->rtt < 0) leat_json_null(json);
        else leat_json_float(json, m->rtt);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

static void put_rows(leat_json *json, const leat_summary *s) {
    leat_json_key(json, "rows");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < s->row_count; i++) {
        const leat_summary_row *row = &s->rows[i];
        leat_json_begin_object(json);
        leat_json_member_int(json, "row", row->row);
        leat_json_member_string(json, "shard", s->shards[row->shard].path);
        leat_json_member_int(json, "record", row->record);
        leat_json_member_int(json, "src_id", row->src_id);
        leat_json_member_string(json, "src_addr", row->src);
        leat_json_member_string(json, "ip_version",
                                row->ip_version == 4   ? "4"
                                : row->ip_version == 6 ? "6"
                                                       : "4+6");
        leat_json_member_int(json, "measurements", row->measurements);
        leat_json_member_int(json, "failures", row->failures);
        leat_json_member_int(json, "record_bytes", row->record_bytes);
        put_time(json, "first", row->first_us);
        put_time(json, "last", row->last_us);
        put_measurements(json, row);
        put_course(json, s, &row->course);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

static void put_shards(leat_json *json, const leat_summary *s) {
    leat_json_key(json, "shards");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < s->shard_count; i++) {
        const leat_summary_shard *shard = &s->shards[i];
        leat_json_begin_object(json);
        leat_json_member_string(json, "file", shard->path);
        leat_json_member_string(json, "split", leat_split_words(shard->split));
        leat_json_member_int(json, "rows", shard->rows);
        leat_json_member_int(json, "measurements", shard->measurements);
        leat_json_member_int(json, "file_bytes", shard->file_bytes);
        if (shard->rows > 0) {
            put_time(json, "first", shard->first_us);
            put_time(json, "last", shard->last_us);
        }
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

void leat_found_json(leat_json *json, const leat_found *found) {
    leat_json_member_int(json, "problems", found->problems);
    leat_json_member_int(json, "notes", found->notes);
    leat_json_key(json, "findings");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < found->count; i++) {
        const leat_verify_finding *finding = &found->items[i];
        leat_json_begin_object(json);
        leat_json_member_string(json, "kind", finding->note ? "note" : "problem");
        leat_json_member_string(json, "file", finding->file);
        if (finding->record >= 0) leat_json_member_int(json, found->record, finding->record);
        leat_json_member_string(json, "reason", finding->reason);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

static void put_verify(leat_json *json, const leat_verify_report *verify) {
    const leat_found found = {verify->findings, verify->finding_count, verify->problem_count,
                              verify->note_count, "record"};
    leat_json_key(json, "verification");
    leat_json_begin_object(json);
    leat_json_member_bool(json, "ok", verify->problem_count == 0);
    leat_json_member_int(json, "shards", verify->shards);
    leat_json_member_int(json, "rows", verify->rows);
    leat_json_member_int(json, "measurements", verify->measurements);
    leat_json_member_int(json, "file_bytes", verify->file_bytes);
    leat_found_json(json, &found);
    leat_json_end_object(json);
}

void leat_report_json(leat_json *json, const void *of) {
    const leat_report *report = of;
    const leat_summary *s = report->summary;
    leat_json_member_string(json, "path", report->name);
    if (s != NULL) {
        leat_json_member_string(json, "kind",
                                s->ours ? "probe rows, data set of leat"
                                        : "probe rows, ArrayRecord files");
        leat_json_member_string(json, "fingerprint", s->fingerprint);
        if (s->probe[0] != 0) leat_json_member_string(json, "probe", s->probe);
        put_part(json, "all", &s->all);
        for (int split = 0; split <= LEAT_SPLITS; split++)
            if (s->split[split].shards > 0)
                put_part(json, leat_split_words((leat_split)split), &s->split[split]);
        if (s->all.rows > 0) {
            put_time(json, "first", s->first_us);
            put_time(json, "last", s->last_us);
        }
        leat_json_member_int(json, "ipv4_measurements", s->measurements_by_version[0]);
        leat_json_member_int(json, "ipv6_measurements", s->measurements_by_version[1]);
        leat_json_member_int(json, "mixed_row_measurements", s->measurements_by_version[2]);
        leat_json_distribution(json, "measurements_per_row", &s->row_measurements, 1);
        leat_json_distribution(json, "measurements_per_probe", &s->probe_measurements, 1);
        leat_json_distribution(json, "row_bytes", &s->record_bytes, 1);
        leat_json_distribution(json, "row_span_seconds", &s->row_span_us, 1e-6);
        leat_json_distribution(json, "rows_per_shard", &s->shard_rows, 1);
        put_ingest(json, &s->ingest);
        put_values(json, s);
        put_probes(json, s);
        put_rows(json, s);
        put_shards(json, s);
    }
    if (report->verify != NULL) put_verify(json, report->verify);
}
