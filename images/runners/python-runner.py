"""Receives a job over standard input, then lets Python run the job's main file by itself.

The shell that starts the interpreter saves this text as `sitecustomize.py` in a new folder at the front of PYTHONPATH
and starts `python3 /work/main.py`. Python imports it while it starts, before it looks for the main file: the start is
held up here until the job has arrived. From then on Python does everything itself, so that `__main__`, tracebacks, exit
codes, signals and threads are those of `python3 main.py`. Works with Python 3.8 and later.

Standard input carries: the length of the header in decimal and a newline, the header (JSON: version, main, arguments,
environment, files, data, folder, working_directory, untrusted, empties), the bytes of the files and then of the data one after
another, and then the standard input of the program.

Before the job a header may come whose `imports` are packages to import while waiting for the job. When that is done, it
writes `1` and a newline to standard output, reads a newline, writes `2` and a newline, and takes the job. If the imports
differ in any way from those that the program would have made itself, it ends instead.
"""


def _run():
    import os
    import sys

    runner_failed = 125
    version = 1

    def leave_no_trace():
        """Hides this file, and the way it was found, from the program."""
        folder = os.path.dirname(__file__)
        sys.path[:] = [entry for entry in sys.path if entry != folder]
        sys.path_importer_cache.pop(folder, None)
        rest = os.environ["PYTHONPATH"].split(os.pathsep)[1:]
        if rest:
            os.environ["PYTHONPATH"] = os.pathsep.join(rest)
        else:
            del os.environ["PYTHONPATH"]
        for parent, folders, files in os.walk(folder, topdown=False):
            for name in files:
                os.unlink(os.path.join(parent, name))
            os.rmdir(parent)

    def get_ready():
        """Does what takes time and can be done before the job has come."""
        import _frozen_importlib_external as importlib_external

        # Reads the folders of Python's own modules, which the program's imports read as well.
        importlib_external.PathFinder.find_spec("sitecustomize")
        freeze()

    def freeze():
        """Going through all their objects at the end of a program takes longer than most programs do."""
        has_gc = "gc" in sys.modules
        import gc

        if hasattr(gc, "freeze"):
            gc.freeze()
        if not has_gc:
            del sys.modules["gc"]

    def run_own_sitecustomize():
        """Runs the `sitecustomize` of the system, which this file hides; if there is none, `site` is told."""
        import _frozen_importlib as importlib
        import _frozen_importlib_external as importlib_external

        name = "sitecustomize"
        # What was not found before may have come with the job: PYTHONPATH may name folders of the job.
        for entry, finder in list(sys.path_importer_cache.items()):
            if finder is None:
                del sys.path_importer_cache[entry]
            elif hasattr(finder, "invalidate_caches") and os.access(entry, os.W_OK):
                finder.invalidate_caches()
        spec = importlib_external.PathFinder.find_spec(name)
        if spec is None or spec.loader is None:
            raise ImportError("No module named " + repr(name), name=name)
        module = importlib.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)

    def read_some(limit):
        while True:
            try:
                return os.read(0, limit)
            except BlockingIOError:
                import select

                select.select([0], [], [])
                sys.modules.pop("select", None)

    def read_pieces(size):
        """Exactly the next `size` bytes of standard input."""
        while size > 0:
            piece = read_some(min(size, 1 << 20))
            if not piece:
                raise ValueError("standard input ended inside the job")
            size -= len(piece)
            yield piece

    def read_header():
        """The header of a job, or of the imports that come before it."""
        digits = b""
        while True:
            character = read_some(1)
            if not character and not digits:
                os._exit(0)  # There is nothing to run.
            if character == b"\n":
                break
            digits += character
            if not character.isdigit() or len(digits) > 9:
                raise ValueError("the job does not begin with the length of its header")
        text = b"".join(read_pieces(int(digits))).decode("utf-8")
        # JSON of strings, numbers, lists and records is also Python; importing `json` would put it, and all that it
        # imports, into the program's world before the program's own files of those names.
        header = eval(text, {"__builtins__": {}})
        if header["version"] != version:
            raise ValueError("unknown version of the job")
        return header

    def remove(target):
        """Removes what an earlier program of the same user left there, whatever its permissions."""
        if os.path.isdir(target) and not os.path.islink(target):
            os.chmod(target, 0o700)
            for name in os.listdir(target):
                remove(os.path.join(target, name))
            os.rmdir(target)
        else:
            os.unlink(target)

    def write_file(folder, path, size):
        parts = path.split("/")
        if any(part in ("", ".", "..") for part in parts):
            raise ValueError("a file's path leaves the working folder")
        target = os.path.join(folder, *parts)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444)
        try:
            os.fchmod(descriptor, 0o444)
            for piece in read_pieces(size):
                while piece:
                    piece = piece[os.write(descriptor, piece) :]
        finally:
            os.close(descriptor)

    def enter_world(header):
        """Gives the program its variables, its folder and its path, except for what may not come first, which it returns."""
        # Python has already read what it reads while it starts.
        paths = [entry for entry in header["environment"].get("PYTHONPATH", "").split(os.pathsep) if entry]
        late = [path for path in paths if is_below(path, header["untrusted"])]
        sys.path[:0] = [path for path in paths if path not in late]
        for name, value in header["environment"].items():
            os.environb[name.encode("utf-8")] = value.encode("utf-8")
        if header["working_directory"]:
            os.chdir(header["working_directory"])
        return late

    def give_up():
        """Lets another interpreter, which has imported nothing, take the job."""
        os._exit(0)

    def import_ahead(header):
        """Imports packages that programs cannot write to, and ends unless that changed nothing else; returns whether a `sitecustomize` has run."""
        import _signal

        process = os.getpid()
        control, out, err = [os.dup(stream) for stream in (0, 1, 2)]
        nothing = os.open(os.devnull, os.O_RDONLY)
        said, saying = os.pipe()
        for descriptor, stream in ((nothing, 0), (saying, 1), (saying, 2)):
            os.dup2(descriptor, stream)
        os.close(nothing)
        os.close(saying)
        os.set_blocking(said, False)
        os.set_blocking(1, False)

        def world():
            handlers = [_signal.getsignal(number) for number in range(1, 32)]
            return (os.getpid(), os.getcwd(), dict(os.environ), list(sys.path), handlers, sys.gettrace(), sys.getprofile(), sys.excepthook, sys.stdin, sys.stdout, sys.stderr)

        def path_times():
            times = []
            for path in sys.path:
                try:
                    times.append((path, os.stat(path).st_mtime_ns))
                except OSError:
                    times.append((path, None))
            return times

        def is_installed(name):
            import _frozen_importlib_external as importlib_external

            top = name.partition(".")[0]
            spec = importlib_external.PathFinder.find_spec(top)
            if spec is None:
                return False
            places = [spec.origin] if spec.has_location else list(spec.submodule_search_locations or [])
            library = os.path.dirname(os.__file__)
            folders = [os.path.relpath(place, library).split(os.sep)[0] for place in places]
            # Python's own modules take too little time to matter.
            is_own = any(folder not in ("..", "site-packages", "dist-packages") for folder in folders)
            return places != [] and not is_own and not any(is_below(place, header["writable"]) for place in places)

        def has_child():
            try:
                return os.waitpid(-1, os.WNOHANG) is not None
            except ChildProcessError:
                return False

        def has_said():
            try:
                return os.read(said, 1) != b""
            except BlockingIOError:
                return False

        enter_world(header)
        for path in sys.path:
            if is_below(path, header["writable"]) and os.path.isdir(path):
                if any(name.startswith(("sitecustomize", "usercustomize")) for name in os.listdir(path)):
                    give_up()
        has_site = True
        try:
            run_own_sitecustomize()
        except ImportError as error:
            if error.name != "sitecustomize":
                raise
            has_site = False
        times = path_times()
        before = world()
        for name, names in header["imports"]:
            if is_installed(name):
                __import__(name, {}, {}, names)
        sys.stdout.flush()
        sys.stderr.flush()
        threads = sys.modules.get("threading")
        if os.getpid() != process or world() != before or has_said() or has_child() or (threads and threads.active_count() > 1):
            give_up()
        files = [getattr(module, "__dict__", {}).get("__file__") for module in list(sys.modules.values())]
        # This includes what they have imported themselves.
        if any(is_below(folder, header["writable"]) for folder in {os.path.dirname(file) for file in files if isinstance(file, str)}):
            give_up()
        freeze()
        os.close(said)
        for descriptor, stream in ((control, 0), (out, 1), (err, 2)):
            os.dup2(descriptor, stream)
            os.close(descriptor)
        os.write(1, b"1\n")
        # What was found may have moved since, or may be hidden by something else.
        if read_some(1) != b"\n" or path_times() != times:
            give_up()
        os.write(1, b"2\n")
        return has_site

    def receive_job(header, has_imported):
        os.makedirs(header["folder"], exist_ok=True)
        if header["empties"]:
            for name in os.listdir(header["folder"]):
                remove(os.path.join(header["folder"], name))
        for file in header["files"] + header["data"]:
            write_file(header["folder"], file["path"], file["size"])
        late = [] if has_imported else enter_world(header)
        sys.argv.extend(header["arguments"])
        if hasattr(sys, "orig_argv"):
            sys.orig_argv.extend(header["arguments"])
        if header["untrusted"]:
            # Otherwise Python looks for a `usercustomize` in its whole path.
            sys.modules["site"].ENABLE_USER_SITE = False
        return late

    def is_below(path, folders):
        real = os.path.realpath(path)
        return any((real + "/").startswith(os.path.realpath(folder).rstrip("/") + "/") for folder in folders)

    def add_late(late):
        """Adds them after Python's own library: their code cannot run before the program, nor replace a module of the library."""
        library = os.path.dirname(os.__file__)
        own = [index for index, path in enumerate(sys.path) if path == library or os.path.basename(path) in ("lib-dynload", "DLLs")]
        place = max(own, default=len(sys.path) - 1) + 1
        sys.path[place:place] = late

    def end_as_failed(error):
        os.write(2, ("glovebox runner: %s: %s\n" % (type(error).__name__, error)).encode("utf-8", "replace"))
        os._exit(runner_failed)

    def receive_job_or_end(header, has_imported):
        try:
            return receive_job(header, has_imported)
        except Exception as error:
            end_as_failed(error)

    def read_header_or_end():
        try:
            return read_header()
        except Exception as error:
            end_as_failed(error)

    leave_no_trace()
    get_ready()
    header = read_header_or_end()
    if "imports" in header:
        try:
            has_site = import_ahead(header)
        except BaseException:
            give_up()
        receive_job_or_end(read_header_or_end(), True)
        if not has_site:
            raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
        return
    late = receive_job_or_end(header, False)
    try:
        run_own_sitecustomize()
    finally:
        add_late(late)


_run()
