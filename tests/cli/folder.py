"""A test case with a folder of its own, which is removed at the end."""
import os
import shutil
import tempfile
import unittest


class Folder(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.top)

    def at(self, *names):
        return os.path.join(self.top, *names)

    def write(self, name, data):
        """Writes a file in it, text as UTF-8 or bytes; its path."""
        with open(self.at(name), "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
        return self.at(name)
