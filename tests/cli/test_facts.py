"""Facts of the command (cli/facts.h): by a layout and as JSON, and docs/schema in step with them.

Runs leat_fact_shown and leat_fact_rows, which are linked with the command.
"""
import copy
import json
import os
import subprocess
import sys
import unittest

import json_schema
from command import BUILD, ROOT

sys.path.insert(0, os.path.join(ROOT, "scripts"))
import schemas  # noqa: E402  pylint: disable=wrong-import-position

FOLDER = os.path.join(ROOT, "docs", "schema")


def program(name):
    return os.path.join(BUILD, "tests", "leat_fact_" + name)


def shown(which, *words):
    return subprocess.run([program("shown"), *words], env={**os.environ, "FACTS": which},
                          capture_output=True, check=False, text=True)


class Shown(unittest.TestCase):
    def test_layouts(self):
        """Layout, what it is of a source that has everything, and of one that has nothing."""
        for layout, full, blank in (
                ("", "", ""),
                ("run {name}\n", "run n\\x0a1\n", "run \n"),
                ("{note}{note}", "[{x}][{x}]", ""),
                ("{open}, {steps}", "open, 12,345 steps", "closed, 0 steps"),
                ("[{open}]", "open", ""),
                ("{unit}", "0", "-1"),
                ("a[ {steps}] b", "a 12,345 steps b", "a b"),
                ("a[; unit {unit}] b", "a; unit 0 b", "a b"),
                ("[{steps} of {twice}\n][none]", "12,345 steps of 24,690\nnone", "none"),
                ("[{loss}, {note}]", "0.500, [{x}]", ""),
                ("[{seconds}|]{bytes}", "1 min 1 s|2.00 KiB", "0 bytes"),
                ("{note:7}|{note:-7}|{note:.2}|", "  [{x}]|[{x}]  |[{|", "       |       ||"),
                ("{twice:-7}|{note:-4.3}|{note:.0}", "24,690 |[{x |", "0      |    |"),
                ("a[b {open}[c {note}]d[e {unit}]]f", "ab openc [{x}]de 0f",
                 "af"),
                ("[a[b {note}]c]d", "ab [{x}]cd", "acd"),
                ("[list {array}]", "list <  a=1,   b>", ""),
                ("{shown}", "(12345)", "(0)"),
                ("{step_images}", "12,345 graphs", "0 graphs"),
                ("[{members}: ]{a}", "a/b: 0", "-1"),
                ("{loss}|{delay:9}|{share}|{rate}|{low_rate:-5}|",
                 "0.500|  53.7 ms|3.52 %|1,235|0.5  |", "-|        -|-|-|-    |"),
                ("{array}{object}", "<  a=1,   b>only a", "")):
            for which, text in (("full", full), ("blank", blank)):
                done = shown(which, layout)
                self.assertEqual((done.returncode, done.stdout), (0, text), (which, layout))

    def test_a_layout_that_is_wrong(self):
        for layout in ("{nothing}", "{nam}", "{names}", "{name", "[{nothing}]", "[a", "[{note}[a]",
                       "{pair}", "{bare}"):
            done = shown("full", layout)
            self.assertLess(done.returncode, 0, layout)
            self.assertIn("mistake in a table of leat itself", done.stderr, layout)

    def test_cards(self):
        name, steps, loss = (
            '<tr><td>a &lt;name&gt;</td><td class="text mono wide">{}</td></tr>\n',
            '<div class="card"><span>steps</span><b>{}</b></div>\n',
            '<div class="card"><span>loss</span><b>{}</b></div>\n')
        for keys, full, blank in (
                ("", "", ""), (" steps  loss ", steps.format("12,345") + loss.format("0.5"),
                               steps.format("0")),
                ("step_images", steps.replace("steps", "graphs of it").format("12,345"),
                 steps.replace("steps", "graphs of it").format("0")),
                ("name", name.format("n\\x0a1"), name.format(""))):
            for which, text in (("full", full), ("blank", blank)):
                done = shown(which, "cards", keys)
                self.assertEqual((done.returncode, done.stdout), (0, text), (which, keys))
        # The last ones have no label, or are no card.
        for keys in ("nothing", "steps,loss", "unit", "open", "array", "members"):
            self.assertLess(shown("full", "cards", keys).returncode, 0, keys)

    def test_cells(self):
        for which, text in (("full", "<td>0.500</td><td>[{x}]</td><td>1,235</td>"),
                            ("blank", "<td>-</td><td></td><td>-</td>")):
            self.assertEqual(shown(which, "cells", "loss note rate").stdout, text)

    def test_json(self):
        full, blank = (shown(which).stdout for which in ("full", "blank"))
        self.assertEqual(list(json.loads(full).items()), [
            ("name", "n\n1"), ("note", "[{x}]"), ("open", True), ("steps", 12345), ("unit", 0),
            ("loss", 0.5), ("seconds", 61.2), ("bytes", 2048), ("pair", [12345, True]),
            ("array", [{"word": "a", "value": 1.0}, {"word": "b"}]), ("named", {"a": 1.0}),
            ("object", {"word": "a", "value": 1.0}), ("step_graphs", 12345),
            ("a", 1.0)])
        self.assertEqual(list(json.loads(blank).items()), [
            ("name", ""), ("open", False), ("steps", 0), ("bytes", 0), ("pair", [0, False]),
            ("array", []), ("step_graphs", 0)])


class Schemas(unittest.TestCase):
    def setUp(self):
        self.tables = schemas.read_tables(program("rows"))

    def test_in_step(self):
        for path, text in schemas.generate(self.tables, FOLDER):
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), text, f"{os.path.relpath(path, ROOT)} is not in step "
                                 "with the table of facts: run scripts/schemas.py")

    def test_shared_definitions(self):
        """A list whose schema is a definition of common.json: that has what the table says."""
        every, count = json_schema.Schemas(), 0
        for name, rows in self.tables.items():
            for row in rows:
                place = f"{name}.json#/properties/{row['key']}"
                _, _, path = place.partition("#")
                if "$ref" not in (schema := every.find(f"#{path}", place)[0]):
                    continue
                shared, _ = every.find(schema["$ref"], place)
                told = {**row, "help": shared["description"]}
                self.assertEqual(schemas.lines_of(shared, 0, 0),
                                 schemas.lines_of(schemas.member(shared, told), 0, 0), place)
                count += 1
        self.assertGreater(count, 0)

    def test_names_of_a_run(self):
        """What documents about runs have besides the numbers of a model, which are not called so
        (leat_task_find): those of the DCGAN are not among them."""
        own = {"images", "step_images", "images_per_second", "generator_parameters",
               "discriminator_parameters", "score", "score_untrained", "score_halves", "deviation",
               "spread", "spread_data"}
        with open(os.path.join(ROOT, "src", "train", "run", "task.c"), encoding="utf-8") as file:
            text = file.read().partition("fixed[] =")[2].partition(";")[0]
        fixed = set(text.replace('"', "").split())
        self.assertFalse(fixed & own)
        for name in ("train-dcgan", "train-dcgan-dry-run", "coordinate", "inspect-run"):
            rows = self.tables[name]
            rows = [*rows, *next((row["items"] for row in rows if row["key"] == "checkpoints"), [])]
            self.assertLessEqual({row["key"] for row in rows} - own, fixed, name)

    def test_what_is_written(self):
        """A row that is new, changed or gone; what only the schema has stays."""
        with open(os.path.join(FOLDER, "status.json"), encoding="utf-8") as file:
            before = json.load(file)
        rows = copy.deepcopy(self.tables["status"])
        rows[0]["help"] = "Other words."
        del rows[1]
        rows.insert(1, {"key": "new", "type": "integer", "optional": True, "help": "New."})
        events = next(row for row in rows if row["key"] == "events")
        events["items"][1]["optional"] = True
        after = schemas.in_step(before, rows)
        self.assertEqual(list(after["properties"])[:3], ["run", "new", "state"])
        self.assertEqual(after["properties"]["new"],
                         {"type": "integer", "minimum": 0, "description": "New."})
        self.assertEqual(after["properties"]["run"]["description"], "Other words.")
        self.assertEqual(after["required"], [name for name in before["required"]
                                             if name != "model"])
        self.assertEqual(after["title"], before["title"])
        items = after["properties"]["events"]["items"]
        self.assertNotIn("kind", items["required"])
        self.assertEqual(items["properties"]["kind"]["enum"], ["failed", "refused", "slow"])
        self.assertEqual(after["properties"]["events"]["maxItems"], 20)


if __name__ == "__main__":
    unittest.main()
