#!/usr/bin/env python3
"""Compares a release with one that was built again, for scripts/release/verify.sh:

    scripts/release/compare.py --sums FOLDER   prints leat-VERSION, the name of its source archive;
                                               status 1 if SHA256SUMS is not what is in FOLDER
    scripts/release/compare.py RELEASE AGAIN   versions of tools that differ, then file by file;
                                               status 1 if a file differs

The SBOM and the notes name the tools of the build. If these versions are all that differs in them,
they count as equal, and a line says so.
"""
from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from typing import Any

SUMS = "SHA256SUMS"
SIGNATURES = (".sigstore.json", ".asc")  # of a file of the release, made later
BUILT_WITH = "\n## Built with\n"


def read(*path: str) -> bytes:
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def listed(folder: str) -> dict[str, str]:
    """SHA-256 by name, from SHA256SUMS."""
    try:
        text = read(folder, SUMS).decode("ascii")
    except (OSError, UnicodeDecodeError) as problem:
        raise SystemExit(f"verify: {folder}/{SUMS}: {problem}; name the folder of a release"
                         ) from None
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = re.fullmatch(r"([0-9a-f]{64})  ([A-Za-z0-9_][A-Za-z0-9._+-]*)", line)
        if match is None or match[2] in found or match[2] == SUMS:
            raise SystemExit(f"verify: {folder}/{SUMS}, line {number}: not a SHA-256 and the name "
                             f"of one more file: {line!r}; get the release again")
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
                yield f"{name}: is not in {SUMS}, so it is not of this release; do not use it"
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

def document(folder: str, name: str) -> dict[str, Any]:
    try:
        found = json.loads(read(folder, name))
    except (OSError, ValueError) as problem:
        raise SystemExit(f"verify: {folder}/{name}: {problem}; get the release again") from None
    if not isinstance(found, dict):
        raise SystemExit(f"verify: {folder}/{name}: not an SBOM; get the release again")
    return found


def tools(folder: str, name: str) -> dict[str, str]:
    """Versions of the tools in an SBOM."""
    try:
        return {str(tool["name"]): str(tool["version"])
                for part in document(folder, name)["formulation"] for tool in part["components"]}
    except (KeyError, TypeError):
        raise SystemExit(f"verify: {folder}/{name}: names no tools of the build in formulation; "
                         "get the release again") from None


def other_tools(release: dict[str, str], again: dict[str, str]) -> Iterator[str]:
    for name in sorted(release.keys() | again.keys()):
        if release.get(name) != again.get(name):
            yield (f"{name}: {release.get(name, 'not used')} in the release, "
                   f"{again.get(name, 'not installed')} here")


def apart_from_tools(folder: str, name: str) -> Any:
    """A document without the versions of tools; None if it is not one that has them."""
    if name.endswith(".cdx.json"):
        return {key: value for key, value in document(folder, name).items()
                if key not in ("formulation", "serialNumber")}
    if name.endswith("-notes.md"):
        return read(folder, name).decode("utf-8", "replace").partition(BUILT_WITH)[0]
    return None


def members(path: str) -> dict[str, bytes]:
    """Files of a wheel; none of what is not a zip archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, OSError):
        return {}


def details(first: str, second: str) -> str:
    """Which files of two wheels differ."""
    one, other = members(first), members(second)
    found = [name for name in sorted(one.keys() | other.keys())
             if one.get(name) != other.get(name)]
    if found:
        more = f" and {len(found) - 8} more" if len(found) > 8 else ""
        return ": " + ", ".join(found[:8]) + more
    return ": its files are equal, the archive around them is not" if one and other else ""


def compared(release: str, again: str) -> Iterator[tuple[bool, str]]:
    """(whether it is equal, a line) of each file."""
    names, there = listed(release), listed(again)
    for name in sorted(names.keys() | there.keys()):
        if name not in there:
            yield False, f"{name}: was not built again"
        elif name not in names:
            yield False, f"{name}: was built here, but is not in the release"
        elif read(release, name) == read(again, name):
            yield True, f"{name}: equal"
        elif (text := apart_from_tools(release, name)) and text == apart_from_tools(again, name):
            yield True, f"{name}: equal, except for the versions of tools"
        else:
            yield False, (f"{name}: differs"
                          + details(os.path.join(release, name), os.path.join(again, name)))


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
    others = list(other_tools(tools(release, name), tools(again, name)))
    print("verify: tools of the build: " + ("other versions:" if others else "the same versions"))
    for line in others:
        print(f"verify:   {line}")
    lines = list(compared(release, again))
    for _, line in lines:
        print(f"verify: {line}")
    equal = all(good for good, _ in lines)
    print("verify: the release is what its sources give" if equal else
          "verify: the release is not what its sources give here"
          + (", with tools of other versions" if others else ""))
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
