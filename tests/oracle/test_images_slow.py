"""The memory that large progressive JPEGs take, by the resident set, as the system counts it,
libraries included."""
# Alone: the resident set depends on what the system has left for it.
import unittest

import test_images


class Memory(test_images.Memory):
    command, threads = test_images.LEAT, "2"


if __name__ == "__main__":
    unittest.main()
