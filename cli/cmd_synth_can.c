/* leat synth can: logs of synthetic vehicles, with attacks, from a seed. */
#include <string.h>

#include "leat/synth.h"
#include "synth/synth.h"

/* The bit of the attack with this name; 0 if unknown. */
static unsigned find_attack(const char *text, int size) {
    for (int i = 0; leat_synth_can_attack_name(i) != NULL; i++) {
        const char *name = leat_synth_can_attack_name(i);
        if ((int)strlen(name) == size && memcmp(name, text, (size_t)size) == 0) return 1U << i;
    }
    return 0;
}

/* --attacks: names separated by commas. */
static int read_attacks(leat_cli *cli, leat_synth_can_options *options) {
    const char *text = leat_cli_text(cli, "attacks");
    options->attacks = 0;
    for (;;) {
        int size = (int)strcspn(text, ",");
        unsigned attack = find_attack(text, size);
        if (attack == 0)
            return leat_cli_usage(cli,
                                  "--attacks: \"%.*s\" is not accepted; it takes dos, fuzzing, "
                                  "replay, spoof and suppress, separated by commas",
                                  size, text);
        if ((options->attacks & attack) != 0)
            return leat_cli_usage(cli, "--attacks: %.*s is given twice", size, text);
        options->attacks |= attack;
        if (text[size] == 0) return 0;
        text += size + 1;
    }
}

typedef struct can_job {
    leat_synth_can_options options;
    leat_synth_can_result result;
} can_job;

static int read_options(leat_cli *cli, void *of) {
    can_job *job = of;
    job->options.vehicles = leat_cli_int(cli, "vehicles");
    job->options.frames = leat_cli_int(cli, "frames");
    return read_attacks(cli, &job->options);
}

static leat_code make(const char *out, void *of, leat_error *err) {
    can_job *job = of;
    return leat_synth_can(out, &job->options, &job->result, err);
}

static void tell(leat_cli *cli, const char *out, const void *of) {
    const leat_synth_can_result *result = &((const can_job *)of)->result;
    char frames[LEAT_WORDS_BYTES], attacks[LEAT_WORDS_BYTES], intervals[LEAT_WORDS_BYTES];
    char bytes[LEAT_WORDS_BYTES];
    leat_out(cli, "wrote %s frames of %lld %s", leat_words_count(frames, result->frames),
             (long long)result->vehicles, result->vehicles == 1 ? "vehicle" : "vehicles");
    if (result->held_out > 0) leat_out(cli, " (%lld in tests only)", (long long)result->held_out);
    leat_out(cli, ", %s of them sent by attackers, in %s intervals\n",
             leat_words_count(attacks, result->attack_frames),
             leat_words_count(intervals, result->intervals));
    leat_out(cli, "to ");
    leat_out_name(cli, out);
    leat_out(cli, ": %lld files, %s\n", (long long)result->files,
             leat_words_bytes(bytes, result->bytes_written));
}

static void members(leat_json *json, const void *of) {
    const leat_synth_can_result *result = &((const can_job *)of)->result;
    leat_json_member_int(json, "frames", result->frames);
    leat_json_member_int(json, "attack_frames", result->attack_frames);
    leat_json_member_int(json, "vehicles", result->vehicles);
    leat_json_member_int(json, "held_out", result->held_out);
    leat_json_member_int(json, "files", result->files);
    leat_json_member_int(json, "intervals", result->intervals);
}

static const leat_synth_kind kind = {read_options, make, tell, members};

static int run_synth_can(leat_cli *cli) {
    can_job job = {.options = leat_synth_can_options_default()};
    const leat_synth_common common = LEAT_SYNTH_COMMON(&job, frames);
    return leat_synth_run(cli, &kind, &common, &job);
}

static const leat_cli_option options[] = {
    {.own.name = "frames",
     .own.kind = LEAT_SETTING_INT,
     .own.min = 700,
     .own.max = INT64_C(10000000000),
     .own.help = "total number of frames in all files",
     .letter = 'n',
     .required = true},
    {.own.name = "output",
     .own.kind = LEAT_SETTING_OUTPUT,
     .own.value = "DIR",
     .own.help = "folder to create",
     .letter = 'o',
     .required = true},
    {.own.name = "vehicles",
     .own.kind = LEAT_SETTING_INT,
     .own.value = "V",
     .own.min = 1,
     .own.max = 1000,
     .own.help = "number of vehicles; with two or more, a quarter (at least one) appears only in "
                 "tests",
     .preset = "1"},
    {.own.name = "attacks",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "LIST",
     .own.help = "attacks to include, separated by commas",
     .preset = "dos,fuzzing,replay,spoof,suppress"},
    LEAT_SYNTH_OPTION_SEED("seed of the vehicles; the same seed gives the same bytes"),
    LEAT_SYNTH_OPTION_THREADS("number of files to write at once"),
    LEAT_SYNTH_OPTION_REPLACE,
    LEAT_CLI_OPTION_JSON,
    {0},
};

static const leat_cli_example examples[] = {
    {"leat synth can --frames 2000000 -o cars", "one vehicle, all attacks"},
    {"leat synth can --vehicles 4 --frames 20000000 --attacks dos,spoof --seed 7 -o cars",
     "three vehicles for training and one that appears only in tests"},
    {0},
};

const leat_cli_command leat_cmd_synth_can = {
    .words = "synth can",
    .purpose = "write realistic logs of vehicles under attack, of any size, from a seed",
    .usage = "--frames N -o DIR [options]",
    .about =
        "Writes logs as recorded on a CAN bus: CSV files with the four columns timestamp, "
        "arbitration_id, data_field and attack, in the folders that leat ingest can expects: "
        "train_01_attack_free, train_02_with_attacks, test_01_dos and so on for each attack, and, "
        "with two or more vehicles, test_06_unknown_vehicle, with vehicles that are in no training "
        "folder. Files are named ATTACK_DRIVE-VEHICLE.csv and have from a hundred to two million "
        "frames.\n\n"
        "Each vehicle has its own 40 to 56 periodic identifiers; every second vehicle also has a "
        "few with 29 bits. Periods range from 10 ms to 1 s, with jitter and clock drift; frames "
        "are sent in arbitration order at 500 kbit/s; payloads hold sensors, modes, counters, "
        "checksums and constants. Times increase in each file.\n\n"
        "Attacks start and stop about every 20 seconds. dos: identifier 000 floods the bus. "
        "fuzzing: random identifiers and payloads. replay: traffic recorded a few seconds earlier "
        "is sent again. spoof: one identifier with false values, at two to six times its rate. "
        "suppress: one identifier is omitted. The column attack is 1 for frames sent by the "
        "attacker and 0 for all others; it is 0 throughout a suppress attack, because a log does "
        "not mark missing frames. attacks.csv in DIR lists the time and identifier of each attack, "
        "and how many frames it added or removed.\n\n"
        "The same options and seed give the same bytes on any machine, with any number of threads. "
        "The folder appears only when it is complete.",
    .argument = "argument",
    .max_arguments = 0,
    .options = options,
    .shows_progress = true,
    .examples = examples,
    .run = run_synth_can,
};
