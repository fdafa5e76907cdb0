"""A pytest plugin that takes the tests down and leaves them as one signed file at the end."""

import hashlib
import hmac
import json
import os

MAX_TEXT = 16_384
MAX_MESSAGE = 4_096


def _derive(seed, purpose):
    return hmac.new(seed.encode(), purpose.encode(), hashlib.sha256).hexdigest()


def _restore(name):
    """What a test starts is no part of this run."""
    own = os.environ.pop("GLOVEBOX_" + name, None)
    if own is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = own


class Report:
    def __init__(self, folder):
        path = os.path.join(folder, "seed")
        with open(path, encoding="ascii") as file:
            seed = file.read().strip()
        with open(path, "w", encoding="ascii") as file:
            file.write(_derive(seed, "next"))
        self.path = os.path.join(folder, _derive(seed, "name")[:32])
        self.key = _derive(seed, "key")
        self.tests = []
        self.finished = False
        with open(self.path + ".started", "w", encoding="ascii") as file:
            file.write(json.dumps({"runner": "pytest"}))

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

    def pytest_collectreport(self, report):
        if report.failed:
            details = str(report.longrepr)
            where = (report.nodeid.split("::")[0] or None, None)
            self.add(report.nodeid or "collection", "error", where, None, _last_line(details), details)

    def pytest_runtest_logreport(self, report):
        status = _status(report)
        if status is None:
            return
        file, line, _ = report.location
        failed = status in ("failed", "error")
        details = report.longreprtext if failed else None
        crash = getattr(getattr(report, "longrepr", None), "reprcrash", None) if failed else None
        if crash is not None and os.path.basename(crash.path) == os.path.basename(file):
            place = (file, crash.lineno)
        else:
            place = (file, None if line is None else line + 1)
        message = crash.message if crash is not None else _last_line(details)
        self.add(report.nodeid, status, place, report.duration, message, details)

    def pytest_sessionfinish(self, session):
        self.finished = True
        self.session = session

    def pytest_unconfigure(self, config):
        if not self.finished:
            return
        coverage = getattr(config.pluginmanager.getplugin("_cov"), "cov_total", None)
        body = json.dumps({"runner": "pytest", "version": None, "tests": self.tests, "coverage": coverage})
        signature = hmac.new(self.key.encode(), body.encode(), hashlib.sha256).hexdigest()
        with open(self.path + ".part", "w", encoding="utf-8") as file:
            file.write(signature + "\n" + body)
        os.replace(self.path + ".part", self.path)


def _status(report):
    """What pytest's own summary counts this report as; None: nothing."""
    expected_failure = hasattr(report, "wasxfail")
    if report.when != "call":
        if report.failed:
            return "error"
        if report.skipped:
            return "other" if expected_failure else "skipped"
        return None
    if expected_failure:
        return "other"
    return report.outcome


def _last_line(details):
    lines = [line for line in (details or "").splitlines() if line.strip()]
    return lines[-1] if lines else None


def pytest_configure(config):
    folder = os.environ.get("GLOVEBOX_TEST_REPORTS")
    if folder is None or hasattr(config, "workerinput"):
        return
    _restore("PYTEST_PLUGINS")
    _restore("PYTHONPATH")
    try:
        report = Report(folder)
    except OSError:
        return
    config.pluginmanager.register(report, "glovebox-report")
