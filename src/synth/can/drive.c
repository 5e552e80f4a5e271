/*
 * A synthetic drive (see can.h): the bus, the nodes waiting for it, the attacker.
 *
 * A set of messages is a word with one bit for each, in order of arbitration, so that the winner is
 * the lowest bit set. Future releases are kept in a wheel of sets: time is divided into bins of 256
 * microseconds, about a frame, and each bin has the messages released in it. Their order within a
 * bin is not kept: a log would not show that one waits a quarter of a millisecond for another.
 */
#include <string.h>

#include "base/rng.h"
#include "synth/can/can.h"

#define BIN_BITS 8
#define BIN_COUNT 8192 /* two seconds: more than the longest period and its jitter */
#define STEP_BINS (LEAT_SYNTH_CAN_STEP_US >> BIN_BITS)
#define NEVER INT64_MAX
#define BIT_US 2
#define FRAME_BITS 47 /* around the payload, with the interframe space */
#define EXTENDED_FRAME_BITS 67

#define SLOT_US 20e6               /* approximate interval between attacks */
#define RECORDED_MAX 32768         /* 9 seconds, the longest interval, are at most 17,000 frames */
#define SUPPRESSED_PERIOD_US 50000 /* messages suppressed at once */
#define SPOOFED_PERIOD_US 100000

/* A frame of a stretch to be replayed. */
typedef struct recorded_frame {
    uint64_t payload;
    uint32_t offset_us;
    uint8_t message;
} recorded_frame;

/* The position of a drive in its slot. */
typedef enum attack_phase { PHASE_BEFORE, PHASE_ATTACK, PHASE_OVER } attack_phase;

typedef struct attacker {
    unsigned kind; /* a leat_synth_can_attack; 0: none */
    attack_phase phase;
    int64_t slot_us, slot, slot_count; /* the length of a slot; the current slot */
    int64_t slot_begin_us, change_us;  /* when the phase ends */
    int64_t length_us;                 /* of the slot's interval */
    int64_t next_us;                   /* when its frame is ready to be sent */
    uint32_t next_key;
    leat_synth_can_frame next;
    int64_t period_us;
    const leat_synth_can_message *target;
    uint32_t counter;
    uint32_t forged[LEAT_SYNTH_CAN_SOURCES];
    recorded_frame *recorded;
    int64_t recorded_count, replayed;
    leat_synth_can_interval *intervals; /* slot_count */
    int64_t interval_count;
} attacker;

struct leat_synth_can_drive {
    const leat_synth_can_vehicle *vehicle;
    uint64_t key, drawn;
    int64_t now_us; /* when the bus is free */
    int64_t bin;    /* the first whose releases are still to come */
    int64_t step_bin;
    uint64_t waiting, muted; /* sets of messages: released but not sent; suppressed */
    int64_t nominal[LEAT_SYNTH_CAN_MESSAGES_MAX];    /* of the next release, in 1/1024 us */
    int64_t release_us[LEAT_SYNTH_CAN_MESSAGES_MAX]; /* the same with jitter */
    int64_t ready_us[LEAT_SYNTH_CAN_MESSAGES_MAX];   /* of a waiting message: since when */
    uint32_t counters[LEAT_SYNTH_CAN_MESSAGES_MAX];
    leat_synth_can_state state;
    attacker attacker;
    uint64_t wheel[BIN_COUNT];
};

static uint64_t draw(leat_synth_can_drive *drive) {
    return leat_random_at(drive->key, drive->drawn++);
}

static int64_t draw_below(leat_synth_can_drive *drive, int64_t bound) {
    return (int64_t)leat_random_below(draw(drive), (uint64_t)bound);
}

/* ---- Releases ----------------------------------------------------------------------------- */

/* Jitter is the sum of two uniform draws, which favours the middle. */
static void schedule(leat_synth_can_drive *drive, int index) {
    uint64_t bits = draw(drive);
    uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff);
    uint64_t jitter_us = sum * (uint64_t)drive->vehicle->messages[index].jitter_us >> 17;
    int64_t release_us = (drive->nominal[index] >> 10) + (int64_t)jitter_us;
    drive->release_us[index] = release_us;
    drive->wheel[release_us >> BIN_BITS & (BIN_COUNT - 1)] |= UINT64_C(1) << index;
}

/* Processes the releases of one bin. The next ones are at least half a period later, so in other
 * bins. */
static void collect(leat_synth_can_drive *drive) {
    uint64_t *bin = &drive->wheel[drive->bin & (BIN_COUNT - 1)];
    uint64_t left = *bin;
    *bin = 0;
    drive->bin++;
    drive->waiting |= left & ~drive->muted;
    if ((left & drive->muted) != 0)
        drive->attacker.intervals[drive->attacker.interval_count - 1].frames++;
    for (; left != 0; left &= left - 1) {
        int index = __builtin_ctzll(left);
        drive->ready_us[index] = drive->release_us[index];
        drive->nominal[index] += drive->vehicle->messages[index].period;
        schedule(drive, index);
    }
    if (drive->bin < drive->step_bin) return;
    drive->step_bin += STEP_BINS;
    leat_synth_can_state_step(&drive->state, draw(drive));
}

/* ---- The attacker -------------------------------------------------------------------------- */

/* A message whose period is at most the given one, with a sensor if requested. */
static int draw_target(leat_synth_can_drive *drive, int32_t period_us, bool wants_sensor) {
    const leat_synth_can_vehicle *vehicle = drive->vehicle;
    int first = (int)draw_below(drive, vehicle->count);
    for (int i = 0; i < vehicle->count; i++) {
        int index = (first + i) % vehicle->count;
        const leat_synth_can_message *message = &vehicle->messages[index];
        if (message->period_us <= period_us && (message->has_sensor || !wants_sensor)) return index;
    }
    return first; /* practically every vehicle has such a message */
}

/* A slot: nothing in its first third, then the interval, which lies within the slot. */
static void begin_slot(leat_synth_can_drive *drive) {
    attacker *attack = &drive->attacker;
    attack->phase = attack->slot == attack->slot_count ? PHASE_OVER : PHASE_BEFORE;
    attack->change_us = NEVER;
    if (attack->phase == PHASE_OVER) return;
    double at = 0.35 + 0.20 * leat_random_unit(draw(drive));
    double length = 0.15 + 0.15 * leat_random_unit(draw(drive));
    attack->change_us = attack->slot_begin_us + (int64_t)((double)attack->slot_us * at);
    attack->length_us = (int64_t)((double)attack->slot_us * length);
    attack->recorded_count = 0;
}

/* The attacker's next frame, and when it is ready, which is `after_us` or later. */
static void prepare(leat_synth_can_drive *drive, int64_t after_us) {
    attacker *attack = &drive->attacker;
    leat_synth_can_frame *next = &attack->next;
    const leat_synth_can_message *message = attack->target;
    *next = (leat_synth_can_frame){.size_bytes = 8, .attack = true};
    switch (attack->kind) {
    case LEAT_SYNTH_CAN_DOS: attack->next_us = after_us + attack->period_us; break;
    case LEAT_SYNTH_CAN_FUZZING:
        next->id = (uint32_t)draw_below(drive, 0x800);
        next->payload = draw(drive);
        attack->next_us = after_us + attack->period_us / 2 + draw_below(drive, attack->period_us);
        break;
    case LEAT_SYNTH_CAN_SPOOF:
        next->payload =
            leat_synth_can_payload(message, attack->forged, attack->counter++, draw(drive));
        attack->next_us =
            after_us + attack->period_us + draw_below(drive, attack->period_us / 8 + 1);
        break;
    default: { /* replay */
        attack->next_us = NEVER;
        if (attack->replayed == attack->recorded_count) return;
        const recorded_frame *frame = &attack->recorded[attack->replayed++];
        int64_t begin_us = attack->intervals[attack->interval_count - 1].begin_us;
        message = &drive->vehicle->messages[frame->message];
        next->payload = frame->payload;
        attack->next_us = begin_us + frame->offset_us;
    }
    }
    if (message != NULL) {
        next->id = message->id;
        next->extended = message->extended;
        next->size_bytes = message->size_bytes;
    }
    attack->next_key = leat_synth_can_key(next->id, next->extended);
}

static void begin_attack(leat_synth_can_drive *drive) {
    attacker *attack = &drive->attacker;
    leat_synth_can_interval *interval = &attack->intervals[attack->interval_count++];
    int64_t begin_us = attack->change_us;
    *interval =
        (leat_synth_can_interval){begin_us, begin_us + attack->length_us, 0, 0, true, false};
    attack->phase = PHASE_ATTACK;
    attack->change_us = interval->end_us;
    switch (attack->kind) {
    case LEAT_SYNTH_CAN_DOS: attack->period_us = 320 + draw_below(drive, 280); break;
    case LEAT_SYNTH_CAN_FUZZING:
        attack->period_us = 400 + draw_below(drive, 3600);
        interval->has_id = false;
        break;
    case LEAT_SYNTH_CAN_REPLAY:
        attack->replayed = 0;
        interval->has_id = false;
        break;
    case LEAT_SYNTH_CAN_SPOOF:
        attack->target = &drive->vehicle->messages[draw_target(drive, SPOOFED_PERIOD_US, true)];
        attack->period_us = attack->target->period_us / (2 + draw_below(drive, 5));
        attack->counter = (uint32_t)draw(drive);
        for (int i = 0; i < LEAT_SYNTH_CAN_SOURCES; i++)
            attack->forged[i] = (uint32_t)draw_below(drive, 65537);
        interval->id = attack->target->id;
        interval->extended = attack->target->extended;
        break;
    default: { /* suppress */
        int index = draw_target(drive, SUPPRESSED_PERIOD_US, false);
        interval->id = drive->vehicle->messages[index].id;
        interval->extended = drive->vehicle->messages[index].extended;
        drive->muted = UINT64_C(1) << index;
        interval->frames = (drive->waiting & drive->muted) != 0;
        drive->waiting &= ~drive->muted;
        return;
    }
    }
    prepare(drive, begin_us);
}

/* Enters the next phase. */
static void change_phase(leat_synth_can_drive *drive) {
    attacker *attack = &drive->attacker;
    if (attack->phase == PHASE_BEFORE) {
        begin_attack(drive);
        return;
    }
    drive->muted = 0;
    attack->next_us = NEVER;
    attack->slot++;
    attack->slot_begin_us += attack->slot_us;
    begin_slot(drive);
}

/* Keeps a frame for the replay, while the recorded stretch lasts. */
static void record(attacker *attack, int index, const leat_synth_can_frame *frame) {
    int64_t offset_us = frame->time_us - attack->slot_begin_us;
    if (attack->phase != PHASE_BEFORE || offset_us < 0 || offset_us >= attack->length_us ||
        attack->recorded_count == RECORDED_MAX)
        return;
    attack->recorded[attack->recorded_count++] =
        (recorded_frame){frame->payload, (uint32_t)offset_us, (uint8_t)index};
}

/* ---- Frames -------------------------------------------------------------------------------- */

/* How long the bus is busy; `bits` decides how many bits are stuffed. */
static int64_t duration_us(bool extended, int size_bytes, uint64_t bits) {
    int64_t around = extended ? EXTENDED_FRAME_BITS : FRAME_BITS;
    return BIT_US * (around + 8 * size_bytes + (int64_t)(bits >> 61));
}

static void send_attack(leat_synth_can_drive *drive, int64_t start_us,
                        leat_synth_can_frame *frame) {
    attacker *attack = &drive->attacker;
    leat_synth_can_interval *interval = &attack->intervals[attack->interval_count - 1];
    *frame = attack->next;
    drive->now_us = start_us + duration_us(frame->extended, frame->size_bytes, draw(drive));
    frame->time_us = drive->now_us;
    interval->frames++;
    if (interval->end_us < drive->now_us) interval->end_us = drive->now_us;
    prepare(drive, start_us);
}

static void send_message(leat_synth_can_drive *drive, int index, int64_t start_us,
                         leat_synth_can_frame *frame) {
    const leat_synth_can_message *message = &drive->vehicle->messages[index];
    uint64_t bits = draw(drive);
    drive->waiting &= ~(UINT64_C(1) << index);
    drive->now_us = start_us + duration_us(message->extended, message->size_bytes, bits);
    *frame = (leat_synth_can_frame){
        .time_us = drive->now_us,
        .payload =
            leat_synth_can_payload(message, drive->state.sources, drive->counters[index]++, bits),
        .id = message->id,
        .size_bytes = message->size_bytes,
        .extended = message->extended,
    };
    if (drive->attacker.kind == LEAT_SYNTH_CAN_REPLAY) record(&drive->attacker, index, frame);
}

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

void leat_synth_can_drive_next(leat_synth_can_drive *drive, leat_synth_can_frame *frame) {
    attacker *attack = &drive->attacker;
    for (;; change_phase(drive)) {
        while (drive->bin <= drive->now_us >> BIN_BITS) collect(drive);
        /* an idle bus: up to the release, or the attacker's frame, that ends it */
        while (drive->waiting == 0 && drive->bin << BIN_BITS <= attack->next_us) collect(drive);
        int64_t attack_us = later(drive->now_us, attack->next_us), start_us = NEVER;
        uint32_t key = UINT32_MAX;
        int index = 0;
        if (drive->waiting != 0) {
            index = __builtin_ctzll(drive->waiting);
            start_us = later(drive->now_us, drive->ready_us[index]);
            key = drive->vehicle->messages[index].key;
        }
        bool attacks = attack_us < start_us || (attack_us == start_us && attack->next_key <= key);
        if ((attacks ? attack_us : start_us) >= attack->change_us) continue;
        if (attacks) send_attack(drive, attack_us, frame);
        else send_message(drive, index, start_us, frame);
        return;
    }
}

/* ---- The drive ----------------------------------------------------------------------------- */

/* The number of equal slots in the expected length of the drive, not counting attacks. */
static leat_code prepare_attacks(leat_synth_can_drive *drive, const leat_synth_can_trip *trip,
                                 leat_error *err) {
    attacker *attacker = &drive->attacker;
    double drive_us = (double)trip->frames / drive->vehicle->frames_per_second * 1e6;
    attacker->kind = trip->attack;
    attacker->change_us = attacker->next_us = NEVER;
    if (trip->attack == 0) return LEAT_OK;
    attacker->slot_count = (int64_t)(drive_us / SLOT_US + 0.5);
    if (attacker->slot_count < 1) attacker->slot_count = 1;
    attacker->slot_us = (int64_t)(drive_us / (double)attacker->slot_count);
    attacker->slot_begin_us = trip->start_us;
    LEAT_TRY(LEAT_NEW(&attacker->intervals, attacker->slot_count, err));
    if (trip->attack == LEAT_SYNTH_CAN_REPLAY)
        LEAT_TRY(LEAT_NEW(&attacker->recorded, RECORDED_MAX, err));
    begin_slot(drive);
    return LEAT_OK;
}

leat_code leat_synth_can_drive_create(leat_synth_can_drive **out,
                                      const leat_synth_can_vehicle *vehicle,
                                      const leat_synth_can_trip *trip, leat_error *err) {
    const int64_t start_us = trip->start_us;
    leat_synth_can_drive *drive = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&drive, 1, err));
    drive->vehicle = vehicle;
    drive->key = trip->key;
    drive->now_us = start_us;
    drive->bin = start_us >> BIN_BITS;
    drive->step_bin = drive->bin + STEP_BINS;
    leat_code code = prepare_attacks(drive, trip, err);
    if (code != LEAT_OK) {
        leat_synth_can_drive_destroy(drive);
        return code;
    }
    leat_synth_can_state_init(&drive->state, draw(drive));
    for (int i = 0; i < vehicle->count; i++) {
        drive->nominal[i] = (start_us << 10) + draw_below(drive, vehicle->messages[i].period);
        drive->counters[i] = (uint32_t)draw(drive);
        schedule(drive, i);
    }
    *out = drive;
    return LEAT_OK;
}

void leat_synth_can_drive_destroy(leat_synth_can_drive *drive) {
    if (drive == NULL) return;
    leat_free(drive->attacker.intervals);
    leat_free(drive->attacker.recorded);
    leat_free(drive);
}

const leat_synth_can_interval *leat_synth_can_drive_intervals(const leat_synth_can_drive *drive,
                                                              int64_t *count) {
    *count = drive->attacker.interval_count;
    return drive->attacker.intervals;
}
