"""What a program may ask of its open files. Part of the guard of isolation level `preload`: see start.py."""


def descriptor_checks(refuse, platform):
    """Allows only what is known to be harmless: other calls make the system send signals to any process of the same user."""
    get_type, Number = type, int
    no_call, set_flags = NO_DESCRIPTOR_CALL, 4
    linux, mac = platform.startswith("linux"), platform == "darwin"
    asynchronous = 0x40 if mac else 0o20000
    # Duplicates and flags; then locks, sizes of pipes, seals and who would be notified.
    commands = frozenset([0, 1, 2, 3, set_flags])
    if linux:
        commands |= frozenset([5, 6, 7, 9, 11, 16, 36, 37, 38, 1025, 1030, 1031, 1032, 1033, 1034])
    if mac:
        commands |= frozenset([5, 7, 8, 9, 48, 50, 51, 67])
    # TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, FICLONE; on macOS without the first and the last.
    requests = frozenset([0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x40049409] if linux else [])
    if mac:
        requests = frozenset([0x40087468, 0x4004667F, 0x8004667E, 0x20006602, 0x20006601])

    def check_command(_descriptor, command, value=None, *_):
        if command not in commands:
            refuse(*no_call)
        if command == set_flags and value is not None and (get_type(value) is not Number or value & asynchronous):
            refuse(*no_call)

    def check_request(_descriptor, request, *_):
        if request & 0xFFFFFFFF not in requests:
            refuse(*no_call)

    return {"fcntl.fcntl": check_command, "fcntl.ioctl": check_request}
