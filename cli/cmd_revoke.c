/* leat revoke: removes a volunteer's login. */
#include "crowd/crowd.h"

static int run_revoke(leat_cli *cli) {
    leat_revoke_result result;
    leat_error err = {0};
    char url[LEAT_CROWD_URL_BYTES], sessions[LEAT_WORDS_BYTES], leases[LEAT_WORDS_BYTES];
    const char *login = leat_cli_argument(cli, 0);
    const int status = leat_crowd_owner_url(cli, url);
    if (status != 0) return status;
    if (leat_revoke(url, login, &result, &err) != LEAT_OK)
        return leat_crowd_fail(cli, leat_cli_text(cli, "db"), &err);
    leat_out(
        cli,
        "removed   %s\nended     %s, %s\nresults   %lld of the open step discarded, %lld of it "
        "already counted\n",
        login, leat_things(sessions, result.sessions, "session"),
        leat_things(leases, result.leases, "lease"), (long long)result.results,
        (long long)result.counted);
    return 0;
}

static const leat_cli_option options[] = {
    {.own.name = "db",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "URL",
     .own.help = "database, with the login that invited, or - or @FILE to read the URL",
     .required = true},
    {0},
};

static const leat_cli_example examples[] = {
    {"leat revoke ann --db @run/database/invite.url", "remove ann's login"},
    {.line = NULL},
};

const leat_cli_command leat_cmd_revoke = {
    .words = "revoke",
    .purpose = "remove a volunteer's login and end its work",
    .usage = "NAME --db URL",
    .about =
        "Removes a login that leat invite created, also while it works: it can no longer connect, "
        "its sessions end, others compute its units, and its results of the open step that were "
        "not counted yet are computed again. What was counted stays in the weights.\n\n"
        "A login that owns something, or has rights that somebody else gave it, stays without the "
        "right to connect; the message names these.",
    .argument = "NAME",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = options,
    .examples = examples,
    .run = run_revoke,
};
