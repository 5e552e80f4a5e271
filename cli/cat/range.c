/* The range of --rows, --graph and --image. */
#include <stdlib.h>
#include <string.h>

#include "cat/cat.h"

int leat_cat_read_range(leat_cli *cli, const char *option, const char *things, int64_t count,
                        leat_cat_range *out) {
    const char *text = leat_cli_text(cli, option);
    char *end = NULL;
    *out = (leat_cat_range){0, count};
    if (text == NULL) return 0;
    bool good = strspn(text, "0123456789:") == strlen(text) && strlen(text) < 40 && text[0] != 0;
    if (good && text[0] != ':') out->first = strtoll(text, &end, 10);
    const char *rest = end == NULL ? text : end;
    bool alone = good && rest[0] == 0;
    if (alone) {
        good = out->first < count;
        out->end = out->first + good;
    } else if (good && rest[1] != 0) {
        long long last = strtoll(rest + 1, &end, 10);
        good = *end == 0;
        if (last < out->end) out->end = last;
    }
    if (good && out->first <= out->end) return 0;
    if (count == 0)
        return leat_cli_usage(cli, "--%s %.100s: there are no %ss", option, text, things);
    return leat_cli_usage(cli,
                          "--%s: \"%.100s\" is not accepted; it takes FIRST:END (END excluded) or "
                          "one number, and there are %ss 0 to %lld",
                          option, text, things, (long long)count - 1);
}
