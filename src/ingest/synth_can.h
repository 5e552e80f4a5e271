/*
 * Synthetic vehicle logs: what a logger on a CAN bus of 500 kbit/s writes down.
 *
 * Vehicle. A pure function of (seed, number): 40 to 56 periodic messages with 11-bit identifiers,
 * and in every vehicle of even number 3 to 6 with 29-bit ones. Periods of 10 ms to 1 s in the
 * proportions of a real car (a Volvo V40's drive), urgent messages mostly with low identifiers. The
 * payload of a message is laid out once: constant bytes, sensor values, modes, a counter or toggle,
 * a checksum. Sensors and modes are those of the whole vehicle, so that messages agree.
 *
 * Drive. The bus is simulated frame by frame in microseconds. Each message is released by the clock
 * of its control unit, which is some parts per million fast or slow, with jitter; of the released
 * ones the one with the lowest identifier gets the bus when it is free, for as long as its bits
 * take. A message that is not sent by the time of its next release is overwritten, as in a real
 * controller. Times in the log are the ends of frames, so they rise strictly.
 *
 * Attacks. An attack comes and goes: the drive is cut in slots of some 20 seconds, and each has one
 * interval of attack behind its first third. The attacker is one more node on the bus, with one
 * frame at a time, which obeys arbitration like all others. Its frames are labelled 1, all others
 * 0. To suppress a message is to leave frames out: there is nothing to label.
 *
 * Only integers, and operations that IEEE 754 rounds correctly (+ - * /), are used, so the bytes
 * are the same on every machine.
 */
#ifndef LEAT_INGEST_SYNTH_CAN_H
#define LEAT_INGEST_SYNTH_CAN_H

#include "base/mem.h"
#include "leat/ingest.h"

#define LEAT_SYNTH_CAN_MESSAGES_MAX 64 /* a set of messages is one word */
#define LEAT_SYNTH_CAN_FIELDS 4
#define LEAT_SYNTH_CAN_SENSORS 8
#define LEAT_SYNTH_CAN_MODES 8
#define LEAT_SYNTH_CAN_SOURCES (LEAT_SYNTH_CAN_SENSORS + LEAT_SYNTH_CAN_MODES)

/* Streams of the random numbers: of a vehicle, and of what happens with it. */
#define LEAT_SYNTH_CAN_VEHICLE (UINT64_C(1) << 42)
#define LEAT_SYNTH_CAN_DRIVE (UINT64_C(1) << 43)
#define LEAT_SYNTH_CAN_ORDER (UINT64_C(1) << 44)

/* A value in a payload, little-endian: offset + source * gain / 2^16 + noise, under the mask. */
typedef struct leat_synth_can_field {
    uint32_t gain, offset, mask;
    uint8_t source, shift, noise; /* noise: a mask of random bits */
} leat_synth_can_field;

/* Payloads are words whose lowest byte is the first one on the bus. */
typedef struct leat_synth_can_message {
    uint32_t id;
    bool extended; /* an identifier of 29 bits */
    uint8_t size_bytes, counter_shift, checksum_shift;
    bool sums;              /* the checksum is the sum of the bytes, else their exclusive or */
    uint32_t key;           /* what arbitration compares: the lowest wins */
    uint32_t counter_mask;  /* 0: no counter; 1: a toggle */
    uint64_t checksum_mask; /* 0: none */
    uint64_t constant;
    int32_t period_us, jitter_us;
    int64_t period; /* in 1/1024 microseconds, by the clock of its control unit */
    bool has_sensor;
    leat_synth_can_field fields[LEAT_SYNTH_CAN_FIELDS];
} leat_synth_can_message;

typedef struct leat_synth_can_vehicle {
    int64_t number;                                               /* from 1 */
    leat_synth_can_message messages[LEAT_SYNTH_CAN_MESSAGES_MAX]; /* the winners first */
    int count;
    double frames_per_second;
} leat_synth_can_vehicle;

void leat_synth_can_vehicle_init(leat_synth_can_vehicle *vehicle, uint64_t seed, int64_t number);
uint32_t leat_synth_can_key(uint32_t id, bool extended);
/* `counter`: frames of the message before; `bits`: for noise. */
uint64_t leat_synth_can_payload(const leat_synth_can_message *message,
                                const uint32_t sources[LEAT_SYNTH_CAN_SOURCES], uint32_t counter,
                                uint64_t bits);

/* The sensors and modes of a vehicle as they go on. */
typedef struct leat_synth_can_state {
    double level[LEAT_SYNTH_CAN_SENSORS], target[LEAT_SYNTH_CAN_SENSORS];
    uint32_t sources[LEAT_SYNTH_CAN_SOURCES]; /* sensors, then modes; 0 to 65535 */
} leat_synth_can_state;
void leat_synth_can_state_init(leat_synth_can_state *state, uint64_t key);
/* A step of LEAT_SYNTH_CAN_STEP_US; `key` is random, another one for each step. */
#define LEAT_SYNTH_CAN_STEP_US 10240
void leat_synth_can_state_step(leat_synth_can_state *state, uint64_t key);

/* ---- A drive (synth_can_drive.c) ---- */

typedef struct leat_synth_can_frame {
    int64_t time_us;
    uint64_t payload;
    uint32_t id;
    uint8_t size_bytes;
    bool extended, attack;
} leat_synth_can_frame;

/* An attack that has begun: [begin, end) as planned, the end moved to the last frame of the
 * attacker if that took longer. */
typedef struct leat_synth_can_interval {
    int64_t begin_us, end_us;
    int64_t frames; /* put on the bus; of a suppressed message: left out */
    uint32_t id;
    bool has_id, extended; /* has_id: it is about this one identifier */
} leat_synth_can_interval;

typedef struct leat_synth_can_drive leat_synth_can_drive;

/* `attack` is a leat_synth_can_attack or 0; `frames`: how many will be asked for, which decides how
 * the intervals lie; `key`: random. The vehicle is the caller's. */
LEAT_MUST_CHECK leat_code leat_synth_can_drive_create(leat_synth_can_drive **out,
                                                      const leat_synth_can_vehicle *vehicle,
                                                      unsigned attack, int64_t frames,
                                                      int64_t start_us, uint64_t key,
                                                      leat_error *err);
void leat_synth_can_drive_destroy(leat_synth_can_drive *drive);
/* The next frame. A drive has no end. */
void leat_synth_can_drive_next(leat_synth_can_drive *drive, leat_synth_can_frame *frame);
/* The attacks that have begun; the drive's. */
const leat_synth_can_interval *leat_synth_can_drive_intervals(const leat_synth_can_drive *drive,
                                                              int64_t *count);

/* ---- All files (synth_can_plan.c) ---- */

#define LEAT_SYNTH_CAN_VEHICLES_MAX 1000
#define LEAT_SYNTH_CAN_FRAMES_MAX INT64_C(10000000000)
#define LEAT_SYNTH_CAN_FILE_FRAMES INT64_C(2000000) /* at most, in one file */
#define LEAT_SYNTH_CAN_NAME_BYTES 96
#define LEAT_SYNTH_CAN_ATTACKS "attacks.csv"

/* One drive. */
typedef struct leat_synth_can_file {
    int folder;             /* of the plan */
    unsigned attack;        /* 0: none */
    int64_t vehicle, drive; /* both from 1 */
    int64_t frames, start_us;
    uint64_t key;
    char name[LEAT_SYNTH_CAN_NAME_BYTES]; /* "train_02_with_attacks/dos_001-1.csv" */
} leat_synth_can_file;

#define LEAT_SYNTH_CAN_FOLDERS_MAX 8

/* Which files there are, the large ones first. */
typedef struct leat_synth_can_plan {
    char folders[LEAT_SYNTH_CAN_FOLDERS_MAX][32];
    int folder_count;
    int64_t held_out; /* vehicles that no training folder has */
    leat_synth_can_file *files;
    int64_t file_count, file_capacity;
} leat_synth_can_plan;

/* On failure the plan is empty; free it in any case. */
LEAT_MUST_CHECK leat_code leat_synth_can_plan_make(leat_synth_can_plan *plan,
                                                   const leat_synth_can_options *options,
                                                   leat_error *err);
void leat_synth_can_plan_free(leat_synth_can_plan *plan);
/* Whether a plan may have a file or folder of this name, "test_01_dos/dos_001-1.csv" say. */
bool leat_synth_can_is_ours(const char *name);

#endif
