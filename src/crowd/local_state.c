/* What a folder with a private database says of itself, in local.json: see local.h. */
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/random.h"
#include "crowd/local.h"
#include "crowd/ticket.h"

#define STATE_NAME "local.json"
enum { STATE_BYTES_MAX = 1 << 16 };

leat_code leat_local_join(const leat_local *self, const char *name, char path[LEAT_PATH_BYTES],
                          leat_error *err) {
    return leat_path_join(path, LEAT_PATH_BYTES, self->folder, name, err);
}

/* The identity of this machine is not for others to know: its hash. A container may have none. */
static void hash_machine(char hash[65]) {
    static const char purpose[] = "leat local";
    uint8_t *text = NULL, digest[32];
    int64_t size = 0;
    leat_sha256 sha;
    hash[0] = 0;
    if (leat_file_load("/etc/machine-id", 256, &text, &size, NULL) != LEAT_OK) return;
    if (size >= 32) {
        leat_sha256_init(&sha);
        leat_sha256_update(&sha, purpose, sizeof purpose);
        leat_sha256_update(&sha, text, 32);
        leat_sha256_final(&sha, digest);
        leat_sha256_hex(digest, hash);
    }
    leat_free(text);
}

leat_code leat_local_draw(leat_local *self, leat_error *err) {
    leat_local_state *of = &self->state;
    *of = (leat_local_state){0};
    hash_machine(of->made_on);
    LEAT_TRY(leat_random_hex(of->admin, sizeof of->admin, err));
    LEAT_TRY(leat_random_hex(of->owner, sizeof of->owner, err));
    return leat_random_hex(of->worker, sizeof of->worker, err);
}

leat_code leat_local_check_machine(const leat_local *self, leat_error *err) {
    char here[65];
    hash_machine(here);
    if (strcmp(here, self->state.made_on) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "\"%.250s\" was created on another machine. A database can contain programs, "
                     "so leat does not start it here: remove that folder; the run then continues "
                     "from its last checkpoint",
                     self->folder);
}

leat_code leat_local_save(const leat_local *self, leat_error *err) {
    const leat_local_state *of = &self->state;
    char path[LEAT_PATH_BYTES];
    const char *text = NULL;
    int64_t size = 0;
    leat_json *json = NULL;
    LEAT_TRY(leat_local_join(self, STATE_NAME, path, err));
    LEAT_TRY(leat_json_create(&json, false, err));
    leat_json_begin_object(json);
    leat_json_member_string(json, "format", "leat.local");
    leat_json_member_int(json, "version", 1);
    leat_json_member_int(json, "ready", of->ready);
    leat_json_member_int(json, "port", of->port);
    leat_json_member_string(json, "machine", of->made_on);
    leat_json_member_string(json, "socket", of->socket);
    leat_json_member_string(json, "token", of->token);
    if (of->listened[0] != 0) leat_json_member_string(json, "listened", of->listened);
    leat_json_member_string(json, "password_admin", of->admin);
    leat_json_member_string(json, "password_owner", of->owner);
    leat_json_member_string(json, "password_worker", of->worker);
    leat_json_end_object(json);
    leat_code code = leat_json_finish(json, &text, &size, err);
    if (code == LEAT_OK) code = leat_file_save_private(path, text, size, err);
    leat_json_destroy(json);
    return code;
}

/* A word of these characters only: it goes into URLs, SQL and paths. */
static leat_code get_word(const json_t *root, const char *key, const char *characters, char *out,
                          size_t size, const char *path, leat_error *err) {
    const char *text = NULL;
    LEAT_TRY(leat_json_get_string(root, key, &text, path, err));
    if (strlen(text) >= size || strspn(text, characters) != strlen(text))
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: \"%s\" is not valid", path, key);
    memcpy(out, text, strlen(text) + 1);
    return LEAT_OK;
}

static bool has(const json_t *root, const char *key) { return json_object_get(root, key) != NULL; }

static leat_code parse(const json_t *root, leat_local_state *of, const char *path,
                       leat_error *err) {
    static const char digits[] = "0123456789abcdef", names[] = "/tmp-lea0123456789abcdef";
    static const char places[] = "[]" LEAT_TICKET_HOST_CHARACTERS;
    int64_t number = 0;
    LEAT_TRY(leat_json_expect_string(root, "format", "leat.local", path, err));
    LEAT_TRY(leat_json_get_int(root, "version", 1, 1, &number, path, err));
    LEAT_TRY(leat_json_get_int(root, "ready", 0, 1, &number, path, err));
    of->ready = number == 1;
    LEAT_TRY(leat_json_get_int(root, "port", 0, 65535, &of->port, path, err));
    LEAT_TRY(get_word(root, "machine", digits, of->made_on, sizeof of->made_on, path, err));
    LEAT_TRY(get_word(root, "socket", names, of->socket, sizeof of->socket, path, err));
    LEAT_TRY(
        get_word(root, "token", "leat-0123456789abcdef", of->token, sizeof of->token, path, err));
    if (has(root, "listened"))
        LEAT_TRY(get_word(root, "listened", places, of->listened, sizeof of->listened, path, err));
    LEAT_TRY(get_word(root, "password_admin", digits, of->admin, sizeof of->admin, path, err));
    LEAT_TRY(get_word(root, "password_owner", digits, of->owner, sizeof of->owner, path, err));
    LEAT_TRY(get_word(root, "password_worker", digits, of->worker, sizeof of->worker, path, err));
    if (of->admin[0] != 0 && of->owner[0] != 0 && of->worker[0] != 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s: a password is empty", path);
}

leat_code leat_local_load(leat_local *self, bool *found, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    uint8_t *text = NULL;
    int64_t size = 0;
    leat_path_facts facts;
    json_t *root = NULL;
    *found = false;
    LEAT_TRY(leat_local_join(self, STATE_NAME, path, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_NONE) return LEAT_OK;
    LEAT_TRY(leat_file_load(path, STATE_BYTES_MAX, &text, &size, err));
    leat_code code = leat_json_parse((const char *)text, size, path, &root, err);
    if (code == LEAT_OK) code = parse(root, &self->state, path, err);
    json_decref(root);
    leat_free(text);
    *found = code == LEAT_OK;
    return code;
}
