#!/usr/bin/env python3
"""Compares a release with one that was built again, for scripts/release/verify.sh:

    scripts/release/compare.py --sums FOLDER   prints leat-VERSION, the name of its source archive;
                                               status 1 if SHA256SUMS is not what is in FOLDER
    scripts/release/compare.py RELEASE AGAIN   versions of tools that differ, then file by file;
                                               status 1 if a file differs

The SBOM and the notes name the tools of the build. Where versions differ, these documents must be,
to the byte, what they would be with the other versions; then they count as equal, and a line says
so. The same holds for the compression of the source archive where gzip has another version.

RELEASE may be anybody's: what is printed of it is printable, and damaged files are a line, not a
traceback.
"""
from __future__ import annotations

import gzip
import hashlib
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator

import documents

SUMS = "SHA256SUMS"
SIGNATURES = (".sigstore.json", ".asc")  # of a file of the release, made later
WHEEL_BYTES = 1 << 30  # of the files of a wheel that is looked into


def read(*path: str) -> bytes:
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def shown(text: str) -> str:
    """A text of a release as it may be printed: terminals obey what is in it."""
    plain = re.sub(r"[^ -~]", lambda found: ascii(found[0])[1:-1], text[:200])
    return plain + "..." if len(text) > 200 else plain


def listed(folder: str) -> dict[str, str]:
    """SHA-256 by name, from SHA256SUMS."""
    path = os.path.join(folder, SUMS)
    if os.path.islink(path) or not os.path.isfile(path):
        raise SystemExit(f"verify: {path}: not a file; name the folder of a release")
    try:
        text = read(path).decode("ascii")
    except (OSError, UnicodeDecodeError) as problem:
        raise SystemExit(f"verify: {path}: {problem}; get the release again") from None
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = re.fullmatch(r"([0-9a-f]{64})  ([A-Za-z0-9_][A-Za-z0-9._+-]*)", line)
        if match is None or match[2] in found or match[2] == SUMS:
            raise SystemExit(f"verify: {folder}/{SUMS}, line {number}: not a SHA-256 and the name "
                             f"of one more file: \"{shown(line)}\"; get the release again")
        found[match[2]] = match[1]
    return found


def signed(name: str, sums: dict[str, str]) -> bool:
    """Whether a file is the signature of a file of the release."""
    return any(name.removesuffix(end) in (*sums, SUMS) for end in SIGNATURES if name.endswith(end))


def problems(folder: str) -> Iterator[str]:
    """Where SHA256SUMS is not what is in the folder."""
    sums = listed(folder)
    there = set(os.listdir(folder)) - {SUMS}
    for name in sorted(sums.keys() | there):
        path = os.path.join(folder, name)
        if name not in there:
            yield f"{name}: is missing; get the release again"
        elif name not in sums:
            if not signed(name, sums):
                yield (f"{shown(name)}: is not in {SUMS}, so it is not of this release; do not use "
                       "it")
        elif os.path.islink(path) or not os.path.isfile(path):
            yield f"{name}: is not a file; get the release again"
        elif hashlib.sha256(read(path)).hexdigest() != sums[name]:
            yield f"{name}: its SHA-256 is not that of {SUMS}: changed or damaged; get it again"


def name_of(folder: str) -> str:
    """leat-VERSION, of the source archive."""
    found = [match[1] for file in listed(folder)
             if (match := re.fullmatch(r"(leat-[0-9][0-9.]*)\.tar\.gz", file))]
    if len(found) != 1:
        raise SystemExit(f"verify: {folder}/{SUMS}: has {len(found)} source archives "
                         "(leat-VERSION.tar.gz), not one; get the release again")
    return found[0]


# ---- what differs ----

def document(folder: str, name: str) -> documents.Json:
    try:
        found = documents.parsed(read(folder, name))
    except (OSError, ValueError, RecursionError) as problem:
        raise SystemExit(f"verify: {folder}/{name}: {shown(str(problem))}; get the release again"
                         ) from None
    if not isinstance(found, dict):
        raise SystemExit(f"verify: {folder}/{name}: not an SBOM; get the release again")
    return found


def tools(folder: str, name: str) -> dict[str, str]:
    """Versions of the tools in an SBOM. They are words: other text would hide in the documents."""
    try:
        found = {str(tool["name"]): str(tool["version"])
                 for part in document(folder, name)["formulation"] for tool in part["components"]}
    except (KeyError, TypeError):
        raise SystemExit(f"verify: {folder}/{name}: names no tools of the build in formulation; "
                         "get the release again") from None
    for tool, version in found.items():
        if not re.fullmatch(r"[\w -]{1,40}", tool, re.ASCII) or not re.fullmatch(
                r"[\w.+~/-]{1,60}", version, re.ASCII):
            raise SystemExit(f"verify: {folder}/{name}: \"{shown(tool)}\" and \"{shown(version)}\" "
                             "are not the name and the version of a tool; do not use this release")
    return found


def other_tools(release: dict[str, str], again: dict[str, str]) -> Iterator[str]:
    for name in sorted(release.keys() | again.keys()):
        if release.get(name) != again.get(name):
            yield shown(f"{name}: {release.get(name, 'not used')} in the release, "
                        f"{again.get(name, 'not installed')} here")


def digests(path: str) -> dict[str, str] | None:
    """SHA-256 of the files of a wheel by name; None if it cannot be read."""
    found: dict[str, str] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > WHEEL_BYTES:
                return None
            for entry in archive.infolist():
                with archive.open(entry) as file:
                    digest = hashlib.sha256()
                    while part := file.read(1 << 20):
                        digest.update(part)
                found[entry.filename] = digest.hexdigest()
    except Exception:  # pylint: disable=broad-exception-caught # damaged in whatever way
        return None
    return found


def details(release: str, again: str, name: str) -> str:
    """Which files of two wheels differ."""
    if not name.endswith(".whl"):
        return ""
    one, other = (digests(os.path.join(folder, name)) for folder in (release, again))
    if one is None or other is None:
        return ": its files cannot be read"
    found = [shown(file) for file in sorted(one.keys() | other.keys())
             if one.get(file) != other.get(file)]
    if found:
        more = f" and {len(found) - 8} more" if len(found) > 8 else ""
        return ": " + ", ".join(found[:8]) + more
    return ": its files are equal, the archive around them is not"


def same_sources(release: str, again: str, name: str) -> bool:
    """Whether two source archives differ in their compression alone. Compressed data that end
    before the file does are not an archive."""
    unpacked = []
    for folder in (release, again):
        try:
            unpacked.append(gzip.decompress(read(folder, name)))
        except (OSError, EOFError, zlib.error):
            return False
    return unpacked[0] == unpacked[1]


def explained(release: str, again: str, name: str, used: list[dict[str, str]]) -> str | None:
    """Which tools of other versions are all that is different in a file; None if they are not."""
    if used[0] == used[1]:
        return None
    with_those = {".cdx.json": documents.sbom_with, "-notes.md": documents.notes_with}
    for end, of_tools in with_those.items():
        if name.endswith(end) and of_tools(read(again, name), used[0]) == read(release, name):
            return "the versions of tools"
    if (name.endswith(".tar.gz") and used[0].get("gzip") != used[1].get("gzip")
            and same_sources(release, again, name)):
        return "its compression by another gzip"
    return None


def compared(release: str, again: str,
             used: list[dict[str, str]]) -> Iterator[tuple[bool, str]]:
    """(whether it is equal, a line) of each file; `used` are the tools of both."""
    names, there = listed(release), listed(again)
    for name in sorted(names.keys() | there.keys()):
        if name not in there:
            yield False, f"{name}: was not built again"
        elif name not in names:
            yield False, f"{name}: was built here, but is not in the release"
        elif read(release, name) == read(again, name):
            yield True, f"{name}: equal"
        elif tool := explained(release, again, name, used):
            yield True, f"{name}: equal, except for {tool}"
        else:
            yield False, f"{name}: differs" + details(release, again, name)


def main() -> int:
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    if sys.argv[1] == "--sums":
        found = list(problems(sys.argv[2]))
        for problem in found:
            print(f"verify: {problem}", file=sys.stderr)
        if not found:
            print(name_of(sys.argv[2]))
        return 1 if found else 0
    release, again = sys.argv[1:]
    name = f"{name_of(release)}.cdx.json"
    used = [tools(folder, name) for folder in (release, again)]
    others = list(other_tools(*used))
    print("verify: tools of the build: " + ("other versions:" if others else "the same versions"))
    for line in others:
        print(f"verify:   {line}")
    lines = list(compared(release, again, used))
    for _, line in lines:
        print(f"verify: {line}")
    equal = all(good for good, _ in lines)
    print("verify: the release is what its sources give" if equal else
          "verify: the release is not what its sources give here"
          + (", with tools of other versions" if others else ""))
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
