/* The command with models of tests/train/tenant.h in its list: of what is measured of them, a
 * higher number, a lower one, or neither is better. Before it does what it is asked to, a run of
 * each is trained in a folder of its name below the working directory, if it is not there, with its
 * page. */
#include <stdio.h>
#include <stdlib.h>

#include "train/tasks.h"
#include "train/tenant.h"
#include "train/train.h"

const leat_task *const leat_tasks[] = {&leat_dcgan_task, &tenant_higher_task, &tenant_lower_task,
                                       &tenant_neither_task, NULL};

static leat_code train(const char *model, leat_error *err) {
    leat_train_options options = leat_train_options_default();
    leat_train_result result;
    options.micro_batch = 3;
    options.steps = TENANT_STEPS;
    options.checkpoint_every = options.sample_every = options.keep = options.threads = 1;
    const leat_code code = leat_train(model, "rows.txt", model, &options, &result, err);
    return code == LEAT_OK ? leat_train_report(model, err) : code;
}

__attribute__((constructor)) static void train_all(void) {
    leat_error err = {0};
    tenant_data("rows.txt", 23);
    for (int i = 1; leat_tasks[i] != NULL; i++) {
        const char *model = leat_tasks[i]->model->name;
        if (leat_run_is_at(model) || train(model, &err) == LEAT_OK) continue;
        fprintf(stderr, "%s: %s\n", model, err.message);
        exit(1);
    }
}
