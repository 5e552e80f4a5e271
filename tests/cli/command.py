"""Runs the command, named by LEAT (default: build/leat), and waits for it."""
import os
import select
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("LEAT_BUILD", os.path.join(ROOT, "build"))
LEAT = os.environ.get("LEAT", os.path.join(BUILD, "leat"))
LIMIT = 120  # seconds that a child may take: only so that one that hangs does not hang the test


def leat(*words, status=None, **more):
    """Runs it, with words, numbers and names in bytes; with `status`, it must end so."""
    more = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": LIMIT,
            **more}
    words = [word if isinstance(word, bytes) else str(word) for word in words]
    done = subprocess.run([LEAT, *words], check=False, **more)
    if status is not None and done.returncode != status:
        raise AssertionError(f"leat {words}: status {done.returncode}, not {status}\n"
                             f"{done.stdout}{done.stderr}")
    return done


def wait_for_output(process):
    """Returns once something can be read from its stdout."""
    if not select.select([process.stdout], [], [], LIMIT)[0]:
        process.kill()
        raise AssertionError(f"waited {LIMIT} s for its first output: {process.args}")
