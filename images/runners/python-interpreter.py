"""Runs pieces of Python one after another, each with the variables of the earlier ones.

It is started like any program, and then reads jobs in the runner's format from its standard input, whose headers also have
a `token`. After each job it writes the token between two special characters to both of its output streams, and after that,
on standard output only, the length of a report, a newline, and the report: JSON with the exit code and what to show.
Works with Python 3.8 and later.
"""

import sys


def _main():
    import ast
    import base64
    import builtins
    import importlib
    import json
    import linecache
    import os
    import traceback
    import types

    max_shown = 6 * 1024 * 1024
    own_pid = os.getpid()
    # The program's standard input is empty, and what it does with its streams does not affect these.
    control, out, err = os.dup(0), os.dup(1), os.dup(2)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.environ.setdefault("MPLBACKEND", "Agg")

    module = types.ModuleType("__main__")
    world = module.__dict__
    sys.modules["__main__"] = module
    shown = []
    room = [max_shown]

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
        codes = [read(file["size"]).decode("utf-8") for file in header["files"]]
        return header, codes[0]

    def write_all(descriptor, data):
        view = memoryview(data)
        while len(view) > 0:
            view = view[os.write(descriptor, view) :]

    def add(media_type, content):
        if isinstance(content, (bytes, bytearray)):
            encoding, content = "base64", base64.b64encode(bytes(content)).decode("ascii")
        else:
            # A lone surrogate is not valid text.
            encoding, content = "utf8", str(content).encode("utf-8", "replace").decode("utf-8")
        if len(content) > room[0]:
            encoding, media_type, content = "utf8", "text/plain", "[%s of %d characters left out: too long to be shown]" % (media_type, len(content))
        room[0] -= len(content)
        shown.append({"media_type": media_type, "encoding": encoding, "content": content})

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
    )

    def show(value):
        if hasattr(type(value), "savefig"):
            show_figure(value)
            return
        add("text/plain", text_of(value))
        bundle = call(value, "_repr_mimebundle_")
        bundle = bundle[0] if isinstance(bundle, tuple) and bundle else bundle
        found = dict(bundle) if isinstance(bundle, dict) else {}
        for media_type, name in rich:
            content = found.get(media_type)
            if content is None:
                content = call(value, name)
            if isinstance(content, str) and media_type in ("image/png", "image/jpeg"):
                content = base64.b64decode(content)
            if isinstance(content, (str, bytes)):
                add(media_type, content)

    def show_figure(figure):
        import io

        target = io.BytesIO()
        figure.savefig(target, format="png", bbox_inches="tight")
        add("image/png", target.getvalue())

    def display(*values):
        """Shows values in addition to the output of the call."""
        for value in values:
            show(value)

    def show_open_figures():
        plots = sys.modules.get("matplotlib.pyplot")
        if plots is None:
            return
        for number in plots.get_fignums():
            show_figure(plots.figure(number))
        plots.close("all")

    def prepare(header, code, name):
        for key, value in header["environment"].items():
            os.environ[key] = value
        if header["working_directory"] and not os.path.isdir("."):
            os.chdir(header["working_directory"])
        sys.argv = [header["main"]] + header["arguments"]
        paths = [path for path in header["environment"].get("PYTHONPATH", "").split(os.pathsep) if path]
        sys.path[:0] = [path for path in paths if path not in sys.path]
        importlib.invalidate_caches()
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)

    def run(code, path, name):
        # Errors of compilation name the file, as they would for a separate program.
        compile(code, path, "exec", dont_inherit=True)
        tree = compile(code, name, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        body = tree.body
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec", dont_inherit=True), world)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval", dont_inherit=True), world)
            if value is not None:
                world["_"] = value
                show(value)
        show_open_figures()

    def exit_code_of(error):
        if error.code is None:
            return 0
        if isinstance(error.code, int):
            return error.code & 0xFF
        print(error.code, file=sys.stderr)
        return 1

    def print_error(error):
        own = error.__traceback__
        while own is not None and own.tb_frame.f_code.co_filename == __file__:
            own = own.tb_next
        traceback.print_exception(type(error), error, own)

    def run_safely(code, path, name):
        try:
            run(code, path, name)
            return 0
        except SystemExit as error:
            return exit_code_of(error)
        except BaseException as error:
            print_error(error)
            return 1

    def flush():
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass

    builtins.display = display
    world["__builtins__"] = builtins
    count = 0
    while True:
        header, code = read_job()
        count += 1
        name = "<call %d>" % count
        del shown[:]
        room[0] = max_shown
        prepare(header, code, name)
        exit_code = run_safely(code, header["folder"] + "/" + header["main"], name)
        flush()
        if os.getpid() != own_pid:
            os._exit(exit_code)
        mark = b"\x1e" + header["token"].encode("ascii") + b"\x1e"
        report = json.dumps({"exit_code": exit_code, "displays": shown}).encode("utf-8")
        write_all(err, mark)
        write_all(out, mark + b"%d\n" % len(report) + report)


_main()
