held, ends = 0, []


def fill(sender, *address):
    global held
    sender.setblocking(False)
    # What does not come to be held, because the receiver's buffer is full, is not counted.
    try:
        while True:
            held += sender.sendto(b"x" * 60000, *address) if address else sender.send(b"x" * 65536)
    except OSError:
        pass


listener = socket.create_server(("127.0.0.1", 0))
for _ in range(parameters.get("connections", 400)):
    sender = socket.socket()
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    sender.connect(listener.getsockname())
    receiver, _ = listener.accept()
    ends.append((sender, receiver))
    fill(sender)
escaped(f"{held >> 20} MB") if held > 200 << 20 else blocked(f"{held >> 20} MB")
