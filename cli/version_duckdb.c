/* leat version: the library that reads Parquet. */
#include <string.h>

#include "leat/duckdb.h"
#include "version.h"

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

void leat_version_more(leat_cli *cli) {
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

void leat_version_more_json(leat_json *json) {
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
