"""The inputs of test_images_memory.py with more threads, by the resident set, as the system counts
it, libraries included.

Runs the command named by LEAT (default: build/leat).
"""
# Alone: the resident set depends on what the system has left for it.
import os

import test_images_memory as counted
from test_memory import ROOT

LEAT = os.environ.get("LEAT", os.path.join(ROOT, "build", "leat"))


class Promise(counted.Promise):
    command = LEAT
    few, some, many = "3", "4", "8"
    large, named = 20, range(38, 60)


if __name__ == "__main__":
    counted.main(LEAT)
