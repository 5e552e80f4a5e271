/*
 * RUN/ledger.jsonl: who computed what of a run that many machines train. The database forgets it,
 * this file does not. A JSON object a line; its first member is the SHA-256 of the line before it,
 * line end included (zeros in the first line), so that whoever knows the last hash can tell whether
 * a line was changed, inserted or removed:
 *
 *     {"before":"00..","kind":"begin","step":0,"run":"..","model":"..","data":"..",
 *      "kernel_class":"..","leat_version":"..","coordinator":"host"}   a coordinator begins
 *     {"before":"..","kind":"unit","step":1,"unit":0,"account":"ann","machine":"..","hash":".."}
 *                                  its result counts; no account: the coordinator computed it
 *     {"before":"..","kind":"refused","step":1,"unit":0,"account":"bob","machine":"..",
 *      "hash":"..","mismatch":false,"reason":".."}                     its result does not count
 *     {"before":"..","kind":"step","step":1,"state":"..","gradient_norm":0.5,"statistics_norm":2.0}
 *                                  all units of it are above; medians of the norms of their results
 *     {"before":"..","kind":"rewind","step":1,"folder":"rewound-1"}    what is above of later steps
 *                                  is no longer the run's (rewind.h)
 *
 * Steps count from 1, as in metrics.jsonl. Lines of a step are on disk before the database commits
 * it; so if a coordinator dies at that moment, the step is taken again and has lines twice.
 */
#ifndef LEAT_TRAIN_RUN_LEDGER_H
#define LEAT_TRAIN_RUN_LEDGER_H

#include "base/file.h"
#include "base/mem.h"
#include "leat/train.h"

/* Where `"kind":"step",` is in each line: after {"before":"HASH", */
#define LEAT_LEDGER_KIND_AT 77

typedef struct leat_ledger {
    leat_file *file; /* NULL: closed */
    int64_t size_bytes;
    char head[65];      /* hash of the last line, written or not */
    leat_buf unwritten; /* lines */
} leat_ledger;

/* Opens the file, which is created if it is missing, and checks it; the beginning of a line at its
 * end, which a killed process has left, is removed. LEAT_ERR_CORRUPT names the first line that does
 * not follow from the one before it. */
LEAT_MUST_CHECK leat_code leat_ledger_open(leat_ledger *ledger, const char *path, leat_error *err);
void leat_ledger_close(leat_ledger *ledger);
/* Begins a line: *json is an object to which the caller adds members before leat_ledger_end, which
 * destroys it. */
LEAT_MUST_CHECK leat_code leat_ledger_begin(const leat_ledger *ledger, const char *kind,
                                            leat_json **json, leat_error *err);
LEAT_MUST_CHECK leat_code leat_ledger_end(leat_ledger *ledger, leat_json *json, leat_error *err);
/* Writes the lines that have ended, and waits until they are on disk. */
LEAT_MUST_CHECK leat_code leat_ledger_sync(leat_ledger *ledger, leat_error *err);

#endif
