"""leat's configuration keys, removed before MaxText, which rejects unknown keys, sees them."""
from __future__ import annotations

import dataclasses
import glob
import json
from collections.abc import Mapping, Sequence
from typing import Any

import leat

FORMATS = ("probe_chunks",)
_FIELDS = {  # key of the configuration -> field of Settings
    "network_data_format": "data_format",
    "network_train_files": "train_files",
    "network_eval_files": "eval_files",
    "network_loader_options": "loader_options",
    "grain_debug_mode": "debug_mode",
    "grain_visualization_dir": "visualization_dir",
}
KEYS = tuple(_FIELDS)
_OURS = ("batch", "length", "rows", "host", "hosts", "split", "seed")  # set from MaxText's settings


@dataclasses.dataclass
class Settings:
    """The values of the keys."""
    data_format: str = "probe_chunks"  #: network_data_format: rows of probes, the only one
    #: network_train_files: a folder written by leat ingest (its train rows), or third-party
    #: ArrayRecord files, separated by commas, with * and ?
    train_files: str = ""
    #: network_eval_files: likewise; for a folder written by leat ingest, its test rows
    eval_files: str = ""
    #: network_loader_options: further arguments of leat.Loader, as a JSON object
    loader_options: dict[str, Any] = dataclasses.field(default_factory=dict)
    debug_mode: bool = False  #: grain_debug_mode: prints the contents of the rows of every batch
    visualization_dir: str = ""  #: grain_visualization_dir: where batches.html is written

    def __post_init__(self) -> None:
        if self.data_format not in FORMATS:
            raise ValueError(f"network_data_format={self.data_format} is not accepted: " +
                             ", ".join(FORMATS))
        clash = sorted(set(self.loader_options) & set(_OURS))
        if clash:
            raise ValueError(f"network_loader_options: {', '.join(clash)} follow from MaxText's "
                             "batch size, max_target_length, data_shuffle_seed and devices")

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Settings:
        """From keys and values; texts are parsed like MaxText's own."""
        settings: dict[str, Any] = {}
        for key, value in values.items():
            field = _FIELDS[key]
            if field == "loader_options":
                settings[field] = _read_object(key, value)
            elif field == "debug_mode":
                settings[field] = _read_bool(key, value)
            else:
                settings[field] = _read_text(key, value)
        return cls(**settings)

    @classmethod
    def of_config(cls, config: Any) -> Settings:
        """From a MaxText configuration that includes the keys (the patch)."""
        return cls.of({key: getattr(config, key) for key in KEYS if hasattr(config, key)})

    def dataset(self, split: str) -> tuple[leat.ProbeDataset, str | None]:
        """The data set of "train" or "test", and which of its rows: that split, or None for all
        rows if the files do not belong to a split."""
        key = "network_train_files" if split == "train" else "network_eval_files"
        files = self.train_files if split == "train" else self.eval_files
        if not files:
            raise ValueError(f"{key} is not set: it takes a folder written by leat ingest, or "
                             f"files")
        paths: list[str] = []
        for part in files.split(","):
            found = sorted(glob.glob(part)) if set("*?") & set(part) else [part]
            if not found:
                raise ValueError(f"{key}: no file matches {part}")
            paths += found
        data = leat.ProbeDataset(paths)
        if all(shard.split is None for shard in data.shards):
            return data, None
        if not data.rows(split):
            raise ValueError(f"{key}={files}: it has no {split} rows")
        return data, split


def _read_text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{key}={value} is not accepted: it takes a text")
    return value


def _read_bool(key: str, value: Any) -> bool:
    known = {"true": True, "1": True, "false": False, "0": False, "": False}
    if str(value).lower() not in known:
        raise ValueError(f"{key}={value} is not accepted: it takes true or false")
    return known[str(value).lower()]


def _read_object(key: str, value: Any) -> dict[str, Any]:
    try:
        found = json.loads(value or "{}") if isinstance(value, str) else dict(value)
    except ValueError as problem:
        raise ValueError(f"{key}={value} is not accepted: {problem}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{key}={value} is not accepted: it takes a JSON object")
    return found


def take_out(arguments: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """(values of leat's keys, the other arguments) from "key=value", of which the last counts; also
    removes dataset_type, which the launcher sets."""
    values: dict[str, str] = {}
    rest = []
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if equals and key in _FIELDS:
            values[key] = value
        elif equals and key == "dataset_type":
            check_dataset_type(value)
        else:
            rest.append(argument)
    return values, rest


def check_dataset_type(value: Any) -> None:
    """Raises ValueError if it is neither `network` nor its substitute in MaxText."""
    if value not in ("network", "grain"):
        raise ValueError(f"dataset_type={value}: this launcher is for dataset_type=network")
