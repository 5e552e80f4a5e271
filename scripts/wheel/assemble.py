#!/usr/bin/env python3
"""Puts a wheel together from a portable build (scripts/wheel/build.sh):

    scripts/wheel/assemble.py --build FOLDER --prefix FOLDER --duckdb FOLDER --platform TAG \\
      --output FOLDER

It has the modules of python/leat, libleat.so and the command from the build, DuckDB's library, and
the licences of all that is inside: those of the libraries are in PREFIX/licences. The metadata is
that of python/pyproject.toml. The same files give the same bytes: entries are sorted and have the
time SOURCE_DATE_EPOCH.
"""
from __future__ import annotations

import argparse
import base64
import hashlib
import os
import re
import time
import tomllib
import zipfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(TOP, "scripts", "wheel")


def read(*path: str) -> bytes:
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def version() -> str:
    header = read(TOP, "include", "leat", "base.h").decode()
    return ".".join(re.findall(r"^#define LEAT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header,
                               re.MULTILINE))


def modules() -> dict[str, bytes]:
    """The package's own files, by their names in the wheel."""
    found = {}
    for folder, _, files in os.walk(os.path.join(TOP, "python", "leat")):
        for file in files:
            if file.endswith(".py") or file == "py.typed":
                path = os.path.join(folder, file)
                found[os.path.relpath(path, os.path.join(TOP, "python"))] = read(path)
    return found


def components() -> list[list[str]]:
    """Lines of sources.txt: name, package, SHA-256, SPDX licence, files with its text."""
    lines = read(HERE, "sources.txt").decode().splitlines()
    return [line.split() for line in lines if line and not line.startswith("#")]


def licences(prefix: str, duckdb: str) -> dict[str, bytes]:
    """Texts of the licences, by their names below licenses/."""
    found = {"LICENSE": read(TOP, "LICENSE"),
             "duckdb/LICENSE": read(duckdb, "LICENSE")}
    for name in [name for name, *_ in components()] + ["llvm", "zig"]:
        folder = os.path.join(prefix, "licences", name)
        files = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        if not files:
            raise SystemExit(f"assemble: {folder} has no licence")
        found |= {f"{name}/{file}": read(folder, file) for file in files}
    return found


def expression(own: str) -> str:
    """The licences of all that is inside, as an SPDX expression."""
    others = {"Apache-2.0 WITH LLVM-exception", "MIT"}  # libc++; zig and DuckDB
    for _, _, _, names, _ in components():
        others |= set(names.split(","))
    return " AND ".join([own, *sorted(others - {own})])


def metadata(texts: dict[str, bytes]) -> bytes:
    with open(os.path.join(TOP, "python", "pyproject.toml"), "rb") as file:
        project = tomllib.load(file)["project"]
    lines = ["Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {version()}",
             f"Summary: {project['description']}",
             f"License-Expression: {expression(project['license'])}",
             *(f"License-File: {name}" for name in sorted(texts)),
             *(f"Classifier: {text}" for text in project["classifiers"]),
             f"Requires-Python: {project['requires-python']}",
             *(f"Requires-Dist: {need}" for need in project["dependencies"])]
    for extra, needs in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}",
                  *(f"Requires-Dist: {need}; extra == \"{extra}\"" for need in needs)]
    lines += ["Description-Content-Type: text/markdown", "",
              read(TOP, "python", project["readme"]).decode()]
    return "\n".join(lines).encode()


def entry_points() -> bytes:
    with open(os.path.join(TOP, "python", "pyproject.toml"), "rb") as file:
        scripts = tomllib.load(file)["project"]["scripts"]
    return "".join(["[console_scripts]\n", *(f"{name} = {at}\n" for name, at in scripts.items())
                    ]).encode()


def digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def write(path: str, files: dict[str, bytes], programs: set[str]) -> None:
    """A zip archive whose bytes depend on the files alone."""
    moment = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]  # from 1980
    with zipfile.ZipFile(path + ".new", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix: pip takes the mode from the next line
            entry.external_attr = (0o100755 if name in programs else 0o100644) << 16
            archive.writestr(entry, content)
    os.replace(path + ".new", path)


def main() -> None:
    parser = argparse.ArgumentParser(description="Puts a wheel together.")
    for name in ("build", "prefix", "duckdb", "platform", "output"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    info = f"leat-{version()}.dist-info"
    texts = licences(options.prefix, options.duckdb)
    binaries = {"leat/leat": read(options.build, "leat"),
                "leat/libleat.so": read(options.build, "libleat.so"),
                "leat/libduckdb.so": read(options.duckdb, "libduckdb.so")}
    files = dict(sorted((modules() | binaries).items()))
    files |= {f"{info}/licenses/{name}": texts[name] for name in sorted(texts)}
    files[f"{info}/METADATA"] = metadata(texts)
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: leat {version()}\n"
                              f"Root-Is-Purelib: false\nTag: py3-none-{options.platform}\n"
                              ).encode()
    files[f"{info}/entry_points.txt"] = entry_points()
    record = "".join(f"{name},sha256={digest(content)},{len(content)}\n"
                     for name, content in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    os.makedirs(options.output, exist_ok=True)
    path = os.path.join(options.output, f"leat-{version()}-py3-none-{options.platform}.whl")
    write(path, files, set(binaries))
    print(f"wheel: {path}: {os.path.getsize(path)} bytes, "
          f"SHA-256 {hashlib.sha256(read(path)).hexdigest()}")


if __name__ == "__main__":
    main()
