"""Which rows of a global batch a process loads."""
from __future__ import annotations

from typing import Any

import jax


def device_rows(mesh: Any, batch: int, length: int, devices: Any = None) -> list[int]:
    """The rows of the global batch that this process loads, in the order in which MaxText gives
    them to its devices (`devices`, by default those of the mesh that are this process's): of the
    array [batch, length] that is sharded over all axes of the mesh, those of each device. So the
    global batch is the same on any number of processes, in whatever order the mesh has their
    devices."""
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(mesh.axis_names))
    places = sharding.devices_indices_map((batch, length))
    devices = mesh.local_devices if devices is None else devices
    return [row for device in devices for row in range(batch)[places[device][0]]]
