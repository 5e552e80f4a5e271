/*
 * A private database server in a folder: what the files of leat_local share (leat/crowd.h).
 *
 *     FOLDER/local.json   what it is: passwords, port, socket; mode 0600; the mark of the folder
 *     FOLDER/data/        PostgreSQL's cluster; belongs to the user that the server runs as
 *     FOLDER/log, log.old what initdb and the server say, 1 MiB each at most
 *     FOLDER/invite.url   for leat invite --db @FILE: the database, with the superuser's login;
 * 0600 FOLDER/.leat.lock   held by the process whose server it is
 *
 * and if it listens for other machines (local_listen.c), all 0600:
 *
 *     FOLDER/authority.key, authority.pem   the run's certificate authority
 *     FOLDER/server.key, server.pem         of the last start; belong to the server's user
 *     FOLDER/access.conf                    who is let in, from where: pg_hba.conf
 */
#ifndef LEAT_CROWD_LOCAL_H
#define LEAT_CROWD_LOCAL_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "base/lock.h"
#include "base/process.h"
#include "crowd/libpq.h"
#include "leat/crowd.h"

#define LEAT_LOCAL_NAME "database" /* the folder in RUN */
#define LEAT_LOCAL_DATABASE "leat" /* in the server; owned by "owner" */
#define LEAT_LOCAL_WORKERS_MAX 180 /* connections of workers, of 200 that the server has */

/* ---- The server's programs (local_find.c) -----------------------------------------------------
 */

typedef struct leat_local_programs {
    char folder[LEAT_PATH_BYTES]; /* has postgres and initdb */
    int version;                  /* 1518 for 15.18 */
} leat_local_programs;
/* The newest in the folders that the patterns name, and on PATH (if `path`); of one major version
 * if that is not 0. LEAT_ERR_UNSUPPORTED: there is none; the message says what to install. */
LEAT_MUST_CHECK leat_code leat_local_find(const char *const *patterns, bool path, int major,
                                          leat_local_programs *out, leat_error *err);
/* The same in the usual places. */
LEAT_MUST_CHECK leat_code leat_local_find_usual(int major, leat_local_programs *out,
                                                leat_error *err);

/* ---- What local.json says (local_state.c) -----------------------------------------------------
 */

#define LEAT_LOCAL_WORD_BYTES 33 /* 32 hexadecimal digits */
#define LEAT_LOCAL_LISTENED_BYTES 272
typedef struct leat_local_state {
    /* where it listened for other machines last, "192.168.1.5:25432", which tickets name; "": never
     */
    char listened[LEAT_LOCAL_LISTENED_BYTES];
    bool ready;       /* initdb and the logins are done */
    int64_t port;     /* of the last start; 0: none yet */
    char made_on[65]; /* hash of this machine's identity; "": it has none */
    char socket[64];  /* folder of the last start's socket; "": none */
    char token[64];   /* in the arguments of the last start's processes */
    char admin[LEAT_LOCAL_WORD_BYTES], owner[LEAT_LOCAL_WORD_BYTES],
        worker[LEAT_LOCAL_WORD_BYTES]; /* passwords */
} leat_local_state;

/* Where it listens besides 127.0.0.1. */
#define LEAT_LOCAL_ADDRESSES_MAX 3
#define LEAT_LOCAL_LISTEN_BYTES 256
typedef struct leat_local_address {
    struct sockaddr_storage at;
    socklen_t size;
    char text[INET6_ADDRSTRLEN];
} leat_local_address;
typedef struct leat_local_listen {
    char host[256]; /* for volunteers: a name or an address; "": nowhere else */
    int64_t port;   /* that was asked for; 0: any */
    int count;
    leat_local_address addresses[LEAT_LOCAL_ADDRESSES_MAX];
    char key[LEAT_PATH_BYTES], certificate[LEAT_PATH_BYTES], access[LEAT_PATH_BYTES];
} leat_local_listen;

struct leat_local {
    leat_local_options options;
    leat_local_listen listen;
    char folder[LEAT_PATH_BYTES], data[LEAT_PATH_BYTES], log[LEAT_PATH_BYTES];
    leat_lock lock;
    leat_local_programs programs;
    leat_process_user user;
    bool other_user; /* this process is root, and the server runs as `user` */
    leat_local_state state;
    leat_process *server; /* NULL: none */
    pthread_t watch;      /* keeps the log small */
    bool watches;
    _Atomic uint32_t quit;
    char url[256], worker_url[256];
};

/* Reads the state of the folder; *found is false if there is none. */
LEAT_MUST_CHECK leat_code leat_local_load(leat_local *self, bool *found, leat_error *err);
LEAT_MUST_CHECK leat_code leat_local_save(const leat_local *self, leat_error *err);
/* New passwords. */
LEAT_MUST_CHECK leat_code leat_local_draw(leat_local *self, leat_error *err);
/* A path in the folder. */
LEAT_MUST_CHECK leat_code leat_local_join(const leat_local *self, const char *name,
                                          char path[LEAT_PATH_BYTES], leat_error *err);
/* LEAT_ERR_OPTION: the data may hold programs that another machine's administrator wrote. */
LEAT_MUST_CHECK leat_code leat_local_check_machine(const leat_local *self, leat_error *err);

/* ---- For other machines (local_listen.c) ------------------------------------------------------
 */

#define LEAT_LOCAL_INVITE "invite.url"
/* Files that it writes in the folder; ends with NULL. */
extern const char *const leat_local_listen_files[];
/* Reads options.listen. LEAT_ERR_OPTION: it is not an address of this machine. */
LEAT_MUST_CHECK leat_code leat_local_place_listen(leat_local *self, leat_error *err);
/* Whether a port is free at all its addresses. */
bool leat_local_can_listen(const leat_local *self, int64_t port);
/* The server's certificate and rules, and the authority if there is none; before each start. */
LEAT_MUST_CHECK leat_code leat_local_write_listen(leat_local *self, leat_error *err);
/* "listen_addresses=127.0.0.1,192.168.1.5" */
void leat_local_listen_addresses(const leat_local *self, char out[LEAT_LOCAL_LISTEN_BYTES]);
/* After each start: keeps the address in the state, and says if it is another one than tickets
 * name. */
LEAT_MUST_CHECK leat_code leat_local_keep_listened(leat_local *self, leat_error *err);
/* The URL in LEAT_LOCAL_INVITE; after each start. */
LEAT_MUST_CHECK leat_code leat_local_write_invite(const leat_local *self, leat_error *err);

/* ---- The server (local_server.c) --------------------------------------------------------------
 */

void leat_local_say(const leat_local *self, const char *format, ...) LEAT_PRINTF(2, 3);
bool leat_local_stopped(const leat_local *self);
/* initdb; then the data exists, with one login "admin". */
LEAT_MUST_CHECK leat_code leat_local_init(leat_local *self, leat_error *err);
/* Starts the server and waits until it takes connections; self->state and the URLs are its own. */
LEAT_MUST_CHECK leat_code leat_local_serve(leat_local *self, leat_error *err);
/* Stops it: its sessions are ended first; if that takes too long, it is stopped at once. */
void leat_local_unserve(leat_local *self);
/* Ends what is left of a server that a killed process started in this folder. LEAT_ERR_BUSY: it
 * does not end. */
LEAT_MUST_CHECK leat_code leat_local_end_earlier(leat_local *self, leat_error *err);
/* Keeps the log below its size, for the life of the handle. */
LEAT_MUST_CHECK leat_code leat_local_watch(leat_local *self, leat_error *err);
void leat_local_unwatch(leat_local *self);

/* Whether leat_local_open(folder) can begin: programs, user, folders above, its address (`listen`,
 * or NULL). Changes nothing. */
LEAT_MUST_CHECK leat_code leat_local_check(const char *folder, const char *listen, leat_error *err);

#endif
