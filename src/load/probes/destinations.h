/*
 * Measurements and failures of each destination, in bounded memory.
 *
 * Up to `most` destinations all are counted. If there are more, only those whose hash begins with a
 * zero bit are, then with two, and so on: a sample of the destinations that is a function of which
 * there are, whatever their order, with complete counts of each. (Wegman's adaptive sampling, in P.
 * Flajolet, On adaptive sampling, Computing 43, 1990.)
 */
#ifndef LEAT_LOAD_PROBES_DESTINATIONS_H
#define LEAT_LOAD_PROBES_DESTINATIONS_H

#include "base/error.h"
#include "leat/load.h"

typedef struct leat_destination {
    uint8_t address[16]; /* IPv4 as ::ffff:a.b.c.d */
    int64_t measurements, failures;
} leat_destination;

typedef struct leat_destinations {
    leat_destination *slots; /* without measurements: empty */
    int64_t slot_count, used;
    int64_t most;
    int level; /* zero bits that the hash of a counted destination begins with */
} leat_destinations;

/* An empty table: {.most = most}. */
void leat_destinations_free(leat_destinations *table);
void leat_destinations_clear(leat_destinations *table);
/* Adds the counts of one; measurements > 0. */
LEAT_MUST_CHECK leat_code leat_destinations_add(leat_destinations *table,
                                                const leat_destination *one, leat_error *err);
/* Adds those of `from`, which counts all of its destinations. */
LEAT_MUST_CHECK leat_code leat_destinations_merge(leat_destinations *table,
                                                  const leat_destinations *from, leat_error *err);
/* An address of a row as a key; one without text has the version of its measurement. */
void leat_destination_key(const leat_probe_address *address, int ip_version, uint8_t key[16]);
/* Fills the summary's members on destinations. */
void leat_destinations_summarise(const leat_destinations *table, leat_summary *summary);
leat_loss leat_loss_of(int64_t failures, int64_t count);

#endif
