"""Lines of notebooks that are not Python, for a kept interpreter: `!ls`, `x = !ls`, `%time f()`, `%%bash`.

The interpreter runs this text when it first gets code that is no Python. Works with Python 3.8 and later.
"""

import os
import re
import select
import shlex
import signal
import subprocess
import sys
import time

# Rewritten in one call; each is found by one more attempt to compile the code.
max_lines = 200
own_name = "__glovebox_line__"
one_line = re.compile(r"^(\s*)(?:([A-Za-z_][\w, ]*?)\s*=\s*)?([!%])(.*)$")
whole_cell = re.compile(r"^\s*%%([A-Za-z]\w*)([^\n]*)\n?")


class UsageError(Exception):
    """A line of a notebook that is none here."""


def to_python(code, compiles):
    """The code with calls for such lines; `compiles` gives the line of its first mistake, or None. Unchanged where that is no such line."""
    cell = whole_cell.match(code)
    if cell:
        name, words, rest = cell.group(1), cell.group(2).strip(), code[cell.end() :]
        return "%s(%r, %r)" % (own_name, "%%" + name, words + "\n" + rest)
    rewritten = without_indent(code)
    lines = rewritten.split("\n")
    for _ in range(max_lines):
        at = compiles("\n".join(lines))
        found = one_line.match(lines[at - 1]) if at is not None and 0 < at <= len(lines) else None
        if found is None:
            break
        indent, names, sign, rest = found.groups()
        call = "%s(%r, %r)" % (own_name, "=" + sign if names else sign, rest.strip())
        lines[at - 1] = "%s%s%s" % (indent, names + " = " if names else "", call)
    return "\n".join(lines)


def without_indent(code):
    """The code without what the first of its lines is indented by, if all are: pasted from somewhere."""
    lines = code.split("\n")
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    indent = first[: len(first) - len(first.lstrip())]
    if not indent or any(line.strip() and not line.startswith(indent) for line in lines):
        return code
    return "\n".join(line[len(indent) :] if line.strip() else line for line in lines)


class Shell:
    """A shell that keeps its variables and its folder from call to call."""

    def __init__(self, name):
        told, tells = os.pipe()
        self.told = told
        self.tells = "/proc/self/fd/%d" % tells
        words = [name, "--noprofile", "--norc"] if name == "bash" else [name]
        try:
            self.process = subprocess.Popen(words, stdin=subprocess.PIPE, pass_fds=(tells,), start_new_session=True)
        except BaseException:
            os.close(told)
            raise
        finally:
            os.close(tells)
        self.known = dict(os.environ)

    def run(self, code):
        """Its exit status, also when it has ended with it; a call that is broken off ends it with what it runs."""
        try:
            return self.answer(code)
        except BaseException:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.end()
            raise

    def answer(self, code):
        text = "%s\neval %s </dev/null\nprintf '%%d\\n' $? >%s\n" % (self.changes(), shlex.quote(code), self.tells)
        try:
            self.process.stdin.write(text.encode("utf-8", "surrogateescape"))
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        status = b""
        while not status.endswith(b"\n"):
            # What it has left running may keep the pipe open.
            while not select.select([self.told], [], [], 0.1)[0]:
                if self.is_over:
                    return self.end()
            piece = os.read(self.told, 16)
            if not piece or len(status) > 16:
                return self.end()
            status += piece
        # A program that finds the pipe may write to it.
        return int(status) & 0xFF if status.strip().isdigit() else 1

    def changes(self):
        """What tells it of variables that were set or removed since."""
        now, before = dict(os.environ), self.known
        self.known = now
        is_name = re.compile(r"[A-Za-z_]\w*$").match
        gone = ["unset %s" % name for name in before if name not in now and is_name(name)]
        new = ["export %s=%s" % (name, shlex.quote(value)) for name, value in now.items() if before.get(name) != value and is_name(name)]
        return "; ".join(gone + new)

    def end(self):
        self.process.kill()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        os.close(self.told)
        status = self.process.wait()
        return status if status >= 0 else 128 - status

    @property
    def is_over(self):
        return self.process.poll() is not None


class Lines:
    """Does what such lines ask for."""

    def __init__(self, world, execute, flush):
        self.world = world
        self.execute = execute
        self.flush = flush
        self.shells = {}

    def __call__(self, sign, text):
        if sign == "!":
            return self.command(text)
        if sign == "=!":
            return self.output(text)
        if sign.startswith("%%"):
            return self.cell(sign[2:], *text.split("\n", 1))
        name, _, rest = text.partition(" ")
        method = getattr(self, "do_" + name, None)
        if method is None:
            known = ", ".join(sorted("%" + each[3:] for each in dir(self) if each.startswith("do_")))
            raise UsageError("%%%s is not there: expected %s, %%%%bash, %%%%sh, %%%%time, or !command" % (name, known))
        return method(rest.strip())

    def cell(self, name, words, code):
        if name in ("bash", "sh"):
            return self.shell(name, code)
        if name == "time":
            return self.do_time(code)
        if name == "capture":
            raise UsageError("%%capture is not there: use contextlib.redirect_stdout")
        raise UsageError("%%%%%s is not there: expected %%%%bash, %%%%sh or %%%%time" % name)

    def shell(self, name, code):
        """Runs it in the context's own shell; a status other than 0 ends the call with it."""
        self.flush()
        known = self.shells.get(name)
        if known is None or known.is_over:
            known = self.shells[name] = Shell(name)
        status = known.run(code)
        if status != 0:
            raise SystemExit(status)

    def command(self, line):
        self.flush()
        self.world["_exit_code"] = subprocess.call(["sh", "-c", self.filled(line)], stdin=subprocess.DEVNULL)

    def output(self, line):
        self.flush()
        done = subprocess.run(["sh", "-c", self.filled(line)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.world["_exit_code"] = done.returncode
        return done.stdout.decode("utf-8", "replace").splitlines()

    def filled(self, line):
        """With the values of `{name}` and `$name` where the program has such a variable."""

        def value(found):
            name = found.group(1) or found.group(2)
            return str(self.world[name]) if name in self.world else found.group(0)

        return re.sub(r"\$([A-Za-z_]\w*)|(?<!\$)\{([A-Za-z_]\w*)\}", value, line)

    def do_time(self, code):
        began, used = time.perf_counter(), time.process_time()
        try:
            return self.execute(code)
        finally:
            print("CPU times: %.3g s" % (time.process_time() - used))
            print("Wall time: %.3g s" % (time.perf_counter() - began))

    def do_timeit(self, code):
        runs, began = 0, time.perf_counter()
        while runs < 1000 and time.perf_counter() - began < 1:
            self.execute(code)
            runs += 1
        print("%.3g s per run (mean of %d)" % ((time.perf_counter() - began) / runs, runs))

    def do_cd(self, folder):
        os.chdir(os.path.expanduser(folder or "~"))
        return self.do_pwd("")

    def do_pwd(self, _):
        return os.getcwd()

    def do_env(self, words):
        name, sign, value = words.partition("=")
        if sign:
            os.environ[name.strip()] = value.strip()
            return None
        return os.environ.get(name) if name else dict(os.environ)

    def do_matplotlib(self, backend):
        if backend not in ("", "inline", "agg"):
            raise UsageError("%%matplotlib: expected inline, got %s" % backend[:80])

    def do_pip(self, words):
        return self.command("%s -m pip %s" % (shlex.quote(sys.executable), words))
