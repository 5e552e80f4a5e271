"""The inputs of test_memory_advice.py, larger ones and more threads, by the resident set, as the
system counts it, libraries included.

Runs the command named by LEAT (default: build/leat).
"""
# Alone: the resident set depends on what the system has left for it.
import os

import test_memory_advice as counted
from test_memory import ROOT, main

LEAT = os.environ.get("LEAT", os.path.join(ROOT, "build", "leat"))


class Resident:
    command, always = LEAT, ()

    def peak(self, usage):
        return usage.ru_maxrss / 1024


class LongTexts(Resident, counted.LongTexts):
    pass


class Chunks(Resident, counted.Chunks):
    mib, rows = 200, 250000


class Identifiers(Resident, counted.Identifiers):
    limits = (("1", 16), ("1", 26), ("2", 22), ("8", 28))


class Least(Resident, counted.Least):
    rows, threads = 300000, ("1", "8", "200")


if __name__ == "__main__":
    main(LEAT, counted.TOOL)
