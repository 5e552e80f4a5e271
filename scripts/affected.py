"""Which tests a change can break: scripts/check --since.

The graph of rooms (scripts/rooms.txt) says it for tests in C: a changed file reaches its own room,
or its kind of it, and all that see that. Tests of the command are reached through the commands that
they run: a command uses the rooms whose public headers its files include. Tests of examples and of
scripts are reached by changes in those folders, and so are examples by the commands that they run;
tests that name golden files, by changes of these.
What would take too long is left out, the farthest and the longest first, and named.
"""
import collections
import os
import re
import subprocess

Choice = collections.namedtuple("Choice", "tests left_out changed")
UNKNOWN_SECONDS = 1.0


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""


class Rooms:
    """The graph: rooms, the kinds in their folders, "room/kind", and parts of these."""

    def __init__(self, home):
        self.sees = {}
        for line in read(os.path.join(home, "scripts", "rooms.txt")).split("\n"):
            match = re.match(r"([a-z_/]+):(.*)$", line)
            if match:
                self.sees[match.group(1)] = match.group(2).split()

    def of(self, path):
        """The node of a path below src/ or tests/, without that folder; None if it has none."""
        parts = path.split("/")
        nodes = ("/".join(parts[:depth]) for depth in range(3, 0, -1))
        return next((node for node in nodes if node in self.sees), None)

    def above(self, node):
        """{node: distance} of all that a change of this one can break, itself included."""
        found, edge = {node: 0}, [node]
        while edge:
            below = edge.pop(0)
            room = below.split("/")[0]
            for other, seen in self.sees.items():
                kind_of_it = "/" not in below and other.startswith(room + "/")
                if other not in found and (below in seen or room in seen or kind_of_it):
                    found[other] = found[below] + 1
                    edge.append(other)
        return found

    def of_header(self, name):
        """The node of a public header, ROOM.h or ROOM_KIND.h."""
        room, _, kind = name.removesuffix(".h").partition("_")
        return next((node for node in (f"{room}/{kind}", room) if node in self.sees), None)


def included(home, path, rooms):
    """The nodes whose headers a C file includes."""
    found = set()
    for name in re.findall(r'^#include "([^"]+)"', read(os.path.join(home, path)), re.M):
        node = rooms.of_header(name[5:]) if name.startswith("leat/") else rooms.of(name)
        if node:
            found.add(node)
    return found


def defined(home, path):
    """The commands of a file, "ingest_can", by its definitions; a file that is gone had the one of
    its name."""
    names = re.findall(r"^const leat_cli_command leat_cmd_(\w+) =", read(os.path.join(home, path)),
                       re.M)
    return names or re.findall(r"^cli/cmd_(\w+)\.c$", path)


def commands(home, rooms):
    """{words of a command: the nodes that its files include}, such as ("ingest", "can"); a folder
    of cli, which several commands may share, is a node "cli/FOLDER"."""
    found, shared = {}, {}
    for folder, _, names in os.walk(os.path.join(home, "cli")):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), home)
            nodes = included(home, path, rooms) | {
                f"cli/{other}" for other in re.findall(
                    r'^#include "(\w+)/', read(os.path.join(home, path)), re.M) if other != "leat"}
            if re.match(r"cli/cmd_\w+\.c$", path):
                found.update((tuple(own.split("_")), set(nodes)) for own in defined(home, path))
            elif path.count("/") > 1:
                shared.setdefault(path.split("/")[1], set()).update(nodes)
    for words, nodes in found.items():
        nodes.update(shared.get(words[0], set()))
        for folder in [node for node in nodes if node.startswith("cli/")]:
            nodes.update(shared.get(folder.removeprefix("cli/"), set()))
    return found


def changed_since(home, revision):
    ask = lambda *words: subprocess.run(["git", *words], cwd=home, capture_output=True, text=True,
                                        check=True).stdout.split("\n")
    return sorted(filter(None, set(ask("diff", "--name-only", revision, "--") +
                                   ask("ls-files", "--others", "--exclude-standard"))))


def source_of(home, test):
    """The file of a test by its name: ingest_can_test_store is tests/ingest/can/test_store.c."""
    folder, _, name = test.partition("_test_")
    if not name:
        return f"tests/fuzz/{test}.c"
    folders = [folder] + [folder[:i] + "/" + folder[i + 1:] for i, c in enumerate(folder)
                          if c == "_"]
    return next((path for place in folders for end in (".c", ".py", ".sh")
                 for path in [f"tests/{place}/test_{name}{end}"]
                 if os.path.exists(os.path.join(home, path))), "")


class Reach:
    """What a list of changed files reaches: nodes, commands, and folders of tests."""

    def __init__(self, home, changed):
        self.home, self.rooms = home, Rooms(home)
        self.changed = set(changed)
        self.nodes, self.folders = {}, set()
        self.own = set()  # changed files of the command: its commands and folders, or all of them
        self.abi = any(path.startswith(("include/leat/", "python/leat/")) for path in changed)
        self.golden = False  # what tests compare with, or how they find it
        self.pages = set()  # how tests name the changed pages: by their file, or by its folder
        for path in changed:
            self.add(path)
        # the header of a room without a kind is that of any kind
        reached = set(self.nodes) | {node.split("/")[0] for node in self.nodes} | {
            f"cli/{folder}" for folder in self.own}
        self.commands = [words for words, nodes in commands(home, self.rooms).items()
                         if nodes & reached or self.own & {"*", words[0], "_".join(words)}]

    def add(self, path):
        top, _, rest = path.partition("/")
        if top == "src" or path.startswith("include/leat/"):
            node = self.rooms.of(rest) if top == "src" else self.rooms.of_header(rest[5:])
            for above, far in self.rooms.above(node or "base").items():
                self.nodes[above] = min(far, self.nodes.get(above, far))
        elif top == "cli":
            folder = re.match(r"(\w+)/", rest)
            names = [folder.group(1)] if folder else defined(self.home, path) or ["*"]
            self.own.update("*" if name == "command" else name for name in names)
        elif top == "tests":
            if rest.startswith("golden"):
                self.golden = True
            elif not re.search(r"/test_\w+\.(c|py|sh)$", path):
                self.folders.add(rest.split("/")[0])  # what several tests of a folder share
        elif top in ("python", "examples"):
            self.folders.add(top)
        else:
            self.folders.add("lint")
        if top == "docs" or path.endswith(".md"):
            self.pages.add(rest.split("/")[0] if "/" in rest else os.path.basename(path))

    def distance(self, test):
        """How far a change is from a test; None if it cannot break it."""
        source = source_of(self.home, test)
        folder = source.split("/")[1] if "/" in source else ""
        text = read(os.path.join(self.home, source))
        if source in self.changed or folder in self.folders or self.golden and "golden" in text:
            return 0
        if self.abi and re.match(r"tests/lint/test_\w*abi", source):
            return 0
        if source.endswith(".c"):
            node = self.rooms.of(source[len("tests/"):])
            nodes = {node} if node else included(self.home, source, self.rooms)
            return min((far for reached, far in self.nodes.items() if nodes & {
                reached, reached.split("/")[0]}), default=None)
        if any(re.search(rf"\b{re.escape(page)}\b", text) for page in self.pages):
            return 0
        runs = any(re.search(rf"[\"']{words[0]}\b", text) and
                   all(re.search(rf"\b{word}\b", text) for word in words)
                   for words in self.commands)
        return len(self.rooms.sees) if runs and folder != "lint" else None


def costs(home):
    """Seconds that each test took when ctest ran it last in the release build."""
    path = os.path.join(home, "build", "Testing", "Temporary", "CTestCostData.txt")
    return {name: float(seconds) for name, seconds in
            re.findall(r"^(\w+) \d+ ([\d.]+)$", read(path), re.M)}


def choose(home, revision, tests, seconds):
    """A Choice from the names of tests, which together take at most so many seconds."""
    changed = changed_since(home, revision)
    reach, cost = Reach(home, changed), costs(home)
    distances = {test: reach.distance(test) for test in tests}
    known = sorted((distance, cost.get(test, UNKNOWN_SECONDS), test)
                   for test, distance in distances.items() if distance is not None)
    chosen, skipped, total = [], [], 0
    for _, took, test in known:
        if total + took <= seconds or not chosen:
            chosen.append(test)
            total += took
        else:
            skipped.append(test)
    left_out = "slow tests, fuzz corpora, sanitizers, comparisons and the Python package"
    if skipped:
        left_out += f"; and for lack of time {', '.join(skipped)}"
    return Choice(chosen, left_out, changed)
