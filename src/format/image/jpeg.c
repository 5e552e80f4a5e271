/*
 * JPEG through libjpeg-turbo, the only file that knows it.
 *
 * The library reports errors by calling a function that must not return, so each call into it runs
 * inside `guarded`, which such an error leaves with longjmp: nothing else is on the stack between
 * the two, and everything that the library has allocated belongs to its own object. A warning
 * counts as an error, because it means that pixels were made up: damaged data, or data that ends
 * too early. Only bytes before the first scan or after the last one are accepted, with a remark:
 * no decoded pixel depends on them. After the last scan they may still be what a damaged scan has
 * left over, if the damage made its codes shorter: its pixels are then wrong, and nothing in the
 * file says so.
 *
 * A file of several scans may lack some without any warning: then the library makes up smooth
 * pixels, which differ between its versions, or grey ones. Which coefficients are known is looked
 * at after the last scan.
 *
 * Method of decoding, the same in all versions: accurate integer DCT, smooth ("fancy") upsampling,
 * and no smoothing of blocks, which differs between versions.
 */
#include <stdio.h>
#include <string.h>

#include "format/image/parts.h"

#if LEAT_HAVE_JPEG

#include <jerror.h>
#include <jpeglib.h>
#include <setjmp.h>

/* Rows of samples, tables and the structs of libjpeg-turbo, measured; see the test of memory. */
int64_t leat_jpeg_memory(int32_t width, int64_t blocks_bytes) {
    return (INT64_C(256) << 10) + (int64_t)width * 320 + blocks_bytes;
}

/* An object of the library with what its callbacks need. */
typedef struct jpeg_state {
    struct jpeg_error_mgr errors;
    jmp_buf way_out;
    leat_image_reason reason;
    bool no_memory;
    char text[LEAT_IMAGE_TEXT_BYTES];
} jpeg_state;

/* ---- errors --------------------------------------------------------------------------------- */

static bool is_harmless(j_common_ptr common);

static void note(j_common_ptr common, leat_image_reason reason) {
    jpeg_state *state = (jpeg_state *)common->err;
    char text[JMSG_LENGTH_MAX];
    if (state->reason != LEAT_IMAGE_GOOD) return; /* what ended the input is known already */
    state->reason = reason;
    state->no_memory = common->err->msg_code == JERR_OUT_OF_MEMORY;
    common->err->format_message(common, text);
    snprintf(state->text, sizeof state->text, "%s", text);
}

static _Noreturn void leave(j_common_ptr common) {
    jpeg_state *state = (jpeg_state *)common->err;
    longjmp(state->way_out, 1);
}

static void on_error(j_common_ptr common) {
    note(common, LEAT_IMAGE_DAMAGED);
    leave(common);
}

static void on_message(j_common_ptr common, int level) {
    if (level < 0 && !is_harmless(common)) on_error(common);
}

static void on_output(j_common_ptr common) { (void)common; }

static void set_errors(jpeg_state *state) {
    state->reason = LEAT_IMAGE_GOOD;
    jpeg_std_error(&state->errors);
    state->errors.error_exit = on_error;
    state->errors.emit_message = on_message;
    state->errors.output_message = on_output;
}

/* ---- decoding ------------------------------------------------------------------------------- */

typedef struct reader {
    jpeg_state state;
    struct jpeg_decompress_struct jpeg;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    const leat_image_job *job;
    int32_t rows;  /* read by the last step */
    bool no_end;   /* the bytes ended without the marker of the end */
    uint8_t *cmyk; /* a row of four components, for pictures that have them; the library's */
} reader;

/* Runs one step; false if the library has reported an error. */
static bool guarded(reader *self, void (*step)(reader *)) {
    if (setjmp(self->state.way_out) != 0) return false;
    step(self);
    return true;
}

static void source_nothing(j_decompress_ptr jpeg) { (void)jpeg; }

static void say_truncated(reader *self) {
    self->state.reason = LEAT_IMAGE_TRUNCATED;
    snprintf(self->state.text, sizeof self->state.text, "the JPEG ends after %lld bytes",
             (long long)self->job->size_bytes);
}

/* The library wants more bytes than there are. If it gets the marker of the end, it is content if
 * only that was missing; otherwise it warns, or asks again. */
static boolean source_ends(j_decompress_ptr jpeg) {
    static const JOCTET end[] = {0xff, JPEG_EOI};
    reader *self = jpeg->client_data;
    if (self->no_end || jpeg->input_scan_number == 0) {
        say_truncated(self);
        leave((j_common_ptr)jpeg);
    }
    self->no_end = true;
    jpeg->src->next_input_byte = end;
    jpeg->src->bytes_in_buffer = sizeof end;
    return TRUE;
}

static void source_skip(j_decompress_ptr jpeg, long count) {
    if (count <= 0) return;
    if ((size_t)count > jpeg->src->bytes_in_buffer) {
        say_truncated(jpeg->client_data);
        leave((j_common_ptr)jpeg);
    }
    jpeg->src->next_input_byte += count;
    jpeg->src->bytes_in_buffer -= (size_t)count;
}

static void remark(const reader *self, leat_image_remark which) {
    self->job->header->remarks |= 1U << which;
}

/* Bytes between segments that belong to none. Between scans, and before a restart, they are what is
 * left of a scan that was damaged. */
static bool is_harmless(j_common_ptr common) {
    if (!common->is_decompressor || common->err->msg_code != JWRN_EXTRANEOUS_DATA) return false;
    const reader *self = common->client_data;
    const struct jpeg_decompress_struct *jpeg = &self->jpeg;
    const bool before = jpeg->input_scan_number == 0;
    const bool after = jpeg->output_height > 0 && jpeg->output_scanline == jpeg->output_height;
    if (!before && !after && common->err->msg_parm.i[1] != JPEG_EOI) return false;
    remark(self, LEAT_IMAGE_EXTRANEOUS);
    return true;
}

/* Each scan may go over the whole picture: a few bytes each, and they take hours. */
static void on_progress(j_common_ptr common) {
    reader *self = common->client_data;
    if (self->jpeg.input_scan_number <= LEAT_IMAGE_SCANS_MAX) return;
    self->state.reason = LEAT_IMAGE_TOO_LARGE;
    snprintf(self->state.text, sizeof self->state.text, "more than %d scans", LEAT_IMAGE_SCANS_MAX);
    leave(common);
}

static void step_begin(reader *self) {
    const leat_image_job *job = self->job;
    jpeg_create_decompress(&self->jpeg);
    self->jpeg.client_data = self;
    self->source = (struct jpeg_source_mgr){
        .next_input_byte = job->bytes,
        .bytes_in_buffer = (size_t)job->size_bytes,
        .init_source = source_nothing,
        .fill_input_buffer = source_ends,
        .skip_input_data = source_skip,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = source_nothing,
    };
    self->jpeg.src = &self->source;
    self->progress.progress_monitor = on_progress;
    self->jpeg.progress = &self->progress;
    self->jpeg.mem->max_memory_to_use = (long)job->header->memory_bytes;
    jpeg_read_header(&self->jpeg, TRUE);
    self->jpeg.out_color_space = self->jpeg.num_components == 4 ? JCS_CMYK : JCS_RGB;
    self->jpeg.dct_method = JDCT_ISLOW;
    self->jpeg.do_fancy_upsampling = TRUE;
    self->jpeg.do_block_smoothing = FALSE;
    jpeg_start_decompress(&self->jpeg);
    if (self->jpeg.num_components != 4) return;
    self->cmyk = (*self->jpeg.mem->alloc_large)((j_common_ptr)&self->jpeg, JPOOL_IMAGE,
                                                (size_t)job->width * 4);
}

/* Four inverted components become RGB. */
static void convert_cmyk(const uint8_t *cmyk, uint8_t *rgb, int32_t width) {
    for (int32_t x = 0; x < width; x++) {
        for (int c = 0; c < 3; c++) {
            /* a * b / 255, rounded; exact for all bytes */
            int product = cmyk[4 * x + c] * cmyk[4 * x + 3] + 128;
            rgb[3 * x + c] = (uint8_t)((product + (product >> 8)) >> 8);
        }
    }
}

static void read_cmyk(reader *self, uint8_t *to, int32_t rows) {
    JSAMPROW line = self->cmyk;
    for (int32_t i = 0; i < rows; i++) {
        jpeg_read_scanlines(&self->jpeg, &line, 1);
        convert_cmyk(self->cmyk, to + (int64_t)i * self->job->width * 3, self->job->width);
    }
}

/* The library returns as many rows as it has. */
static void read_rgb(reader *self, uint8_t *to, int32_t rows) {
    JSAMPROW lines[LEAT_IMAGE_BAND_ROWS];
    for (int32_t i = 0; i < rows; i++) lines[i] = to + (int64_t)i * self->job->width * 3;
    for (int32_t done = 0; done < rows;)
        done += (int32_t)jpeg_read_scanlines(&self->jpeg, lines + done, (JDIMENSION)(rows - done));
}

/* The next band of rows. */
static void step_rows(reader *self) {
    const leat_image_job *job = self->job;
    int32_t first = (int32_t)self->jpeg.output_scanline, left = job->height - first;
    uint8_t *to = job->pixels;
    if (!job->header->in_pieces) to += (int64_t)first * job->width * 3;
    self->rows = left < LEAT_IMAGE_BAND_ROWS ? left : LEAT_IMAGE_BAND_ROWS;
    if (self->cmyk != NULL) read_cmyk(self, to, self->rows);
    else read_rgb(self, to, self->rows);
}

static void step_end(reader *self) { jpeg_finish_decompress(&self->jpeg); }

static leat_code failure(reader *self, leat_error *err) {
    const jpeg_state *state = &self->state;
    if (state->no_memory) return leat_fail(err, LEAT_ERR_MEMORY, "libjpeg: %s", state->text);
    if (self->no_end && state->reason == LEAT_IMAGE_DAMAGED) say_truncated(self);
    return leat_image_reject(self->job->reason, state->reason, err, "%s", state->text);
}

/* Coefficients of all components that no scan has given, or not all bits of. */
static int count_missing(const struct jpeg_decompress_struct *jpeg) {
    int missing = 0;
    for (int c = 0; c < jpeg->num_components; c++) {
        /* the table is set with the first scan of a component */
        const bool seen = jpeg->comp_info[c].quant_table != NULL;
        for (int k = 0; k < DCTSIZE2; k++)
            missing += !seen || (jpeg->coef_bits != NULL && jpeg->coef_bits[c][k] != 0);
    }
    return missing;
}

static leat_code check_scans(reader *self, leat_error *err) {
    const struct jpeg_decompress_struct *jpeg = &self->jpeg;
    if (!jpeg_has_multiple_scans(&self->jpeg)) return LEAT_OK;
    const int missing = count_missing(jpeg);
    if (missing == 0) return LEAT_OK;
    if (self->no_end) {
        say_truncated(self);
        return failure(self, err);
    }
    return leat_image_reject(self->job->reason, LEAT_IMAGE_INCOMPLETE, err,
                             "scans are missing at the end of the %s JPEG: %d of its %d "
                             "coefficients are not known, or not exactly",
                             jpeg->progressive_mode ? "progressive" : "sequential", missing,
                             jpeg->num_components * DCTSIZE2);
}

static leat_code finish(reader *self, leat_error *err) {
    const uint32_t several = 1U << LEAT_IMAGE_SEVERAL;
    if (!guarded(self, step_end)) return failure(self, err);
    if (self->no_end) remark(self, LEAT_IMAGE_NO_END);
    else if (self->source.bytes_in_buffer > 0 && (self->job->header->remarks & several) == 0)
        remark(self, LEAT_IMAGE_AFTER_END);
    return LEAT_OK;
}

static leat_code run(reader *self, leat_error *err) {
    const leat_image_job *job = self->job;
    leat_image_reason *reason = job->reason;
    if (!guarded(self, step_begin)) return failure(self, err);
    LEAT_TRY(check_scans(self, err));
    if (self->jpeg.output_width != (JDIMENSION)job->width ||
        self->jpeg.output_height != (JDIMENSION)job->height)
        return leat_image_reject(reason, LEAT_IMAGE_DAMAGED, err, "two sizes in its headers");
    while (self->jpeg.output_scanline < self->jpeg.output_height) {
        if (!guarded(self, step_rows)) return failure(self, err);
        if (job->header->in_pieces) LEAT_TRY(job->rows(job->context, job->pixels, self->rows, err));
    }
    return finish(self, err);
}

leat_code leat_jpeg_decode(const leat_image_job *job, leat_error *err) {
    reader *self = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->job = job;
    set_errors(&self->state);
    self->jpeg.err = &self->state.errors;
    leat_code code = run(self, err);
    jpeg_destroy_decompress(&self->jpeg);
    leat_free(self);
    return code;
}

/* ---- encoding ------------------------------------------------------------------------------- */

typedef struct writer {
    jpeg_state state;
    struct jpeg_compress_struct jpeg;
    struct jpeg_destination_mgr destination;
    const uint8_t *rgb;
    int32_t width, height;
    int quality;
    leat_buf *out;
    leat_code code; /* of a failure that is not the library's */
    leat_error *err;
    uint8_t buffer[16 << 10];
} writer;

static void begin_buffer(j_compress_ptr jpeg) {
    writer *self = jpeg->client_data;
    self->destination.next_output_byte = self->buffer;
    self->destination.free_in_buffer = sizeof self->buffer;
}

static void put(writer *self, size_t size) {
    self->code = leat_buf_append(self->out, self->buffer, (int64_t)size, self->err);
    if (self->code != LEAT_OK) leave((j_common_ptr)&self->jpeg);
}

static boolean put_buffer(j_compress_ptr jpeg) {
    writer *self = jpeg->client_data;
    put(self, sizeof self->buffer);
    begin_buffer(jpeg);
    return TRUE;
}

static void put_rest(j_compress_ptr jpeg) {
    writer *self = jpeg->client_data;
    put(self, sizeof self->buffer - self->destination.free_in_buffer);
}

static void write_all(writer *self) {
    struct jpeg_compress_struct *jpeg = &self->jpeg;
    jpeg_create_compress(jpeg);
    jpeg->client_data = self;
    jpeg->dest = &self->destination;
    jpeg->image_width = (JDIMENSION)self->width;
    jpeg->image_height = (JDIMENSION)self->height;
    jpeg->input_components = 3;
    jpeg->in_color_space = JCS_RGB;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, self->quality, TRUE);
    jpeg->dct_method = JDCT_ISLOW;
    jpeg_start_compress(jpeg, TRUE);
    while (jpeg->next_scanline < jpeg->image_height) {
        /* the library only reads them */
        JSAMPROW row = (JSAMPROW)self->rgb + (size_t)jpeg->next_scanline * self->width * 3;
        jpeg_write_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_compress(jpeg);
}

static bool guarded_write(writer *self) {
    if (setjmp(self->state.way_out) != 0) return false;
    write_all(self);
    return true;
}

leat_code leat_jpeg_encode(const uint8_t *rgb, int32_t width, int32_t height, int quality,
                           leat_buf *out, leat_error *err) {
    if (width < 1 || height < 1 || width > LEAT_IMAGE_SIDE_MAX || height > LEAT_IMAGE_SIDE_MAX ||
        quality < 1 || quality > 100)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "a JPEG of %d x %d pixels and quality %d is not possible", width, height,
                         quality);
    writer *self = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->rgb = rgb;
    self->width = width;
    self->height = height;
    self->quality = quality;
    self->out = out;
    self->err = err;
    self->destination = (struct jpeg_destination_mgr){.init_destination = begin_buffer,
                                                      .empty_output_buffer = put_buffer,
                                                      .term_destination = put_rest};
    set_errors(&self->state);
    self->jpeg.err = &self->state.errors;
    leat_code code = LEAT_OK;
    if (!guarded_write(self)) {
        code = self->code;
        if (code == LEAT_OK)
            code = leat_fail(err, LEAT_ERR_MEMORY, "libjpeg: %s", self->state.text);
    }
    jpeg_destroy_compress(&self->jpeg);
    leat_free(self);
    return code;
}

#else

int64_t leat_jpeg_memory(int32_t width, int64_t blocks_bytes) { return width + blocks_bytes; }

leat_code leat_jpeg_decode(const leat_image_job *job, leat_error *err) {
    (void)job;
    return leat_image_check_libraries(err);
}

leat_code leat_jpeg_encode(const uint8_t *rgb, int32_t width, int32_t height, int quality,
                           leat_buf *out, leat_error *err) {
    (void)rgb, (void)width, (void)height, (void)quality, (void)out;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "leat was built without libjpeg-turbo, which writes JPEG; run "
                     "scripts/install.sh and rebuild leat");
}

#endif
