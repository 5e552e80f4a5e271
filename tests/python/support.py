"""What the tests of the Python package share: data sets made by the command, and the package."""
import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("LEAT_BUILD", os.path.join(ROOT, "build"))
LEAT = os.environ.get("LEAT", os.path.join(BUILD, "leat"))
SKIPPED = 77


def need(*modules):
    """Ends the program as skipped where one of these cannot be imported."""
    for name in modules:
        try:
            __import__(name)
        except ImportError as problem:
            print(f"skipped: {problem} (scripts/python-env.sh train makes the environment)")
            sys.exit(SKIPPED)


def run(*words):
    """The command's output."""
    return subprocess.run([LEAT, *words], check=True, capture_output=True, text=True,
                          timeout=300).stdout


_folder = None


def folder():
    """A folder that goes away with the program."""
    global _folder
    if _folder is None:
        _folder = tempfile.mkdtemp(prefix="leat-python-")
        atexit.register(shutil.rmtree, _folder, ignore_errors=True)
    return _folder


def dataset(*options, count=20000, probes=400, seed=3):
    """The path of a data set made of synthetic measurements, and made once."""
    name = f"{count}-{probes}-{seed}" + "".join(options).replace("/", "_")
    path = os.path.join(folder(), name)
    if not os.path.exists(path):
        csv = os.path.join(folder(), f"{count}-{probes}-{seed}.csv")
        if not os.path.exists(csv):
            run("synth", "probes", "-n", str(count), "-p", str(probes), "--seed", str(seed),
                "-o", csv)
        run("ingest", "probes", csv, "-o", path, *options)
    return path


def cat(path):
    """All measurements of a data set as `leat cat` tells them: one list of dicts a row."""
    rows = []
    for line in run("cat", path, "-f", "ndjson").splitlines():
        rows.append(json.loads(line))
    return rows
