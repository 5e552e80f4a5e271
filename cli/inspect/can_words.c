/* `leat inspect` for a CAN cache: words that its three forms share. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "inspect/can.h"
#include "leat/ingest.h"

const char *leat_can_attack_words(char text[LEAT_WORDS_BYTES],
                                  const leat_can_summary_attack *attack) {
    const char *name = leat_can_attack_name_of(attack->unknown, attack->type);
    if (name[0] != 0) snprintf(text, LEAT_WORDS_BYTES, "%.30s", name);
    else snprintf(text, LEAT_WORDS_BYTES, "type %d", attack->type);
    return text;
}

const char *leat_can_capture_words(char text[LEAT_PLAIN_BYTES],
                                   const leat_can_capture_facts *capture) {
    if (capture->file[0] != 0) {
        leat_plain(text, capture->file);
        size_t size = strlen(text);
        if (capture->recording > 1)
            snprintf(text + size, LEAT_PLAIN_BYTES - size, " #%d", capture->recording);
        return text;
    }
    memcpy(text, "all of ", 7);
    leat_text_show(text + 7, LEAT_PLAIN_BYTES - 7, capture->split, (int64_t)strlen(capture->split));
    return text;
}

const char *leat_can_inputs_words(char text[LEAT_PLAIN_BYTES],
                                  const leat_can_verify_report *verify) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    snprintf(text, LEAT_PLAIN_BYTES, "%s unchanged, %s changed, %s missing",
             leat_words_count(a, verify->inputs_same), leat_words_count(b, verify->inputs_changed),
             leat_words_count(c, verify->inputs_missing));
    return text;
}

double leat_can_load(const leat_can_capture_facts *capture) {
    double seconds = capture->last_s - capture->first_s;
    double load = (double)(capture->frames - 1) / seconds;
    return seconds > 0 && isfinite(load) ? load : 0;
}

const char *leat_can_load_words(char text[LEAT_WORDS_BYTES], double load) {
    if (load > 0)
        return leat_display_words(text, load < 100 ? LEAT_DISPLAY_NUMBER : LEAT_DISPLAY_COUNT,
                                  load);
    snprintf(text, LEAT_WORDS_BYTES, "?");
    return text;
}

const char *leat_can_settings_words(char text[LEAT_CAN_SETTINGS_BYTES], const leat_can_cache *cache,
                                    const leat_can_facts *facts) {
    const leat_can_ingest_options defaults = leat_can_ingest_options_default();
    char name[LEAT_PLAIN_BYTES], value[LEAT_PLAIN_BYTES], bytes[LEAT_SETTING_BYTES];
    bool own = strcmp(facts->preset, "own") == 0;
    snprintf(text, LEAT_CAN_SETTINGS_BYTES, "preset %s",
             own ? "default, but" : leat_plain(name, facts->preset));
    for (int i = 0; own && leat_can_cache_setting_name(cache, i) != NULL; i++) {
        const char *of = leat_can_cache_setting_name(cache, i);
        const char *is = leat_can_cache_setting(cache, of);
        if (strcmp(of, LEAT_CAN_READER_SETTING) == 0 || strcmp(of, LEAT_CAN_LIKE_SETTING) == 0)
            continue;
        const char *usual =
            leat_settings_get(leat_can_settings_table(), &defaults.settings, of, bytes);
        size_t size = strlen(text);
        if (usual != NULL && strcmp(is, usual) == 0) continue;
        snprintf(text + size, LEAT_CAN_SETTINGS_BYTES - size, " --%s %s", leat_plain(name, of),
                 leat_plain(value, is));
    }
    return text;
}

const char *leat_can_reader_words(char text[LEAT_READER_WORDS_BYTES], const leat_can_cache *cache) {
    const char *reader = leat_can_cache_setting(cache, LEAT_CAN_READER_SETTING);
    char number[16], shown[LEAT_PLAIN_BYTES];
    snprintf(number, sizeof number, "%d", LEAT_CAN_READER);
    text[0] = 0;
    if (reader != NULL && strcmp(reader, number) == 0) return text;
    snprintf(text, LEAT_READER_WORDS_BYTES,
             "written with reading rules %.20s of a development version; leat ingest can makes "
             "a new cache of its logs",
             reader != NULL ? leat_plain(shown, reader) : "1");
    return text;
}
