/* Image data sets compared: which images are twice, and in what words two sets differ. */
#include <stdio.h>
#include <string.h>

#include "ar_support.h"
#include "base/rng.h"
#include "format/image_set/image_set.h"

typedef struct image {
    const char *name;
    int32_t side;
    uint64_t decoded;
} image;

static void fill(leat_image_set *set, const image *images) {
    *set = (leat_image_set){.size = 8};
    for (; images->name != NULL; images++) {
        const leat_image_entry entry = {images->name, images->side, images->side, images->decoded};
        assert_ok(leat_image_set_add(set, &entry, err));
    }
}

enum { MOST = 8 };

static void differences(void **state) {
    (void)state;
    static const struct {
        image wanted[MOST], mine[MOST];
        const char *words;
    } cases[] = {
        {{{"a", 8, 1}, {"b", 8, 2}}, {{"a", 8, 1}, {"b", 8, 2}}, ""},
        {{{"a", 8, 1}, {"b", 8, 2}},
         {{"a", 8, 2}, {"b", 8, 1}},
         "the same pictures in another order, because files have other names"},
        {{{"a", 8, 1}, {"b", 8, 2}},
         {{"x/a", 8, 1}, {"x/b", 8, 2}},
         "the same pictures in another order, because files have other names"},
        {{{"a", 8, 1}, {"b", 8, 2}, {"c", 8, 3}}, {{"a", 8, 1}, {"c", 8, 3}}, "1 missing: b"},
        {{{"a", 8, 1}, {"b", 8, 2}, {"c", 8, 3}, {"d", 8, 4}, {"e", 8, 5}},
         {{"e", 8, 5}},
         "4 missing: a, b, c and 1 more"},
        {{{"a", 8, 1}}, {{"a", 8, 1}, {"b", 8, 2}}, "1 that should not be there: b"},
        {{{"a", 8, 1}, {"b", 8, 2}},
         {{"a", 8, 9}, {"b", 8, 2}},
         "1 decoded differently, by another decoder or because the file is another: a"},
        {{{"a", 8, 1}},
         {{"a", 9, 9}},
         "1 of another size than the file of this name should have: a"},
        {{{"a", 8, 1}, {"b", 8, 2}},
         {{"a", 8, 9}, {"c", 8, 3}},
         "1 missing: b; 1 decoded differently, by another decoder or because the file is another: "
         "a; 1 that should not be there: c"},
        {{{"a", 8, 1}, {"b", 8, 1}, {"c", 8, 2}},
         {{"a", 8, 1}, {"c", 8, 2}},
         "the same pictures, but some another number of times: 2 images instead of 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_image_set wanted, mine;
        char words[LEAT_IMAGES_DIFFERENCE_BYTES];
        bool same = false;
        fill(&wanted, cases[i].wanted);
        fill(&mine, cases[i].mine);
        assert_ok(leat_image_set_difference(&wanted, &mine, &same, words, err));
        if (strcmp(words, cases[i].words) != 0) fail_msg("case %d: %s", (int)i, words);
        assert_int_equal(same, words[0] == 0);
        leat_image_set_free(&wanted);
        leat_image_set_free(&mine);
    }
}

/* The same pictures, in tensors of other sizes or values. */
static void scaled(void **state) {
    (void)state;
    static const image one[] = {{"a", 8, 1}, {0}};
    static const struct {
        int32_t size;
        const char *background, *fingerprint, *words;
    } cases[] = {{8, "", "f", ""},
                 {16, "", "g", "the same pictures at 16 x 16 instead of 8 x 8 (--size)"},
                 {8, "#ffffff", "g", "the same pictures with --background #ffffff instead of drop"},
                 {8, "", "g", "the same pictures, but other values of their pixels after scaling"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_image_set wanted, mine;
        char words[LEAT_IMAGES_DIFFERENCE_BYTES];
        bool same = false;
        fill(&wanted, one);
        fill(&mine, one);
        mine.size = cases[i].size;
        strcpy(wanted.fingerprint, "f");
        strcpy(mine.fingerprint, cases[i].fingerprint);
        strcpy(mine.background, cases[i].background);
        assert_ok(leat_image_set_difference(&wanted, &mine, &same, words, err));
        assert_string_equal(words, cases[i].words);
        assert_int_equal(same, i == 0);
        leat_image_set_free(&wanted);
        leat_image_set_free(&mine);
    }
}

static void duplicates(void **state) {
    (void)state;
    static const struct {
        image images[MOST];
        int64_t count, first, second;
    } cases[] = {
        {{{"a", 8, 1}, {"b", 8, 2}, {"c", 8, 3}}, 0, -1, -1},
        {{{"a", 8, 1}, {"b", 8, 2}, {"c", 8, 2}, {"d", 8, 1}, {"e", 8, 1}}, 3, 0, 3},
        {{{"a", 8, 1}, {"b", 9, 1}}, 0, -1, -1}, /* of one colour */
        {{{"a", 8, 5}, {"b", 8, 7}, {"c", 8, 7}}, 1, 1, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_image_set set;
        int64_t count = 0, first = 0, second = 0;
        fill(&set, cases[i].images);
        assert_ok(leat_image_set_duplicates(&set, &count, &first, &second, err));
        assert_int_equal(count, cases[i].count);
        assert_int_equal(first, cases[i].first);
        assert_int_equal(second, cases[i].second);
        leat_image_set_free(&set);
    }
}

/* The hash is of the values in ascending order, for any number of them. */
static void sorted(void **state) {
    (void)state;
    for (int64_t count = 1; count < 40; count++) {
        char names[40][8], digests[2][65];
        for (int way = 0; way < 2; way++) {
            leat_image_set set = {.size = 8};
            for (int64_t i = 0; i < count; i++) {
                const int64_t k = way == 0 ? i : count - 1 - i;
                snprintf(names[i], sizeof names[i], "%02d", (int)i);
                const leat_image_entry entry = {names[i], 1, 1, leat_random_at(3, (uint64_t)k)};
                assert_ok(leat_image_set_add(&set, &entry, err));
            }
            assert_ok(leat_image_set_sorted_sha256(&set, digests[way], err));
            leat_image_set_free(&set);
        }
        assert_string_equal(digests[0], digests[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences),
        cmocka_unit_test(scaled),
        cmocka_unit_test(duplicates),
        cmocka_unit_test(sorted),
    };
    return cmocka_run_group_tests_name("comparison of image data sets", tests, NULL, NULL);
}
