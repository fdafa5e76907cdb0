opened = []
# Not that of routes, and not what has an attack of its own.
for protocol in set(range(1, 32)) - {4, 6, 9, 15}:
    for kind in (socket.SOCK_RAW, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC):
        try:
            socket.socket(socket.AF_NETLINK, kind, protocol).close()
        except OSError:
            continue
        opened.append(protocol)
        break
escaped(f"netlink {opened}") if opened else blocked("each of them")
