"""leat ingest can keeps --memory with several threads, by the resident set, as the system counts
it, libraries included."""
# Alone: the resident set depends on what the system has left for it.
import sys
import unittest

import test_ingest_can
from test_ingest_can import MIB, SANITIZED


class Limits(test_ingest_can.Limits):
    def keeps(self, result, memory):
        if not SANITIZED:  # a sanitizer takes memory of its own
            self.assertLessEqual(result["memory_peak_bytes"], int(memory[:-1]) * MIB)


if __name__ == "__main__":
    sys.exit(0 if unittest.main(exit=False).result.wasSuccessful() else 1)
