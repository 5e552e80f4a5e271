/* leat synth probes: realistic synthetic ping measurements of any size from a seed. */
#include "leat/synth.h"
#include "synth/synth.h"

typedef struct probes_job {
    leat_synth_probes_options options;
    leat_synth_probes_result result;
} probes_job;

static int read_options(leat_cli *cli, void *of) {
    leat_synth_probes_options *options = &((probes_job *)of)->options;
    options->measurements = leat_cli_int(cli, "measurements");
    options->probes = leat_cli_int(cli, "probes");
    options->memory_bytes = leat_cli_int(cli, "memory");
    options->rows_per_file = leat_cli_int(cli, "rows-per-file");
    if (options->probes > options->measurements)
        return leat_cli_usage(cli, "--probes %lld: more probes than measurements (%lld)",
                              (long long)options->probes, (long long)options->measurements);
    return 0;
}

static leat_code make(const char *out, void *of, leat_error *err) {
    probes_job *job = of;
    return leat_synth_probes(out, &job->options, &job->result, err);
}

static void tell(leat_cli *cli, const char *out, const void *of) {
    const leat_synth_probes_result *result = &((const probes_job *)of)->result;
    char rows[LEAT_WORDS_BYTES], probes[LEAT_WORDS_BYTES], largest[LEAT_WORDS_BYTES];
    char bytes[LEAT_WORDS_BYTES];
    leat_out(cli, "wrote %s measurements of %s probes (the largest has %s)\n",
             leat_words_count(rows, result->measurements), leat_words_count(probes, result->probes),
             leat_words_count(largest, result->largest_probe));
    leat_out(cli, "to ");
    leat_out_name(cli, out);
    leat_out(cli, ": %lld %s, %s\n", (long long)result->files,
             result->files == 1 ? "file" : "files", leat_words_bytes(bytes, result->bytes_written));
}

static void members(leat_json *json, const void *of) {
    const leat_synth_probes_result *result = &((const probes_job *)of)->result;
    leat_json_member_int(json, "measurements", result->measurements);
    leat_json_member_int(json, "probes", result->probes);
    leat_json_member_int(json, "largest_probe", result->largest_probe);
    leat_json_member_int(json, "files", result->files);
}

static const leat_synth_kind kind = {read_options, make, tell, members};

static int run_synth_probes(leat_cli *cli) {
    probes_job job = {.options = leat_synth_probes_options_default()};
    const leat_synth_common common = LEAT_SYNTH_COMMON(&job, measurements);
    return leat_synth_run(cli, &kind, &common, &job);
}

static const leat_cli_option options[] = {
    {.own.name = "measurements",
     .own.kind = LEAT_SETTING_INT,
     .own.min = 1,
     .own.max = INT64_C(10000000000),
     .own.help = "number of measurements",
     .letter = 'n',
     .required = true},
    {.own.name = "output",
     .own.kind = LEAT_SETTING_OUTPUT,
     .own.help = "FILE.parquet, FILE.csv, or a folder for many Parquet files",
     .letter = 'o',
     .required = true},
    {.own.name = "probes",
     .own.kind = LEAT_SETTING_INT,
     .own.value = "P",
     .own.min = 1,
     .own.max = INT64_C(2000000000),
     .own.usually = "one per 235 measurements",
     .own.help = "number of probes",
     .letter = 'p'},
    LEAT_SYNTH_OPTION_SEED("seed of the measurements; the same seed gives the same bytes"),
    {.own.name = "rows-per-file",
     .own.kind = LEAT_SETTING_INT,
     .own.min = 1,
     .own.max = INT64_MAX,
     .own.help = "measurements per file in a folder",
     .preset = "10000000"},
    LEAT_SYNTH_OPTION_THREADS("number of files to write at once in a folder"),
    {.own.name = "memory",
     .own.kind = LEAT_SETTING_SIZE,
     .own.min = INT64_C(134217728),
     .own.max = INT64_MAX,
     .own.help = "memory limit; fewer files are written at once if necessary",
     .preset = "512M"},
    LEAT_SYNTH_OPTION_REPLACE,
    LEAT_CLI_OPTION_JSON,
    {0},
};

static const leat_cli_example examples[] = {
    {"leat synth probes --measurements 5000000 -o pings.parquet",
     "five million measurements of 21,276 probes in one file"},
    {"leat synth probes --measurements 1000000000 --seed 7 -o pings",
     "a hundred files of ten million each in the folder pings"},
    {0},
};

const leat_cli_command leat_cmd_synth_probes = {
    .words = "synth probes",
    .purpose = "write realistic synthetic ping measurements of any size, from a seed",
    .usage = "--measurements N -o PATH [options]",
    .about =
        "Writes ping measurements like those of a large measurement network: columns event_time, "
        "src_addr, dst_addr, ip_version and rtt, in order of time.\n\n"
        "57.7 % of the probes have IPv4 addresses; 3.5 % of the measurements failed (rtt -1); "
        "round-trip times have a median of 50 ms, a 99th percentile of 343 ms and stragglers up to "
        "302 s; a probe measures every 60 to 300 seconds, mostly towards a few hundred popular "
        "targets. Most probes are small; with about 100,000 probes or more, the largest has 1,800 "
        "times the mean and measures the entire time. The others start and end within that time, "
        "so that about the same number measure at any moment. Times begin on 2025-07-01, or "
        "earlier if they would otherwise end after July 2026.\n\n"
        "The same options and seed give the same bytes on any machine with the same DuckDB, with "
        "any number of threads. The output appears only when it is complete.",
    .argument = "argument",
    .max_arguments = 0,
    .options = options,
    .shows_progress = true,
    .examples = examples,
    .run = run_synth_probes,
};
