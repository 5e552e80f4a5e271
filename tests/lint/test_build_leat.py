"""python/build_leat.py: what pip says where leat cannot be built, before anything is."""
import importlib.util
import os
import sys
import types
import unittest
import unittest.mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOOKS = ("get_requires_for_build_wheel", "prepare_metadata_for_build_wheel", "build_wheel",
         "get_requires_for_build_editable", "prepare_metadata_for_build_editable",
         "build_editable")
sys.dont_write_bytecode = True


class Build(unittest.TestCase):
    def setUp(self):
        """With a stand-in for scikit-build-core, whose hooks return their names and arguments."""
        def hook(name):
            return lambda *words: (name, *words)
        build = types.SimpleNamespace(**{name: hook(name) for name in HOOKS})
        for name in HOOKS:
            getattr(build, name).__name__ = name
        package = types.ModuleType("scikit_build_core")
        package.build = build
        spec = importlib.util.spec_from_file_location(
            "build_leat", os.path.join(ROOT, "python", "build_leat.py"))
        self.module = importlib.util.module_from_spec(spec)
        with unittest.mock.patch.dict(sys.modules, {"scikit_build_core": package}):
            spec.loader.exec_module(self.module)

    def refused(self, words, **environment):
        with unittest.mock.patch.dict(os.environ, environment):
            for name in HOOKS:
                with self.subTest(name), self.assertRaisesRegex(SystemExit, words):
                    getattr(self.module, name)()

    def test_hooks(self):
        with unittest.mock.patch.dict(os.environ, {"CC": sys.executable + " -m cc"}):
            for name in HOOKS:
                self.assertEqual(getattr(self.module, name)("a", None), (name, "a", None))

    def test_no_sources(self):
        self.module.TOP = "/nowhere/at/all"
        self.refused("^leat: /nowhere/at/all has no CMakeLists.txt, .* or install a wheel")

    def test_no_compiler(self):
        self.refused(r"^leat: there is no C compiler \(nowhere-cc\), .*scripts/install.sh",
                     CC="nowhere-cc --fast")

    def test_sdist(self):
        with self.assertRaisesRegex(SystemExit, "there is no sdist, .*#subdirectory=python"):
            self.module.build_sdist("out")


if __name__ == "__main__":
    unittest.main()
