"""Loaded into every Python process of a test run: pytest and `unittest`, if they are loaded, get our reporter."""

import importlib.util
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
PLUGIN = "glovebox_report"


class _Watch:
    """Finds modules in the usual way, and attaches our reporter to the two that are runners."""

    def __init__(self):
        self.waiting = {"unittest.main": _attach_unittest, "_pytest.config": _attach_pytest}

    def find_spec(self, name, path=None, target=None):
        attach = self.waiting.pop(name, None)
        if attach is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            attach(spec.loader)
        return spec


def _attach_unittest(loader):
    load = loader.exec_module

    def exec_module(module):
        load(module)
        from glovebox_unittest import attach

        attach(module)

    loader.exec_module = exec_module


def _attach_pytest(loader):
    announce_plugin()


def announce_plugin():
    """Lets the next session of pytest in this process load our plugin, wherever its own path leads."""
    if FOLDER not in sys.path:
        sys.path.append(FOLDER)
    plugins = os.environ.get("PYTEST_PLUGINS")
    os.environ["PYTEST_PLUGINS"] = PLUGIN if not plugins else plugins + "," + PLUGIN


if os.environ.get("GLOVEBOX_TEST_REPORTS") is not None:
    sys.meta_path.insert(0, _Watch())
