/* The findings of verification, reported in order and counted, for probe rows and CAN caches. */
#ifndef LEAT_LOAD_FINDINGS_H
#define LEAT_LOAD_FINDINGS_H

#include "leat/load.h"

/* Findings in order; all are counted, the first `kept_max` kept. {0} but for kept_max. */
typedef struct leat_findings {
    leat_verify_finding *items;
    int64_t count, capacity, kept_max;
    int64_t problems, notes;
    leat_error failure; /* no memory to keep one: the verification fails */
} leat_findings;

/* record -1: the entire file. */
void leat_findings_add(leat_findings *list, bool note, const char *file, int64_t record,
                       const char *format, ...) LEAT_PRINTF(5, 6);
#define LEAT_PROBLEM(list, file, record, ...)                                                      \
    leat_findings_add((list), false, (file), (record), __VA_ARGS__)
#define LEAT_NOTE(list, file, record, ...)                                                         \
    leat_findings_add((list), true, (file), (record), __VA_ARGS__)
/* Moves the findings of `from` to the end of the others, and frees it. */
LEAT_MUST_CHECK leat_code leat_findings_append(leat_findings *to, leat_findings *from,
                                               leat_error *err);
void leat_findings_free(leat_findings *list);

#endif
