#!/usr/bin/env python3
"""Writes the documents of a release (scripts/release/build.sh) beside its archive and wheels:

    scripts/release/documents.py --commit COMMIT FOLDER

* leat-VERSION.cdx.json, an SBOM in CycloneDX 1.6: every file, what is linked into it, with version,
  licence and hash of its source, and in `formulation` the tools of the build with their versions.
  What is in a wheel is known from the licences that it has; what it is comes from
  scripts/wheel/sources.txt, scripts/requirements/wheel.txt and scripts/install.sh.
* leat-VERSION-notes.md: the section of CHANGELOG.md, hashes, and the same versions.
* SHA256SUMS of all files.

The same files and tools give the same bytes: the time is SOURCE_DATE_EPOCH. Run it with the Python
of the wheel's tools, in the sources that were built.
"""
from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import time
import uuid
import zipfile
import zlib
from typing import Any

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "scripts", "wheel"))
import assemble  # noqa: E402  pylint: disable=wrong-import-position

Json = dict[str, Any]
SUMS = "SHA256SUMS"
POOL = "https://deb.debian.org/debian/pool/main"
# What the build runs, and how each says its version. Different versions may give different bytes.
TOOLS = {"bison": ["bison", "--version"], "cmake": ["cmake", "--version"],
         "dpkg-source": ["dpkg-source", "--version"], "flex": ["flex", "--version"],
         "git": ["git", "--version"], "gzip": ["gzip", "--version"], "make": ["make", "--version"],
         "nasm": ["nasm", "-v"], "ninja": ["ninja", "--version"],
         "perl": ["perl", "-e", "printf '%vd', $^V"]}


def text_of(*path: str) -> str:
    with open(os.path.join(TOP, *path), encoding="utf-8") as file:
        return file.read()


def sha256(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_of(folder: str) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name != SUMS)


def only(pattern: str, text: str, where: str) -> tuple[str, ...]:
    """The groups of the only match."""
    found = re.findall(pattern, text)
    if len(found) != 1:
        raise SystemExit(f"documents: {where}: {len(found)} matches of {pattern}, not one")
    return tuple(found[0])


# ---- tools ----

def printed(words: list[str]) -> str | None:
    """The first version in what a command prints, None where it is not installed."""
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    found = re.search(r"\d+(\.\d+)+[\w.+~-]*", done.stdout)
    return found[0].rstrip(".") if found else None


def system() -> tuple[str, str]:
    """(name, version) of the distribution."""
    release = platform.freedesktop_os_release()
    version = release.get("VERSION_ID", "unknown")
    if release["ID"] == "debian" and os.path.exists("/etc/debian_version"):  # "12.5", not "12"
        with open("/etc/debian_version", encoding="utf-8") as file:
            version = file.read().strip()
    return release["ID"], version


def tools() -> dict[str, str]:
    """Versions of what is not pinned by the sources. A tool that is not installed was not used."""
    found = {name: version for name, words in TOOLS.items()
             if (version := printed(words)) is not None}
    found["python"] = platform.python_version()
    found["zlib of python"] = zlib.ZLIB_RUNTIME_VERSION  # which compresses the wheels
    name, version = system()
    return dict(sorted((found | {name: version}).items()))


# ---- what is linked in ----

def of_debian(package: str, sha: str, licences: str) -> Json:
    """The component of a source package of Debian: PACKAGE=VERSION, SHA-256 of its .dsc."""
    source, version = package.split("=")
    folder = source[:4] if source.startswith("lib") else source[0]
    file = f"{source}_{version.partition(':')[2] or version}.dsc"
    return {"version": version, "licenses": [{"expression": licences.replace(",", " AND ")}],
            "purl": f"pkg:deb/debian/{source}@{version.replace('+', '%2B')}?arch=source",
            "externalReferences": [
                {"type": "source-distribution", "url": f"{POOL}/{folder}/{source}/{file}",
                 "comment": "the .dsc, which has the SHA-256 of the source archives",
                 "hashes": [{"alg": "SHA-256", "content": sha}]}]}


def of_duckdb(cpu: str) -> Json:
    package, version, sha = only(
        rf"duckdb_package=(@duckdb/node-bindings-linux-{cpu})@(\S+)\n"
        r"\s*duckdb_sha512=([0-9a-f]{128})",
        text_of("scripts", "install.sh"), "scripts/install.sh")
    url = f"https://www.npmjs.com/package/{package}/v/{version}"
    return {"version": version, "licenses": [{"expression": "MIT"}],
            "purl": f"pkg:npm/{package.replace('@', '%40')}@{version}",
            "externalReferences": [{"type": "distribution", "url": url, "comment":
                                    "the library is taken from this package, not compiled",
                                    "hashes": [{"alg": "SHA-512", "content": sha}]}]}


def of_zig(licence: str, what: str) -> Json:
    version, sha = only(r"(?m)^ziglang==(\S+) \\\n\s*--hash=sha256:([0-9a-f]{64})",
                        text_of("scripts", "requirements", "wheel.txt"),
                        "scripts/requirements/wheel.txt")
    return {"version": version, "description": what, "licenses": [{"expression": licence}],
            "purl": f"pkg:pypi/ziglang@{version}",
            "externalReferences": [
                {"type": "distribution", "url": f"https://pypi.org/project/ziglang/{version}/",
                 "hashes": [{"alg": "SHA-256", "content": sha}]}]}


def libraries() -> dict[str, Json]:
    """Components by the names of their licences' folders in a wheel; DuckDB's library of arm64 is
    another file, from another package."""
    found = {"duckdb": of_duckdb("x64"), "duckdb-aarch64": of_duckdb("arm64"),
             "llvm": of_zig("Apache-2.0 WITH LLVM-exception",
                            "libc++ and libc++abi of LLVM, as ziglang has them"),
             "zig": of_zig("MIT", "compiler-rt of zig")}
    for name, package, sha, licences, *_ in assemble.components():
        found[name] = of_debian(package, sha, licences)
    return {name: {"type": "library", "bom-ref": name, "name": name, **found[name]}
            for name in sorted(found)}


def inside(wheel: str) -> tuple[set[str], set[str]]:
    """What is linked into a wheel, and the SHA-256 of its files."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        linked = {found[1] for name in names
                  if (found := re.fullmatch(r"[^/]+\.dist-info/licenses/([^/]+)/.+", name))}
        if "duckdb" in linked and wheel.endswith("_aarch64.whl"):
            linked = linked - {"duckdb"} | {"duckdb-aarch64"}
        return linked, {hashlib.sha256(archive.read(name)).hexdigest() for name in names}


def linked_into(folder: str, files: list[str]) -> dict[str, set[str]]:
    """What is linked into each file; a program by itself must be one of a wheel."""
    wheels = {file: inside(os.path.join(folder, file)) for file in files if file.endswith(".whl")}
    found = {file: linked for file, (linked, _) in wheels.items()}
    for file in set(files) - set(wheels):
        if file.endswith(".tar.gz"):
            continue
        sha = sha256(os.path.join(folder, file))
        found[file] = next((linked for linked, hashes in wheels.values() if sha in hashes), set())
        if not found[file]:
            raise SystemExit(f"documents: {file}: not a file of a wheel: what is linked into it is "
                             "not known")
    known = set(libraries())
    for file, linked in found.items():
        if linked - known or not linked:
            raise SystemExit(f"documents: {file}: has licences of {sorted(linked) or 'nothing'}; "
                             f"known are {sorted(known)}")
    return found


def formulation(built_with: dict[str, str]) -> list[Json]:
    return [{"bom-ref": "build", "components": [
        {"type": "application", "name": name, "version": version}
        for name, version in built_with.items()]}]


def numbered(document: Json) -> Json:
    """The document with a serial number, which is a hash of the rest."""
    content = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    return document | {"serialNumber": uuid.uuid5(uuid.NAMESPACE_URL, content).urn}


def text_of_sbom(document: Json) -> str:
    return json.dumps(document, indent=2) + "\n"


def parsed(text: bytes) -> Any:
    return json.loads(text)


def sbom_with(text: bytes, built_with: dict[str, str]) -> bytes:
    """The SBOM `text` as it would be if it had been made with these tools."""
    document = parsed(text) | {"formulation": formulation(built_with)}
    del document["serialNumber"]
    return text_of_sbom(numbered(document)).encode()


def sbom(folder: str, commit: str, epoch: int, built_with: dict[str, str]) -> Json:
    files = files_of(folder)
    version = assemble.version()
    linked = linked_into(folder, files)
    used = set().union(*linked.values())
    leat = {"type": "application", "bom-ref": "leat", "name": "leat", "version": version,
            "licenses": [{"expression": "Apache-2.0"}], "purl": f"pkg:generic/leat@{version}",
            "pedigree": {"commits": [{"uid": commit}]}}
    parts = [{"type": "file", "bom-ref": file, "name": file,
              "hashes": [{"alg": "SHA-256", "content": sha256(os.path.join(folder, file))}]}
             for file in files]
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX",
        "specVersion": "1.6", "version": 1,
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
                     "lifecycles": [{"phase": "build"}], "component": leat},
        "components": parts + [part for name, part in libraries().items() if name in used],
        "dependencies": [{"ref": "leat", "dependsOn": files},
                         *({"ref": file, "dependsOn": sorted(linked[file])}
                           for file in sorted(linked))],
        "formulation": formulation(built_with)}
    return numbered(document)


# ---- notes ----

BUILT_WITH = "\n## Built with\n\n"


def list_of(built_with: dict[str, str]) -> str:
    return "".join(f"* {name} {version}\n" for name, version in built_with.items())


def notes_with(text: bytes, built_with: dict[str, str]) -> bytes:
    """The notes `text` as they would be if these tools had been used."""
    before, heading, _ = text.decode().rpartition(BUILT_WITH)
    return (before + heading + list_of(built_with)).encode()


def section(text: str, version: str) -> str:
    """CHANGELOG's text on a version, with its heading."""
    found = re.search(rf"^## {re.escape(version)}\b.*?(?=^## |\Z)", text,
                      re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit(f"documents: CHANGELOG.md has no section ## {version}")
    return found[0].strip()


def notes(folder: str, commit: str, epoch: int, built_with: dict[str, str]) -> str:
    version = assemble.version()
    heading, _, body = section(text_of("CHANGELOG.md"), version).partition("\n")
    moment = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(epoch))
    rows = [f"| {file} | {os.path.getsize(os.path.join(folder, file)):,} | "
            f"`{sha256(os.path.join(folder, file))}` |" for file in files_of(folder)]
    return "\n".join([
        f"# leat {heading.removeprefix('## ')}", "", f"Commit {commit}, {moment}. Links lead to "
        f"files of the source archive, leat-{version}.tar.gz.", "", body.strip(), "",
        "## Files", "", "| file | bytes | SHA-256 |", "|---|---|---|", *rows, "",
        f"leat-{version}.cdx.json lists what is linked in, with versions, licences and hashes of "
        "the sources.", "`scripts/release/verify.sh FOLDER`, in a clone, builds these files again "
        "and compares them; docs/release.md describes it.", ""]) + BUILT_WITH + list_of(built_with)


def write(folder: str, commit: str, epoch: int) -> None:
    version, built_with = assemble.version(), tools()
    document = text_of_sbom(sbom(folder, commit, epoch, built_with))
    texts = {f"leat-{version}.cdx.json": document,
             f"leat-{version}-notes.md": notes(folder, commit, epoch, built_with)}
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    with open(os.path.join(folder, SUMS), "w", encoding="utf-8") as file:
        for name in files_of(folder):
            file.write(f"{sha256(os.path.join(folder, name))}  {name}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the documents of a release.")
    parser.add_argument("--commit", required=True)
    parser.add_argument("folder")
    options = parser.parse_args()
    write(options.folder, options.commit, int(os.environ["SOURCE_DATE_EPOCH"]))


if __name__ == "__main__":
    main()
