"""grain_visualization_dir: pages that show the contents of batches."""
from __future__ import annotations

import html
import os
import subprocess

import leat
from leat import _abi
from leat._library import COMMAND, call, encoded, lib

_STEPS = 4  # batches whose rows are shown

_PAGE = """<!DOCTYPE html>
<!-- Written by leat. -->
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body {{ font: 14px/1.5 sans-serif; margin: 2em auto; max-width: 72em }}
pre {{ font-size: 12px; overflow-x: auto; background: #f4f4f4; padding: 0.7em }}</style>
</head><body><h1>{title}</h1><p><code>leat {command}</code></p>
{steps}</body></html>
"""


def write_report(folder: str, name: str, loader: leat.Loader) -> None:
    """Writes two pages into a folder, which is created if needed: NAME.html, the report of `leat
    batches`, and NAME-rows.html, the rows of the first batches in words. Pages that leat wrote are
    replaced. Raises LeatError with the command's message if it fails, FileExistsError if
    NAME-rows.html is not such a page."""
    os.makedirs(folder, exist_ok=True)
    done = subprocess.run([COMMAND, *loader.command, "--report",
                           os.path.join(folder, f"{name}.html")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise leat.LeatError(f"the report of the {name} batches: {done.stdout.strip()}")
    steps = []
    for step in range(_STEPS if loader.steps is None else min(_STEPS, loader.steps)):
        rows = [loader.explain(step, row) for row in range(loader.batch)]
        lines = "\n".join(html.escape(each.summary()) for each in rows)
        steps.append(f"<h2>step {step}</h2><pre>{lines}</pre>"
                     f"<h3>row 0 in words</h3><pre>{html.escape(str(rows[0]))}</pre>")
    page = _PAGE.format(title=f"leat: rows of the first {html.escape(name)} batches",
                        command=html.escape(" ".join(loader.command)),
                        steps="\n".join(steps)).encode()
    call(lib.leat_text_save, encoded(os.path.join(folder, f"{name}-rows.html")), page, len(page),
         _abi.MARK_PAGE, False)
