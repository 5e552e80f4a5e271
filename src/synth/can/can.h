/*
 * Synthetic vehicle logs: the record of a logger on a CAN bus of 500 kbit/s.
 *
 * Vehicle. A pure function of (seed, number): 40 to 56 periodic messages with 11-bit identifiers,
 * and in every even-numbered vehicle 3 to 6 with 29-bit ones. Periods of 10 ms to 1 s in the
 * proportions of a real car (a drive of a Volvo V40); urgent messages mostly have low identifiers.
 * The payload of a message has a fixed layout: constant bytes, sensor values, modes, a counter or
 * toggle, a checksum. Sensors and modes belong to the whole vehicle, so that messages are
 * consistent.
 *
 * Drive. The bus is simulated frame by frame in microseconds. Each message is released by the clock
 * of its control unit, which is some parts per million fast or slow, with jitter; when the bus is
 * free, the released message with the lowest identifier gets it for as long as its bits take. A
 * message that is not sent by the time of its next release is overwritten, as in a real controller.
 * Times in the log are the ends of frames, so they increase strictly.
 *
 * Attacks. Attacks come and go: the drive is divided into slots of about 20 seconds, each with one
 * attack interval after its first third. The attacker is an additional node on the bus, with one
 * frame at a time, and is subject to arbitration like all others. Its frames are labelled 1, all
 * others 0. Suppressing a message means omitting frames: there is nothing to label.
 *
 * Only integers, and operations that IEEE 754 rounds correctly (+ - * /), are used, so the bytes
 * are the same on every machine.
 */
#ifndef LEAT_SYNTH_CAN_H
#define LEAT_SYNTH_CAN_H

#include "base/mem.h"
#include "leat/synth.h"

#define LEAT_SYNTH_CAN_MESSAGES_MAX 64 /* a set of messages is one word */
#define LEAT_SYNTH_CAN_FIELDS 4
#define LEAT_SYNTH_CAN_SENSORS 8
#define LEAT_SYNTH_CAN_MODES 8
#define LEAT_SYNTH_CAN_SOURCES (LEAT_SYNTH_CAN_SENSORS + LEAT_SYNTH_CAN_MODES)

/* Streams of random numbers: of a vehicle, and of its drives. */
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
    int64_t number; /* from 1 */
    leat_synth_can_message
        messages[LEAT_SYNTH_CAN_MESSAGES_MAX]; /* the winners of arbitration first */
    int count;
    double frames_per_second;
} leat_synth_can_vehicle;

void leat_synth_can_vehicle_init(leat_synth_can_vehicle *vehicle, uint64_t seed, int64_t number);
uint32_t leat_synth_can_key(uint32_t id, bool extended);
/* `counter`: number of earlier frames of the message; `bits`: for noise. */
uint64_t leat_synth_can_payload(const leat_synth_can_message *message,
                                const uint32_t sources[LEAT_SYNTH_CAN_SOURCES], uint32_t counter,
                                uint64_t bits);

/* The sensors and modes of a vehicle over time. */
typedef struct leat_synth_can_state {
    double level[LEAT_SYNTH_CAN_SENSORS], target[LEAT_SYNTH_CAN_SENSORS];
    uint32_t sources[LEAT_SYNTH_CAN_SOURCES]; /* sensors, then modes; 0 to 65535 */
} leat_synth_can_state;
void leat_synth_can_state_init(leat_synth_can_state *state, uint64_t key);
/* A step of LEAT_SYNTH_CAN_STEP_US; `key` is random, a new one for each step. */
#define LEAT_SYNTH_CAN_STEP_US 10240
void leat_synth_can_state_step(leat_synth_can_state *state, uint64_t key);

/* ---- A drive (drive.c) ---- */

typedef struct leat_synth_can_frame {
    int64_t time_us;
    uint64_t payload;
    uint32_t id;
    uint8_t size_bytes;
    bool extended, attack;
} leat_synth_can_frame;

/* An attack that has begun: [begin, end) as planned, with the end moved to the attacker's last
 * frame if that is later. */
typedef struct leat_synth_can_interval {
    int64_t begin_us, end_us;
    int64_t frames; /* put on the bus; for a suppressed message: omitted */
    uint32_t id;
    bool has_id, extended; /* has_id: the attack targets this one identifier */
} leat_synth_can_interval;

typedef struct leat_synth_can_drive leat_synth_can_drive;

/* What decides a drive, beside its vehicle. */
typedef struct leat_synth_can_trip {
    unsigned attack; /* a leat_synth_can_attack; 0: none */
    int64_t frames;  /* how many will be requested, which decides the position of the intervals */
    int64_t start_us;
    uint64_t key; /* random */
} leat_synth_can_trip;

/* The caller owns the vehicle. */
LEAT_MUST_CHECK leat_code leat_synth_can_drive_create(leat_synth_can_drive **out,
                                                      const leat_synth_can_vehicle *vehicle,
                                                      const leat_synth_can_trip *trip,
                                                      leat_error *err);
void leat_synth_can_drive_destroy(leat_synth_can_drive *drive);
/* The next frame. A drive never ends. */
void leat_synth_can_drive_next(leat_synth_can_drive *drive, leat_synth_can_frame *frame);
/* The attacks that have begun; owned by the drive. */
const leat_synth_can_interval *leat_synth_can_drive_intervals(const leat_synth_can_drive *drive,
                                                              int64_t *count);

/* ---- All files (plan.c) ---- */

#define LEAT_SYNTH_CAN_VEHICLES_MAX 1000
#define LEAT_SYNTH_CAN_FRAMES_MAX INT64_C(10000000000)
#define LEAT_SYNTH_CAN_FILE_FRAMES INT64_C(2000000) /* the maximum in one file */
#define LEAT_SYNTH_CAN_NAME_BYTES 96
#define LEAT_SYNTH_CAN_ATTACKS "attacks.csv"

/* One drive. */
typedef struct leat_synth_can_file {
    int folder;             /* of the plan */
    int64_t vehicle, drive; /* both from 1 */
    leat_synth_can_trip trip;
    char name[LEAT_SYNTH_CAN_NAME_BYTES]; /* "train_02_with_attacks/dos_001-1.csv" */
} leat_synth_can_file;

#define LEAT_SYNTH_CAN_FOLDERS_MAX 8

/* The files, in decreasing order of size. */
typedef struct leat_synth_can_plan {
    char folders[LEAT_SYNTH_CAN_FOLDERS_MAX][32];
    int folder_count;
    int64_t held_out; /* vehicles that appear in no training folder */
    leat_synth_can_file *files;
    int64_t file_count, file_capacity;
} leat_synth_can_plan;

/* On failure the plan is empty; it must be freed in any case. */
LEAT_MUST_CHECK leat_code leat_synth_can_plan_make(leat_synth_can_plan *plan,
                                                   const leat_synth_can_options *options,
                                                   leat_error *err);
void leat_synth_can_plan_free(leat_synth_can_plan *plan);
/* Whether a plan may have a file or folder of this name, for example "test_01_dos/dos_001-1.csv".
 */
bool leat_synth_can_is_ours(const char *name);

#endif
