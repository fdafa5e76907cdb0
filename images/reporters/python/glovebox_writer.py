"""Records what a test runner reports about its tests, and leaves it as one signed file at the end."""

import hashlib
import hmac
import json
import os

MAX_TEXT = 16_384
MAX_MESSAGE = 4_096
MAX_UNFINISHED = 100

_opened = None


def open_report(runner):
    """The report of this process, if it belongs to this runner: a process has only one. None outside a test run."""
    global _opened
    folder = os.environ.get("GLOVEBOX_TEST_REPORTS")
    if _opened is None and folder is not None:
        wanted = os.environ.pop("GLOVEBOX_TEST_ONLY", None)
        _restore()
        try:
            _opened = Report(folder, runner)
            _opened.only = None if wanted is None else set(json.loads(wanted)["names"])
        except OSError:
            return None
    # A fork of the runner is part of its tests.
    own = _opened is not None and _opened.runner == runner and _opened.process == os.getpid()
    return _opened if own else None


def last_line(text):
    lines = [line for line in (text or "").splitlines() if line.strip()]
    return lines[-1] if lines else None


class Report:
    def __init__(self, folder, runner):
        path = os.path.join(folder, "seed")
        with open(path, encoding="ascii") as file:
            seed = file.read().strip()
        # This happens before any test runs: what a test starts can read only the next runner's seed.
        with open(path, "w", encoding="ascii") as file:
            file.write(_derive(seed, "next"))
        self.path = os.path.join(folder, _derive(seed, "name")[:32])
        self.key = _derive(seed, "key")
        self.runner = runner
        self.process = os.getpid()
        self.tests = []
        self.unfinished = []
        # Whether tests are being run.
        self.running = False
        # Names of the selected tests.
        self.only = None
        with open(self.path + ".started", "w", encoding="ascii") as file:
            file.write(json.dumps({"runner": runner}))

    def add(self, name, status, location, duration, message=None, details=None):
        file, line = location
        self.tests.append(
            {
                "name": name[:MAX_MESSAGE],
                "suite": [],
                "status": status,
                "file": file,
                "line": line,
                "durationMs": None if duration is None else duration * 1000,
                "message": None if message is None else message[:MAX_MESSAGE],
                "details": None if details is None else details[:MAX_TEXT],
            }
        )

    def leave(self, name):
        """What began and did not report its end: nothing is proven by the rest."""
        if len(self.unfinished) < MAX_UNFINISHED:
            self.unfinished.append(name[:MAX_MESSAGE])

    def save(self, coverage=None):
        # A fork that runs on is not the runner.
        if os.getpid() != self.process:
            return
        fields = {"runner": self.runner, "version": None, "tests": self.tests, "unfinished": self.unfinished}
        body = json.dumps(dict(fields, coverage=coverage))
        signature = hmac.new(self.key.encode(), body.encode(), hashlib.sha256).hexdigest()
        with open(self.path + ".part", "w", encoding="utf-8") as file:
            file.write(signature + "\n" + body)
        os.replace(self.path + ".part", self.path)

    def discard(self):
        """More tests begin: what was saved is no longer complete."""
        if os.path.exists(self.path):
            os.remove(self.path)


def _derive(seed, purpose):
    return hmac.new(seed.encode(), purpose.encode(), hashlib.sha256).hexdigest()


def _restore():
    """What a test starts is not part of this run: our part of each variable goes, and what else is in it stays."""
    own = os.path.dirname(os.path.abspath(__file__))
    _take_out("PYTHONPATH", own, ":")
    _take_out("PYTEST_PLUGINS", "glovebox_report", ",")
    for name in ("NODE_OPTIONS", "BUN_OPTIONS"):
        ours = os.environ.pop("GLOVEBOX_" + name, None)
        if ours is not None and name in os.environ:
            _put(name, os.environ[name].replace(ours, "", 1).strip())


def _take_out(name, part, separator):
    if name in os.environ:
        _put(name, separator.join(each for each in os.environ[name].split(separator) if each != part))


def _put(name, value):
    if value == "":
        os.environ.pop(name, None)
    else:
        os.environ[name] = value
