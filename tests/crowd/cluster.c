/* See cluster.h. */
#include "cluster.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { STARTS = 5, ANSWER_MS = 120000, WORDS_MAX = 32 };

static struct {
    char bin[256], folder[256];
    int port;
    pid_t server;
    uid_t user;
    gid_t group;
} cluster;

/* The newest server that is installed. */
static bool find_server(void) {
    glob_t found = {0};
    int best = 0;
    if (glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            const int version =
                (int)strtol(found.gl_pathv[i] + strlen("/usr/lib/postgresql/"), NULL, 10);
            if (version <= best) continue;
            best = version;
            snprintf(cluster.bin, sizeof cluster.bin, "/usr/lib/postgresql/%d/bin", version);
        }
    }
    globfree(&found);
    return best > 0;
}

static void become_user(void) {
    if (cluster.user == getuid()) return;
    if (setgroups(0, NULL) != 0 || setgid(cluster.group) != 0 || setuid(cluster.user) != 0)
        _exit(126);
}

/* Starts a program of the server, with its output in the folder's log. Its first word is its path,
 * by which these programs find each other. */
static pid_t start(const char *name, char *const arguments[]) {
    char program[512], log[512];
    snprintf(program, sizeof program, "%s/%s", cluster.bin, name);
    char *words[WORDS_MAX] = {program};
    for (int i = 0; arguments[i] != NULL; i++) {
        assert_true(i + 2 < WORDS_MAX);
        words[i + 1] = arguments[i];
    }
    snprintf(log, sizeof log, "%s/log", cluster.folder);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0) return child;
    become_user();
    /* SIGQUIT: the server ends at once if this program does */
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    const int out = open(log, O_CREAT | O_WRONLY | O_APPEND, 0600);
    dup2(out, 1);
    dup2(out, 2);
    if (chdir("/") != 0) _exit(126);
    execv(program, words);
    _exit(127);
}

static int wait_status(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return status;
}

static int free_port(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(s >= 0 && bind(s, (struct sockaddr *)&at, sizeof at) == 0);
    assert_int_equal(getsockname(s, (struct sockaddr *)&at, &length), 0);
    close(s);
    return ntohs(at.sin_port);
}

static void show_log(void) {
    char command[600];
    snprintf(command, sizeof command, "tail -n 20 %s/log >&2", cluster.folder);
    (void)!system(command);
}

/* True once it answers, false once it has ended: another program may have taken the port. */
static bool answers(void) {
    for (int i = 0; i < ANSWER_MS / 20; i++) {
        int status = 0;
        leat_pg *pg = NULL;
        leat_pg_place place;
        if (waitpid(cluster.server, &status, WNOHANG) == cluster.server) return false;
        cluster_place(&place, "owner", "postgres");
        if (leat_pg_connect(&pg, &place, "test", 60000, NULL, NULL) == LEAT_OK) {
            leat_pg_close(pg);
            return true;
        }
        usleep(20000);
    }
    show_log();
    fail_msg("the server does not answer");
    return false;
}

static void choose_user(void) {
    const struct passwd *user = NULL;
    cluster.user = getuid();
    cluster.group = getgid();
    if (cluster.user != 0) return;
    user = getpwnam("postgres");
    if (user == NULL) user = getpwnam("nobody");
    assert_non_null(user);
    cluster.user = user->pw_uid;
    cluster.group = user->pw_gid;
}

/* On the cluster's port; false if the port is taken. */
static bool serve(void) {
    char data[300], port[16];
    snprintf(data, sizeof data, "%s/data", cluster.folder);
    snprintf(port, sizeof port, "%d", cluster.port);
    char *const words[] = {"-D", data,
                           "-p", port,
                           "-c", "listen_addresses=127.0.0.1",
                           "-c", "unix_socket_directories=",
                           "-c", "fsync=off",
                           "-c", "shared_buffers=16MB",
                           "-c", "max_connections=60",
                           "-c", "max_prepared_transactions=4",
                           NULL};
    cluster.server = start("postgres", words);
    return answers();
}

void cluster_start(void) {
    char data[300];
    if (!find_server()) {
        printf("skipped: no PostgreSQL server (scripts/install.sh --gate installs it)\n");
        exit(77);
    }
    choose_user();
    snprintf(cluster.folder, sizeof cluster.folder, "/tmp/leat-crowd-XXXXXX");
    assert_non_null(mkdtemp(cluster.folder));
    assert_int_equal(chown(cluster.folder, cluster.user, cluster.group), 0);
    snprintf(data, sizeof data, "%s/data", cluster.folder);
    atexit(cluster_stop);
    char *const init[] = {"-D", data,   "-A",         "trust",     "-U", "owner",
                          "-E", "UTF8", "--locale=C", "--no-sync", NULL};
    if (wait_status(start("initdb", init)) != 0) {
        show_log();
        fail_msg("initdb failed");
    }
    for (int i = 0; i < STARTS; i++) {
        cluster.port = free_port();
        if (serve()) return;
    }
    show_log();
    fail_msg("the server cannot be started");
}

void cluster_crash(void) {
    kill(cluster.server, SIGQUIT);
    wait_status(cluster.server);
    assert_true(serve());
}

void cluster_stop(void) {
    char command[300];
    if (cluster.server > 0) {
        kill(cluster.server, SIGQUIT);
        wait_status(cluster.server);
    }
    cluster.server = 0;
    if (cluster.folder[0] == 0) return;
    snprintf(command, sizeof command, "rm -rf %s", cluster.folder);
    (void)!system(command);
    cluster.folder[0] = 0;
}

void cluster_place(leat_pg_place *place, const char *login, const char *database) {
    char url[300];
    leat_error err = {0};
    snprintf(url, sizeof url, "postgresql://%s@127.0.0.1:%d/%s?sslmode=disable", login,
             cluster.port, database);
    if (leat_pg_place_parse(place, url, &err) != LEAT_OK) fail_msg("%s", err.message);
}

leat_pg *cluster_connect(const char *login, const char *database) {
    leat_pg_place place;
    leat_pg *pg = NULL;
    leat_error err = {0};
    cluster_place(&place, login, database);
    if (leat_pg_connect(&pg, &place, "test", 60000, NULL, &err) != LEAT_OK)
        fail_msg("%s", err.message);
    return pg;
}

void tell(leat_pg *pg, const char *sql) {
    leat_error err = {0};
    if (leat_pg_script(pg, sql, &err) != LEAT_OK) fail_msg("%s: %s", sql, err.message);
}

const char *ask(leat_pg *pg, const char *sql) {
    static char text[512];
    leat_pg_rows *rows = NULL;
    leat_error err = {0};
    if (leat_pg_call(pg, &rows, (leat_pg_shape){1, 0, false}, sql, NULL, 0, &err) != LEAT_OK)
        fail_msg("%s: %s", sql, err.message);
    snprintf(text, sizeof text, "%s",
             leat_pg_row_count(rows) == 0 ? "(no row)" : leat_pg_text(rows, 0, 0));
    leat_pg_rows_destroy(rows);
    return text;
}

void cluster_database(const char *name) {
    char sql[200];
    leat_pg *pg = cluster_connect("owner", "postgres");
    snprintf(sql, sizeof sql, "create database %s", name);
    tell(pg, sql);
    tell(pg, "do $$ begin create role ann login; create role bob login; exception when "
             "duplicate_object then null; end $$");
    leat_pg_close(pg);
}
