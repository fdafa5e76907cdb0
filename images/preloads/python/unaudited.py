"""Closes what raises no audit events. Part of the guard of isolation level `preload`: see start.py."""


def unaudited(refuse, refuse_import, plain, system, windows):
    closed_modules = CLOSED_MODULES

    def closed(name, reason):
        def refused(*_args, **_options):
            refuse(*reason)

        refused.__name__ = refused.__qualname__ = name
        return refused

    def close(modules, reason, names):
        for name in names.split():
            for module in modules:
                if hasattr(module, name):
                    setattr(module, name, closed(name, reason))

    def close_the_unaudited(check_thread):
        import _imp
        import _thread
        import os
        import sys

        close([os, system], NO_SYSTEM, "chroot mkfifo mknod mkfifoat setns unshare")
        close([os, system], NO_SIGNAL, "pidfd_open setpriority sched_setaffinity sched_setscheduler sched_setparam")
        if not windows:
            import _posixsubprocess

            close([_posixsubprocess], NO_PROCESS, "fork_exec")
        if sys.version_info < (3, 12):
            start = _thread.start_new_thread

            def start_new_thread(*values):
                check_thread()
                return start(*values)

            _thread.start_new_thread = _thread.start_new = start_new_thread
        create = _imp.create_builtin

        def create_builtin(spec):
            name = plain(spec.name) or ""
            if name in closed_modules:
                refuse_import(name, closed_modules[name])
            return create(spec)

        _imp.create_builtin = create_builtin

    return close_the_unaudited
