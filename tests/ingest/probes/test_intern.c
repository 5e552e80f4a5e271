/* The table of sources against a plain reference: growth, forgetting at the limit, equal hashes. */
#include "core_support.h"

#include "ingest/probes/intern.h"

enum { ADDRESSES = 60000 };

/* Looks up address k, adds it with `number` if it is not there; true if it was. */
static bool look_up(leat_intern *table, const char *text, uint32_t *number) {
    int32_t size = (int32_t)strlen(text);
    uint64_t hash = leat_intern_hash(text, size);
    leat_intern_slot *slot = leat_intern_find(table, hash, text, size);
    if (slot->size != 0) {
        *number = slot->source;
        return true;
    }
    *slot = (leat_intern_slot){.tag = (uint32_t)(hash >> 32),
                               .source = *number,
                               .size = (uint8_t)size,
                               .version = (uint8_t)core_version(text)};
    memcpy(slot->text, text, (size_t)size);
    table->used++;
    return false;
}

static void against_reference(void **state) {
    (void)state;
    static const struct {
        int64_t limit_bytes, slots_max;
        bool forgets;
    } cases[] = {
        {0, 4096, true},
        {4096 * 64, 4096, true},
        {16384 * 64 - 1, 8192, true},
        {INT64_C(1) << 24, 262144, false},
    };
    uint32_t *numbers = malloc(ADDRESSES * sizeof *numbers);
    int64_t *born = malloc(ADDRESSES * sizeof *born);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        leat_intern table;
        leat_intern_create(&table, cases[c].limit_bytes);
        for (int i = 0; i < ADDRESSES; i++) born[i] = -1;
        core_rng rng = {.seed = c};
        uint32_t next = 0;
        for (int i = 0; i < 300000; i++) {
            if (i % 2048 == 0) assert_ok(leat_intern_make_room(&table, 2048, err));
            int k = (int)core_below(&rng, 1 + core_below(&rng, ADDRESSES));
            char text[46];
            core_address((uint64_t)k, k % 3 == 1 ? 6 : 4, text);
            uint32_t number = next;
            bool known = look_up(&table, text, &number);
            /* two k may share a text: the reference goes by text through its first k */
            if (known && born[k] == table.generations) assert_int_equal(number, numbers[k]);
            if (born[k] == table.generations) assert_true(known);
            if (!known) next++;
            born[k] = table.generations;
            numbers[k] = number;
            assert_true(table.used * 4 <= table.slot_count * 3);
        }
        assert_true(table.slot_count <= cases[c].slots_max);
        assert_true(table.slot_count * 64 <= cases[c].limit_bytes || table.slot_count == 4096);
        assert_int_equal(table.slot_count & (table.slot_count - 1), 0);
        assert_int_equal(table.generations > 0, cases[c].forgets);
        int64_t filled = 0;
        for (int64_t i = 0; i < table.slot_count; i++) filled += table.slots[i].size != 0;
        assert_int_equal(filled, table.used);
        leat_intern_destroy(&table);
        assert_null(table.slots);
    }
    free(numbers);
    free(born);
}

/* Growth keeps what is there. */
static void growth(void **state) {
    (void)state;
    leat_intern table;
    leat_intern_create(&table, INT64_C(1) << 22);
    int64_t last = 0;
    for (uint32_t i = 0; i < 40000; i++) {
        assert_ok(leat_intern_make_room(&table, 1, err));
        char text[46];
        snprintf(text, sizeof text, "10.%u.%u.%u", i >> 16, i >> 8 & 255, i & 255);
        uint32_t number = i;
        assert_false(look_up(&table, text, &number));
        if (table.slot_count == last) continue;
        last = table.slot_count;
        for (uint32_t k = 0; k <= i; k++) {
            snprintf(text, sizeof text, "10.%u.%u.%u", k >> 16, k >> 8 & 255, k & 255);
            assert_true(look_up(&table, text, &number));
            assert_int_equal(number, k);
        }
    }
    assert_int_equal(table.slot_count, 65536);
    assert_int_equal(table.generations, 0);
    leat_intern_destroy(&table);
}

/* Equal hashes, equal tags and texts that begin alike are told apart by the text. */
static void equal_hashes(void **state) {
    (void)state;
    leat_intern table;
    leat_intern_create(&table, 0);
    assert_ok(leat_intern_make_room(&table, 100, err));
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t k = 0; k < 45; k++) {
            uint32_t i = 44 - k; /* the longest first: each later one is its beginning */
            char text[46];
            memset(text, 'a', sizeof text);
            leat_intern_slot *slot =
                leat_intern_find(&table, UINT64_MAX, text, (int32_t)(i + 1)); /* wraps around */
            assert_int_equal(slot->size, pass == 0 ? 0 : i + 1);
            if (pass == 1) assert_int_equal(slot->source, i);
            if (pass == 0) {
                *slot =
                    (leat_intern_slot){.tag = UINT32_MAX, .source = i, .size = (uint8_t)(i + 1)};
                memcpy(slot->text, text, i + 1);
            }
        }
    }
    leat_intern_destroy(&table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_reference),
        cmocka_unit_test(growth),
        cmocka_unit_test(equal_hashes),
    };
    int failed = cmocka_run_group_tests_name("intern", tests, NULL, NULL);
    core_dir_remove();
    return failed;
}
