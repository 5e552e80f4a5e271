#!/usr/bin/env python3
"""Checks a portable wheel, of leat or of leat-worker: scripts/wheel/check.py WHEEL

* its name, and what auditwheel says that it runs on, are the same;
* RECORD lists every file with its hash, and programs are executable;
* METADATA is what its version allows, with names of licences that SPDX knows, and the text of each
  library's licence is there;
* no symbol is newer than the glibc of the name, no library outside of glibc and DuckDB's C++ is
  needed, and libleat.so exports what begins with leat_ alone;
* no file has a path of the machine that it was built on;
* the command runs, says what kind of build it is, and uses all that this processor has: a build
  that runs scalar gives the right results 150 times slower;
* libleat.so, which Python opens, says the same of its build as the command;
* leat-worker has 10 MB at most;
* the kernels' hash is the one that tests/nn/test_suite.c pins.

Runs on x86-64 with the environment of scripts/requirements/wheel.txt. Says what is wrong, and ends
with status 1.
"""
from __future__ import annotations

import base64
import csv
import ctypes
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator

import assemble

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GLIBC = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1",
         "ld-linux-x86-64.so.2"}
WORKER = f"leat_worker-{assemble.version()}.data/scripts/leat-worker"
WORKER_BYTES = 10_000_000
# programs of a wheel -> the libraries that they may need
NEEDED = {"leat": {"leat/leat": GLIBC, "leat/libleat.so": GLIBC,
                   "leat/libduckdb.so": GLIBC | {"libstdc++.so.6", "libgcc_s.so.1"}},
          "leat_worker": {WORKER: GLIBC}}
# of leat version -> flags of /proc/cpuinfo
FEATURES = {"avx2": {"avx2", "fma"}, "avx512": {"avx512f", "fma"}, "sha": {"sha_ni", "sse4_1"}}


def platform_of(wheel: str) -> str:
    found = re.fullmatch(r"leat(?:_worker)?-[0-9.]+-py3-none-(manylinux_\d+_\d+_\w+)\.whl",
                         os.path.basename(wheel))
    if found is None:
        raise SystemExit(f"check: {wheel}: not the name of a portable wheel of leat")
    return found[1]


def programs_of(wheel: str) -> dict[str, set[str]]:
    return NEEDED[os.path.basename(wheel).split("-")[0]]


# ---- the archive ----

def record(wheel: str) -> Iterator[str]:
    """Entries that RECORD does not have as they are, and modes."""
    with zipfile.ZipFile(wheel) as archive:
        info = {entry.filename: entry for entry in archive.infolist()}
        name, = (name for name in info if name.endswith(".dist-info/RECORD"))
        rows = {row[0]: row[1:] for row in csv.reader(archive.read(name).decode().splitlines())}
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
    for name in [name for name, *_ in assemble.components()] + ["llvm", "zig"]:
        if not any(f".dist-info/licenses/{name}/" in file for file in names):
            yield f"no text of the licence of {name}"


def size(wheel: str) -> Iterator[str]:
    with zipfile.ZipFile(wheel) as archive:
        found = {entry.filename: entry.file_size for entry in archive.infolist()}
    if found.get(WORKER, 0) > WORKER_BYTES:
        yield f"{WORKER}: {found[WORKER]} bytes, more than {WORKER_BYTES}"


def metadata(wheel: str) -> Iterator[str]:
    """What an index would refuse."""
    from packaging.metadata import Metadata  # not there where only the rest is tested
    with zipfile.ZipFile(wheel) as archive:
        name, = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        try:
            found = Metadata.from_email(archive.read(name), validate=True)
        except ExceptionGroup as problems:
            yield from (f"{name}: {problem}" for problem in problems.exceptions)
            return
        folder = os.path.dirname(name) + "/licenses/"
        named = {folder + file for file in found.license_files or ()}
        for missing in sorted(named - set(archive.namelist())):
            yield f"{missing}: is missing"


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
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise SystemExit(f"check: {' '.join(words)} failed:\n{done.stdout}")
    return done.stdout


def symbols(folder: str, platform: str, programs: dict[str, set[str]]) -> Iterator[str]:
    """Needs of programs that the name does not promise."""
    limit = tuple(map(int, platform.split("_")[1:3]))
    for name, allowed in programs.items():
        text = tell("objdump", "-p", "-T", os.path.join(folder, name))
        for library in sorted(set(re.findall(r"NEEDED +(\S+)", text)) - allowed):
            yield f"{name}: needs {library}"
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

def of_command(leat: str) -> dict[tuple[str, str], str]:
    """What leat version says, by group and name."""
    rows = [line.split(None, 2) for line in tell(leat, "version").splitlines()[1:]]
    return {(group, name): value.strip() for group, name, value in rows}


class Item(ctypes.Structure):
    """leat_build_item."""
    _fields_ = [("group", ctypes.c_char_p), ("name", ctypes.c_char_p),
                ("value", ctypes.c_char * 96)]


def of_library(path: str) -> dict[tuple[str, str], str]:
    library = ctypes.CDLL(path)
    library.leat_build_info.restype = ctypes.c_bool
    item = Item()
    found: dict[tuple[str, str], str] = {}
    while library.leat_build_info(len(found), ctypes.byref(item)):
        found[item.group.decode(), item.name.decode()] = item.value.decode().strip()
    return found


def same_build(folder: str) -> Iterator[str]:
    command = of_command(os.path.join(folder, "leat", "leat"))
    library = of_library(os.path.join(folder, "leat", "libleat.so"))
    command.pop(("library", "DuckDB"), None)  # found by the command alone
    for item in sorted(command.keys() | library.keys()):
        if command.get(item) != library.get(item):
            yield (f"{' '.join(item)}: {library.get(item)} in libleat.so, "
                   f"{command.get(item)} in the command")


def version(leat: str, platform: str, flags: set[str]) -> Iterator[str]:
    """What leat version says otherwise than it should on a processor with these flags."""
    items = of_command(leat)
    if items["build", "kind"] != f"wheel {platform}":
        yield f"leat version: build kind {items['build', 'kind']}"
    for name, needed in FEATURES.items():
        wanted = "compiled in, " + ("in use" if needed <= flags else "not in this cpu")
        if items["cpu", name] != wanted:
            yield f"leat version: {name}: {items['cpu', name]}; this processor: {wanted}"
    for (group, name), value in items.items():
        if value == "left out" or value.startswith("not available"):
            yield f"leat version: {group} {name} {value}"


def kernels(leat: str) -> Iterator[str]:
    with open(os.path.join(TOP, "tests", "nn", "test_suite.c"), encoding="utf-8") as file:
        pinned = re.search(r"^#define SUITE_HASH UINT64_C\(0x([0-9a-f]+)\)$", file.read(),
                           re.MULTILINE)
    assert pinned is not None
    found = tell(leat, "doctor", "--kernels", "--hash").split()
    if pinned[1] not in found:
        yield f"leat doctor --kernels --hash: {' '.join(found)}, not {pinned[1]}"


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    wheel = sys.argv[1]
    platform = platform_of(wheel)
    programs = programs_of(wheel)
    problems = [*record(wheel), *metadata(wheel), *licences(wheel), *size(wheel)]
    with tempfile.TemporaryDirectory(prefix="leat-wheel-") as folder:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        for name in programs:
            os.chmod(os.path.join(folder, name), 0o755)
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            flags = set(re.search(r"^flags\s*:(.*)$", file.read(), re.MULTILINE)[1].split())
        problems += paths(folder, [TOP, os.path.dirname(sys.prefix)])
        problems += symbols(folder, platform, programs)
        problems += audit(wheel, platform)
        command = WORKER if WORKER in programs else "leat/leat"
        problems += version(os.path.join(folder, command), platform, flags)
        if command != WORKER:
            problems += exports(folder)
            problems += same_build(folder)
            problems += kernels(os.path.join(folder, command))
    for problem in problems:
        print(f"check: {problem}", file=sys.stderr)
    if problems:
        raise SystemExit(1)
    print(f"wheel: {wheel}: accepted")


if __name__ == "__main__":
    main()
