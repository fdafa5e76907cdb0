"""What each audit event means. Part of the guard of isolation level `preload`: see start.py."""


def event_checks(refuse, refuse_import, level, reader, settings, facts):
    """`facts`: about this interpreter, found out in start.py."""
    import _thread

    plain, resolve, inside = reader
    windows, libraries, own_codes, pair_codes, sys_frame, own_process, traceback_type = facts
    get_type, ThreadRefusal = type, RuntimeError
    thread_count, this_thread, threads = _thread._count, _thread.get_ident, settings["threads"]
    no_network, no_signal, no_tampering, no_system = NO_NETWORK, NO_SIGNAL, NO_TAMPERING, NO_SYSTEM
    closed_modules = CLOSED_MODULES
    looking, unix_family = set(), 1

    def no(reason):
        return lambda *_: refuse(*reason)

    def check_socket(_self, family, *_):
        # Pairs of sockets inside one process, which event loops use to wake up.
        if family != unix_family and not in_own_pair():
            refuse(*no_network)

    def check_address(_self, address=None, *_):
        if address is not None and not in_own_pair():
            refuse(*no_network)

    def in_own_pair():
        """Windows has no pairs: Python connects two sockets over loopback instead."""
        if not windows:
            return False
        frame = sys_frame(2)
        while frame is not None:
            if frame.f_code in pair_codes:
                return True
            frame = frame.f_back
        return False

    def check_kill(process, *_):
        if process != own_process():
            refuse(*no_signal)

    def check_thread(*_):
        if thread_count() >= threads:
            raise ThreadRefusal("glovebox: can't start new thread: a program may run %d %s" % (threads, level))

    def check_import(name, path=None, *_):
        whole = plain(name) or ""
        # A native module is what its file contains, whatever package a loader assigns it to.
        called = whole if path is None else whole.rpartition(".")[2]
        if called in closed_modules:
            refuse_import(called, closed_modules[called])
        if path is not None and not inside(resolve(path), libraries):
            refuse_import(whole, "native code from the program's own folders")

    def check_frame_access(thing, name, *_):
        """Removes our own frames, and with them our state, from the tracebacks of refusals."""
        if name != "tb_frame" or get_type(thing) is not traceback_type:
            return
        me = this_thread()
        if me in looking:
            return
        looking.add(me)
        try:
            after = thing.tb_next
            if after is not None and after.tb_frame.f_code in own_codes:
                thing.tb_next = None
            own = thing.tb_frame.f_code in own_codes
        finally:
            looking.discard(me)
        if own:
            refuse(*no_tampering)

    checks = {
        "os.kill": check_kill,
        "os.killpg": no(no_signal),
        "socket.__new__": check_socket,
        "socket.connect": check_address,
        "socket.bind": check_address,
        "socket.sendto": check_address,
        "socket.sendmsg": check_address,
        "import": check_import,
        "object.__getattr__": check_frame_access,
        "_thread.start_new_thread": check_thread,
        "_thread.start_joinable_thread": check_thread,
        "resource.prlimit": lambda process, *_: None if process in (0, own_process()) else refuse(*no_system),
    }
    for reason, names in REFUSED_EVENTS.items():
        for name in names.split():
            checks[name] = no(reason)
    return checks, check_thread


REFUSED_EVENTS = {
    NO_NETWORK: "socket.gethostbyname socket.gethostbyaddr socket.getaddrinfo socket.getnameinfo socket.sethostname",
    NO_PROCESS: "subprocess.Popen os.exec os.posix_spawn os.spawn os.fork os.forkpty os.system os.startfile os.startfile/2 pty.spawn "
    "_winapi.CreateProcess _winapi.CreateJunction",
    NO_SIGNAL: "_winapi.OpenProcess _winapi.TerminateProcess sys.remote_exec",
    NO_NATIVE: "ctypes.dlopen ctypes.dlsym ctypes.dlsym/handle ctypes.call_function ctypes.addressof ctypes.cdata ctypes.cdata/buffer "
    "ctypes.string_at ctypes.wstring_at ctypes.memoryview_at ctypes.create_string_buffer os.add_dll_directory",
    NO_TAMPERING: "gc.get_objects gc.get_referrers gc.get_referents sys._current_frames sys._current_exceptions "
    "cpython.remote_debugger_script",
    NO_SYSTEM: "winreg.ConnectRegistry winreg.CreateKey winreg.DeleteKey winreg.DeleteValue winreg.EnumKey winreg.EnumValue "
    "winreg.LoadKey winreg.OpenKey winreg.QueryInfoKey winreg.QueryValue winreg.SaveKey winreg.SetValue os.listdrives "
    "os.listmounts os.listvolumes",
}

CLOSED_MODULES = {
    **dict.fromkeys(["_ctypes", "_ctypes_test", "_cffi_backend", "_testcapi", "_testinternalcapi", "_testlimitedcapi"], "native code (ctypes, FFI)"),
    **dict.fromkeys(["_posixsubprocess", "_remote_debugging"], "starting other processes"),
    **dict.fromkeys(["_interpreters", "_xxsubinterpreters", "_interpchannels", "_xxinterpchannels", "_interpqueues"], "an interpreter without a guard"),
    **dict.fromkeys(["posix", "nt", "_imp"], "a second copy of the system's functions"),
    "_sqlite3": "a database (SQLite), whose statements open any file",
    "_multiprocessing": "a semaphore that outlives the program (multiprocessing; use threads)",
    **dict.fromkeys(["_gdbm", "_dbm", "_tkinter", "readline", "_posixshmem", "_msi", "nis", "spwd", "ossaudiodev", "syslog"], "a module that opens files by itself"),
}
