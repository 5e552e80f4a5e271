/* Option rows shared by both ingests: each is the inside of a row of `type`. */
#ifndef LEAT_INGEST_OPTION_ROWS_H
#define LEAT_INGEST_OPTION_ROWS_H

#include "base/error.h"
#include "base/thread.h"
#include "leat/ingest.h"

#define LEAT_INGEST_MEMORY(type, least_mib)                                                        \
    .name = "memory", .kind = LEAT_SETTING_SIZE, .place = offsetof(type, memory_bytes),            \
    .min = INT64_C(least_mib) << 20, .max = INT64_MAX, .neutral = true,                            \
    .help = "memory limit of the process"
#define LEAT_INGEST_THREADS(type)                                                                  \
    .name = "threads", .kind = LEAT_SETTING_INT32, .place = offsetof(type, threads), .min = 1,     \
    .max = LEAT_THREADS_MAX, .neutral = true, .usually = "one per processor",                      \
    .help = "number of threads; the output does not depend on it"
#define LEAT_INGEST_FLAG(type, word, field)                                                        \
    .name = word, .kind = LEAT_SETTING_FLAG, .place = offsetof(type, field), .neutral = true
#define LEAT_INGEST_RESUME(type)                                                                   \
    LEAT_INGEST_FLAG(type, "resume", resume),                                                      \
        .help = "continue an interrupted ingest after its scan; a complete one is left as it is"
#define LEAT_INGEST_REPLACE(type)                                                                  \
    LEAT_INGEST_FLAG(type, "replace", replace),                                                    \
        .help = "replace the output, even if it is complete or was interrupted; third-party "      \
                "files stay"
#define LEAT_INGEST_VERIFY(type) LEAT_INGEST_FLAG(type, "verify", verify)
/* For the options of both. */
LEAT_MUST_CHECK static inline leat_code leat_ingest_check_flags(bool resume, bool replace,
                                                                leat_error *err) {
    if (!resume || !replace) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "--resume continues work that --replace removes; they exclude each other, use "
                     "one of them");
}

#define LEAT_INGEST_TEMP(type)                                                                     \
    .name = "temp", .kind = LEAT_SETTING_OUTPUT, .place = offsetof(type, temp_dir),                \
    .neutral = true, .value = "DIR", .usually = "inside the output folder"

#endif
