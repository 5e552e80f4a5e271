/* leat synth can: logs of synthetic vehicles, with attacks, from a seed. */
#include <string.h>

#include "cli.h"
#include "leat/ingest.h"

/* The bit of the attack with this name; 0 if there is none. */
static unsigned find_attack(const char *text, int size) {
    for (int i = 0; leat_synth_can_attack_name(i) != NULL; i++) {
        const char *name = leat_synth_can_attack_name(i);
        if ((int)strlen(name) == size && memcmp(name, text, (size_t)size) == 0) return 1U << i;
    }
    return 0;
}

/* --attacks: names with commas between them. */
static int read_attacks(leat_cli *cli, leat_synth_can_options *options) {
    const char *text = leat_cli_text(cli, "attacks");
    options->attacks = 0;
    for (;;) {
        int size = (int)strcspn(text, ",");
        unsigned attack = find_attack(text, size);
        if (attack == 0)
            return leat_cli_usage(cli,
                                  "--attacks: \"%.*s\" is not accepted; it takes some of dos, "
                                  "fuzzing, replay, spoof and suppress, with commas between them",
                                  size, text);
        if ((options->attacks & attack) != 0)
            return leat_cli_usage(cli, "--attacks: %.*s is named twice", size, text);
        options->attacks |= attack;
        if (text[size] == 0) return 0;
        text += size + 1;
    }
}

static void write_summary(leat_cli *cli, const char *out, const leat_synth_can_result *result) {
    char frames[LEAT_WORDS_BYTES], attacks[LEAT_WORDS_BYTES], intervals[LEAT_WORDS_BYTES];
    char bytes[LEAT_WORDS_BYTES], rate[LEAT_WORDS_BYTES], time[LEAT_WORDS_BYTES];
    char peak[LEAT_WORDS_BYTES];
    double per_second = (double)result->frames / (result->seconds > 0 ? result->seconds : 1);
    leat_out(cli, "wrote %s frames of %lld %s", leat_words_count(frames, result->frames),
             (long long)result->vehicles, result->vehicles == 1 ? "vehicle" : "vehicles");
    if (result->held_out > 0) leat_out(cli, " (%lld in tests only)", (long long)result->held_out);
    leat_out(cli, ", %s of them of attackers, in %s intervals\n",
             leat_words_count(attacks, result->attack_frames),
             leat_words_count(intervals, result->intervals));
    leat_out(cli, "to %s: %lld files, %s\n", out, (long long)result->files,
             leat_words_bytes(bytes, result->bytes_written));
    leat_out(cli, "in %s: %s frames/s, peak memory %s\n", leat_words_seconds(time, result->seconds),
             leat_words_count(rate, (int64_t)per_second),
             leat_words_bytes(peak, result->memory_peak_bytes));
}

typedef struct json_source {
    const char *out;
    const leat_synth_can_result *result;
} json_source;

static void json_members(leat_json *json, const void *of) {
    const json_source *source = of;
    const leat_synth_can_result *result = source->result;
    leat_json_member_string(json, "out", source->out);
    leat_json_member_int(json, "frames", result->frames);
    leat_json_member_int(json, "attack_frames", result->attack_frames);
    leat_json_member_int(json, "vehicles", result->vehicles);
    leat_json_member_int(json, "held_out", result->held_out);
    leat_json_member_int(json, "files", result->files);
    leat_json_member_int(json, "intervals", result->intervals);
    leat_json_member_int(json, "bytes_written", result->bytes_written);
    leat_json_member_int(json, "memory_peak_bytes", result->memory_peak_bytes);
    leat_json_member_double(json, "seconds", result->seconds);
}

static int run_synth_can(leat_cli *cli) {
    leat_synth_can_options options = leat_synth_can_options_default();
    leat_synth_can_result result;
    leat_error err = {0};
    const char *out = leat_cli_text(cli, "output");
    options.vehicles = leat_cli_int(cli, "vehicles");
    options.frames = leat_cli_int(cli, "frames");
    options.seed = (uint64_t)leat_cli_int(cli, "seed");
    options.replace = leat_cli_flag(cli, "replace");
    options.progress = leat_cli_progress;
    options.progress_user = cli;
    if (leat_cli_given(cli, "threads")) options.threads = (int)leat_cli_int(cli, "threads");
    int status = read_attacks(cli, &options);
    if (status != 0) return status;
    leat_cli_cancellable(cli);
    if (leat_synth_can(out, &options, &result, &err) != LEAT_OK) return leat_cli_fail(cli, &err);
    leat_cli_progress_end(cli);
    json_source source = {out, &result};
    if (leat_cli_flag(cli, "json")) return leat_out_object(cli, json_members, &source);
    write_summary(cli, out, &result);
    return 0;
}

static const leat_cli_option options[] = {
    {.name = "frames",
     .letter = 'n',
     .kind = LEAT_CLI_INT,
     .value = "N",
     .help = "how many frames, over all files",
     .min = 700,
     .max = INT64_C(10000000000),
     .required = true},
    {.name = "output",
     .letter = 'o',
     .kind = LEAT_CLI_TEXT,
     .value = "DIR",
     .help = "the folder to make",
     .required = true},
    {.name = "vehicles",
     .kind = LEAT_CLI_INT,
     .value = "V",
     .help = "how many vehicles; of two or more a quarter, at least one, is in tests only",
     .preset = "1",
     .min = 1,
     .max = 1000},
    {.name = "attacks",
     .kind = LEAT_CLI_TEXT,
     .value = "LIST",
     .help = "which attacks there are, with commas between them",
     .preset = "dos,fuzzing,replay,spoof,suppress"},
    {.name = "seed",
     .kind = LEAT_CLI_INT,
     .value = "S",
     .help = "another seed gives other vehicles, the same seed the same bytes",
     .preset = "0"},
    {.name = "threads",
     .kind = LEAT_CLI_INT,
     .value = "N",
     .help = "files written at once; without it one per processor",
     .min = 1,
     .max = 256},
    {.name = "replace", .kind = LEAT_CLI_FLAG, .help = "replace what an earlier run has written"},
    LEAT_CLI_OPTION_JSON,
    {0},
};

static const leat_cli_example examples[] = {
    {"leat synth can --frames 2000000 -o cars", "one vehicle, all attacks"},
    {"leat synth can --vehicles 4 --frames 20000000 --attacks dos,spoof --seed 7 -o cars",
     "three vehicles to train with and one that only the tests know"},
    {0},
};

const leat_cli_command leat_cmd_synth_can = {
    .words = "synth can",
    .purpose = "realistic logs of vehicles under attack, of any size, from a seed",
    .usage = "--frames N -o DIR [options]",
    .about =
        "Writes what a logger on a CAN bus would, as CSV files of four columns, timestamp, "
        "arbitration_id, data_field and attack, in folders as leat ingest can takes them: "
        "train_01_attack_free, train_02_with_attacks, test_01_dos and so on for each attack, and, "
        "from two vehicles on, test_06_unknown_vehicle, of vehicles that are in no training "
        "folder. Files are named ATTACK_DRIVE-VEHICLE.csv and have from a hundred to two million "
        "frames.\n\n"
        "Each vehicle has 40 to 56 periodic identifiers of its own, every second one a few with "
        "29 bits besides: periods from 10 ms to 1 s with jitter and clocks that drift, sent in "
        "order of arbitration over 500 kbit/s; payloads of sensors, modes, counters, checksums "
        "and constants. Times rise in each file.\n\n"
        "Attacks come and go, about every 20 seconds. dos: identifier 000 floods the bus. "
        "fuzzing: random identifiers and payloads. replay: all that was on the bus some seconds "
        "ago, again. spoof: one identifier with other values, at two to six times its rate. "
        "suppress: one identifier is left out. The column attack is 1 for a frame that the "
        "attacker sent and 0 for any other; so it is 0 throughout where a message is suppressed, "
        "as nothing in a log marks what is missing. attacks.csv in DIR says when each attack was, "
        "on which identifier, and how many frames it put in or left out.\n\n"
        "The same options and seed give the same bytes, on any machine and whatever the threads. "
        "The folder appears whole or not at all.",
    .argument = "argument",
    .max_arguments = 0,
    .options = options,
    .examples = examples,
    .run = run_synth_can,
};
