"""Runs pieces of Python one after another, each with the variables of the earlier ones.

It is started like any program, and then reads jobs in the runner's format from its standard input, whose headers also have
a `token`, the call's `name`, as tracebacks show it, and the environment `variables` that it has until its end. After each job it writes the token between two special characters
to both of its output streams, and after that, on standard output only, the length of a report, a newline, and the report:
JSON with the exit code, what to show, and the exception that ended the call. Beside its file lie `charts.py` and `lines.py`,
which it runs when it needs them.
Works with Python 3.8 and later.
"""

import sys


def _main():
    import ast
    import base64
    import builtins
    import importlib
    import io
    import json
    import linecache
    import os
    import signal
    import traceback
    import types

    max_shown = 6 * 1024 * 1024
    # Forms of values in one call; the host takes no more.
    max_forms = 200
    chart_type = "application/vnd.glovebox.chart+json"
    table_type = "application/vnd.glovebox.table+json"
    # Characters of an exception's parts; the host takes no more.
    max_name, max_value, max_traceback = 200, 4000, 16000
    own_pid = os.getpid()
    own_file = _main.__code__.co_filename
    # The program's standard input is empty, and what it does with its streams does not affect these.
    control, out, err = os.dup(0), os.dup(1), os.dup(2)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.environ.setdefault("MPLBACKEND", "Agg")

    module = types.ModuleType("__main__")
    world = module.__dict__
    sys.modules["__main__"] = module
    shown = []
    # How many values have been shown.
    values = [0]
    room = [max_shown]
    # `CO_COROUTINE` of a code object that awaits at its top level.
    awaits = 0x80
    # The lines of each call, by its name.
    sources = {}
    loops = []
    entered = []
    # The texts of what is not needed by every program, and what they have made.
    texts = {}
    for part in ("charts", "lines"):
        with open(os.path.join(os.path.dirname(own_file), part + ".py"), encoding="utf-8") as file:
            texts[part] = file.read()
    parts = {}
    environment = os.environb
    # Whether the code of a call runs, which an interrupt ends: between calls it would end the interpreter.
    runs = [False]

    def interrupt(_signal, _frame):
        if runs[0]:
            raise KeyboardInterrupt

    def part_of(name):
        """What the text of that name defines; its frames count as ours."""
        if name not in parts:
            parts[name] = {"__name__": "glovebox_" + name}
            exec(compile(texts[name], own_file, "exec", dont_inherit=True), parts[name])
        return parts[name]

    def read(size):
        pieces = []
        while size > 0:
            piece = os.read(control, min(size, 1 << 20))
            if not piece:
                os._exit(0)
            size -= len(piece)
            pieces.append(piece)
        return b"".join(pieces)

    def read_job():
        digits = b""
        while not digits.endswith(b"\n"):
            digits += read(1)
        header = json.loads(read(int(digits)).decode("utf-8"))
        codes = [read(file["size"]).decode("utf-8-sig") for file in header["files"]]
        return header, codes[0]

    def write_all(descriptor, data):
        # A program may have changed that of its own, which is the same pipe.
        os.set_blocking(descriptor, True)
        view = memoryview(data)
        while len(view) > 0:
            view = view[os.write(descriptor, view) :]

    def add(place, media_type, content):
        if len(shown) >= max_forms:
            return
        if len(shown) == max_forms - 1:
            media_type, content = "text/plain", "[more than %d forms of values left out]" % max_forms
        if isinstance(content, (bytes, bytearray)):
            encoding, content = "base64", base64.b64encode(bytes(content)).decode("ascii")
        else:
            # A lone surrogate is not valid text.
            encoding, content = "utf8", str(content).encode("utf-8", "replace").decode("utf-8")
        if len(content) > room[0]:
            encoding, media_type, content = "utf8", "text/plain", "[%s of %d characters left out: too long to be shown]" % (media_type, len(content))
        room[0] -= len(content)
        shown.append(dict(place, media_type=media_type, encoding=encoding, content=content))

    def call(value, name):
        try:
            method = getattr(value, name, None)
            return None if method is None or isinstance(value, type) else method()
        except Exception:
            return None

    def text_of(value):
        # Tables show more than their own repr, which is as wide as a terminal.
        if hasattr(type(value), "_repr_html_") and hasattr(type(value), "to_string"):
            try:
                return value.to_string(max_rows=60)
            except Exception:
                pass
        return repr(value)

    rich = (
        ("text/html", "_repr_html_"),
        ("text/markdown", "_repr_markdown_"),
        ("image/svg+xml", "_repr_svg_"),
        ("image/png", "_repr_png_"),
        ("image/jpeg", "_repr_jpeg_"),
        ("text/latex", "_repr_latex_"),
        ("application/json", "_repr_json_"),
    )

    def begin(is_result):
        """Where the forms of the next value that is shown belong."""
        values[0] += 1
        return {"value": values[0] - 1, "is_result": is_result}

    def json_of(content):
        content = content[0] if isinstance(content, tuple) and content else content
        try:
            return json.dumps(content, allow_nan=False)
        except Exception:
            return None

    def show(value, is_result=False):
        place = begin(is_result)
        if hasattr(type(value), "savefig"):
            add_figure(place, value)
            return
        add(place, "text/plain", text_of(value))
        bundle = call(value, "_repr_mimebundle_")
        bundle = bundle[0] if isinstance(bundle, tuple) and bundle else bundle
        found = dict(bundle) if isinstance(bundle, dict) else {}
        for media_type, name in rich:
            content = found.get(media_type)
            if content is None:
                content = call(value, name)
            if isinstance(content, str) and media_type in ("image/png", "image/jpeg"):
                content = base64.b64decode(content)
            if media_type == "application/json" and content is not None:
                content = json_of(content)
            if isinstance(content, (str, bytes)):
                add(place, media_type, content)
        if "pandas" in sys.modules:
            add_numbers(place, table_type, part_of("charts")["data_of"](value))

    def add_numbers(place, media_type, numbers):
        # Half of them would be other data.
        if numbers is not None and len(numbers) <= room[0]:
            add(place, media_type, numbers)

    def add_figure(place, figure):
        add(place, "text/plain", repr(figure))
        target = io.BytesIO()
        figure.savefig(target, format="png", bbox_inches="tight")
        add(place, "image/png", target.getvalue())
        if "matplotlib" in sys.modules:
            add_numbers(place, chart_type, part_of("charts")["chart_of"](figure))

    def display(*values):
        """Shows values in addition to the output of the call."""
        for value in values:
            show(value)

    def show_open_figures():
        plots = sys.modules.get("matplotlib.pyplot")
        if plots is None:
            return
        for number in plots.get_fignums():
            add_figure(begin(False), plots.figure(number))
        plots.close("all")

    class Hooks:
        """Finds modules as ever, and makes what they would show in a window be shown by the call."""

        def __init__(self):
            self.hooks = {
                "matplotlib.pyplot": lambda module: setattr(module, "show", lambda *_, **__: show_open_figures()),
                "PIL.Image": lambda module: setattr(module.Image, "show", lambda image, *_, **__: show(image)),
                "IPython.display": lambda module: setattr(module, "display", lambda *given, **__: display(*given)),
            }

        def find_spec(self, name, path=None, target=None):
            if name not in self.hooks:
                return None
            others = (finder for finder in list(sys.meta_path) if finder is not self and hasattr(finder, "find_spec"))
            spec = next((found for found in (finder.find_spec(name, path, target) for finder in others) if found), None)
            load = getattr(spec and spec.loader, "exec_module", None)
            if load is None:
                return spec

            def exec_module(module):
                load(module)
                try:
                    self.hooks[name](module)
                except Exception:
                    # A module of that name without what it is known for.
                    pass

            spec.loader.exec_module = exec_module
            return spec

    def enter(folder):
        """Goes there when nothing has gone there yet, or when the current folder is gone."""
        if folder and not (entered and os.path.isdir(".")):
            os.chdir(folder)
            entered.append(folder)

    def prepare(header, code, name):
        for key, value in header["environment"].items():
            os.environ[key] = value
        enter(header["working_directory"])
        sys.argv = [header["main"]] + header["arguments"]
        paths = [path for path in header["environment"].get("PYTHONPATH", "").split(os.pathsep) if path]
        sys.path[:0] = [path for path in paths if path not in sys.path]
        importlib.invalidate_caches()
        lines = io.StringIO(code, newline=None).readlines()
        sources[name] = (len(code), None, lines, name)
        remember_lines()

    def remember_lines():
        if not isinstance(linecache.cache, dict):
            linecache.cache = {}
        linecache.cache.update(sources)

    def pieces_of(code, name):
        flag = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        tree = compile(code, name, "exec", ast.PyCF_ONLY_AST | flag, dont_inherit=True)
        body = tree.body
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        pieces = [compile(tree, name, "exec", flag, dont_inherit=True)]
        if last is not None:
            pieces.append(compile(ast.Expression(last.value), name, "eval", flag, dont_inherit=True))
        return pieces

    def notebook_code(code, name):
        """Code with lines of notebooks that are no Python, as Python."""

        def first_mistake(code):
            try:
                compile(code, name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
                return None
            except SyntaxError as error:
                return error.lineno

        lines = part_of("lines")
        if not hasattr(builtins, lines["own_name"]):
            setattr(builtins, lines["own_name"], lines["Lines"](world, run_timed, flush))
        return lines["to_python"](code, first_mistake)

    def run_timed(code):
        return [eval(piece, world) for piece in pieces_of(code, "<timed>")][-1]

    def compile_call(code, name):
        """What stands before the last expression, and that expression: a call with a mistake runs nothing."""
        try:
            try:
                return pieces_of(code, name)
            except SyntaxError:
                rewritten = notebook_code(code, name)
                if rewritten == code:
                    raise
            return pieces_of(rewritten, name)
        except SyntaxError as error:
            # Python knows the line of no text, or takes it from a file of that name.
            lines = sources[name][2]
            if error.lineno and error.lineno <= len(lines) and (error.text or "\0").strip() not in code:
                error.text = lines[error.lineno - 1]
            raise

    def run_in_loop(pieces):
        """Runs them in an event loop that later calls have as well."""
        import asyncio

        async def settle():
            # An error that leaves through the loop would have the loop's own lines.
            try:
                for piece in pieces:
                    value = eval(piece, world)
                    if piece.co_flags & awaits:
                        value = await value
                return value, None
            except BaseException as error:
                return None, error

        if not loops or loops[0].is_closed():
            loops[:] = [asyncio.new_event_loop()]
        loop = loops[0]
        asyncio.set_event_loop(loop)
        task = loop.create_task(settle())
        try:
            value, error = loop.run_until_complete(task)
        except BaseException:
            task.cancel()
            raise
        if error is not None:
            raise error
        return value

    def run(code, name):
        pieces = compile_call(code, name)
        if any(piece.co_flags & awaits for piece in pieces):
            value = run_in_loop(pieces)
        else:
            # That of statements is none.
            value = [eval(piece, world) for piece in pieces][-1]
        if value is not None:
            world["_"] = value
            show(value, is_result=True)
        show_open_figures()

    def exit_code_of(error):
        if error.code is None:
            return 0
        if isinstance(error.code, int):
            return error.code & 0xFF
        say(error.code)
        return 1

    def say(text):
        """To the call's standard error, whatever has become of `sys.stderr`."""
        flush()
        write_all(err, ("%s\n" % (text,)).encode("utf-8", "backslashreplace"))

    def without_own(trace):
        """The frames of a traceback that are not of this file."""

        def skip(at):
            while at is not None and at.tb_frame.f_code.co_filename == own_file:
                at = at.tb_next
            return at

        first = at = skip(trace)
        while at is not None:
            at.tb_next = skip(at.tb_next)
            at = at.tb_next
        return first

    def hide_own(error):
        waiting, seen = [error], set()
        while waiting:
            each = waiting.pop()
            if isinstance(each, BaseException) and id(each) not in seen:
                seen.add(id(each))
                each.__traceback__ = without_own(each.__traceback__)
                waiting += [each.__cause__, each.__context__, *getattr(each, "exceptions", ())]

    def read_part(read, otherwise, most):
        """A part of an error, of which the program decides everything; of a long one without its middle."""
        try:
            text = str(read())
        except BaseException:
            # A class of the program's may break all that.
            text = otherwise
        if len(text) <= most:
            return text
        half = most // 2 - 25
        return "%s\n[... %d characters left out ...]\n%s" % (text[:half], len(text) - 2 * half, text[-half:])

    def format_error(error):
        remember_lines()
        hide_own(error)
        return "".join(traceback.format_exception(type(error), error, error.__traceback__)).rstrip("\n")

    def print_error(error):
        """Shows it on standard error; returns it as data."""
        name = read_part(lambda: type(error).__name__, "Exception", max_name)
        value = read_part(lambda: error, "<exception str() failed>", max_value)
        try:
            words = format_error(error)
        except BaseException:
            words = name
        say(words)
        return {"name": name, "value": value, "traceback": read_part(lambda: words, name, max_traceback)}

    def set_variables(variables, before):
        for name, value in variables.items():
            key = name.encode("utf-8")
            before[key] = environment.get(key)
            environment[key] = value.encode("utf-8")

    def restore_variables(before):
        try:
            for key, value in before.items():
                if value is not None:
                    environment[key] = value
                elif key in environment:
                    del environment[key]
        except BaseException:
            # It has changed how variables are set.
            say("The variables of this call may last.")

    def run_safely(header, code):
        before = {}
        try:
            prepare(header, code, header["name"])
            set_variables(header["variables"], before)
            try:
                runs[0] = True
                run(code, header["name"])
            finally:
                runs[0] = False
            return 0, None
        except BaseException as error:
            runs[0] = False
            try:
                if isinstance(error, SystemExit):
                    return exit_code_of(error), None
                failure = print_error(error)
                try:
                    # The next call is not to show them.
                    show_open_figures()
                except BaseException:
                    pass
                return 1, failure
            except BaseException:
                say("The error cannot be shown.")
            return 1, None
        finally:
            restore_variables(before)

    names = ("stdin", "stdout", "stderr")
    streams = [getattr(sys, name) for name in names]
    if hasattr(streams[2], "reconfigure"):
        # A line that `print` writes in two pieces leaves as one.
        streams[2].reconfigure(line_buffering=True, write_through=False)
    settings = [(stream.encoding, stream.errors) for stream in streams]

    def open_stream(number):
        raw = io.FileIO(number, "w" if number else "r", closefd=False)
        raw.name = "<%s>" % names[number]
        buffer = io.BufferedWriter(raw) if number else io.BufferedReader(raw)
        return io.TextIOWrapper(buffer, *settings[number], line_buffering=number == 2)

    def is_usable(number):
        stream = streams[number]
        try:
            # A program's own `write` would be an attribute.
            return not stream.closed and set(vars(stream)) <= {"mode"} and (stream.encoding, stream.errors) == settings[number]
        except Exception:
            return False

    def flush():
        for stream in (getattr(sys, "stdout", None), getattr(sys, "stderr", None), streams[1], streams[2]):
            try:
                stream.flush()
            except BaseException:
                pass

    def restore_streams():
        """Whatever a call does to its standard streams, the next one has them again."""
        for number, own in enumerate((nothing, out, err)):
            os.dup2(own, number)
            os.set_blocking(number, True)
            if not is_usable(number):
                streams[number] = open_stream(number)
            setattr(sys, names[number], streams[number])
            setattr(sys, "__%s__" % names[number], streams[number])

    signal.signal(signal.SIGINT, interrupt)
    builtins.display = display
    sys.meta_path.insert(0, Hooks())
    world["__builtins__"] = builtins
    def answer_calls():
        while True:
            header, code = read_job()
            del shown[:]
            values[0] = 0
            room[0] = max_shown
            restore_streams()
            signal.signal(signal.SIGINT, interrupt)
            exit_code, exception = run_safely(header, code)
            flush()
            if os.getpid() != own_pid:
                os._exit(exit_code)
            # What could not be written to a stream that was closed.
            restore_streams()
            flush()
            report = json.dumps({"exit_code": exit_code, "displays": shown, "exception": exception}).encode("utf-8")
            mark = b"\x1e" + header["token"].encode("ascii") + b"\x1e"
            write_all(err, mark)
            write_all(out, mark + b"%d\n" % len(report) + report)

    try:
        answer_calls()
    except OSError as error:
        # The program has closed what is not its own.
        os.write(2, ("The interpreter of this session cannot go on: %s\n" % error).encode("utf-8", "replace"))
        os._exit(1)


_main()
