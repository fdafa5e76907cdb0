opened = []
# UDP-Lite, UDP-Lite by IPv6, MPTCP, SMC, L2TP, SCTP, DCCP.
for family, kind, protocol in (
    (socket.AF_INET, socket.SOCK_DGRAM, 136), (socket.AF_INET6, socket.SOCK_DGRAM, 136),
    (socket.AF_INET, socket.SOCK_STREAM, 262), (socket.AF_INET, socket.SOCK_STREAM, 256),
    (socket.AF_INET, socket.SOCK_DGRAM, 115), (socket.AF_INET, socket.SOCK_SEQPACKET, 132), (socket.AF_INET, 6, 33),
):
    try:
        socket.socket(family, kind, protocol).close()
    except OSError:
        continue
    opened.append(protocol)
escaped(f"protocols {opened}") if opened else blocked("each of them")
