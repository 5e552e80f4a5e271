"""What the rules of scripts/lint read: the files of a tree, and the lists of what is allowed."""
import os
import re
import subprocess

KERNELS = "src/nn/kernels/"


class Skip(Exception):
    """A rule that cannot be checked here, and why."""


class Tree:
    """The files under a root, read once; in a git work tree those that git tracks, because others
    are the user's own. A new file is tracked from `git add` on."""

    def __init__(self, root, build):
        self.root, self.build = root, build
        self.objects = None  # symbols of those in the build, once read
        self.texts = {}
        tracked = self._git("-c")
        self.paths = sorted(self._walk() if tracked is None else tracked)
        self.untracked = sorted(self._git("-o") or ())

    def _git(self, which):
        if not os.path.exists(os.path.join(self.root, ".git")):
            return None
        done = subprocess.run(["git", "ls-files", "-z", which, "--exclude-standard"], cwd=self.root,
                              capture_output=True, text=True, check=False)
        return None if done.returncode else \
            {path for path in done.stdout.split("\0") if os.path.isfile(self._full(path))}

    def _full(self, path):
        return os.path.join(self.root, path)

    def _walk(self):
        return {os.path.relpath(os.path.join(folder, name), self.root)
                for folder, _, names in os.walk(self.root) for name in names}

    def text(self, path):
        if path not in self.texts:
            with open(os.path.join(self.root, path), "rb") as file:
                data = file.read()
            self.texts[path] = None if b"\0" in data else data.decode("utf-8", "replace")
        return self.texts[path]

    def find(self, *folders, ends=(".c", ".h")):
        return [path for path in self.paths
                if path.startswith(folders or "") and path.endswith(ends)]

    def code(self, path):
        """The text with comments and the insides of literals blanked, line breaks kept."""
        pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''

        def blank(match):
            found = match.group(0)
            if found[0] in "\"'":
                return found[0] + found[0]
            return " " + "\n" * found.count("\n")
        return re.sub(pattern, blank, self.text(path), flags=re.S)


def entries(tree, name):
    """(number, line) of the entries of a list, without comments."""
    lines = tree.text(name).split("\n") if name in tree.paths else []
    return [(number, line) for number, line in enumerate(lines, 1)
            if line and not line.startswith("#")]


def read_allowed(tree, name):
    """(path, word) -> line number of an allow list; an entry without a reason counts as absent."""
    found = ((number, re.match(r"(\S+) (\S+): \S", line)) for number, line in entries(tree, name))
    return {match.groups(): number for number, match in found if match}
