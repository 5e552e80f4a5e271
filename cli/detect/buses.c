/* See detect.h: frames of a bus that is named, but does not come. */
#include <stdio.h>

#include "detect/detect.h"

/* Frames without one of the bus, after which it seems to be the wrong one. */
enum { FRAMES_ENOUGH = 1000 };

void leat_detect_bus_see(leat_detect_buses *buses, int64_t wanted, int32_t bus) {
    if (buses->followed) return;
    buses->followed = wanted < 0 || bus == wanted;
    buses->frames++;
    for (int i = 0; i < buses->count; i++)
        if (buses->bus[i] == bus) return;
    if (buses->count < LEAT_DETECT_BUSES) buses->bus[buses->count++] = bus;
    else buses->more = true;
}

/* "buses 0, 1 and others". */
static void name_buses(const leat_detect_buses *buses, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, buses->count > 1 ? "buses" : "bus");
    for (int i = 0; i < buses->count; i++) {
        const bool last = i > 0 && i + 1 == buses->count && !buses->more;
        used += (size_t)snprintf(text + used, size - used, "%s %d",
                                 last    ? " and"
                                 : i > 0 ? ","
                                         : "",
                                 (int)buses->bus[i]);
    }
    if (buses->more) snprintf(text + used, size - used, " and others");
}

void leat_detect_bus_note(leat_cli *cli, leat_detect_buses *buses, int64_t wanted, bool ended) {
    char names[16 * (LEAT_DETECT_BUSES + 2)], frames[LEAT_WORDS_BYTES];
    if (buses->followed || buses->frames == 0) return;
    if (!ended && (buses->frames < FRAMES_ENOUGH || buses->told)) return;
    buses->told = true;
    name_buses(buses, names, sizeof names);
    leat_cli_note(cli, "none of %s is of bus %lld, the one to follow: they are of %s; %s",
                  leat_things(frames, buses->frames, "frame"), (long long)wanted, names,
                  ended ? "nothing was watched: use --bus N for a bus that is there"
                        : "nothing is watched until one is; if it is the wrong bus, use --bus N");
}
