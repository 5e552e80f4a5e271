#!/usr/bin/env python3
"""Writes what tables of facts say into docs/schema.

    scripts/schemas.py [--rows PROGRAM] [--folder DIR]

The command's tables (leat_facts of cli/facts.h) have the members of a document in order, their
types, which of them may be absent, and what they mean. build/tests/leat_fact_rows prints them. What
only the schema has stays as it is: title, patterns, enumerations, bounds, and members that a
function writes, of which only the description is written. A new whole number is at least 0.

Documents about runs name their samples and what is measured of the model: the tables have the names
of the DCGAN, and schemas of runs on graphs (OF_GRAPHS) are written from them with those of the VGAE
and the GAT.

tests/cli/test_facts.py says whether the schemas are in step with the tables.
"""
import argparse
import json
import os
import subprocess
import sys

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLUMNS = 118

# Schemas of documents about runs on graphs, by that of a table; and what is named otherwise there.
OF_GRAPHS = {"train-dcgan": "train-graphs", "train-dcgan-dry-run": "train-graphs-dry-run",
             "inspect-run": "inspect-run-graphs"}
OF_THE_DCGAN = {"score", "score_untrained", "score_halves", "deviation", "spread", "spread_data",
                "generator_parameters", "discriminator_parameters"}
MEASURES = [{"key": key, "type": "number", "optional": True, "help": text} for key, text in (
    ("val_loss", "Loss on validation graphs, lower is better; of a VGAE on benign ones; absent: "
     "not measured."),
    ("val_loss_untrained", "The same before the first step, of a VGAE; absent: not measured."),
    ("val_auroc", "AUROC on validation graphs, of a GAT; absent: not measured, or they are of one "
     "class."),
    ("val_auroc_untrained", "The same before the first step; absent: not measured."))]
WORDS = (("Images", "Graphs"), ("images", "graphs"), (" of both networks", ""),
         ("--units x --unit-size", "of the first step"), ("What the samples were like",
         "What was measured on validation graphs"), ('Model: "dcgan"', 'Model: "vgae" or "gat"'),
         (", without samples and checkpoints", ", without measurements and checkpoints"))


def in_step(schema, rows):
    """The schema of an object, with the members of its table."""
    had = schema.get("properties", {})
    return {**schema, "additionalProperties": False,
            "required": [row["key"] for row in rows if not row["optional"]],
            "properties": {row["key"]: member(had.get(row["key"], {}), row) for row in rows}}


def member(schema, row):
    if "$ref" in schema:
        return {**schema, "description": row["help"]}
    if not schema and row["type"] == "integer":
        schema = {"type": "integer", "minimum": 0}
    if row["type"] and "const" not in schema:
        schema = {**schema, "type": row["type"]}
    if row["help"]:
        schema = {**schema, "description": row["help"]}
    if "value" in row:
        return {**schema, "additionalProperties":
                member(schema.get("additionalProperties", {}), row["value"])}
    if row["type"] == "array":
        items = {"type": "object", "description": "", **schema.get("items", {})}
        return {**schema, "items": in_step({**items, "description": row["one"]}, row["items"])}
    return in_step(schema, row["items"]) if "items" in row else schema


def of_graphs(rows):
    """A table of a run, with the names of runs on graphs."""
    untrained = any(row["key"] == "score_untrained" for row in rows)
    measures = [row for row in MEASURES if untrained or not row["key"].endswith("_untrained")]
    out = []
    for row in rows:
        if row["key"] == "score":
            out += measures
        if row["key"] in OF_THE_DCGAN:
            continue
        row = {**row, "key": row["key"].replace("images", "graphs")}
        for old, new in WORDS:
            row["help"] = row["help"] and row["help"].replace(old, new)
        out.append({**row, "items": of_graphs(row["items"])} if "items" in row else row)
    return out


def lines_of(value, indent, used):
    """A value as the schemas are written: on one line if it fits."""
    line, margin = json.dumps(value, ensure_ascii=False), " " * (indent + 2)
    if not isinstance(value, (dict, list)) or indent and indent + used + len(line) <= COLUMNS:
        return line
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {lines_of(inner, indent + 2, len(key) + 4)}"
                 for key, inner in value.items()]
    elif all(isinstance(inner, str) for inner in value):
        parts, words = [], [json.dumps(word, ensure_ascii=False) for word in value]
        for word in words:
            if parts and indent + len(parts[-1]) + len(word) + 5 <= COLUMNS:
                parts[-1] += ", " + word
            else:
                parts.append(word)
    else:
        parts = [lines_of(inner, indent + 2, 0) for inner in value]
    ends = "{}" if isinstance(value, dict) else "[]"
    return (ends[0] + "\n" + ",\n".join(margin + part for part in parts) + "\n" + " " * indent +
            ends[1])


def generate(tables, folder):
    """(path, text) of each schema that has a table."""
    more = {OF_GRAPHS[name]: of_graphs(rows) for name, rows in tables.items() if name in OF_GRAPHS}
    for name, rows in {**tables, **more}.items():
        path = os.path.join(folder, f"{name}.json")
        with open(path, encoding="utf-8") as file:
            yield path, lines_of(in_step(json.load(file), rows), 0, 0) + "\n"


def read_tables(program):
    done = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=os.path.join(HOME, "build", "tests", "leat_fact_rows"),
                        help="prints the tables (default: that of make all)")
    parser.add_argument("--folder", default=os.path.join(HOME, "docs", "schema"),
                        help="of the schemas (default: docs/schema)")
    options = parser.parse_args()
    try:
        texts = list(generate(read_tables(options.rows), options.folder))
    except OSError as error:
        print(f"schemas: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    for path, text in texts:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
