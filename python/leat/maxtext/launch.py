"""The launcher: MaxText's pre-training, unchanged except for the source of its batches.

MaxText has no extension point for dataset types, so its function that creates the data iterators is
replaced before the trainer looks it up, under dataset_type=grain: the only type whose iterator
state MaxText saves in its checkpoints.
"""
from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from leat.errors import LeatError
from leat.maxtext import make_network_eval_iterator, make_network_train_iterator, missing
from leat.maxtext.settings import KEYS, Settings, take_out

USAGE = f"""usage: python -m leat.maxtext [CONFIG.yml] [key=value ...]

Trains with MaxText on leat's batches. In addition to MaxText's keys: {', '.join(KEYS[:3])},
{', '.join(KEYS[3:])} (docs/maxtext.md)."""


def main(argv: Sequence[str] | None = None) -> None:
    """Runs MaxText's trainer and ends the program: status 0 if training completed, otherwise 1."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or {"-h", "--help"} & set(arguments):
        sys.exit(print(USAGE) if arguments else USAGE)
    try:
        values, rest = take_out(arguments)
        settings = Settings.of(values)
        if not (rest and rest[0].endswith(".yml")):
            settings.dataset("train")
    except (ValueError, LeatError) as problem:
        sys.exit(f"leat.maxtext: {problem}")

    try:
        from absl import app
        from maxtext.configs import pyconfig
        from maxtext.input_pipeline import input_pipeline_interface, multihost_dataloading
        from maxtext.trainers.pre_train import train

        from leat.maxtext import iterators
    except ImportError as problem:
        sys.exit(f"leat.maxtext: {missing(problem)}")

    read_file, in_files = pyconfig._load_config, {}

    def read_file_without_ours(name: str) -> Any:
        """A configuration file and the files it is based on, without leat's keys, which are
        kept."""
        config = read_file(name)
        for key in KEYS:
            if key in config:
                in_files[key] = config.pop(key)
        if config.get("dataset_type") == "network":
            config.pop("dataset_type")
        return config

    def create_data_iterator(config: Any, mesh: Any) -> tuple[Any, Any]:
        settings = Settings.of({**in_files, **values})
        return (make_network_train_iterator(config, mesh, settings=settings),
                make_network_eval_iterator(config, mesh, settings=settings)
                if config.eval_interval > 0 else None)

    def train_and_report(words: Sequence[str]) -> int:
        train.main(words)
        for problem in iterators.failures:
            print(f"leat.maxtext: training stopped: {problem}", file=sys.stderr)
        return 1 if iterators.failures else 0

    pyconfig._load_config = read_file_without_ours
    input_pipeline_interface.create_data_iterator = create_data_iterator
    # MaxText's clean-up kills every orphaned multiprocessing process that /proc shows, other jobs'
    # too. leat has threads and no such processes.
    multihost_dataloading._cleanup_orphaned_multiprocessing_processes = lambda: None
    # MaxText requires both to be non-empty, and opens neither.
    stand_ins = ["dataset_type=grain", "grain_file_type=arrayrecord",
                 "grain_train_files=network_train_files", "grain_eval_files=network_eval_files"]
    app.run(train_and_report, [sys.argv[0], *rest, *stand_ins])
