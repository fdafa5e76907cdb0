"""A pytest plugin that records the tests."""

import os

from glovebox_writer import last_line, open_report


class Reporter:
    def __init__(self, report):
        self.report = report
        self.finished = False

    def pytest_collection_modifyitems(self, config, items):
        only = self.report.only
        if only is None:
            return
        others = [item for item in items if item.nodeid not in only]
        items[:] = [item for item in items if item.nodeid in only]
        config.hook.pytest_deselected(items=others)

    def pytest_collectreport(self, report):
        if report.failed:
            details = str(report.longrepr)
            where = (report.nodeid.split("::")[0] or None, None)
            self.report.add(report.nodeid or "collection", "error", where, None, last_line(details), details)

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
        message = crash.message if crash is not None else last_line(details)
        self.report.add(report.nodeid, status, place, report.duration, message, details)

    def pytest_sessionfinish(self):
        self.finished = True

    def pytest_unconfigure(self, config):
        if self.finished:
            self.report.save(getattr(config.pluginmanager.getplugin("_cov"), "cov_total", None))


def _status(report):
    """What pytest's own summary counts this report as; None: it is not counted."""
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


def pytest_configure(config):
    # An xdist worker reports to its runner.
    if hasattr(config, "workerinput"):
        return
    report = open_report("pytest")
    if report is not None:
        config.pluginmanager.register(Reporter(report), "glovebox-report")
