/* leat version: how this leat was built, for bug reports. */
#include "command/cli.h"
#include "version.h"

static void write_words(leat_cli *cli) {
    leat_build_item item;
    leat_out(cli, "leat %s\n", leat_version());
    for (int i = 0; leat_build_info(i, &item); i++)
        leat_out(cli, "%-9s %-13s %s\n", item.group, item.name, item.value);
    leat_version_more(cli);
}

static void json_members(leat_json *json, const void *of) {
    leat_build_item item;
    (void)of;
    leat_json_member_string(json, "version", leat_version());
    leat_json_key(json, "build");
    leat_json_begin_array(json);
    for (int i = 0; leat_build_info(i, &item); i++) {
        leat_json_begin_object(json);
        leat_json_member_string(json, "group", item.group);
        leat_json_member_string(json, "name", item.name);
        leat_json_member_string(json, "value", item.value);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
    leat_version_more_json(json);
}

static int run_version(leat_cli *cli) {
    if (leat_cli_flag(cli, "json")) return leat_out_object(cli, json_members, NULL);
    write_words(cli);
    return 0;
}

static const leat_cli_option options[] = {LEAT_CLI_OPTION_JSON, {0}};

static const leat_cli_example examples[] = {
    {"leat version", "the text to include in a bug report"},
    {0},
};

const leat_cli_command leat_cmd_version = {
    .words = "version",
    .purpose = "print version, commit, compiler, instruction sets and libraries",
    .usage = "[--json]",
    .about = "Prints the version, the commit and kind of build, the compiler that built this leat, "
             "the instruction sets it has code for and those it uses on this processor, and the "
             "libraries with the versions found at run time. leat also shows DuckDB, which reads "
             "Parquet and is opened when it is needed: its version and place, or why it is not "
             "available.",
    .argument = "argument",
    .max_arguments = 0,
    .options = options,
    .examples = examples,
    .run = run_version,
};
