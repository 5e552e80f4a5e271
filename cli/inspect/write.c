/* The report of `leat inspect`, for any kind of data: in the forms that were asked for. */
#include "inspect/inspect.h"

static void write_place(leat_cli *cli, const char *what, const char *path) {
    if (path == NULL) return;
    leat_out(cli, "\n  %s written to ", what);
    leat_out_name(cli, path);
    leat_out(cli, "\n");
}

int leat_inspect_write(leat_cli *cli, const leat_report_forms *forms, const void *report,
                       bool problems, const leat_error *failure) {
    const leat_page_places places = leat_page_asked(cli, "html");
    bool json = leat_cli_flag(cli, "json");
    leat_error err = {0};
    int status = 0;
    if (json) status = leat_out_object(cli, forms->json, report);
    else forms->terminal(cli, report);
    if (failure->code != LEAT_OK) return leat_cli_fail(cli, failure);
    if ((places.path != NULL || places.figures != NULL) &&
        leat_page_save(&places, forms->page, report, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    if (!json) write_place(cli, "page", places.path);
    if (!json) write_place(cli, "figures", places.figures);
    return problems ? 1 : status;
}
