"""A command that waits at a chosen place of its work, and signals of which it surely knows."""
import os
import select
import signal
import subprocess

from command import BUILD, LIMIT

PROGRAM = os.path.join(BUILD, "tests", "leat_held")  # the command with held.c


class Held(subprocess.Popen):
    """A run of the command that waits before the `call`-th call into the file system at which a
    path is there that the shell pattern names:

        with Held(["ingest", ...], "out/.leat/temp") as process:
            ...                           # it waits there
            out, err = process.rest()     # it went on to its end
    """

    def __init__(self, words, pattern, call=1, **more):
        self.told, say = os.pipe()
        go, self.gate = os.pipe()
        environment = {**os.environ, "LEAT_HELD": f"{say} {go} {call} {pattern}"}
        try:
            super().__init__([PROGRAM, *map(str, words)], pass_fds=(say, go), env=environment,
                             text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        finally:
            os.close(say)
            os.close(go)
        try:
            self.wait_for_word(b"h", f'call {call} with "{pattern}" there')
        except BaseException:
            self.kill()
            self.__exit__(None, None, None)
            raise

    def wait_for_word(self, word, what):
        """One that says that `what` has come."""
        if not select.select([self.told], [], [], LIMIT)[0]:
            raise AssertionError(f"waited {LIMIT} s for this: {what}")
        said = os.read(self.told, 1)
        if said == b"":
            raise AssertionError(f"the command ended before this: {what}\n{self.rest()}")
        if said != word:
            raise AssertionError(f"it says {said}, not {word}, for this: {what}")

    def stop(self, number=signal.SIGINT):
        """Sends the first signal, and returns when the command has noted it."""
        self.send_signal(number)
        self.wait_for_word(b"s", f"signal {number} noted")

    def rest(self):
        """Lets it go on; what it wrote, once it has ended."""
        self.close(gate=True)
        return self.communicate(timeout=LIMIT)

    def close(self, **which):
        for name in which or ("gate", "told"):
            if getattr(self, name) is not None:
                os.close(getattr(self, name))
                setattr(self, name, None)

    def __exit__(self, problem, *more):
        if problem is not None:
            self.kill()
        self.close()
        super().__exit__(problem, *more)
