"""Which file a path means. Part of the guard of isolation level `preload`: see start.py."""


def path_reader(windows, system, separator):
    """Functions that read paths with what is bound here: the program may replace any name in any module later."""
    import sys

    get_type, has_type, length, text_of = type, isinstance, len, str.__str__
    Text, Bytes = str, bytes
    SystemFault, WrongValue = OSError, ValueError
    get_folder, look, follow = system.getcwd, system.lstat, system.readlink
    final_path = getattr(system, "_getfinalpathname", None)
    absolute_path = getattr(system, "_getfullpathname", None)
    encoding = sys.getfilesystemencoding()

    def plain(path):
        """The path as plain text; None for what has no fixed path. Calls no code of the program."""
        kind = get_type(path)
        if has_type(path, Text):
            return path if kind is Text else text_of(path)
        if has_type(path, Bytes):
            return Bytes.decode(path, encoding, "surrogateescape")
        return None

    def absolute(path):
        if windows:
            return absolute_path(path)
        return path if path[:1] == "/" else get_folder() + "/" + path

    def resolve_posix(path, last, budget=40):
        """Follows the links in an absolute path, even if it does not exist; `last`: also that of the last part."""
        done, parts = [], path.split("/")[::-1]
        while parts:
            part = parts.pop()
            if part == "" or part == ".":
                continue
            if part == "..":
                if done:
                    done.pop()
                continue
            done.append(part)
            if not parts and not last:
                break
            here = "/" + "/".join(done)
            try:
                if look(here).st_mode & 0o170000 != 0o120000:
                    continue
                target = follow(here)
            except SystemFault:
                continue
            if budget == 0:
                return None
            budget -= 1
            done.pop()
            if target[:1] == "/":
                done = []
            parts.extend(target.split("/")[::-1])
        return "/" + "/".join(done)

    def resolve_windows(path, last):
        rest = []
        here = path.rstrip("\\/")
        if not last:
            here, _, name = here.rpartition("\\")
            rest.append(name)
        while True:
            try:
                real = final_path(here + ("\\" if here[-1:] == ":" else ""))
                break
            except SystemFault:
                here, _, name = here.rpartition("\\")
                if here == "":
                    return None
                rest.append(name)
        real = real[4:] if real[:4] == "\\\\?\\" else real
        return "\\".join([real.rstrip("\\")] + rest[::-1]).lower()

    def resolve(path, last=True):
        given = plain(path)
        if given is None or "\0" in given:
            return None
        try:
            return (resolve_windows if windows else resolve_posix)(absolute(given), last)
        except (SystemFault, WrongValue):
            return None

    def inside(path, roots):
        if path is None:
            return False
        for root in roots:
            if path == root or path[: length(root) + 1] == root + separator:
                return True
        return False

    return plain, resolve, inside
