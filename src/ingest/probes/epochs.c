/* Numbers as times: see epochs.h. */
#include "ingest/probes/epochs.h"

#include <stdio.h>
#include <string.h>

#include "base/time.h"

#define YEAR_1995 788918400.0
#define DAY 86400.0

typedef struct epoch {
    const char *words;
    double unit_s, begin_s;  /* from 1970 */
    const char *unit, *todo; /* of --column; or else what to do */
} epoch;

static const epoch epochs[] = {
    {"Excel serial days", DAY, -25569 * DAY, "excel", NULL},
    {"days since 1970", DAY, 0, NULL, "multiply them by 86400"},
    {"modified Julian days", DAY, -40587 * DAY, NULL, "subtract 40587, and multiply by 86400"},
    {"Julian days", DAY, -2440587.5 * DAY, NULL, "subtract 2440587.5, and multiply by 86400"},
    {"days of MATLAB's datenum", DAY, -719529 * DAY, NULL, "subtract 719529, multiply by 86400"},
    {"hours since 1970", 3600, 0, NULL, "multiply them by 3600"},
    {"minutes since 1970", 60, 0, NULL, "multiply them by 60"},
    {"NTP seconds since 1900", 1, -2208988800.0, NULL, "subtract 2208988800"},
    {"seconds since 1904", 1, -2082844800.0, NULL, "subtract 2082844800"},
};

bool leat_epochs_list(int64_t first_us, int64_t now_us, const char *column, char *out,
                      size_t out_bytes) {
    const double number = (double)first_us / 1e6, now = (double)now_us / 1e6 + DAY;
    size_t used = 0;
    out[0] = 0;
    for (size_t i = 0; i < sizeof epochs / sizeof *epochs && used < out_bytes; i++) {
        const double at = number * epochs[i].unit_s + epochs[i].begin_s;
        char date[LEAT_TIME_TEXT_BYTES] = "";
        if (at < YEAR_1995 || at > now) continue;
        leat_time_format((int64_t)(at * 1e6), date);
        used += (size_t)snprintf(out + used, out_bytes - used, "%s%s from %.10s on (",
                                 used > 0 ? ", or " : "they may be ", epochs[i].words, date);
        if (used < out_bytes && epochs[i].unit != NULL)
            used += (size_t)snprintf(out + used, out_bytes - used, "--column event_time=%s:%s)",
                                     column, epochs[i].unit);
        else if (used < out_bytes)
            used += (size_t)snprintf(out + used, out_bytes - used, "%s)", epochs[i].todo);
    }
    return used > 0;
}
