"""README.md and five pages of docs: their blocks, run as they are printed; the figures of README.md
and docs/benchmarks.md, and the links of all pages. The blocks of every page are run in a bare
Debian by make check-wide (scripts/run_pages.py).
"""
import glob
import json
import os
import re
import unittest

import command
from shown import Pages, pages, read


class Blocks(Pages):
    """(blocks that were run, outputs compared, blocks that were not run) of a page."""

    def setUp(self):
        if not json.loads(command.leat("version", "--json").stdout)["duckdb"]["available"]:
            self.skipTest("no DuckDB: Parquet is not written")

    def test_readme(self):
        ran, compared, missing = self.run_page("README.md")  # one needs the package leat
        self.assertEqual((ran, compared, missing), (2, 2, 4))

    def test_can(self):
        ran, compared, missing = self.run_page("docs/can.md")  # some need packages of Python
        self.assertEqual((ran + missing, compared), (9, 3))
        self.assertGreaterEqual(ran, 6)

    def test_images(self):
        ran, compared, missing = self.run_page("docs/images.md")  # one needs safetensors
        self.assertEqual((ran + missing, compared), (4, 2))

    def test_probe_rows(self):
        ran, _, missing = self.run_page("docs/probe-rows.md")  # needs PyArrow
        self.assertEqual(ran + missing, 1)

    def test_ingest(self):
        self.assertEqual(self.run_page("docs/ingest.md"), (2, 0, 0))

    @unittest.skipIf(os.environ.get("LEAT_SANITIZE"),
                     "skipped: a sanitizer's library needs its runtime first")
    def test_loading(self):
        self.assertEqual(self.run_page("docs/loading.md"), (3, 0, 0))

    def test_each_block_says_what_it_is(self):
        """What is neither to be run nor to be read has a reason in its page."""
        count = 0
        for page in pages.every_page(command.ROOT):
            for block in pages.blocks(page, read(page)):
                with self.subTest(block=f"{page}:{block.line}"):
                    self.assertTrue(pages.describe(block))
                count += 1
        self.assertGreater(count, 80)


def anchors(text):
    """What can follow # in a link to a page, as GitHub makes it."""
    heads = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^a-z0-9_ -]", "", head.lower()).strip().replace(" ", "-")
            for head in heads} | set(re.findall(r'<a id="([^"]+)"', text))


class Links(unittest.TestCase):
    def test_they_lead_somewhere(self):
        """Each link of a page to a file of the repository, and to a heading in it."""
        pages = [os.path.relpath(path, command.ROOT) for pattern in ("*.md", "docs/*.md")
                 for path in glob.glob(os.path.join(command.ROOT, pattern))]
        self.assertGreater(len(pages), 25)
        for page in pages:
            for link in re.findall(r"\]\(([^)\s]+)\)", read(page)):
                name, _, heading = link.partition("#")
                target = os.path.normpath(os.path.join(os.path.dirname(page), name))
                target = target if name else page
                if re.match("https?:", link):
                    continue
                with self.subTest(page=page, link=link):
                    self.assertTrue(os.path.exists(os.path.join(command.ROOT, target)))
                    if heading and target.endswith(".md"):
                        self.assertIn(heading, anchors(read(target)))


class Figures(unittest.TestCase):
    def test_benchmarks_are_those_that_were_measured(self):
        """Each figure of a table of docs/benchmarks.md is in a table of docs/performance.md."""
        def figures(page):
            rows = "\n".join(re.findall(r"^\|.*$", page, re.M))
            return re.findall(r"(?<![\d.x])\d[\d,]*(?:\.\d+)? ?(?:[a-zA-Z%]+)?", rows)

        measured = {one.replace(" ", "") for one in figures(read("docs", "performance.md"))}
        bare = {re.match(r"[\d,.]+", one)[0] for one in measured}
        shown = re.findall(r"^\| [^|]*\|(.*)\|$", read("docs", "benchmarks.md"), re.M)
        count = 0
        for figure in figures("|" + "|".join(shown)):
            with self.subTest(figure=figure):
                if re.fullmatch(r"[\d,.]+", figure):
                    self.assertTrue(figure in bare)
                elif not figure.endswith(("thread", "threads", "measurements")):
                    self.assertTrue(figure.replace(" ", "") in measured)
                count += 1
        self.assertGreater(count, 40)

    def test_benchmarks_in_sentences_too(self):
        """Ratios, seconds, millions and shares in the prose of docs/benchmarks.md."""
        prose, rows = re.sub(r"^\|.*$", "", read("docs", "benchmarks.md"), flags=re.M), "\n".join(
            re.findall(r"^\|.*$", read("docs", "performance.md"), re.M))
        found = re.findall(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)(x| s| M| %)(?!\w)", prose)
        self.assertGreater(len(found), 8)
        for number, unit in found:
            with self.subTest(figure=number + unit):
                self.assertRegex(rows, rf"(?<![\d.,]){re.escape(number)} ?{unit.strip()}(?!\w)")

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
