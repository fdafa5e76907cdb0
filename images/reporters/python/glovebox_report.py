"""A pytest plugin that records the tests."""

import os

import pytest
from glovebox_start import announce_plugin
from glovebox_writer import last_line, open_report

# What the categories of pytest's own summary mean; a plugin may add more.
CATEGORIES = {
    "passed": "passed",
    "failed": "failed",
    "error": "error",
    "skipped": "skipped",
    "xfailed": "other",
    "xpassed": "other",
    # Another try follows, and that one counts.
    "rerun": None,
    "": None,
}


class Reporter:
    def __init__(self, config, report):
        self.config = config
        self.report = report
        self.finished = False
        # Tests that were collected and have not come to their end.
        self.open = {}
        self.failures = set()

    def pytest_collection_modifyitems(self, config, items):
        only = self.report.only
        if only is None:
            return
        others = [item for item in items if not is_wanted(item.nodeid, only)]
        items[:] = [item for item in items if is_wanted(item.nodeid, only)]
        config.hook.pytest_deselected(items=others)

    def pytest_collection_finish(self, session):
        if not session.config.getoption("collectonly", False):
            self.open.update(dict.fromkeys(item.nodeid for item in session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids):
        self.open.update(dict.fromkeys(ids))

    def pytest_runtest_logfinish(self, nodeid):
        self.open.pop(nodeid, None)

    def pytest_collectreport(self, report):
        if report.failed:
            details = str(report.longrepr)
            where = (report.nodeid.split("::")[0] or None, None)
            self.add(report.nodeid or "collection", "error", where, None, last_line(details), details)
        elif report.skipped:
            # A module that skips itself counts as one skipped test.
            self.add(report.nodeid, "skipped", (report.nodeid.split("::")[0] or None, None), None)

    def pytest_runtest_logreport(self, report):
        status = self.status(report)
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
        message = crash.message if crash is not None else last_line(details)
        self.add(name_of(report), status, place, report.duration, message, details, when=report.when)

    def status(self, report):
        """What pytest's own summary counts this report as; None: it is not counted."""
        category = self.config.hook.pytest_report_teststatus(report=report, config=self.config)[0]
        if category in CATEGORIES:
            return CATEGORIES[category]
        if report.failed:
            return "failed"
        if category.startswith("subtests ") or report.when != "call":
            return None
        return "skipped" if report.skipped else "other"

    def add(self, name, status, *rest, when="call"):
        """A test can fail more than once, also under one name: each failure has a name of its own."""
        if status in ("failed", "error"):
            if name in self.failures and when != "call":
                name = "{} ({})".format(name, when)
            unique, number = name, 1
            while unique in self.failures:
                number += 1
                unique = "{} #{}".format(name, number)
            self.failures.add(unique)
            name = unique
        self.report.add(name, status, *rest)

    def pytest_sessionfinish(self):
        self.finished = True

    def pytest_unconfigure(self, config):
        if not self.finished:
            return
        for nodeid in self.open:
            self.report.leave(nodeid)
        self.open.clear()
        self.report.save(getattr(config.pluginmanager.getplugin("_cov"), "cov_total", None))
        # Another session of this process counts too.
        announce_plugin()


def name_of(report):
    """A subtest has its test's id, and words of its own."""
    describe = getattr(report, "sub_test_description", None) or getattr(report, "_sub_test_description", None)
    if describe is not None:
        return "{} {}".format(report.nodeid, describe())
    return report.nodeid


def is_wanted(nodeid, only):
    """A failure is named by its test's id, and perhaps words behind it."""
    return any(name == nodeid or name.startswith(nodeid + " ") for name in only)


def pytest_configure(config):
    # An xdist worker reports to its runner.
    if hasattr(config, "workerinput"):
        return
    report = open_report("pytest")
    if report is not None:
        report.discard()
        config.pluginmanager.register(Reporter(config, report), "glovebox-report")
