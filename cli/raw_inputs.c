/* What is given to a command that reads data sets and is none: told by its name, before it fails as
 * a damaged ArrayRecord file would. */
#include <string.h>

#include "cli.h"

static bool ends_with(const char *path, const char *suffix) {
    size_t size = strlen(path), end = strlen(suffix);
    return size >= end && strcmp(path + size - end, suffix) == 0;
}

/* A file that an ingest writes beside the shards. */
static bool is_part(const char *path) {
    static const char *const names[] = {"manifest.json", "index.bin", "run.json", "rejected.csv"};
    const char *slash = strrchr(path, '/');
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(slash == NULL ? path : slash + 1, names[i]) == 0) return true;
    return false;
}

int leat_cli_refuse_raw(leat_cli *cli) {
    static const char *const suffixes[] = {".parquet", ".csv",       ".csv.gz",
                                           ".ndjson",  ".ndjson.gz", ".json",
                                           ".jsonl",   ".json.gz",   ".jsonl.gz"};
    for (int i = 0; i < leat_cli_argument_count(cli); i++) {
        const char *path = leat_cli_argument(cli, i);
        if (is_part(path))
            return leat_cli_usage(cli, "\"%.200s\" is a part of a data set: give its folder", path);
        for (size_t k = 0; k < sizeof suffixes / sizeof suffixes[0]; k++) {
            if (!ends_with(path, suffixes[k])) continue;
            return leat_cli_usage(
                cli,
                "\"%.200s\" holds raw measurements, this command takes data sets: "
                "run `leat ingest probes` on it first",
                path);
        }
    }
    return 0;
}
