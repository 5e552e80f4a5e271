/*
 * A connection to PostgreSQL through libpq, which libpq.c alone knows. The library is opened with
 * the first connection (it brings twenty others), and a build needs only its header.
 *
 * A connection belongs to one thread. Nothing waits without an end: a call that has no answer for
 * the connection's time gives up, and the connection is then broken. A call either has a result
 * from the server, or LEAT_ERR_CONNECTION: then nobody knows whether the server has done it.
 */
#ifndef LEAT_CROWD_LIBPQ_H
#define LEAT_CROWD_LIBPQ_H

#include "base/error.h"
#include "crowd/authorities.h"
#include "crowd/stop.h"

#define LEAT_PG_URL_BYTES 2048
#define LEAT_PG_PEM_BYTES 6144

/* The end of what people are told while they wait for the first connection: the URL may be wrong.
 */
#define LEAT_PG_NEVER_CONNECTED "; leat doctor --db says what is wrong"
#define LEAT_PG_NAME_BYTES 65

/* What a URL says. */
typedef struct leat_pg_place {
    char url[LEAT_PG_URL_BYTES];              /* without `run`; has the password */
    char shown[LEAT_PG_URL_BYTES];            /* for messages: the password is *** */
    char run[LEAT_PG_NAME_BYTES];             /* the parameter `run`; "": none */
    char authorities[LEAT_AUTHORITIES_BYTES]; /* of sslrootcert=system; "": the URL says which */
    char certificate[LEAT_PG_PEM_BYTES]; /* of a ticket: the only authority, in PEM; "": none */
    char host[256], port[16], login[LEAT_PG_NAME_BYTES], database[LEAT_PG_NAME_BYTES];
} leat_pg_place;
/*
 * Reads "postgresql://USER:PASSWORD@HOST:PORT/DATABASE?run=NAME&sslmode=...". User, host and
 * database must be there: what is not said is not taken from the environment, from files or from
 * the login, all of which differ between machines. But sslrootcert=system, which goes with
 * sslmode=verify-full alone, means what this machine trusts (authorities.h). LEAT_ERR_OPTION.
 * "leat1:..." is a ticket (ticket.h), which names its database, and how that is verified.
 */
LEAT_MUST_CHECK leat_code leat_pg_place_parse(leat_pg_place *place, const char *url,
                                              leat_error *err);

/* At the end of a URL of a server that keeps passwords as SCRAM does, and asks for them so: with
 * libpq 16 or newer, another program that has taken its port gets no password. */
#define LEAT_PG_REQUIRE_SCRAM "&require_auth=scram-sha-256"

typedef struct leat_pg leat_pg;

/* Connects. `stop` (may be NULL) ends the wait for that: LEAT_ERR_CANCELLED. Its clocks say later
 * whether the machine has slept: then the next call finds the connection broken.
 * LEAT_ERR_CONNECTION: the server cannot be reached; LEAT_ERR_OPTION: it refuses the login or does
 * not have the database. */
LEAT_MUST_CHECK leat_code leat_pg_connect(leat_pg **out, const leat_pg_place *place,
                                          const char *program, int timeout_ms,
                                          const leat_stop *stop, leat_error *err);
/* The same; sqlstate receives why the server refuses, "" if it did not say. */
LEAT_MUST_CHECK leat_code leat_pg_connect_why(leat_pg **out, const leat_pg_place *place,
                                              const char *program, int timeout_ms,
                                              const leat_stop *stop, char sqlstate[6],
                                              leat_error *err);
void leat_pg_close(leat_pg *pg);
/* It can no longer be used. */
bool leat_pg_broken(const leat_pg *pg);
/* 150018 for 15.18. */
int leat_pg_server_version(const leat_pg *pg);
/* Bytes sent and received so far, as libpq hands them over, without TLS and TCP. */
int64_t leat_pg_sent(const leat_pg *pg);
/* Where a connection leads, and what protects it. */
typedef struct leat_pg_link {
    char address[64];         /* "" for a socket of this machine */
    bool local;               /* to this machine: its loopback interface, or a socket */
    char tls[32], cipher[64]; /* "TLSv1.3", ...; "": not encrypted */
    bool verified;            /* the server has shown a certificate that the URL asks for */
    bool name_verified;       /* which is one for the name in the URL */
    char authorities[LEAT_AUTHORITIES_BYTES]; /* the file that it was verified by; "": none */
    int backend; /* process of the server, as the login said: poolers invent it */
} leat_pg_link;
void leat_pg_get_link(const leat_pg *pg, leat_pg_link *link);
/* What the server keeps instead of a password (SCRAM-SHA-256), for ALTER ROLE ... PASSWORD: it can
 * be read in a log without harm. */
#define LEAT_PG_VERIFIER_BYTES 256
LEAT_MUST_CHECK leat_code leat_pg_verifier(leat_pg *pg, const char *login, const char *password,
                                           char out[LEAT_PG_VERIFIER_BYTES], leat_error *err);
/* SQLSTATE of the last failure, "" if it has none. */
const char *leat_pg_sqlstate(const leat_pg *pg);
/* A failure that goes away if the transaction is repeated: deadlock, serialization. */
bool leat_pg_retryable(const leat_pg *pg);

/* A parameter: a number, a text, bytes, an array of double precision, or NULL. */
typedef struct leat_pg_value {
    enum { LEAT_PG_NULL, LEAT_PG_INT, LEAT_PG_TEXT, LEAT_PG_BYTES, LEAT_PG_REALS } kind;
    int64_t number; /* also the size of bytes or of an array */
    const void *data;
} leat_pg_value;
#define LEAT_PG_I(n) ((leat_pg_value){.kind = LEAT_PG_INT, .number = (int64_t)(n)})
#define LEAT_PG_T(s) ((leat_pg_value){.kind = LEAT_PG_TEXT, .data = (s)})
#define LEAT_PG_B(p, n)                                                                            \
    ((leat_pg_value){.kind = LEAT_PG_BYTES, .data = (p), .number = (int64_t)(n)})
#define LEAT_PG_R(p, n)                                                                            \
    ((leat_pg_value){.kind = LEAT_PG_REALS, .data = (p), .number = (int64_t)(n)})
#define LEAT_PG_PARAMETERS_MAX 32
/* How long a statement of a connection waits for a lock. */
#define LEAT_PG_SET_LOCK_TIMEOUT "set lock_timeout = 30000"
#define LEAT_PG_REALS_MAX 16 /* in the one array that a call may have */

typedef struct leat_pg_rows leat_pg_rows;

/* What the caller reads of an answer: its columns, and the rows that must be there. */
typedef struct leat_pg_shape {
    int columns, least_rows;
    bool bytes; /* the only column is bytea */
} leat_pg_shape;

/*
 * One statement with parameters $1, $2, ... *rows receives the answer, which the caller destroys
 * and which has this shape; NULL: nothing is read of it, whatever its shape. LEAT_ERR_CONNECTION:
 * no answer, and the connection is broken. LEAT_ERR_INPUT: the server refuses; the message is its
 * own, and leat_pg_sqlstate says which. LEAT_ERR_UNSUPPORTED: an answer of another shape, which no
 * PostgreSQL gives.
 */
LEAT_MUST_CHECK leat_code leat_pg_call(leat_pg *pg, leat_pg_rows **rows, leat_pg_shape shape,
                                       const char *sql, const leat_pg_value *values, int count,
                                       leat_error *err);
/* Several statements without parameters or results. */
LEAT_MUST_CHECK leat_code leat_pg_script(leat_pg *pg, const char *sql, leat_error *err);

/* Whether a notification has come since the last call, of a channel that this connection listens
 * to. Does not wait, and sends nothing. */
LEAT_MUST_CHECK leat_code leat_pg_notified(leat_pg *pg, bool *any, leat_error *err);

void leat_pg_rows_destroy(leat_pg_rows *rows);
int leat_pg_row_count(const leat_pg_rows *rows);
/* Of row and column of the shape that was asked for, or of any further row. */
bool leat_pg_is_null(const leat_pg_rows *rows, int row, int column);
/* "", false and 0 for NULL. Valid until the rows are destroyed. */
const char *leat_pg_text(const leat_pg_rows *rows, int row, int column);
bool leat_pg_bool(const leat_pg_rows *rows, int row, int column);
int64_t leat_pg_int(const leat_pg_rows *rows, int row, int column);
double leat_pg_real(const leat_pg_rows *rows, int row, int column);
const uint8_t *leat_pg_bytes(const leat_pg_rows *rows, int row, int64_t *size_bytes);

#endif
