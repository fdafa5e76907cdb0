held = []
try:
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    while len(held) <= 4096:
        held.append(os.open("/dev/null", os.O_RDONLY))
except OSError as refusal:
    blocked(f"{len(held)} files, then {refusal}")
escaped("more than 4096 open files, each of which can be a socket with buffers")
