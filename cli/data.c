/* What the arguments of a command that reads data are: probe rows, a CAN cache, or neither, which
 * is told by its name before it fails as a damaged file would. */
#include <string.h>

#include "frame.h"
#include "leat/load_can.h"

static bool ends_with(const char *path, const char *suffix) {
    size_t size = strlen(path), end = strlen(suffix);
    return size >= end && strcmp(path + size - end, suffix) == 0;
}

/* A file that an ingest writes beside what it is about, or a split of a cache. */
static bool is_part(const char *path) {
    static const char *const names[] = {"manifest.json", "index.bin",  "run.json",
                                        "rejected.csv",  "vocab.json", "cache_metadata.json",
                                        "scaler.json"};
    const char *slash = strrchr(path, '/');
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(slash == NULL ? path : slash + 1, names[i]) == 0) return true;
    return ends_with(path, ".safetensors");
}

static int refuse_raw(leat_cli *cli, const char *path) {
    static const char *const suffixes[] = {".parquet",   ".csv",  ".csv.gz", ".ndjson",
                                           ".ndjson.gz", ".json", ".jsonl",  ".json.gz",
                                           ".jsonl.gz",  ".log",  ".log.gz"};
    if (is_part(path))
        return leat_cli_usage(cli, "\"%.200s\" is a part of a data set: give its folder", path);
    for (size_t k = 0; k < sizeof suffixes / sizeof suffixes[0]; k++) {
        if (!ends_with(path, suffixes[k])) continue;
        return leat_cli_usage(cli,
                              "\"%.200s\" holds raw data, this command takes what an ingest made: "
                              "run `leat ingest probes` or `leat ingest can` on it first",
                              path);
    }
    return 0;
}

static int refuse_options(leat_cli *cli, leat_cli_data data) {
    const leat_cli_option *options = cli->command->options;
    for (int i = 0; options[i].name != NULL; i++) {
        if (!cli->given[i] || options[i].of == LEAT_CLI_ANY || options[i].of == data) continue;
        return leat_cli_usage(cli, "--%s is for %s; \"%.200s\" holds %s", options[i].name,
                              data == LEAT_CLI_CAN ? "probe rows" : "CAN caches",
                              leat_cli_argument(cli, 0),
                              data == LEAT_CLI_CAN ? "a CAN cache" : "probe rows, if any data");
    }
    return 0;
}

int leat_cli_take_data(leat_cli *cli, leat_cli_data *data) {
    int count = leat_cli_argument_count(cli);
    *data = LEAT_CLI_PROBES;
    for (int i = 0; i < count; i++) {
        const char *path = leat_cli_argument(cli, i);
        int status = refuse_raw(cli, path);
        if (status != 0) return status;
        if (!leat_can_cache_is_at(path)) continue;
        if (count > 1) return leat_cli_usage(cli, "\"%.200s\" is a CAN cache: give it alone", path);
        *data = LEAT_CLI_CAN;
    }
    return refuse_options(cli, *data);
}
