"""The scripts of the portable wheel: the same files give the same bytes, and scripts/wheel/check.py
finds what is wrong with a wheel. The files are texts here; make wheel builds and checks real ones.
"""
import contextlib
import csv
import fcntl
import hashlib
import io
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "scripts", "wheel")
sys.path.insert(0, FOLDER)
sys.dont_write_bytecode = True
import assemble  # noqa: E402
import check  # noqa: E402

PLATFORM = "manylinux_2_28_x86_64"
VERSION = ("leat 0.1.0\nbuild     commit        unknown\nbuild     kind          {kind}\n"
           "cpu       avx2          {avx2}\ncpu       avx512        {avx512}\n"
           "cpu       sha           {sha}\nlibrary   zstd          {zstd}\n")


class Wheel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="leat-wheel-")
        self.addCleanup(folder.cleanup)
        self.top = folder.name

    def write(self, *path, text="text"):
        name = os.path.join(self.top, *path)
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def inputs(self):
        for name, *_ in assemble.components():
            self.write("prefix", "licences", name, "LICENSE")
        self.write("prefix", "licences", "llvm", "LICENSE.TXT")
        self.write("prefix", "licences", "zig", "LICENSE")
        for name in ("build/leat", "build/libleat.so", "build/leat-worker", "duckdb/libduckdb.so",
                     "duckdb/LICENSE", f"prefix/lib/{assemble.MICROHTTPD}"):
            self.write(*name.split("/"))

    def assemble(self, output="out", epoch="1700000000", package="leat"):
        """The path of a package's wheel, or what was wrong."""
        done = subprocess.run(
            [sys.executable, os.path.join(FOLDER, "assemble.py"), "--platform", PLATFORM,
             *(word for name in ("build", "prefix", "duckdb")
               for word in (f"--{name}", os.path.join(self.top, name))),
             "--output", os.path.join(self.top, output)],
            env=os.environ | {"SOURCE_DATE_EPOCH": epoch}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            return done.stdout
        name, = (name for name in os.listdir(os.path.join(self.top, output))
                 if name.startswith(f"{package}-"))
        return os.path.join(self.top, output, name)

    def test_same_bytes(self):
        self.inputs()
        first = assemble.read(self.assemble())
        for folder, _, files in os.walk(self.top):
            for file in files:
                os.utime(os.path.join(folder, file), (1, 1))
                os.chmod(os.path.join(folder, file), 0o600)
        self.assertEqual(assemble.read(self.assemble("again")), first)
        self.assertNotEqual(assemble.read(self.assemble("later", "1800000000")), first)

    def test_contents(self):
        self.inputs()
        wheel = self.assemble()
        self.assertEqual(check.platform_of(wheel), PLATFORM)
        self.assertEqual(list(check.record(wheel)), [])
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            info = f"leat-{assemble.version()}.dist-info/"
            metadata = archive.read(info + "METADATA").decode()
            rows = list(csv.reader(archive.read(info + "RECORD").decode().splitlines()))
        self.assertEqual([row[0] for row in rows], names)
        for name in ("leat/__init__.py", "leat/py.typed", "leat/maxtext/__init__.py", "leat/leat",
                     info + "licenses/crypto/LICENSE", info + "licenses/duckdb/LICENSE"):
            self.assertIn(name, names)
        self.assertIn("\nRequires-Dist: numpy>=1.23\n", metadata)
        self.assertRegex(metadata, "^Metadata-Version: 2.4\n")  # the first with the next two
        self.assertRegex(metadata, "\nLicense-Expression: Apache-2.0 AND .* AND bzip2-1.0.6 AND ")
        self.assertRegex(metadata, "\nLicense-Expression: .* AND LGPL-2.1-or-later AND ")
        self.assertIn(f"leat/{assemble.MICROHTTPD}", names)
        self.assertIn("\nLicense-File: zig/LICENSE\n", metadata)
        self.assertIn('\nRequires-Dist: grain>=0.2.18; extra == "grain"\n', metadata)

    def test_worker(self):
        """One program, which pip puts beside Python, and licences; nothing of the other wheel, so
        that both can be installed."""
        self.inputs()
        both = [self.assemble(package=package) for package in ("leat", "leat_worker")]
        contents = []
        for wheel in both:
            self.assertEqual(check.platform_of(wheel), PLATFORM)
            self.assertEqual([*check.record(wheel), *check.licences(wheel), *check.size(wheel)], [])
            with zipfile.ZipFile(wheel) as archive:
                contents.append(set(archive.namelist()))
                metadata, = (archive.read(name).decode() for name in archive.namelist()
                             if name.endswith("/METADATA"))
        self.assertEqual(contents[0] & contents[1], set())
        name = f"leat_worker-{assemble.version()}"
        self.assertEqual({file for file in contents[1] if ".dist-info/" not in file},
                         {f"{name}.data/scripts/leat-worker"})
        self.assertRegex(metadata, "\nName: leat-worker\n")
        self.assertNotIn("\nRequires-Dist:", metadata)
        self.assertIn("\nLicense-File: pq/LICENSE\n", metadata)
        self.assertIn("PostgreSQL", metadata)
        self.assertNotIn("LGPL", metadata)  # libmicrohttpd is not in it

    def test_worker_is_checked(self):
        """Its size, and that no licence is missing."""
        self.inputs()
        wheel = self.assemble(package="leat_worker")
        with unittest.mock.patch.object(check, "WORKER_BYTES", 3):
            self.assertRegex("\n".join(check.size(wheel)), "leat-worker: 4 bytes, more than 3")
        other = os.path.join(self.top, os.path.basename(wheel))
        with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(other, "w") as new:
            for name in old.namelist():
                if "/licenses/pq/" not in name and not name.endswith("/leat-worker"):
                    new.writestr(name, old.read(name))
        self.assertEqual(list(check.licences(other)), ["no text of the licence of pq"])
        self.assertIn(f"{check.WORKER}: is missing", list(check.record(other)))

    def test_no_licence(self):
        self.inputs()
        shutil.rmtree(os.path.join(self.top, "prefix", "licences", "zip"))
        self.assertRegex(self.assemble(), "licences/zip has no licence")

    def test_record_is_checked(self):
        self.inputs()
        wheel = self.assemble()
        other = os.path.join(self.top, os.path.basename(wheel))
        cases = (("leat/leat", 0o755, None, "has mode 755, not 100755"),
                 ("leat/errors.py", 0o100644, b"x", "leat/errors.py: not what RECORD says"),
                 ("leat/more.py", 0o100644, b"x", "leat/more.py: in RECORD or in the archive"))
        for changed, mode, content, words in cases:
            with self.subTest(changed), zipfile.ZipFile(wheel) as old, \
                    zipfile.ZipFile(other, "w") as new:
                for entry in old.infolist():
                    text = old.read(entry)
                    if entry.filename == changed:
                        entry.external_attr = mode << 16
                        text = text if content is None else content
                    new.writestr(entry, text)
                if changed not in old.namelist():
                    new.writestr(changed, content)
                new.close()
                self.assertRegex("\n".join(check.record(other)), words)

    def test_paths(self):
        self.write("files", "leat", text="in /build/here/leat.c, ../lib/leat/libduckdb.so")
        for path in ("/build/there", "/build/her", "/leat"):
            self.assertEqual(list(check.paths(os.path.join(self.top, "files"), [path])), [])
        self.assertEqual(list(check.paths(os.path.join(self.top, "files"), ["/build/here"])),
                         ["leat: contains the path /build/here"])

    def test_processor(self):
        """A build that does not use what the processor has, as one without its detection."""
        used, unused = "compiled in, in use", "compiled in, not in this cpu"
        good = {"kind": f"wheel {PLATFORM}", "avx2": used, "avx512": unused, "sha": used,
                "zstd": "1.5.4"}
        flags = {"avx2", "fma", "sha_ni", "sse4_1"}
        cases = (({}, []), ({"avx2": unused}, ["avx2"]), ({"sha": unused}, ["sha"]),
                 ({"avx512": used}, ["avx512"]), ({"kind": "from source"}, ["kind from source"]),
                 ({"zstd": "left out"}, ["library zstd left out"]))
        for change, words in cases:
            with self.subTest(change):
                text = VERSION.format(**good | change)
                leat = self.write("leat", text=f"#!/bin/sh\ncat <<'END'\n{text}END\n")
                os.chmod(leat, 0o755)
                found = list(check.version([leat], PLATFORM, flags))
                self.assertEqual(len(found), len(words), found)
                for problem, word in zip(found, words):
                    self.assertIn(word, problem)

    def test_arm64(self):
        """What an arm64 build says of its processor, and what runs it elsewhere."""
        platform = "manylinux_2_28_aarch64"
        self.assertEqual(check.of_processor(platform, set()), {"neon": "baseline, in use"})
        with unittest.mock.patch.object(check.machine, "machine", lambda: "aarch64"):
            self.assertEqual(check.runner(platform), [])
        with unittest.mock.patch.object(check.machine, "machine", lambda: "x86_64"), \
                unittest.mock.patch.object(check.shutil, "which", lambda name: None), \
                self.assertRaisesRegex(SystemExit, "of aarch64 cannot be run here; .* qemu-user"):
            check.runner(platform)

    def test_machines(self):
        """Programs of another processor, or of none, in a wheel with this one's name."""
        for text, wrong in (("\x7fELF" + "\0" * 14 + "\x3e\0", []), ("\x7fELF", ["leat"]),
                            ("\x7fELF" + "\0" * 14 + "\x28\0", ["leat"]), ("", ["leat"])):
            self.write("leat", text=text)
            self.assertEqual(list(check.machines(self.top, PLATFORM, ["leat"])),
                             [f"{name}: is not a program of x86_64" for name in wrong])

    def test_programs_that_fail(self):
        """A line that says why, and no more."""
        for text, words in (("#!/bin/sh\necho Traceback\necho because; exit 3",
                             "failed with status 3: because$"),
                            ("#!/bin/sh\nexit 1", "failed with status 1: nothing printed$"),
                            ("\x7fELF of something else", "leat version: Exec format error$"),
                            ("#!/bin/sh\necho\necho build kind", '"build kind", not a group')):
            with self.subTest(words):
                leat = self.write("leat", text=text)
                os.chmod(leat, 0o755)
                with self.assertRaisesRegex(SystemExit, f"^check: .*{words}"):
                    list(check.version([leat], PLATFORM, set()))

    @unittest.skipUnless(os.path.exists("/usr/share/keyrings/debian-archive-keyring.gpg"),
                         "needs debian-archive-keyring")
    def test_snapshot(self):
        """What Debian no longer has, comes from its archive of all versions: the .dsc, and what it
        lists, each with its SHA-256."""
        dsc = "-----BEGIN\nFiles:\n 0 1 a.xz\nChecksums-Sha256:\n 12ab 5 zlib_1.0.orig.tar.gz\n" \
            " 34cd 6 zlib_1.0-1.debian.tar.xz\nFiles:\n 5 6 b.xz\n"
        self.write("there", "zlib_1.0-1.dsc", text=dsc)
        sha = hashlib.sha256(dsc.encode()).hexdigest()
        tools = {"apt_get": "exit 100", "sha": sha,
                 "apt_helper": f'echo "asked: $3 $4 $5"\ncp {self.top}/there/* . ; : >"$4"\n'
                               f'[ "$4" != zlib_1.0-1.dsc ] || cp {self.top}/there/"$4" "$4"'}
        status, messages = self.libraries('echo "new" >libz.a', **tools)
        self.assertEqual(status, 0, messages)
        place = "http://old.example/debian/1/pool/main/z/zlib"
        self.assertEqual(re.findall("asked: (.*)", messages), [
            f"{place}/{name} {name} SHA256:{digest}" for name, digest in (
                ("zlib_1.0-1.dsc", sha), ("zlib_1.0.orig.tar.gz", "12ab"),
                ("zlib_1.0-1.debian.tar.xz", "34cd"))])
        self.assertEqual(sorted(os.listdir(os.path.join(self.top, "cache", "sources"))),
                         ["new", "zlib_1.0-1.debian.tar.xz", "zlib_1.0-1.dsc",
                          "zlib_1.0.orig.tar.gz"])

    # ---- malformed wheels ----

    def repacked(self, wheel, change):
        """The wheel with what change(files by name) makes of it."""
        with zipfile.ZipFile(wheel) as old:
            files = {entry: old.read(entry) for entry in old.infolist()}
        named = {entry.filename: (entry, text) for entry, text in files.items()}
        other = os.path.join(self.top, "other", os.path.basename(wheel))
        os.makedirs(os.path.dirname(other), exist_ok=True)
        change(named)
        with zipfile.ZipFile(other, "w") as new:
            for name, (entry, text) in named.items():
                entry.filename = name
                new.writestr(entry, text)
        return other

    def checked(self, wheel):
        """What the program says of the archive, line by line; nothing of it is run."""
        said = io.StringIO()
        with unittest.mock.patch.object(check, "unpacked", lambda wheel, folder: iter(())), \
                unittest.mock.patch.object(check, "metadata", lambda wheel: iter(())), \
                unittest.mock.patch.object(sys, "argv", ["check.py", wheel]), \
                contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                check.main()
            except SystemExit as problem:
                said.write(problem.code if isinstance(problem.code, str) else "")
        return said.getvalue().splitlines()

    def test_malformed(self):
        """A line that says what is wrong."""
        self.inputs()
        wheel = self.assemble()
        self.assertEqual(self.checked(wheel), [f"wheel: {wheel}: accepted"])
        info = f"leat-{assemble.version()}.dist-info"

        def put(name, text):
            return lambda files: files.update({name: (zipfile.ZipInfo(name), text)})

        for change, words in (
                (lambda files: files.pop(f"{info}/RECORD"), f"has no {info}/RECORD"),
                (lambda files: files.pop(f"{info}/WHEEL"), f"has no {info}/WHEEL"),
                (lambda files: files.pop(f"{info}/METADATA"), f"has no {info}/METADATA"),
                (lambda files: files.clear(), f"has no {info}/METADATA"),
                (put(f"{info}/RECORD", b"\xff"), "RECORD: not UTF-8"),
                (put("leat-9.dist-info/RECORD", b""), "has the folder leat-9.dist-info beside"),
                (put("../leat", b""), r"has the file \.\./leat, which is no name"),
                (put("\x1b[2J/", b""), r"has the file \\x1b\[2J/, which is no name"),
                (put(f"{info}/WHEEL", b"Wheel-Version: 1.0\nTag: py3-none-any\n"),
                 "WHEEL: Tag is py3-none-any, not py3-none-manylinux")):
            with self.subTest(words):
                said = self.checked(self.repacked(wheel, change))
                self.assertTrue(all(line.startswith("check: ") for line in said), said)
                self.assertRegex("\n".join(said), words)

    def test_damaged(self):
        """Cut, or with other bytes: one line, wherever that is."""
        self.inputs()
        wheel = self.assemble()
        good, chance = assemble.read(wheel), random.Random(1)
        path = os.path.join(self.top, os.path.basename(wheel))
        for number in range(60):
            text = bytearray(good)
            for _ in range(4):
                text[chance.randrange(len(good) - 4000, len(good))] ^= chance.randrange(1, 256)
            text = text[:chance.randrange(len(good))] if number % 3 == 0 else text
            with open(path, "wb") as file:
                file.write(text)
            said = self.checked(path)
            self.assertTrue(said and all(line.startswith(("check: ", "wheel: ")) for line in said),
                            said)
        os.remove(path)
        self.assertEqual(self.checked(path), [f"check: {path}: not a file; name a wheel"])
        os.mkdir(path)
        self.assertEqual(self.checked(path), [f"check: {path}: not a file; name a wheel"])

    def libraries(self, make, unpack=":", cache="cache", cpu=(), sha=None, **tools):
        """(status, messages) of libraries.sh with one library and tools that do nothing: `make`
        and `unpack` are what make and dpkg-source do, `tools` others."""
        pins = self.write("scripts", "requirements", "wheel.txt")
        sha = sha or hashlib.sha256(b"text").hexdigest()
        self.write("scripts", "wheel", "sources.txt",
                   text="#snapshot http://old.example/debian/1\n"
                        f"zlib zlib=1:1.0-1 {sha} Zlib README\n")
        script = self.write("scripts", "wheel", "libraries.sh")
        shutil.copy(os.path.join(FOLDER, "libraries.sh"), script)
        shutil.copy(pins, self.write(cache, "tools", "pins.txt"))
        if not tools:
            self.write(cache, "sources", "zlib_1.0-1.dsc")
        self.write("zig", "LICENSE")
        self.write("zig", "lib", "libcxx", "LICENSE.TXT")
        stubs = {name: "exit 0" for name in ("apt-get", "cmake", "ninja", "nasm", "perl")}
        stubs["apt-helper"] = "exit 100"
        stubs |= {"make": make, "dpkg-source":
                  f'{unpack}\nfor out; do :; done; mkdir "$out" && cd "$out" &&\n'
                  "touch README zlib.h zconf.h && echo '#!/bin/sh' >configure &&\n"
                  "chmod +x configure"}
        stubs |= {name.replace("_", "-"): text for name, text in tools.items()}
        for path, text in [(f"{cache}/tools/bin/python3", f"echo '{self.top}/zig'"),
                           *((f"stubs/{name}", text) for name, text in stubs.items())]:
            os.chmod(self.write(*path.split("/"), text=f"#!/bin/sh\n{text}\n"), 0o755)
        done = subprocess.run(
            ["sh", script, os.path.join(self.top, cache), *cpu],
            env=os.environ | {"PATH": f"{self.top}/stubs:{os.environ['PATH']}",
                              "LDFLAGS": "-user", "MAKEFLAGS": " -- CFLAGS=-user"},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def test_libraries(self):
        """A library whose build fails is not taken as built, even where an old one is there, and
        the next call builds it."""
        done = os.path.join(self.top, "cache/x86_64/done/zlib")
        self.write("cache", "x86_64", "lib", "libz.a", text="old")
        for make, unpack, words in (
                ("echo no compiler; exit 2", ":", r"zlib: the build failed[^$]*\nno compiler"),
                ("exit 0", ":", r"zlib: the build failed[^$]*libz\.a"),
                ("exit 0", "exit 1", "zlib: cannot be unpacked")):
            with self.subTest(words):
                status, messages = self.libraries(make, unpack)
                self.assertEqual(status, 1, messages)
                self.assertRegex(messages, words)
                self.assertFalse(os.path.exists(done))
        self.assertEqual(self.libraries('echo "new$LDFLAGS$MAKEFLAGS" >libz.a')[0], 0)
        self.assertTrue(os.path.exists(done))
        self.assertEqual(assemble.read(self.top, "cache/x86_64/lib/libz.a"), b"new\n")
        self.assertEqual(self.libraries("exit 1")[0], 0)  # not built again

    def test_libraries_of_arm64(self):
        """Beside those of x86-64, with a compiler of their own; both stay."""
        for cpu, folder in ((), "x86_64"), (["aarch64"], "aarch64"):
            status, messages = self.libraries(f"echo {folder} >libz.a", cpu=cpu)
            self.assertEqual(status, 0, messages)
        for tag, cpu in (("", "x86_64"), ("-aarch64", "aarch64")):
            self.assertEqual(assemble.read(self.top, "cache", cpu, "lib/libz.a"),
                             f"{cpu}\n".encode())
            self.assertIn(f"cc -target {cpu}-linux-gnu.2.28 ",
                          assemble.read(self.top, f"cache/bin{tag}/zcc").decode())
            self.assertEqual(self.libraries("exit 1", cpu=[cpu])[0], 0)  # not built again
        status, messages = self.libraries("exit 1", cpu=["riscv64"])
        self.assertEqual(status, 1)
        self.assertIn("riscv64: libraries are built for x86_64 and aarch64", messages)

    def test_libraries_refuse(self):
        status, messages = self.libraries("exit 1", cache="a b")
        self.assertEqual(status, 1)
        self.assertRegex(messages, "a b: the libraries cannot be built .*WHEEL_CACHE=")
        with open(self.write("cache", "lock"), "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            status, messages = self.libraries("exit 1")
        self.assertEqual(status, 1)
        self.assertIn("another build is using it", messages)

    @unittest.skipUnless(os.path.exists("/usr/share/keyrings/debian-archive-keyring.gpg"),
                         "needs debian-archive-keyring")
    def test_sources(self):
        """What helps where a source cannot be fetched depends on what Debian has."""
        fails = 'case $* in *source*) exit 100 ;; esac'
        for get, has, words in (
                ("exit 100", "", "Debian's lists of sources could not be fetched, nor zlib.* from"),
                (fails, "exit 100", "zlib=1:1.0-1: the source could not be fetched, nor a list"),
                (fails, "echo Version: 1:1.0-1; echo Version: 1:1.1-1", "although Debian has it"),
                (fails, "echo Version: 1:1.1-1; echo Version: 1:1.0-10",
                 r"no longer has this version, but 1:1\.0-10 1:1\.1-1, .* copy zlib_1\.0-1\.dsc "
                 rf"and the files that it lists into {self.top}/cache/sources, .*write that and")):
            with self.subTest(words):
                status, messages = self.libraries("exit 1", apt_get=get, apt_cache=has)
                self.assertEqual(status, 1, messages)
                self.assertRegex(messages, words)
                self.assertNotIn("the build failed", messages)

    def test_names(self):
        for name in ("leat-0.1.0-py3-none-linux_x86_64.whl", "leat.zip",
                     "leat-0.1.0-py3-none-manylinux_2_28_riscv64.whl"):
            self.assertRaises(SystemExit, check.platform_of, name)
        for cpu in ("x86_64", "aarch64"):
            platform = check.platform_of(f"leat_worker-0.1.0-py3-none-manylinux_2_28_{cpu}.whl")
            self.assertEqual(check.cpu_of(platform), cpu)


if __name__ == "__main__":
    unittest.main()
