import type { Program } from "./program.ts";

/** Programs that would notice if they were not run by `python3 main.py` itself; all must end the same way. */
export const pythonPrograms: Readonly<Record<string, Program>> = {
  "prints its arguments": {
    code: `import sys\nprint(sys.argv, getattr(sys, "orig_argv", None), sys.executable)`,
    arguments: ["a b", "--flag", "", "ünïcode", "'\"\\\n"],
  },
  "looks at its module": {
    code: `import sys, __main__
print(__name__, __file__, __spec__, __doc__, __package__, __cached__ if "__cached__" in globals() else "-")
print(type(__loader__).__name__, getattr(__loader__, "path", "-"), type(__builtins__).__name__)
print(sorted(globals()), __main__ is sys.modules["__main__"], __main__.__dict__ is globals())
x: int = 1
print(globals().get("__annotations__", "lazy"))`,
  },
  "looks at its interpreter": {
    code: `import sys, os
print(sys.path, sys.flags, sorted(sys.modules), sys.meta_path, sys.path_hooks)
print(sorted(sys.path_importer_cache))
print(sys.excepthook is sys.__excepthook__, sys.displayhook, sys.gettrace(), sys.stdout, sys.stdin.encoding)
print(sorted(os.environ.items()), os.getcwd(), os.umask(0), sys.getrecursionlimit(), sys.warnoptions)
import signal
print([signal.getsignal(n) for n in range(1, 32) if n not in (9, 19)])
print(sorted(os.listdir("/proc/self/fd")), os.listdir("."), os.listdir(".."))
import site
print(site.ENABLE_USER_SITE, "sitecustomize" in sys.modules)`,
  },
  "keeps its own PYTHONPATH": {
    code: `import sys, os, lib_a\nprint(sys.path[:4], os.environ["PYTHONPATH"], lib_a.x)`,
    files: { "libs/lib_a.py": "x = 4" },
    environment: { PYTHONPATH: "libs:/nowhere" },
  },
  "has a sitecustomize of the system": {
    code: `import sys\nprint(sys.modules["sitecustomize"].mark, sys.came_first)`,
    files: { "libs/sitecustomize.py": "import sys\nmark = 5\nsys.came_first = True" },
    environment: { PYTHONPATH: "libs" },
  },
  "shadows a standard module with a file": {
    code: `import json, select, re\nprint(json.mine, select.mine, re.mine)`,
    files: { "json.py": "mine = 1", "select.py": "mine = 2", "re.py": "mine = 3" },
  },
  "walks up its frames": {
    code: `import sys, traceback, inspect
def f():
    traceback.print_stack()
    return [(s.function, s.lineno, s.filename) for s in inspect.stack()]
print(f(), sys._getframe().f_back)
def depth(n):
    try:
        return depth(n + 1)
    except RecursionError:
        return n
print(depth(0))`,
  },
  "raises through functions and files": {
    code: `import helper\ndef f():\n    helper.g()\n\nf()`,
    files: { "helper.py": "def g():\n    return {}['missing']\n" },
  },
  "raises a chain": {
    code: `def f():
    try:
        1 / 0
    except ZeroDivisionError as error:
        raise KeyError("k") from error
try:
    f()
except KeyError:
    raise ValueError("again")`,
  },
  "raises in a multi-line expression": { code: `x = [1,\n  2,\n]\nprint(x[0]\n  + x[\n   7])` },
  "raises a group": {
    code: `import sys
if sys.version_info >= (3, 11):
    def f(): raise TypeError("inner")
    try:
        f()
    except TypeError as error:
        raise BaseExceptionGroup("many", [error, ValueError(2), KeyboardInterrupt()])
raise SystemError("old")`,
  },
  "raises an error with notes": {
    code: `e = ValueError("x")\nif hasattr(e, "add_note"): e.add_note("a note")\nraise e`,
  },
  "raises an error that cannot be printed": {
    code: `class E(Exception):\n    def __str__(self):\n        raise RuntimeError("no")\nraise E()`,
  },
  "exits with a number": { code: `import sys\nprint("x", end="")\nsys.exit(7)` },
  "exits with a message": { code: `import sys\nsys.exit("gone: ü")` },
  "exits with nothing": { code: `raise SystemExit` },
  "exits with a large number": { code: `raise SystemExit(2**40 + 3)` },
  "exits with a record": { code: `raise SystemExit({"a": 1})` },
  "exits from an except block": { code: `try:\n    1/0\nexcept Exception:\n    raise SystemExit(4)` },
  "exits at once": { code: `import os, atexit\natexit.register(print, "never")\nos._exit(9)` },
  "is interrupted": { code: `raise KeyboardInterrupt` },
  "is interrupted by a signal": { code: `import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nprint("never")` },
  "is terminated": { code: `import os, signal\nprint("x")\nos.kill(os.getpid(), signal.SIGTERM)\nprint("never")` },
  "is killed": { code: `import os, signal\nprint("x")\nos.kill(os.getpid(), signal.SIGKILL)` },
  aborts: { code: `import os\nos.abort()` },
  "handles a signal": {
    code: `import os, signal\nsignal.signal(signal.SIGTERM, lambda n, f: print("got", n, f.f_code.co_name))\nos.kill(os.getpid(), 15)\nprint("on")`,
  },
  "writes to a closed pipe": { code: `import os, signal\nr, w = os.pipe()\nos.close(r)\nos.write(w, b"x")` },
  "sets an excepthook": {
    code: `import sys, traceback
def hook(kind, value, trace):
    print("hook", kind.__name__, value, [(f.name, f.lineno, f.filename) for f in traceback.extract_tb(trace)])
sys.excepthook = hook
def f(): raise ValueError("v")
f()`,
  },
  "sets a failing excepthook": {
    code: `import sys\ndef hook(*a): raise RuntimeError("in hook")\nsys.excepthook = hook\nraise ValueError("v")`,
  },
  "does things at exit": {
    code: `import atexit\natexit.register(print, "first registered")\n@atexit.register\ndef bye():\n    print("bye")\nraise ValueError("v")`,
  },
  "fails at exit": { code: `import atexit\n@atexit.register\ndef bye():\n    1/0` },
  "leaves a thread running": {
    code: `import threading, time
def late():
    time.sleep(0.05)
    print("late", threading.main_thread().name, threading.main_thread().is_alive())
threading.Thread(target=late).start()
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print("main ends", threading.current_thread() is threading.main_thread())`,
  },
  "fails in a thread": {
    code: `import threading\nt = threading.Thread(target=lambda: 1/0, name="T")\nt.start()\nt.join()\nprint("on")`,
  },
  "forks processes": {
    code: `import multiprocessing as mp, sys
def square(n):
    return n * n, __name__, sys.argv[1:]
if __name__ == "__main__":
    with mp.get_context("fork").Pool(2) as pool:
        print(pool.map(square, range(3)))`,
    arguments: ["q"],
  },
  "spawns processes": {
    code: `import multiprocessing as mp, sys, os
from helper import base
print("imported", __name__)
def square(n):
    return n * n + base, __name__, __file__, sys.argv, sys.path[:2], "PYTHONPATH" in os.environ
if __name__ == "__main__":
    with mp.get_context("spawn").Pool(1) as pool:
        print(pool.map(square, range(3)))`,
    files: { "helper.py": "base = 100" },
    arguments: ["q"],
  },
  "uses a fork server": {
    code: `import multiprocessing as mp
def square(n):
    return n * n, __name__
if __name__ == "__main__":
    with mp.get_context("forkserver").Pool(1) as pool:
        print(pool.map(square, range(3)))`,
  },
  "starts itself": {
    code: `import subprocess, sys, os
if len(sys.argv) == 1:
    sys.exit(subprocess.run([sys.executable, __file__, "child"]).returncode)
print(sys.argv[1], sys.path[0], sorted(os.environ))
raise SystemExit(3)`,
  },
  "pickles its own classes": {
    code: `import pickle, dataclasses
@dataclasses.dataclass
class Point:
    x: int
data = pickle.dumps(Point(3))
print(data, pickle.loads(data), Point)`,
  },
  "reads its own source": {
    code: `import inspect, linecache, sys\ndef f():\n    return 1  # here\nprint(inspect.getsource(f), inspect.getsourcefile(f), inspect.getfile(f))\nprint(linecache.getline(__file__, 2), len(inspect.getsource(sys.modules["__main__"])))`,
  },
  "runs a module": {
    code: `import runpy\nprint(runpy.run_module("other", run_name="__main__")["value"], runpy.run_path("other.py")["value"])`,
    files: { "other.py": "import sys\nvalue = (__name__, __file__, sys.argv[0])" },
  },
  "runs coroutines": {
    code: `import asyncio
async def main():
    await asyncio.sleep(0.01)
    process = await asyncio.create_subprocess_exec("echo", "child", stdout=asyncio.subprocess.PIPE)
    print((await process.communicate())[0])
    raise ValueError("in coroutine")
asyncio.run(main())`,
  },
  "runs tests": {
    code: `import unittest
class T(unittest.TestCase):
    def test_a(self):
        self.assertEqual(1, 2)
class R(unittest.TextTestRunner):
    def _makeResult(self):
        return unittest.TestResult()
    def run(self, test):
        result = self._makeResult()
        test(result)
        print(result.testsRun, result.failures[0][1])
        return result
unittest.main(testRunner=R)`,
  },
  "runs its doctests": { code: `"""\n>>> 1 + 1\n2\n>>> 1\n3\n"""\nimport doctest\nprint(doctest.testmod())` },
  "asks for input at its end": { code: `name = input("name? ")` },
  "asks for input": {
    code: `print(repr(input("name? ")), repr(input()))\nprint(repr(input()))`,
    stdin: "Ann\nB\nlast",
  },
  "reads all of its input": { code: `import sys\nprint(repr(sys.stdin.read()))`, stdin: "a\r\nü€\n\0rest" },
  "reads its input as bytes": {
    code: `import os, sys\nprint(os.read(0, 3), sys.stdin.buffer.read())`,
    stdin: "abcdef".repeat(20_000),
  },
  "reads no input": { code: `print("x")`, stdin: "y".repeat(300_000) },
  "writes much": {
    code: `import sys\nsys.stdout.write("x" * 3_000_000)\nsys.stderr.write("y" * 300_000)\nraise SystemExit(1)`,
  },
  "has a syntax error": { code: `print("never")\nif True:\n    x = (1,\n    y = 2\n` },
  "has an indentation error": { code: `def f():\nreturn 1\n` },
  "has mixed tabs": { code: `if True:\n        x = 1\n\ty = 2\n` },
  "has a null byte": { code: `print(1)\0` },
  "has a bad encoding line": { code: `# -*- coding: nonsense -*-\nprint(1)` },
  "has an encoding line": { code: `# -*- coding: latin-1 -*-\nprint("é", ascii("é"))` },
  "begins with a byte order mark": { code: `\ufeffprint(__file__)` },
  "has a context file with a syntax error": { code: `import helper`, files: { "helper.py": "x = 1\nx = = 2\n" } },
  "imports a package": {
    code: `from pkg.sub import value\nimport pkg\nprint(value, pkg.__file__, pkg.sub.__name__)`,
    files: { "pkg/__init__.py": "", "pkg/sub.py": "from . import other\nvalue = other.v", "pkg/other.py": "v = 6" },
  },
  "reads and cannot write its files": {
    code: `import os, stat\nprint(open("data.txt").read(), oct(stat.S_IMODE(os.stat("data.txt").st_mode)), oct(stat.S_IMODE(os.stat(__file__).st_mode)))`,
    files: { "data.txt": "ü\n" },
  },
  "lacks a package": { code: `import not_there_at_all` },
  warns: { code: `import warnings\nwarnings.warn("careful")\nwarnings.warn("old", DeprecationWarning)` },
  logs: {
    code: `import logging\nlogging.basicConfig(format="%(filename)s:%(lineno)d %(funcName)s %(module)s %(message)s")\nlogging.warning("w")\nlogging.exception("e", exc_info=ZeroDivisionError(1))`,
  },
  "dumps its stack": { code: `import faulthandler\ndef f():\n    faulthandler.dump_traceback(all_threads=False)\nf()` },
  "fails in a finaliser": { code: `class A:\n    def __del__(self):\n        1/0\na = A()\ndel a\nprint("on")` },
  "closes its streams": { code: `import sys\nprint("x")\nsys.stdout.close()` },
  "is empty": { code: `` },
  "future annotations and docstring": {
    code: `"""Doc"""\nfrom __future__ import annotations\nprint(__doc__)\nx: y = 1\nprint(__annotations__)`,
  },
};
