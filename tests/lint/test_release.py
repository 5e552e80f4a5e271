"""The scripts of a release: the same commit gives the same bytes, its documents say what is inside,
and scripts/release/verify.sh finds what was changed. make wheel is a stand-in here that packs a few
texts.
"""
import contextlib
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "scripts", "release")
sys.path.insert(0, FOLDER)
sys.dont_write_bytecode = True
import compare  # noqa: E402
import documents  # noqa: E402

COMMIT = "0123456789abcdef" * 2 + "01234567"
EPOCH = 1700000000
WHEEL = "leat-0.1.0-py3-none-manylinux_2_28_x86_64.whl"
ARCHIVE, SBOM, NOTES = "leat-0.1.0.tar.gz", "leat-0.1.0.cdx.json", "leat-0.1.0-notes.md"
LINKED = ("zlib", "crypto", "duckdb", "llvm", "zig")
# Of the repository, and so of a release of it: what decides its bytes apart from the wheels.
TAKEN = ("CITATION.cff", "include/leat/base.h", "scripts/install.sh", "scripts/release",
         "scripts/requirements/wheel.txt", "scripts/wheel/assemble.py", "scripts/wheel/sources.txt")
ARM64_WHEEL = WHEEL.replace("x86_64", "aarch64")
MAKEFILE = """OUT = build/wheel$(if $(filter aarch64,$(TARGET)),-aarch64)
wheel:
\tmkdir -p $(OUT)
\t"$(WHEEL_CACHE)/tools/bin/python3" pack.py \\
\t  $(OUT)/leat-0.1.0-py3-none-manylinux_2_28_$(TARGET).whl
"""
PACK = """import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as archive:
    for name, text in (("leat-0.1.0.dist-info/licenses/zlib/README", ""),
                       ("leat/leat", os.environ["LEAT_COMMIT"] + os.environ["SOURCE_DATE_EPOCH"])):
        archive.writestr(zipfile.ZipInfo(name), text)
"""
NOBODY = {name: "tester" for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME")} | {
    name: "tester@example.org" for name in ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL")}


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="leat-release-")
        self.addCleanup(folder.cleanup)
        self.top = os.path.realpath(folder.name)
        self.addCleanup(setattr, documents, "TOOLS", documents.TOOLS)
        documents.TOOLS = {"make": ["echo", "GNU Make 4.3"]}

    def path(self, *names):
        return os.path.join(self.top, *names)

    def write(self, *names, text="text"):
        path = self.path(*names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def read(self, *names):
        return compare.read(self.path(*names))

    def wheel(self, path, linked=LINKED, program="program"):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(zipfile.ZipInfo("leat/leat"), program)
            for name in ["LICENSE", *(f"{name}/LICENSE" for name in linked)]:
                archive.writestr(zipfile.ZipInfo(f"leat-0.1.0.dist-info/licenses/{name}"), "")

    def release(self, folder, **wheel):
        """The files of a release, in self.top/folder."""
        self.wheel(self.path(folder, WHEEL), **wheel)
        self.write(folder, ARCHIVE)
        documents.write(self.path(folder), COMMIT, EPOCH)
        return self.path(folder)


class Documents(Folder):
    def test_same_bytes(self):
        first = self.release("first")
        for file in os.listdir(first):
            os.utime(os.path.join(first, file), (1, 1))
        again = self.release("in/another folder")
        self.assertEqual(sorted(os.listdir(first)),
                         sorted([ARCHIVE, WHEEL, SBOM, NOTES, "SHA256SUMS"]))
        for file in os.listdir(first):
            self.assertEqual(compare.read(first, file), compare.read(again, file), file)
            for private in (self.top, ROOT):  # a clone at /leat is not in "leat/leat"
                self.assertNotRegex(compare.read(first, file),
                                    rb"(?<![\w.-])" + re.escape(private.encode()) + rb"\b")

    def test_sbom(self):
        """What the schema of CycloneDX cannot say: that references lead somewhere, and that all
        that is linked in has version, licence and hash."""
        self.release("out")
        found = json.loads(self.read("out", SBOM))
        self.assertEqual((found["bomFormat"], found["specVersion"]), ("CycloneDX", "1.6"))
        self.assertRegex(found["serialNumber"],
                         r"^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
        self.assertEqual(found["metadata"]["timestamp"], "2023-11-14T22:13:20Z")
        self.assertEqual(found["metadata"]["component"]["pedigree"], {"commits": [{"uid": COMMIT}]})
        parts = {part["bom-ref"]: part for part in found["components"]}
        self.assertEqual(len(parts), len(found["components"]))
        self.assertEqual(set(parts), {ARCHIVE, WHEEL, *LINKED})
        edges = {edge["ref"]: edge["dependsOn"] for edge in found["dependencies"]}
        self.assertEqual(edges, {"leat": sorted([WHEEL, ARCHIVE]), WHEEL: sorted(LINKED)})
        for name in LINKED:
            with self.subTest(name):
                part = parts[name]
                self.assertRegex(part["version"], r"^\d+\.\d+|^1:\d")
                self.assertRegex(part["licenses"][0]["expression"],
                                 r"^[\w.-]+( (AND|WITH) [\w.-]+)*$")
                self.assertRegex(part["purl"], r"^pkg:(deb/debian|npm|pypi)/[^@ ]+@[^@ +]+$")
                source, = part["externalReferences"]
                self.assertRegex(source["hashes"][0]["content"], "^([0-9a-f]{64}|[0-9a-f]{128})$")
                self.assertRegex(source["url"], "^https://[^ ]+$")
        self.assertEqual(parts[WHEEL]["hashes"][0]["content"],
                         hashlib.sha256(self.read("out", WHEEL)).hexdigest())

    def test_debian(self):
        part = documents.of_debian("libpng1.6=1:1.6.39-2+deb12u5", "0" * 64, "IJG,Zlib")
        self.assertEqual(part["purl"], "pkg:deb/debian/libpng1.6@1:1.6.39-2%2Bdeb12u5?arch=source")
        self.assertEqual(part["licenses"], [{"expression": "IJG AND Zlib"}])
        self.assertEqual(part["externalReferences"][0]["url"], "https://deb.debian.org/debian/pool/"
                         "main/libp/libpng1.6/libpng1.6_1.6.39-2+deb12u5.dsc")

    def test_unknown(self):
        """Nothing is linked in that the SBOM does not know."""
        for linked in (("zlib", "gmp"), ()):
            with self.subTest(linked), self.assertRaisesRegex(SystemExit, f"{WHEEL}: has licences"):
                self.release("out", linked=linked)
        self.write("out", "leat-worker", text="another program")
        with self.assertRaisesRegex(SystemExit, "leat-worker: not a file of a wheel"):
            self.release("out")

    def test_program(self):
        """A program by itself has inside what its wheel has."""
        self.write("out", "leat-worker", text="program")
        self.release("out", linked=("zlib",))
        edges = {edge["ref"]: edge["dependsOn"]
                 for edge in json.loads(self.read("out", SBOM))["dependencies"]}
        self.assertEqual(edges["leat-worker"], ["zlib"])

    def test_arm64(self):
        """Its DuckDB is another package, of the same version; the rest are the same sources. A
        program by itself has what its wheel has, whatever its name."""
        self.wheel(self.path("out", ARM64_WHEEL), program="arm64")
        self.write("out", "leat-worker-aarch64", text="arm64")
        self.release("out")
        found = json.loads(self.read("out", SBOM))
        edges = {edge["ref"]: edge["dependsOn"] for edge in found["dependencies"]}
        arm64 = sorted({*LINKED, "duckdb-aarch64"} - {"duckdb"})
        self.assertEqual((edges[WHEEL], edges[ARM64_WHEEL]), (sorted(LINKED), arm64))
        self.assertEqual(edges["leat-worker-aarch64"], arm64)
        one, other = (part for part in found["components"] if part["name"].startswith("duckdb"))
        self.assertEqual(one["version"], other["version"])
        self.assertIn("linux-x64", one["purl"])
        self.assertIn("linux-arm64", other["purl"])

    def test_notes(self):
        text = ("# Changes\n\n## 0.1.10\n\nlater\n\n## 0.1.1\n\n* this\n\n### more\n\n"
                "## 0.1.0\n\nold\n")
        self.assertEqual(documents.section(text, "0.1.1"), "## 0.1.1\n\n* this\n\n### more")
        self.assertEqual(documents.section(text, "0.1.0"), "## 0.1.0\n\nold")
        with self.assertRaisesRegex(SystemExit, "no section ## 0.2.0"):
            documents.section(text, "0.2.0")
        self.release("out")
        notes = self.read("out", NOTES).decode()
        self.assertRegex(notes, "^# leat 0.1.0.*\n\nCommit " + COMMIT)
        self.assertIn(hashlib.sha256(self.read("out", WHEEL)).hexdigest(), notes)
        self.assertIn(f"{documents.BUILT_WITH}* ", notes)

    def test_versions(self):
        for text, version in (("cmake version 3.25.1\n\nmore 9.9", "3.25.1"), ("1.11.1", "1.11.1"),
                              ("Debian dpkg-source version 1.21.22.", "1.21.22"), ("none", None)):
            self.assertEqual(documents.printed(["echo", text]), version)
        self.assertIsNone(documents.printed(["/nowhere/at/all"]))
        self.assertIsNone(documents.printed(["sh", "-c", "echo 1.0; exit 1"]))


class Compare(Folder):
    def test_sums(self):
        folder = self.release("out")
        self.assertEqual(list(compare.problems(folder)), [])
        self.assertEqual(compare.name_of(folder), "leat-0.1.0")
        self.write("out", WHEEL + ".sigstore.json")
        self.write("out", "SHA256SUMS.asc")
        self.assertEqual(list(compare.problems(folder)), [])
        self.write("out", "other.asc")
        self.write("out", "other.whl")
        self.write("out", NOTES)
        os.unlink(self.path("out", ARCHIVE))
        os.rename(self.path("out", WHEEL), self.path("wheel"))
        os.symlink(self.path("wheel"), self.path("out", WHEEL))
        words = [("other.asc", "not in SHA256SUMS"), ("other.whl", "not in SHA256SUMS"),
                 (NOTES, "changed or damaged"), (ARCHIVE, "is missing"), (WHEEL, "is not a file")]
        found = list(compare.problems(folder))
        self.assertEqual(len(found), len(words), found)
        for name, word in words:
            self.assertRegex("\n".join(found), f"{re.escape(name)}: .*{word}")

    def test_bad_sums(self):
        good = "0" * 64
        for line in ("", "text", f"{good}  ../a", f"{good}  /a", f"{good}  a b", f"{good} a",
                     f"{good[1:]}  a", f"{good}  SHA256SUMS", f"{good}  a\n{good}  a"):
            with self.subTest(line):
                self.write("out", "SHA256SUMS", text=line + "\n")
                with self.assertRaisesRegex(SystemExit, "line [12]: not a SHA-256"):
                    list(compare.problems(self.path("out")))
        self.write("out", "SHA256SUMS", text=f"{good}  a.whl\n")
        with self.assertRaisesRegex(SystemExit, "has 0 source archives"):
            compare.name_of(self.path("out"))
        for folder in ("nowhere", "pipe"):
            os.makedirs(self.path("pipe"), exist_ok=True)
            if not os.path.exists(self.path("pipe", "SHA256SUMS")):
                os.mkfifo(self.path("pipe", "SHA256SUMS"))
            with self.assertRaisesRegex(SystemExit, "name the folder of a release"):
                compare.listed(self.path(folder))

    def test_printable(self):
        """Nothing of a release reaches the terminal as it is: names of files, sums, tools."""
        bell = "\x1b]0;owned\x07\x9b2J\u202e"
        self.assertEqual(compare.shown(bell), r"\x1b]0;owned\x07\x9b2J\u202e")
        self.assertEqual(compare.shown("a" * 201), "a" * 200 + "...")
        folder = self.release("out")
        self.write("out", bell)
        self.assertEqual(list(compare.problems(folder)), [
            r"\x1b]0;owned\x07\x9b2J\u202e: is not in SHA256SUMS, so it is not of this release; do "
            "not use it"])
        self.write("out", "SHA256SUMS", text=f"{bell[:10]}\n")
        with self.assertRaisesRegex(SystemExit, r'line 1: .*: "\\x1b]0;owned\\x07"; get'):
            compare.listed(folder)

    def compared(self):
        """(status, lines) of the program."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), unittest.mock.patch.object(
                sys, "argv", ["compare.py", self.path("first"), self.path("again")]):
            try:
                status = compare.main()
            except SystemExit as problem:
                return 1, [str(problem)]
        return status, printed.getvalue().replace("verify: ", "").splitlines()

    def test_equal(self):
        self.release("first")
        shutil.copytree(self.path("first"), self.path("again"))
        status, lines = self.compared()
        self.assertEqual((status, lines), (0, [
            "tools of the build: the same versions",
            *(f"{name}: equal" for name in sorted([ARCHIVE, WHEEL, SBOM, NOTES])),
            "the release is what its sources give"]))

    def test_other_tools(self):
        """Other versions come first; what names them is equal apart from them."""
        self.release("first")
        documents.TOOLS = {"make": ["echo", "99.1"]}
        self.release("again")
        status, lines = self.compared()
        self.assertEqual(status, 0, lines)
        self.assertEqual(lines[0], "tools of the build: other versions:")
        self.assertRegex(lines[1], r"^  make: 4\.3 in the release, 99\.1 here$")
        for name in (SBOM, NOTES):
            self.assertIn(f"{name}: equal, except for the versions of tools", lines)

    def test_documents(self):
        """All of them is compared: with the same tools to the byte, with others up to their
        versions. Text that only says to be versions differs."""
        document = json.loads
        changes = (
            (NOTES, lambda text: text + b"\nRun this as root.\n", "{}: differs"),
            (NOTES, lambda text: text.replace(b"GNU", b"").replace(b"4.3", b"4.4"), "{}: differs"),
            (SBOM, lambda text: json.dumps(document(text) | {"formulation": [
                part | {"purl": "pkg:x/y@1"} for part in document(text)["formulation"]]}).encode(),
             "{}: differs"),
            (SBOM, lambda text: re.sub(rb"urn:uuid:....", b"urn:uuid:0000", text), "{}: differs"),
            (SBOM, lambda text: text + b"\n", "{}: differs"),
            (SBOM, lambda text: text.replace(b"4.3", b"4.3 or\\u001b[2J"),
             r'"make" and "4.3 or\x1b[2J" are not the name and the version of a tool; do not'),
            (SBOM, lambda text: text.replace(b'"make"', b'"make\\n\\n## More"'),
             r'"make\n\n## More" and "4.3" are not the name and'))
        for again in ("4.3", "99.1"):
            for folder, version in (("good", "4.3"), ("again", again)):
                shutil.rmtree(self.path(folder), ignore_errors=True)
                documents.TOOLS = {"make": ["echo", version]}
                self.release(folder)
            for name, change, words in changes:
                with self.subTest(again=again, words=words, name=name):
                    shutil.copytree(self.path("good"), self.path("first"))
                    text = change(self.read("first", name))
                    self.assertNotEqual(text, self.read("first", name))
                    with open(self.path("first", name), "wb") as file:
                        file.write(text)
                    status, lines = self.compared()
                    self.assertEqual(status, 1, lines)
                    self.assertIn(words.format(name), "\n".join(lines))
                    shutil.rmtree(self.path("first"))

    def test_compression(self):
        """Of the source archive: another gzip explains other bytes, nothing else does."""
        once = gzip.compress(b"sources" * 100, 9, mtime=0)
        cases = ((gzip.compress(b"sources" * 100, 1, mtime=0), "4.4", 0, "equal, except for its"),
                 (gzip.compress(b"sources" * 100, 1, mtime=0), "4.3", 1, "differs"),
                 (gzip.compress(b"sources" * 99, 9, mtime=0), "4.4", 1, "differs"),
                 (once + b"more", "4.4", 1, "differs"), (once[:-9], "4.4", 1, "differs"))
        for number, (packed, version, status, words) in enumerate(cases):
            with self.subTest(number):
                for folder, found in (("first", "4.3"), ("again", version)):
                    self.write(folder, ARCHIVE)
                    with open(self.path(folder, ARCHIVE), "wb") as file:
                        file.write(packed)
                    self.wheel(self.path(folder, WHEEL))
                    documents.TOOLS = {"gzip": ["echo", found]}
                    documents.write(self.path(folder), COMMIT, EPOCH)
                with open(self.path("again", ARCHIVE), "wb") as file:
                    file.write(once)  # as verify.sh compresses it again
                found, lines = self.compared()
                self.assertEqual(found, status, lines)
                self.assertIn(f"{ARCHIVE}: {words}", "\n".join(lines))
                for folder in ("first", "again"):
                    shutil.rmtree(self.path(folder))

    def test_bad_wheel(self):
        """A wheel that is none, or is damaged inside, is a line; so are names in it."""
        self.release("good")
        good = self.read("good", WHEEL)
        self.release("again", program="another")
        at = good.index(b"program")
        for text, words in ((b"", "its files cannot be read"), (good[:-30], "cannot be read"),
                            (good[:at] + b"P" + good[at + 1:], "cannot be read"),
                            (good.replace(b"leat/leat", b"leat/\x1b[2J"), r"leat/\x1b[2J, leat/l")):
            with self.subTest(words):
                shutil.copytree(self.path("good"), self.path("first"))
                with open(self.path("first", WHEEL), "wb") as file:
                    file.write(text)
                status, lines = self.compared()
                self.assertEqual(status, 1)
                self.assertRegex("\n".join(lines), f"{WHEEL}: differs: .*{re.escape(words)}")
                shutil.rmtree(self.path("first"))
        with unittest.mock.patch.object(compare, "WHEEL_BYTES", 5):
            self.assertIsNone(compare.digests(self.path("good", WHEEL)))

    def test_other_wheel(self):
        self.release("first")
        self.release("again", program="another")
        status, lines = self.compared()
        self.assertEqual(status, 1)
        self.assertIn(f"{WHEEL}: differs: leat/leat", lines)
        self.assertIn(f"{SBOM}: differs", lines)
        self.assertEqual(lines[-1], "the release is not what its sources give here")

    def test_other_files(self):
        self.release("first")
        self.write("again", "leat-worker", text="program")
        self.release("again")
        self.assertIn("leat-worker: was built here, but is not in the release", self.compared()[1])
        os.rename(self.path("first"), self.path("other"))
        os.rename(self.path("again"), self.path("first"))
        os.rename(self.path("other"), self.path("again"))
        self.assertIn("leat-worker: was not built again", self.compared()[1])

    def test_bad_sbom(self):
        self.release("first")
        shutil.copytree(self.path("first"), self.path("again"))
        for text in ("{", "[]", "{}", "[" * 100000, '{"formulation": [3]}',
                     '{"formulation": [{"components": 3}]}'):
            with self.subTest(text):
                self.write("first", SBOM, text=text)
                status, lines = self.compared()
                self.assertEqual(status, 1)
                self.assertRegex(lines[-1], f"{SBOM}: .*; get the release again$")


class Scripts(Folder):
    """release.sh and verify.sh on a small repository."""

    def setUp(self):
        super().setUp()
        self.clone = self.path("clone")
        for name in TAKEN:
            source = os.path.join(ROOT, name)
            os.makedirs(os.path.dirname(self.path("clone", name)), exist_ok=True)
            if os.path.isdir(source):
                shutil.copytree(source, self.path("clone", name))
            else:
                shutil.copy(source, self.path("clone", name))
        for name, text in (("Makefile", MAKEFILE), ("pack.py", PACK), (".gitignore", "/build\n"),
                           ("CHANGELOG.md", "# Changes\n\n## 0.1.0\n\n* this\n")):
            self.write("clone", name, text=text)
        os.makedirs(self.path("cache", "tools", "bin"))
        os.symlink(sys.executable, self.path("cache", "tools", "bin", "python3"))
        self.git("init", "-q", "-b", "main")
        self.commit("first")
        self.git("tag", "v0.1.0")

    def run_in(self, clone, *words):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("GIT_", "MAKE", "LEAT_"))}
        return subprocess.run(words, cwd=clone, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, env=environment | NOBODY | {
                                  "GIT_CONFIG_GLOBAL": os.devnull,
                                  "WHEEL_CACHE": self.path("cache")})

    def git(self, *words):
        done = self.run_in(self.clone, "git", *words)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout.strip()

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def test_release(self):
        """Made, verified in another clone, damaged, and of another commit."""
        self.write("clone", "CITATION.cff", text="not committed, so not in it")
        self.write("clone", ".git", "info", "attributes", text="pack.py export-ignore\n")
        self.git("config", "core.autocrlf", "true")
        done = self.run_in(self.clone, "scripts/release/release.sh", "v0.1.0")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("changes that are not committed are not in it", done.stdout)
        commit = self.git("rev-parse", "HEAD")
        release = self.path("clone", "build", "release")
        with zipfile.ZipFile(os.path.join(release, WHEEL)) as archive:
            self.assertEqual(archive.read("leat/leat").decode(),
                             commit + self.git("log", "-1", "--format=%ct"))
        self.assertTrue(os.path.exists(os.path.join(release, ARM64_WHEEL)))
        self.assertEqual(sorted(os.listdir(self.path("clone", "build"))),
                         ["release", "release.lock"])

        other = self.path("elsewhere", "other")
        self.git("clone", "-q", ".", other)
        done = self.run_in(other, "scripts/release/verify.sh", release)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"the source archive is commit {commit}", done.stdout)
        self.assertIn("the release is what its sources give", done.stdout)
        with open(os.path.join(release, NOTES), "a", encoding="utf-8") as file:
            file.write("more")
        done = self.run_in(other, "scripts/release/verify.sh", release)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, f"^verify: {NOTES}: .*changed or damaged; get it again\n$")
        self.other_sources(release, other, commit)

    def other_sources(self, release, other, commit):
        """An archive that names a commit, and is not that, or one that nobody has: nothing of it is
        run."""
        self.write("clone", "Makefile", text="wheel:\n\ttouch /nowhere/at/all\n")
        self.commit("second")
        for named, words in ((commit, f"differs from commit {commit} of this clone, which it"),
                             ("1" * 40, f"this clone does not have commit {'1' * 40}, which it"),
                             ("x" * 40, "names a commit that is no hash")):
            with self.subTest(words):
                self.forge(release, named)
                done = self.run_in(other, "scripts/release/verify.sh", release)
                self.assertEqual(done.returncode, 1)
                self.assertIn(words, done.stdout)
                self.assertNotIn("/nowhere", done.stdout)

    def forge(self, release, commit):
        """Sources of another commit that are said to be of this one, with sums that fit."""
        path = os.path.join(release, ARCHIVE)
        with open(path, "wb") as file:
            subprocess.run("scripts/release/archive.sh HEAD leat-0.1.0 | sed s/"
                           f"{self.git('rev-parse', 'HEAD')}/{commit}/ | gzip -n", shell=True,
                           cwd=self.clone, stdout=file, check=True)
        sums = compare.read(release, "SHA256SUMS").decode()
        for name in (ARCHIVE, NOTES):
            sha = hashlib.sha256(compare.read(release, name)).hexdigest()
            sums = re.sub(f"(?m)^.*  {name}$", f"{sha}  {name}", sums)
        with open(os.path.join(release, "SHA256SUMS"), "w", encoding="utf-8") as file:
            file.write(sums)

    def test_refused(self):
        cases = (("nothing", None, "nothing: not a tag or commit of this clone"),
                 ("v0.1.1", None, "v0.1.1: the tag of a commit of version 0.1.0 must be v0.1.0"),
                 ("tags/v0.1.1", None, "tags/v0.1.1: the tag of a commit of version 0.1.0 must be"),
                 ("refs/tags/v0.1.1^{commit}", None, "the tag of a commit of version 0.1.0 must"),
                 ("v0.1.0", ("CHANGELOG.md", "## 0.1.0, not released yet\n"),
                  "CHANGELOG.md says \"## 0.1.0, not released yet\"; change it before the tag"),
                 ("tags/v0.1.0", ("CHANGELOG.md", "## 0.2.0\n"), "has no section ## 0.1.0"),
                 ("HEAD", ("CITATION.cff", "version: 0.3.0\n"), "CITATION.cff has version 0.3.0"))
        self.git("tag", "v0.1.1")
        self.git("branch", "v0.1.1")  # a name that git finds ambiguous
        for revision, change, words in cases:
            with self.subTest(words):
                if change:
                    self.write("clone", *change[0].split("/"), text=change[1])
                    self.commit("change")
                    self.git("tag", "-f", "v0.1.0")
                done = self.run_in(self.clone, "scripts/release/release.sh", revision)
                self.assertEqual(done.returncode, 1)
                self.assertIn(words, done.stdout)
        self.assertFalse(os.path.exists(self.path("clone", "build")))

    def test_usage(self):
        for words in (("--help",), ("a", "b"), (self.path("nowhere"),)):
            done = self.run_in(self.clone, "scripts/release/verify.sh", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertRegex(done.stdout, "Verifies a release|nowhere: not a folder")


if __name__ == "__main__":
    unittest.main()
