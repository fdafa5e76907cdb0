"""Lets Python find a set of packages after its own library and before those of its image, like packages from pip.

The folders of PYTHONPATH come before everything else, so the one that is set there contains only this file; the packages
are next to that folder, in `lib`. Files that packages bring to be run at every start (`.pth`, `sitecustomize`,
`usercustomize`) are not among them. Works with Python 3.8 and later.
"""


def _find_packages():
    import os
    import sys

    start = os.path.dirname(__file__)
    sys.path[:] = [entry for entry in sys.path if entry != start]
    sys.path_importer_cache.pop(start, None)

    library = os.path.dirname(os.__file__)
    own = [index for index, entry in enumerate(sys.path) if entry == library or os.path.basename(entry) in ("lib-dynload", "DLLs")]
    sys.path.insert(max(own, default=len(sys.path) - 1) + 1, os.path.join(os.path.dirname(start), "lib"))


def _run_own_sitecustomize():
    """Runs the `sitecustomize` of the system, which this file hides; if there is none, `site` is told."""
    import _frozen_importlib as importlib
    import _frozen_importlib_external as importlib_external
    import sys

    name = "sitecustomize"
    spec = importlib_external.PathFinder.find_spec(name)
    if spec is None or spec.loader is None:
        raise ImportError("No module named " + repr(name), name=name)
    module = importlib.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


_find_packages()
_run_own_sitecustomize()
