/*
 * A server for the tests in Python: prints the port and then waits, until its standard input ends
 * (it then ends with all that is in it) or a line asks for something, which it answers with "ok":
 *
 *   database NAME     an empty database, of the login "owner"; "ann" and "bob" have no rights
 *   crash             ends the server at once, and starts it again
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"

int main(void) {
    char line[200];
    cluster_start();
    printf("%d\n", cluster_port());
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "database ", 9) == 0) cluster_database(line + 9);
        else if (strcmp(line, "crash") == 0) cluster_crash();
        else return 2;
        printf("ok\n");
        fflush(stdout);
    }
    return 0;
}
