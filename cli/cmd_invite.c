/* leat invite: lets somebody work on runs. */
#include <stdio.h>

#include "crowd/crowd.h"

/* What is beside the line for the volunteer. */
static void say(leat_cli *cli, const leat_invite_options *options,
                const leat_invite_result *result) {
    char machines[LEAT_WORDS_BYTES];
    leat_things(machines, result->machines, "machine");
    if (result->ticket[0] == 0) {
        leat_cli_note(cli,
                      "\"%s\" may work with %s at a time from now on, with the ticket that it has; "
                      "machines that are connected already go on",
                      options->login, machines);
        return;
    }
    leat_cli_note(cli,
                  "\"%s\" may work with %s at a time%s; the line contains a password: send it to "
                  "nobody else",
                  options->login, machines,
                  result->replaced
                      ? ", and its earlier ticket no longer works: its sessions were ended"
                      : "");
    leat_cli_note(cli, "where leat is installed, leat work does the same as leat-worker");
    if (result->only_here)
        leat_cli_note(cli, "the ticket works only on this machine, because the URL of --db is that "
                           "of this machine alone, as leat coordinate --db local writes it without "
                           "--listen");
    if (result->untried[0] != 0)
        leat_cli_note(cli, "the ticket does not let anybody in from this machine: %s",
                      result->untried);
}

static int run_invite(leat_cli *cli) {
    leat_invite_options options = leat_invite_options_default();
    leat_invite_result result;
    leat_error err = {0};
    char url[LEAT_CROWD_URL_BYTES];
    const int status = leat_crowd_owner_url(cli, url);
    if (status != 0) return status;
    options.url = url;
    options.login = leat_cli_argument(cli, 0);
    options.run = leat_cli_text(cli, "run");
    if (leat_cli_given(cli, "machines")) options.machines = leat_cli_int(cli, "machines");
    options.new_password = leat_cli_flag(cli, "new-password");
    if (leat_invite(&options, &result, &err) != LEAT_OK)
        return leat_crowd_fail(cli, leat_cli_text(cli, "db"), &err);
    if (result.ticket[0] != 0)
        leat_out(cli, "leat-worker %s%s\n", result.ticket, result.serves_data ? "" : " --data DIR");
    say(cli, &options, &result);
    return 0;
}

static const leat_cli_option options[] = {
    {.own.name = "db",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "URL",
     .own.help = "database, with the login of its owner or of a superuser, or - or @FILE to read "
                 "the URL",
     .required = true},
    {.own.name = "run",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "RUN",
     .own.usually = "the only one that is open when the ticket is used",
     .own.help = "run that the ticket is for"},
    {.own.name = "machines",
     .own.kind = LEAT_SETTING_INT,
     .own.min = 1,
     .own.max = LEAT_INVITE_MACHINES_MAX,
     .own.usually = "4, or as before",
     .own.help = "machines that may use this login at the same time; it gets one more connection, "
                 "for checks and for leat status. For a login that already exists, this option "
                 "alone changes the number, and its ticket stays valid"},
    {.own.name = "new-password",
     .own.kind = LEAT_SETTING_FLAG,
     .own.help = "print another ticket for a login that was invited before; the earlier one no "
                 "longer works, and its sessions are ended"},
    {0},
};

static const leat_cli_example examples[] = {
    {"leat invite ann --db "
     "'postgresql://me:secret@db.example.org/class?sslmode=verify-full&sslrootcert=ca.pem'",
     "a login \"ann\" and the line for her"},
    {"leat invite ann --db @run/database/invite.url",
     "the same for a run of leat coordinate --db local"},
    {"leat invite ann --db @run/database/invite.url --new-password",
     "another line, because the first one was lost"},
    {"leat invite ann --db @run/database/invite.url --machines 8",
     "let ann work with more machines, with the line that she has"},
    {.line = NULL},
};

const leat_cli_command leat_cmd_invite = {
    .words = "invite",
    .purpose = "create a volunteer's login and print the line that uses it",
    .usage = "NAME --db URL [options]",
    .about =
        "Creates a login that may connect to the database, which is all that a worker needs, with "
        "limits on connections, on the time of statements, of waiting for locks and of idle "
        "transactions. Prints one line for the volunteer: leat-worker and a ticket, which has the "
        "server's address, the login with a random password, and the certificate that the server "
        "is verified with.\n\n"
        "Volunteers reach and verify the server as this URL does. Beyond this "
        "machine it must have sslmode=verify-full, and sslrootcert with a file that has the "
        "certificate of the server's authority, or \"system\".\n\n"
        "leat revoke removes the login.",
    .argument = "NAME",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = options,
    .examples = examples,
    .run = run_invite,
};
