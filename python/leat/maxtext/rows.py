"""Which rows of a global batch a process loads."""
from __future__ import annotations

from typing import Any

import jax


def device_rows(mesh: Any, batch: int, length: int, devices: Any = None) -> list[int]:
    """The rows of the global batch that this process loads, in the order in which MaxText assigns
    them to its devices (`devices`; default: the devices of the mesh that belong to this process):
    each device's rows of the array [batch, length] sharded over all axes of the mesh. So the global
    batch is the same on any number of processes, with any order of devices in the mesh."""
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(mesh.axis_names))
    places = sharding.devices_indices_map((batch, length))
    devices = mesh.local_devices if devices is None else devices
    return [row for device in devices for row in range(batch)[places[device][0]]]
