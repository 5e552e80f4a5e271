/* Options of graph batches: every name, every value, and what is refused, with words that say why.
 */
#include "batch_support.h"

static const char *const defaults_text[][2] = {
    {"graphs", "all"},         {"pack", "ffd"},
    {"batch", "32"},           {"max-nodes", "8192"},
    {"max-edges", "32768"},    {"oversize", "skip"},
    {"min-steps", "1"},        {"seed", "0"},
    {"curriculum", "none"},    {"tiers", "10"},
    {"curriculum-start", "1"}, {"curriculum-end", "10"},
    {"epochs", "0"},           {"preset", "default"},
    {"order", "global"},
};
enum { OPTIONS = sizeof(defaults_text) / sizeof(*defaults_text) };

static void defaults(void **state) {
    (void)state;
    leat_graph_batch_options options = leat_graph_batch_options_default();
    assert_fine(leat_graph_batch_options_check(&options, err));
    for (int i = 0; i < OPTIONS; i++) {
        char text[LEAT_SETTING_BYTES];
        assert_string_equal(leat_graph_batch_options_table()->rows[i].name, defaults_text[i][0]);
        const char *name = defaults_text[i][0];
        assert_string_equal(
            leat_settings_get(leat_graph_batch_options_table(), &options, name, text),
            defaults_text[i][1]);
    }
    assert_null(leat_graph_batch_options_table()->rows[OPTIONS].name);
}

/* What can be set reads back as the same text, and changes nothing else. */
static void set_and_get(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"graphs", "benign"},
        {"graphs", "attack"},
        {"pack", "ffd"},
        {"pack", "next-fit"},
        {"pack", "bucket"},
        {"pack", "fixed"},
        {"batch", "1"},
        {"batch", "16777216"},
        {"max-nodes", "0"},
        {"max-nodes", "2147483647"},
        {"max-edges", "0"},
        {"max-edges", "2147483647"},
        {"oversize", "alone"},
        {"oversize", "fail"},
        {"min-steps", "50"},
        {"seed", "18446744073709551615"},
        {"curriculum", "random"},
        {"curriculum", "scores"},
        {"tiers", "1"},
        {"tiers", "250"},
        {"curriculum-start", "0.1"},
        {"curriculum-end", "12.5"},
        {"epochs", "300"},
        {"preset", "reference"},
        {"order", "windowed:1M"},
        {"order", "windowed:128M"},
        {"order", "windowed:1T"},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        leat_graph_batch_options options = leat_graph_batch_options_default();
        assert_fine(leat_settings_set(leat_graph_batch_options_table(), &options, cases[c][0],
                                      cases[c][1], err));
        for (int i = 0; i < OPTIONS; i++) {
            char text[LEAT_SETTING_BYTES];
            const char *name = defaults_text[i][0];
            leat_settings_get(leat_graph_batch_options_table(), &options, name, text);
            bool its = strcmp(name, cases[c][0]) == 0;
            assert_string_equal(text, its ? cases[c][1] : defaults_text[i][1]);
        }
    }
}

static void refused_texts(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"packs", "ffd", "a batch of graphs does not have an option \"packs\""},
        {"graphs", "normal",
         "graphs: \"normal\" is not accepted; it takes all, benign, attack or labelled"},
        {"pack", "first-fit",
         "pack: \"first-fit\" is not accepted; it takes ffd, next-fit, bucket or fixed"},
        {"batch", "0", "batch: \"0\" is not accepted; it takes a whole number from 1 to 16777216"},
        {"max-nodes", "2147483648", "max-nodes"},
        {"max-nodes", "-1", "max-nodes"},
        {"max-edges", "1e6", "max-edges"},
        {"oversize", "drop", "oversize: \"drop\" is not accepted; it takes skip, alone or fail"},
        {"min-steps", "0", "min-steps: \"0\" is not accepted; it takes a whole number from 1"},
        {"curriculum", "vgae",
         "curriculum: \"vgae\" is not accepted; it takes none, random or scores"},
        {"tiers", "251", "tiers: \"251\" is not accepted; it takes a whole number from 1 to 250"},
        {"curriculum-start", "0",
         "curriculum-start: \"0\" is not accepted; it takes a number above 0 to 1000000000"},
        {"curriculum-end", "ten", "curriculum-end"},
        {"epochs", "-1", "epochs"},
        {"preset", "paper", "preset: \"paper\" is not accepted; it takes default or reference"},
        {"order", "window", "it takes global, windowed or windowed:SIZE"},
        {"order", "windowed:1000K", "windowed"},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        leat_graph_batch_options options = leat_graph_batch_options_default();
        const leat_graph_batch_options before = options;
        leat_error err = {0};
        assert_int_equal(leat_settings_set(leat_graph_batch_options_table(), &options, cases[c][0],
                                           cases[c][1], &err),
                         LEAT_ERR_OPTION);
        if (strstr(err.message, cases[c][2]) == NULL) fail_msg("%d: %s", (int)c, err.message);
        assert_memory_equal(&options, &before, sizeof(options));
    }
    leat_graph_batch_options options = leat_graph_batch_options_default();
    char text[LEAT_SETTING_BYTES];
    assert_null(leat_settings_get(leat_graph_batch_options_table(), &options, "x", text));
}

/* Options that are each good and together are not; NULL: they are. */
static void together(void **state) {
    (void)state;
    static const struct {
        const char *set[5][2];
        const char *says;
    } cases[] = {
        {{{"max-nodes", "0"}, {"max-edges", "0"}}, "max-nodes and max-edges are both 0"},
        {{{"max-nodes", "0"}, {"max-edges", "0"}, {"pack", "next-fit"}}, "are both 0"},
        {{{"max-nodes", "0"}, {"max-edges", "0"}, {"pack", "fixed"}}, NULL},
        {{{"max-nodes", "0"}}, NULL},
        {{{"max-edges", "0"}}, NULL},
        {{{"curriculum", "random"}}, "curriculum requires a number of epochs; set epochs (now 0"},
        {{{"curriculum", "scores"}, {"epochs", "0"}}, "requires a number of epochs"},
        {{{"curriculum", "scores"}, {"epochs", "1"}}, NULL},
        {{{"curriculum", "random"}, {"epochs", "9"}, {"curriculum-start", "10.5"}},
         "curriculum-start: 10.5 is above curriculum-end, 10"},
        {{{"curriculum", "random"}, {"epochs", "9"}, {"curriculum-start", "10"}}, NULL},
        {{{"curriculum-start", "10.5"}}, NULL},
        {{{"curriculum", "random"}, {"epochs", "9"}, {"graphs", "attack"}},
         "graphs attack leaves out the benign graphs, which a curriculum ranks"},
        {{{"curriculum", "random"}, {"epochs", "9"}, {"graphs", "benign"}}, NULL},
        {{{"graphs", "attack"}}, NULL},
        {{{"order", "windowed"}}, NULL},
        {{{"order", "windowed"}, {"preset", "reference"}}, "order windowed is not for preset"},
        {{{"order", "global"}, {"preset", "reference"}}, NULL},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        leat_graph_batch_options options = leat_graph_batch_options_default();
        leat_error err = {0};
        for (int i = 0; i < 5 && cases[c].set[i][0] != NULL; i++) {
            assert_int_equal(leat_settings_set(leat_graph_batch_options_table(), &options,
                                               cases[c].set[i][0], cases[c].set[i][1], NULL),
                             LEAT_OK);
        }
        leat_code code = leat_graph_batch_options_check(&options, &err);
        assert_int_equal(code, cases[c].says == NULL ? LEAT_OK : LEAT_ERR_OPTION);
        if (cases[c].says != NULL && strstr(err.message, cases[c].says) == NULL) {
            fail_msg("%d: %s", (int)c, err.message);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(set_and_get),
        cmocka_unit_test(refused_texts),
        cmocka_unit_test(together),
    };
    return cmocka_run_group_tests_name("options of graph batches", tests, NULL, NULL);
}
