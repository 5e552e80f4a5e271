"""Compares the graphs of two safetensors files: OURS THEIRS. Counts and identifiers must be equal.

Prints the largest difference of a feature, relative to the largest value of its column.
"""
import sys

import numpy as np
from safetensors.numpy import load_file

from common import answer

ours, theirs = (load_file(path) for path in sys.argv[1:])
for name in ("node_ptr", "edge_ptr", "window_start", "node_id", "edge_index", "y"):
    if not np.array_equal(ours[name], theirs[name]):
        sys.exit(f"{name} differs")
worst = 0.0
for name in ("x", "edge_attr"):
    a, b = ours[name].astype(np.float64), theirs[name].astype(np.float64)
    if a.shape != b.shape:
        sys.exit(f"{name}: {a.shape} and {b.shape}")
    scale = np.maximum(np.abs(a).max(axis=0), 1e-12)
    worst = max(worst, float((np.abs(a - b) / scale).max()))
if worst > 1e-4:
    sys.exit(f"features differ by {worst:.1e} of their columns' largest values")
answer(graphs=len(ours["y"]), difference=worst)
