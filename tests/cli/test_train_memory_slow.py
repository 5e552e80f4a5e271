"""The inputs of test_train_memory.py with more threads, by the resident set, as the system counts
it, libraries included.

Runs the command named by LEAT (default: build/leat).
"""
# Alone: the resident set depends on what the system has left for it.
import os

import image_set
import test_train_memory as counted
from test_memory import ROOT, main

LEAT = os.environ.get("LEAT", os.path.join(ROOT, "build", "leat"))


class Promise(counted.Promise):
    command, threads = LEAT, ("1", "2", "5")


if __name__ == "__main__":
    main(LEAT, image_set.TOOL)
