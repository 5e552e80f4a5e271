"""Scores that the detector of a run gives to the windows of a cache."""
from __future__ import annotations

import ctypes as c
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leat import _abi
from leat._handle import Path, copy_of, path_of
from leat._library import call, encoded, lib, set_options
from leat.can import CanDataset


class Threshold(NamedTuple):
    """From which score on a window alarms, and what decided that: never the windows of a test."""
    value: float       #: a window alarms if its score is higher
    rule: str          #: "fpr": the share of benign windows that alarm; "f1": the best F1
    split: str         #: whose windows it was fitted on: "val"
    benign: int        #: so many benign windows
    attacks: int       #: and so many with an attack, which only the rule "f1" reads
    target_fpr: float  #: of the rule "fpr"; of the other NaN
    allowed: int       #: that may alarm: floor(target_fpr * benign); of the rule "f1" 0
    exceeding: int     #: benign windows of that split whose score is higher
    f1: float          #: on that split; NaN: it has no attack


class Scores(NamedTuple):
    """Of the windows of a split: window g is graph g of `CanDataset(...)[split]`."""
    score: npt.NDArray[np.float64]       #: [windows] higher: more suspicious
    label: npt.NDArray[np.int32]         #: [windows] 1: attack, 0: benign, -1: unlabelled
    capture: npt.NDArray[np.int32]       #: [windows] index in CanDataset.captures
    window_start: npt.NDArray[np.int64]  #: [windows] first frame, by its number in the capture
    threshold: Threshold
    score_name: str  #: "residual", "reference", "difficulty"; of a GAT "probability"
    step: int        #: of the checkpoint
    state: str       #: its hash, as in Checkpoint.state

    @property
    def alarms(self) -> npt.NDArray[np.bool_]:
        """bool [windows]: those whose score is higher than the threshold."""
        return self.score > self.threshold.value


def _create(pointer: Any, run: str, cache: str, options: Any) -> None:
    """leat_evaluation_create, in a thread of its own: it may take minutes, in which Ctrl-C reaches
    none but the main thread."""
    stopped = threading.Event()
    options.progress = _abi.ProgressFn(lambda user, progress: not stopped.is_set())
    runs = (c.c_char_p * 1)(encoded(run))
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(call, lib.leat_evaluation_create, c.byref(pointer), runs, 1,
                          encoded(cache), c.byref(options))
        try:
            job.result()
        except BaseException:
            stopped.set()
            raise


def _threshold(of: Any) -> Threshold:
    rule = lib.leat_threshold_rule_name(of.rule).decode("ascii")
    return Threshold(of.value, rule, of.split.decode("utf-8"), of.benign, of.attacks,
                     of.target_fpr, of.allowed, of.exceeding, of.f1)


def _note(of: Any) -> str:
    """Of a threshold for which there are too few windows, as leat eval says it; else ""."""
    text = c.create_string_buffer(_abi.THRESHOLD_NOTE_BYTES)
    note: bytes = lib.leat_threshold_note(c.byref(of), text)
    return note.decode("utf-8")


def of_run(run: str, data: CanDataset | Path, split: str | None,
           given: dict[str, Any]) -> dict[str, Scores]:
    """Run.score; given: options by their names in the library's table."""
    options = lib.leat_evaluation_options_default()
    set_options(lib.leat_evaluation_options_table(), options, given)
    options.bootstrap.replicates = 0  # of intervals, which are not returned
    if split is not None:
        options.split = encoded(split)
    pointer = c.POINTER(_abi.Evaluation)()
    try:
        _create(pointer, run, data.path if isinstance(data, CanDataset) else
                path_of(data, "a cache"), options)
        of = pointer.contents
        method, checkpoint = of.methods[0], of.runs[0]  # the run is first, plain scores follow
        threshold = _threshold(method.threshold)
        for note in filter(None, ((of.note or b"").decode("utf-8", "replace"),
                                  _note(method.threshold))):
            warnings.warn(note, stacklevel=3)
        facts = (threshold, method.score.decode("ascii"), checkpoint.step,
                 checkpoint.state.decode("ascii"))
        return {each.name.decode("utf-8"): _scores(each, facts)
                for each in of.splits[:of.split_count]}
    finally:
        lib.leat_evaluation_destroy(pointer)


def _scores(of: Any, facts: Any) -> Scores:
    windows, count = of.windows, of.windows.count
    return Scores(copy_of(of.scores[0], count, np.float64),  # of the first method
                  copy_of(windows.label, count, np.int32),
                  copy_of(windows.capture, count, np.int32),
                  copy_of(windows.start, count, np.int64), *facts)
