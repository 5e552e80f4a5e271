"""Training runs: trained by the command, and opened for what they hold."""
from __future__ import annotations

import codecs
import collections.abc
import ctypes as c
import errno
import json
import os
import pty
import re
import signal
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leat import _abi, errors
from leat._handle import Path, copy_of, path_of
from leat._library import COMMAND, call, encoded, held, integer, lib, whole
from leat.can import CanDataset
from leat.images import ImageDataset
from leat.scores import Scores, of_run

_PROGRESS = re.compile("\r[^\r]*\x1b\\[K")  # a progress line, drawn or erased
_POINTS_MAX = 1 << 20  # of metrics, unless the caller wants another number


class Checkpoint(NamedTuple):
    """The weights of a run after a step."""
    step: int
    path: str   #: a safetensors file: parameters with PyTorch's names, moments of Adam
    state: str  #: hash of the weights and moments
    #: What was measured, by name, which are attributes, too (see Metrics): of a DCGAN score and
    #: deviation. NaN: not measured at this step, or in the metrics alone.
    measures: collections.abc.Mapping[str, float]
    best: bool  #: the best by the first of the measures, of those that there are

    def __getattr__(self, name: str) -> float:
        if name in self.measures:
            return self.measures[name]
        names = ", ".join(self.measures) or "none"
        raise AttributeError(f"no measure {name!r}; there are {names}")

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *self.measures]


class Metrics(NamedTuple):
    """Arrays of the steps of a run, and of the steps after which its model was measured.

    What the model computes in a step and what is measured have names, and are attributes, too. Of a
    DCGAN: loss_d_images, loss_d_fakes and loss_g, the losses of the discriminator on images and on
    generated ones, and of the generator; norm_d and norm_g, the norms of their mean gradients;
    score, the distance of generated images from the data; deviation, of generated values; spread
    and spread_data, that between samples and that between the images of the data set.
    """
    step: npt.NDArray[np.int64]       #: [steps]
    seconds: npt.NDArray[np.float64]  #: [steps] computing time
    values: collections.abc.Mapping[str, npt.NDArray[np.float64]]    #: of [steps]; NaN: not known
    score_step: npt.NDArray[np.int64]  #: [scores] after which was measured
    measures: collections.abc.Mapping[str, npt.NDArray[np.float64]]  #: of [scores]; NaN: not known
    warnings: tuple[str, ...]         #: of what went wrong: a sentence each

    def __getattr__(self, name: str) -> npt.NDArray[np.float64]:
        for named in (self.values, self.measures):
            if name in named:
                return named[name]
        names = ", ".join([*self.values, *self.measures])
        raise AttributeError(f"no metric {name!r}; there are {names}")

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *self.values, *self.measures]


class _Handle(c.c_void_p):
    """An open leat_run, closed with its last reference."""

    def __del__(self) -> None:
        if self.value is not None:
            lib.leat_run_close(self)
            self.value = None


def _number(text: str) -> int | float | str:
    """A setting as Python has it."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


class Run:
    """A training run, opened for reading, also while it is trained: what was known of it then.

    path: its folder, written by `leat train`, `leat.train` or `leat import`.

    Raises NotFoundError, CorruptError, InputError, InputOutputError.
    """

    def __init__(self, path: Path) -> None:
        self._pointer = _Handle()
        call(lib.leat_run_open, c.byref(self._pointer), encoded(path_of(path, "a run")))
        found = _abi.RunFacts()
        held.leat_run_get_facts(self._pointer, c.byref(found))
        self.path: str = os.fsdecode(found.path)
        self.model: str = found.model.decode("ascii")
        self.run: str = found.run.decode("ascii")    #: hash of what determines the weights
        self.data: str = found.data.decode("ascii")  #: fingerprint of the data set; "": none
        self.images: int = found.samples              #: of the data set
        self.image_size: int = found.sample_size
        self.init: str = found.init.decode("ascii")  #: hash of the initial weights; "": of the seed
        self.kernel_class: str = found.kernel_class.decode("ascii")
        self.leat_version: str = found.leat_version.decode("ascii")  #: that began it
        self.score_halves: float = found.reference.value  #: of the data's halves; NaN: not known

    @property
    def config(self) -> dict[str, int | float | str]:
        """The settings of the run by their names, as in its config.yaml."""
        settings: dict[str, int | float | str] = {}
        name, value = c.c_char_p(), c.c_char_p()
        while held.leat_run_setting_at(self._pointer, len(settings), c.byref(name),
                                       c.byref(value)):
            settings[(name.value or b"").decode("ascii")] = _number(os.fsdecode(value.value or b""))
        return settings

    @property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        """The checkpoints, by step."""
        found, all_of = _abi.RunCheckpoint(), list[Checkpoint]()
        while held.leat_run_checkpoint_at(self._pointer, len(all_of), c.byref(found)):
            names = _names(found.measures)
            all_of.append(Checkpoint(found.step, os.fsdecode(found.path),
                                     found.state.decode("ascii"),
                                     dict(zip(names, found.measured)), found.best))
        return tuple(all_of)

    def metrics(self, most: int = _POINTS_MAX) -> Metrics:
        """The metrics of all steps so far. If there are more than `most`, a value is the mean over
        some that follow each other, and `step` is the last of them."""
        pointer = c.POINTER(_abi.RunMetrics)()
        call(lib.leat_run_metrics_load, c.byref(pointer), self._pointer, integer("most", most))
        try:
            found = pointer.contents
            names, measures = _names(found.names), _names(found.measures)
            points = copy_of(found.points, found.point_count, np.dtype(_abi.RunPoint))
            scores = copy_of(found.measurements, found.measurement_count,
                             np.dtype(_abi.RunMeasurement))
            warnings = _sentences(found.warnings)
        finally:
            lib.leat_run_metrics_destroy(pointer)
        return Metrics(points["step"].copy(), points["seconds"].copy(),
                       {name: points["values"][:, i].copy() for i, name in enumerate(names)},
                       scores["step"].copy(),
                       {name: scores["values"][:, i].copy() for i, name in enumerate(measures)},
                       warnings)

    def sample(self, count: int = 64, seed: int | None = None, *, step: int | None = None,
               first: int = 0, threads: int | None = None) -> npt.NDArray[np.uint8]:
        """Generated images number first .. first + count - 1, uint8 [count, S, S, 3].

        An image is a function of the checkpoint, the seed and its number. seed: None is the run's
        own, as in its grids; step: of a checkpoint (None: the last one).

        Raises OptionError (a step without checkpoint), NotFoundError (no checkpoint yet),
        CorruptError.
        """
        options = lib.leat_run_sample_options_default()
        options.count, options.first = integer("count", count), integer("first", first)
        if seed is not None:
            if not 0 <= whole("seed", seed) < 1 << 64:
                raise errors.OptionError(f"seed: {seed} does not fit in 64 bits")
            options.run_seed, options.seed = False, seed
        if step is not None:
            options.step = integer("step", step)
        if threads is not None:
            options.threads = integer("threads", threads, 32)
        if not 1 <= options.count <= 1 << 24:
            raise errors.OptionError(f"count: {count} is not in 1 to {1 << 24}")
        images = np.empty((count, self.image_size, self.image_size, 3), np.uint8)
        call(lib.leat_run_sample, self._pointer, c.byref(options), images.ctypes.data, None, None)
        return images

    def score(self, data: CanDataset | Path, split: str | None = None, *,
              score: str = "residual", step: int | None = None, threshold: str = "fpr",
              target_fpr: float | None = None, threads: int | None = None) -> dict[str, Scores]:
        """Scores every window of the tests of a cache (or of one split) with this detector, a VGAE
        or GAT: {split: Scores}, like `leat eval`, with its thresholds from validation data.

        data: the cache, or its path. score: of a VGAE "residual", "reference" or "difficulty"; a
        GAT has the default alone, its probability of an attack. step: of a checkpoint (None: the
        best by what was measured on validation data). threshold: "fpr", for target_fpr (0.01) of
        the benign validation windows, or "f1", the best F1. A Python warning says what to know
        about the numbers. What scores are calibrated with is kept in the folder of the run. Memory:
        at most 700 bytes a window, and a model for each thread.

        Raises OptionError (another cache than the run's, no such split or checkpoint, a score that
        the model does not have), UnsupportedError (not a detector), InputError (no benign training
        or validation window), NotFoundError, CorruptError.
        """
        return of_run(self.path, data, split, {
            "score": score, "threshold": threshold,
            "step": None if step is None else integer("step", step), "target-fpr": target_fpr,
            "threads": None if threads is None else integer("threads", threads)})

    def export(self, folder: Path, *, step: int | None = None, replace: bool = False) -> None:
        """Writes a checkpoint (None: the last one) for PyTorch and Hugging Face, like `leat
        export`. FileExistsError: the folder has such files, and `replace` is not set."""
        call(lib.leat_run_export, encoded(self.path), -1 if step is None else integer("step", step),
             encoded(path_of(folder, "a folder")), bool(replace))

    def __reduce__(self) -> Any:
        return Run, (self.path,)

    def __repr__(self) -> str:
        last = self.checkpoints[-1:]
        where = f"checkpoint of step {last[0].step}" if last else "no checkpoint yet"
        return f"<leat.Run {self.path}: {self.model}, {where}>"


def _sentences(warnings: c.Array[_abi.TrainWarning]) -> tuple[str, ...]:
    """Of those that arose."""
    text = (c.c_char * _abi.WARNING_BYTES)()
    return tuple(lib.leat_train_warning_text(warning, text).decode("ascii")
                 for warning in warnings if warning.step > 0)


def _names(values: Any) -> list[str]:
    """Of a list of leat_value, or NULL, which has none."""
    names: list[str] = []
    while values and values[len(names)].name is not None:
        names.append(values[len(names)].name.decode("ascii"))
    return names


def _shows_progress() -> bool:
    """Whether sys.stderr is a terminal or a notebook, where a line may be drawn over."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _read(source: int) -> bytes:
    """The next bytes of a pipe or terminal; b"" if nobody writes to it any more."""
    try:
        return os.read(source, 4096)
    except OSError as problem:
        if problem.errno != errno.EIO:
            raise
        return b""


def _forward(source: int) -> str:
    """Passes on what the command reports; gives its last line, which is the error if it fails."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    held_back, open_line = "", ""
    while chunk := _read(source):
        text = decoder.decode(chunk)
        *lines, open_line = (open_line + text.replace("\r\n", "\n")).split("\n")
        for line in lines:
            sys.stderr.write(held_back)
            held_back = line + "\n"
        if open_line.endswith("\x1b[K"):  # the progress line
            sys.stderr.write(held_back + open_line)
            held_back = open_line = ""
        sys.stderr.flush()
    return held_back


def train(data: ImageDataset | CanDataset | Path, run: Path, *, model: str = "dcgan",
          resume: bool = False, progress: bool | None = None, **settings: Any) -> Run:
    """Trains a model on a data set, like `leat train`, and returns the run.

    data: an ImageDataset for the model "dcgan", a CanDataset for "vgae" and "gat", or the path of
    one. run: the folder of the run, which is created. settings: the options of the command (leat
    train MODEL --help), with "_" for "-": steps=300, micro_batch=32, config="file.yaml",
    memory="2G"; True for one without a value, such as replace=True; None is the default. resume:
    continue an interrupted run in this folder. progress: draw a progress line on sys.stderr (None:
    if it is a terminal or a notebook, else write a line a minute; False: neither); other messages
    of the command always go there.

    The command computes, in a process of its own. KeyboardInterrupt stops it after it has saved the
    state, from which resume=True continues to the same bits.

    Raises OptionError for an option that is not accepted, LeatError with the command's message for
    every other failure.
    """
    path = path_of(run, "a run")
    source = data.path if isinstance(data, (ImageDataset, CanDataset)) else \
        path_of(data, "a data set")
    words = [COMMAND, "train", model, os.path.abspath(source), "--output", path, "--json"]
    for name, value in settings.items():
        if value is True:
            words.append(f"--{name.replace('_', '-')}")
        elif value is not None and value is not False:
            words.append(f"--{name.replace('_', '-')}={os.fspath(value)}"
                         if isinstance(value, os.PathLike) else
                         f"--{name.replace('_', '-')}={value}")
    if resume:
        words.append("--resume")
    drawn = _shows_progress() if progress is None else progress
    if progress is False:
        words.append("--quiet")
    reading, writing = pty.openpty() if drawn else os.pipe()
    try:
        try:  # in a session of its own: Ctrl-C in a terminal reaches it once, from here
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=writing, start_new_session=True,
                                       env={"TERM": "xterm", **os.environ})
        finally:
            os.close(writing)
        with process:
            try:
                last = _forward(reading)
                answer, _ = process.communicate()
            except BaseException:
                process.send_signal(signal.SIGINT)
                while _read(reading):  # what it reports while it saves
                    pass
                raise
    finally:
        os.close(reading)
    if process.returncode != 0:
        kind = errors.OptionError if process.returncode == 2 else errors.LeatError
        raise kind(_PROGRESS.sub("", last).strip().removeprefix("leat: ")
                   or f"leat train ended with status {process.returncode}")
    sys.stderr.write(last)
    return Run(json.loads(answer)["run"])
