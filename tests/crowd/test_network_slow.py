"""A bad network between coordinator, workers and server: connections that stall, end in the middle
of a message, or stay open and carry nothing any more, and 200 ms of delay each way. The final hash
is that of one machine, each unit is counted once, and nothing is left over. Where a connection
breaks is drawn from a seed by the bytes that it has carried.
"""
import json
import queue
import random
import socket
import threading
import time
import unittest

from server import Proxy, require

from runs import Runs

SEED = 20261126
STEPS = 20
STALL_MS = 2000  # at most; longer than lease and hold
DELAY_MS, DELAY_STEPS = 200, 3
# How many bytes are between two faults, on average. What a coordinator needs of one connection, to
# take a step, is 0.4 MB here; what a worker needs for a unit, 0.1 MB.
OF_COORDINATOR, OF_WORKER = 600000, 150000


class Fault(Proxy):
    """Breaks connections once `begin` was called: calls `strike` before bytes are passed on, each
    time that about so many have been."""

    def __init__(self, port, name, every):
        self.luck, self.every = random.Random(f"{SEED} {name}"), every
        self.active, self.struck, self.left = False, 0, 0
        super().__init__(port)

    def begin(self):
        self.active, self.left = True, self.luck.randrange(2 * self.every)

    def send(self, data, of, to, up):
        with self.lock:
            self.left -= len(data)
            strikes = self.active and self.left < 0
            if strikes:
                self.struck, self.left = self.struck + 1, self.luck.randrange(2 * self.every)
        if strikes:
            self.strike(data, of, to)
        else:
            super().send(data, of, to, up)

    def strike(self, data, of, to):
        raise NotImplementedError


class Stall(Fault):
    """Nothing passes for a while, on any of the connections."""

    def __init__(self, *of):
        self.gate = threading.Lock()
        super().__init__(*of)

    def send(self, data, of, to, up):
        with self.gate:
            super().send(data, of, to, up)

    def strike(self, data, of, to):
        time.sleep(self.luck.randrange(STALL_MS) * 1e-3)
        to.sendall(data)


class Cut(Fault):
    """Half of the last bytes still arrives."""

    def strike(self, data, of, to):
        to.sendall(data[:len(data) // 2])
        for each in (of, to):
            each.shutdown(socket.SHUT_RDWR)
        raise ConnectionError


class HalfOpen(Proxy):
    """From `begin` on, the connections that there are carry nothing, but do not end; new ones are
    good."""

    def __init__(self, port):
        self.dead = set()
        super().__init__(port)

    def begin(self):
        with self.lock:
            self.dead.update(self.open)

    def send(self, data, of, to, up):
        with self.lock:
            is_dead = of in self.dead
        if is_dead:
            raise ConnectionError
        super().send(data, of, to, up)


class Delay(Proxy):
    """Passes everything on in order, a while later."""

    def pump(self, of, to, up):
        line = queue.SimpleQueue()
        threading.Thread(target=self.deliver, args=[line, of, to, up], daemon=True).start()
        try:
            while data := of.recv(1 << 16):
                line.put((time.monotonic() + DELAY_MS * 1e-3, data))
        except OSError:
            pass
        line.put((time.monotonic() + DELAY_MS * 1e-3, b""))

    def deliver(self, line, of, to, up):
        try:
            while True:
                at, data = line.get()
                time.sleep(max(0, at - time.monotonic()))
                if not data:
                    to.shutdown(socket.SHUT_WR)
                    return
                self.send(data, of, to, up)
        except OSError:
            pass


class Network(Runs):
    def proxy(self, kind, *more):
        proxy = kind(self.server.port, *more)
        self.addCleanup(proxy.stop)
        return proxy

    def through(self, proxies, steps=STEPS):
        """A coordinator and two workers, each through its proxy, on an open run."""
        coordinator = self.coordinate(steps, url=proxies[0].url(self.database))
        self.until_open(coordinator)
        self.count_units()
        return coordinator, [self.work("--json", url=proxy.url(self.database, "ann"))
                             for proxy in proxies[1:]]

    def faults(self, kind):
        begin = time.monotonic()
        every = [OF_COORDINATOR, OF_WORKER, OF_WORKER]
        proxies = [self.proxy(kind, f"{kind.__name__} {i}", each) for i, each in enumerate(every)]
        coordinator, workers = self.through(proxies)
        for proxy in proxies:
            proxy.begin()
        result = self.expect(coordinator, STEPS)
        self.expect_counted(STEPS)
        reports = [json.loads(worker.end()) for worker in workers]
        struck = [proxy.struck for proxy in proxies]
        print(f"seed {SEED}: {struck} of {kind.__name__} in {STEPS} steps, "
              f"{time.monotonic() - begin:.0f} s; {result['units_counted']} units counted, "
              f"{result['units_computed_here']} computed by the coordinator; workers connected "
              f"{[report['connections'] for report in reports]} times", flush=True)
        # so many bytes at least have passed: every result up and, twice, down again
        payload = int(self.ask("select payload_bytes from leat.run"))
        self.assertGreater(sum(struck[1:]), STEPS * 2 * payload // (2 * OF_WORKER))
        self.assertGreater(struck[0], STEPS * 4 * payload // (2 * OF_COORDINATOR))

    def test_stalls(self):
        self.faults(Stall)

    def test_cuts(self):
        self.faults(Cut)

    def test_half_open(self):
        """All connections of the coordinator and of one worker; a second worker has its own."""
        begin = time.monotonic()
        proxies = [self.proxy(HalfOpen) for _ in range(3)]
        coordinator, workers = self.through(proxies)
        self.until_step(3, coordinator)
        for proxy in proxies[:2]:
            proxy.begin()
        self.expect(coordinator, STEPS)
        self.expect_counted(STEPS)
        for worker in workers:
            worker.end()
        print(f"half-open: {time.monotonic() - begin:.0f} s", flush=True)
        self.assertIn("no answer for", coordinator.said)
        self.assertIn("no answer for", workers[0].said)

    def test_delay(self):
        begin = time.monotonic()
        coordinator, workers = self.through([self.proxy(Delay) for _ in range(3)], DELAY_STEPS)
        self.expect(coordinator, DELAY_STEPS)
        self.expect_counted(DELAY_STEPS)
        for worker in workers:
            worker.end()
        print(f"{DELAY_MS} ms each way: {time.monotonic() - begin:.0f} s for {DELAY_STEPS} steps",
              flush=True)


if __name__ == "__main__":
    require()
    unittest.main()
