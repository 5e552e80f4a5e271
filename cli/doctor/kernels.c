/* leat doctor --kernels: which variants of the kernels there are, whether they are right here, and
 * how fast. */
#include <stdio.h>
#include <string.h>

#include "doctor/doctor.h"
#include "leat/nn.h"

/* Tests all suites: the hash of the first one, then names and hashes of the others. */
static leat_code verify_all(const char *variant, const char *between, char *out, size_t size,
                            leat_error *err) {
    const char *suite;
    size_t at = 0;
    for (int i = 0; (suite = leat_kernel_suite_at(i)) != NULL; i++) {
        uint64_t hash;
        const leat_code code = leat_kernel_suite_verify(suite, variant, &hash, err);
        if (code != LEAT_OK) return code;
        const int written =
            snprintf(out + at, size - at, "%s%s%s%016llx", i == 0 ? "" : between,
                     i == 0 ? "" : suite, i == 0 ? "" : " ", (unsigned long long)hash);
        at += (size_t)written < size - at ? (size_t)written : size - at - 1;
    }
    return LEAT_OK;
}

static void tell_variant(leat_doctor *doc, const leat_kernel_variant *variant, bool asked_for) {
    char what[LEAT_MESSAGE_BYTES + 128];
    char hashes[200] = "";
    leat_error err = {0};
    if (!variant->runs) {
        snprintf(what, sizeof what, "kernels %s: built, but not supported by this processor",
                 variant->name);
        leat_doctor_tell(doc, asked_for ? LEAT_DOCTOR_PROBLEM : LEAT_DOCTOR_OK, what, "");
        return;
    }
    if (verify_all(variant->name, ", ", hashes, sizeof hashes, &err) != LEAT_OK) {
        snprintf(what, sizeof what, "kernels %s: %s", variant->name, err.message);
        leat_doctor_tell(
            doc, LEAT_DOCTOR_PROBLEM, what,
            "do not train with this variant: the processor, the emulator or this build "
            "of leat is faulty");
        return;
    }
    snprintf(what, sizeof what, "kernels %s (%d lane%s): self-test passed, hash %s%s",
             variant->name, variant->lanes, variant->lanes == 1 ? "" : "s", hashes,
             variant->used ? "; these are used" : "");
    leat_doctor_tell(doc, LEAT_DOCTOR_OK, what, "");
}

static void tell_speeds(leat_doctor *doc, const char *name) {
    leat_kernel_speeds speeds;
    leat_error err = {0};
    char what[256];
    if (leat_kernels_measure(name, &speeds, &err) != LEAT_OK) {
        leat_doctor_tell(doc, LEAT_DOCTOR_PROBLEM, err.message, "");
        return;
    }
    snprintf(what, sizeof what, "kernels %s: peak of one thread %.1f GFLOP/s", name, speeds.peak);
    leat_doctor_tell(doc, LEAT_DOCTOR_OK, what, "");
    for (int i = 0; i < LEAT_KERNEL_SHAPES; i++) {
        snprintf(what, sizeof what, "kernels %s: %s: %.1f GFLOP/s, %.0f %% of the peak", name,
                 speeds.shapes[i].name, speeds.shapes[i].gflops,
                 100 * speeds.shapes[i].gflops / speeds.peak);
        leat_doctor_tell(doc, LEAT_DOCTOR_OK, what, "");
    }
}

void leat_doctor_kernels(leat_doctor *doc, const char *name) {
    leat_kernel_variant variant;
    bool all = strcmp(name, "all") == 0, found = false;
    for (int i = 0; leat_kernel_variant_at(i, &variant); i++) {
        if (!all && strcmp(name, variant.name) != 0) continue;
        found = true;
        tell_variant(doc, &variant, !all);
        if (variant.runs && (variant.used || !all)) tell_speeds(doc, variant.name);
    }
    leat_error err = {0};
    uint64_t hash;
    if (!found && leat_kernels_verify(name, &hash, &err) != LEAT_OK)
        leat_doctor_tell(doc, LEAT_DOCTOR_PROBLEM, err.message, "");
}

int leat_doctor_hash(leat_cli *cli, const char *name) {
    const char *variant = strcmp(name, "all") == 0 ? NULL : name;
    char hashes[200] = "";
    leat_error err = {0};
    if (verify_all(variant, "\n", hashes, sizeof hashes, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    leat_out(cli, "%s\n", hashes);
    return 0;
}
