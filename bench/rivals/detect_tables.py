"""Plain ways to detect attacks on a CAN cache, with scikit-learn.

detect_tables.py judge CACHE TESTS FPR SEEDS THREADS: trained on the split train of CACHE, tested on
all tests of TESTS, a cache of the same identifiers (the same folder for its own tests).
  forest      isolation forest of 100 trees, of benign windows
  boosting    HistGradientBoostingClassifier, of labelled windows
  mean_abs_z  the plain score of leat eval, computed once more, so that the two can be compared
A window is the mean, largest and smallest value and the deviation of each of its 35 features of
nodes and 11 of edges, and its number of nodes: of five ways to pool, the best for both on V40's
validation windows. Alarms: above the (k + 1)-th largest score of the n benign windows of val, k =
floor(FPR n). Labels of tests are read when all scores are there. What leat eval --json calls a
number it is called here; null is undefined. Windows without a label count nowhere.

detect_tables.py leaking CACHE FOLDS SEEDS THREADS: what many publications do. All windows of all
splits are shuffled, and each fold is tested by a boosting of the others, so that neighbours of most
test windows were in training. An alarm is a probability above 0.5.

Prints one JSON object.
"""
import json
import os
import sys

os.environ["OMP_NUM_THREADS"] = sys.argv[-1]

import numpy as np  # noqa: E402
import sklearn  # noqa: E402
from safetensors.numpy import load_file  # noqa: E402
from sklearn import metrics  # noqa: E402
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest  # noqa: E402
from sklearn.model_selection import StratifiedKFold  # noqa: E402

from common import answer, peak_bytes  # noqa: E402

NOT_TESTS = ("train", "val")
FLOOR = 0.05  # of a deviation, as a share of the pooled one


def pooled(rows, first):
    """Mean, largest, smallest, deviation of the rows of each window."""
    at, count = first[:-1], np.diff(first)[:, None]
    mean = np.add.reduceat(rows, at) / count
    square = np.add.reduceat(rows * rows, at) / count
    return (mean, np.maximum.reduceat(rows, at), np.minimum.reduceat(rows, at),
            np.sqrt(np.maximum(square - mean * mean, 0)))


class Windows:
    """The windows of a split that have a label."""

    def __init__(self, folder, split):
        file = load_file(os.path.join(folder, split + ".safetensors"))
        if "x" not in file:
            sys.exit(f"{folder}: frames are stored, not features; ingest with --store features")
        with open(os.path.join(folder, "cache_metadata.json"), encoding="utf-8") as meta:
            settings = json.load(meta)
        nodes, edges = file["node_ptr"], file["edge_ptr"]
        x = file["x"].astype(np.float64)
        keep = file["y"] >= 0
        if not keep.size:
            self.pooled, self.label, self.seconds = np.empty((0, 185)), file["y"], np.empty(0)
        else:
            step = file["edge_attr"].astype(np.float64)
            self.pooled = np.hstack([*pooled(x, nodes), *pooled(step, edges),
                                     np.diff(nodes)[:, None]])[keep]
            self.label = (file["y"][keep] > 0).astype(int)
            window, stride = settings["window_size"], settings["stride"]
            steps = np.add.reduceat(step[:, 0], edges[:-1])[keep]
            self.seconds = steps * min(window, stride) / (window - 2)
        self.x, self.ids, self.nodes, self.keep = x, file["node_id"], nodes, keep


# ---- numbers ----------------------------------------------------------------------------------

def threshold_of(benign, share):
    allowed = int(np.floor(share * len(benign) + 1e-9))
    return float(np.sort(benign)[::-1][min(allowed, len(benign) - 1)])


def judged(score, windows, alarm):
    """The numbers of a score, where `alarm` says which windows alarm."""
    label = windows.label
    attacks, benign = int((label == 1).sum()), int((label == 0).sum())
    false = int((alarm & (label == 0)).sum())
    hours = windows.seconds.sum() / 3600
    both = attacks > 0 and benign > 0
    return {
        "auroc": float(metrics.roc_auc_score(label, score)) if both else None,
        "average_precision":
            float(metrics.average_precision_score(label, score)) if attacks else None,
        "recall": float((alarm & (label == 1)).sum() / attacks) if attacks else None,
        "precision": float((alarm & (label == 1)).sum() / alarm.sum()) if alarm.any() else None,
        "f1": float(metrics.f1_score(label, alarm)) if attacks else None,
        "realised_fpr": false / benign if benign else None,
        "false_alarms_per_hour": float(false / hours) if hours > 0 else None,
        "windows": len(label), "attack_windows": attacks, "false_positives": false}


# ---- ways -------------------------------------------------------------------------------------

def forest(train, seed):
    made = IsolationForest(random_state=seed).fit(train.pooled[train.label == 0])
    return lambda windows: -made.score_samples(windows.pooled)


def boosting(train, seed):
    if len(set(train.label)) < 2:
        return None
    made = HistGradientBoostingClassifier(random_state=seed).fit(train.pooled, train.label)
    return lambda windows: made.decision_function(windows.pooled)


def mean_abs_z(train, _):
    """baselines: per identifier mean and deviation of benign nodes; else those of all of them."""
    benign = np.zeros(len(train.keep), bool)
    benign[np.flatnonzero(train.keep)[train.label == 0]] = True
    rows = np.repeat(benign, np.diff(train.nodes))
    x, ids = train.x[rows], train.ids[rows]
    everyone = x.mean(0), x.std(0)
    tables = {int(i): (x[ids == i].mean(0), x[ids == i].std(0)) for i in set(ids) if i > 0}

    def score(windows):
        z = np.empty_like(windows.x)
        for i in set(windows.ids):
            mean, deviation = tables.get(int(i), everyone)
            used = np.maximum(deviation, FLOOR * everyone[1])
            used[everyone[1] == 0] = 1
            at = windows.ids == i
            z[at] = np.abs(windows.x[at] - mean) / used
        counts = np.diff(windows.nodes) * z.shape[1]
        return (np.add.reduceat(z.sum(1), windows.nodes[:-1]) / counts)[windows.keep]
    return score


WAYS = {"mean_abs_z": mean_abs_z, "forest": forest, "boosting": boosting}


def tests_of(folder):
    names = (name.removesuffix(".safetensors") for name in sorted(os.listdir(folder))
             if name.endswith(".safetensors"))
    return [name for name in names if name not in NOT_TESTS]


def judge(cache, tests, share, seeds):
    train, val = Windows(cache, "train"), Windows(cache, "val")
    splits = {name: Windows(tests, name) for name in tests_of(tests)}
    results = []
    for name, way in WAYS.items():
        for seed in range(1 if name == "mean_abs_z" else seeds):
            score = way(train, seed)
            if score is None:
                continue
            threshold = threshold_of(score(val)[val.label == 0], share)
            scores = {split: score(windows) for split, windows in splits.items()
                      if len(windows.label)}
            for split, given in scores.items():
                numbers = judged(given, splits[split], given > threshold)
                results.append({"method": name, "seed": seed, "split": split,
                                "threshold": threshold, **numbers})
    return results


def leaking(cache, folds, seeds):
    everything = [Windows(cache, split) for split in [*NOT_TESTS, *tests_of(cache)]]
    rows = np.vstack([windows.pooled for windows in everything])
    label = np.concatenate([windows.label for windows in everything])
    results = []
    for seed in range(seeds):
        chance = np.empty(len(label))
        cut = StratifiedKFold(folds, shuffle=True, random_state=seed)
        for given, asked in cut.split(rows, label):
            made = HistGradientBoostingClassifier(random_state=seed)
            made.fit(rows[given], label[given])
            chance[asked] = made.predict_proba(rows[asked])[:, 1]
        results.append({"method": "boosting", "seed": seed,
                        "auroc": float(metrics.roc_auc_score(label, chance)),
                        "f1": float(metrics.f1_score(label, chance > 0.5)),
                        "accuracy": float(((chance > 0.5) == label).mean())})
    return results


def main(what, *given):
    if what == "judge":
        cache, tests, share, seeds, _ = given
        results = judge(cache, tests, float(share), int(seeds))
    else:
        cache, folds, seeds, _ = given
        results = leaking(cache, int(folds), int(seeds))
    answer(results=results, sklearn=sklearn.__version__, numpy=np.__version__,
           peak_bytes=peak_bytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
