"""A Kubernetes cluster for tests: one process of skiff, and forks of its cluster. The protocol is that of `skiff test-server`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from concurrent.futures import Future, TimeoutError as Unanswered
from pathlib import Path
from typing import Any, Iterable, Optional, Sequence, Union

__all__ = ["Clock", "Cluster", "Faults", "Server", "SkiffError"]

START_SECONDS = 60
CALL_SECONDS = 120
END_SECONDS = 10
# How long these take is what the test asks for.
MOVES = ("advance", "advanceTo", "runUntilIdle")


class SkiffError(Exception):
    """What skiff refuses, in its words."""


def _command() -> Sequence[str]:
    binary = os.environ.get("SKIFF_BIN")
    if binary:
        return [binary]
    found = shutil.which("skiff")
    if found:
        return [found]
    # npx is not asked: it asks npm's registry, which has another package of that name.
    here = Path.cwd()
    for folder in (here, *here.parents):
        found = shutil.which(folder / "node_modules" / ".bin" / "skiff")
        if found:
            return [str(found)]
    raise SkiffError(
        "skiff is not found: set SKIFF_BIN to its executable, put it on PATH, or install it in the npm project that the tests run in"
    )


Named = Union[str, "os.PathLike[str]"]


def _each(given: Union[Named, Iterable[Named]]) -> Sequence[str]:
    """A single text or path is a list of one, not of its letters."""
    return [os.fspath(one) for one in ([given] if isinstance(given, (str, os.PathLike)) else given)]


class Clock:
    """The time of a cluster that was started with clock="manual". Durations are written as Go does: "30s", "1h30m"."""

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster

    def _call(self, method: str, **params: Optional[str]) -> str:
        return self._cluster._call(method, **params)["time"]

    def now(self) -> str:
        """RFC 3339."""
        return self._call("now")

    def advance(self, duration: str, settle: Optional[str] = None) -> str:
        """All that happens in that time has happened when this returns. Gives the time then."""
        return self._call("advance", duration=duration, settle=settle)

    def advance_to(self, time: str, settle: Optional[str] = None) -> str:
        return self._call("advanceTo", time=time, settle=settle)

    def run_until_idle(self, at_most: Optional[str] = None, settle: Optional[str] = None) -> str:
        """Until nothing waits any more but heartbeats and the like; at most 24h unless told."""
        return self._call("runUntilIdle", atMost=at_most, settle=settle)


class Faults:
    """What goes wrong on purpose for the clients under test, in the words of skiff's docs/faults.md: "watch drop 5% by my-operator".

    Each method gives what there is then: {"seed": 7, "faults": [{"fault", "met", "struck"}], "last": [...]}.
    """

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster

    def set(self, *faults: str, seed: Optional[int] = None) -> dict:
        """Only these from now on, with nothing counted yet. The same seed brings the same faults again."""
        return self._cluster._call("faults", set=list(faults), seed=seed)

    def add(self, *faults: str) -> dict:
        return self._cluster._call("faults", add=list(faults))

    def clear(self, *faults: str) -> dict:
        """Takes these away, or all."""
        return self._cluster._call("faults", clear=list(faults) or True)

    def status(self) -> dict:
        return self._cluster._call("faults")


class Cluster:
    """url: of its API server. kubeconfig: a file, its administrator's."""

    def __init__(self, server: "Server", name: str, url: str, kubeconfig: str) -> None:
        self._server = server
        self.name = name
        self.url = url
        self.kubeconfig = kubeconfig
        self._ended = False
        self.clock = Clock(self)
        self.faults = Faults(self)

    def _call(self, method: str, **params: Any) -> Any:
        return self._server._call(method, {"name": self.name, **params})

    def fork(self, ttl: Optional[str] = None, wait: bool = True) -> "Cluster":
        """A second cluster with the same objects. wait=False: before its controllers and nodes run."""
        return Cluster(self._server, **self._call("fork", ttl=ttl, wait=wait))

    def end(self) -> None:
        """Ended again, nothing happens. What failed can be tried again."""
        if not self._ended:
            self._call("end")
            self._ended = True

    def report(self, namespace: Optional[str] = None) -> str:
        """Objects that have changed since the fork, their Events, and the last 50 requests, as text."""
        return self._call("report", namespace=namespace)["text"]

    def api_client(self) -> Any:
        """An ApiClient of the official client (pip install skiff-pytest[kubernetes])."""
        from kubernetes import config

        return config.new_client_from_config(config_file=self.kubeconfig)


def _answer(waiting: Future, seconds: Optional[int], otherwise: str) -> Any:
    try:
        return waiting.result(seconds)
    except Unanswered:
        raise SkiffError(f"{otherwise} within {seconds} s") from None


class Server:
    """One process of skiff with one cluster, to be forked. It ends with `close`, or with this process, however that ends."""

    def __init__(
        self,
        clock: str = "real",
        nodes: int = 1,
        components: Union[str, Iterable[str], None] = None,
        crds: Union[Named, Iterable[Named]] = (),
        objects: Union[Named, Iterable[Named]] = (),
        snapshot: Optional[Named] = None,
        faults: Union[str, Iterable[str]] = (),
        seed: Optional[int] = None,
    ) -> None:
        arguments = ["test-server", "--clock", clock, "--nodes", str(nodes)]
        if components is not None:
            arguments += ["--components", ",".join(_each(components))]
        for path in _each(crds):
            arguments += ["--crds", path]
        for path in _each(objects):
            arguments += ["--objects", path]
        if snapshot is not None:
            arguments += ["--from", str(snapshot)]
        for fault in _each(faults):
            arguments += ["--fault", fault]
        if seed is not None:
            arguments += ["--seed", str(seed)]
        self._lock = threading.Lock()
        self._waiting: dict[int, Future] = {}
        self._next = 0
        self._ready: Future = Future()
        self._process = subprocess.Popen(
            [*_command(), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._said: list[str] = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._errors = threading.Thread(target=self._hear, daemon=True)
        self._errors.start()
        self._listener.start()
        try:
            self.cluster = Cluster(self, **_answer(self._ready, START_SECONDS, "skiff was not ready"))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        process = self._process
        if process.stdin and not process.stdin.closed:
            try:
                process.stdin.close()
            except BrokenPipeError:
                pass
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._listener.join(END_SECONDS)
        self._errors.join(END_SECONDS)
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()

    def _hear(self) -> None:
        assert self._process.stderr
        for line in self._process.stderr:
            self._said.append(line)
            del self._said[:-50]

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            try:
                told = json.loads(line)
            except ValueError:
                continue
            if not isinstance(told, dict):  # SKIFF_BIN may be a script that writes a line of its own
                continue
            if "ready" in told:
                self._ready.set_result(told["ready"])
                continue
            with self._lock:
                call = told.get("id")
                waiting = self._waiting.pop(call, None) if isinstance(call, int) else None
            if waiting is None:
                continue
            if "error" in told:
                waiting.set_exception(SkiffError(told["error"]))
            else:
                waiting.set_result(told["result"])
        self._errors.join(END_SECONDS)
        ended = SkiffError("skiff has ended: " + ("".join(self._said).strip() or "without a word"))
        if not self._ready.done():
            self._ready.set_exception(ended)
        with self._lock:
            left, self._waiting = self._waiting, {}
        for waiting in left.values():
            waiting.set_exception(ended)

    def _call(self, method: str, params: dict) -> Any:
        waiting: Future = Future()
        given = {name: value for name, value in params.items() if value is not None}
        with self._lock:
            self._next += 1
            call = self._next
            self._waiting[call] = waiting
            assert self._process.stdin
            try:
                self._process.stdin.write(json.dumps({"id": call, "method": method, "params": given}) + "\n")
                self._process.stdin.flush()
            except (BrokenPipeError, ValueError):
                del self._waiting[call]
                raise SkiffError("skiff has ended") from None
        return _answer(waiting, None if method in MOVES else CALL_SECONDS, f"skiff did not answer {method}")
