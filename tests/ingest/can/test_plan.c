/* Which part of time is validation; attacks by name; logs without labels. */
#include <string.h>

#include "../check.h"
#include "ingest/can/cache/plan.h"
#include "ingest/can/read/attack_types.h"

static int chosen(const leat_can_cuts *cuts) {
    int count = 0;
    for (int i = 0; i < LEAT_CAN_BLOCKS; i++) count += cuts->validation[i];
    return count;
}

static void test_cuts(void **state) {
    (void)state;
    const leat_can_stream streams[] = {
        {.split = 0, .frames = 10, .first_s = 100, .last_s = 150},
        {.split = 1, .frames = 10, .first_s = 0, .last_s = 1000}, /* a test joins nothing */
        {.split = 0, .frames = 10, .first_s = 500, .last_s = 600},
        {.split = 0, .frames = 10, .first_s = 140, .last_s = 200},
        {.split = 0, .frames = 10, .first_s = 700, .last_s = 700},
    };
    leat_can_cuts cuts[5] = {0}, again[5] = {0};
    assert_ok(leat_can_cuts_make(streams, 5, 0.2, 42, cuts, err));
    assert_ok(leat_can_cuts_make(streams, 5, 0.2, 42, again, err));
    assert_memory_equal(cuts, again, sizeof cuts);
    for (int i = 0; i < 5; i++) assert_int_equal(chosen(&cuts[i]), i == 1 ? 0 : 4);
    assert_memory_equal(&cuts[0], &cuts[3], sizeof cuts[0]); /* they overlap: the same cuts */
    assert_true(cuts[0].first_s == 100 && cuts[0].last_s == 200);
    assert_true(cuts[2].first_s == 500 && cuts[2].last_s == 600);
    assert_memory_not_equal(cuts[0].validation, cuts[2].validation, sizeof cuts[0].validation);
    assert_ok(leat_can_cuts_make(streams, 5, 0.2, 43, again, err));
    assert_memory_not_equal(cuts[0].validation, again[0].validation, sizeof cuts[0].validation);
    static const struct share {
        double fraction;
        int blocks;
    } shares[] = {{0, 0}, {0.02, 0}, {0.03, 1}, {0.5, 10}, {0.97, 19}, {0.99, 20}};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        assert_ok(leat_can_cuts_make(streams, 5, shares[i].fraction, 1, again, err));
        assert_int_equal(chosen(&again[0]), shares[i].blocks);
    }
}

static void test_parts(void **state) {
    (void)state;
    leat_can_cuts cuts = {.first_s = 0, .last_s = 20};
    cuts.validation[3] = cuts.validation[4] = true; /* seconds 3 to 5 */
    static const struct part_case {
        double first_s, last_s;
        int part;
    } cases[] = {
        {0, 2.99, 0},  {0, 3, 2},  {2.9, 3.1, 2}, {3, 4.99, 1}, {3.5, 4.5, 1}, {4.9, 5.1, 2},
        {2.5, 5.5, 2}, {5, 20, 0}, {6.5, 7.5, 0}, {-5, -1, 0},  {20, 30, 0},   {4, 4, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int part = leat_can_cuts_part(&cuts, cases[i].first_s, cases[i].last_s);
        if (part != cases[i].part) fail_msg("case %zu: part %d", i, part);
    }
    const leat_can_cuts moment = {.first_s = 7, .last_s = 7};
    assert_int_equal(leat_can_cuts_part(&moment, 7, 7), 0);
}

static void test_attacks(void **state) {
    (void)state;
    static const struct name_case {
        const char *name, *folder;
        int longer, shorter;
    } cases[] = {
        {"DoS-v40.csv.gz", "test_01_DoS", 1, 1},
        {"attack_free-v40.csv", "train_01_attack_free", 0, 0},
        {"DoS-1.csv", "train_01_attack_free", 0, 0}, /* "attack_free" comes before "dos" */
        {"fuzzing-v40.csv", "x", 2, 2},
        {"rpm-accessory-3.csv", "x", 12, 4},
        {"speed-accessory-3.csv", "x", 11, 0},
        {"speed-3.csv", "x", 10, 0},
        {"force-neutral-2.csv", "x", 3, 0},
        {"gear.csv", "x", 3, 3},
        {"replay-v40.csv", "train_02_with_attacks", 17, 0},
        {"a.csv", "masquerade", 16, 0},
        {"spoof.log", "x", 18, 0},
        {"drive.csv", "folder", 0, 0},
        {"drive.dos", "folder", 0, 0}, /* a suffix is no part of the name */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct name_case *it = &cases[i];
        int longer = leat_can_attack_code(it->name, it->folder, true);
        int shorter = leat_can_attack_code(it->name, it->folder, false);
        if (longer != it->longer || shorter != it->shorter)
            fail_msg("%s in %s: %d and %d", it->name, it->folder, longer, shorter);
    }
    assert_string_equal(leat_can_attack_name(0), "benign");
    assert_string_equal(leat_can_attack_name(12), "rpm-accessory");
    assert_string_equal(leat_can_attack_name(18), "spoof");
    assert_string_equal(leat_can_attack_name(19), "");
    assert_string_equal(leat_can_attack_name(-1), "unlabelled");
    assert_string_equal(leat_can_attack_name(-2), "");
}

/* What the words of labels say of the type of an attack. */
static void test_attack_words(void **state) {
    (void)state;
    enum { BY_FILE = LEAT_CAN_TYPE_BY_FILE, UNKNOWN = LEAT_CAN_TYPE_UNKNOWN };
    static const struct word_case {
        const char *word;
        int longer, shorter;
    } cases[] = {
        {"DoS", UNKNOWN + 1, UNKNOWN + 1},
        {"dos attack", UNKNOWN + 1, UNKNOWN + 1},
        {"DDoS", UNKNOWN + 1, UNKNOWN + 1},
        {" Fuzzy ", UNKNOWN + 2, UNKNOWN + 2},
        {"fuzz", UNKNOWN + 2, UNKNOWN + 2},
        {"gear_spoofing", UNKNOWN + 3, UNKNOWN + 3},
        {"Force Neutral", UNKNOWN + 3, UNKNOWN},
        {"rpm_accessory", UNKNOWN + 12, UNKNOWN + 4},
        {"RPM", UNKNOWN + 4, UNKNOWN + 4},
        {"flood", UNKNOWN + 5, UNKNOWN + 5},
        {"Suppression", UNKNOWN + 15, UNKNOWN},
        {"attackReplay", UNKNOWN + 17, UNKNOWN},
        {"Spoofing", UNKNOWN + 18, UNKNOWN},
        {"fabrication", UNKNOWN, UNKNOWN},
        {"\xe6\x94\xbb", UNKNOWN, UNKNOWN},
        {"attack", BY_FILE, BY_FILE},
        {"T", BY_FILE, BY_FILE},
        {"Malicious", BY_FILE, BY_FILE},
        {"injected", BY_FILE, BY_FILE},
        {"attack-free", BY_FILE, BY_FILE},
        {"Normal", BY_FILE, BY_FILE},
        {"1", BY_FILE, BY_FILE},
        {"2.0", BY_FILE, BY_FILE},
        {"", BY_FILE, BY_FILE},
        {"NaN", BY_FILE, BY_FILE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct word_case *it = &cases[i];
        int longer = leat_can_word_type(text_of(it->word), true);
        int shorter = leat_can_word_type(text_of(it->word), false);
        if (longer != it->longer || shorter != it->shorter)
            fail_msg("%s: %d and %d", it->word, longer, shorter);
    }
    assert_string_equal(leat_can_attack_name_of(1, 0), "attack of unknown type");
    assert_string_equal(leat_can_attack_name_of(0, 0), "benign");
    assert_string_equal(leat_can_attack_name_of(1, 1), "dos");
    assert_string_equal(leat_can_attack_name_of(-1, -1), "unlabelled");
}

/* Which names say that a log without labels is benign. */
static void test_benign_names(void **state) {
    (void)state;
    static const struct benign_case {
        const char *name, *folder;
        bool benign;
    } cases[] = {
        {"normal_run_data.txt", "hcrl", true},
        {"Normal_run_data.TXT.gz", "hcrl", true},
        {"drive.log", "train_01_attack_free", true},
        {"drive.log", "Attack-Free", true},
        {"attack free 3.log", "x", true},
        {"2024_benign.log", "x", true},
        {"Attack_free_dataset.txt", "CAN-Intrusion-Dataset", true},
        {"Attack_free_dataset.txt", "Intrusion Detection", true},
        {"normal_run_data.txt", "Car-Hacking Dataset", true},
        {"normal_run_data.txt", "CarHacking", true},
        {"normal_run_data.txt", "car-hacked", false},
        {"normal_car_hacking.txt", "x", false},
        {"FreeDrivingData_20180323_SONATA_normal.txt", "x", true},
        {"attack_free-v40.csv.gz", "train_01_attack_free", true},
        {"AttackFree.log", "x", true},
        {"attackfree2.log", "x", true},
        {"carNormal.log", "x", true},
        {"CANNormal3.log", "x", true},
        {"normal.1.log", "x", true},
        {"normal_no_attack.log", "x", true},
        {"normal_without_attacks.log", "x", true},
        {"NOTES_normal.log", "x", true},
        {"DoS.log", "benign", false}, /* one of them says otherwise */
        {"dos_1.csv", "benign", false},
        {"normal_1.log", "dos_and_gear", false},
        {"malicious.csv", "normal", false},
        {"normalized.csv", "x", false},
        {"normals.csv", "x", false},
        {"paranormal.csv", "x", false},
        {"normal_and_attack.csv", "x", false},
        {"normal_attacks.csv", "attack_free", false},
        {"normal_injection.csv", "x", false},
        {"normalInjected.csv", "x", false},
        {"not_normal.csv", "x", false},
        {"non-normal.csv", "x", false},
        {"impersonation_normal.csv", "x", false},
        {"normal_intrusion.csv", "x", false},
        {"intrusion_data.csv", "normal", false},
        {"normal.csv", "intrusions", false},
        {"normal_anomaly.csv", "x", false},
        {"normal_abnormal.csv", "x", false},
        {"fabrication.csv", "normal", false},
        {"fuzzed.csv", "normal", false},
        {"flood.csv", "normal", false},
        {"spoofed.csv", "normal", false},
        {"replayed.csv", "normal", false},
        {"normalDoS.csv", "x", false},
        {"attack_freedom_normal.csv", "x", false},
        {"drive.log", "x", false},
        {"drive.benign", "x", false}, /* a suffix is no part of the name */
        {"abnormal.log", "x", false},
        {"drive.log", "abnormal", false},
        {"dos.log", "x", false},
        {"normal_then_dos.log", "x", false}, /* it says both */
        {"drive.log", "benign_and_fuzzing", false},
        {"attack.log", "free", false},
        {"", "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct benign_case *it = &cases[i];
        if (leat_can_name_is_benign(it->name, it->folder) != it->benign)
            fail_msg("%s in %s", it->name, it->folder);
    }
}

static void test_label_rules(void **state) {
    (void)state;
    enum { LOGS = 5 };
    leat_can_source sources[LOGS] = {{.name = "normal.log", .folder = "x"},
                                     {.name = "drive.log", .folder = "x"},
                                     {.name = "dos.csv", .folder = "x"},
                                     {.name = "empty.log", .folder = "x"},
                                     {.name = "normal.csv", .folder = "x"}};
    const leat_can_file files[LOGS] = {
        {.frames = 3},
        {.frames = 2},
        {.frames = 5, .labelled = true},
        {.frames = 0},
        {.frames = 2, .label_like.names = "\"kind\""}}; /* it may have labels */
    leat_can_splits splits = {.inputs = {.count = LOGS}, .files = sources};
    static const struct rule_case {
        leat_can_unlabelled rule;
        int64_t benign, unlabelled;
        bool is[LOGS];
    } cases[] = {
        {LEAT_UNLABELLED_BY_NAME, 1, 2, {false, true, false, false, true}},
        {LEAT_UNLABELLED_BENIGN, 3, 0, {false}},
        {LEAT_UNLABELLED_UNKNOWN, 0, 3, {true, true, false, false, true}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_can_label_counts counts;
        for (int k = 0; k < LOGS; k++) sources[k].unlabelled = false;
        leat_can_splits_label(&splits, files, cases[i].rule, &counts);
        assert_int_equal(counts.benign, cases[i].benign);
        assert_int_equal(counts.unlabelled, cases[i].unlabelled);
        for (int k = 0; k < LOGS; k++) assert_int_equal(sources[k].unlabelled, cases[i].is[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts),         cmocka_unit_test(test_parts),
        cmocka_unit_test(test_attacks),      cmocka_unit_test(test_attack_words),
        cmocka_unit_test(test_benign_names), cmocka_unit_test(test_label_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
