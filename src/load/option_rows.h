/* Option rows and checks that loaders share. */
#ifndef LEAT_LOAD_OPTION_ROWS_H
#define LEAT_LOAD_OPTION_ROWS_H

#include "base/map.h"
#include "base/thread.h"
#include "load/ring.h"

/* Rows of a global batch, and hosts that share it. */
#define LEAT_BATCH_MAX (INT64_C(1) << 20)

/* Each is the inside of a row of the table of `type`. */
#define LEAT_LOADER_HOST(type, hosts_max)                                                          \
    .name = "host", .kind = LEAT_SETTING_INT, .place = offsetof(type, host_index),                 \
    .max = (hosts_max)-1, .neutral = true, .value = "H",                                           \
    .help = "make the share of host H, counted from 0"
#define LEAT_LOADER_HOSTS(type, hosts_max)                                                         \
    .name = "hosts", .kind = LEAT_SETTING_INT, .place = offsetof(type, host_count), .min = 1,      \
    .max = (hosts_max), .neutral = true, .help = "number of hosts that share the batches"
#define LEAT_LOADER_THREADS(type)                                                                  \
    .name = "threads", .kind = LEAT_SETTING_INT32, .place = offsetof(type, threads), .min = 1,     \
    .max = LEAT_THREADS_MAX, .neutral = true, .usually = "one per processor",                      \
    .help = "number of threads; the batches do not depend on it"
#define LEAT_LOADER_MEMORY(type)                                                                   \
    .name = "memory", .kind = LEAT_SETTING_SIZE, .place = offsetof(type, memory_bytes), .min = 1,  \
    .max = INT64_MAX, .neutral = true, .help = "memory limit, not counting mapped files"
#define LEAT_LOADER_PREFETCH(type)                                                                 \
    .name = "prefetch", .kind = LEAT_SETTING_INT, .place = offsetof(type, prefetch),               \
    .choices = "auto", .word_value = LEAT_PREFETCH_AUTO, .max = LEAT_PREFETCH_MAX,                 \
    .neutral = true, .value = "N|auto",                                                            \
    .help = "batches made ahead; auto: as many as --memory holds, at most 8"

/* A value whose range depends on other options. */
LEAT_MUST_CHECK leat_code leat_loader_check_range(const char *name, int64_t value, int64_t least,
                                                  int64_t most, leat_error *err);
/* A sampler takes any seed, but a state holds an int64_t. */
LEAT_MUST_CHECK leat_code leat_loader_check_seed(uint64_t seed, leat_error *err);
/* That host_index is one of host_count hosts, which divide a batch. */
LEAT_MUST_CHECK leat_code leat_loader_check_hosts(int64_t batch, int64_t host_count,
                                                  int64_t host_index, leat_error *err);

/* An epoch reads all of a file in random order: asks for it in large pieces, if memory holds it
 * with space to spare. */
void leat_loader_expect_all(const leat_map *map);

#endif
