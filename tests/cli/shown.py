"""Pages of documentation whose commands are run as they are printed: the output is what the page
shows. Lines of times, rates, memory and training are compared without their numbers, and a line
"..." stands for any lines.
"""
import os
import re
import subprocess
import sys

import command
from folder import Folder

MEASURED = re.compile(
    r"^(time|memory|waiting|read  .*shards|in \d|epoch \d|step \d+: loss|test\w*: )")
PROMPT = "    $ "


def read(*names):
    with open(os.path.join(command.ROOT, *names), encoding="utf-8") as file:
        return file.read()


def examples(text):
    """[(command, lines of output)] of the indented blocks that show a prompt."""
    found, open_block = [], False
    for line in text.splitlines():
        if line.startswith(PROMPT):
            found.append((line[len(PROMPT):], []))
            open_block = True
        elif open_block and line.startswith("    "):
            found[-1][1].append(line[4:])
        else:
            open_block = False
    return found


def masked(line):
    """Without numbers that differ between machines; how much is spilled depends on the threads."""
    return re.sub(r"[\d.,]+( [kM](?= \w+/s))?", "#", line) if MEASURED.match(line) else \
        re.sub(r"[\d.]+ MiB spilled", "# MiB spilled", line)


def matches(shown, printed):
    """Whether the lines of a page are those of the command, "..." being any number of them."""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(matches(shown[1:], printed[skip:]) for skip in range(len(printed) + 1))
    return bool(printed) and masked(shown[0]) == masked(printed[0]) and \
        matches(shown[1:], printed[1:])


class Pages(Folder):
    limit = command.LIMIT  # of each command, in seconds

    def run_page(self, *names):
        """Runs its commands in one folder, which has the examples; how many there are."""
        os.symlink(os.path.abspath(command.LEAT), self.at("leat"))
        os.symlink(os.path.join(command.ROOT, "examples"), self.at("examples"))
        environment = {**os.environ, "PATH": os.pathsep.join(
            [self.top, os.path.dirname(sys.executable), os.environ["PATH"]])}
        count = 0
        for words, shown in examples(read(*names)):
            done = subprocess.run(words, shell=True, cwd=self.top, env=environment, text=True,
                                  capture_output=True, check=False, timeout=self.limit)
            with self.subTest(command=words):
                printed = done.stdout.splitlines()
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(matches(shown + ([] if shown else ["..."]), printed),
                                "the page shows\n" + "\n".join(shown) +
                                "\nand the command prints\n" + "\n".join(printed))
            count += 1
        return count
