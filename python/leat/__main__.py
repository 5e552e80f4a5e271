"""The command `leat`, which lies beside this file: `python -m leat inspect probes`."""
import os
import sys

from leat._library import COMMAND


def main() -> None:
    """Becomes the command, with this program's arguments."""
    os.execv(COMMAND, ["leat", *sys.argv[1:]])


if __name__ == "__main__":
    main()
