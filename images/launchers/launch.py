"""Becomes a program of an installed package, a module, or any program of the image, as `uvx`, `python -m` and a shell would.

Arguments: what to start (script, module, interpreter, program), its name, and the program's own arguments.
"""

import os
import sys


def fail(message):
    sys.stderr.write("glovebox: " + message + "\n")
    sys.exit(127)


def run_script(name, arguments):
    from importlib.metadata import distributions

    points = [point for each in distributions() for point in each.entry_points if point.group == "console_scripts"]
    point = next((point for point in points if point.name == name), None)
    if point is None:
        names = ", ".join(sorted({point.name for point in points})[:20]) or "none"
        fail("no installed package has the program " + name + "; there are: " + names)
    sys.argv[:] = [name, *arguments]
    sys.exit(point.load()())


def run_module(name, arguments):
    import runpy

    sys.argv[:] = [name, *arguments]
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def become(file, argv):
    try:
        os.execvp(file, argv)
    except OSError as error:
        fail("cannot start " + argv[0] + ": " + str(error.strerror))


def main():
    kind, name, *arguments = sys.argv[1:]
    if kind == "script":
        run_script(name, arguments)
    elif kind == "module":
        run_module(name, arguments)
    elif kind == "interpreter":
        become(sys.executable, [name, *arguments])
    else:
        become(name, [name, *arguments])


main()
