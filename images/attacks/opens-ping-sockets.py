opened = []
for family, protocol in ((socket.AF_INET, 1), (socket.AF_INET6, 58)):
    try:
        socket.socket(family, socket.SOCK_DGRAM, protocol).close()
    except OSError:
        continue
    opened.append(protocol)
escaped(f"protocols {opened}") if opened else blocked("both of them")
