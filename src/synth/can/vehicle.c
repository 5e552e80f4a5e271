/*
 * A synthetic vehicle: its messages, the layout of their payloads, and the sensors and modes in
 * them (see can.h). All of it is drawn from one key.
 */
#include <string.h>

#include "base/rng.h"
#include "synth/can/can.h"

#define DRIFT_MOST 100 /* of a control unit's clock, parts per million */
#define CONTROL_UNITS 8
#define MESSAGES_LEAST 40
#define MESSAGES_SPREAD 17
#define ID_LEAST 0x008 /* 000 is reserved for the attacker that floods the bus */
#define ID_END 0x700   /* identifiers above are for diagnostics */

/* Consecutive draws from one key. */
typedef struct drawing {
    uint64_t key, drawn;
} drawing;

static uint64_t draw(drawing *from) { return leat_random_at(from->key, from->drawn++); }

static uint32_t draw_below(drawing *from, uint32_t bound) {
    return (uint32_t)leat_random_below(draw(from), bound);
}

static bool draw_percent(drawing *from, uint32_t percent) {
    return draw_below(from, 100) < percent;
}

/* ---- Identifiers and periods -------------------------------------------------------------- */

/* Periods, and the percentage of a vehicle's messages with each. */
static const struct {
    uint32_t percent;
    uint16_t period_ms[4];
} classes[] = {
    {6, {10, 10, 10, 10}},    {36, {15, 20, 20, 20}},     {18, {25, 30, 40, 50}},
    {20, {60, 80, 100, 120}}, {12, {200, 250, 300, 500}}, {8, {600, 1000, 1000, 1000}},
};

#define CLASS_COUNT ((int)(sizeof classes / sizeof *classes))

/* The class of the message at `place` of `count`, in order of period. */
static int class_of(int place, int count) {
    int class = 0;
    uint32_t percent = (uint32_t)(100 * place + 50) / (uint32_t)count, end = classes[0].percent;
    while (percent >= end && class < CLASS_COUNT - 1) end += classes[++class].percent;
    return class;
}

uint32_t leat_synth_can_key(uint32_t id, bool extended) {
    return extended ? (id >> 18) << 19 | 1U << 18 | (id & 0x3ffff) : id << 19;
}

static void sort_words(uint32_t *words, int count) {
    for (int i = 1; i < count; i++) {
        uint32_t word = words[i];
        int at = i;
        for (; at > 0 && words[at - 1] > word; at--) words[at] = words[at - 1];
        words[at] = word;
    }
}

/* The 11-bit messages: periods by class, and identifiers that rise with the period but for some
 * disorder, as engineers assign them. */
static void add_messages(leat_synth_can_vehicle *vehicle, drawing *from) {
    uint32_t ids[LEAT_SYNTH_CAN_MESSAGES_MAX], ranks[LEAT_SYNTH_CAN_MESSAGES_MAX];
    int count = MESSAGES_LEAST + (int)draw_below(from, MESSAGES_SPREAD);
    uint64_t key = draw(from);
    for (int i = 0; i < count; i++) {
        int class = class_of(i, count);
        ids[i] = ID_LEAST + (uint32_t)leat_permute(key, ID_END - ID_LEAST, i);
        ranks[i] = ((uint32_t) class * 1000 + draw_below(from, 1500)) << 8 | (uint32_t) class;
    }
    sort_words(ids, count);
    sort_words(ranks, count);
    for (int i = 0; i < count; i++) {
        leat_synth_can_message *message = &vehicle->messages[vehicle->count++];
        message->id = ids[i];
        message->period_us = 1000 * classes[ranks[i] & 255].period_ms[draw_below(from, 4)];
    }
}

/* Identifiers in the style of SAE J1939: priority, a broadcast parameter group, the sender. */
static void add_extended(leat_synth_can_vehicle *vehicle, drawing *from) {
    static const int32_t periods_ms[] = {100, 250, 500, 1000};
    int count = 3 + (int)draw_below(from, 4);
    uint64_t key = draw(from);
    for (int i = 0; i < count; i++) {
        leat_synth_can_message *message = &vehicle->messages[vehicle->count++];
        uint32_t priority = draw_percent(from, 70) ? 6 : 3;
        uint32_t group = 0xf000 + (uint32_t)leat_permute(key, 0xf00, i);
        message->extended = true;
        message->id = priority << 26 | group << 8 | draw_below(from, 256);
        message->period_us = 1000 * periods_ms[draw_below(from, 4)];
    }
}

/* ---- Payloads ----------------------------------------------------------------------------- */

static uint64_t draw_constant(drawing *from) {
    uint32_t kind = draw_below(from, 10);
    return kind < 5 ? 0x00 : kind < 7 ? 0xff : draw_below(from, 256);
}

/* A sensor of `bytes` bytes, at a random place in the given range. */
static leat_synth_can_field draw_sensor(drawing *from, uint32_t bytes, uint32_t shift) {
    static const uint8_t noises[] = {0, 0, 1, 3};
    leat_synth_can_field field = {.mask = bytes == 2 ? 0xffff : 0xff, .shift = (uint8_t)shift};
    field.source = (uint8_t)draw_below(from, LEAT_SYNTH_CAN_SENSORS);
    field.noise = noises[draw_below(from, 4)];
    field.gain = field.mask / 4 + draw_below(from, field.mask / 2);
    field.offset = draw_below(from, field.mask - field.gain - field.noise);
    return field;
}

static leat_synth_can_field draw_mode(drawing *from, uint32_t shift) {
    leat_synth_can_field field = {.mask = 0xff, .shift = (uint8_t)shift};
    field.source = (uint8_t)(LEAT_SYNTH_CAN_SENSORS + draw_below(from, LEAT_SYNTH_CAN_MODES));
    field.gain = 1U << draw_below(from, 7);
    field.offset = draw_below(from, 256 - field.gain);
    return field;
}

/* A counter of 4 or 8 bits or a toggle, in the byte at `shift`. */
static void add_counter(leat_synth_can_message *message, drawing *from, uint32_t shift) {
    static const uint8_t masks[] = {0x0f, 0x0f, 0x0f, 0xff, 0x01};
    message->counter_mask = masks[draw_below(from, sizeof masks)];
    message->counter_shift = (uint8_t)shift;
    if (message->counter_mask == 0x01) message->counter_shift += (uint8_t)draw_below(from, 8);
    if (message->counter_mask == 0x0f)
        message->constant |= (uint64_t)draw_below(from, 16) << (shift + 4);
}

/* Values and constants in the first `size` bytes. */
static void add_values(leat_synth_can_message *message, drawing *from, int size) {
    int used = 0;
    for (int at = 0; at < size; at++) {
        uint32_t kind = draw_below(from, 100), shift = (uint32_t)(8 * at);
        if (used == LEAT_SYNTH_CAN_FIELDS || kind < 40) {
            message->constant |= draw_constant(from) << shift;
        } else if (kind < 70 && at + 1 < size) {
            message->fields[used++] = draw_sensor(from, 2, shift);
            message->has_sensor = true;
            at++;
        } else if (kind < 85) {
            message->fields[used++] = draw_sensor(from, 1, shift);
            message->has_sensor = true;
        } else {
            message->fields[used++] = draw_mode(from, shift);
        }
    }
}

static void lay_out(leat_synth_can_message *message, drawing *from) {
    int size = draw_percent(from, 80) ? 8 : 2 + (int)draw_below(from, 6);
    message->size_bytes = (uint8_t)size;
    if (draw_percent(from, 12)) { /* nothing in it ever changes */
        for (int at = 0; at < size; at++) message->constant |= draw_constant(from) << (8 * at);
        return;
    }
    if (draw_percent(from, 55)) {
        if (size >= 4 && draw_percent(from, 70)) {
            size--;
            message->checksum_mask = 0xff;
            message->checksum_shift = (uint8_t)(8 * size);
            message->sums = draw_percent(from, 50);
        }
        add_counter(message, from, (uint32_t)(8 * --size));
    }
    add_values(message, from, size);
}

uint64_t leat_synth_can_payload(const leat_synth_can_message *message,
                                const uint32_t sources[LEAT_SYNTH_CAN_SOURCES], uint32_t counter,
                                uint64_t bits) {
    uint64_t payload = message->constant;
    for (int i = 0; i < LEAT_SYNTH_CAN_FIELDS; i++) { /* unused ones have no mask */
        const leat_synth_can_field *field = &message->fields[i];
        uint64_t value = ((uint64_t)sources[field->source] * field->gain >> 16) + field->offset +
                         (bits >> 2 * i & field->noise);
        payload |= (value & field->mask) << field->shift;
    }
    payload |= (uint64_t)(counter & message->counter_mask) << message->counter_shift;
    /* combines all bytes, and pairs of them in 16 bits */
    uint64_t folded = payload ^ payload >> 32, pairs = 0x00ff00ff00ff00ff;
    folded ^= folded >> 16;
    folded ^= folded >> 8;
    uint64_t sum = ((payload & pairs) + (payload >> 8 & pairs)) * 0x0001000100010001 >> 48;
    uint64_t checksum = (message->sums ? sum : folded) ^ message->id;
    return payload | (checksum & message->checksum_mask) << message->checksum_shift;
}

/* ---- The vehicle -------------------------------------------------------------------------- */

static void sort_messages(leat_synth_can_vehicle *vehicle) {
    leat_synth_can_message *messages = vehicle->messages;
    for (int i = 1; i < vehicle->count; i++) {
        leat_synth_can_message message = messages[i];
        int at = i;
        for (; at > 0 && messages[at - 1].key > message.key; at--) messages[at] = messages[at - 1];
        messages[at] = message;
    }
}

void leat_synth_can_vehicle_init(leat_synth_can_vehicle *vehicle, uint64_t seed, int64_t number) {
    drawing from = {.key = leat_random(seed, LEAT_SYNTH_CAN_VEHICLE, (uint64_t)number)};
    int64_t drift[CONTROL_UNITS];
    memset(vehicle, 0, sizeof *vehicle);
    vehicle->number = number;
    add_messages(vehicle, &from);
    if (number % 2 == 0) add_extended(vehicle, &from);
    LEAT_ASSERT(vehicle->count <= LEAT_SYNTH_CAN_MESSAGES_MAX);
    for (int i = 0; i < CONTROL_UNITS; i++)
        drift[i] = (int64_t)draw_below(&from, 2 * DRIFT_MOST + 1) - DRIFT_MOST;
    for (int i = 0; i < vehicle->count; i++) {
        leat_synth_can_message *message = &vehicle->messages[i];
        int64_t ticks = (int64_t)message->period_us * 1024;
        int32_t jitter_us = message->period_us / 2 < 6000 ? message->period_us / 2 : 6000;
        message->key = leat_synth_can_key(message->id, message->extended);
        message->period = ticks + ticks * drift[draw_below(&from, CONTROL_UNITS)] / 1000000;
        message->jitter_us = 200 + (int32_t)draw_below(&from, (uint32_t)jitter_us - 200);
        lay_out(message, &from);
        vehicle->frames_per_second += 1e6 / (double)message->period_us;
    }
    sort_messages(vehicle);
}

/* ---- Sensors and modes -------------------------------------------------------------------- */

/* A sensor approaches a target, by `pace` of the difference per step, and gets a new target after
 * `hold_s` seconds on average; the target is `rest` in the given percentage of cases. */
static const struct {
    double hold_s, pace, rest;
    uint32_t rest_percent;
} sensors[LEAT_SYNTH_CAN_SENSORS] = {
    {12, 0.004, 0, 15},    /* speed */
    {1.5, 0.05, 0, 40},    /* throttle */
    {2.5, 0.03, 0.1, 25},  /* engine speed */
    {2, 0.02, 0.5, 50},    /* steering angle */
    {4, 0.06, 0, 75},      /* brake pressure */
    {90, 0.0004, 0.7, 60}, /* coolant temperature */
    {30, 0.01, 0.6, 30},   /* battery voltage */
    {0.8, 0.1, 0.5, 40},   /* lateral acceleration */
};

/* The number of values of a mode, and the average seconds that it keeps one. */
static const struct {
    uint32_t count;
    double hold_s;
} modes[LEAT_SYNTH_CAN_MODES] = {
    {8, 6},   /* gear */
    {2, 4},   /* brake light */
    {3, 15},  /* indicators */
    {4, 120}, /* lights */
    {4, 45},  /* wipers */
    {2, 300}, /* doors */
    {3, 60},  /* cruise control */
    {2, 25},  /* stability control */
};

#define STEPS_PER_SECOND (1e6 / LEAT_SYNTH_CAN_STEP_US)

static double draw_target(int sensor, uint64_t bits) {
    if (leat_random_below(bits, 100) < sensors[sensor].rest_percent) return sensors[sensor].rest;
    return leat_random_unit(leat_random_mix(bits));
}

static uint32_t draw_mode_value(int mode, uint64_t bits) {
    uint32_t value = (uint32_t)leat_random_below(bits, modes[mode].count);
    return value * 65536 / (modes[mode].count - 1);
}

void leat_synth_can_state_init(leat_synth_can_state *state, uint64_t key) {
    for (int i = 0; i < LEAT_SYNTH_CAN_SENSORS; i++) {
        state->level[i] = draw_target(i, leat_random_at(key, 2 * (uint64_t)i));
        state->target[i] = draw_target(i, leat_random_at(key, 2 * (uint64_t)i + 1));
        state->sources[i] = (uint32_t)(state->level[i] * 65536);
    }
    for (int i = 0; i < LEAT_SYNTH_CAN_MODES; i++)
        state->sources[LEAT_SYNTH_CAN_SENSORS + i] =
            draw_mode_value(i, leat_random_at(key, 100 + (uint64_t)i));
}

void leat_synth_can_state_step(leat_synth_can_state *state, uint64_t key) {
    for (int i = 0; i < LEAT_SYNTH_CAN_SENSORS; i++) {
        uint64_t bits = leat_random_at(key, (uint64_t)i);
        if (leat_random_unit(bits) * sensors[i].hold_s * STEPS_PER_SECOND < 1)
            state->target[i] = draw_target(i, leat_random_mix(bits));
        state->level[i] += (state->target[i] - state->level[i]) * sensors[i].pace;
        state->sources[i] = (uint32_t)(state->level[i] * 65536);
    }
    for (int i = 0; i < LEAT_SYNTH_CAN_MODES; i++) {
        uint64_t bits = leat_random_at(key, 100 + (uint64_t)i);
        if (leat_random_unit(bits) * modes[i].hold_s * STEPS_PER_SECOND < 1)
            state->sources[LEAT_SYNTH_CAN_SENSORS + i] = draw_mode_value(i, leat_random_mix(bits));
    }
}
