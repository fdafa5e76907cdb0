"""Listens to `unittest`, however it is started."""

import inspect
import os
import sys
import time
import traceback

from glovebox_writer import last_line, open_report

LOADING = "unittest.loader._FailedTest."


def attach(main):
    """Makes every program and every text runner of `unittest` record its tests; `main` is the module `unittest.main`."""
    program, runner = main.TestProgram, sys.modules["unittest.runner"].TextTestRunner
    start, run = program.__init__, runner.run

    def started(self, *given, **named):
        # This must come before a test module is loaded.
        open_report("unittest")
        return start(self, *given, **named)

    def reported(self, test):
        report = open_report("unittest")
        # What a test runs is not part of this run.
        if report is None or report.running:
            return run(self, test)
        report.discard()
        if report.only is not None:
            choose(test, report.only)
        expected = test.countTestCases()
        make = self._makeResult
        self._makeResult = lambda: listen(make(), report)
        report.running = True
        try:
            result = run(self, test)
        finally:
            report.running = False
            del self._makeResult
        # A class that is skipped as a whole, or cannot be set up, says so once for all its tests.
        if result.shouldStop and result.testsRun < expected:
            report.leave("{} of {} tests".format(expected - result.testsRun, expected))
        report.save()
        return result

    program.__init__, runner.run = started, reported


def choose(suite, only):
    """Keeps the selected tests in a suite: by their own name, that of one of their parts, or of their class's set-up."""
    kept = []
    for test in list(suite):
        if hasattr(test, "__iter__"):
            choose(test, only)
            kept.append(test)
        elif is_wanted(test, only):
            kept.append(test)
    suite._tests = kept


def is_wanted(test, only):
    own, group = name_of(test), type(test).__module__ + "." + type(test).__qualname__
    return any(name == own or name.startswith(own + " ") or name.endswith("(" + group + ")") for name in only)


def listen(result, report):
    """Makes a result pass on to the report what it is told; its own counts stay as they are."""
    begun, failures = {}, {}
    start = result.startTest

    def started(test):
        begun[id(test)] = time.monotonic()
        return start(test)

    result.startTest = started

    def told(method, status_of):
        own = getattr(result, method, None)
        if own is None:
            return

        def add(test, *given, **named):
            status, error, subject = status_of(test, *given, **named)
            if status is not None:
                begin = begun.get(id(test))
                duration = None if begin is None else time.monotonic() - begin
                name = name_of(subject)
                if status in ("failed", "error"):
                    # A test can fail more than once: in its body and as it is taken down, or in several parts.
                    failures[name] = failures.get(name, 0) + 1
                    name = name if failures[name] == 1 else "{} #{}".format(name, failures[name])
                report.add(name, status, place_of(test, error), duration, *words_of(result, test, status, error))
            return own(test, *given, **named)

        setattr(result, method, add)

    told("addSuccess", lambda test: ("passed", None, test))
    told("addFailure", lambda test, err: ("failed", err, test))
    # As unittest counts: anything other than an assertion, wherever it was raised.
    told("addError", lambda test, err: ("error", err, test))
    told("addSkip", lambda test, reason: ("skipped", None, test))
    told("addExpectedFailure", lambda test, err: ("other", None, test))
    told("addUnexpectedSuccess", lambda test: ("failed", None, test))
    told("addSubTest", lambda test, subtest, err: (status_of_part(test, err), err, subtest))
    return result


def status_of_part(test, err):
    if err is None:
        return None
    return "failed" if issubclass(err[0], test.failureException) else "error"


def name_of(test):
    name = str(test.id())
    return name[len(LOADING) :] if name.startswith(LOADING) else name


def place_of(test, error):
    """The test's file, and the line there at which it failed, else at which it begins."""
    if str(test.id()).startswith(LOADING):
        return name_of(test).replace(".", "/") + ".py", None
    module = sys.modules.get(type(test).__module__)
    file = getattr(module, "__file__", None)
    if file is None or type(test).__module__.startswith("unittest."):
        return None, None
    line = None
    if error is not None:
        lines = [number for frame, number in traceback.walk_tb(error[2]) if frame.f_code.co_filename == file]
        line = lines[-1] if lines else None
    if line is None:
        method = getattr(test, getattr(test, "_testMethodName", ""), None)
        line = getattr(getattr(inspect.unwrap(method), "__code__", None), "co_firstlineno", None) if method else None
    return os.path.abspath(file), line


def words_of(result, test, status, error):
    if error is None:
        return ("It succeeded, which was not expected.", None) if status == "failed" else (None, None)
    try:
        details = result._exc_info_to_string(error, test)
    except Exception:
        details = "".join(traceback.format_exception(*error))
    message = last_line(details) if str(test.id()).startswith(LOADING) else str(error[1])
    return message or error[0].__name__, details
