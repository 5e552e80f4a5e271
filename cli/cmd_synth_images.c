/* leat synth images: synthetic face portraits from a seed. */
#include "frame/cli.h"
#include "leat/synth.h"

static void write_summary(leat_cli *cli, const char *out, const leat_synth_images_result *result) {
    char images[LEAT_WORDS_BYTES], bytes[LEAT_WORDS_BYTES], rate[LEAT_WORDS_BYTES];
    char time[LEAT_WORDS_BYTES], peak[LEAT_WORDS_BYTES];
    double per_second = (double)result->images / (result->seconds > 0 ? result->seconds : 1);
    leat_out(cli, "wrote %s to ", leat_things(images, result->images, "image"));
    leat_out_name(cli, out);
    leat_out(cli, ": %s\n", leat_words_bytes(bytes, result->bytes_written));
    leat_out(cli, "in %s: %s images/s, peak memory %s\n", leat_words_seconds(time, result->seconds),
             leat_words_rate(rate, per_second), leat_words_bytes(peak, result->memory_peak_bytes));
}

typedef struct json_source {
    const char *out;
    const leat_synth_images_result *result;
} json_source;

static void json_members(leat_json *json, const void *of) {
    const json_source *source = of;
    const leat_synth_images_result *result = source->result;
    leat_json_member_string(json, "out", source->out);
    leat_json_member_int(json, "images", result->images);
    leat_json_member_int(json, "bytes_written", result->bytes_written);
    leat_json_member_int(json, "memory_peak_bytes", result->memory_peak_bytes);
    leat_json_member_double(json, "seconds", result->seconds);
}

static int run_synth_images(leat_cli *cli) {
    leat_synth_images_options options = leat_synth_images_options_default();
    leat_synth_images_result result;
    leat_error err = {0};
    const char *out = leat_cli_text(cli, "output");
    options.count = leat_cli_int(cli, "count");
    options.seed = (uint64_t)leat_cli_int(cli, "seed");
    options.replace = leat_cli_flag(cli, "replace");
    options.progress = leat_cli_progress;
    options.progress_user = cli;
    if (leat_cli_given(cli, "threads")) options.threads = (int)leat_cli_int(cli, "threads");
    leat_cli_cancellable(cli);
    if (leat_synth_images(out, &options, &result, &err) != LEAT_OK) return leat_cli_fail(cli, &err);
    leat_cli_progress_end(cli);
    const json_source source = {out, &result};
    if (leat_cli_flag(cli, "json")) return leat_out_object(cli, json_members, &source);
    write_summary(cli, out, &result);
    return 0;
}

static const leat_cli_option options[] = {
    {.own.name = "count",
     .own.kind = LEAT_SETTING_INT,
     .own.min = 1,
     .own.max = LEAT_SYNTH_IMAGES_MAX,
     .own.help = "number of images",
     .letter = 'n',
     .required = true},
    {.own.name = "output",
     .own.kind = LEAT_SETTING_OUTPUT,
     .own.value = "DIR|FILE.zip",
     .own.help = "folder to create, or zip archive to write",
     .letter = 'o',
     .required = true},
    {.own.name = "seed",
     .own.kind = LEAT_SETTING_INT,
     .own.value = "S",
     .own.max = INT64_MAX,
     .own.help = "seed of the images; the same seed gives the same images",
     .preset = "0"},
    {.own.name = "threads",
     .own.kind = LEAT_SETTING_INT,
     .own.min = 1,
     .own.max = 256,
     .own.usually = "one per processor",
     .own.help = "number of images to draw at once"},
    {.own.name = "replace",
     .own.kind = LEAT_SETTING_FLAG,
     .own.help = "replace the output of an earlier run"},
    LEAT_CLI_OPTION_JSON,
    {0},
};

static const leat_cli_example examples[] = {
    {"leat synth images -n 1000 -o faces", "a folder of 1,000 images"},
    {"leat synth images -n 202599 --seed 7 -o faces.zip",
     "as many as CelebA has, in one archive (1.3 GiB)"},
    {0},
};

const leat_cli_command leat_cmd_synth_images = {
    .words = "synth images",
    .purpose = "any number of synthetic face portraits, from a seed",
    .usage = "--count N -o DIR|FILE.zip [options]",
    .about =
        "Writes JPEG files of 178 x 218 pixels, the size of CelebA's aligned images: painted faces "
        "with varied skin, hair, eyes, mouths, light, pose and background, named 000001.jpg, "
        "000002.jpg and so on. They go to a folder, or, if the name of the output ends with .zip, "
        "into one archive, which is faster for large numbers.\n\n"
        "Image i is a function of the seed and i: a larger number with the same seed begins with "
        "the same images, on any machine and with any number of threads. The output appears only "
        "when it is complete.",
    .argument = "argument",
    .max_arguments = 0,
    .options = options,
    .shows_progress = true,
    .examples = examples,
    .run = run_synth_images,
};
