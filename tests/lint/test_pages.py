"""scripts/run_pages.py finds what is wrong in a page: each kind of block, broken once."""
import os
import sys
import unittest

HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(HOME, "scripts"))
import run_pages as pages  # noqa: E402

BUILD = os.environ.get("LEAT_BUILD", os.path.join(HOME, "build"))
LIMIT = 60


def run(text, fresh=False, limit=LIMIT):
    """[(status, whether output was compared)] of a page's blocks, and all details as one text."""
    with pages.Reader(HOME, BUILD, fresh=fresh, limit=limit) as reader:
        results = reader.run_page("page.md", text)
    return ([(result.status, result.compared) for result in results],
            "\n".join(result.detail for result in results))


def fence(language, *lines):
    return "\n".join(["```" + language, *lines, "```", ""])


PASSED, FAILED, SKIPPED, READ = pages.PASSED, pages.FAILED, pages.SKIPPED, pages.READ
# (name, page, what becomes of its blocks, a part of the details)
CASES = [
    ("output as shown", "    $ echo one; echo two\n    one\n    two\n", [(PASSED, True)], ""),
    ("another output", "    $ echo one\n    two\n", [(FAILED, True)], "the page shows\ntwo"),
    ("more output", "    $ echo one; echo two\n    one\n", [(FAILED, True)], "one\ntwo"),
    ("less output", "    $ echo one\n    one\n    two\n", [(FAILED, True)], "two"),
    ("output that is not shown", "    $ echo one\n", [(PASSED, False)], ""),
    ("left out", "    $ seq 9\n    1\n    ...\n    9\n", [(PASSED, True)], ""),
    ("left out, the end wrong", "    $ seq 9\n    1\n    ...\n    8\n", [(FAILED, True)], ""),
    ("left out in a line", "    $ echo a b c\n    a ... c\n", [(PASSED, True)], ""),
    ("status", "    $ false\n", [(FAILED, False)], "false: status 1"),
    ("the second command", "    $ echo 1\n    1\n    $ echo 2\n    3\n", [(FAILED, True)], "2"),
    ("no prompt", "    true\n", [(PASSED, False)], ""),
    ("no prompt, the first of two", "    false\n    true\n", [(FAILED, False)], "status 1"),
    ("one shell", "    export A=b\n    mkdir c && cd c\n\nText.\n\n    $ echo $A ${PWD##*/}\n"
     "    b c\n", [(PASSED, False), (PASSED, True)], ""),
    ("a time", "    $ echo 'time    7 ms, 2 k rows/s'\n    time    1.5 ms, 3 M rows/s\n",
     [(PASSED, True)], ""),
    ("another number", "    $ echo 'rows    7'\n    rows    8\n", [(FAILED, True)], "rows    7"),
    ("the spill", "    $ echo 'bytes   7 MiB, 1 MiB spilled'\n    bytes   7 MiB, 2 MiB spilled\n",
     [(PASSED, True)], ""),
    ("not the size", "    $ echo 'bytes   7 MiB, 1 MiB spilled'\n"
     "    bytes   8 MiB, 1 MiB spilled\n", [(FAILED, True)], ""),
    ("python", fence("python", "a = 1") + fence("python", "print(a)"),
     [(PASSED, False), (PASSED, False)], ""),
    ("python fails", fence("python", "a") + fence("python", "print(1)"),
     [(FAILED, False), (FAILED, False)], "NameError"),
    ("python prints", "<!-- prints: 1 -->\n" + fence("python", "print(1)"), [(PASSED, True)], ""),
    ("python prints another", "<!-- prints: 1 -->\n" + fence("python", "print(2)"),
     [(FAILED, True)], "the page shows\n1"),
    ("python does not parse", fence("python", "print("), [(FAILED, False)], "SyntaxError"),
    ("python after a command", "    echo 5 >a\n\n" + "<!-- prints: 5 -->\n" + fence(
        "python", "print(open('a').read().strip())"), [(PASSED, False), (PASSED, True)], ""),
    ("a file", "    echo 5 >a\n\n<!-- printed by: cat a -->\n" + fence("json", "5"),
     [(PASSED, False), (PASSED, True)], ""),
    ("another file", "    echo 5 >a\n\n<!-- printed by: cat a -->\n" + fence("json", "6"),
     [(PASSED, False), (FAILED, True)], "the page shows\n6"),
    ("to be read", fence("text", "a -> b"), [(READ, False)], ""),
    ("marked", "<!-- not run: hours -->\n\n    false\n", [(SKIPPED, False)], "hours"),
    ("needs", "<!-- needs: no_such_thing -->\n\n    false\n", [(SKIPPED, False)], "no_such_thing"),
    ("has what it needs", "<!-- needs: json, sh -->\n\n    true\n", [(PASSED, False)], ""),
    ("first", "<!-- first:\necho 5 >a\n-->\n\n    $ cat a\n    5\n", [(PASSED, True)], ""),
    ("first fails", "<!-- first: false -->\n\n    $ echo 5\n    5\n", [(FAILED, False)], "first"),
    ("only in a clone", "<!-- in a fresh clone: done -->\n\n    false\n", [(SKIPPED, False)],
     "done"),
]
DECLARED = "<!-- before: static leat_error err; -->\n"
C_CASES = [
    ("c", DECLARED + fence("c", "err.code = LEAT_OK;"), [(PASSED, False)], ""),
    ("c does not compile", DECLARED + fence("c", "err.code = nothing;"), [(FAILED, False)], "cc"),
    ("c fails", DECLARED + fence("c", 'const char *path = "nowhere";',
                                 "leat_dataset *data = NULL;",
                                 "leat_dataset_open(&data, &path, 1, NULL, &err);"),
     [(FAILED, False)], "status 1"),
]
BAD = [
    ("a language that is not known", fence("java", "int a;")),
    ("no language", fence("", "int a;")),
    ("a mark that is not known", "<!-- norun: hours -->\n\n    true\n"),
    ("a mark without a reason", "<!-- not run: -->\n\n    true\n"),
    ("a mark without a block", "<!-- not run: hours -->\n\nText.\n"),
    ("a mark at the end", "    true\n\n<!-- not run: hours -->\n"),
    ("a block without an end", "```sh\ntrue\n"),
]


class Blocks(unittest.TestCase):
    def check(self, cases):
        for name, text, wanted, part in cases:
            with self.subTest(name):
                found, details = run(text)
                self.assertEqual(found, wanted, details)
                self.assertIn(part, details)

    def test_cases(self):
        self.check(CASES)

    def test_c(self):
        if os.environ.get("LEAT_SANITIZE") or not os.path.exists(f"{BUILD}/libleat.so"):
            self.skipTest("no libleat.so, or one with a sanitizer's runtime")
        self.check(C_CASES)

    def test_marks_of_a_fresh_clone(self):
        page = "<!-- in a fresh clone: done -->\n\n    $ echo 5\n    6\n\nText.\n\n" \
            "<!-- first in a fresh clone: echo 7 >a -->\n\n    $ cat a\n    7\n"
        found, _ = run(page, fresh=True)
        self.assertEqual(found, [(FAILED, True), (PASSED, True)])
        found, _ = run(page)
        self.assertEqual(found, [(SKIPPED, False), (FAILED, False)])

    def test_a_command_that_hangs(self):
        """It is ended, and so is what it has started."""
        found, details = run("    $ sleep 1000 & sleep 1000\n", limit=1)
        self.assertEqual(found, [(FAILED, False)])
        self.assertIn("killed after 1 s", details)

    def test_pages_that_cannot_be_read(self):
        for name, text in BAD:
            with self.subTest(name):
                self.assertRaises(pages.BadPage, pages.blocks, "page.md", text)


if __name__ == "__main__":
    unittest.main()
