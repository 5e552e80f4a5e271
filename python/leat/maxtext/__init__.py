"""leat for MaxText: MaxText's trainer on leat's batches.

    python -m leat.maxtext [CONFIG.yml] network_train_files=probes run_name=r steps=1000 ...

starts MaxText's pre-training with the given settings, which may include the keys of
leat.maxtext.settings (docs/maxtext.md). A MaxText that supports the dataset type `network`
(docs/maxtext-network.patch) calls make_network_train_iterator and make_network_eval_iterator.
"""
from typing import Any

from leat.maxtext.settings import Settings

__all__ = ["Settings", "make_network_eval_iterator", "make_network_train_iterator"]


def missing(problem: ImportError) -> ImportError:
    """What to do where MaxText cannot be imported."""
    return ImportError(f"MaxText cannot be imported ({problem}); install it with Python 3.12 or "
                       "newer: pip install \"maxtext[cuda12]\" (docs/maxtext.md)",
                       name=problem.name, path=problem.path)


def _make_iterator() -> Any:
    try:
        from leat.maxtext.iterators import make_iterator  # imports MaxText
    except ImportError as problem:
        raise missing(problem) from problem
    return make_iterator


def make_network_train_iterator(config: Any, mesh: Any, process_indices: Any = None,
                                settings: Settings | None = None) -> Any:
    """The endless training batches: a MultiHostDataLoadIterator whose state MaxText saves.

    config: MaxText's; mesh: of all devices; process_indices: unused, because every process loads;
    settings: None if the configuration includes leat's keys (the patch). Raises ValueError and
    leat.LeatError; ImportError without MaxText.
    """
    return _make_iterator()(config, mesh, settings or Settings.of_config(config), training=True)


def make_network_eval_iterator(config: Any, mesh: Any, process_indices: Any = None,
                               settings: Settings | None = None) -> Any:
    """The evaluation batches: one epoch of the test rows, the same in every pass; the last batch is
    padded with rows of zeros, which have no weight. Otherwise like make_network_train_iterator."""
    return _make_iterator()(config, mesh, settings or Settings.of_config(config), training=False)
