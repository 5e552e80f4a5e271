/* leat version: how this leat was built, for bug reports. */
#include <string.h>

#include "command/cli.h"
#include "leat/duckdb.h"

/* The library that reads Parquet, which is opened at run time: its version and place, or why it is
 * not available. */
typedef struct duckdb_found {
    leat_duckdb_facts facts;
    leat_error err;
} duckdb_found;

static void find_duckdb(duckdb_found *found) {
    memset(found, 0, sizeof *found);
    if (leat_duckdb_probe(&found->facts, &found->err) != LEAT_OK) found->facts.version[0] = 0;
}

static void write_duckdb(leat_cli *cli) {
    duckdb_found found;
    find_duckdb(&found);
    leat_out(cli, "%-9s %-13s ", "library", "DuckDB");
    if (found.facts.version[0] == 0) {
        leat_out(cli, "not available: ");
        leat_out_name(cli, found.err.message);
    } else {
        leat_out(cli, "%s (", found.facts.version);
        leat_out_name(cli, found.facts.path);
        leat_out(cli, ")");
    }
    leat_out(cli, "\n");
    if (found.facts.rejected[0] == 0) return;
    leat_out(cli, "%-9s %-13s another copy: ", "library", "DuckDB");
    leat_out_name(cli, found.facts.rejected);
    leat_out(cli, "\n");
}

static void write_words(leat_cli *cli) {
    leat_build_item item;
    leat_out(cli, "leat %s\n", leat_version());
    for (int i = 0; leat_build_info(i, &item); i++)
        leat_out(cli, "%-9s %-13s %s\n", item.group, item.name, item.value);
    write_duckdb(cli);
}

static void json_duckdb(leat_json *json) {
    duckdb_found found;
    find_duckdb(&found);
    leat_json_key(json, "duckdb");
    leat_json_begin_object(json);
    leat_json_member_bool(json, "available", found.facts.version[0] != 0);
    if (found.facts.version[0] != 0) {
        leat_json_member_string(json, "version", found.facts.version);
        leat_json_member_string(json, "path", found.facts.path);
    } else {
        leat_json_member_string(json, "reason", found.err.message);
    }
    if (found.facts.rejected[0] != 0)
        leat_json_member_string(json, "other_copy", found.facts.rejected);
    leat_json_end_object(json);
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
    json_duckdb(json);
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
             "libraries with the versions found at run time. DuckDB, which reads Parquet, is "
             "opened when it is needed: its "
             "version and place, or why it is not available.",
    .argument = "argument",
    .max_arguments = 0,
    .options = options,
    .examples = examples,
    .run = run_version,
};
