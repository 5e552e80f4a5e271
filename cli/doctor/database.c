/* leat doctor --db: whether runs can be coordinated or worked on in a database. */
#include <stdio.h>

#include "crowd/crowd.h"
#include "doctor/doctor.h"

static void tell_finding(void *user, leat_crowd_verdict verdict, const char *what,
                         const char *todo) {
    static const leat_verdict verdicts[] = {LEAT_DOCTOR_OK, LEAT_DOCTOR_NOTE, LEAT_DOCTOR_PROBLEM};
    leat_doctor_tell(user, verdicts[verdict], what, todo);
}

static void tell_verdict(leat_doctor *doc, const leat_crowd_facts *facts, int64_t workers) {
    char what[160];
    if (!facts->can_coordinate && !facts->can_work) {
        leat_doctor_tell(doc, LEAT_DOCTOR_PROBLEM,
                         "verdict: runs can be neither coordinated nor worked on", "");
        return;
    }
    int size = snprintf(what, sizeof what, "verdict: runs can be %s",
                        !facts->can_work         ? "coordinated"
                        : !facts->can_coordinate ? "worked on"
                                                 : "coordinated and worked on");
    if (facts->workers_missing > 0)
        snprintf(what + size, sizeof what - (size_t)size,
                 ", but not by %lld workers: connections for %lld of them are missing",
                 (long long)workers, (long long)facts->workers_missing);
    leat_doctor_tell(doc, facts->workers_missing > 0 ? LEAT_DOCTOR_NOTE : LEAT_DOCTOR_OK, what,
                     facts->workers_missing > 0 ? "see the line \"connections\"" : "");
}

int leat_doctor_database(leat_doctor *doc, const char *url, int64_t workers) {
    leat_error err = {0};
    leat_crowd_facts *facts = &doc->database;
    leat_crowd_forget_environment();
    if (leat_crowd_check(url, workers, tell_finding, doc, facts, &err) != LEAT_OK)
        return leat_cli_fail(doc->cli, &err);
    tell_verdict(doc, facts, workers);
    doc->has_database = true;
    return 0;
}

static void member_int(leat_json *json, const char *key, int64_t value) {
    if (value >= 0) {
        leat_json_member_int(json, key, value);
    } else {
        leat_json_key(json, key);
        leat_json_null(json);
    }
}

void leat_doctor_database_json(leat_json *json, const leat_crowd_facts *facts) {
    static const char *const poolers[] = {"unknown", "none", "session", "transaction", "statement"};
    leat_json_key(json, "database");
    leat_json_begin_object(json);
    leat_json_member_bool(json, "can_coordinate", facts->can_coordinate);
    leat_json_member_bool(json, "can_work", facts->can_work);
    leat_json_member_string(json, "host", facts->host);
    leat_json_member_string(json, "port", facts->port);
    leat_json_member_string(json, "login", facts->login);
    leat_json_member_string(json, "database", facts->database);
    leat_json_member_string(json, "failed", facts->failed);
    leat_json_member_int(json, "server_version", facts->server_version);
    leat_json_member_string(json, "pooler", poolers[facts->pooler]);
    leat_json_member_bool(json, "loopback", facts->loopback);
    leat_json_member_string(json, "tls", facts->tls);
    leat_json_member_bool(json, "certificate_verified", facts->verified);
    leat_json_member_bool(json, "public_may_connect", facts->public_may_connect);
    member_int(json, "schema_version", facts->schema_version);
    member_int(json, "open_runs", facts->open_runs);
    member_int(json, "database_bytes", facts->database_bytes);
    member_int(json, "free_bytes", facts->free_bytes);
    leat_json_member_known(json, "clock_seconds", facts->clock_seconds);
    leat_json_member_known(json, "round_trip_seconds", facts->round_trip_seconds);
    leat_json_member_known(json, "up_bytes_per_second", facts->up_bytes);
    leat_json_member_known(json, "down_bytes_per_second", facts->down_bytes);
    member_int(json, "connections", facts->connections);
    member_int(json, "connections_max", facts->connections_max);
    member_int(json, "workers_fit", facts->workers_fit);
    leat_json_member_int(json, "workers_missing", facts->workers_missing);
    leat_json_member_bool(json, "may_end_sessions", facts->may_end_sessions);
    member_int(json, "step_bytes", facts->step_bytes);
    member_int(json, "snapshot_age", facts->snapshot_age);
    leat_json_end_object(json);
}
