/* A locale whose decimal point is a comma, as in much of Europe: an installed one, else one that
 * localedef compiles from five lines. */
#ifndef TESTS_COMMA_LOCALE_H
#define TESTS_COMMA_LOCALE_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline bool comma_locale_compile(void) {
    char dir[] = "/tmp/leat-locale-XXXXXX", command[400];
    if (mkdtemp(dir) == NULL) return false;
    snprintf(command, sizeof command,
             "cd %s && printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \"\"\\n"
             "grouping -1\\nEND LC_NUMERIC\\n' >source && "
             "localedef -c -i source -f UTF-8 ./comma >log 2>&1; test -f comma/LC_NUMERIC",
             dir);
    bool made = system(command) == 0;
    setenv("LOCPATH", dir, 1);
    made = made && setlocale(LC_NUMERIC, "comma") != NULL;
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) == 0 && made;
}

/* Sets it; false, with a line, where the machine has none and no localedef. setlocale(LC_ALL, "C")
 * ends it. */
static inline bool comma_locale_set(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]) != NULL) return true;
    bool made = comma_locale_compile() && strcmp(localeconv()->decimal_point, ",") == 0;
    if (!made) puts("skipped: no locale with a decimal comma, and localedef cannot make one");
    return made;
}

#endif
