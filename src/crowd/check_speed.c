/* How far away the server is: round trips, bytes in a second, and the difference of the clocks. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/thread.h"
#include "crowd/check.h"

/* Messages of 64 KiB, 256 KiB, 1 MiB and 4 MiB, until one takes long enough to be a measurement. */
enum { TRIPS = 9, FIRST_BYTES = 64 << 10, LAST_BYTES = 4 << 20, GROWTH = 4 };
#define ENOUGH_SECONDS 0.3

static double seconds_since(int64_t begin_ns) {
    return (double)(leat_clock_ns() - begin_ns) * 1e-9;
}

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

/* Each trip asks for the server's clock: the shortest says best what it was halfway. */
static void tell_trips(leat_check *self) {
    double seconds[TRIPS], shortest = INFINITY, ahead = NAN;
    for (int i = 0; i < TRIPS; i++) {
        leat_pg_rows *rows = NULL;
        const int64_t begin_ns = leat_clock_ns();
        if (!leat_check_ask(self, "round trip", &rows, 1,
                            "select extract(epoch from clock_timestamp())", NULL))
            return;
        seconds[i] = seconds_since(begin_ns);
        if (seconds[i] < shortest) {
            shortest = seconds[i];
            ahead = leat_pg_real(rows, 0, 0) - (now() - shortest / 2);
        }
        leat_pg_rows_destroy(rows);
    }
    self->facts->round_trip_seconds = leat_median(seconds, TRIPS);
    self->facts->clock_seconds = ahead;
    leat_check_tell(self, LEAT_CROWD_OK, "", "round trip: %.2f ms (median of %d)",
                    self->facts->round_trip_seconds * 1e3, TRIPS);
    leat_check_tell(self, LEAT_CROWD_OK, "",
                    "clock: the server's is %.1f s %s this machine's; nothing depends on that",
                    fabs(ahead), ahead < 0 ? "behind" : "ahead of");
}

/* Bytes in a second, less a round trip; NaN: not measured. Nothing is stored. */
static double measure(leat_check *self, bool up, const char *bytes) {
    const char *sql = up ? "select octet_length($1::bytea)" : "select repeat('x', $1::integer)";
    double rate = NAN;
    for (int64_t size = FIRST_BYTES; size <= LAST_BYTES; size *= GROWTH) {
        leat_pg_rows *rows = NULL;
        const leat_pg_value value = up ? LEAT_PG_B(bytes, size) : LEAT_PG_I(size);
        const int64_t begin_ns = leat_clock_ns();
        if (!leat_check_ask(self, up ? "bandwidth up" : "bandwidth down", &rows, 1, sql, &value))
            return NAN;
        const double all = seconds_since(begin_ns), trip = self->facts->round_trip_seconds;
        leat_pg_rows_destroy(rows);
        rate = (double)size / (all > 2 * trip ? all - trip : all);
        if (all >= ENOUGH_SECONDS) break;
    }
    return rate;
}

void leat_check_speed(leat_check *self) {
    void *bytes = NULL;
    tell_trips(self);
    if (isnan(self->facts->round_trip_seconds)) return;
    if (leat_block_alloc(&bytes, LAST_BYTES, NULL) != LEAT_OK) {
        leat_check_tell(self, LEAT_CROWD_NOTE, "", "bandwidth: not measured: out of memory");
        return;
    }
    memset(bytes, 'x', LAST_BYTES);
    self->facts->up_bytes = measure(self, true, bytes);
    self->facts->down_bytes = isnan(self->facts->up_bytes) ? NAN : measure(self, false, bytes);
    leat_block_free(bytes, LAST_BYTES);
    if (!isnan(self->facts->down_bytes))
        leat_check_tell(self, LEAT_CROWD_OK, "", "bandwidth: %.2f MB/s up, %.2f MB/s down",
                        self->facts->up_bytes * 1e-6, self->facts->down_bytes * 1e-6);
}
