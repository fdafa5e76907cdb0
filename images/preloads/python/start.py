"""Guards a program at isolation level `preload`: refuses forbidden actions from inside the program's own interpreter.

The engine joins the files of this folder and makes Python run them as its `sitecustomize`, from the only folder in
PYTHONPATH, so that they run while Python starts, before any code of the program. From then on an audit hook, which
cannot be removed, refuses files outside the program's folders, network, other processes, native code, and whatever
would disable the hook. It is interception, not a wall: see docs/threat-model.md. Works with Python 3.8 and later.

GLOVEBOX_PRELOAD holds the settings in JSON (strings, numbers, lists, records only): `write`, the program's folders;
`read`, further ones that it may only read; `threads`, how many it may run at once; `runner`, the text of a runner that
takes the job before the program starts, and `runner_folder`, where the runner believes that it is; `python_path`, the
program's own PYTHONPATH; `arguments`, those of Python.
"""


def guard():
    import os
    import sys

    windows = sys.platform == "win32"
    system = sys.modules["nt" if windows else "posix"]
    # JSON of strings, numbers, lists and records is also Python; importing `json` would make it visible to the program.
    settings = eval(os.environ.pop("GLOVEBOX_PRELOAD"), {"__builtins__": {}})
    folder = os.path.dirname(__file__)
    sys.path[:] = [entry for entry in sys.path if entry != folder]
    sys.path_importer_cache.pop(folder, None)
    os.environ.pop("PYTHONPATH", None)

    reader = path_reader(windows, system, os.sep)
    plain, resolve, _inside = reader

    def real(paths):
        return tuple(path for path in map(resolve, paths) if path is not None)

    libraries = real([os.path.dirname(os.__file__)] + [path for path in sys.path if is_library(path)])
    # Python's own start-up files may be links that lead out of the library, as on Debian.
    starters = real([os.path.join(path, "sitecustomize.py") for path in libraries])
    writable = real(settings["write"])
    readable = writable + real(settings["read"]) + libraries + starters + real(["/usr/share/zoneinfo", "/etc/localtime", "/etc/mime.types"])

    refuse, refuse_import, level = refusals()
    close_the_unaudited = unaudited(refuse, refuse_import, plain, system, windows)
    builders = [refusals, path_reader, file_checks, descriptor_checks, event_checks, unaudited, guard]
    own_codes = frozenset(code for builder in builders for code in codes_of(builder.__code__))
    facts = (windows, libraries, own_codes, pair_codes(windows), sys._getframe, system.getpid, traceback_type())
    checks, check_thread = event_checks(refuse, refuse_import, level, reader, settings, facts)
    checks.update(descriptor_checks(refuse, sys.platform))
    checks.update(file_checks(refuse, reader, system, windows, readable, writable))
    close_the_unaudited(check_thread)
    find_check = checks.get

    def hook(event, arguments):
        check = find_check(event)
        if check is not None:
            check(*arguments)

    sys.addaudithook(hook)
    go_on(settings)


def is_library(path):
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return name in ("site-packages", "dist-packages", "lib-dynload", "DLLs") or path.endswith(".zip")


def codes_of(code):
    """The code of a function and of all functions inside it."""
    found = {code}
    for constant in code.co_consts:
        if type(constant) is type(code):
            found |= codes_of(constant)
    return found


def traceback_type():
    try:
        raise ValueError
    except ValueError as error:
        return type(error.__traceback__)


def pair_codes(windows):
    """Code that connects two sockets of one process if the system has no pairs."""
    if not windows:
        return ()
    import socket

    return (socket.socketpair.__code__,)


def go_on(settings):
    """Hands over to the runner, or to the system's own `sitecustomize`, which this file hides."""
    import os
    import sys

    python_path = settings["python_path"]
    if python_path:
        os.environ["PYTHONPATH"] = python_path
        sys.path[1:1] = [os.path.abspath(entry) for entry in python_path.split(os.pathsep) if entry]
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[1:] = settings["arguments"]
    if settings["runner"]:
        runner_folder = settings["runner_folder"]
        os.environ["PYTHONPATH"] = os.pathsep.join([runner_folder] + ([python_path] if python_path else []))
        place = os.path.join(runner_folder, "sitecustomize.py")
        exec(compile(settings["runner"], place, "exec"), {"__name__": "sitecustomize", "__file__": place})
        return
    spec = sys.modules["_frozen_importlib_external"].PathFinder.find_spec("sitecustomize")
    if spec is None or spec.loader is None:
        raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
    module = sys.modules["_frozen_importlib"].module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def guard_or_end():
    """Without this, Python would only report an error in this file, and run the program without its guard."""
    import os

    try:
        guard()
    except ImportError as error:
        # There is no other `sitecustomize`, and `site` must be told.
        if error.name == "sitecustomize":
            raise
        os.write(2, ("glovebox preload: %s\n" % error).encode("utf-8", "replace"))
        os._exit(125)
    except BaseException as error:
        os.write(2, ("glovebox preload: %s: %s\n" % (type(error).__name__, error)).encode("utf-8", "replace"))
        os._exit(125)


guard_or_end()
