"""What the benchmarks share: starting a side of a comparison, running sides in turn, printing.

A benchmark compares sides. Each sample of a side is a fresh process that prints one JSON object;
the sides run in turn (A B C A B C ...), so that a slow minute of the machine affects all of them.
Rounds of warm-up come first and are not counted: in a virtual machine the first access to
memory that the host has reclaimed is slow, and the input must be in the page cache for every side.
The median is reported and, in brackets, the smallest and the largest sample; ratios are computed
within a round, and their median is reported. No timing is a failure.

This file uses the standard library only and stays small: ru_maxrss of a child that is forked from a
large process is that process's size.
"""
import argparse
import json
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RIVALS = os.path.join(HOME, "bench", "rivals")
MIB = 1 << 20


class Missing(Exception):
    """Something that a benchmark needs is missing."""


# ---- command line ---------------------------------------------------------------------------

def parser(doc, sizes):
    """The options of every benchmark; sizes: name -> (number, number with --quick, help)."""
    head, _, rest = doc.partition("\n")
    made = argparse.ArgumentParser(description=head, epilog=rest.strip(),
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, (full, quick, words) in sizes.items():
        made.add_argument("--" + name.replace("_", "-"), type=int, metavar="N",
                          help=f"{words} (default: {full}; with --quick {quick})")
    made.add_argument("--quick", action="store_true",
                      help="tiny sizes, only to show that it runs")
    made.add_argument("--build", default=os.path.join(HOME, "build"), help="leat's build folder")
    made.add_argument("--work", help="for inputs, which are kept, and outputs, which are removed "
                      "(default: build/bench)")
    made.add_argument("--json", help="file for the samples (default: WORK/NAME.json)")
    return made


def parse(made, sizes):
    options = made.parse_args()
    for name, (full, quick, _) in sizes.items():
        if getattr(options, name) is None:
            setattr(options, name, quick if options.quick else full)
        if getattr(options, name) < (0 if name == "warmup" else 1):
            made.error(f"--{name.replace('_', '-')}: at least {0 if name == 'warmup' else 1}")
    options.build = os.path.abspath(options.build)
    options.work = os.path.abspath(options.work or os.path.join(HOME, "build", "bench"))
    os.makedirs(options.work, exist_ok=True)
    return options


def add_memory(made, words="of an ingest"):
    """The option --memory, a text for mib_of."""
    made.add_argument("--memory", type=size_text, default="512M",
                      help=f"{words}, as 512M or 2G (default: 512M)")


def size_text(text):
    if text[-1:] not in ("M", "G") or not text[:-1].isdecimal():
        raise argparse.ArgumentTypeError("a number of MiB or GiB, as 512M or 2G")
    return text


def mib_of(size):
    """512M or 2G in MiB."""
    return int(size[:-1]) << (0 if size.endswith("M") else 10)


def program(options, name):
    path = os.path.join(options.build, name)
    if not os.access(path, os.X_OK):
        raise Missing(f"{path} is not there: run make all")
    return path


def rival_python():
    """The interpreter that has the rivals' packages, or None."""
    path = os.path.join(HOME, ".deps", "venv", "bin", "python3")
    return path if os.access(path, os.X_OK) else None


def rival(name, *arguments):
    return [rival_python(), os.path.join(RIVALS, name), *map(str, arguments)]


# ---- one sample -----------------------------------------------------------------------------

def run(command, text=""):
    """Runs a command to its end. Returns its JSON and the process's wall, user, sys, rss,
    read_bytes (from the disk).

    `rss` is ru_maxrss as the kernel tells it to wait4; a side that starts processes of its own
    tells its memory itself.
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out:
        given.write(text.encode())
        given.seek(0)
        begin = time.monotonic()
        process = subprocess.Popen(command, stdin=given, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        answer = out.read().decode()
    if process.returncode != 0:
        raise RuntimeError(f"status {process.returncode}: {shlex.join(command)}")
    sample = json.loads(answer)
    sample.update(wall=wall, user=usage.ru_utime, sys=usage.ru_stime, rss=usage.ru_maxrss * 1024,
                  read_bytes=usage.ru_inblock * 512)
    return sample


def quiet(command):
    """For creating inputs: output is shown only if it fails."""
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        raise RuntimeError(f"status {done.returncode}: {shlex.join(command)}")


def made_once(path, make):
    """Calls make(temporary path) unless path exists, and renames the result to path."""
    if not os.path.exists(path):
        base, ending = os.path.splitext(path)
        part = f"{base}.part{ending}"
        remove(part)
        print(f"making {os.path.relpath(path)}", file=sys.stderr)
        make(part)
        os.rename(part, path)
    return path


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.remove(path)


def has_package(name):
    """Whether the rivals' interpreter has a package."""
    python = rival_python()
    if python is None:
        return False
    library = os.path.join(os.path.dirname(os.path.dirname(python)), "lib")
    return any(os.path.isdir(os.path.join(library, version, "site-packages", name))
               for version in os.listdir(library))


def files_of(path):
    """A file, or all files of a folder."""
    return [path] if os.path.isfile(path) else sorted(
        os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)


def read_through(path):
    """Brings a file, or all files of a folder, into the page cache."""
    for each in files_of(path):
        with open(each, "rb", buffering=0) as file:
            while file.read(4 * MIB):
                pass


def drop(path):
    """Empties the page cache of a file, or of all files of a folder."""
    for each in files_of(path):
        with open(each, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def rounds(sides, runs, warmup, kept=None):
    """sides: (name, function of the round's number that returns a sample). name -> samples.

    Every other round goes through the sides backwards: what one leaves behind, such as full caches
    and freed pages, is in the way of the next one, and must not always meet the same side.

    kept: a file that gets a line for each sample as soon as it is taken; it is emptied first. For
    rounds so long that what went well must outlast what fails after it.
    """
    if kept:
        open(kept, "w", encoding="utf-8").close()
    samples = {name: [] for name, _ in sides}
    for index in range(-warmup, runs):
        for name, take in sides if index % 2 == 0 else sides[::-1]:
            label = f"round {index + 1} of {runs}" if index >= 0 else "warm-up"
            print(f"  {label}: {name}", file=sys.stderr, flush=True)
            os.sync()  # what the side before has left to write is not this one's work
            sample = take(index)
            if index >= 0:
                samples[name].append(sample)
            if kept:
                with open(kept, "a", encoding="utf-8") as file:
                    file.write(json.dumps({"round": index, "side": name, **sample}) + "\n")
    return samples


# ---- numbers --------------------------------------------------------------------------------

class Spread:
    """Median, smallest and largest of some samples, scaled."""

    def __init__(self, values):
        self.values = list(values)
        self.median = statistics.median(self.values)
        self.low, self.high = min(self.values), max(self.values)

    def text(self, unit="", digits=2):
        def one(value):
            return f"{value:,.{digits}f}"
        if len(self.values) == 1 or one(self.low) == one(self.high):
            return f"{one(self.median)}{unit}"
        return f"{one(self.median)}{unit} ({one(self.low)} to {one(self.high)})"


def spread(samples, key, scale=1.0):
    """key: a name in the samples, or a function of a sample."""
    value = key if callable(key) else lambda sample: sample[key]
    return Spread(value(sample) * scale for sample in samples)


def ratio(above, below):
    """The ratio of two spreads of the same rounds, round by round."""
    return Spread(a / b for a, b in zip(above.values, below.values, strict=True))


# ---- reports --------------------------------------------------------------------------------

def cpu_model():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith(("model name", "Model")):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def memory_bytes():
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def disk(path):
    """Device and file system that hold path."""
    path, best = os.path.realpath(path), ("?", "", "?")
    with open("/proc/mounts", encoding="utf-8") as file:
        for line in file:
            device, point, kind = line.split()[:3]
            inside = path == point or path.startswith(point.rstrip("/") + "/")
            if inside and len(point) >= len(best[1]):
                best = (device, point, kind)
    return f"{best[0]} ({best[2]})"


def machine(work):
    return {"cpu": cpu_model(), "cores": len(os.sched_getaffinity(0)),
            "memory_bytes": memory_bytes(), "disk": disk(work),
            "kernel": f"{platform.system()} {platform.release()}",
            "load_before": os.getloadavg()[0]}


def versions(options):
    """Versions of leat, its compiler, and the rivals' packages."""
    answer = subprocess.run([program(options, "leat"), "version", "--json"], capture_output=True,
                            text=True, check=True)
    told = json.loads(answer.stdout)
    found = {"leat": told["version"]}
    for item in told.get("build", []):
        if item["group"] == "compiler":
            found[item["name"]] = item["value"]
    git = subprocess.run(["git", "-C", HOME, "describe", "--always", "--dirty"],
                         capture_output=True, text=True, check=False)
    if git.returncode == 0:
        found["commit"] = git.stdout.strip()
    python = rival_python()
    if python:
        code = ("import json, platform\nfrom importlib.metadata import version\n"
                "names = 'duckdb', 'pyarrow', 'array_record', 'numpy', 'pillow', 'polars'\n"
                "found = {name: version(name) for name in names}\n"
                "print(json.dumps({'python': platform.python_version(), **found}))")
        answer = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
        found.update(json.loads(answer.stdout))
    return found


class Report:
    """A table of claims, printed as Markdown, and all of its samples, written as JSON."""

    COLUMNS = ("what", "leat", "rival", "ratio", "goal", "met?")

    def __init__(self, name, options):
        self.name, self.options = name, options
        self.machine, self.versions = machine(options.work), versions(options)
        self.rows, self.notes, self.samples = [], [], {}

    def row(self, what, leat, rival_="", ratio_="", goal="", met=None):
        """met: True, False, or None if there is no goal or it could not be measured."""
        judged = met is not None and not self.options.quick
        self.rows.append((what, leat, rival_, ratio_, goal,
                          ("yes" if met else "**no**") if judged else ""))

    def note(self, text):
        self.notes.append(text)

    def sampling(self):
        """How the samples were taken, and what the table has of them."""
        return (f"counted rounds, all sides in turn: {self.options.runs}; of warm-up before them: "
                f"{self.options.warmup}; median (smallest to largest)")

    def print(self):
        script = f"bench/{os.path.basename(sys.argv[0])}"
        here, seen = self.machine, self.versions
        lines = [f"### {self.name}", "",
                 f"* machine: {here['cpu']}, {here['cores']} cores, "
                 f"{here['memory_bytes'] / (1 << 30):.1f} GiB, disk {here['disk']}, "
                 f"{here['kernel']}; load before: {here['load_before']:.2f}",
                 "* versions: " + ", ".join(f"{key} {value}" for key, value in seen.items()),
                 f"* command: `{shlex.join([script, *sys.argv[1:]])}`",
                 f"* {self.sampling()}"]
        lines += [f"* {note}" for note in self.notes]
        if self.options.quick:
            lines += ["* --quick: too small to measure anything; no goal is judged"]
        if self.rows:
            lines += ["", "| " + " | ".join(self.COLUMNS) + " |", "|" + "---|" * len(self.COLUMNS)]
            lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        print("\n".join(lines) + "\n", flush=True)

    def save(self):
        path = self.options.json or os.path.join(self.options.work, f"{self.name}.json")
        kept = {"name": self.name, "command": sys.argv, "machine": self.machine,
                "versions": self.versions, "runs": self.options.runs,
                "warmup": self.options.warmup, "notes": self.notes,
                "table": [dict(zip(self.COLUMNS, row, strict=True)) for row in self.rows],
                "samples": self.samples}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(kept, file, indent=1)
            file.write("\n")


def main(body):
    """Runs a benchmark; if something is missing, prints one line and exits with status 1."""
    try:
        body()
    except Missing as missing:
        print(f"bench: {missing}", file=sys.stderr)
        sys.exit(1)
