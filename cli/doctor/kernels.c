/* leat doctor --kernels: which variants of the kernels there are, whether they are right here, and
 * how fast. */
#include <stdio.h>
#include <string.h>

#include "doctor/doctor.h"
#include "leat/nn.h"

static void tell_variant(leat_doctor *doc, const leat_kernel_variant *variant, bool asked_for) {
    char what[LEAT_MESSAGE_BYTES + 128];
    leat_error err = {0};
    uint64_t hash;
    if (!variant->runs) {
        snprintf(what, sizeof what, "kernels %s: built, but not supported by this processor",
                 variant->name);
        leat_doctor_tell(doc, asked_for ? LEAT_DOCTOR_PROBLEM : LEAT_DOCTOR_OK, what, "");
        return;
    }
    if (leat_kernels_verify(variant->name, &hash, &err) != LEAT_OK) {
        snprintf(what, sizeof what, "kernels %s: %s", variant->name, err.message);
        leat_doctor_tell(
            doc, LEAT_DOCTOR_PROBLEM, what,
            "do not train with this variant: the processor, the emulator or this build "
            "of leat is faulty");
        return;
    }
    snprintf(what, sizeof what, "kernels %s (%d lane%s): self-test passed, hash %016llx%s",
             variant->name, variant->lanes, variant->lanes == 1 ? "" : "s",
             (unsigned long long)hash, variant->used ? "; these are used" : "");
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
    leat_error err = {0};
    uint64_t hash;
    if (leat_kernels_verify(strcmp(name, "all") == 0 ? NULL : name, &hash, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    leat_out(cli, "%016llx\n", (unsigned long long)hash);
    return 0;
}
