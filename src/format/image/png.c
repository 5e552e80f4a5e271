/*
 * PNG through libpng, the only file that knows it. Errors leave the library by longjmp, as in
 * jpeg.c.
 *
 * Reading uses no chunk but those that decide pixels; all others are skipped, but their
 * checksums count. Writing uses a fixed compression and the library's choice of filters, so the
 * bytes are the same for the same pixels and versions of libpng and zlib.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "format/image/parts.h"
#include "leat/format.h"

struct leat_png {
    leat_buf bytes;
};

#define LOAD_BYTES_MAX (INT64_C(64) << 20)
/* Deflated data that may follow the last pixel, padding of some programs. */
#define REST_BYTES_MAX (INT64_C(64) << 10)

#if LEAT_HAVE_PNG

#include <png.h>
#include <setjmp.h>

/* Two rows of up to 8 bytes a pixel with filters, zlib's window, the structs of libpng. */
int64_t leat_png_memory(int32_t width) { return (INT64_C(256) << 10) + (int64_t)width * 24; }

typedef struct png_state {
    png_structp png;
    png_infop info;
    jmp_buf way_out;
    leat_code code;  /* of a failure that is not the library's, which is in `err` */
    leat_error *err; /* never NULL */
    char text[LEAT_IMAGE_TEXT_BYTES];
} png_state;

/* ---- callbacks ------------------------------------------------------------------------------ */

static _Noreturn void on_error(png_structp png, png_const_charp text) {
    png_state *state = png_get_error_ptr(png);
    snprintf(state->text, sizeof state->text, "%s", text);
    longjmp(state->way_out, 1);
}

/* Warnings are about chunks that do not decide pixels. */
static void on_warning(png_structp png, png_const_charp text) { (void)png, (void)text; }

static png_voidp on_malloc(png_structp png, png_alloc_size_t size) {
    png_state *state = png_get_mem_ptr(png);
    void *memory = NULL;
    leat_code code = leat_alloc(&memory, (int64_t)size, 1, state->err);
    if (code != LEAT_OK) state->code = code;
    return memory;
}

static void on_free(png_structp png, png_voidp memory) {
    (void)png;
    leat_free(memory);
}

/* Of a call that cannot fail because of what it is given. */
static leat_code own_failure(const png_state *state, leat_error *err) {
    if (state->code != LEAT_OK) return leat_error_copy(err, state->err);
    return leat_fail(err, LEAT_ERR_MEMORY, "libpng %s: %s", png_get_libpng_ver(NULL), state->text);
}

/* ---- reading -------------------------------------------------------------------------------- */

typedef struct reader {
    png_state state;
    const leat_image_job *job;
    int64_t at;
    int64_t end; /* where reading ends, before the end of the bytes or after it */
    bool truncated, too_much;
    int passes;
    int32_t row, rows; /* the next row, and how many the last step has read */
    int depth;
    int largest; /* level of the pixels so far */
} reader;

static void on_read(png_structp png, png_bytep to, size_t size) {
    reader *self = png_get_io_ptr(png);
    self->too_much = self->at >= self->end;
    if (self->too_much) png_error(png, "too much data after the last pixel");
    self->truncated = (int64_t)size > self->job->size_bytes - self->at;
    if (self->truncated) png_error(png, "the PNG ends too early");
    memcpy(to, self->job->bytes + self->at, size);
    self->at += (int64_t)size;
}

static bool guarded(reader *self, void (*step)(reader *)) {
    if (setjmp(self->state.way_out) != 0) return false;
    step(self);
    return true;
}

static void step_begin(reader *self) {
    png_structp png = self->state.png;
    png_infop info = self->state.info;
    png_set_read_fn(png, self, on_read);
    png_set_user_limits(png, LEAT_IMAGE_SIDE_MAX, LEAT_IMAGE_SIDE_MAX);
    png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_read_info(png, info);
    int depth = png_get_bit_depth(png, info), colour = png_get_color_type(png, info);
    bool transparent = (colour & PNG_COLOR_MASK_ALPHA) != 0;
    self->depth = depth;
    if (depth == 16) png_set_strip_16(png);
    if (colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
    if (colour == PNG_COLOR_TYPE_GRAY && depth < 8) png_set_expand_gray_1_2_4_to_8(png);
    if (png_get_valid(png, info, PNG_INFO_tRNS) != 0) {
        png_set_tRNS_to_alpha(png);
        transparent = true;
    }
    if ((colour & PNG_COLOR_MASK_COLOR) == 0) png_set_gray_to_rgb(png);
    /* Every row has as many bytes as the header said, whatever the library makes of tRNS: alpha is
     * expanded into rows of four channels, and dropped by leat. */
    if (self->job->header->channels == 3) png_set_strip_alpha(png);
    else if (!transparent) png_set_add_alpha(png, 255, PNG_FILLER_AFTER);
    self->passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
}

/* With the last row the library inflates all that follows it, without a bound: it may read that
 * row, of up to 8 bytes a pixel, and a small rest. */
static void begin_last_row(reader *self) {
    self->end = self->at + (int64_t)self->job->width * 8 + REST_BYTES_MAX;
}

static void step_rows(reader *self) {
    const leat_image_job *job = self->job;
    int32_t left = job->height - self->row;
    self->rows = left < LEAT_IMAGE_BAND_ROWS ? left : LEAT_IMAGE_BAND_ROWS;
    for (int32_t i = 0; i < self->rows; i++) {
        if (i == left - 1) begin_last_row(self);
        png_read_row(self->state.png, job->pixels + (int64_t)i * job->width * job->header->channels,
                     NULL);
    }
    self->row += self->rows;
}

static void step_whole(reader *self) {
    const leat_image_job *job = self->job;
    for (int pass = 0; pass < self->passes; pass++) {
        for (int32_t row = 0; row < job->height; row++) {
            if (pass == self->passes - 1 && row == job->height - 1) begin_last_row(self);
            png_read_row(self->state.png,
                         job->pixels + (int64_t)row * job->width * job->header->channels, NULL);
        }
    }
}

static void step_end(reader *self) {
    self->end = INT64_MAX;
    png_read_end(self->state.png, NULL);
}

static leat_code failure(const reader *self, leat_error *err) {
    const png_state *state = &self->state;
    leat_image_reason *reason = self->job->reason;
    if (state->code != LEAT_OK) return leat_error_copy(err, state->err);
    if (self->too_much)
        return leat_image_reject(reason, LEAT_IMAGE_TOO_LARGE, err,
                                 "more than %lld bytes of deflated data after its last pixel",
                                 (long long)REST_BYTES_MAX);
    if (!self->truncated)
        return leat_image_reject(reason, LEAT_IMAGE_DAMAGED, err, "%s", state->text);
    return leat_image_reject(reason, LEAT_IMAGE_TRUNCATED, err, "the PNG ends after %lld bytes",
                             (long long)self->job->size_bytes);
}

/* Pixels as read become RGB. */
static void settle(reader *self, int32_t rows) {
    const leat_image_job *job = self->job;
    const int64_t count = (int64_t)job->width * rows;
    const int channels = job->header->channels;
    for (int64_t i = 0; self->depth == 16 && i < count; i++)
        for (int c = 0; c < 3; c++)
            if (job->pixels[i * channels + c] > self->largest)
                self->largest = job->pixels[i * channels + c];
    leat_image_flatten(job->header, job->pixels, count);
}

/* After the last pixel comes a checksum; the library would read whatever other chunks there are. */
static leat_code check_rest(const reader *self, leat_error *err) {
    const leat_image_job *job = self->job;
    int64_t rest = leat_png_pixels_end(job->bytes, job->size_bytes) - self->at;
    if (rest <= REST_BYTES_MAX) return LEAT_OK;
    return leat_image_reject(job->reason, LEAT_IMAGE_TOO_LARGE, err,
                             "%lld bytes of deflated data after its last pixel", (long long)rest);
}

static leat_code finish(reader *self, leat_error *err) {
    leat_image_header *header = self->job->header;
    LEAT_TRY(check_rest(self, err));
    if (!guarded(self, step_end)) return failure(self, err);
    if (self->at < self->job->size_bytes) header->remarks |= 1U << LEAT_IMAGE_AFTER_END;
    if (self->depth == 16 && self->largest < 256 / 8) header->remarks |= 1U << LEAT_IMAGE_LOW_RANGE;
    return LEAT_OK;
}

static leat_code run(reader *self, leat_error *err) {
    const leat_image_job *job = self->job;
    png_structp png = self->state.png;
    if (!guarded(self, step_begin)) return failure(self, err);
    if (png_get_image_width(png, self->state.info) != (png_uint_32)job->width ||
        png_get_image_height(png, self->state.info) != (png_uint_32)job->height)
        return leat_image_reject(job->reason, LEAT_IMAGE_DAMAGED, err, "two sizes in its headers");
    const size_t row_bytes = png_get_rowbytes(png, self->state.info);
    LEAT_ASSERT(row_bytes == (size_t)job->width * (size_t)job->header->channels);
    LEAT_ASSERT(self->passes == 1 || !job->header->in_pieces);
    if (!job->header->in_pieces) {
        if (!guarded(self, step_whole)) return failure(self, err);
        settle(self, job->height);
    }
    while (job->header->in_pieces && self->row < job->height) {
        if (!guarded(self, step_rows)) return failure(self, err);
        settle(self, self->rows);
        LEAT_TRY(job->rows(job->context, job->pixels, self->rows, err));
    }
    return finish(self, err);
}

static bool begin_reading(png_state *state) {
    if (setjmp(state->way_out) != 0) return false;
    state->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, state, on_error, on_warning, state,
                                          on_malloc, on_free);
    if (state->png == NULL) return false;
    state->info = png_create_info_struct(state->png);
    return state->info != NULL;
}

leat_code leat_png_decode(const leat_image_job *job, leat_error *err) {
    reader *self = NULL;
    leat_error why = {0};
    LEAT_TRY(leat_png_check_bytes(job->bytes, job->size_bytes, job->reason, err));
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->job = job;
    self->end = INT64_MAX;
    self->state.err = &why;
    bool begun = begin_reading(&self->state);
    leat_code code = begun ? run(self, err) : own_failure(&self->state, err);
    png_destroy_read_struct(&self->state.png, &self->state.info, NULL);
    leat_free(self);
    return code;
}

/* ---- writing -------------------------------------------------------------------------------- */

typedef struct writer {
    png_state state;
    const uint8_t *rgb;
    int32_t width, height;
    leat_buf *out;
} writer;

static void on_write(png_structp png, png_bytep bytes, size_t size) {
    writer *self = png_get_io_ptr(png);
    self->state.code = leat_buf_append(self->out, bytes, (int64_t)size, self->state.err);
    if (self->state.code != LEAT_OK) png_error(png, "out of memory");
}

static void on_flush(png_structp png) { (void)png; }

static bool write_all(writer *self) {
    char key[] = "Software", leat[] = LEAT_MARK_PNG_SOFTWARE;
    const png_text software = {.compression = PNG_TEXT_COMPRESSION_NONE,
                               .key = key,
                               .text = leat,
                               .text_length = sizeof leat - 1};
    png_state *state = &self->state;
    if (setjmp(state->way_out) != 0) return false;
    state->png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, state, on_error, on_warning,
                                           state, on_malloc, on_free);
    if (state->png == NULL) return false;
    state->info = png_create_info_struct(state->png);
    if (state->info == NULL) return false;
    png_set_write_fn(state->png, self, on_write, on_flush);
    png_set_compression_level(state->png, 6);
    png_set_filter(state->png, PNG_FILTER_TYPE_BASE, PNG_ALL_FILTERS);
    png_set_IHDR(state->png, state->info, (png_uint_32)self->width, (png_uint_32)self->height, 8,
                 PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_text(state->png, state->info, &software, 1);
    png_write_info(state->png, state->info);
    for (int32_t y = 0; y < self->height; y++)
        png_write_row(state->png, self->rgb + (int64_t)y * self->width * 3);
    png_write_end(state->png, NULL);
    return true;
}

static leat_code encode(const uint8_t *rgb, int32_t width, int32_t height, leat_buf *out,
                        leat_error *err) {
    writer *self = NULL;
    leat_error why = {0};
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->state.err = &why;
    self->rgb = rgb;
    self->width = width;
    self->height = height;
    self->out = out;
    leat_code code = write_all(self) ? LEAT_OK : own_failure(&self->state, err);
    png_destroy_write_struct(&self->state.png, &self->state.info);
    leat_free(self);
    return code;
}

#else

int64_t leat_png_memory(int32_t width) { return width; }

leat_code leat_png_decode(const leat_image_job *job, leat_error *err) {
    (void)job;
    return leat_image_check_libraries(err);
}

static leat_code encode(const uint8_t *rgb, int32_t width, int32_t height, leat_buf *out,
                        leat_error *err) {
    (void)rgb, (void)width, (void)height, (void)out;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "leat was built without libpng, which writes PNG; run scripts/install.sh and "
                     "rebuild leat");
}

#endif

/* ---- public --------------------------------------------------------------------------------- */

leat_code leat_png_encode(leat_png **out, const uint8_t *rgb, int32_t width, int32_t height,
                          leat_error *err) {
    leat_png *png = NULL;
    *out = NULL;
    if (width < 1 || height < 1 || width > LEAT_IMAGE_SIDE_MAX || height > LEAT_IMAGE_SIDE_MAX ||
        (int64_t)width * height > LEAT_IMAGE_PIXELS_MAX)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "a PNG of %d x %d pixels is not possible: a side has 1 to %d, and the "
                         "image at most %lld",
                         width, height, LEAT_IMAGE_SIDE_MAX, (long long)LEAT_IMAGE_PIXELS_MAX);
    LEAT_TRY(LEAT_NEW(&png, 1, err));
    leat_code code = encode(rgb, width, height, &png->bytes, err);
    if (code == LEAT_OK) *out = png;
    else leat_png_destroy(png);
    return code;
}

const uint8_t *leat_png_bytes(const leat_png *png, int64_t *size_bytes) {
    *size_bytes = png->bytes.size;
    return png->bytes.data;
}

void leat_png_destroy(leat_png *png) {
    if (png == NULL) return;
    leat_buf_free(&png->bytes);
    leat_free(png);
}

/* Signature, then the head of IHDR (PNG specification, 5.2 and 11.2.2). */
static const uint8_t begin[16] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n',
                                  0,    0,   0,   13,  'I',  'H',  'D',  'R'};

leat_code leat_png_save(const char *path, const uint8_t *rgb, int32_t width, int32_t height,
                        bool replace, leat_error *err) {
    leat_png *png = NULL;
    LEAT_TRY(leat_file_can_save(path, LEAT_MARK_PNG, replace, err));
    LEAT_TRY(leat_png_encode(&png, rgb, width, height, err));
    leat_code code =
        leat_file_save_output(path, png->bytes.data, png->bytes.size, LEAT_MARK_PNG, replace, err);
    leat_png_destroy(png);
    return code;
}

/* The sizes follow. */
static bool is_png(const leat_buf *bytes, int32_t *width, int32_t *height) {
    const uint8_t *at = bytes->data + sizeof begin;
    if (bytes->size < 33 || memcmp(bytes->data, begin, sizeof begin) != 0) return false;
    *width = (int32_t)((uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3]);
    *height = (int32_t)((uint32_t)at[4] << 24 | at[5] << 16 | at[6] << 8 | at[7]);
    return *width > 0 && *height > 0;
}

leat_code leat_png_load(leat_png **out, const char *path, int32_t *width, int32_t *height,
                        leat_error *err) {
    leat_png *png = NULL;
    *out = NULL;
    *width = *height = 0;
    LEAT_TRY(LEAT_NEW(&png, 1, err));
    leat_code code = leat_file_load(path, LOAD_BYTES_MAX, &png->bytes.data, &png->bytes.size, err);
    if (code == LEAT_OK && !is_png(&png->bytes, width, height))
        code = leat_fail(err, LEAT_ERR_INPUT, "\"%.300s\" is not a PNG", path);
    if (code == LEAT_OK) *out = png;
    else leat_png_destroy(png);
    return code;
}
