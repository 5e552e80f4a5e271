"""leat for MaxText: its own trainer on leat's batches.

    python -m leat.maxtext [CONFIG.yml] network_train_files=probes run_name=r steps=1000 ...

starts MaxText's pre-training with the settings given, in which the keys of leat.maxtext.settings
may stand; docs/maxtext.md has them. Where MaxText itself knows the dataset type `network`
(docs/maxtext-network.patch), it calls make_network_train_iterator and make_network_eval_iterator.
"""
from typing import Any

from leat.maxtext.settings import Settings

__all__ = ["Settings", "make_network_eval_iterator", "make_network_train_iterator"]


def make_network_train_iterator(config: Any, mesh: Any, process_indices: Any = None,
                                settings: Settings | None = None) -> Any:
    """The training batches, without end: a MultiHostDataLoadIterator whose state MaxText saves.

    config: MaxText's; mesh: of all devices; process_indices: not used, every process loads;
    settings: None where the configuration knows our keys (the patch). Raises ValueError and
    leat.LeatError.
    """
    from leat.maxtext.iterators import make_iterator  # imports MaxText
    return make_iterator(config, mesh, settings or Settings.of_config(config), training=True)


def make_network_eval_iterator(config: Any, mesh: Any, process_indices: Any = None,
                               settings: Settings | None = None) -> Any:
    """The evaluation batches: one epoch of the test rows, the same at every pass; the last batch is
    filled up with rows of zeros, which have no weight. Otherwise as make_network_train_iterator."""
    from leat.maxtext.iterators import make_iterator
    return make_iterator(config, mesh, settings or Settings.of_config(config), training=False)
