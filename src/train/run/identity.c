/* See identity.h. */
#include "train/run/identity.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "train/run/task.h"

bool leat_identity_keeps(const leat_setting *row) {
    static const char *const of_machine[] = {"threads", "memory", "kernels", "init", "export"};
    for (size_t i = 0; i < sizeof of_machine / sizeof *of_machine; i++)
        if (strcmp(row->name, of_machine[i]) == 0) return false;
    return true;
}

static bool decides(const leat_setting *row) { return !row->neutral && leat_identity_keeps(row); }

leat_code leat_identity_hash(leat_identity *identity, const leat_run_options *options,
                             leat_error *err) {
    leat_buf text = {0};
    const bool of_model = strcmp(identity->model, options->task->model->name) == 0;
    LEAT_ASSERT(of_model); /* the settings that follow are those of this model */
    leat_code code =
        leat_buf_printf(&text, err, "leat run 1\nmodel %s %s\ndata %s %lld\nkernels %s\ninit %s\n",
                        identity->model, identity->model_hash, identity->data,
                        (long long)identity->samples, identity->kernel_class, identity->init);
    leat_run_option option;
    for (int i = 0; code == LEAT_OK && leat_run_option_at(options, i, &option); i++) {
        char value[LEAT_SETTING_BYTES];
        if (decides(option.row))
            code = leat_buf_printf(&text, err, "%s %s\n", option.row->name,
                                   leat_run_option_get(&option, value));
    }
    leat_sha256_hex_of(text.data, text.size, identity->run);
    leat_buf_free(&text);
    return code;
}

leat_code leat_identity_make(leat_identity *identity, const leat_model *model,
                             const leat_feed *feed, const leat_run_options *options,
                             leat_error *err) {
    LEAT_TRY(
        leat_kernel_class(model->class->suites, options->run.kernels, identity->kernel_class, err));
    snprintf(identity->model, sizeof identity->model, "%s", model->class->name);
    leat_model_hash(model, identity->model_hash);
    snprintf(identity->data, sizeof identity->data, "%s", feed != NULL ? feed->fingerprint : "");
    identity->samples = feed != NULL ? feed->count : 0;
    return leat_identity_hash(identity, options, err);
}

/* `remedy` follows. */
static leat_code differ(const char *what, const char *there, const char *here, const char *remedy,
                        leat_error *err) {
    return leat_fail(err, LEAT_ERR_OPTION,
                     "cannot resume: %s is %.64s here, but the run began with %.64s%s", what,
                     here[0] != 0 ? here : "missing", there[0] != 0 ? there : "none", remedy);
}

/* The options are the same, so what computes them is not. */
static const char other_version[] =
    "; resume it with the version of leat that it began with (leat inspect RUN), or begin another "
    "run, with --init RUN, in another folder";

static leat_code differ_model(const char *there, const char *here, leat_error *err) {
    char remedy[150];
    snprintf(remedy, sizeof remedy,
             "; resume it with leat train %.16s or leat coordinate --model %.16s", there, there);
    return differ("the model", there, here, remedy, err);
}

/* A setting, which an option gives; an option without a value is there or not. */
static leat_code differ_option(const leat_setting *row, const char *there, const char *here,
                               leat_error *err) {
    const char *name = row->name;
    if (row->kind == LEAT_SETTING_FLAG)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "cannot resume: %s is %.64s here, but the run began with %.64s; %s --%s",
                         name, here, there, strcmp(there, "true") == 0 ? "use" : "leave out", name);
    return leat_fail(
        err, LEAT_ERR_OPTION,
        "cannot resume: %s is %.64s here, but the run began with %.64s; use --%s %.64s", name, here,
        there, name, there);
}

leat_code leat_identity_compare(const leat_identity *here, const leat_run_options *options,
                                const leat_identity *there, const json_t *settings,
                                leat_error *err) {
    if (there->data[0] == 0)
        return leat_fail(
            err, LEAT_ERR_OPTION,
            "the run holds imported weights, and cannot be resumed; to train from them, "
            "use --init RUN with another folder for -o");
    const struct {
        const char *what, *here, *there, *remedy;
    } facts[] = {{"the data set (fingerprint)", here->data, there->data,
                  "; give that data set, or begin another run, with --init RUN, in another folder"},
                 {"the kernel class (leat doctor --hash)", here->kernel_class, there->kernel_class,
                  other_version},
                 {"the hash of the initial weights (--init)", here->init, there->init,
                  "; leave out --init: the run has its weights"}};
    if (strcmp(here->model, there->model) != 0) return differ_model(there->model, here->model, err);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        if (strcmp(facts[i].here, facts[i].there) != 0)
            return differ(facts[i].what, facts[i].there, facts[i].here, facts[i].remedy, err);
    }
    leat_run_option option;
    for (int i = 0; leat_run_option_at(options, i, &option); i++) {
        char text[LEAT_SETTING_BYTES];
        const char *value = NULL, *name = option.row->name;
        if (!decides(option.row)) continue;
        LEAT_TRY(leat_json_get_string(settings, name, &value, "training.json", err));
        const char *ours = leat_run_option_get(&option, text);
        if (strcmp(value, ours) != 0) return differ_option(option.row, value, ours, err);
    }
    if (strcmp(here->model_hash, there->model_hash) != 0)
        return differ("the hash of the model", there->model_hash, here->model_hash, other_version,
                      err);
    return LEAT_OK;
}
