"""Completion of words in bash, zsh and fish: docs/completion is what the command prints, and the
scripts offer commands, options and their values. LEAT_UPDATE=1 writes docs/completion anew.
"""
import os
import shlex
import shutil
import subprocess
import tempfile
import unittest

import command

FOLDER = os.path.join(command.ROOT, "docs", "completion")

KERNELS = ["avx2", "avx512", "neon", "scalar"]

# words before the cursor; what is offered, all of it
OFFERED = [
    (["train", "dcgan", "--kernels", ""], KERNELS),
    (["in"], ["ingest", "inspect", "invite"]),
    (["ingest", ""], ["can", "images", "probes"]),
    (["ingest", "probes", "--split", ""], ["hash", "ordered"]),
    (["batches", "--order", ""], ["global", "windowed"]),
    (["ingest", "images", "--background", ""], ["black", "drop", "white"]),
    (["cat", "--forma"], ["--format"]),
    (["train", "dcgan", "--schedule", "s"], ["simultaneous"]),
    (["help", "in"], ["ingest", "inspect", "invite"]),
    (["help", "zz"], []),
    (["help", "ingest", ""], ["can", "images", "probes"]),
    (["help", "inspect", ""], []),
    (["help", "ingest", "probes", ""], []),
]

BASH = """source "$1"; shift
COMP_WORDS=(leat "$@"); COMP_CWORD=$#
_leat 2>/dev/null  # compopt warns outside of a completion
printf '%s\\n' "${COMPREPLY[@]}"
"""

# zsh's own functions need a terminal: these show what they are called with
ZSH = """compdef() { }
compadd() { shift; print -l -- "$@" }
_arguments() { print -l -- "$@" }
source "$1"; shift
words=(leat "$@"); CURRENT=$((# + 1))
_leat
"""


def printed(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=command.LIMIT,
                          **more).stdout.splitlines()


def script(shell):
    return os.path.join(FOLDER, f"leat.{shell}")


def need(shell):
    return unittest.skipUnless(shutil.which(shell), f"{shell} is not installed")


class Completion(unittest.TestCase):
    def test_the_files_are_in_step(self):
        for shell in ("bash", "zsh", "fish"):
            text = command.leat("help", "--completion", shell, status=0).stdout
            if os.environ.get("LEAT_UPDATE") == "1":
                with open(script(shell), "w", encoding="utf-8") as file:
                    file.write(text)
            with open(script(shell), encoding="utf-8") as file:
                self.assertEqual(file.read(), text, f"run {__file__} with LEAT_UPDATE=1")

    def test_other_shells_are_refused(self):
        for words in ([], ["ksh"], ["bash", "zsh"]):
            done = command.leat("help", "--completion", *words, status=2)
            self.assertIn("bash, zsh or fish", done.stderr)

    @need("bash")
    def test_bash(self):
        for words, offered in OFFERED:
            with self.subTest(words=words):
                lines = printed("bash", "-c", BASH, "bash", script("bash"), *words)
                self.assertEqual(sorted(filter(None, lines)), offered)
        # as bash divides --split=h
        for words, offered in ((["ingest", "probes", "--split", "=", "h"], ["hash"]),
                               (["batches", "--hash", "=", "r"], ["rows"]),
                               (["doctor", "--kernels", "="], KERNELS),
                               (["doctor", "--kernels", ""], [""])):  # a folder follows
            with self.subTest(words=words):
                self.assertEqual(sorted(printed("bash", "-c", BASH, "bash", script("bash"),
                                                *words)), offered)

    def offered_splits(self, shell, offer):
        """Those of the data that the line names, wherever it does."""
        with tempfile.TemporaryDirectory() as top:
            for name in ("data/manifest.json", "my cache/vocab.json", "my cache/train.safetensors",
                         "my cache/test_dos.safetensors", "images/images.safetensors",
                         "hostile/vocab.json", "hostile/$(touch run).safetensors"):
                os.makedirs(os.path.join(top, os.path.dirname(name)), exist_ok=True)
                with open(os.path.join(top, name), "wb"):
                    pass
            for words, offered in ((["batches", "data", "--split", ""], ["all", "test", "train"]),
                                   (["cat", "my cache", "--split", "t"], ["test_dos", "train"]),
                                   (["batches", "data", "--split", "=", "te"], ["test"]),
                                   (["batches", "images", "--split", ""], []),
                                   (["batches", "hostile", "--split", "a"], ["all"]),
                                   (["batches", "my cache", "--split", ""],
                                    ["all", "test_dos", "train"]),
                                   (["cat", "my cache", "--split", ""], ["test_dos", "train"]),
                                   (["cat", "data", "--split", ""], []),
                                   (["batches", "none", "--split", ""], [])):
                with self.subTest(shell=shell, words=words):
                    found = [word.split("\t")[0] for word in offer(words, top) if word]
                    self.assertEqual(sorted(found), offered)
            self.assertFalse(os.path.exists(os.path.join(top, "run")), "a name was executed")

    @need("bash")
    def test_bash_offers_splits(self):
        self.offered_splits("bash", lambda words, top: printed(
            "bash", "-c", BASH, "bash", script("bash"), *words, cwd=top))

    @need("zsh")
    def test_zsh_offers_splits(self):
        def offer(words, top):
            quoted = [word.replace(" ", "\\ ") for word in words]
            lines = printed("zsh", "-f", "-c", ZSH + "_leat_splits\n", "zsh", script("zsh"),
                            *quoted, cwd=top)
            action, = {line for line in lines if line.startswith("--split[")}
            self.assertTrue(action.endswith("]:split:_leat_splits"), action)
            splits = lines[max(i for i, line in enumerate(lines) if line.startswith("--")) + 1:]
            return [split for split in splits if split.startswith(words[-1])]
        self.offered_splits("zsh", offer)

    @need("fish")
    def test_fish_offers_splits(self):
        def offer(words, top):
            line = " ".join(word.replace(" ", "\\ ") for word in words).replace(" = ", "=")
            lines = printed("fish", "--no-config", "-c", f"source {script('fish')}; "
                            f"complete -C {shlex.quote('leat ' + line)}", cwd=top)
            return [line.removeprefix("--split=") for line in lines]
        self.offered_splits("fish", offer)

    @need("bash")
    def test_bash_offers_files(self):
        """Only where one may follow: nothing that is offered is then completed as a file."""
        shown = BASH.replace("_leat 2>/dev/null", 'compopt() { echo "compopt $*"; }\n_leat')
        for words, files in ((["inspect", ""], True), (["ingest", "can", "-o", ""], True),
                             (["batches", "--client-weights", ""], True),
                             (["doctor", "--kernels", ""], True),
                             (["ingest", "can", "--window", ""], False), (["help", ""], False),
                             (["help", "ingest", ""], False), (["help", "inspect", ""], False)):
            with self.subTest(words=words):
                said = printed("bash", "-c", shown, "bash", script("bash"), *words)
                self.assertEqual("compopt +o default" not in said, files, said)

    @need("zsh")
    def test_zsh(self):
        def offered(*words):
            return printed("zsh", "-f", "-c", ZSH, "zsh", script("zsh"), *words)
        self.assertEqual(sorted(set(offered("ingest", ""))), ["can", "images", "probes"])
        self.assertIn("inspect", offered("in"))
        options = offered("ingest", "probes", "")
        self.assertTrue([line for line in options if line.startswith("--split[")
                         and line.endswith("]:split:(hash ordered)")], options)
        self.assertTrue([line for line in options if line.startswith("-o[")])
        self.assertFalse([line for line in options if line.startswith("--window[")])
        self.assertEqual(sorted(offered("help", "ingest", "")), ["can", "images", "probes"])
        self.assertIn("inspect", offered("help", ""))
        self.assertNotIn("help", offered("help", ""))
        self.assertEqual([line for line in offered("help", "inspect", "") if line], [])

    @need("fish")
    def test_fish(self):
        after = (["doctor", "--kernels="], [f"--kernels={name}" for name in KERNELS])
        for words, offered in [*OFFERED, after]:
            with self.subTest(words=words):
                # its own settings are the user's
                lines = printed("fish", "--no-config", "-c", f"source {script('fish')}; "
                                f"complete -C \"leat {' '.join(words)}\"")
                self.assertEqual(sorted(line.split("\t")[0] for line in lines), offered)


if __name__ == "__main__":
    unittest.main()
