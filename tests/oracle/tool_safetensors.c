/*
 * safetensors files in leat's hands, for test_safetensors.py:
 *
 *   tool read FILE [KEY...]   what its header says, as JSON; texts of __metadata__ for the keys
 *   tool check FILE...        a line each: "read", or "refused: <message>"
 *   tool write FILE           a file with tensors of every type and some metadata; byte i of the
 *                             tensors together is i mod 251
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "format/safetensors/safetensors.h"

static void put_tensor(leat_json *json, const leat_tensor *tensor) {
    leat_json_key(json, tensor->name);
    leat_json_begin_object(json);
    leat_json_member_string(json, "dtype", leat_dtype_name(tensor->dtype));
    leat_json_key(json, "shape");
    leat_json_begin_array(json);
    for (int i = 0; i < tensor->rank; i++) leat_json_int(json, tensor->shape[i]);
    leat_json_end_array(json);
    leat_json_member_int(json, "offset", tensor->offset);
    leat_json_member_int(json, "bytes", tensor->size_bytes);
    leat_json_end_object(json);
}

static leat_code print(leat_json *json, leat_error *err) {
    const char *text = NULL;
    int64_t size_bytes = 0;
    LEAT_TRY(leat_json_finish(json, &text, &size_bytes, err));
    fwrite(text, 1, (size_t)size_bytes, stdout);
    return LEAT_OK;
}

static leat_code read_file(const char *path, char **keys, int key_count, leat_error *err) {
    leat_safetensors *read = NULL;
    leat_json *json = NULL;
    LEAT_TRY(leat_safetensors_read(&read, path, err));
    leat_code code = leat_json_create(&json, false, err);
    if (code == LEAT_OK) {
        leat_json_begin_object(json);
        leat_json_key(json, "metadata");
        leat_json_begin_object(json);
        for (int i = 0; i < key_count; i++) {
            const char *text = leat_safetensors_metadata(read, keys[i]);
            if (text != NULL) leat_json_member_string(json, keys[i], text);
        }
        leat_json_end_object(json);
        leat_json_key(json, "tensors");
        leat_json_begin_object(json);
        for (int64_t i = 0; i < leat_safetensors_count(read); i++)
            put_tensor(json, leat_safetensors_at(read, i));
        leat_json_end_object(json);
        leat_json_end_object(json);
        code = print(json, err);
    }
    leat_json_destroy(json);
    leat_safetensors_destroy(read);
    return code;
}

static void check_file(const char *path) {
    leat_safetensors *read = NULL;
    leat_error err = {0};
    leat_code code = leat_safetensors_read(&read, path, &err);
    for (char *at = err.message; *at != 0; at++) {
        if ((unsigned char)*at < ' ') *at = '?'; /* one line */
    }
    if (code == LEAT_OK) puts("read");
    else printf("refused: %s\n", err.message);
    leat_safetensors_destroy(read);
}

static leat_code write_tensors(leat_file *file, const leat_buf *header, int64_t file_bytes,
                               leat_error *err) {
    LEAT_TRY(leat_file_pwrite(file, header->data, header->size, 0, err));
    for (int64_t at = header->size; at < file_bytes; at++) {
        uint8_t byte = (uint8_t)((at - header->size) % 251);
        LEAT_TRY(leat_file_pwrite(file, &byte, 1, at, err));
    }
    return LEAT_OK;
}

static leat_code write_file(const char *path, leat_error *err) {
    static const char *const metadata[] = {"format", "leat", "a \"key\"\n", "\xc3\xa4\xe2\x82\xac",
                                           "empty",  ""};
    enum { TENSORS = LEAT_DTYPE_COUNT + 2 };
    leat_tensor tensors[TENSORS] = {0};
    leat_buf header = {0};
    leat_file *file = NULL;
    int64_t file_bytes = 0;
    for (int i = 0; i < LEAT_DTYPE_COUNT; i++) { /* the enum goes from narrow to wide */
        leat_tensor *tensor = &tensors[i];
        *tensor = (leat_tensor){.dtype = (leat_dtype)(LEAT_DTYPE_COUNT - 1 - i), .rank = 2};
        tensor->shape[0] = i + 1;
        tensor->shape[1] = 3;
        snprintf(tensor->name, sizeof tensor->name, "a/%s", leat_dtype_name(tensor->dtype));
    }
    tensors[TENSORS - 2] = (leat_tensor){
        .name = "empty \"\xc3\xa4\"", .dtype = LEAT_DTYPE_U8, .rank = 3, .shape = {2, 0, 5}};
    tensors[TENSORS - 1] = (leat_tensor){.name = "scalar", .dtype = LEAT_DTYPE_U8};
    LEAT_TRY(leat_safetensors_plan(tensors, TENSORS, metadata, 3, &header, &file_bytes, err));
    leat_code code = leat_file_open(&file, path, LEAT_FILE_CREATE, err);
    if (code == LEAT_OK) code = write_tensors(file, &header, file_bytes, err);
    leat_file_close(file);
    leat_buf_free(&header);
    return code;
}

int main(int argc, char **argv) {
    leat_error err = {0};
    leat_code code = LEAT_ERR_OPTION;
    if (argc > 2 && strcmp(argv[1], "check") == 0) {
        for (int i = 2; i < argc; i++) check_file(argv[i]);
        return 0;
    }
    if (argc > 2 && strcmp(argv[1], "read") == 0)
        code = read_file(argv[2], argv + 3, argc - 3, &err);
    if (argc == 3 && strcmp(argv[1], "write") == 0) code = write_file(argv[2], &err);
    if (code != LEAT_OK) fprintf(stderr, "%s\n", err.message);
    return code != LEAT_OK;
}
