/* leat synth images: synthetic face portraits from a seed. */
#include "leat/synth.h"
#include "synth/synth.h"

typedef struct images_job {
    leat_synth_images_options options;
    leat_synth_images_result result;
} images_job;

static int read_options(leat_cli *cli, void *of) {
    images_job *job = of;
    job->options.count = leat_cli_int(cli, "count");
    return 0;
}

static leat_code make(const char *out, void *of, leat_error *err) {
    images_job *job = of;
    return leat_synth_images(out, &job->options, &job->result, err);
}

static void tell(leat_cli *cli, const char *out, const void *of) {
    const leat_synth_images_result *result = &((const images_job *)of)->result;
    char images[LEAT_WORDS_BYTES], bytes[LEAT_WORDS_BYTES];
    leat_out(cli, "wrote %s to ", leat_things(images, result->images, "image"));
    leat_out_name(cli, out);
    leat_out(cli, ": %s\n", leat_words_bytes(bytes, result->bytes_written));
}

static void members(leat_json *json, const void *of) {
    const leat_synth_images_result *result = &((const images_job *)of)->result;
    leat_json_member_int(json, "images", result->images);
}

static const leat_synth_kind kind = {read_options, make, tell, members};

static int run_synth_images(leat_cli *cli) {
    images_job job = {.options = leat_synth_images_options_default()};
    const leat_synth_common common = LEAT_SYNTH_COMMON(&job, images);
    return leat_synth_run(cli, &kind, &common, &job);
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
    LEAT_SYNTH_OPTION_SEED("seed of the images; the same seed gives the same images"),
    LEAT_SYNTH_OPTION_THREADS("number of images to draw at once"),
    LEAT_SYNTH_OPTION_REPLACE,
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
    .purpose = "write any number of synthetic face portraits, from a seed",
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
