"""The commands of README.md and of docs/can.md, docs/images.md, run as they are printed: the output
is what the page shows. Lines of times, rates and memory are compared without their numbers, and a
line "..." stands for any lines.
"""
import json
import os
import re
import subprocess
import unittest

import command
from folder import Folder

MEASURED = re.compile(r"^(time|memory|stall|read  .*shards|in \d)")
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
    return re.sub(r"[\d.,]+", "#", line) if MEASURED.match(line) else \
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
    def run_page(self, *names):
        """Runs its commands in one folder; how many there are."""
        os.symlink(os.path.abspath(command.LEAT), self.at("leat"))
        environment = {**os.environ, "PATH": self.top + os.pathsep + os.environ["PATH"]}
        count = 0
        for words, shown in examples(read(*names)):
            done = subprocess.run(words, shell=True, cwd=self.top, env=environment, text=True,
                                  capture_output=True, check=False, timeout=command.LIMIT)
            with self.subTest(command=words):
                printed = done.stdout.splitlines()
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(matches(shown + ([] if shown else ["..."]), printed),
                                "the page shows\n" + "\n".join(shown) +
                                "\nand the command prints\n" + "\n".join(printed))
            count += 1
        return count

    def test_readme(self):
        if not json.loads(command.leat("version", "--json").stdout)["duckdb"]["available"]:
            self.skipTest("no DuckDB: Parquet is not written")
        self.assertEqual(self.run_page("README.md"), 5)

    def test_can(self):
        self.assertEqual(self.run_page("docs", "can.md"), 5)

    def test_images(self):
        self.assertEqual(self.run_page("docs", "images.md"), 2)


class Figures(unittest.TestCase):
    def test_they_are_those_of_the_benchmarks(self):
        """Each figure of the README's table is in docs/benchmarks.md, with the digits it has."""
        text = read("README.md").split("## Get started")[0]
        table = re.findall(r"^\| .* \| .* \| .* \|$", text, re.M)[1:]
        figures = read("docs", "benchmarks.md")
        self.assertGreater(len(table), 2)
        known = [float(number.replace(",", "")) for number in
                 re.findall(r"(?<![\d.])\d[\d,]*(?:\.\d+)?", figures)]
        for row in table:
            for number, unit in re.findall(r"([\d.]+) (s|MiB|GiB|M frames/s|images/s|)(?![\w])",
                                           "|".join(row.split("|")[2:])):
                value = float(number) * (1024 if unit == "GiB" else 1)
                digits = len(number.replace(".", "").lstrip("0"))
                with self.subTest(figure=f"{number} {unit}"):
                    self.assertTrue(any(f"{one:.{digits}g}" == f"{value:.{digits}g}" or
                                        (unit == "GiB" and f"{one / 1024:.1f}" == number)
                                        for one in known))


if __name__ == "__main__":
    unittest.main()
