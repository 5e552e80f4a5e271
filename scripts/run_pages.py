#!/usr/bin/env python3
"""Runs what the pages of documentation show, as a reader would, and compares what is printed.

  scripts/run_pages.py [PAGE...]   the blocks of these pages (default: README.md, CONTRIBUTING.md,
                                   python/README.md and all of docs/), page by page, each in a
                                   folder of its own beside links to the clone's files, with the
                                   leat of --build
  scripts/run_pages.py --fresh     clones this repository first, builds leat with the README's own
                                   words, and uses that clone and nothing else
  scripts/run_pages.py --list      runs nothing: one line per block, and what would be done with it
  --build DIR                      the build to use (default: build, or LEAT_BUILD)
  --limit SECONDS                  ends a command that takes longer (default: 900)

A block is what is indented by four columns, or between lines of three backticks. Its language says
what it is: sh (and an indented block) are commands; with lines "$ COMMAND", the lines below each
one are what it prints. python, c and cmake are programs: all Python blocks of a page in a row are
one program, a C block is the body of main. json and text are to be read.

An HTML comment before a block, which no reader sees, says what the runner cannot know:

  <!-- not run: REASON -->       it needs what a test does not have: a second machine, hours, ...
  <!-- needs: NAME, NAME -->     run only where these Python modules are; of commands, or programs
  <!-- in a fresh clone: WHY --> run only with --fresh: elsewhere this has been done
  <!-- first: COMMANDS -->       run before: the files that the page takes for granted
  <!-- first in a fresh clone: COMMANDS -->   the same, only with --fresh
  <!-- before: CODE -->          what comes before the body of main, or before the lines for CMake
  <!-- prints: LINES -->         what a Python block must print: the promises of its comments
  <!-- printed by: COMMAND -->   a block to be read is the output of this command

Printed and shown lines must be the same. "..." as a line is any number of lines, within a line any
text. These differ between machines, and their numbers are not compared: lines that begin with time,
memory or waiting, and the rates of leat batches --time; the amount spilled, which depends on the
number of threads; decimal fractions and false alarms in lines of training with JAX and PyTorch.

Prints each page, each failure, and the blocks that were not run with their reasons. Ends in
"N passed, N failed, N skipped", where skipped are those that are marked, or whose needs are not
met; exit status 1 if a block failed.
"""
import argparse
import collections
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
Block = collections.namedtuple("Block", "page line kind lines marks")
Result = collections.namedtuple("Result", "block status compared detail")
PASSED, FAILED, SKIPPED, READ = "passed", "failed", "skipped", "read"
MARKS = ("not run", "needs", "in a fresh clone", "first", "first in a fresh clone", "before",
         "prints", "printed by")
KINDS = {"sh": "sh", "python": "python", "c": "c", "cmake": "cmake", "json": "text",
         "text": "text"}
PROMPT = "$ "
# Of the clone, linked into each page's folder: what pages name, and what pip builds the package of.
LINKED = ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "cli", "cmake", "docs",
          "examples", "include", "python", "scripts", "src")
# (lines that begin so, what is not compared there)
NUMBER = r"\d[\d.,]*( [kM](?= \w+/s))?"
MEASURED = [(r"time |memory |waiting |in \d|read  .*shards", NUMBER),
            (r"bytes ", r"\d[\d.,]* (bytes|KiB|MiB) spilled"),
            (r"epoch \d|step \d+: loss|test\w*: ", r"\d+\.\d+|\d+(?= false alarms)")]


class BadPage(Exception):
    """A page whose blocks cannot be read: an unknown mark or language."""


# ---- the blocks of a page -----------------------------------------------------------------------

def read_mark(page, number, text):
    """(name, content) of a comment."""
    name, colon, content = text.removeprefix("<!--").removesuffix("-->").partition(":")
    if not colon or name.strip() not in MARKS or not content.strip():
        raise BadPage(f"{page}:{number}: not a mark of scripts/run_pages.py: {text}")
    return name.strip(), content.strip("\n").strip()


def end_of(lines, start, is_last, page, what):
    for i in range(start, len(lines)):
        if is_last(lines[i]):
            return i
    raise BadPage(f"{page}:{start}: {what} without an end")


def read_fence(page, lines, start):
    """(kind, lines, the line after it) of a block between backticks."""
    language = lines[start].strip("` ")
    if language not in KINDS:
        raise BadPage(f"{page}:{start + 1}: a block in language \"{language}\", which is not one "
                      f"of {', '.join(KINDS)}")
    end = end_of(lines, start + 1, lambda line: line.startswith("```"), page, "a block")
    return KINDS[language], lines[start + 1:end], end + 1


def read_indented(lines, start):
    end = start
    while end < len(lines) and lines[end].startswith("    "):
        end += 1
    return "sh", [line[4:] for line in lines[start:end]], end


def blocks(page, text):
    """The blocks of a page with their marks, in order."""
    lines, found, marks, i = text.split("\n"), [], {}, 0
    while i < len(lines):
        line, start = lines[i], i
        if line.startswith("<!--"):
            i = end_of(lines, i, lambda line: line.endswith("-->"), page, "a comment") + 1
            name, content = read_mark(page, start + 1, "\n".join(lines[start:i]))
            marks[name] = content
            continue
        if line.startswith("```"):
            kind, inside, i = read_fence(page, lines, i)
        elif line.startswith("    ") and (i == 0 or not lines[i - 1].strip()):
            kind, inside, i = read_indented(lines, i)
        else:
            if line.strip() and marks:
                raise BadPage(f"{page}:{i + 1}: no block follows the comment before this line")
            i += 1
            continue
        found.append(Block(page, start + 1, kind, inside, marks))
        marks = {}
    if marks:
        raise BadPage(f"{page}: no block follows its last comment")
    return found


def session(lines):
    """[(command, the lines below it)] of a block with prompts; None of one without."""
    found = []
    for line in lines:
        if line.startswith(PROMPT):
            found.append((line[len(PROMPT):], []))
        elif found:
            found[-1][1].append(line)
    if found and not lines[0].startswith(PROMPT):
        raise ValueError("lines before the first prompt")
    return found or None


# ---- comparing ------------------------------------------------------------------------------

def masked(line):
    """Without the numbers that differ between machines."""
    for begins, what in MEASURED:
        if re.match(begins, line):
            line = re.sub(what, "#", line)
    return line


def same(shown, printed):
    pieces = masked(shown).rstrip().split("...")
    return re.fullmatch(".*".join(map(re.escape, pieces)), masked(printed).rstrip()) is not None


def matches(shown, printed):
    """Whether lines of a page are those that were printed."""
    if not shown:
        return not printed
    if shown[0].strip() == "...":
        return any(matches(shown[1:], printed[skip:]) for skip in range(len(printed) + 1))
    return bool(printed) and same(shown[0], printed[0]) and matches(shown[1:], printed[1:])


def difference(shown, printed):
    return "the page shows\n" + "\n".join(shown) + "\nand this is printed\n" + "\n".join(printed)


# ---- running --------------------------------------------------------------------------------

class Reader:
    """One who does what a page says, in one folder and one shell."""

    def __init__(self, home, build, fresh=False, limit=900, place=None, more=None):
        self.home, self.build, self.fresh, self.limit = home, build, fresh, limit
        self.own = tempfile.mkdtemp(prefix="leat-pages-")
        self.place = self.folder = place or os.path.join(self.own, "place")
        self.environment = {**os.environ, **(more or {})}
        if place is None:
            os.mkdir(self.place)
            for name in LINKED:
                os.symlink(os.path.join(home, name), os.path.join(self.place, name))
            os.symlink(os.path.abspath(build), os.path.join(self.place, "build"))
            self.environment["PATH"] = os.pathsep.join(
                [os.path.abspath(build), os.path.dirname(sys.executable), os.environ["PATH"]])
        self.has = {}

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        shutil.rmtree(self.own, ignore_errors=True)

    def run(self, *words):
        """(status, stdout, stderr) of a program, which is ended with all that it has started."""
        with subprocess.Popen(words, cwd=self.folder, env=self.environment, text=True,
                              errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, start_new_session=True) as process:
            try:
                out, err = process.communicate(timeout=self.limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
                err += f"\nkilled after {self.limit} s"
            return process.returncode, out, err

    def shell(self, commands):
        """run() of commands; the next ones have the folder and the variables of their end."""
        state = os.path.join(self.own, "state")
        done = self.run("bash", "-c", 'eval "$1"; status=$?; { pwd; env -0; } >"$2"; exit $status',
                        "bash", commands, state)
        if os.path.exists(state):
            with open(state, encoding="utf-8", errors="surrogateescape") as file:
                self.folder, _, variables = file.read().partition("\n")
            self.environment = dict(pair.split("=", 1) for pair in variables.split("\0") if pair)
            os.unlink(state)
        return done

    def missing(self, block):
        """The first of a block's needs that is not here, or None."""
        for name in re.findall(r"[\w.-]+", block.marks.get("needs", "")):
            here = self.environment.get("PATH"), block.kind, name
            if here not in self.has:
                self.has[here] = self.run("python3", "-c", f"import {name}")[0] == 0 or \
                    block.kind == "sh" and self.run("bash", "-c", f"command -v {name}")[0] == 0
            if not self.has[here]:
                return name
        return None

    def prepare(self, block):
        """Runs what comes before a block. None, or the result of a block that cannot be run."""
        if "not run" in block.marks:
            return Result(block, SKIPPED, False, block.marks["not run"])
        if "in a fresh clone" in block.marks and not self.fresh:
            return Result(block, SKIPPED, False, "only in a fresh clone: " +
                          block.marks["in a fresh clone"])
        for name in ("first in a fresh clone", "first"):
            missing = self.missing(block) if name == "first" else None
            if missing:
                return Result(block, SKIPPED, False, f"{missing} is not here")
            if name in block.marks and (name == "first" or self.fresh):
                status, out, err = self.shell("set -e\n" + block.marks[name] + "\nset +e")
                if status:
                    return Result(block, FAILED, False, f"its comment \"{name}\" ends with "
                                  f"status {status}\n{out}{err}")
        return None

    def run_sh(self, block):
        commands = session(block.lines)
        if commands is None:
            status, out, err = self.shell("set -e\n" + "\n".join(block.lines) + "\nset +e")
            return Result(block, FAILED if status else PASSED, False,
                          f"status {status}\n{out}{err}" if status else "")
        compared = False
        for command, shown in commands:
            status, out, err = self.shell(command)
            if status:
                return Result(block, FAILED, compared, f"{command}: status {status}\n{out}{err}")
            if shown and not matches(shown, out.splitlines()):
                return Result(block, FAILED, True,
                              f"{command}\n{difference(shown, out.splitlines())}")
            compared = compared or bool(shown)
        return Result(block, PASSED, compared, "")

    def write(self, name, text):
        path = os.path.join(self.own, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run_program(self, block, *steps):
        """Runs commands until one fails."""
        for words in steps:
            status, out, err = self.run(*words)
            if status:
                return Result(block, FAILED, False, f"{words[0]}: status {status}\n{out}{err}")
        return Result(block, PASSED, False, "")

    def run_c(self, block):
        """The body of main, after its declarations; its status is that of `err`."""
        source = self.write("page.c", '#include "leat/leat.h"\n\n#include <assert.h>\n' +
                            block.marks.get("before", "") +
                            "\nint main(void)\n{\n" + "\n".join(block.lines) +
                            "\nreturn err.code != LEAT_OK;\n}\n")
        program = os.path.join(self.own, "page")
        build = os.path.abspath(self.build)
        return self.run_program(
            block, ["cc", "-std=c17", "-Wall", "-Werror", "-Wno-unused-result", "-I",
                    os.path.join(self.home, "include"), source, "-L", build, "-lleat",
                    f"-Wl,-rpath,{build}", "-o", program], [program])

    def run_cmake(self, block):
        self.write("cmake/CMakeLists.txt", block.marks.get("before", "") + "\n" +
                   "\n".join(block.lines) + "\n")
        folder = os.path.join(self.own, "cmake")
        return self.run_program(block, ["cmake", "-S", folder, "-B", folder + "/build",
                                        f"-DHERE={self.folder}"],
                                ["cmake", "--build", folder + "/build"])

    def run_text(self, block):
        if "printed by" not in block.marks:
            return Result(block, READ, False, "")
        status, out, err = self.shell(block.marks["printed by"])
        if status or not matches(block.lines, out.splitlines()):
            return Result(block, FAILED, True,
                          f"status {status}\n{err}" + difference(block.lines, out.splitlines()))
        return Result(block, PASSED, True, "")

    def run_python(self, several):
        """Blocks in a row, as one program; the result of each."""
        program = self.write("page.py", "".join(
            f'print("\\x1e", flush=True)\n{chr(10).join(block.lines)}\n' for block in several))
        status, out, err = self.run("python3", program)
        parts = out.split("\x1e\n")[1:]
        results = []
        for i, block in enumerate(several):
            printed = parts[i].splitlines() if i < len(parts) else []
            shown = block.marks.get("prints", "").splitlines()
            if i >= len(parts):
                results.append(Result(block, FAILED, False, "not reached: one before it failed"))
            elif status and i == len(parts) - 1:
                results.append(Result(block, FAILED, False, f"status {status}\n{parts[i]}{err}"))
            elif shown and not matches(shown, printed):
                results.append(Result(block, FAILED, True, difference(shown, printed)))
            else:
                results.append(Result(block, PASSED, bool(shown), ""))
        if status and not parts:
            results[0] = Result(several[0], FAILED, False, f"status {status}\n{err}")
        return results

    def run_page(self, page, text):
        """The results of a page's blocks, in their order."""
        results, row = [], []  # row: Python blocks that are still to be run
        for block in blocks(page, text):
            if row and block.kind not in ("python", "text"):
                results += self.run_python(row)
                row = []
            result = self.prepare(block)
            if result is None and block.kind == "python":
                row.append(block)
            else:
                results.append(result or {
                    "sh": self.run_sh, "c": self.run_c, "cmake": self.run_cmake,
                    "text": self.run_text}[block.kind](block))
        results += self.run_python(row) if row else []
        return sorted(results, key=lambda result: result.block.line)


def read_page(home, page):
    with open(os.path.join(home, page), encoding="utf-8") as file:
        return file.read()


def run_page(page, home=HOME, build=None, **more):
    """The results of one page, in a folder that is removed."""
    with Reader(home, build or os.path.join(home, "build"), **more) as reader:
        return reader.run_page(page, read_page(home, page))


# ---- the command ----------------------------------------------------------------------------

def every_page(home):
    return ["README.md", "CONTRIBUTING.md", "python/README.md"] + sorted(
        os.path.relpath(path, home) for path in glob.glob(os.path.join(home, "docs", "*.md")))


def describe(block):
    """What is done with a block, in words."""
    if "not run" in block.marks:
        return "not run: " + block.marks["not run"]
    shows = block.kind == "sh" and any(shown for _, shown in session(block.lines) or [])
    compared = shows or {"prints", "printed by"} & set(block.marks)
    what = "to be read" if block.kind == "text" and not compared else \
        "run, output compared" if compared else "run, exit status"
    if "in a fresh clone" in block.marks:
        what += ", in a fresh clone only"
    return what + (f", needs {block.marks['needs']}" if "needs" in block.marks else "")


def show(page, results):
    """Prints a page's line and its failures; counts are updated by the caller."""
    ran = [result for result in results if result.status in (PASSED, FAILED)]
    compared = sum(result.compared for result in ran)
    if results:
        print(f"{page}: {len(ran)} of {len(results)} blocks run, the output of {compared} compared",
              flush=True)
    for result in ran:
        if result.status == FAILED:
            print(f"  {page}:{result.block.line}: failed")
            print("\n".join("    " + line for line in result.detail.rstrip().split("\n")))


def clone(home, into):
    subprocess.run(["git", "clone", "-q", home, into], check=True)
    return into


def run_pages(pages, options):
    """All results of pages."""
    results, home, build = [], HOME, options.build
    with tempfile.TemporaryDirectory(prefix="leat-pages-") as top:
        if options.fresh:
            home = clone(HOME, os.path.join(top, "leat"))
            build = os.path.join(home, "build")
            pages = ["README.md"] + [page for page in pages if page != "README.md"]
        for page in pages:
            of_page = run_page(page, home, build, fresh=options.fresh, limit=options.limit,
                               place=home if options.fresh and page == "README.md" else None)
            show(page, of_page)
            results += of_page
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", metavar="DIR",
                        default=os.environ.get("LEAT_BUILD", os.path.join(HOME, "build")))
    parser.add_argument("--limit", metavar="SECONDS", type=int, default=900)
    parser.add_argument("pages", nargs="*", metavar="PAGE")
    options = parser.parse_args()
    known = every_page(HOME)
    pages = options.pages or known
    unknown = [page for page in pages if page not in known]
    if unknown:
        parser.error(f"not a page: {unknown[0]} (README.md, CONTRIBUTING.md, docs/NAME.md, ...)")
    if options.list:
        for page in pages:
            for block in blocks(page, read_page(HOME, page)):
                print(f"{page}:{block.line} {block.kind}: {describe(block)}")
        return 0
    results = run_pages(pages, options)
    for result in results:
        if result.status == SKIPPED:
            print(f"not run: {result.block.page}:{result.block.line}: {result.detail}")
    count = collections.Counter(result.status for result in results)
    print(f"{sum(result.compared for result in results)} outputs compared, "
          f"{count[READ]} blocks are only to be read")
    print(f"{count[PASSED]} passed, {count[FAILED]} failed, {count[SKIPPED]} skipped")
    return 1 if count[FAILED] or not count[PASSED] else 0


if __name__ == "__main__":
    sys.exit(main())
