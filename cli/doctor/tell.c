/* Findings of `leat doctor`, of which everything that is checked tells its own: see doctor.h. */
#include <stdio.h>

#include "doctor/doctor.h"

static const char *const verdict_words[] = {"ok", "note", "problem"};

void leat_doctor_tell(leat_doctor *doc, leat_verdict how, const char *what, const char *todo) {
    doc->counts[how]++;
    if (doc->json == NULL) {
        leat_out(doc->cli, "%-8s ", verdict_words[how]);
        leat_out_name(doc->cli, what);
        leat_out(doc->cli, "%s%s\n", todo[0] != 0 ? "; " : "", todo);
        return;
    }
    leat_json_begin_object(doc->json);
    leat_json_member_string(doc->json, "verdict", verdict_words[how]);
    leat_json_member_string(doc->json, "what", what);
    if (todo[0] != 0) leat_json_member_string(doc->json, "do", todo);
    leat_json_end_object(doc->json);
}

bool leat_doctor_tell_memory(leat_doctor *doc, const char *data, int64_t size_bytes) {
    char what[LEAT_MESSAGE_BYTES], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    int64_t memory_bytes = 0;
    if (!leat_data_exceeds_memory(size_bytes, &memory_bytes)) return false;
    snprintf(what, sizeof what, "%s has %s, more than the %s of memory", data,
             leat_words_bytes(a, size_bytes), leat_words_bytes(b, memory_bytes));
    leat_doctor_tell(doc, LEAT_DOCTOR_NOTE, what,
                     "train with --order windowed, which reads it once an epoch");
    return true;
}

void leat_doctor_tell_findings(leat_doctor *doc, const leat_verify_finding *findings, int64_t count,
                               int64_t all) {
    char what[LEAT_MESSAGE_BYTES + 300], words[LEAT_WORDS_BYTES];
    for (int64_t i = 0; i < count; i++) {
        snprintf(what, sizeof what, "%s: %s", findings[i].file, findings[i].reason);
        leat_doctor_tell(doc, findings[i].note ? LEAT_DOCTOR_NOTE : LEAT_DOCTOR_PROBLEM, what, "");
    }
    if (all > count) {
        snprintf(what, sizeof what, "and %s more of this kind",
                 leat_words_count(words, all - count));
        leat_doctor_tell(doc, LEAT_DOCTOR_PROBLEM, what, "");
    }
}
