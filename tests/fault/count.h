/*
 * Counts the bytes that base has taken from the heap and from the system and not given back, in
 * programs that link leat_base_faults: unlike the resident set the same in every run, on every
 * machine. leat_rss_bytes and leat_rss_peak_bytes are these numbers there.
 */
#ifndef LEAT_TESTS_FAULT_COUNT_H
#define LEAT_TESTS_FAULT_COUNT_H

#include <stdint.h>

void count_add(int64_t bytes);
int64_t count_live(void);
/* The most since the program began, or since count_restart. */
int64_t count_peak(void);
void count_restart(void);

#endif
