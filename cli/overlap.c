/* What splits share: see overlap.h. */
#include "overlap.h"

#include <math.h>

static void write_sample(leat_cli *cli, const char *things, int halved) {
    if (halved > 0) leat_out(cli, " (in a sample, 1/%.0f of the %s)", ldexp(1, halved), things);
    leat_out(cli, "\n");
}

void leat_overlap_write(leat_cli *cli, const leat_split_overlap *overlap, const char *first,
                        const char *second) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    if (!overlap->known || overlap->measurements == 0) return;
    leat_out(cli, "%s%s of %s are between hosts of a path in train, in either direction", first,
             leat_words_count(a, overlap->mirrored),
             leat_things(b, overlap->measurements, "test measurement"));
    write_sample(cli, "pairs of hosts", overlap->pairs_halved);
    leat_out(cli, "%sof the hosts in test, %s of ", second,
             leat_words_count(a, overlap->sources_shared));
    leat_out(cli, "%s and %s of ", leat_things(a, overlap->sources, "source"),
             leat_words_count(b, overlap->destinations_shared));
    leat_out(cli, "%s are in train as well", leat_things(a, overlap->destinations, "destination"));
    write_sample(cli, "hosts", overlap->hosts_halved);
}

void leat_overlap_json(leat_json *json, const leat_split_overlap *overlap) {
    leat_json_key(json, "overlap");
    if (!overlap->known) {
        leat_json_null(json);
        return;
    }
    leat_json_begin_object(json);
    leat_json_member_int(json, "measurements", overlap->measurements);
    leat_json_member_int(json, "mirrored", overlap->mirrored);
    leat_json_member_double(json, "pairs_sample", ldexp(1, -overlap->pairs_halved));
    leat_json_member_int(json, "sources", overlap->sources);
    leat_json_member_int(json, "sources_shared", overlap->sources_shared);
    leat_json_member_int(json, "destinations", overlap->destinations);
    leat_json_member_int(json, "destinations_shared", overlap->destinations_shared);
    leat_json_member_double(json, "hosts_sample", ldexp(1, -overlap->hosts_halved));
    leat_json_end_object(json);
}
