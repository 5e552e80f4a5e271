"""What detectors of CAN attacks find, beside plain tables: the first part of detect.py.

A record is what one method, trained once, is worth on one test: a dictionary with `method`, `seed`,
`split`, and the numbers of leat eval --json; None is undefined.
"""
import functools
import hashlib
import json
import os
import statistics
import subprocess
import sys

import measure
from measure import Missing, Report, program, run

MODELS = {"vgae": "leat VGAE", "gat": "leat GAT"}
PLAIN = {"mean_abs_z": "mean \\|z\\|", "max_abs_z": "largest \\|z\\|", "frame_count": "frame count",
         "window_duration": "window duration",
         "unknown_identifiers": "unknown identifiers"}
TABLES = {"forest": "isolation forest", "boosting": "gradient boosting, with labels"}
LABELLED = (MODELS["gat"], TABLES["boosting"])  # the others see no label of an attack
NUMBERS = {"auroc": "AUROC", "average_precision": "AP", "recall": "recall",
           "realised_fpr": "FPR", "false_alarms_per_hour": "false alarms an hour"}
DATASETS = ("hcrl_ch", "hcrl_sa", "set_01", "set_02", "set_03", "set_04")
VOCABULARY = ("--vocab", "benign")  # of the matrix: fuzzing sends identifiers of other vehicles
GOAL_GAT, GOAL_VGAE = 0.01, 0.02


class QualityReport(Report):
    """A report with more tables below the first one."""

    def __init__(self, name, options):
        super().__init__(name, options)
        self.tables = []

    def sampling(self):
        options = self.options
        return (f"epochs of a training: {options.epochs}; seeds: {options.seeds}, from 0; mean ± "
                "standard deviation (of n - 1) over seeds")

    def print(self):
        super().print()
        for title, columns, rows in self.tables:
            lines = [f"{title}:", "", "| " + " | ".join(columns) + " |",
                     "|" + "---|" * len(columns)]
            lines += ["| " + " | ".join(row) + " |" for row in rows]
            print("\n".join(lines) + "\n", flush=True)


# ---- inputs -----------------------------------------------------------------------------------

def synthetic(options, seed):
    """The logs of a vehicle."""
    path = os.path.join(options.work, f"vehicle-{seed}-{options.frames}")
    return measure.made_once(path, lambda part: measure.quiet(
        [program(options, "leat"), "synth", "can", "--frames", str(options.frames),
         "--seed", str(seed), "-o", part]))


def ingest(options, logs, *settings):
    """The cache of logs, which is found again if it is there."""
    out = os.path.join(options.work, "detect", "caches")
    os.makedirs(out, exist_ok=True)
    name = os.path.basename(os.path.normpath(logs))
    known = ("--dataset", name) if name in DATASETS else ()
    return run([program(options, "leat"), "ingest", "can", logs, "-o", out, "--quiet", "--json",
                *known, *settings])["cache"]


def default_logs(options):
    if options.quick:
        return synthetic(options, 1)
    if not os.path.isdir(options.v40):
        raise Missing(f"{options.v40} is not there: set LEAT_SHARED, or give --logs or --cache")
    return options.v40


def build_hash(options):
    """Of the command: runs of another build are trained anew."""
    with open(program(options, "leat"), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:8]


# ---- leat -------------------------------------------------------------------------------------

def said(command):
    """Standard output, or RuntimeError with the last line of standard error."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or ["it failed"])[-1])
    return done.stdout


def train(options, model, cache, seed):
    """The folder of a trained run; one that was interrupted is continued."""
    name = f"{os.path.basename(os.path.normpath(cache))}-{options.epochs}-{build_hash(options)}"
    path = os.path.join(options.work, "detect", name, f"{model}-{seed}")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    begun = os.path.exists(os.path.join(path, "config.yaml"))
    print(f"  {MODELS[model]}, seed {seed}{', continued' if begun else ''}", flush=True,
          file=sys.stderr)
    said([program(options, "leat"), "train", model, cache, "-o", path,
          "--epochs", str(options.epochs), "--threads", str(options.threads), "--quiet",
          *(("--resume",) if begun else ("--seed", str(seed)))])
    return path


def trained(options, report, cache):
    """model -> folders of runs; a model that cannot be trained on this cache is left out, by name.
    """
    found = {}
    for model, label in MODELS.items():
        try:
            found[model] = [train(options, model, cache, seed) for seed in range(options.seeds)]
        except RuntimeError as problem:
            report.note(f"left out: {label}, trained on {os.path.basename(cache)}: {problem}")
    return found


def evaluate(options, runs, cache):
    """What leat eval --json says; no intervals, which are over windows, not over seeds."""
    return json.loads(said([program(options, "leat"), "eval", *runs, cache, "--json", "--quiet",
                            "--target-fpr", repr(options.target_fpr), "--replicates", "0",
                            "--threads", str(options.threads)]))


def records_of(evaluation, plain):
    """Records of detectors, and of plain scores if they are wanted."""
    records = []
    for split in evaluation["splits"]:
        for result in split["results"]:
            if "run" not in result and not plain:
                continue
            method = result["method"]
            records.append({"method": MODELS.get(method) or PLAIN.get(method, method),
                            "seed": result.get("run", 0), "split": split["split"],
                            **{name: result.get(name) for name in NUMBERS},
                            "windows": result["windows"], "threshold": result["threshold"],
                            "attack_windows": result["attack_windows"],
                            "false_positives": result["false_positives"]})
    return records


# ---- scikit-learn -----------------------------------------------------------------------------

@functools.cache
def tables_python():
    path = os.path.join(measure.HOME, ".deps", "venv-detect", "bin", "python3")
    return path if os.access(path, os.X_OK) else None


def tables(options, report, what, *arguments):
    """Answers of bench/rivals/detect_tables.py; none, with a note, without scikit-learn."""
    if tables_python() is None:
        missing = "left out: scikit-learn; no .deps/venv-detect (scripts/python-env.sh detect)"
        if missing not in report.notes:
            report.note(missing)
        return []
    sample = run([tables_python(), os.path.join(measure.RIVALS, "detect_tables.py"), what,
                  *map(str, arguments), str(options.threads)])
    version = f"scikit-learn {sample['sklearn']}"
    if version not in report.notes:
        report.note(version)
    return sample["results"]


def judged_tables(options, report, cache, tests):
    found = tables(options, report, "judge", cache, tests, options.target_fpr, options.seeds)
    return [{**record, "method": TABLES.get(record["method"], record["method"])}
            for record in found]


def check_definitions(report, ours, theirs):
    """mean |z| by leat and by the rival must be the same numbers: thresholds, tests, hours, AUROC.
    """
    told = {record["split"]: record for record in ours if record["method"] == PLAIN["mean_abs_z"]}
    largest = 0.0
    for record in theirs:
        if record["method"] != "mean_abs_z":
            continue
        one = told[record["split"]]
        for name in (*NUMBERS, "threshold", "windows", "attack_windows", "false_positives"):
            if (one[name] is None) != (record[name] is None):
                raise RuntimeError(f"{record['split']}: {name} of mean |z| is {one[name]}, and "
                                   f"{record[name]} by the rival")
            if one[name] is not None:
                scale = max(abs(one[name]), 1e-9)
                largest = max(largest, abs(one[name] - record[name]) / scale)
    if largest > 1e-6:
        raise RuntimeError(f"the numbers of mean |z| differ by {largest:.1e}: the methods are not "
                           "judged in the same way")
    if any(record["method"] == "mean_abs_z" for record in theirs):
        report.note("all are judged in the same way: mean |z|, computed by both programs, differs "
                    f"by at most {largest:.0e}")


# ---- tables -----------------------------------------------------------------------------------

def values_of(records, method, split, name):
    return [record[name] for record in records
            if (record["method"], record["split"]) == (method, split)]


def number_text(name, values):
    """Mean, and the deviation if there is one; - if undefined."""
    if not values or None in values:
        return "-"
    scale, digits, unit = {"realised_fpr": (100, 2, " %"),
                           "false_alarms_per_hour": (1, 0, "")}.get(name, (1, 3, ""))
    mean = scale * statistics.fmean(values)
    text = f"{mean:,.{digits}f}"
    if len(set(values)) > 1:
        text += f" ± {scale * statistics.stdev(values):,.{digits}f}"
    return text + unit


def methods_of(records):
    return list(dict.fromkeys(record["method"] for record in records))


def splits_of(records):
    return list(dict.fromkeys(record["split"] for record in records))


def table_of(records, split):
    one = next(record for record in records if record["split"] == split)
    rows = [[method, *(number_text(name, values_of(records, method, split, name))
                       for name in NUMBERS)] for method in methods_of(records)]
    return (f"{split}, {one['windows']} windows, {one['attack_windows']} with an attack",
            ("method", *NUMBERS.values()), rows)


def mean_auroc(records, method, split):
    values = values_of(records, method, split, "auroc")
    return None if not values or None in values else statistics.fmean(values)


def goal_row(report, records, split, model, rivals, margin):
    """One detector beside the best of its rivals, which is named."""
    ours = mean_auroc(records, MODELS[model], split)
    found = {method: mean_auroc(records, method, split) for method in rivals}
    found = {method: value for method, value in found.items() if value is not None}
    if ours is None or not found:
        return
    best = max(found, key=found.get)
    report.row(f"{split}: AUROC of {MODELS[model]}, compared with {best}", f"{ours:.3f}",
               f"{found[best]:.3f}", f"{ours - found[best]:+.3f}", f">= -{margin}",
               ours >= found[best] - margin)


def add_tables(report, records):
    for split in splits_of(records):
        report.tables.append(table_of(records, split))
        without = [method for method in methods_of(records)
                   if method not in LABELLED and method not in MODELS.values()]
        goal_row(report, records, split, "gat", [TABLES["boosting"]], GOAL_GAT)
        goal_row(report, records, split, "vgae", without, GOAL_VGAE)


# ---- one cache --------------------------------------------------------------------------------

def leaking_split(options, logs, fold):
    """The GAT, trained on all logs but a random share of their windows, which test it."""
    folders = [name for name in os.listdir(logs) if name.startswith(("train_", "test_"))]
    cache = ingest(options, logs, *VOCABULARY, "--val-split", "random", "--val-fraction",
                   repr(1 / options.folds), "--seed", str(fold), "--train",
                   "train_*,test_*" if folders else "*")
    run_of = train(options, "gat", cache, fold)
    found = json.loads(said([program(options, "leat"), "eval", run_of, cache, "--split", "val",
                             "--threshold", "f1", "--json", "--quiet", "--replicates", "0",
                             "--threads", str(options.threads)]))
    one = next(result for result in found["splits"][0]["results"] if "run" in result)
    right = one["true_positives"] + one["true_negatives"]
    return {"method": "gat", "seed": fold, "auroc": one.get("auroc"), "f1": one.get("f1"),
            "accuracy": right / one["windows"]}


def leaking_gat(options, report):
    """A split for each fold; none, with a note, where there are no logs to cut anew."""
    if options.cache:
        report.note("left out: random splits of the GAT, which need --logs in place of --cache")
        return []
    logs = options.logs or default_logs(options)
    try:
        return [leaking_split(options, logs, fold) for fold in range(options.folds)]
    except RuntimeError as problem:
        report.note(f"left out: random splits of the GAT: {problem}")
        return []


def add_leaking(options, report, cache):
    found = {
        f"{TABLES['boosting']}, {options.folds} random folds":
            tables(options, report, "leaking", cache, options.folds, options.seeds),
        f"{MODELS['gat']}, {options.folds} random splits of 1 : {options.folds - 1}":
            leaking_gat(options, report)}
    columns = ("auroc", "f1", "accuracy")
    rows = [[method, *(number_text(name, [record[name] for record in records])
                       for name in columns)] for method, records in found.items() if records]
    if not rows:
        return
    report.tables.append(("**LEAKING**: windows of the same drives in training and test, as in "
                          "many publications; not comparable with the tables above",
                          ("method", "AUROC", "F1", "accuracy"), rows))
    report.note("leaking: an alarm of boosting is a probability above 0.5; checkpoint and "
                "threshold of the GAT are those that are best for the windows that test it")
    report.samples["leaking"] = [record for records in found.values() for record in records]


def only_cache(path):
    """A cache, or the only one in a folder of caches, as leat's commands take them."""
    inside = [entry.path for entry in os.scandir(path) if entry.name.startswith("can-")]
    return inside[0] if len(inside) == 1 else path


def measure_quality(options):
    report = QualityReport("detect-quality", options)
    cache = (only_cache(options.cache) if options.cache else
             ingest(options, options.logs or default_logs(options)))
    runs = trained(options, report, cache)
    if not runs:
        raise Missing("; ".join(report.notes))
    tables_of = judged_tables(options, report, cache, cache)
    records, plain = [], []
    for model in runs:  # labels of tests are read from here on
        found = records_of(evaluate(options, runs[model], cache), plain=True)
        records += [record for record in found if record["method"] == MODELS[model]]
        plain = [record for record in found if record["method"] not in MODELS.values()]
    check_definitions(report, plain, tables_of)
    records += plain + [record for record in tables_of if record["method"] in TABLES.values()]
    report.note(f"cache {os.path.basename(os.path.normpath(cache))}; thresholds for "
                f"{100 * options.target_fpr:g} % of benign validation windows, of each method its "
                "own; no label of a test decides anything; - is undefined")
    report.samples = {"records": records}
    add_tables(report, records)
    if options.leaking:
        add_leaking(options, report, cache)
    report.print()
    report.save()


# ---- the matrix -------------------------------------------------------------------------------

def sets_of(options):
    """name -> folder of logs."""
    found = {f"vehicle {seed}": synthetic(options, seed) for seed in (1, 2)}
    if options.sets:
        names = sorted(name for name in os.listdir(options.sets)
                       if os.path.isdir(os.path.join(options.sets, name)))
        if not names:
            raise Missing(f"{options.sets} has no folder: each is the logs of a set")
        found.update({name: os.path.join(options.sets, name) for name in names})
    return found


def cell_records(options, report, runs, cache, tests):
    records = []
    for model in runs:
        try:
            records += records_of(evaluate(options, runs[model], tests), plain=False)
        except RuntimeError as problem:
            report.note(f"left out: {MODELS[model]} of {os.path.basename(cache)} on "
                        f"{os.path.basename(tests)}: {problem}")
    for record in judged_tables(options, report, cache, tests):
        records.append({**record, "method": PLAIN.get(record["method"], record["method"])})
    return records


def cell_text(records, method):
    """Mean AUROC over tests and seeds; tests where it is undefined are left out."""
    mine = [record for record in records if record["method"] == method]
    defined = [record["auroc"] for record in mine if record["auroc"] is not None]
    alarms = [record["realised_fpr"] for record in mine if record["realised_fpr"] is not None]
    if not defined:
        return "-"
    return f"{statistics.fmean(defined):.3f}; " + \
        (f"{100 * statistics.fmean(alarms):.1f} %" if alarms else "-")


def measure_matrix(options):
    report = QualityReport("detect-matrix", options)
    sets, cells = sets_of(options), {}
    for of, logs in sets.items():
        print(f"trained on {of}", file=sys.stderr, flush=True)
        cache = ingest(options, logs, *VOCABULARY)
        runs = trained(options, report, cache)
        for on, others in sets.items():
            tests = cache if on == of else ingest(options, others, *VOCABULARY, "--like",
                                                          cache)
            cells[of, on] = cell_records(options, report, runs, cache, tests)
    everything = [record for cell in cells.values() for record in cell]
    for method in methods_of(everything):
        rows = [[of, *(cell_text(cells[of, on], method) for on in sets)] for of in sets]
        report.tables.append((f"{method}: trained on a row, tested on a column",
                              ("", *sets), rows))
    report.note("identifiers that occur only in attacks are unknown (--vocab benign)")
    report.note("mean AUROC and share of benign windows that alarm, over the tests of a set and "
                "the seeds; tests where the AUROC is undefined are left out of it; thresholds and "
                "tables are those of the training set")
    report.samples = {"records": [{"trained": of, "tested": on, **record}
                                  for (of, on), cell in cells.items() for record in cell]}
    report.print()
    report.save()
