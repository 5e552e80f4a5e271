"""The links of the pages that make install lays down, each to a file that is there, and of the
pages only the links differ from those of the sources."""
import glob
import os
import re
import subprocess
import tempfile
import unittest

import command

LINK = re.compile(r"\[([^][]*)\]\(([^)\s]+)\)")
HTML = re.compile(r'(?:src|href)="([^"]+)"')


class InstalledPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = os.path.join(cls.folder.name, "usr", "share", "doc", "leat")
        for _ in range(2):  # over an installation, too
            subprocess.run(["cmake", "--install", command.BUILD, "--prefix", "/usr"], check=True,
                           env={**os.environ, "DESTDIR": cls.folder.name}, stdout=subprocess.PIPE)
        cls.pages = sorted(os.path.relpath(path, cls.root) for path in
                           glob.glob(os.path.join(cls.root, "**", "*.md"), recursive=True))

    def read(self, root, page):
        with open(os.path.join(root, page), encoding="utf-8") as file:
            return file.read()

    def test_links_lead_to_files(self):
        self.assertGreater(len(self.pages), 30)
        for page in self.pages:
            text = self.read(self.root, page)
            for link in [match[1] for match in LINK.findall(text)] + HTML.findall(text):
                name = link.partition("#")[0]
                if re.match("https?:", link) or not name:
                    continue
                with self.subTest(page=page, link=link):
                    self.assertTrue(os.path.exists(os.path.join(self.root, os.path.dirname(page),
                                                                name)))

    def test_only_links_to_sources_differ(self):
        count = 0
        for page in self.pages:
            theirs, ours = self.read(self.root, page), self.read(command.ROOT, page)
            with self.subTest(page=page):
                self.assertEqual(LINK.sub(r"\1", theirs), LINK.sub(r"\1", ours))
            count += theirs != ours
        self.assertGreater(count, 3)

    def test_headers_are_those_installed(self):
        self.assertIn("(../../../../include/leat/crowd.h)",
                      self.read(self.root, os.path.join("docs", "crowd.md")))


if __name__ == "__main__":
    unittest.main()
