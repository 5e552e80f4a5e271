"""The command `leat`, which is installed beside this file: `python -m leat inspect probes`."""
import os
import sys

from leat._library import COMMAND


def main() -> None:
    """Replaces this process with the command, with the same arguments."""
    os.execv(COMMAND, ["leat", *sys.argv[1:]])


if __name__ == "__main__":
    main()
