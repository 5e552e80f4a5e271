"""How pip builds leat: with scikit-build-core, once it is known that this can succeed.

A clone, and the source archive of a release, have what is compiled: it is above this folder, so an
archive of this folder alone (an sdist) could not be built, and is not made. pip shows what is
printed here, and how far the build is, with -v.
"""
from __future__ import annotations

import functools
import os
import shutil
import sys
from collections.abc import Callable

from scikit_build_core import build

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def check() -> None:
    """What a build requires and pip does not bring."""
    if not os.path.exists(os.path.join(TOP, "CMakeLists.txt")):
        sys.exit(f"leat: {TOP} has no CMakeLists.txt, and the folder python alone has no sources "
                 "of libleat; run pip install ./python in a clone of leat or in its unpacked "
                 "source archive, or install a wheel, which needs no compiler")
    compiler = [*os.environ.get("CC", "").split(), "cc"][0]
    if shutil.which(compiler) is None:
        sys.exit(f"leat: there is no C compiler ({compiler}), and libleat is compiled; run "
                 "scripts/install.sh, which installs one, or install a wheel, which needs none")


def checked(hook: Callable[..., object]) -> Callable[..., object]:
    @functools.wraps(hook)
    def run(*words: object, **named: object) -> object:
        check()
        if hook is build.build_wheel:
            print("leat: compiling libleat, some minutes the first time; build-wheel, beside the "
                  "folder python, keeps what is compiled", flush=True)
        return hook(*words, **named)
    return run


get_requires_for_build_wheel = checked(build.get_requires_for_build_wheel)
prepare_metadata_for_build_wheel = checked(build.prepare_metadata_for_build_wheel)
build_wheel = checked(build.build_wheel)
get_requires_for_build_editable = checked(build.get_requires_for_build_editable)
prepare_metadata_for_build_editable = checked(build.prepare_metadata_for_build_editable)
build_editable = checked(build.build_editable)


def build_sdist(*_: object, **__: object) -> str:
    sys.exit("leat: there is no sdist, because libleat's sources are above the folder python; the "
             "source archive of a release has all of them, and pip builds it: pip install "
             "'leat @ file:///FOLDER/leat-VERSION.tar.gz#subdirectory=python'")
