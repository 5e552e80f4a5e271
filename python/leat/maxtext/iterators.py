"""Iterators for MaxText: each process builds the rows of its own devices."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
from maxtext.input_pipeline import multihost_dataloading

import leat
from leat.grain import ElasticBatchIterator
from leat.loader import Arrays
from leat.maxtext.report import write_report
from leat.maxtext.rows import device_rows
from leat.maxtext.settings import Settings

VOCABULARY = 267  # token ids of leat: 0..266

#: what ended a training iterator: MaxText logs it and exits with status 0, the launcher with 1
failures: list[BaseException] = []


class NetworkIterator(ElasticBatchIterator):
    """A loader as used by MaxText's trainer; records why it ended."""

    def __init__(self, loader: leat.Loader, *, training: bool, debug: bool) -> None:
        super().__init__(loader)
        self._training, self._debug = training, debug

    def __next__(self) -> Arrays:
        step = self.loader.step
        try:
            batch = super().__next__()
        except StopIteration:
            if self._training:
                failures.append(RuntimeError(f"the training data ended before step {step}"))
            raise
        except Exception as problem:
            failures.append(problem)
            raise
        if self._debug:
            for row in self.loader.rows:
                print(f"leat: {self.loader.explain(step, row).summary()}", flush=True)
        return batch


class _Source:
    """The object that MaxText calls iter() on: once for training, again for every pass of an
    evaluation, which then starts at step 0. There is one iterator, so one loader."""

    def __init__(self, iterator: NetworkIterator) -> None:
        self._iterator = iterator

    def __iter__(self) -> Iterator[Arrays]:
        self._iterator.loader.seek(0)
        return self._iterator


def make_iterator(config: Any, mesh: Any, settings: Settings, *, training: bool) -> Any:
    """Implements make_network_train_iterator and make_network_eval_iterator (leat.maxtext)."""
    if config.vocab_size < VOCABULARY:
        raise ValueError(f"vocab_size={config.vocab_size} is too small: leat has {VOCABULARY} "
                         "tokens")
    if config.expansion_factor_real_data > 1:
        raise ValueError(f"expansion_factor_real_data={config.expansion_factor_real_data} is not "
                         "accepted: every process loads the rows of its own devices")
    batch = int(config.global_batch_size_to_load if training
                else config.global_batch_size_to_load_eval)
    data, split = settings.dataset("train" if training else "test")
    options: dict[str, Any] = {"epochs": 0 if training else 1, **settings.loader_options}
    options.update(split=split, batch=batch, length=int(config.max_target_length),
                   seed=int(config.data_shuffle_seed),
                   rows=device_rows(mesh, batch, int(config.max_target_length)))
    if not training:
        options["epochs"] = 1  # an evaluation is one pass
    loader = leat.Loader(data, **options)
    if settings.visualization_dir and jax.process_index() == 0:
        write_report(settings.visualization_dir, "train" if training else "eval", loader)
    iterator = NetworkIterator(loader, training=training, debug=settings.debug_mode)
    return multihost_dataloading.MultiHostDataLoadIterator(_Source(iterator), mesh)
