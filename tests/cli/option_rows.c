/* The option tables of the command, with those of the library in them: linked with the command, it
 * prints them in its place. On a line: command, option, kind of value, placeholder of the value. */
#include <stdio.h>
#include <stdlib.h>

#include "command/internal.h"

static const char *kind_of(leat_setting_kind kind) {
    switch (kind) {
    case LEAT_SETTING_PATH: return "path";
    case LEAT_SETTING_OUTPUT: return "output";
    case LEAT_SETTING_TEXT:
    case LEAT_SETTING_OTHER: return "text";
    default: return "other";
    }
}

__attribute__((constructor)) static void print_rows(void) {
    for (int i = 0; leat_cli_commands[i] != NULL; i++) {
        leat_cli_rows rows;
        leat_cli_list(leat_cli_commands[i], &rows);
        for (int k = 0; k < rows.count; k++) {
            const leat_setting *setting = rows.rows[k].setting;
            printf("%s\t%s\t%s\t%s\n", leat_cli_commands[i]->words, setting->name,
                   kind_of(setting->kind), setting->value == NULL ? "-" : setting->value);
        }
    }
    exit(fflush(stdout) == 0 ? 0 : 1);
}
