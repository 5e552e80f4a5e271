/*
 * A private database server (leat_local_open), as root and as an ordinary user: its logins and
 * their rights, what a second start finds, ports, paths, what killed processes leave, and what is
 * refused before anything is written.
 */
/* No TSan: its threads wait for a process, and look at a file; crowd_test_local has the crowd's. */
#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "cluster.h"
#include "crowd/local.h"
#include "memory_folder.h"

static char top[256], folder[900], lines[4096];

static void note(void *user, const char *line) {
    (void)user;
    const size_t size = strlen(lines);
    snprintf(lines + size, sizeof lines - size, "%s\n", line);
}

static const leat_local_options noting = {.say = note};

/* A folder of its own, which every user may enter. */
static void make_top(void) {
    snprintf(top, sizeof top, "%s/leat-private-XXXXXX", memory_folder(INT64_C(256) << 20));
    assert_non_null(mkdtemp(top));
    assert_int_equal(chmod(top, 0755), 0);
}

static void at(const char *name) { snprintf(folder, sizeof folder, "%s/%s", top, name); }

static const char *in_folder(const char *name) {
    static char path[1000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static bool exists(const char *path) { return access(path, F_OK) == 0; }

static leat_local *open_local(void) {
    leat_local *local = NULL;
    lines[0] = 0;
    assert_ok(leat_local_open(&local, folder, &noting, err));
    return local;
}

/* Closes it; its server has ended, its socket is gone, and it left nothing else. */
static void close_local(leat_local *local) {
    const pid_t id = (pid_t)leat_local_process(local);
    char socket_at[64];
    snprintf(socket_at, sizeof socket_at, "%s", local->state.socket);
    assert_true(exists(socket_at));
    leat_local_close(local);
    assert_int_equal(kill(id, 0), -1);
    assert_int_equal(errno, ESRCH);
    assert_false(exists(socket_at));
    assert_false(exists(in_folder("password")));
    assert_false(exists(in_folder(".leat.lock")));
}

static leat_pg *connect_to(const char *url) {
    leat_pg_place place;
    leat_pg *pg = NULL;
    assert_ok(leat_pg_place_parse(&place, url, err));
    assert_ok(leat_pg_connect(&pg, &place, "test", 60000, NULL, err));
    return pg;
}

static void must_fail(leat_pg *pg, const char *sql, const char *state) {
    assert_int_equal(leat_pg_script(pg, sql, NULL), LEAT_ERR_INPUT);
    assert_string_equal(leat_pg_sqlstate(pg), state);
}

/* The logins, and what they may not do. */
static void check_logins(const leat_local *local) {
    leat_pg_place place;
    leat_pg *pg = connect_to(leat_local_url(local));
    assert_string_equal(ask(pg, "select current_user || ' ' || current_database()"), "owner leat");
    assert_string_equal(ask(pg, "select usesuper from pg_user where usename = 'owner'"), "f");
    assert_string_equal(ask(pg, "show fsync"), "on");
    assert_string_equal(ask(pg, "show autovacuum"), "on");
    assert_string_equal(ask(pg, "select pg_encoding_to_char(encoding) || ' ' || datcollate from "
                                "pg_database where datname = 'leat'"),
                        "UTF8 C");
    assert_string_equal(ask(pg, "show listen_addresses"), "127.0.0.1");
    assert_string_equal(ask(pg, "show authentication_timeout"), "10s");
    tell(pg, "create schema mine; create table mine.t (x int)");
    leat_pg_close(pg);
    pg = connect_to(leat_local_worker_url(local));
    assert_string_equal(ask(pg, "select current_user"), "worker");
    must_fail(pg, "create schema s", "42501");
    must_fail(pg, "create table public.t (x int)", "42501");
    must_fail(pg, "create temporary table t (x int)", "42501");
    must_fail(pg, "select * from mine.t", "42501");
    must_fail(pg, "select pg_advisory_lock(1)", "42501");
    must_fail(pg, "select pg_try_advisory_xact_lock_shared(1, 2)", "42501");
    must_fail(pg, "select lo_create(0)", "42501");
    must_fail(pg, "select pg_logical_emit_message(false, '', '')", "42501");
    must_fail(pg, "select lo_from_bytea(0, 'x')", "42501");
    assert_string_equal(ask(pg, "select rolconnlimit from pg_roles where rolname = 'worker'"),
                        "180");
    assert_string_equal(ask(pg, "show max_connections"), "200");
    leat_pg_close(pg);
    pg = connect_to(leat_local_url(local));
    assert_string_equal(ask(pg, "select pg_has_role('pg_signal_backend', 'usage')"), "t");
    leat_pg_close(pg);
    /* no login without its password, not even over the loopback interface */
    char url[256];
    snprintf(url, sizeof url, "postgresql://owner:wrong@127.0.0.1:%d/leat?sslmode=disable",
             (int)local->state.port);
    assert_ok(leat_pg_place_parse(&place, url, err));
    assert_fails(leat_pg_connect(&pg, &place, "test", 60000, NULL, err), LEAT_ERR_OPTION,
                 "password authentication failed");
}

static void check_folder(const leat_local *local) {
    struct stat facts;
    assert_int_equal(stat(in_folder("local.json"), &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    assert_int_equal(facts.st_uid, geteuid());
    assert_int_equal(stat(in_folder("data"), &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0700);
    assert_int_equal(facts.st_uid, local->user.user);
    assert_true(geteuid() != 0 ? facts.st_uid == geteuid() : facts.st_uid != 0);
    assert_int_equal(stat(local->state.socket, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0700);
    assert_int_equal(strstr(lines, "does not run as root") != NULL, geteuid() == 0);
    if (geteuid() == 0) assert_non_null(strstr(lines, local->user.name));
}

/* A process of the folder's last server that this one did not start, as after a kill: with its
 * word, in its data. */
static leat_process *start_earlier(const leat_local_state *state, const char *data) {
    leat_local_programs programs;
    leat_process_user user;
    leat_process *process = NULL;
    struct stat facts;
    char program[LEAT_PATH_BYTES + 16], place[640], name[96], log[512], line[64] = "";
    assert_ok(leat_local_find_usual(0, &programs, err));
    snprintf(program, sizeof program, "%s/postgres", programs.folder);
    snprintf(log, sizeof log, "%s/socket", top); /* a port might be taken by now */
    assert_ok(leat_path_make_dir(log, err));
    assert_int_equal(chmod(log, 0777), 0);
    snprintf(place, sizeof place, "unix_socket_directories=%s", log);
    snprintf(name, sizeof name, "cluster_name=%s", state->token);
    snprintf(log, sizeof log, "%s/earlier", top);
    assert_int_equal(stat(data, &facts), 0);
    assert_ok(leat_process_user_numbered(&user, facts.st_uid, err));
    const char *const words[] = {
        program, "-D", data, "-c", place, "-c", name, "-c", "listen_addresses=", NULL};
    const leat_process_options options = {
        .program = program, .words = words, .log = log, .user = &user};
    assert_ok(leat_process_start(&process, &options, err));
    /* it has begun once it says so: its file of the process number is there from then on */
    while (strstr(line, "ready") == NULL) {
        int status = 0;
        uint8_t *text = NULL;
        int64_t size = 0;
        if (leat_process_wait(process, 10, &status)) fail_msg("it ends: see %s", log);
        if (leat_file_load(log, 1 << 16, &text, &size, NULL) == LEAT_OK &&
            strstr((const char *)text, "is ready to accept") != NULL)
            snprintf(line, sizeof line, "ready");
        leat_free(text);
    }
    assert_int_equal(unlink(log), 0);
    return process;
}

/* A program that has a port of the loopback interface. */
static int take_port(int64_t port) {
    struct sockaddr_in place = {.sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                .sin_port = htons((uint16_t)port)};
    const int yes = 1, s = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes), 0);
    /* if it cannot be bound, another program has it, which is as good */
    if (bind(s, (struct sockaddr *)&place, sizeof place) == 0) assert_int_equal(listen(s, 1), 0);
    return s;
}

/* ---- the life of a folder: one cluster, because each costs a second ----------------------------
 */

static void first_start(void) {
    leat_local *second = NULL;
    leat_process_facts facts;
    leat_local *local = open_local();
    /* by its path: by its name alone it finds neither initdb nor its files where PATH has none */
    assert_true(leat_process_get(leat_local_process(local), &facts));
    assert_memory_equal(facts.words, local->programs.folder, strlen(local->programs.folder));
    check_logins(local);
    check_folder(local);
    assert_fails(leat_local_open(&second, folder, NULL, err), LEAT_ERR_BUSY, "another process");
    assert_null(second);
    assert_true(leat_local_process(local) > 1);
    close_local(local);
}

/* The same port and passwords, and what was stored. */
static void second_start(void) {
    char url[256];
    leat_local *local = open_local();
    snprintf(url, sizeof url, "%s", leat_local_url(local));
    /* what a worker does to its own login is undone */
    leat_pg *worker = connect_to(leat_local_worker_url(local));
    tell(worker, "alter role worker password 'x'; alter role worker set "
                 "default_transaction_read_only = on; alter role worker in database leat set "
                 "search_path = mine");
    leat_pg_close(worker);
    close_local(local);
    local = open_local();
    worker = connect_to(leat_local_worker_url(local));
    assert_string_equal(ask(worker, "show default_transaction_read_only"), "off");
    assert_string_equal(ask(worker, "select count(*) from pg_db_role_setting s join pg_roles r on "
                                    "r.oid = s.setrole where rolname = 'worker'"),
                        "1");
    leat_pg_close(worker);
    /* another program may have taken the port; then it says so */
    if (strstr(lines, "is taken by another program") == NULL)
        assert_string_equal(leat_local_url(local), url);
    leat_pg *pg = connect_to(leat_local_url(local));
    assert_string_equal(ask(pg, "select count(*) from mine.t"), "0");
    leat_pg_close(pg);
    close_local(local);
}

static void port_taken(void) {
    leat_local *local = open_local();
    const int64_t port = local->state.port;
    close_local(local);
    const int other = take_port(port);
    local = open_local();
    assert_int_not_equal(local->state.port, port);
    assert_non_null(strstr(lines, "is taken by another program"));
    leat_pg_close(connect_to(leat_local_worker_url(local)));
    close_local(local);
    close(other);
}

/* The server is killed under its user, and by whom its user was killed. */
static void server_killed(void) {
    leat_local *local = open_local();
    const pid_t id = (pid_t)leat_local_process(local);
    int status = 0;
    assert_ok(leat_local_revive(local, err));
    assert_int_equal(leat_local_process(local), id); /* it runs */
    assert_int_equal(kill(id, SIGKILL), 0);
    assert_true(leat_process_wait(local->server, 60000, &status));
    assert_ok(leat_local_revive(local, err));
    assert_int_not_equal(leat_local_process(local), id);
    assert_non_null(strstr(lines, "has ended (status 137)"));
    leat_pg *pg = connect_to(leat_local_url(local));
    assert_string_equal(ask(pg, "select count(*) from mine.t"), "0");
    leat_pg_close(pg);
    close_local(local);
}

/* A server of a killed process runs still; and a copy of its folder is not it. */
static void earlier_server(void) {
    char copy[1000];
    int status = 0;
    leat_local *local = open_local();
    const leat_local_state state = local->state;
    close_local(local);
    snprintf(copy, sizeof copy, "%s", in_folder("data"));
    leat_process *earlier = start_earlier(&state, copy);
    local = open_local();
    assert_non_null(strstr(lines, "that a killed leat has left"));
    assert_true(leat_process_wait(earlier, 60000, &status));
    assert_int_equal(status, 0); /* a clean end, not a crash */
    leat_process_close(earlier);
    leat_pg_close(connect_to(leat_local_url(local)));
    /* a copy of the folder has the same word; its data is another folder */
    snprintf(copy, sizeof copy, "%s-copy", folder);
    assert_ok(leat_path_make_dir(copy, err));
    leat_local other = *local;
    snprintf(other.data, sizeof other.data, "%s", copy);
    other.state.socket[0] = 0;
    assert_ok(leat_local_end_earlier(&other, err));
    assert_false(leat_process_ended(local->server, &status));
    assert_ok(leat_path_remove_tree(copy, err));
    close_local(local);
}

static void note_process(int64_t id) {
    char text[1200];
    const int size = snprintf(text, sizeof text, "%lld\n%s\n1\n", (long long)id, in_folder("data"));
    assert_ok(leat_file_save(in_folder("data/postmaster.pid"), text, size, err));
}

/* PostgreSQL's note of its process may have the number of one that has ended but that nobody waits
 * for, or of another program. */
static void stale_notes(void) {
    siginfo_t info;
    const pid_t child = fork();
    if (child == 0) _exit(0);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    note_process(child);
    close_local(open_local());
    assert_int_equal(waitpid(child, NULL, 0), child);
    note_process(getpid());
    close_local(open_local());
}

/* A server that leat did not start is left alone. */
static void foreign_server(void) {
    char data[1000];
    int status = 0;
    leat_local *local = open_local();
    leat_local_state state = local->state;
    close_local(local);
    snprintf(data, sizeof data, "%s", in_folder("data"));
    snprintf(state.token, sizeof state.token, "theirs");
    leat_process *theirs = start_earlier(&state, data);
    assert_fails(leat_local_open(&local, folder, NULL, err), LEAT_ERR_BUSY,
                 "that leat did not start");
    assert_false(leat_process_ended(theirs, &status));
    leat_process_signal(theirs, SIGINT);
    assert_true(leat_process_wait(theirs, 60000, &status));
    leat_process_close(theirs);
}

/* The folder may be moved, also to a path that is longer than that of a socket may be. */
static void moved(void) {
    char old[sizeof folder], parent[700];
    snprintf(old, sizeof old, "%s", folder);
    snprintf(parent, sizeof parent, "%s/%0200d/%0200d/%0200d", top, 1, 2, 3);
    assert_ok(leat_path_make_dir(parent, err));
    snprintf(folder, sizeof folder, "%s/database", parent);
    assert_int_equal(rename(old, folder), 0);
    leat_local *local = open_local();
    leat_pg *pg = connect_to(leat_local_url(local));
    assert_string_equal(ask(pg, "select count(*) from mine.t"), "0");
    leat_pg_close(pg);
    close_local(local);
}

/* The log stays small, whoever makes the server write. */
static void small_log(void) {
    struct stat facts;
    char *text = NULL;
    leat_file *file = NULL;
    leat_local *local = open_local();
    assert_ok(LEAT_NEW(&text, 3 << 20, err));
    memset(text, 'x', 3 << 20);
    assert_ok(leat_file_open(&file, local->log, LEAT_FILE_OWN, err));
    assert_ok(leat_file_pwrite(file, text, 3 << 20, 0, err));
    leat_file_close(file);
    leat_free(text);
    leat_local_unwatch(local); /* it looks once more at its start */
    atomic_store(&local->quit, 0);
    assert_ok(leat_local_watch(local, err));
    leat_local_unwatch(local);
    close_local(local);
    assert_int_equal(stat(in_folder("log"), &facts), 0);
    assert_true(facts.st_size < 1 << 20);
    assert_int_equal(stat(in_folder("log.old"), &facts), 0);
    assert_int_equal(facts.st_size, 1 << 19);
}

/* Data that another machine's leat has made may hold programs; nothing of it is touched. */
static void other_machine(void) {
    leat_local *local = open_local();
    close_local(local);
    leat_local forged = {0};
    bool found = false;
    snprintf(forged.folder, sizeof forged.folder, "%s", folder);
    assert_ok(leat_local_load(&forged, &found, err));
    forged.state.made_on[0] = forged.state.made_on[0] == '0' ? '1' : '0';
    forged.state.made_on[1] = 0;
    assert_ok(leat_local_save(&forged, err));
    assert_fails(leat_local_open(&local, folder, NULL, err), LEAT_ERR_OPTION, "another machine");
    assert_true(exists(in_folder("data/PG_VERSION")));
}

static void live(const char *name) {
    at(name);
    first_start();
    second_start();
    port_taken();
    server_killed();
    earlier_server();
    stale_notes();
    foreign_server();
    moved();
    small_log();
    other_machine();
}

static void whole_life(void **state) {
    (void)state;
    live("a 'run' with \"quotes\", $HOME `ls` \\ \xc3\xa4 %s; and more");
}

/* What an ordinary user does differently; as root, a part of it by a process that becomes one. */
static void as_ordinary_user(void **state) {
    (void)state;
    if (geteuid() != 0) return; /* the other tests did it */
    const struct passwd *user = getpwnam("nobody");
    char own[300];
    int status = 0;
    assert_non_null(user);
    snprintf(own, sizeof own, "%s/ordinary", top);
    assert_int_equal(mkdir(own, 0700), 0);
    assert_int_equal(chown(own, user->pw_uid, user->pw_gid), 0);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (setgroups(0, NULL) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0)
            _exit(9);
        snprintf(top, sizeof top, "%s", own);
        at("run");
        first_start();
        second_start();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- what is refused ---------------------------------------------------------------------------
 */

/* Nothing is left of what cannot begin. */
static void refused(leat_code code, const char *words, const leat_local_options *options) {
    leat_local *local = NULL;
    assert_fails(leat_local_open(&local, folder, options, err), code, words);
    assert_null(local);
}

static void parent_closed(void **state) {
    char closed[300];
    (void)state;
    if (geteuid() != 0) return; /* an ordinary user's server is the user's own */
    at("closed/run/database");
    snprintf(closed, sizeof closed, "%s/closed", top);
    assert_int_equal(mkdir(closed, 0700), 0);
    refused(LEAT_ERR_OPTION, "closed\" is closed to user", NULL);
    assert_false(exists(in_folder("..")));
    assert_int_equal(chmod(closed, 0711), 0);
    assert_ok(leat_local_check(folder, NULL, err));
}

static void no_programs(void **state) {
    const char *const nowhere[] = {"/missing/*/bin/postgres", top, NULL};
    const leat_local_options options = {.programs = "/missing"};
    leat_local_programs programs;
    (void)state;
    at("no-programs");
    refused(LEAT_ERR_UNSUPPORTED, "Debian, Ubuntu: postgresql", &options);
    assert_false(exists(folder));
    assert_fails(leat_local_find(nowhere, false, 0, &programs, err), LEAT_ERR_UNSUPPORTED,
                 "--db URL");
    assert_fails(leat_local_find_usual(999, &programs, err), LEAT_ERR_UNSUPPORTED,
                 "postgresql-999");
}

/* Of two versions the newer; one without initdb, and one that is too old, do not count. */
static void newest_programs(void **state) {
    static const char *const said[][2] = {{"9", "9.6.24"},         {"15", "15.2"},
                                          {"16", "16.1 (Debian)"}, {"17", "17beta1"},
                                          {"18", "18.0"},          {"19", "nonsense"}};
    char pattern[300], path[400], text[200];
    leat_local_programs found;
    (void)state;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        snprintf(path, sizeof path, "%s/pg/%s/bin", top, said[i][0]);
        assert_ok(leat_path_make_dir(path, err));
        snprintf(path, sizeof path, "%s/pg/%s/bin/postgres", top, said[i][0]);
        const int size =
            snprintf(text, sizeof text, "#!/bin/sh\necho 'postgres (PostgreSQL) %s'\n", said[i][1]);
        assert_ok(leat_file_save(path, text, size, err));
        assert_int_equal(chmod(path, 0755), 0);
        if (strcmp(said[i][0], "18") == 0) continue;
        snprintf(path, sizeof path, "%s/pg/%s/bin/initdb", top, said[i][0]);
        assert_ok(leat_file_save(path, text, size, err));
    }
    snprintf(pattern, sizeof pattern, "%s/pg/*/bin/postgres", top);
    const char *const patterns[] = {pattern, NULL};
    assert_ok(leat_local_find(patterns, false, 0, &found, err));
    assert_int_equal(found.version, 1700);
    assert_ok(leat_local_find(patterns, false, 15, &found, err));
    assert_int_equal(found.version, 1502);
    assert_true(leat_path_has_suffix(found.folder, "/pg/15/bin"));
    assert_fails(leat_local_find(patterns, false, 13, &found, err), LEAT_ERR_UNSUPPORTED,
                 "found: 17.0");
    snprintf(pattern, sizeof pattern, "%s/pg/9/bin/postgres", top);
    assert_fails(leat_local_find(patterns, false, 0, &found, err), LEAT_ERR_UNSUPPORTED,
                 "found: 9.6");
}

static void paths(void **state) {
    char deep[1200];
    leat_local *local = NULL;
    (void)state;
    snprintf(deep, sizeof deep, "%s/%0200d/%0200d/%0200d/%0200d/%0200d", top, 1, 2, 3, 4, 5);
    assert_fails(leat_local_open(&local, deep, NULL, err), LEAT_ERR_LIMIT, "at most");
    at("line\nbreak");
    refused(LEAT_ERR_OPTION, "line breaks", NULL);
    at("third-party");
    assert_ok(leat_path_make_dir(in_folder("data"), err));
    refused(LEAT_ERR_EXISTS, "(\"data\" is in it)", NULL);
    assert_true(exists(in_folder("data")));
    at("link");
    assert_int_equal(symlink(top, folder), 0);
    refused(LEAT_ERR_EXISTS, "is a link", NULL);
    at("file");
    assert_ok(leat_file_save(folder, "x", 1, err));
    refused(LEAT_ERR_EXISTS, "is not a folder", NULL);
}

/* A first start that fails leaves nothing: here the stop comes while initdb works. */
static int calls;
static bool stop_at_first(void *user, const leat_progress *progress) {
    (void)user;
    (void)progress;
    return ++calls < 2;
}

static void undone(void **state) {
    const leat_local_options options = {.progress = stop_at_first};
    (void)state;
    at("undone");
    refused(LEAT_ERR_CANCELLED, "stopped", &options);
    assert_false(exists(folder));
    /* in a folder that was there, that stays, and a start that was killed is repeated */
    assert_ok(leat_path_make_dir(folder, err));
    refused(LEAT_ERR_CANCELLED, "stopped", &options);
    assert_true(exists(folder));
    assert_int_equal(rmdir(folder), 0);
}

static int make(void **state) {
    (void)state;
    make_top();
    return 0;
}

static int clean(void **state) {
    (void)state;
    return leat_path_remove_tree(top, NULL) == LEAT_OK ? 0 : 1;
}

int main(void) {
    leat_local_programs programs;
    leat_pg_place place;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_life),      cmocka_unit_test(as_ordinary_user),
        cmocka_unit_test(parent_closed),   cmocka_unit_test(no_programs),
        cmocka_unit_test(newest_programs), cmocka_unit_test(paths),
        cmocka_unit_test(undone),
    };
    if (leat_local_find_usual(0, &programs, NULL) != LEAT_OK) {
        printf("skipped: no PostgreSQL server (scripts/install.sh --gate installs it)\n");
        return 77;
    }
    if (leat_pg_place_parse(&place, "postgresql://a@127.0.0.1/a", NULL) != LEAT_OK) {
        printf("skipped: leat was built without libpq\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, make, clean);
}
