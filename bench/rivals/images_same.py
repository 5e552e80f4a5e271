"""Compares the images of a data set with those of pillow_images.py: SAFETENSORS NPY.

Prints how many levels differ and by how much at most; more than one is a failure.
"""
import sys

import numpy as np
from safetensors.numpy import load_file

from common import answer

ours, theirs = load_file(sys.argv[1])["images"], np.load(sys.argv[2])
if ours.shape != theirs.shape:
    sys.exit(f"{ours.shape} and {theirs.shape}")
difference = np.abs(ours.astype(np.int16) - theirs.astype(np.int16))
if difference.max() > 1:
    sys.exit(f"levels differ by {difference.max()}")
answer(images=len(ours), levels=int(difference.size), differ=int((difference > 0).sum()))
