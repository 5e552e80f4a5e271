/*
 * What the verifications of CAN caches and image data sets share. Work is divided into pieces that
 * depend only on the data, each thread takes the next one, and findings are kept in the order of
 * the pieces: a report is the same for any number of threads.
 */
#ifndef LEAT_LOAD_CHECKS_H
#define LEAT_LOAD_CHECKS_H

#include "base/pool.h"
#include "base/ticker.h"
#include "format/tensor_file.h"
#include "load/findings.h"

typedef struct leat_checks {
    leat_verify_options options;
    leat_ticker ticker;
    leat_pool *pool;
    leat_findings findings;
} leat_checks;

/* Checks the options (NULL: the defaults) and starts the threads; leat_checks_end after success and
 * failure alike. */
LEAT_MUST_CHECK leat_code leat_checks_begin(leat_checks *checks, const leat_verify_options *options,
                                            leat_error *err);
/* Ends the threads, and gives up the findings unless the caller has taken them. */
void leat_checks_end(leat_checks *checks);
/* LEAT_ERR_MEMORY if a finding could not be kept. */
LEAT_MUST_CHECK leat_code leat_checks_result(const leat_checks *checks, leat_error *err);

/* The most pieces that work is divided into. */
enum { LEAT_CHECKS_PIECES_MAX = 4096 };
/* Checks one piece, on thread `thread`. Fails only when it cannot check (memory, cancelled). */
typedef leat_code (*leat_checks_fn)(void *context, int thread, int64_t piece,
                                    leat_findings *findings, leat_error *err);
/* Checks all pieces on all threads; findings are in the order of the pieces. */
LEAT_MUST_CHECK leat_code leat_checks_pieces(leat_checks *checks, int64_t count, leat_checks_fn fn,
                                             void *context, leat_error *err);
/* Records a failure as a finding; out of memory is returned. */
LEAT_MUST_CHECK leat_code leat_checks_tell(leat_findings *findings, const char *file,
                                           int64_t record, const leat_error *cause,
                                           leat_error *err);

/* A file of tensors in a folder, its page hashes, and what the metadata says of both. */
typedef struct leat_checks_file {
    const char *dir, *name, *pages_name;
    leat_tensor_file stated;
} leat_checks_file;
/*
 * Checks that the bytes of both files are those that were written; `quick`: only their sizes, and
 * the page hashes. Adds the bytes that were read to *read_bytes. *intact: every byte was read and
 * is right.
 */
LEAT_MUST_CHECK leat_code leat_checks_tensor_file(leat_checks *checks, const leat_checks_file *file,
                                                  int64_t *read_bytes, bool *intact,
                                                  leat_error *err);
/* Compares the beginning of a file with the only header that it may have; *same: it is that. */
LEAT_MUST_CHECK leat_code leat_checks_header(leat_checks *checks, const leat_checks_file *file,
                                             const uint8_t *header, int64_t header_bytes,
                                             bool *same, leat_error *err);

#endif
