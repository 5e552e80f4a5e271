/* leat ingest images: JPEG and PNG to an image data set. */

#include "ingest.h"
#include "leat/ingest.h"

/* ---- The summary ------------------------------------------------------------------------- */

static void write_counts(leat_cli *cli, const char *out, const leat_images_ingest_result *result) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    leat_out(cli, "read    %s = %s + %s rejected", leat_things(a, result->files, "file"),
             leat_things(b, result->images, "image"), leat_words_count(c, result->rejected));
    if (result->rejected > 0)
        leat_out(cli, " (%.3g %%)", 100.0 * (double)result->rejected / (double)result->files);
    leat_out(cli, "\n");
    for (int i = 0; i < LEAT_IMAGE_REASONS; i++)
        if (result->rejected_by[i] > 0)
            leat_out(cli, "        rejected: %s %s\n", leat_words_count(a, result->rejected_by[i]),
                     leat_image_reason_name(i));
    if (result->rejected > 0) {
        leat_out(cli, "        see ");
        leat_out_name(cli, out);
        leat_out(cli, "/rejected.csv\n");
    }
    leat_ingest_write_skipped(cli, &result->skipped);
    if (result->excluded > 0)
        leat_out(cli, "        excluded: %s\n", leat_words_count(a, result->excluded));
}

static const char *const remark_words[LEAT_IMAGE_REMARKS] = {
    [LEAT_IMAGE_NO_END] = "complete, but without the marker of the end",
    [LEAT_IMAGE_AFTER_END] = "with bytes after the end, which were ignored",
    [LEAT_IMAGE_EXTRANEOUS] =
        "with bytes between segments, which were ignored, but may be what a damaged scan has left",
    [LEAT_IMAGE_TRANSPARENT] = "with transparent pixels",
    [LEAT_IMAGE_SEVERAL] = "the first of several pictures in the file",
    [LEAT_IMAGE_LOW_RANGE] =
        "of 16 bits, but below 1/8 of the range: nearly black; scale their values up first",
};

static void write_remarks(leat_cli *cli, const leat_images_ingest_options *options,
                          const leat_images_ingest_result *result) {
    char a[LEAT_WORDS_BYTES], background[LEAT_SETTING_BYTES];
    for (int i = 0; i < LEAT_IMAGE_REMARKS; i++) {
        if (result->remarks[i] == 0) continue;
        leat_out(cli, "        %s %s", leat_words_count(a, result->remarks[i]), remark_words[i]);
        if (i == LEAT_IMAGE_TRANSPARENT)
            leat_out(cli, " (--background %s)",
                     leat_settings_get(leat_images_ingest_options_table(), options, "background",
                                       background));
        leat_out(cli, "\n");
    }
    if (result->duplicates == 0) return;
    leat_out(cli, "        %s: ", leat_things(a, result->duplicates, "exact duplicate"));
    leat_out_name(cli, result->duplicate[0]);
    leat_out(cli, " = ");
    leat_out_name(cli, result->duplicate[1]);
    leat_out(cli, result->duplicates > 1 ? ", ...\n" : "\n");
}

static void write_folders(leat_cli *cli, const leat_images_ingest_result *result) {
    char a[LEAT_WORDS_BYTES];
    int64_t shown = result->folder_count;
    if (shown > LEAT_IMAGES_FOLDERS) shown = LEAT_IMAGES_FOLDERS;
    if (shown == 0 || (shown == 1 && result->folders[0].name[0] == 0)) return;
    leat_out(cli, "folders ");
    for (int64_t i = 0; i < shown; i++) {
        if (i > 0) leat_out(cli, ", ");
        if (result->folders[i].name[0] == 0) leat_out(cli, "(none)");
        else leat_out_name(cli, result->folders[i].name);
        leat_out(cli, " %s", leat_words_count(a, result->folders[i].images));
    }
    if (result->folder_count > shown)
        leat_out(cli, " and %s more", leat_words_count(a, result->folder_count - shown));
    leat_out(cli, "\n");
}

static void write_costs(leat_cli *cli, const char *out, const leat_images_ingest_options *options,
                        const leat_images_ingest_result *result) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    const double seconds = result->seconds_total > 0 ? result->seconds_total : 1e-9;
    const double files = (double)(result->files - result->resumed);
    leat_out(cli, "bytes   %s in ", leat_words_bytes(a, result->bytes_written));
    leat_out_name(cli, out);
    leat_out(cli, ", from %s\n", leat_words_bytes(b, result->bytes_read));
    leat_out(cli, "time    %s, %s files/s, %s pixels/s\n", leat_words_seconds(a, seconds),
             leat_words_rate(b, files / seconds),
             leat_words_rate(c, (double)result->pixels_read / seconds));
    leat_out(cli, "memory  peak %s, limit %s\n", leat_words_bytes(a, result->memory_peak_bytes),
             leat_words_bytes(b, options->memory_bytes));
}

typedef struct json_source {
    const char *out;
    const leat_images_ingest_options *options;
    const leat_images_ingest_result *result;
} json_source;

static void json_remarks(leat_json *json, const leat_images_ingest_result *result) {
    leat_json_key(json, "remarks");
    leat_json_begin_object(json);
    for (int i = 0; i < LEAT_IMAGE_REMARKS; i++)
        if (result->remarks[i] > 0)
            leat_json_member_int(json, leat_image_remark_name(i), result->remarks[i]);
    leat_json_end_object(json);
    leat_json_member_int(json, "duplicates", result->duplicates);
    leat_json_member_int(json, "folder_count", result->folder_count);
    leat_json_key(json, "folders");
    leat_json_begin_array(json); /* names that were cut may be equal, and keys must not be */
    for (int64_t i = 0; i < result->folder_count && i < LEAT_IMAGES_FOLDERS; i++) {
        leat_json_begin_object(json);
        leat_json_member_string(json, "name", result->folders[i].name);
        leat_json_member_int(json, "images", result->folders[i].images);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

static void json_members(leat_json *json, const void *of) {
    const json_source *source = of;
    const leat_images_ingest_result *result = source->result;
    leat_json_member_string(json, "out", source->out);
    leat_json_member_int(json, "size", source->options->size);
    leat_json_member_int(json, "files", result->files);
    leat_ingest_json_skipped(json, &result->skipped);
    leat_json_member_int(json, "excluded", result->excluded);
    leat_json_member_int(json, "images", result->images);
    leat_json_member_int(json, "rejected", result->rejected);
    leat_json_key(json, "rejected_reasons");
    leat_json_begin_object(json);
    for (int i = 0; i < LEAT_IMAGE_REASONS; i++)
        if (result->rejected_by[i] > 0)
            leat_json_member_int(json, leat_image_reason_name(i), result->rejected_by[i]);
    leat_json_end_object(json);
    leat_json_member_double(json, "rejected_share",
                            result->files > 0 ? (double)result->rejected / (double)result->files
                                              : 0);
    json_remarks(json, result);
    leat_json_member_string(json, "fingerprint", result->fingerprint);
    leat_json_member_int(json, "bytes_read", result->bytes_read);
    leat_json_member_int(json, "pixels_read", result->pixels_read);
    leat_json_member_int(json, "bytes_written", result->bytes_written);
    leat_json_member_int(json, "memory_limit_bytes", source->options->memory_bytes);
    leat_json_member_int(json, "memory_peak_bytes", result->memory_peak_bytes);
    leat_json_member_double(json, "seconds", result->seconds_total);
    leat_json_member_bool(json, "was_complete", result->was_complete);
    leat_json_member_int(json, "files_resumed", result->resumed);
    leat_json_key(json, "warnings");
    leat_json_begin_array(json);
    if (result->warning[0] != 0) leat_json_string(json, result->warning);
    leat_json_end_array(json);
}

static void write_summary(leat_cli *cli, const json_source *of) {
    const leat_images_ingest_result *result = of->result;
    char a[LEAT_WORDS_BYTES];
    if (result->resumed > 0 && !result->was_complete)
        leat_out(cli, "resumed an interrupted run after %s\n",
                 leat_things(a, result->resumed, "file"));
    write_counts(cli, of->out, result);
    leat_out(cli, "images  %d x %d pixels, fingerprint %.16s\n", of->options->size,
             of->options->size, result->fingerprint);
    write_remarks(cli, of->options, result);
    write_folders(cli, result);
    if (!result->was_complete) {
        write_costs(cli, of->out, of->options, result);
        return;
    }
    leat_out(cli, "nothing to do: ");
    leat_out_name(cli, of->out);
    leat_out(cli, " already holds the images of these files (compared by name)\n");
}

/* ---- The command ------------------------------------------------------------------------- */

static int run_ingest_images(leat_cli *cli) {
    leat_images_ingest_options options = leat_images_ingest_options_default();
    leat_images_ingest_result result;
    leat_error err = {0};
    const char *out = leat_cli_text(cli, "output");
    options.progress = leat_cli_progress;
    options.progress_user = cli;
    int status = leat_cli_set(cli, leat_images_ingest_options_table(), &options);
    if (status != 0) return status;
    leat_cli_cancellable(cli);
    if (leat_images_ingest(leat_cli_argument(cli, 0), out, &options, &result, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    leat_cli_progress_end(cli);
    if (result.warning[0] != 0) leat_cli_note(cli, "warning: %s", result.warning);
    if (options.resume && result.resumed == 0) leat_ingest_note_new(cli);
    const json_source source = {out, &options, &result};
    if (leat_cli_flag(cli, "json")) return leat_out_object(cli, json_members, &source);
    write_summary(cli, &source);
    return 0;
}

static const leat_cli_option options[] = {
    LEAT_INGEST_OPTION_OUTPUT,
    {.table = leat_images_ingest_options_table},
    LEAT_CLI_OPTION_JSON,
    {0},
};

static const leat_cli_example examples[] = {
    {"leat ingest images photos -o faces",
     "all images in a folder and its folders, 64 x 64 pixels"},
    {"leat ingest images img_align_celeba.zip -o faces",
     "the images of an archive, which is not unpacked"},
    {"leat ingest images photos --include train --exclude \"*_mask.png\" -o faces",
     "only what is in folders named train, without masks"},
    {"leat ingest images photos --size 128 --strict -o faces",
     "128 x 128 pixels; stop at the first file that is not a usable image"},
    {0},
};

const leat_cli_command leat_cmd_ingest_images = {
    .words = "ingest images",
    .purpose = "turn JPEG and PNG images (a folder or a zip archive) into an image data set",
    .usage = "DIR|ZIP -o DIR [options]",
    .about =
        "Reads all images in a folder and its folders, or in a zip archive, resizes them, and "
        "writes them to one file of bytes [images, S, S, 3] with the names, sizes and hashes of "
        "the images beside it. Images are in the order of their names.\n\n"
        "JPEG, PNG and, where leat was built with libwebp, WebP are recognised by their contents, "
        "in all their usual variants: grey, palettes, 16 bits, alpha (see --background), CMYK, "
        "progressive, interlaced. Images are turned upright as their EXIF or XMP data says. The "
        "shorter side becomes S pixels by an antialiased bilinear filter, and the middle is kept, "
        "as torchvision's Resize and CenterCrop do.\n\n"
        "Files that are not usable images are not lost: DIR/rejected.csv lists the name, reason "
        "and cause of each; if they are more than the share --max-rejected, the run fails. Names "
        "that begin with \".\", __MACOSX, Thumbs.db and text files are not read. The data set is a "
        "function of the files, --size and --background; threads and memory do not change it. It "
        "is complete once DIR/.complete exists. Resume an interrupted ingest with --resume.",
    .argument = "DIR or ZIP",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = options,
    .shows_progress = true,
    .examples = examples,
    .run = run_ingest_images,
};
