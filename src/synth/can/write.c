/*
 * Synthetic vehicle logs on disk: the parts of the job are the files of the plan; a thread
 * generates the drive of a file and writes it. A file is one drive from its first frame on, so the
 * bytes do not depend on the thread that writes it; memory is a drive and some buffers per thread.
 *
 * Lines are formatted by hand: printf would take longer than everything else.
 */
#include <stdio.h>
#include <string.h>

#include "base/pool.h"
#include "base/sink.h"
#include "synth/can/can.h"
#include "synth/output.h"

#define LINE_BYTES 64 /* the longest line has 46 */
#define STAGED_BYTES 8192
#define PROGRESS_FRAMES 65536
#define WHAT "synthetic vehicle logs"

/* The facts of a file once it is written. */
typedef struct written_file {
    leat_synth_can_interval *intervals;
    int64_t interval_count;
} written_file;

typedef struct can_job {
    const leat_synth_can_options *options;
    leat_synth_can_plan plan;
    written_file *written; /* of each file of the plan */
    const char *folder;
    leat_ticker ticker;
    atomic_llong bytes_written, attack_frames;
    int64_t interval_count;
} can_job;

/* ---- Lines --------------------------------------------------------------------------------- */

/* A thousand lines or more share the seconds of their time. */
typedef struct line_writer {
    int64_t second;
    char seconds[16]; /* "1751349600." */
    int used;         /* of seconds */
    char bytes[STAGED_BYTES];
    int64_t size;
} line_writer;

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324"
                                  "25262728293031323334353637383940414243444546474849"
                                  "50515253545556575859606162636465666768697071727374"
                                  "75767778798081828384858687888990919293949596979899";

static char *put_pair(char *to, int64_t value) {
    memcpy(to, digit_pairs + 2 * value, 2);
    return to + 2;
}

/* Seconds with six decimals. */
static char *put_time(line_writer *lines, char *to, int64_t time_us) {
    int64_t second = time_us / 1000000, micro = time_us - second * 1000000;
    if (second != lines->second) {
        lines->second = second;
        lines->used = snprintf(lines->seconds, sizeof lines->seconds, "%lld.", (long long)second);
    }
    memcpy(to, lines->seconds, sizeof lines->seconds);
    to = put_pair(to + lines->used, micro / 10000);
    to = put_pair(to, micro / 100 % 100);
    return put_pair(to, micro % 100);
}

static char *put_hex(char *to, uint32_t value, int digits) {
    for (int i = 0; i < digits; i++) to[i] = "0123456789ABCDEF"[value >> 4 * (digits - 1 - i) & 15];
    return to + digits;
}

/* Four bytes, the lowest first, as eight digits at once: each nibble in its own byte of a word;
 * adding six to it carries for digits from 10 on, which become 'A' and up, the others '0' and up.
 */
static char *put_bytes(char *to, uint64_t bytes) {
    const uint64_t ones = 0x0101010101010101, low = 0x000f000f000f000f;
    bytes = (bytes | bytes << 16) & 0x0000ffff0000ffff;
    bytes = (bytes | bytes << 8) & 0x00ff00ff00ff00ff;
    uint64_t nibbles = (bytes >> 4 & low) | (bytes & low) << 8;
    uint64_t letters = (nibbles + 6 * ones) >> 4 & ones;
    uint64_t text = nibbles + '0' * ones + letters * ('A' - '0' - 10);
    memcpy(to, &text, sizeof text);
    return to + sizeof text;
}

static void add_line(line_writer *lines, const leat_synth_can_frame *frame) {
    char *begin = lines->bytes + lines->size;
    char *to = put_time(lines, begin, frame->time_us);
    *to++ = ',';
    to = put_hex(to, frame->id, frame->extended ? 8 : 3);
    *to++ = ',';
    put_bytes(put_bytes(to, frame->payload & 0xffffffff), frame->payload >> 32);
    to += 2 * frame->size_bytes;
    *to++ = ',';
    *to++ = frame->attack ? '1' : '0';
    *to++ = '\n';
    lines->size = to - lines->bytes;
}

static leat_code write_staged(line_writer *lines, leat_sink *sink, leat_error *err) {
    LEAT_TRY(leat_sink_write(sink, lines->bytes, lines->size, err));
    lines->size = 0;
    return LEAT_OK;
}

/* ---- Files --------------------------------------------------------------------------------- */

static leat_code write_frames(can_job *job, leat_synth_can_drive *drive, int64_t count,
                              leat_sink *sink, int64_t *last_us, leat_error *err) {
    static const char head[] = "timestamp,arbitration_id,data_field,attack\n";
    line_writer lines = {.second = -1};
    leat_synth_can_frame frame = {0};
    int64_t fresh = 0, attacked = 0;
    LEAT_TRY(leat_sink_write(sink, head, (int64_t)sizeof head - 1, err));
    for (int64_t i = 0; i < count; i++) {
        leat_synth_can_drive_next(drive, &frame);
        add_line(&lines, &frame);
        attacked += frame.attack;
        if (lines.size > STAGED_BYTES - LINE_BYTES) LEAT_TRY(write_staged(&lines, sink, err));
        if (++fresh < PROGRESS_FRAMES && i + 1 < count) continue;
        LEAT_TRY(leat_ticker_step(&job->ticker, fresh, err));
        fresh = 0;
    }
    *last_us = frame.time_us;
    atomic_fetch_add(&job->attack_frames, attacked);
    LEAT_TRY(write_staged(&lines, sink, err));
    return leat_sink_finish(sink, err);
}

/* Syncs the file. */
static leat_code write_drive(can_job *job, leat_synth_can_drive *drive, int64_t count,
                             const char *path, int64_t *last_us, leat_error *err) {
    leat_sink_options options = {.writeback_bytes = 8 << 20};
    leat_file *file = NULL;
    leat_sink *sink = NULL;
    leat_code code = leat_file_open(&file, path, LEAT_FILE_NEW, err);
    if (code == LEAT_OK) code = leat_sink_create(&sink, file, &options, err);
    if (code == LEAT_OK) code = write_frames(job, drive, count, sink, last_us, err);
    if (code == LEAT_OK) atomic_fetch_add(&job->bytes_written, leat_sink_position(sink));
    if (code == LEAT_OK) code = leat_file_sync(file, err);
    leat_sink_destroy(sink);
    leat_file_close(file);
    return code;
}

/* Keeps the attack intervals of a drive, up to its last frame. */
static leat_code keep_intervals(written_file *written, const leat_synth_can_drive *drive,
                                int64_t last_us, leat_error *err) {
    int64_t count = 0;
    const leat_synth_can_interval *intervals = leat_synth_can_drive_intervals(drive, &count);
    if (count == 0) return LEAT_OK;
    LEAT_TRY(LEAT_NEW(&written->intervals, count, err));
    memcpy(written->intervals, intervals, (size_t)count * sizeof *intervals);
    written->interval_count = count;
    leat_synth_can_interval *last = &written->intervals[count - 1];
    if (last->end_us > last_us) last->end_us = last_us;
    return LEAT_OK;
}

static leat_code write_file(void *context, int worker, int64_t index, leat_error *err) {
    can_job *job = context;
    (void)worker;
    const leat_synth_can_file *file = &job->plan.files[index];
    leat_synth_can_vehicle vehicle;
    leat_synth_can_drive *drive = NULL;
    char path[LEAT_PATH_BYTES];
    int64_t last_us = 0;
    LEAT_TRY(leat_path_join(path, sizeof path, job->folder, file->name, err));
    leat_synth_can_vehicle_init(&vehicle, job->options->seed, file->vehicle);
    LEAT_TRY(leat_synth_can_drive_create(&drive, &vehicle, &file->trip, err));
    leat_code code = write_drive(job, drive, file->trip.frames, path, &last_us, err);
    if (code == LEAT_OK) code = keep_intervals(&job->written[index], drive, last_us, err);
    leat_synth_can_drive_destroy(drive);
    return code;
}

/* ---- attacks.csv --------------------------------------------------------------------------- */

static leat_code write_interval(leat_sink *sink, const leat_synth_can_file *file,
                                const leat_synth_can_interval *interval, leat_error *err) {
    char line[LEAT_SYNTH_CAN_NAME_BYTES + 160], id[16] = "";
    if (interval->has_id)
        snprintf(id, sizeof id, interval->extended ? "%08X" : "%03X", (unsigned)interval->id);
    int64_t begin_us = interval->begin_us, end_us = interval->end_us;
    int size = snprintf(line, sizeof line, "%s,%s,%lld.%06lld,%lld.%06lld,%s,%lld\n", file->name,
                        leat_synth_can_attack_name(__builtin_ctz(file->trip.attack)),
                        (long long)(begin_us / 1000000), (long long)(begin_us % 1000000),
                        (long long)(end_us / 1000000), (long long)(end_us % 1000000), id,
                        (long long)interval->frames);
    return leat_sink_write(sink, line, size, err);
}

static leat_code write_intervals(can_job *job, leat_sink *sink, leat_error *err) {
    static const char head[] = "file,attack,begin,end,arbitration_id,frames\n";
    LEAT_TRY(leat_sink_write(sink, head, (int64_t)sizeof head - 1, err));
    for (int64_t i = 0; i < job->plan.file_count; i++)
        for (int64_t k = 0; k < job->written[i].interval_count; k++) {
            LEAT_TRY(write_interval(sink, &job->plan.files[i], &job->written[i].intervals[k], err));
            job->interval_count++;
        }
    return leat_sink_finish(sink, err);
}

static leat_code write_attacks(can_job *job, leat_error *err) {
    leat_sink_options options = {0};
    char path[LEAT_PATH_BYTES];
    leat_file *file = NULL;
    leat_sink *sink = NULL;
    LEAT_TRY(leat_path_join(path, sizeof path, job->folder, LEAT_SYNTH_CAN_ATTACKS, err));
    leat_code code = leat_file_open(&file, path, LEAT_FILE_NEW, err);
    if (code == LEAT_OK) code = leat_sink_create(&sink, file, &options, err);
    if (code == LEAT_OK) code = write_intervals(job, sink, err);
    if (code == LEAT_OK) atomic_fetch_add(&job->bytes_written, leat_sink_position(sink));
    if (code == LEAT_OK) code = leat_file_sync(file, err);
    leat_sink_destroy(sink);
    leat_file_close(file);
    return code;
}

/* ---- The folder ---------------------------------------------------------------------------- */

/* Creates the folders inside the output, or syncs their entries. */
static leat_code for_folders(can_job *job, leat_code (*act)(const char *path, leat_error *err),
                             leat_error *err) {
    char path[LEAT_PATH_BYTES];
    for (int i = 0; i < job->plan.folder_count; i++) {
        LEAT_TRY(leat_path_join(path, sizeof path, job->folder, job->plan.folders[i], err));
        LEAT_TRY(act(path, err));
    }
    return LEAT_OK;
}

static leat_code write_folder(void *context, const char *temp, leat_error *err) {
    can_job *job = context;
    leat_pool_job files = {.parts = job->plan.file_count,
                           .threads = job->options->threads,
                           .context = job,
                           .make = write_file};
    job->folder = temp;
    LEAT_TRY(for_folders(job, leat_path_make_dir, err));
    LEAT_TRY(leat_pool_once(&files, err));
    LEAT_TRY(write_attacks(job, err));
    LEAT_TRY(for_folders(job, leat_path_sync_dir, err));
    return leat_path_sync_dir(temp, err);
}

static leat_code run_job(can_job *job, const char *out_dir, leat_error *err) {
    const leat_synth_can_options *options = job->options;
    leat_synth_output output = {.what = WHAT,
                                .path = out_dir,
                                .is_folder = true,
                                .replace = options->replace,
                                .is_ours = leat_synth_can_is_ours,
                                .write = write_folder,
                                .context = job,
                                .ticker = &job->ticker};
    LEAT_TRY(LEAT_NEW(&job->written, job->plan.file_count, err));
    leat_ticker_create(&job->ticker, options->progress, options->progress_user);
    leat_ticker_stage(&job->ticker, "writing", "frames", options->frames);
    leat_code code = leat_synth_publish(&output, err);
    leat_ticker_destroy(&job->ticker);
    for (int64_t i = 0; i < job->plan.file_count; i++) leat_free(job->written[i].intervals);
    leat_free(job->written);
    return code;
}

leat_synth_can_options leat_synth_can_options_default(void) {
    return (leat_synth_can_options){
        .vehicles = 1, .attacks = LEAT_SYNTH_CAN_ALL, .threads = leat_cpu_count()};
}

leat_code leat_synth_can(const char *out_dir, const leat_synth_can_options *options,
                         leat_synth_can_result *result, leat_error *err) {
    int64_t start_ns = leat_clock_ns();
    can_job job = {.options = options};
    memset(result, 0, sizeof *result);
    LEAT_TRY(leat_synth_can_plan_make(&job.plan, options, err));
    leat_code code = run_job(&job, out_dir, err);
    if (code == LEAT_OK)
        *result = (leat_synth_can_result){
            .frames = options->frames,
            .attack_frames = atomic_load(&job.attack_frames),
            .vehicles = options->vehicles,
            .held_out = job.plan.held_out,
            .files = job.plan.file_count,
            .intervals = job.interval_count,
            .bytes_written = atomic_load(&job.bytes_written),
            .memory_peak_bytes = leat_rss_peak_bytes(),
            .seconds = (double)(leat_clock_ns() - start_ns) * 1e-9,
        };
    leat_synth_can_plan_free(&job.plan);
    return code;
}
