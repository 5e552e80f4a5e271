#!/usr/bin/env python3
"""Checks a portable wheel, of leat or of leat-worker: scripts/wheel/check.py WHEEL

* it is an archive that can be read, whole, and one of a wheel;
* its name, its file WHEEL, and what auditwheel says that it runs on, are the same;
* RECORD lists every file with its hash, and programs are executable;
* METADATA is what its version allows, with names of licences that SPDX knows, and the text of each
  library's licence is there;
* programs are of the name's processor;
* no symbol is newer than the glibc of the name, no library outside of glibc and DuckDB's C++ is
  needed, none is looked for elsewhere than where the system has them, and libleat.so exports what
  begins with leat_ alone;
* no file has a path of the machine that it was built on;
* the command runs, says what kind of build it is, and uses all that this processor has: a build
  that runs scalar gives the right results 150 times slower;
* libleat.so, which Python opens, says the same of its build as the command;
* leat-worker has 10 MB at most;
* the kernels' hash is the one that tests/nn/test_suite.c pins.

Programs are run only where the archive is as it should be; those of arm64 on another machine in
qemu-user, with Debian's libraries for arm64. Runs with the environment of
scripts/requirements/wheel.txt. Says what is wrong, a line each, and ends with status 1.
"""
from __future__ import annotations

import base64
import csv
import hashlib
import os
import platform as machine
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from typing import NoReturn

import assemble

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GLIBC = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1",
         "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
WORKER = f"leat_worker-{assemble.version()}.data/scripts/leat-worker"
WORKER_BYTES = 10_000_000
ALL_BYTES = 1 << 30  # of the files of a wheel, unpacked
# programs of a wheel -> the libraries that they may need
NEEDED = {"leat": {"leat/leat": GLIBC, "leat/libleat.so": GLIBC,
                   "leat/libduckdb.so": GLIBC | {"libstdc++.so.6", "libgcc_s.so.1"},
                   f"leat/{assemble.MICROHTTPD}": GLIBC},
          "leat_worker": {WORKER: GLIBC}}
# of leat version -> flags of /proc/cpuinfo, on x86-64
FEATURES = {"avx2": {"avx2", "fma"}, "avx512": {"avx512f", "fma"}, "sha": {"sha_ni", "sse4_1"}}
CPUS = {"x86_64": 62, "aarch64": 183}  # e_machine of an ELF file
ARM64_LIBRARIES = "/usr/aarch64-linux-gnu"  # of Debian's packages *-arm64-cross


def platform_of(wheel: str) -> str:
    found = re.fullmatch(r"leat(?:_worker)?-[0-9.]+-py3-none-(manylinux_\d+_\d+_\w+)\.whl",
                         os.path.basename(wheel))
    if found is None or not found[1].endswith(tuple(CPUS)):
        raise SystemExit(f"check: {wheel}: not the name of a portable wheel of leat")
    return found[1]


def cpu_of(platform: str) -> str:
    return next(cpu for cpu in CPUS if platform.endswith(cpu))


def programs_of(wheel: str) -> dict[str, set[str]]:
    return NEEDED[os.path.basename(wheel).split("-")[0]]


# ---- the archive ----

def refuse(wheel: str, why: str) -> NoReturn:
    """With what is in the wheel only as it may be printed."""
    why = re.sub(r"[^ -~]", lambda found: ascii(found[0])[1:-1], why)
    raise SystemExit(f"check: {wheel}: {why[:300]}; make it again with make wheel")


def entries(wheel: str, archive: zipfile.ZipFile) -> None:
    """Ends where what the archive lists is not the files of a wheel."""
    names = archive.namelist()
    for name in names:
        if names.count(name) > 1:
            refuse(wheel, f"has the file {name} twice")
        if name.startswith("/") or ".." in name.split("/") or name.endswith("/"):
            refuse(wheel, f"has the file {name}, which is no name of a file in a wheel")
    if (found := sum(entry.file_size for entry in archive.infolist())) > ALL_BYTES:
        refuse(wheel, f"has files of {found} bytes, more than {ALL_BYTES}")
    info = f"{os.path.basename(wheel).split('-')[0]}-{assemble.version()}.dist-info/"
    for name in ("METADATA", "RECORD", "WHEEL"):
        if info + name not in names:
            refuse(wheel, f"has no {info}{name}")
        try:
            archive.read(info + name).decode()
        except UnicodeDecodeError as problem:
            refuse(wheel, f"{info}{name}: not UTF-8: {problem}")
    if folders := {name.split("/")[0] for name in names if ".dist-info/" in name} - {info[:-1]}:
        refuse(wheel, f"has the folder {sorted(folders)[0]} beside {info[:-1]}")


def whole(wheel: str) -> None:
    """Ends where the archive cannot be read to its end: what comes later may read it."""
    if not os.path.isfile(wheel):
        raise SystemExit(f"check: {wheel}: not a file; name a wheel")
    try:
        with zipfile.ZipFile(wheel) as archive:
            entries(wheel, archive)
            if (damaged := archive.testzip()) is not None:
                refuse(wheel, f"{damaged} is damaged")
    except Exception as problem:  # pylint: disable=broad-exception-caught # in whatever way
        refuse(wheel, f"cannot be read: {type(problem).__name__}: {problem}")


def read(wheel: str, name: str) -> str:
    """A text of the wheel's *.dist-info."""
    with zipfile.ZipFile(wheel) as archive:
        path, = (path for path in archive.namelist() if path.endswith(f".dist-info/{name}"))
        return archive.read(path).decode()


def record(wheel: str) -> Iterator[str]:
    """Entries that RECORD does not have as they are, and modes."""
    try:
        rows = {row[0]: row[1:] for row in csv.reader(read(wheel, "RECORD").splitlines()) if row}
    except csv.Error as problem:
        yield f"RECORD: {problem}"
        return
    with zipfile.ZipFile(wheel) as archive:
        info = {entry.filename: entry for entry in archive.infolist()}
        name, = (name for name in info if name.endswith(".dist-info/RECORD"))
        for missing in sorted(set(info) ^ set(rows)):
            yield f"{missing}: in RECORD or in the archive, not in both"
        for file in sorted(set(info) & set(rows) - {name}):
            content = archive.read(file)
            sha = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            if rows[file] != [f"sha256={sha}", str(len(content))]:
                yield f"{file}: not what RECORD says"
        for file, entry in sorted(info.items()):
            wanted = 0o100755 if file in programs_of(wheel) else 0o100644
            if entry.external_attr >> 16 != wanted:  # pip looks at the kind of file, too
                yield f"{file}: has mode {entry.external_attr >> 16:o}, not {wanted:o}"
        for file in sorted(set(programs_of(wheel)) - set(info)):
            yield f"{file}: is missing"


def licences(wheel: str) -> Iterator[str]:
    """Libraries whose licence has no text in the archive."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    worker = WORKER in programs_of(wheel)
    for name in [name for name, *_ in assemble.components(worker)] + ["llvm", "zig"]:
        if not any(f".dist-info/licenses/{name}/" in file for file in names):
            yield f"no text of the licence of {name}"


def tags(wheel: str) -> Iterator[str]:
    """What pip reads in the file WHEEL, if it is not what the name says."""
    found = dict(line.split(": ", 1) for line in read(wheel, "WHEEL").splitlines() if ": " in line)
    for name, wanted in (("Wheel-Version", "1.0"), ("Root-Is-Purelib", "false"),
                         ("Tag", f"py3-none-{platform_of(wheel)}")):
        if found.get(name) != wanted:
            yield f"WHEEL: {name} is {found.get(name, 'missing')}, not {wanted}"


def size(wheel: str) -> Iterator[str]:
    with zipfile.ZipFile(wheel) as archive:
        found = {entry.filename: entry.file_size for entry in archive.infolist()}
    if found.get(WORKER, 0) > WORKER_BYTES:
        yield f"{WORKER}: {found[WORKER]} bytes, more than {WORKER_BYTES}"


def metadata(wheel: str) -> Iterator[str]:
    """What an index would refuse."""
    from packaging.metadata import Metadata  # not there where only the rest is tested
    try:
        found = Metadata.from_email(read(wheel, "METADATA"), validate=True)
    except ExceptionGroup as problems:
        yield from (f"METADATA: {problem}" for problem in problems.exceptions)
        return
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for file in sorted(found.license_files or ()):
        if not any(name.endswith(f".dist-info/licenses/{file}") for name in names):
            yield f"licenses/{file}: is missing"


def paths(folder: str, built: list[str]) -> Iterator[str]:
    """Files with a path of the build machine in them: not as the end of another one."""
    for parent, _, files in os.walk(folder):
        for file in files:
            with open(os.path.join(parent, file), "rb") as opened:
                content = opened.read()
            for path in built:
                if re.search(rb"(?<![\w.}-])" + re.escape(path.encode()) + rb"/", content):
                    yield f"{file}: contains the path {path}"


# ---- programs ----

def tell(*words: str) -> str:
    """What a program prints; of one that fails the last line, which says why."""
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace")
    except OSError as problem:
        raise SystemExit(f"check: {' '.join(words)}: {problem.strerror}") from None
    if done.returncode != 0:
        lines = done.stdout.split("\n") if done.stdout.strip() else ["nothing printed"]
        last = [line for line in lines if line.strip()][-1]
        raise SystemExit(f"check: {' '.join(words)} failed with status {done.returncode}: {last}")
    return done.stdout


def runner(platform: str) -> list[str]:
    """What stands before a program of this platform to run it here."""
    cpu = cpu_of(platform)
    if cpu == machine.machine():
        return []
    emulator = shutil.which(f"qemu-{cpu}") or shutil.which(f"qemu-{cpu}-static")
    if cpu != "aarch64" or emulator is None or not os.path.exists(
            f"{ARM64_LIBRARIES}/lib/libstdc++.so.6"):
        raise SystemExit(f"check: programs of {cpu} cannot be run here; as root: apt-get install "
                         "qemu-user libc6-arm64-cross libstdc++6-arm64-cross")
    return [emulator, "-L", ARM64_LIBRARIES]


def machines(folder: str, platform: str, programs: Iterable[str]) -> Iterator[str]:
    """Programs that are not of the platform's processor."""
    cpu = cpu_of(platform)
    for name in programs:
        with open(os.path.join(folder, name), "rb") as file:
            start = file.read(20)
        if start[:4] != b"\x7fELF" or int.from_bytes(start[18:20], "little") != CPUS[cpu]:
            yield f"{name}: is not a program of {cpu}"


def symbols(folder: str, platform: str, programs: dict[str, set[str]]) -> Iterator[str]:
    """Needs of programs that the name does not promise."""
    limit = tuple(map(int, platform.split("_")[1:3]))
    for name, allowed in programs.items():
        text = tell("objdump", "-p", "-T", os.path.join(folder, name))
        for library in sorted(set(re.findall(r"NEEDED +(\S+)", text)) - allowed):
            yield f"{name}: needs {library}"
        for found in re.findall(r"(?:RPATH|RUNPATH) +(.*)", text):  # of libc.so.6, too
            yield f"{name}: looks for libraries in \"{found}\" first"
        for found in sorted(set(re.findall(r"GLIBC_(\d+)\.(\d+)", text))):
            if tuple(map(int, found)) > limit:
                yield f"{name}: needs glibc {'.'.join(found)}"


def exports(folder: str) -> Iterator[str]:
    """What libleat.so exports beside its API."""
    exported = re.findall(r" [gw] +[DFO]+ +(?!\*UND\*)\S+\t[0-9a-f]+ +(?:\S+ +)?(\S+)$",
                          tell("objdump", "-T", os.path.join(folder, "leat/libleat.so")),
                          re.MULTILINE)
    if not exported:
        yield "libleat.so: exports nothing"
    for name in exported:
        if not name.startswith("leat_"):
            yield f"libleat.so: exports {name}"


def audit(wheel: str, platform: str) -> Iterator[str]:
    text = " ".join(tell(sys.executable, "-m", "auditwheel", "show", wheel).split())
    if f"consistent with the following platform tag: \"{platform}\"" not in text:
        yield f"auditwheel does not agree with {platform}: {text}"


# ---- the command ----

def items_of(what: str, text: str) -> dict[tuple[str, str], str]:
    """Lines "group name value" as leat version prints them."""
    found: dict[tuple[str, str], str] = {}
    for line in text.splitlines():
        words = line.split(None, 2)
        if len(words) != 3:
            raise SystemExit(f"check: {what} says \"{line}\", not a group, a name and a value")
        found[words[0], words[1]] = words[2].strip()
    return found


def of_command(*leat: str) -> dict[tuple[str, str], str]:
    """What leat version says, by group and name."""
    return items_of("leat version", "\n".join(tell(*leat, "version").splitlines()[1:]))


# Opens a library as Python does, and prints what it says of its build. Apart from this program,
# because a library that is not right may end the program that opens it.
SAY_BUILD = """
#include <dlfcn.h>
#include <stdio.h>
#include "leat/base.h"
int main(int count, char **words) {
    void *library = count == 2 ? dlopen(words[1], RTLD_NOW) : NULL;
    bool (*info)(int, leat_build_item *) = NULL;
    leat_build_item item;
    if (library) *(void **)&info = dlsym(library, "leat_build_info");
    if (!info) {
        printf("%s\\n", dlerror());
        return 1;
    }
    for (int i = 0; info(i, &item); i++) printf("%s %s %s\\n", item.group, item.name, item.value);
    return 0;
}
"""


def of_library(path: str, platform: str) -> dict[tuple[str, str], str]:
    program = os.path.join(os.path.dirname(path), "say-build")
    with open(program + ".c", "w", encoding="utf-8") as file:
        file.write(SAY_BUILD)
    major, minor = platform.split("_")[1:3]
    cache = os.path.join(os.path.dirname(sys.prefix), "zig")
    tell("env", f"ZIG_GLOBAL_CACHE_DIR={cache}", f"ZIG_LOCAL_CACHE_DIR={cache}", sys.executable,
         "-m", "ziglang", "cc", "-target", f"{cpu_of(platform)}-linux-gnu.{major}.{minor}", "-O1",
         "-I", os.path.join(TOP, "include"), "-o", program, program + ".c", "-ldl")
    return items_of("libleat.so", tell(*runner(platform), program, path))


def same_build(folder: str, platform: str) -> Iterator[str]:
    command = of_command(*runner(platform), os.path.join(folder, "leat", "leat"))
    library = of_library(os.path.join(folder, "leat", "libleat.so"), platform)
    command.pop(("library", "DuckDB"), None)  # found by the command alone
    for item in sorted(command.keys() | library.keys()):
        if command.get(item) != library.get(item):
            yield (f"{' '.join(item)}: {library.get(item)} in libleat.so, "
                   f"{command.get(item)} in the command")


def of_processor(platform: str, flags: set[str]) -> dict[str, str]:
    """What leat version should say of a processor with these flags."""
    if cpu_of(platform) == "aarch64":
        return {"neon": "baseline, in use"}
    return {name: "compiled in, " + ("in use" if needed <= flags else "not in this cpu")
            for name, needed in FEATURES.items()}


def version(leat: list[str], platform: str, flags: set[str]) -> Iterator[str]:
    """What leat version says otherwise than it should on a processor with these flags."""
    items = of_command(*leat)
    if items.get(("build", "kind")) != f"wheel {platform}":
        yield f"leat version: build kind {items.get(('build', 'kind'))}"
    for name, wanted in of_processor(platform, flags).items():
        if items.get(("cpu", name)) != wanted:
            yield (f"leat version: {name}: {items.get(('cpu', name))}; this processor: "
                   f"{wanted}")
    for (group, name), value in items.items():
        if value == "left out" or value.startswith("not available"):
            yield f"leat version: {group} {name} {value}"


def kernels(leat: list[str]) -> Iterator[str]:
    with open(os.path.join(TOP, "tests", "nn", "test_suite.c"), encoding="utf-8") as file:
        pinned = re.search(r"^#define SUITE_HASH UINT64_C\(0x([0-9a-f]+)\)$", file.read(),
                           re.MULTILINE)
    assert pinned is not None
    found = tell(*leat, "doctor", "--kernels", "--hash").split()
    if pinned[1] not in found:
        yield f"leat doctor --kernels --hash: {' '.join(found)}, not {pinned[1]}"


def flags_here() -> set[str]:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"^flags\s*:(.*)$", file.read(), re.MULTILINE)
    return set(found[1].split()) if found else set()


def unpacked(wheel: str, folder: str) -> Iterator[str]:
    """What is wrong with the files of a wheel."""
    platform, programs = platform_of(wheel), programs_of(wheel)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    for name in programs:
        os.chmod(os.path.join(folder, name), 0o755)
    yield from paths(folder, [TOP, os.path.dirname(sys.prefix)])
    if others := list(machines(folder, platform, programs)):
        yield from others
        return
    yield from symbols(folder, platform, programs)
    yield from audit(wheel, platform)
    command = WORKER if WORKER in programs else "leat/leat"
    leat = [*runner(platform), os.path.join(folder, command)]
    yield from version(leat, platform, flags_here())
    if command != WORKER:
        yield from exports(folder)
        yield from same_build(folder, platform)
        yield from kernels(leat)


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    wheel = sys.argv[1]
    platform_of(wheel)
    whole(wheel)
    problems = [*record(wheel), *tags(wheel), *metadata(wheel), *licences(wheel), *size(wheel)]
    if not problems:
        with tempfile.TemporaryDirectory(prefix="leat-wheel-") as folder:
            problems += unpacked(wheel, folder)
    for problem in problems:
        print(f"check: {problem}", file=sys.stderr)
    if problems:
        raise SystemExit(1)
    print(f"wheel: {wheel}: accepted")


if __name__ == "__main__":
    main()
