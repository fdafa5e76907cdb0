"""Loaded by every Python process that finds it; there may be another `sitecustomize`, which ours hides."""

import importlib.machinery
import importlib.util
import os
import sys

import glovebox_start  # noqa: F401


def _load_hidden():
    own = os.path.dirname(os.path.abspath(__file__))
    path = [folder for folder in sys.path if os.path.abspath(folder or ".") != own]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


_load_hidden()
