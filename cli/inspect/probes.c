/* leat inspect of probe rows.
 *
 * Verification comes first: a damaged data set that cannot be summarised is still reported. */
#include "data_kinds.h"
#include "inspect/inspect.h"

static leat_code verify(leat_cli *cli, leat_verify_report **out, leat_error *err) {
    leat_verify_options options = leat_verify_options_default();
    if (leat_cli_given(cli, "threads")) options.threads = (int)leat_cli_int(cli, "threads");
    options.memory_bytes = leat_cli_int(cli, "memory");
    options.progress = leat_cli_progress;
    options.progress_user = cli;
    leat_code code =
        leat_verify(leat_cli_arguments(cli), leat_cli_argument_count(cli), &options, out, err);
    leat_cli_progress_end(cli);
    return code;
}

static leat_code summarise(leat_cli *cli, leat_summary **out, leat_error *err) {
    leat_summary_options options = leat_summary_options_default();
    leat_dataset_options opening = leat_dataset_options_default();
    leat_dataset *dataset = NULL;
    *out = NULL;
    opening.memory_bytes = leat_cli_int(cli, "memory");
    if (leat_cli_given(cli, "threads")) options.threads = (int)leat_cli_int(cli, "threads");
    options.read_bytes_max = leat_cli_int(cli, "read");
    options.row_count = leat_cli_int(cli, "rows");
    options.progress = leat_cli_progress;
    options.progress_user = cli;
    leat_code code = leat_dataset_open(&dataset, leat_cli_arguments(cli),
                                       leat_cli_argument_count(cli), &opening, err);
    if (code == LEAT_OK) code = leat_summary_create(out, dataset, &options, err);
    leat_dataset_close(dataset);
    leat_cli_progress_end(cli);
    return code;
}

int leat_inspect_probes(leat_cli *cli) {
    static const leat_report_forms forms = {leat_report_json, leat_report_terminal,
                                            leat_report_page};
    leat_verify_report *checked = NULL;
    leat_summary *summary = NULL;
    leat_error err = {0};
    int status = 0;
    if (leat_cli_flag(cli, "verify") && verify(cli, &checked, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    leat_code code = summarise(cli, &summary, &err);
    if (code != LEAT_OK && (checked == NULL || code == LEAT_ERR_CANCELLED)) {
        status = leat_cli_fail(cli, &err);
    } else {
        leat_report report = {leat_cli_argument(cli, 0), summary, checked};
        bool problems = checked != NULL && checked->problem_count > 0;
        status = leat_inspect_write(cli, &forms, &report, problems, &err);
    }
    leat_summary_destroy(summary);
    leat_verify_report_destroy(checked);
    return status;
}
