/* The words of the option "order": see order_setting.h. */
#include "batch/order_setting.h"

#include <stdio.h>
#include <string.h>

static const leat_setting window_size = {.name = "windowed",
                                         .kind = LEAT_SETTING_SIZE,
                                         .min = INT64_C(1) << 20,
                                         .max = INT64_C(1) << 40};

static leat_code parse_order(const char *text, void *member, leat_error *err) {
    static const char windowed[] = "windowed";
    size_t length = sizeof windowed - 1;
    int64_t size_bytes = LEAT_WINDOW_BYTES_DEFAULT;
    if (strcmp(text, "global") == 0) {
        size_bytes = 0;
    } else if (strncmp(text, windowed, length) == 0 && text[length] == ':') {
        LEAT_TRY(leat_setting_set(&window_size, &size_bytes, text + length + 1, err));
    } else if (strcmp(text, windowed) != 0) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "\"%.100s\" is not accepted; it takes global, windowed or windowed:SIZE, "
                         "for example windowed:256M",
                         text);
    }
    memcpy(member, &size_bytes, sizeof size_bytes);
    return LEAT_OK;
}

static leat_code check_order(const void *member, leat_error *err) {
    int64_t size_bytes = *(const int64_t *)member;
    if (size_bytes == 0 || (size_bytes >= window_size.min && size_bytes <= window_size.max))
        return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "window_bytes is %lld; it must be %lld to %lld, or 0 for the global order",
                     (long long)size_bytes, (long long)window_size.min, (long long)window_size.max);
}

static void format_order(const void *member, char text[LEAT_SETTING_BYTES]) {
    char size[LEAT_SETTING_BYTES];
    if (*(const int64_t *)member == 0) snprintf(text, LEAT_SETTING_BYTES, "global");
    else
        snprintf(text, LEAT_SETTING_BYTES, "windowed:%.20s",
                 leat_setting_get(&window_size, member, size));
}

const leat_setting_type leat_order_setting = {parse_order, check_order, format_order};
