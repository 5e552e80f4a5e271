/* Shared by the files of `leat inspect` for CAN caches: one report in three forms. */
#ifndef LEAT_CLI_INSPECT_CAN_H
#define LEAT_CLI_INSPECT_CAN_H

#include "inspect/inspect.h"
#include "leat/load_can.h"

typedef struct leat_can_report {
    const char *name;                     /* of the cache, as the user gave it */
    const leat_can_cache *cache;          /* NULL: it cannot be opened, and there is no summary */
    const leat_can_summary *summary;      /* NULL: it failed */
    const leat_can_raster *raster;        /* of a capture; NULL: no page is wanted */
    const leat_can_verify_report *verify; /* NULL: not run */
} leat_can_report;

/* `report` is a leat_can_report. */
void leat_can_report_page(leat_page *page, const void *report);
void leat_can_report_json(leat_json *json, const void *report);
void leat_can_report_terminal(leat_cli *cli, const void *report);

/* Its windows drawn as graphs; a capture over time. */
void leat_can_report_windows(leat_page *page, const leat_can_report *report);
void leat_can_report_capture(leat_page *page, const leat_can_report *report);

/* Statistics per identifier; the names are at least `width` wide. */
void leat_can_identifiers_terminal(leat_cli *cli, const leat_can_summary *s, int width);
void leat_can_identifiers_page(leat_textbuf *out, const leat_can_summary *s);
/* Whether it has a number, and all windows with it have an attack; how many do. */
bool leat_can_is_attack_only(const leat_can_summary_identifier *of);
int64_t leat_can_attack_only_count(const leat_can_summary *s);

/* "dos"; "type 40" for a number without a name. */
const char *leat_can_attack_words(char text[LEAT_WORDS_BYTES],
                                  const leat_can_summary_attack *attack);
/* "DoS-1.csv"; "all of train" where captures are merged. */
const char *leat_can_capture_words(char text[LEAT_PLAIN_BYTES],
                                   const leat_can_capture_facts *capture);
/* "preset reference"; "preset default, but --vocab benign" of other settings. */
#define LEAT_CAN_SETTINGS_BYTES 4096
const char *leat_can_settings_words(char text[LEAT_CAN_SETTINGS_BYTES], const leat_can_cache *cache,
                                    const leat_can_facts *facts);
/* What is to be known of a cache that a development version made; "": nothing. */
#define LEAT_CAN_READER_SETTING "reader"
/* The digest of the cache whose vocabulary and scaler it has. */
#define LEAT_CAN_LIKE_SETTING "like"
#define LEAT_READER_WORDS_BYTES 160
const char *leat_can_reader_words(char text[LEAT_READER_WORDS_BYTES], const leat_can_cache *cache);
/* Its mean load in frames per second; 0: its frames have no times. */
double leat_can_load(const leat_can_capture_facts *capture);
/* "2,346"; "?" for 0. */
const char *leat_can_load_words(char text[LEAT_WORDS_BYTES], double load);
/* "unchanged, 3 files", ... for the files that a cache was built from. */
const char *leat_can_inputs_words(char text[LEAT_PLAIN_BYTES],
                                  const leat_can_verify_report *verify);

#endif
