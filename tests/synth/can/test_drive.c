/*
 * Synthetic vehicles and their drives: payloads are laid out as promised, a drive looks like a log,
 * and each attack does what its name says and is labelled.
 */
#include "ingest/core_support.h"

#include "synth/can/can.h"

static void assert_between(const char *what, double value, double least, double most) {
    if (!(value >= least && value <= most))
        fail_msg("%s: %g is not between %g and %g", what, value, least, most);
}

/* ---- Vehicles ----------------------------------------------------------------------------- */

/* The bytes of a payload one by one: the checksum is right, and nothing is behind the last. */
static void check_payload(const leat_synth_can_message *message, uint64_t payload) {
    if (message->size_bytes < 8) assert_true(payload >> 8 * message->size_bytes == 0);
    if (message->checksum_mask == 0) return;
    uint8_t sum = 0, folded = 0;
    int at = message->checksum_shift / 8;
    assert_int_equal(at, message->size_bytes - 1);
    for (int i = 0; i < at; i++) {
        sum = (uint8_t)(sum + (payload >> 8 * i & 255));
        folded ^= (uint8_t)(payload >> 8 * i & 255);
    }
    uint8_t expected = (uint8_t)((message->sums ? sum : folded) ^ message->id);
    assert_int_equal(payload >> 8 * at & 255, expected);
}

/* Another counter changes the counter and the checksum and nothing else; so sources change only
 * their fields. */
static void check_message(const leat_synth_can_message *message, uint64_t key) {
    uint32_t sources[LEAT_SYNTH_CAN_SOURCES], others[LEAT_SYNTH_CAN_SOURCES];
    uint64_t fields = 0, fixed = message->checksum_mask << message->checksum_shift;
    uint64_t counter = (uint64_t)message->counter_mask << message->counter_shift;
    for (int i = 0; i < LEAT_SYNTH_CAN_SOURCES; i++) {
        sources[i] = (uint32_t)leat_random_below(leat_random(key, 1, (uint64_t)i), 65537);
        others[i] = (uint32_t)leat_random_below(leat_random(key, 2, (uint64_t)i), 65537);
    }
    for (int i = 0; i < LEAT_SYNTH_CAN_FIELDS; i++) {
        const leat_synth_can_field *field = &message->fields[i];
        uint64_t mask = (uint64_t)field->mask << field->shift;
        assert_true((mask & (fields | counter | fixed | message->constant)) == 0);
        assert_true(field->gain + field->offset + field->noise <= field->mask || field->mask == 0);
        fields |= mask;
    }
    assert_true((counter & (fixed | message->constant)) == 0);
    assert_true((fixed & message->constant) == 0);
    uint64_t payload = leat_synth_can_payload(message, sources, 5, key);
    uint64_t counted = leat_synth_can_payload(message, sources, 6, key);
    uint64_t moved = leat_synth_can_payload(message, others, 5, ~key);
    check_payload(message, payload);
    check_payload(message, counted);
    check_payload(message, moved);
    assert_true(((payload ^ counted) & ~(counter | fixed)) == 0);
    assert_true(((payload ^ moved) & ~(fields | fixed)) == 0);
    assert_int_equal((counted >> message->counter_shift) & message->counter_mask,
                     6 & message->counter_mask);
}

static void test_vehicles(void **state) {
    enum { VEHICLES = 400 };
    int64_t messages = 0, constant = 0, counters = 0, checksums = 0, sensors = 0, shorter = 0;
    (void)state;
    for (int64_t number = 1; number <= VEHICLES; number++) {
        leat_synth_can_vehicle vehicle;
        int extended = 0;
        double rate = 0;
        leat_synth_can_vehicle_init(&vehicle, 17, number);
        for (int i = 0; i < vehicle.count; i++) {
            const leat_synth_can_message *message = &vehicle.messages[i];
            if (i > 0) assert_true(message->key > message[-1].key);
            assert_true(message->period_us >= 10000 && message->period_us <= 1000000);
            assert_true(message->jitter_us >= 200 && message->jitter_us <= 6000 &&
                        message->jitter_us <= message->period_us / 2);
            assert_between("clock", (double)message->period / 1024 / message->period_us, 0.9999,
                           1.0001);
            assert_true(message->id < (message->extended ? 1U << 29 : 0x700));
            assert_true(message->id >= 8);
            check_message(message, leat_random((uint64_t)number, 3, (uint64_t)i));
            extended += message->extended;
            rate += 1e6 / message->period_us;
            constant += message->fields[0].mask == 0 && message->counter_mask == 0;
            counters += message->counter_mask != 0;
            checksums += message->checksum_mask != 0;
            sensors += message->has_sensor;
            shorter += message->size_bytes < 8;
        }
        messages += vehicle.count;
        assert_in_range(vehicle.count - extended, 40, 56);
        if (number % 2 == 0) assert_in_range(extended, 3, 6);
        else assert_int_equal(extended, 0);
        assert_between("frames per second", rate, 1000, 2000);
        assert_between("told", vehicle.frames_per_second, rate * 0.999999, rate * 1.000001);
    }
    assert_between("constant", (double)constant / (double)messages, 0.10, 0.20);
    assert_between("counters", (double)counters / (double)messages, 0.40, 0.60);
    assert_between("checksums", (double)checksums / (double)messages, 0.25, 0.40);
    assert_between("sensors", (double)sensors / (double)messages, 0.60, 0.85);
    assert_between("shorter", (double)shorter / (double)messages, 0.15, 0.25);
}

/* The order that a bus has: base identifier, then 11 bits before 29, then the rest. */
static void test_arbitration(void **state) {
    static const struct {
        uint32_t id;
        bool extended;
    } order[] = {{0, false},         {1, false},         {0x63e, false},     {0x63f, false},
                 {0x18fc0000, true}, {0x18fef100, true}, {0x18ffffff, true}, {0x640, false},
                 {0x19000000, true}, {0x7ff, false},     {0x1fffffff, true}};
    (void)state;
    for (size_t i = 1; i < sizeof order / sizeof *order; i++)
        assert_true(leat_synth_can_key(order[i - 1].id, order[i - 1].extended) <
                    leat_synth_can_key(order[i].id, order[i].extended));
}

/* ---- A drive without attacks --------------------------------------------------------------- */

#define START_US INT64_C(1751349600000000)

static leat_synth_can_drive *begin_drive(const leat_synth_can_vehicle *vehicle, unsigned attack,
                                         int64_t frames, uint64_t key) {
    leat_synth_can_drive *drive = NULL;
    leat_error err = {0};
    const leat_synth_can_trip trip = {attack, frames, START_US, key};
    if (leat_synth_can_drive_create(&drive, vehicle, &trip, &err) != LEAT_OK)
        fail_msg("%s", err.message);
    return drive;
}

static int message_of(const leat_synth_can_vehicle *vehicle, const leat_synth_can_frame *frame) {
    for (int i = 0; i < vehicle->count; i++)
        if (vehicle->messages[i].id == frame->id &&
            vehicle->messages[i].extended == frame->extended)
            return i;
    return -1;
}

typedef struct seen_message {
    int64_t count, first_us, last_us, least_gap_us, most_gap_us;
    uint64_t payload;
    int64_t changes;
} seen_message;

static void look_at_frame(const leat_synth_can_message *message, seen_message *seen,
                          const leat_synth_can_frame *frame) {
    assert_int_equal(frame->size_bytes, message->size_bytes);
    assert_false(frame->attack);
    check_payload(message, frame->payload);
    if (seen->count++ == 0) {
        seen->first_us = frame->time_us;
        seen->least_gap_us = INT64_MAX;
    } else {
        int64_t gap_us = frame->time_us - seen->last_us;
        if (gap_us < seen->least_gap_us) seen->least_gap_us = gap_us;
        if (gap_us > seen->most_gap_us) seen->most_gap_us = gap_us;
        uint64_t step =
            (frame->payload >> message->counter_shift) - (seen->payload >> message->counter_shift);
        if (message->counter_mask != 0) assert_int_equal(step & message->counter_mask, 1);
        seen->changes += frame->payload != seen->payload;
    }
    seen->last_us = frame->time_us;
    seen->payload = frame->payload;
}

/* Every message comes by its period; the mean is off by the clock alone, a single gap by jitter and
 * what stands before it on the bus. */
static void check_periods(const leat_synth_can_vehicle *vehicle, const seen_message *seen) {
    for (int i = 0; i < vehicle->count; i++) {
        const leat_synth_can_message *message = &vehicle->messages[i];
        assert_true(seen[i].count > 100);
        double period_us = message->period_us;
        double mean = (double)(seen[i].last_us - seen[i].first_us) / (double)(seen[i].count - 1);
        double slack = 20000.0 / (double)seen[i].count;
        assert_between("mean period", mean, period_us * 0.9999 - slack, period_us * 1.0001 + slack);
        assert_between("least gap", (double)seen[i].least_gap_us,
                       period_us * 0.9999 - message->jitter_us - 8000, period_us);
        assert_between("most gap", (double)seen[i].most_gap_us, period_us,
                       period_us * 1.0001 + message->jitter_us + 8000);
        bool constant = message->fields[0].mask == 0 && message->counter_mask == 0;
        if (constant || message->counter_mask != 0)
            assert_int_equal(seen[i].changes, constant ? 0 : seen[i].count - 1);
    }
}

static void test_drive(void **state) {
    enum { FRAMES = 400000, WINDOW = 100 };
    (void)state;
    for (int64_t number = 1; number <= 6; number++) {
        seen_message seen[LEAT_SYNTH_CAN_MESSAGES_MAX] = {{0}};
        leat_synth_can_vehicle vehicle;
        leat_synth_can_frame frame;
        int64_t last_us = START_US, windows = 0, nodes = 0, least = 100, most = 0, count = 0;
        int64_t pairs = 0, risen = 0, before = 0;
        uint64_t window = 0;
        leat_synth_can_vehicle_init(&vehicle, 4, number);
        leat_synth_can_drive *drive = begin_drive(&vehicle, 0, FRAMES, (uint64_t)number);
        for (int64_t i = 0; i < FRAMES; i++) {
            leat_synth_can_drive_next(drive, &frame);
            int index = message_of(&vehicle, &frame);
            assert_true(index >= 0);
            /* the shortest frame has 47 bits and two bytes */
            assert_true(frame.time_us - last_us >= 126 && frame.time_us - last_us < 50000);
            /* one that follows at once has waited, and so has lost the bus to the one before */
            if (frame.time_us - last_us < 280) {
                pairs++;
                risen += index > before;
            }
            before = index;
            last_us = frame.time_us;
            look_at_frame(&vehicle.messages[index], &seen[index], &frame);
            window |= UINT64_C(1) << index;
            if (i % WINDOW != WINDOW - 1) continue;
            int64_t distinct = __builtin_popcountll(window);
            if (distinct < least) least = distinct;
            if (distinct > most) most = distinct;
            nodes += distinct;
            windows++;
            window = 0;
        }
        check_periods(&vehicle, seen);
        assert_between("frames that waited for lower identifiers", (double)risen / (double)pairs,
                       0.55, 1);
        assert_between("least identifiers of a window", (double)least, 20, 45);
        assert_between("most identifiers of a window", (double)most, 30, 60);
        assert_between("identifiers of a window", (double)nodes / (double)windows, 25, 50);
        double seconds = (double)(last_us - START_US) * 1e-6;
        assert_between("rate", FRAMES / seconds / vehicle.frames_per_second, 0.99, 1.01);
        assert_non_null(drive);
        leat_synth_can_drive_intervals(drive, &count);
        assert_int_equal(count, 0);
        leat_synth_can_drive_destroy(drive);
    }
}

/* Sensors move slowly: a step is a small part of the range, and they do not stand still. */
static void test_sensors(void **state) {
    leat_synth_can_state sensors;
    double moved[LEAT_SYNTH_CAN_SENSORS] = {0};
    int64_t switched[LEAT_SYNTH_CAN_MODES] = {0};
    (void)state;
    leat_synth_can_state_init(&sensors, 5);
    for (int step = 0; step < 100000; step++) {
        leat_synth_can_state before = sensors;
        leat_synth_can_state_step(&sensors, leat_random(6, 0, (uint64_t)step));
        for (int i = 0; i < LEAT_SYNTH_CAN_SOURCES; i++) {
            double change = (double)sensors.sources[i] - (double)before.sources[i];
            assert_true(sensors.sources[i] <= 65536);
            if (i < LEAT_SYNTH_CAN_SENSORS) {
                assert_between("a step", change, -0.11 * 65536, 0.11 * 65536);
                moved[i] += change < 0 ? -change : change;
            } else {
                switched[i - LEAT_SYNTH_CAN_SENSORS] += change != 0;
            }
        }
    }
    for (int i = 0; i < LEAT_SYNTH_CAN_SENSORS; i++)
        assert_between("way of a sensor in the ranges", moved[i] / 65536, 1, 2000);
    for (int i = 0; i < LEAT_SYNTH_CAN_MODES; i++)
        assert_between("switches of a mode", (double)switched[i], 1, 1000);
}

/* ---- Attacks ------------------------------------------------------------------------------- */

enum { ATTACK_FRAMES = 300000, KEPT_FRAMES = ATTACK_FRAMES };

/* A drive with attacks, all of it. */
typedef struct attacked_drive {
    leat_synth_can_vehicle vehicle;
    leat_synth_can_drive *drive;
    const leat_synth_can_interval *intervals;
    int64_t interval_count;
    leat_synth_can_frame *frames; /* ATTACK_FRAMES */
} attacked_drive;

static void make_attacked(attacked_drive *all, unsigned attack, int64_t number) {
    leat_synth_can_vehicle_init(&all->vehicle, 8, number);
    all->drive = begin_drive(&all->vehicle, attack, ATTACK_FRAMES, 100 + (uint64_t)number);
    all->frames = calloc(ATTACK_FRAMES, sizeof *all->frames);
    for (int64_t i = 0; i < ATTACK_FRAMES; i++) {
        leat_synth_can_drive_next(all->drive, &all->frames[i]);
        if (i > 0) assert_true(all->frames[i].time_us - all->frames[i - 1].time_us >= 94);
    }
    all->intervals = leat_synth_can_drive_intervals(all->drive, &all->interval_count);
}

static void free_attacked(attacked_drive *all) {
    free(all->frames);
    leat_synth_can_drive_destroy(all->drive);
}

/* Every labelled frame is in an interval, and each interval knows how many it has. */
static void check_labels(const attacked_drive *all, unsigned attack) {
    int64_t labelled = 0, at = 0, last_us = all->frames[ATTACK_FRAMES - 1].time_us;
    double seconds = (double)(last_us - START_US) * 1e-6;
    assert_between("seconds to an interval", seconds / (double)all->interval_count, 12, 35);
    for (int64_t k = 0; k < all->interval_count; k++) {
        const leat_synth_can_interval *interval = &all->intervals[k];
        int64_t found = 0;
        assert_true(interval->begin_us < interval->end_us);
        assert_between("length", (double)(interval->end_us - interval->begin_us), 1e6, 10e6);
        if (k > 0) assert_true(interval->begin_us > interval[-1].end_us);
        for (; at < ATTACK_FRAMES && all->frames[at].time_us <= interval->end_us; at++) {
            const leat_synth_can_frame *frame = &all->frames[at];
            if (!frame->attack) continue;
            assert_true(frame->time_us >= interval->begin_us);
            found++;
            if (!interval->has_id) continue;
            assert_int_equal(frame->id, interval->id);
            assert_int_equal(frame->extended, interval->extended);
        }
        if (attack != LEAT_SYNTH_CAN_SUPPRESS) assert_int_equal(interval->frames, found);
        else assert_int_equal(found, 0);
        if (interval->end_us < last_us) assert_true(interval->frames > 40);
        labelled += found;
    }
    for (; at < ATTACK_FRAMES; at++) assert_false(all->frames[at].attack);
    assert_true(attack == LEAT_SYNTH_CAN_SUPPRESS || labelled > 0);
}

/* The labelled frames and the others of an interval; and those of one identifier. */
typedef struct interval_counts {
    double seconds, attack, other, other_of_id;
} interval_counts;

static interval_counts count_interval(const attacked_drive *all, int64_t from_us, int64_t to_us,
                                      uint32_t id, bool extended) {
    interval_counts counts = {.seconds = (double)(to_us - from_us) * 1e-6};
    for (int64_t i = 0; i < ATTACK_FRAMES; i++) {
        const leat_synth_can_frame *frame = &all->frames[i];
        if (frame->time_us < from_us || frame->time_us > to_us) continue;
        counts.attack += frame->attack;
        counts.other += !frame->attack;
        counts.other_of_id += !frame->attack && frame->id == id && frame->extended == extended;
    }
    return counts;
}

static void check_dos(const attacked_drive *all, const leat_synth_can_interval *interval,
                      const interval_counts *counts) {
    (void)all;
    assert_true(interval->has_id && interval->id == 0 && !interval->extended);
    assert_between("flooding frames per second", counts->attack / counts->seconds, 1500, 3200);
    assert_true(counts->other > 0);
}

static void check_fuzzing(const attacked_drive *all, const leat_synth_can_interval *interval,
                          const interval_counts *counts) {
    uint8_t seen[0x800] = {0};
    int64_t distinct = 0;
    assert_false(interval->has_id);
    assert_between("random frames per second", counts->attack / counts->seconds, 150, 2500);
    for (int64_t i = 0; i < ATTACK_FRAMES; i++) {
        const leat_synth_can_frame *frame = &all->frames[i];
        if (!frame->attack || frame->time_us > interval->end_us) continue;
        assert_true(frame->id < 0x800 && !frame->extended && frame->size_bytes == 8);
        distinct += seen[frame->id]++ == 0;
    }
    double least = counts->attack < 2048 ? counts->attack * 0.6 : 1228;
    assert_between("random identifiers", (double)distinct, least, 2048);
}

static void check_spoof(const attacked_drive *all, const leat_synth_can_interval *interval,
                        const interval_counts *counts) {
    leat_synth_can_frame of = {.id = interval->id, .extended = interval->extended};
    int index = message_of(&all->vehicle, &of);
    assert_true(index >= 0 && all->vehicle.messages[index].has_sensor);
    double rate = 1e6 / all->vehicle.messages[index].period_us;
    assert_between("forged frames", counts->attack / counts->seconds / rate, 1.5, 6.5);
    assert_between("true frames", counts->other_of_id / counts->seconds / rate, 0.8, 1.2);
    const leat_synth_can_message *message = &all->vehicle.messages[index];
    uint64_t alike = ~((uint64_t)message->counter_mask << message->counter_shift |
                       message->checksum_mask << message->checksum_shift);
    uint64_t genuine = 0, lies = 0;
    for (int64_t i = 0; i < ATTACK_FRAMES; i++) {
        const leat_synth_can_frame *frame = &all->frames[i];
        if (frame->id != interval->id || frame->extended != interval->extended) continue;
        if (!frame->attack) genuine = frame->payload;
        if (!frame->attack || frame->time_us < interval->begin_us ||
            frame->time_us > interval->end_us)
            continue;
        check_payload(message, frame->payload);
        lies += ((frame->payload ^ genuine) & alike) != 0;
    }
    assert_between("forged frames with other values", (double)lies, counts->attack * 0.8,
                   counts->attack);
}

static void check_suppress(const attacked_drive *all, const leat_synth_can_interval *interval,
                           const interval_counts *counts) {
    leat_synth_can_frame of = {.id = interval->id, .extended = interval->extended};
    int index = message_of(&all->vehicle, &of);
    assert_true(index >= 0);
    double rate = 1e6 / all->vehicle.messages[index].period_us;
    interval_counts before = count_interval(all, interval->begin_us - 3000000, interval->begin_us,
                                            interval->id, interval->extended);
    interval_counts after = count_interval(all, interval->end_us, interval->end_us + 3000000,
                                           interval->id, interval->extended);
    assert_between("before", before.other_of_id / before.seconds / rate, 0.9, 1.1);
    assert_between("after", after.other_of_id / after.seconds / rate, 0.9, 1.1);
    /* one that was on the bus when the interval began is at its end 276 microseconds later */
    interval_counts during = count_interval(all, interval->begin_us + 276, interval->end_us,
                                            interval->id, interval->extended);
    assert_true(during.other_of_id == 0 && counts->other_of_id <= 1);
    assert_between("left out", (double)interval->frames / counts->seconds / rate, 0.9, 1.1);
}

/* Labelled frames are, in their order, frames that were there before the interval. */
static void check_replay(const attacked_drive *all, const leat_synth_can_interval *interval,
                         const interval_counts *counts) {
    int64_t source = 0;
    assert_false(interval->has_id);
    assert_between("replayed frames to others", counts->attack / counts->other, 0.7, 1.3);
    for (int64_t i = 0; i < ATTACK_FRAMES; i++) {
        const leat_synth_can_frame *frame = &all->frames[i];
        if (!frame->attack || frame->time_us < interval->begin_us ||
            frame->time_us > interval->end_us)
            continue;
        for (;; source++) {
            const leat_synth_can_frame *old = &all->frames[source];
            assert_true(old->time_us < interval->begin_us);
            if (!old->attack && old->id == frame->id && old->extended == frame->extended &&
                old->size_bytes == frame->size_bytes && old->payload == frame->payload)
                break;
        }
        source++;
    }
}

static void test_attacks(void **state) {
    static const struct {
        unsigned attack;
        void (*check)(const attacked_drive *all, const leat_synth_can_interval *interval,
                      const interval_counts *counts);
    } cases[] = {
        {LEAT_SYNTH_CAN_DOS, check_dos},           {LEAT_SYNTH_CAN_FUZZING, check_fuzzing},
        {LEAT_SYNTH_CAN_REPLAY, check_replay},     {LEAT_SYNTH_CAN_SPOOF, check_spoof},
        {LEAT_SYNTH_CAN_SUPPRESS, check_suppress},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int64_t number = 1; number <= 4; number++) {
            attacked_drive all;
            make_attacked(&all, cases[i].attack, number);
            check_labels(&all, cases[i].attack);
            for (int64_t k = 0; k < all.interval_count; k++) {
                const leat_synth_can_interval *interval = &all.intervals[k];
                if (interval->end_us + 3000000 > all.frames[ATTACK_FRAMES - 1].time_us) break;
                interval_counts counts = count_interval(&all, interval->begin_us, interval->end_us,
                                                        interval->id, interval->extended);
                cases[i].check(&all, interval, &counts);
            }
            free_attacked(&all);
        }
}

/* A drive of few frames has its attack all the same. */
static void test_short_attacks(void **state) {
    (void)state;
    for (unsigned attack = 1; attack <= LEAT_SYNTH_CAN_SUPPRESS; attack *= 2)
        for (int64_t number = 1; number <= 50; number++) {
            leat_synth_can_vehicle vehicle;
            leat_synth_can_frame frame;
            int64_t labelled = 0, count = 0;
            leat_synth_can_vehicle_init(&vehicle, 9, number);
            leat_synth_can_drive *drive = begin_drive(&vehicle, attack, 1000, 5);
            for (int i = 0; i < 1000; i++) {
                leat_synth_can_drive_next(drive, &frame);
                labelled += frame.attack;
            }
            leat_synth_can_drive_intervals(drive, &count);
            assert_int_equal(count, 1);
            assert_true((labelled > 0) == (attack != LEAT_SYNTH_CAN_SUPPRESS));
            leat_synth_can_drive_destroy(drive);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vehicles), cmocka_unit_test(test_arbitration),
        cmocka_unit_test(test_drive),    cmocka_unit_test(test_sensors),
        cmocka_unit_test(test_attacks),  cmocka_unit_test(test_short_attacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
