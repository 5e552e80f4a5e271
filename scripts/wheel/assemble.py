#!/usr/bin/env python3
"""Puts the wheels of leat and of leat-worker together from a portable build (build.sh):

    scripts/wheel/assemble.py --build FOLDER --prefix FOLDER --duckdb FOLDER --platform TAG \\
      --output FOLDER

leat's has the modules of python/leat, libleat.so and the command from the build, the libraries of
DuckDB and libmicrohttpd, which they open, and the licences of all that is inside: those of the
libraries are in PREFIX/licences. The metadata
is that of python/pyproject.toml. That of leat-worker has this program, which pip puts beside
Python, and the licences of the libraries, of which it may have less inside. The same files give
the same bytes: entries are sorted and have the time SOURCE_DATE_EPOCH.
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
from typing import Any

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(TOP, "scripts", "wheel")
MICROHTTPD = "libmicrohttpd.so.12"  # as src/dash/http.c opens it


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


NOT_IN_WORKER = {"microhttpd"}


def components(worker: bool = False) -> list[list[str]]:
    """Lines of sources.txt, those of leat-worker alone or all: name, package, SHA-256, SPDX
    licence, files with its text."""
    lines = read(HERE, "sources.txt").decode().splitlines()
    found = [line.split() for line in lines if line and not line.startswith("#")]
    return [line for line in found if not worker or line[0] not in NOT_IN_WORKER]


def licences(prefix: str, worker: bool) -> dict[str, bytes]:
    """Texts of the licences of a wheel's parts, by their names below licenses/."""
    found = {"LICENSE": read(TOP, "LICENSE")}
    for name in [name for name, *_ in components(worker)] + ["llvm", "zig"]:
        folder = os.path.join(prefix, "licences", name)
        files = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        if not files:
            raise SystemExit(f"assemble: {folder} has no licence")
        found |= {f"{name}/{file}": read(folder, file) for file in files}
    return found


def expression(own: str, worker: bool) -> str:
    """The licences of all that is inside, as an SPDX expression."""
    others = {"Apache-2.0 WITH LLVM-exception", "MIT"}  # libc++; zig and DuckDB
    for _, _, _, names, _ in components(worker):
        others |= set(names.split(","))
    return " AND ".join([own, *sorted(others - {own})])


def project_of_leat() -> dict[str, Any]:
    with open(os.path.join(TOP, "python", "pyproject.toml"), "rb") as file:
        project: dict[str, Any] = tomllib.load(file)["project"]
    return project | {"text": read(TOP, "python", project["readme"]).decode()}


def project_of_worker() -> dict[str, Any]:
    return project_of_leat() | {
        "name": "leat-worker",
        "description": "Lends this machine to a training run of leat",
        "dependencies": [], "optional-dependencies": {},
        "text": "`leat-worker URL` computes units of a training run that `leat coordinate` "
                "manages, until the run is finished; it is `leat work` as a program of its own, "
                "without the rest of leat. `leat-worker --help` describes it.\n"}


def metadata(project: dict[str, Any], texts: dict[str, bytes]) -> bytes:
    lines = ["Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {version()}",
             f"Summary: {project['description']}",
             "License-Expression: "
             f"{expression(project['license'], project['name'] == 'leat-worker')}",
             *(f"License-File: {name}" for name in sorted(texts)),
             *(f"Classifier: {text}" for text in project["classifiers"]),
             f"Requires-Python: {project['requires-python']}",
             *(f"Requires-Dist: {need}" for need in project["dependencies"])]
    for extra, needs in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}",
                  *(f"Requires-Dist: {need}; extra == \"{extra}\"" for need in needs)]
    lines += ["Description-Content-Type: text/markdown", "",
              project["text"]]
    return "\n".join(lines).encode()


def entry_points() -> bytes:
    scripts = project_of_leat()["scripts"]
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


def assemble(options: argparse.Namespace, project: dict[str, Any], files: dict[str, bytes],
             programs: set[str], texts: dict[str, bytes], info: dict[str, bytes]) -> None:
    """Writes a wheel: files, then, in its folder *.dist-info, licences, metadata and `info`."""
    name = f"{project['name'].replace('-', '_')}-{version()}"
    entries = {f"licenses/{file}": texts[file] for file in sorted(texts)}
    entries["METADATA"] = metadata(project, texts)
    entries["WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: leat {version()}\n"
                        f"Root-Is-Purelib: false\nTag: py3-none-{options.platform}\n").encode()
    entries |= info
    files = dict(sorted(files.items())) | {f"{name}.dist-info/{file}": content
                                           for file, content in entries.items()}
    record = "".join(f"{file},sha256={digest(content)},{len(content)}\n"
                     for file, content in files.items())
    files[f"{name}.dist-info/RECORD"] = f"{record}{name}.dist-info/RECORD,,\n".encode()
    path = os.path.join(options.output, f"{name}-py3-none-{options.platform}.whl")
    write(path, files, programs)
    print(f"wheel: {path}: {os.path.getsize(path)} bytes, "
          f"SHA-256 {hashlib.sha256(read(path)).hexdigest()}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Puts the wheels together.")
    for name in ("build", "prefix", "duckdb", "platform", "output"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    binaries = {"leat/leat": read(options.build, "leat"),
                "leat/libleat.so": read(options.build, "libleat.so"),
                "leat/libduckdb.so": read(options.duckdb, "libduckdb.so"),
                f"leat/{MICROHTTPD}": read(options.prefix, "lib", MICROHTTPD)}
    worker = {f"leat_worker-{version()}.data/scripts/leat-worker":
              read(options.build, "leat-worker")}
    os.makedirs(options.output, exist_ok=True)
    assemble(options, project_of_leat(), modules() | binaries, set(binaries),
             licences(options.prefix, False) |
             {"duckdb/LICENSE": read(options.duckdb, "LICENSE")},
             {"entry_points.txt": entry_points()})
    assemble(options, project_of_worker(), worker, set(worker),
             licences(options.prefix, True), {})


if __name__ == "__main__":
    main()
