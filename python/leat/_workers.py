"""Worker processes of torch's DataLoader, each of which would return all batches of a loader."""
from __future__ import annotations

import sys

from leat.errors import OptionError


def _worker() -> tuple[int, int]:
    """The number of this worker, and of all of them; (0, 1) outside of workers. PyTorch is not
    imported for this: its workers have it."""
    find = getattr(sys.modules.get("torch.utils.data"), "get_worker_info", None)
    info = find() if callable(find) else None
    return (0, 1) if info is None else (int(info.id), int(info.num_workers))


def _has_share(host: int, hosts: int, worker: int, workers: int) -> bool:
    """Whether a host may be that of one worker alone: the workers of a machine count on, or the
    machines do. A loader that all workers have is refused in one of them, the last."""
    return hosts % workers == 0 and worker in (host % workers, host // (hosts // workers))


def refuse(host: int, hosts: int, instead: str) -> None:
    """Raises OptionError in one of several workers, unless host and hosts give it its own share.
    instead: the map-style data set."""
    worker, workers = _worker()
    if workers <= 1 or _has_share(host, hosts, worker, workers):
        return
    raise OptionError(
        f"num_workers={workers}: worker {worker} of this torch DataLoader would return the batches "
        f"of host {host} of {hosts}, as the other workers would, so that every batch comes "
        f"{workers} times; use num_workers=0, because a loader has threads of its own, or "
        f"{instead}, a map-style data set; or create the loader in the worker, with host=id and "
        f"hosts={workers}, where id is the number of the worker (get_worker_info().id)")
