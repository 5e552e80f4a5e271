"""What the tests of the Python package share: data sets made by the command, and the package."""
import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tests", "cli"))
import command  # noqa: E402
import golden_files  # noqa: E402, F401
import image_set  # noqa: E402
from command import BUILD, LEAT, LIMIT  # noqa: E402, F401

SKIPPED = 77


def need(*modules, environment="train"):
    """Ends the program as skipped where one of these cannot be imported."""
    for name in modules:
        try:
            __import__(name)
        except ImportError as problem:
            print(f"skipped: {problem} (scripts/python-env.sh {environment} makes the "
                  "environment)")
            sys.exit(SKIPPED)


def wait_until(condition):
    """Whether it holds before the limit."""
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def run(*words):
    """The command's output."""
    return command.leat(*words, status=0).stdout


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


def can_cache(*options, frames=40000, vehicles=2, seed=5):
    """The path of a cache of synthetic vehicles' graphs, made once."""
    name = f"can-{frames}-{vehicles}-{seed}"
    path = os.path.join(folder(), f"{name}-cache" + "".join(options))
    if not os.path.exists(path):
        logs = os.path.join(folder(), name)
        if not os.path.exists(logs):
            run("synth", "can", "--frames", str(frames), "--vehicles", str(vehicles), "--seed",
                str(seed), "-o", logs)
        run("ingest", "can", logs, "-o", path, *options)
    return path


def image_data(count=70, size=16):
    """The path of a data set of known images (tests/cli/image_set.py), made once."""
    path = os.path.join(folder(), f"images-{count}-{size}")
    if not os.path.exists(path):
        image_set.make(path, count, size)
    return path


def three_states():
    """The path of a cache with attack, benign and unlabelled graphs: 20 windows of a log with an
    attack in 3 of them, and 20 of one without labels; made once."""
    path = os.path.join(folder(), "three-states")
    if not os.path.exists(path):
        logs = os.path.join(folder(), "three-states-logs")
        os.makedirs(logs)
        with open(os.path.join(logs, "dos.csv"), "w", encoding="ascii") as dos, \
                open(os.path.join(logs, "drive.log"), "w", encoding="ascii") as drive:
            dos.write("timestamp,arbitration_id,data_field,attack\n")
            for i in range(400):
                name, data = f"{0x100 + i * i % 13:03X}", f"{i * 2654435761 % 2 ** 64:016X}"
                dos.write(f"{1000 + i / 1000:.6f},{name},{data},{int(110 <= i < 150)}\n")
                drive.write(f"({2000 + i / 1000:.6f}) can0 {name}#{data}\n")
        run("ingest", "can", logs, "-o", path, "--window", "20", "--stride", "20",
            "--val-fraction", "0")
    return path


# For programs that compute with JAX or PyTorch beside other tests.
ONE_THREAD = {"JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "1"}


def run_example(name, *words):
    """What a program of examples/python prints, run in an empty folder."""
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(
            [sys.executable, os.path.join(ROOT, "examples", "python", name), *words], cwd=place,
            capture_output=True, text=True, timeout=300, check=False,
            env={**os.environ, **ONE_THREAD})
        if done.returncode != 0 or os.listdir(place):
            raise AssertionError(f"{name}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout


def cat(path):
    """All measurements of a data set as `leat cat` tells them: one list of dicts a row."""
    rows = []
    for line in run("cat", path, "-f", "ndjson").splitlines():
        rows.append(json.loads(line))
    return rows
