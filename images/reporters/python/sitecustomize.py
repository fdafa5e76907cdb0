"""Loaded into every Python process of a test run: if one loads `unittest`, our reporter listens to it."""

import importlib.machinery
import importlib.util
import os
import sys

_own = os.path.dirname(os.path.abspath(__file__))


class _Watch:
    """Finds `unittest.main` in the usual way, and attaches our reporter when it is loaded."""

    def find_spec(self, name, path=None, target=None):
        if name != "unittest.main":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            from glovebox_unittest import attach

            attach(module)

        spec.loader.exec_module = exec_module
        return spec


def _load_hidden():
    """There may be another `sitecustomize`, which ours hides."""
    path = [folder for folder in sys.path if os.path.abspath(folder or ".") != _own]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if os.environ.get("GLOVEBOX_TEST_REPORTS") is not None:
    sys.meta_path.insert(0, _Watch())
_load_hidden()
