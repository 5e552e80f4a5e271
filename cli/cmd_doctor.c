/* leat doctor: problems with this machine, a data set or a database, and what to do about them. */
#include <stdio.h>
#include <string.h>

#include "crowd/crowd.h"
#include "doctor/doctor.h"
#include "leat/duckdb.h"
#include "leat/ingest.h"
#include "leat/load_can.h"

/* ---- The machine -------------------------------------------------------------------------- */

static void tell_build(leat_doctor *doc) {
    leat_build_item item;
    char what[256];
    for (int i = 0; leat_build_info(i, &item); i++) {
        bool left_out = strcmp(item.value, "left out") == 0;
        snprintf(what, sizeof what, "%s %s: %s", item.group, item.name, item.value);
        leat_doctor_tell(doc, left_out ? LEAT_DOCTOR_NOTE : LEAT_DOCTOR_OK, what,
                         left_out ? "if you need it, install its -dev package and rebuild leat"
                                  : "");
    }
}

static void tell_duckdb(leat_doctor *doc) {
    leat_duckdb_facts facts;
    char what[LEAT_MESSAGE_BYTES + 128];
    leat_error err = {0};
    if (leat_duckdb_probe(&facts, &err) == LEAT_OK) {
        snprintf(what, sizeof what, "DuckDB %s reads Parquet (%s)", facts.version, facts.path);
        leat_doctor_tell(doc, LEAT_DOCTOR_OK, what, "");
        if (facts.rejected[0] != 0) {
            snprintf(what, sizeof what, "another DuckDB: %s", facts.rejected);
            leat_doctor_tell(doc, LEAT_DOCTOR_NOTE, what, "");
        }
        leat_doctor_tell(
            doc, LEAT_DOCTOR_NOTE,
            "page checksums of Parquet files are not verified: DuckDB does not read them",
            "check copied files against a checksum of the complete file (sha256sum)");
        return;
    }
    snprintf(what, sizeof what, "Parquet cannot be read: %s", err.message);
    leat_doctor_tell(doc, LEAT_DOCTOR_PROBLEM, what, "CSV and NDJSON work without it");
}

static void tell_memory(leat_doctor *doc, const leat_machine *machine) {
    char all[LEAT_WORDS_BYTES], free_bytes[LEAT_WORDS_BYTES], what[160];
    if (machine->memory_bytes < 0 || machine->available_bytes < 0) {
        leat_doctor_tell(doc, LEAT_DOCTOR_NOTE, "memory: unknown on this machine",
                         "pass --memory to ingest to set its limit");
        return;
    }
    snprintf(what, sizeof what, "memory: %s, of which %s available",
             leat_words_bytes(all, machine->memory_bytes),
             leat_words_bytes(free_bytes, machine->available_bytes));
    int64_t wanted = leat_probes_ingest_options_default().memory_bytes;
    bool enough = machine->available_bytes >= wanted;
    leat_doctor_tell(doc, enough ? LEAT_DOCTOR_OK : LEAT_DOCTOR_NOTE, what,
                     enough ? "" : "pass a smaller --memory to ingest, whose default is 512M");
}

/* Otherwise an ingest reports it only when it starts. */
static void tell_writing(leat_doctor *doc, const char *path) {
    leat_error err = {0};
    leat_code code = leat_folder_can_write(path, &err);
    if (code == LEAT_OK || code == LEAT_ERR_NOT_FOUND)
        return; /* an ingest creates missing folders */
    leat_doctor_tell(doc, leat_cli_given(doc->cli, "temp") ? LEAT_DOCTOR_PROBLEM : LEAT_DOCTOR_NOTE,
                     err.message, "pass writable folders as --temp and -o");
}

static void tell_disk(leat_doctor *doc, const char *path, const leat_machine *machine) {
    char words[LEAT_WORDS_BYTES], what[512];
    if (machine->disk_free_bytes < 0) {
        snprintf(what, sizeof what, "disk at \"%.300s\": free space unknown", path);
        leat_doctor_tell(doc, LEAT_DOCTOR_NOTE, what,
                         "check that the folder exists, or pass another as --temp");
        return;
    }
    snprintf(what, sizeof what, "disk at \"%.300s\": %s free", path,
             leat_words_bytes(words, machine->disk_free_bytes));
    bool enough = machine->disk_free_bytes >= INT64_C(10) << 30;
    leat_doctor_tell(
        doc, enough ? LEAT_DOCTOR_OK : LEAT_DOCTOR_NOTE, what,
        enough ? ""
               : "an ingest needs about 120 bytes per measurement there, half of it only while it "
                 "runs; pass --temp and -o folders with enough free space");
}

static void tell_machine(leat_doctor *doc, const char *path) {
    leat_machine machine;
    char what[160];
    leat_machine_look(path, &machine);
    snprintf(what, sizeof what, "processors: %d", machine.cpus);
    leat_doctor_tell(doc, LEAT_DOCTOR_OK, what, "");
    tell_memory(doc, &machine);
    tell_disk(doc, path, &machine);
    tell_writing(doc, path);
    snprintf(what, sizeof what, "open files: at most %lld", (long long)machine.open_files_max);
    bool enough = machine.open_files_max < 0 || machine.open_files_max >= 1024;
    leat_doctor_tell(doc, enough ? LEAT_DOCTOR_OK : LEAT_DOCTOR_NOTE, what,
                     enough ? "" : "large data sets need 1024; raise the limit with ulimit -n");
    if (machine.python[0] != 0) {
        snprintf(what, sizeof what, "python: %s", machine.python);
        leat_doctor_tell(doc, LEAT_DOCTOR_OK, what, "");
    } else {
        leat_doctor_tell(doc, LEAT_DOCTOR_NOTE, "python: no python3 found in the usual places",
                         "only the Python package needs it");
    }
}

/* ---- Data --------------------------------------------------------------------------------- */

static void tell_leftovers(leat_doctor *doc, const char *path) {
    char names[160], what[256], words[LEAT_WORDS_BYTES];
    leat_error err = {0};
    int64_t count = 0;
    if (leat_can_leftovers(path, names, sizeof names, &count, &err) != LEAT_OK || count == 0)
        return; /* opening the folder reports that it cannot be read */
    snprintf(what, sizeof what, "%s of an ingest or staging that is running or was killed: %s",
             leat_things(words, count, "leftover"), names);
    leat_doctor_tell(doc, LEAT_DOCTOR_NOTE, what,
                     "run it again to resume or clean up, or remove them if none is running");
}

static void tell_data(leat_doctor *doc, const char *path) {
    leat_data_kind_at(path)->doctor(doc, path);
    tell_leftovers(doc, path);
}

/* ---- The command -------------------------------------------------------------------------- */

static void tell_here(leat_doctor *doc) {
    const char *kernels = leat_cli_text(doc->cli, "kernels");
    tell_build(doc);
    tell_duckdb(doc);
    tell_machine(doc, leat_cli_text(doc->cli, "temp"));
    if (kernels != NULL) leat_doctor_kernels(doc, kernels);
}

/* With a database this machine is not looked at: it may work without what other commands need. */
static int tell_all(leat_doctor *doc) {
    const char *typed = leat_cli_text(doc->cli, "db");
    char url[LEAT_CROWD_URL_BYTES];
    int status = 0;
    if (typed == NULL) tell_here(doc);
    else status = leat_crowd_url(doc->cli, typed, url);
    if (status == 0 && typed != NULL)
        status = leat_doctor_database(doc, url, leat_cli_int(doc->cli, "workers"));
    for (int i = 0; status == 0 && i < leat_cli_argument_count(doc->cli); i++)
        tell_data(doc, leat_cli_argument(doc->cli, i));
    return status;
}

static int finish(leat_doctor *doc) {
    const int status = doc->counts[LEAT_DOCTOR_PROBLEM] > 0 ? 1 : 0;
    if (doc->json == NULL) {
        leat_out(doc->cli, "%lld ok, %lld to note, %lld problem%s\n",
                 (long long)doc->counts[LEAT_DOCTOR_OK], (long long)doc->counts[LEAT_DOCTOR_NOTE],
                 (long long)doc->counts[LEAT_DOCTOR_PROBLEM],
                 doc->counts[LEAT_DOCTOR_PROBLEM] == 1 ? "" : "s");
        return status;
    }
    leat_json_end_array(doc->json);
    if (doc->has_database) leat_doctor_database_json(doc->json, &doc->database);
    leat_json_member_int(doc->json, "problems", doc->counts[LEAT_DOCTOR_PROBLEM]);
    leat_json_end_object(doc->json);
    const int written = leat_out_json(doc->cli, doc->json);
    return written != 0 ? written : status;
}

static int run_doctor(leat_cli *cli) {
    leat_doctor doc = {.cli = cli};
    leat_error err = {0};
    const char *kernels = leat_cli_text(cli, "kernels");
    if (leat_cli_flag(cli, "hash") && leat_cli_flag(cli, "json"))
        return leat_cli_usage(cli, "--hash prints only hashes: omit --json");
    if (leat_cli_flag(cli, "hash")) return leat_doctor_hash(cli, kernels ? kernels : "all");
    if (kernels != NULL && leat_cli_text(cli, "db") != NULL)
        return leat_cli_usage(cli, "--db looks at a database, --kernels at this machine: run leat "
                                   "doctor once for each");
    if (leat_cli_given(cli, "workers") && leat_cli_text(cli, "db") == NULL)
        return leat_cli_usage(cli, "--workers says how many a database must take: give --db");
    if (leat_cli_flag(cli, "json")) {
        if (leat_json_create(&doc.json, false, &err) != LEAT_OK) return leat_cli_fail(cli, &err);
        leat_json_begin_object(doc.json);
        leat_json_key(doc.json, "findings");
        leat_json_begin_array(doc.json);
    }
    int status = tell_all(&doc);
    if (status == 0) status = finish(&doc);
    leat_json_destroy(doc.json);
    return status;
}

static const leat_cli_option options[] = {
    {.own.name = "db",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "URL",
     .own.help = "check this PostgreSQL database instead of this machine: whether runs can be "
                 "coordinated or worked on with its login; - or @FILE: read the URL"},
    {.own.name = "workers",
     .own.kind = LEAT_SETTING_INT,
     .own.min = 1,
     .own.max = 10000,
     .own.usually = "those that work now",
     .own.help = "number of workers that the database must take; needs --db"},
    LEAT_CLI_OPTION_JSON,
    {.own.name = "temp",
     .own.kind = LEAT_SETTING_PATH,
     .own.value = "DIR",
     .own.help =
         "folder that an ingest will write to; its free space is checked, and it must be writable",
     .preset = "."},
    {.own.name = "kernels",
     .own.kind = LEAT_SETTING_TEXT,
     .own.value = "scalar|avx2|avx512|neon",
     .own.help = "test the kernels that models are trained with, and measure those that are used; "
                 "with a name, test and measure these",
     .bare = "all"},
    {.own.name = "hash",
     .own.kind = LEAT_SETTING_FLAG,
     .own.help = "print only the hashes of the kernels' self-test, which are the same on all "
                 "processors"},
    {0},
};

static const leat_cli_example examples[] = {
    {"leat doctor", "does this machine have what leat needs?"},
    {"leat doctor data", "and is the data set complete?"},
    {"leat doctor --kernels", "are results right here, and how fast are they computed?"},
    {"leat doctor --db postgresql://ann:secret@db.example.org/class",
     "can this login work on a run, or coordinate one?"},
    {"leat doctor --db @ticket --workers 30", "and is the database enough for a class of 30?"},
    {0},
};

const leat_cli_command leat_cmd_doctor = {
    .words = "doctor",
    .purpose =
        "find problems with this machine, a data set or a training run, and how to solve them",
    .usage = "[DATA...] [options]",
    .about =
        "Checks the machine (processor, memory, disk, limits, libraries) and data sets and CAN "
        "caches: leftovers of an interrupted ingest, missing files, wrong file sizes, and the "
        "manifest against the index; of image data sets the same, and of training runs the hashes "
        "of all checkpoints. Each line gives a verdict (ok, note or problem), what was "
        "found, and what to do. The exit status is 1 if there is a problem.\n\n"
        "With --db, a database of leat coordinate and leat work: whether it can be reached, its "
        "version, poolers, encryption, the schema and the rights of the login, space, clock, round "
        "trip, bandwidth (at most 6 MB each way), how many workers can connect, what a step sends, "
        "who may end a session, and who holds old snapshots. "
        "The exit status is then 0 if runs can be coordinated or worked on.\n\n"
        "It changes nothing and does not verify the contents of shards; use leat inspect --verify "
        "for that.",
    .argument = "DATA",
    .max_arguments = -1,
    .options = options,
    .examples = examples,
    .run = run_doctor,
};
