"""Which files a program may use. Part of the guard of isolation level `preload`: see start.py."""


def file_checks(refuse, reader, system, windows, readable, writable):
    import os

    plain, resolve, inside = reader
    has_type = isinstance
    Text, Number, SystemFault = str, int, OSError
    look, follow = system.lstat, system.readlink
    writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    read_modes = frozenset("rbtU")
    devices = frozenset(
        ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/stdin", "/dev/stdout", "/dev/stderr", "NUL", "nul"]
    )

    def shown(path):
        given = plain(path)
        return "that path" if given is None else given

    def check_read(path):
        if has_type(path, Number):
            return
        given = plain(path)
        if given in devices or inside(resolve(path), readable):
            return
        refuse("reading outside its own folders is not allowed to a program", "give it the data as context files", shown(path))

    def check_write(path, last=True):
        if has_type(path, Number):
            path = described(path)
            if path is None:
                return
        if plain(path) in devices or inside(resolve(path, last), writable):
            return
        refuse("writing outside its own folders is not allowed to a program", "write to the working folder or tempfile.gettempdir()", shown(path))

    def described(descriptor):
        """The path behind a descriptor; None for pipes, and if the system does not say."""
        try:
            path = follow("/proc/self/fd/%d" % descriptor)
        except SystemFault:
            return None
        return path if path[:1] == "/" else None

    def check_beside(path, folder, last=False):
        """A path that may be relative to an open folder whose name is unknown: such paths are never outside."""
        if folder is None or folder == -1 or not has_type(folder, Number):
            return check_write(path, last)
        given = plain(path)
        if given is None or given[:1] == "/":
            return check_write(path, last)
        if ".." in given.split("/"):
            refuse("a path with .. beside an open folder is not allowed to a program", "name the file by its path", given)

    def check_open(path, mode, flags):
        if has_type(path, Number):
            return
        given = plain(path)
        if given in devices:
            return
        by_descriptor = mode is None and given is not None and not windows
        if by_descriptor and given[:1] != "/" and ".." in given.split("/"):
            refuse("a relative path with .. is not allowed to a program in os.open", "use open, or the absolute path", given)
        if (has_type(flags, Number) and flags & writes) or (has_type(mode, Text) and not read_modes.issuperset(mode)):
            return check_write(path)
        check_read(path)
        if by_descriptor and not inside(resolve(path), writable):
            try:
                is_folder = look(resolve(path)).st_mode & 0o170000 == 0o040000
            except SystemFault:
                return
            if is_folder:
                refuse("opening a folder outside its own is not allowed to a program", "use os.listdir", given)

    def check_link(target, path, folder=-1):
        check_beside(path, folder)
        given = plain(target)
        if given is None:
            refuse("this link is not allowed to a program", "use a plain path")
        is_absolute = given[:1] in "/\\" or given[1:2] == ":"
        if is_absolute and inside(resolve(given), writable):
            return
        # A link that contains .. would lead elsewhere once it is moved.
        if is_absolute or ".." in given.replace("\\", "/").split("/"):
            refuse("a link out of its own folders is not allowed to a program", "copy the file", given)

    return {
        "open": check_open,
        "os.chdir": check_read,
        "os.listdir": lambda path=None, *_: path is None or check_read(path),
        "os.scandir": lambda path=None, *_: path is None or check_read(path),
        "os.getxattr": lambda path, *_: check_read(path),
        "os.listxattr": lambda path, *_: check_read(path),
        "os.setxattr": lambda path, *_: check_write(path),
        "os.removexattr": lambda path, *_: check_write(path),
        "os.truncate": lambda path, *_: check_write(path),
        "os.chflags": lambda path, *_: check_write(path),
        "os.chmod": lambda path, _mode, folder=-1: check_beside(path, folder, True),
        "os.chown": lambda path, _uid, _gid, folder=-1: check_beside(path, folder, True),
        "os.utime": lambda path, _times, _ns, folder=-1: check_beside(path, folder, True),
        "os.mkdir": lambda path, _mode, folder=-1: check_beside(path, folder),
        "os.remove": lambda path, folder=-1: check_beside(path, folder),
        "os.rmdir": lambda path, folder=-1: check_beside(path, folder),
        "os.symlink": check_link,
        "os.link": lambda one, two, a=-1, b=-1: (check_beside(one, a), check_beside(two, b)),
        "os.rename": lambda one, two, a=-1, b=-1: (check_beside(one, a), check_beside(two, b)),
    }
