"""Libraries that leat opens at run time, where they are missing or too old: each command that needs
one says what to install, and the others work.

Runs the command named by LEAT (default: build/leat). A library of the same name that comes first
(LD_LIBRARY_PATH) takes the place of the system's: a text is none, an empty one is too old.
"""
import bz2
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

from command import LEAT, ROOT, leat

ROWS = b"event_time,src_addr,dst_addr,ip_version,rtt\n" \
       b"2024-05-06 07:08:09,192.0.2.1,192.0.2.9,4,3.5\n"
MISSING = " {}, which is not installed here; install it (Debian: {}){}"
TOO_OLD = r"this {} does not have the function \w+; install {} {} or newer"
# name, files, oldest version, package of Debian, words of the command, how the message begins and
# ends
LIBRARIES = (
    ("libzip", ("libzip.so.5", "libzip.so.4"), "1.7", "libzip-dev",
     "ingest probes IN/a.zip -o OUT", "zip archives are read with",
     ", or unpack the archive and use its folder"),
    ("liblzma", ("liblzma.so.5",), "5.2", "liblzma5", "ingest probes IN/a.csv.xz -o OUT",
     "xz files are read with", ", or unpack the file (unxz)"),
    ("libbz2", ("libbz2.so.1.0", "libbz2.so.1"), "1.0", "libbz2-1.0",
     "ingest probes IN/a.csv.bz2 -o OUT", "bzip2 files are read with",
     ", or unpack the file (bunzip2)"),
    ("libwebp", ("libwebp.so.7",), "1.2", "libwebp7",
     "ingest images IN/pictures -o OUT --max-rejected 0.9", "a WebP, which is read with",
     ", or convert the file to PNG or JPEG"),
    ("libmicrohttpd", ("libmicrohttpd.so.12",), "0.9.72", "libmicrohttpd12",
     "dash --db postgresql://u:p@127.0.0.1:1/d --listen 127.0.0.1:0", "the page is served with",
     ""),
    ("libpq", ("libpq.so.5",), "13", "libpq5", "status --db postgresql://u:p@127.0.0.1:1/d",
     "PostgreSQL is reached through", ""),
)


@unittest.skipIf(shutil.which("cc") is None, "skipped: there is no cc")
class Libraries(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="leat-libraries-")
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        os.makedirs(self.at("in", "pictures"))
        with zipfile.ZipFile(self.at("in", "a.zip"), "w") as archive:
            archive.writestr("a.csv", ROWS)
        for name, data in (("a.csv", ROWS), ("a.csv.xz", lzma.compress(ROWS)),
                           ("a.csv.bz2", bz2.compress(ROWS))):
            with open(self.at("in", name), "wb") as file:
                file.write(data)
        for name in ("lossy.webp", "420.jpg"):
            shutil.copy(os.path.join(ROOT, "tests", "golden", "images", name),
                        self.at("in", "pictures"))

    def at(self, *names):
        return os.path.join(self.folder, *names)

    def said(self, words, libraries):
        """All that the command says, and the list of what it rejects."""
        shutil.rmtree(self.at("out"), ignore_errors=True)
        words = words.replace("IN", self.at("in")).replace("OUT", self.at("out")).split()
        done = leat(*words, env={**os.environ, "LD_LIBRARY_PATH": libraries})
        text = done.stdout + done.stderr
        if os.path.exists(self.at("out", "rejected.csv")):
            with open(self.at("out", "rejected.csv"), encoding="utf-8") as file:
                text += file.read()
        return text

    def test_missing_and_too_old(self):
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.at("empty.so"), "-x", "c",
                        os.devnull], check=True)
        with open(self.at("text"), "w", encoding="ascii") as file:
            file.write("not a library\n")
        for source in ("text", "empty.so"):
            place = self.at(f"with-{source}")
            os.mkdir(place)
            for name, files, least, package, words, use, otherwise in LIBRARIES:
                for file in files:
                    shutil.copy(self.at(source), os.path.join(place, file))
                wanted = TOO_OLD.format(name, name, re.escape(least)) if source == "empty.so" else \
                    re.escape(use + MISSING.format(name, package, otherwise))
                said = self.said(words, place)
                if f"built without {name}" not in said:
                    self.assertRegex(said, wanted)
            # none of them can be used now
            leat("ingest", "probes", self.at("in", "a.csv"), "-o", self.at("rows"), "--replace",
                 status=0, env={**os.environ, "LD_LIBRARY_PATH": place})


if __name__ == "__main__":
    if not os.access(LEAT, os.X_OK):
        print(f"skipped: {LEAT} is not built")
        sys.exit(77)
    unittest.main()
