"""What a refused program is told. Part of the guard of isolation level `preload`: see start.py."""


def refusals():
    Refusal, ImportRefusal = PermissionError, ImportError
    level = "at isolation level preload"

    def refuse(what, instead, path=None):
        message = "glovebox: %s %s; %s" % (what, level, instead)
        raise Refusal(13, message) if path is None else Refusal(13, message, path)

    def refuse_import(name, what):
        raise ImportRefusal("glovebox: %s is not available %s (module %s)" % (what, level, name), name=name)

    return refuse, refuse_import, level


NO_NETWORK = ("network is not available to a program", "give it its data as context files or standard input")
NO_PROCESS = ("starting other processes is not allowed to a program", "do the work in the program itself")
NO_SIGNAL = ("signals to other processes are not allowed to a program", "signal only os.getpid()")
NO_NATIVE = ("native code (ctypes, FFI) is not available to a program", "use Python alone")
NO_DESCRIPTOR_CALL = ("this fcntl or ioctl call is not allowed to a program", "read, write and lock files only")
NO_TAMPERING = ("looking into the interpreter's own state is not allowed to a program", "leave it out")
NO_SYSTEM = ("changing the system's settings is not allowed to a program", "leave it out")
