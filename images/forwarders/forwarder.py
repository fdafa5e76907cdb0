"""The sandbox's end of its network: carries connections on loopback over standard input and output.

Outwards it listens on 127.0.0.1 at the port in the first argument (0: it does not listen); Glovebox's egress proxy at the
other end of standard output alone decides what can be reached; nothing here is trusted. Inwards it connects to the port
that an open frame names, and answers open or reset.
Input begins with a length (4 bytes, big-endian) and a file of certificates, saved at the path in the second argument;
then both directions carry frames: type (1 byte), connection (4), length (4), payload. Types: 0 hello, 1 open, 2 data,
3 end, 4 reset, 5 credit. Works with Python 3.8 and later.
"""

import errno
import os
import selectors
import socket
import struct
import sys

HELLO, OPEN, DATA, END, RESET, CREDIT = range(6)
FIRST_CREDIT = 262144
CREDIT_PORTION = 65536
PIECE = 32768
MOST_CONNECTIONS = 64
HEADER = struct.Struct(">BII")


class Connection:
    def __init__(self, number, stream):
        self.number = number
        self.stream = stream
        self.credit = FIRST_CREDIT
        self.unread = bytearray()
        self.consumed = 0
        self.ended_here = False
        self.ended_there = False
        self.shut = False


class Attempt:
    def __init__(self, number, port, stream, families):
        self.number = number
        self.port = port
        self.stream = stream
        self.families = families


class Forwarder:
    def __init__(self, port):
        self.selector = selectors.DefaultSelector()
        self.listener = None
        self.connections = {}
        self.newest = 0
        self.input = bytearray()
        os.set_blocking(0, False)
        self.selector.register(0, selectors.EVENT_READ)
        if port != 0:
            self.listener = socket.socket()
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.listener.bind(("127.0.0.1", port))
            self.listener.listen(256)
            self.listener.setblocking(False)
            self.selector.register(self.listener, selectors.EVENT_READ)
        self.send(HELLO, 0)

    def send(self, kind, number, payload=b""):
        # Standard output blocks: that holds all connections up when the channel is full.
        frame = HEADER.pack(kind, number, len(payload)) + payload
        while frame:
            try:
                frame = frame[os.write(1, frame) :]
            except BlockingIOError:
                with selectors.DefaultSelector() as waiting:
                    waiting.register(1, selectors.EVENT_WRITE)
                    waiting.select()

    def run(self):
        while True:
            for key, events in self.selector.select():
                if key.fileobj == 0:
                    if not self.read_input():
                        return
                elif key.fileobj is self.listener:
                    self.accept()
                elif isinstance(key.data, Attempt):
                    if self.connections.get(key.data.number) is key.data:
                        self.finish_dialling(key.data)
                else:
                    connection = key.data
                    if events & selectors.EVENT_WRITE:
                        self.flush(connection)
                    if events & selectors.EVENT_READ and connection.number in self.connections:
                        self.read(connection)

    def accept(self):
        try:
            stream, _ = self.listener.accept()
        except OSError:
            return
        self.newest += 1
        self.begin(self.newest, stream)
        if len(self.connections) >= MOST_CONNECTIONS:
            self.selector.unregister(self.listener)

    def begin(self, number, stream):
        stream.setblocking(False)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(number, stream)
        self.connections[number] = connection
        self.send(OPEN, number)
        self.watch(connection)

    def dial(self, number, port, families=(socket.AF_INET, socket.AF_INET6)):
        """Servers that listen on `localhost` may be at either address."""
        for index, family in enumerate(families):
            try:
                stream = socket.socket(family)
            except OSError:
                continue
            stream.setblocking(False)
            failure = stream.connect_ex(("127.0.0.1" if family == socket.AF_INET else "::1", port))
            if failure in (0, errno.EINPROGRESS):
                attempt = Attempt(number, port, stream, families[index + 1 :])
                self.connections[number] = attempt
                self.selector.register(stream, selectors.EVENT_WRITE, attempt)
                return
            stream.close()
        self.send(RESET, number)

    def finish_dialling(self, attempt):
        self.selector.unregister(attempt.stream)
        del self.connections[attempt.number]
        failure = attempt.stream.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if failure == 0 and not connects_to_itself(attempt.stream):
            self.begin(attempt.number, attempt.stream)
        else:
            attempt.stream.close()
            self.dial(attempt.number, attempt.port, attempt.families)

    def watch(self, connection):
        events = 0
        if connection.credit > 0 and not connection.ended_here:
            events |= selectors.EVENT_READ
        if connection.unread:
            events |= selectors.EVENT_WRITE
        known = connection.stream in self.selector.get_map()
        if events == 0:
            if known:
                self.selector.unregister(connection.stream)
        elif known:
            self.selector.modify(connection.stream, events, connection)
        else:
            self.selector.register(connection.stream, events, connection)

    def read(self, connection):
        try:
            piece = connection.stream.recv(min(PIECE, connection.credit))
        except BlockingIOError:
            return
        except OSError:
            self.send(RESET, connection.number)
            return self.close(connection)
        if piece:
            connection.credit -= len(piece)
            self.send(DATA, connection.number, piece)
        else:
            connection.ended_here = True
            self.send(END, connection.number)
        self.settle(connection)

    def flush(self, connection):
        try:
            count = connection.stream.send(connection.unread)
        except BlockingIOError:
            return
        except OSError:
            self.send(RESET, connection.number)
            return self.close(connection)
        del connection.unread[:count]
        connection.consumed += count
        if connection.consumed >= CREDIT_PORTION and not connection.ended_there:
            self.send(CREDIT, connection.number, struct.pack(">I", connection.consumed))
            connection.consumed = 0
        self.settle(connection)

    def settle(self, connection):
        if connection.ended_there and not connection.unread and not connection.shut:
            connection.shut = True
            try:
                connection.stream.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # It is gone; reading will notice.
        if connection.shut and connection.ended_here:
            self.close(connection)
        else:
            self.watch(connection)

    def close(self, connection):
        if self.connections.pop(connection.number, None) is None:
            return
        if connection.stream in self.selector.get_map():
            self.selector.unregister(connection.stream)
        connection.stream.close()
        if self.listener is not None and self.listener not in self.selector.get_map():
            self.selector.register(self.listener, selectors.EVENT_READ)

    def read_input(self):
        try:
            piece = os.read(0, 262144)
        except BlockingIOError:
            return True
        self.input += piece
        while len(self.input) >= HEADER.size:
            kind, number, size = HEADER.unpack_from(self.input)
            if len(self.input) < HEADER.size + size:
                break
            payload = bytes(self.input[HEADER.size : HEADER.size + size])
            del self.input[: HEADER.size + size]
            connection = self.connections.get(number)
            if kind == OPEN:
                self.dial(number, *struct.unpack(">H", payload))
            elif isinstance(connection, Attempt):
                # Only a reset comes before the answer.
                self.close(connection)
            elif connection is not None:
                self.receive(connection, kind, payload)
        return bool(piece)

    def receive(self, connection, kind, payload):
        if kind == DATA:
            connection.unread += payload
            self.flush(connection)
        elif kind == END:
            connection.ended_there = True
            self.settle(connection)
        elif kind == RESET:
            connection.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close(connection)
        elif kind == CREDIT:
            connection.credit += struct.unpack(">I", payload)[0]
            self.settle(connection)


def connects_to_itself(stream):
    """A connection to a free port may come from that very port: the kernel then joins its two ends."""
    try:
        return stream.getsockname()[:2] == stream.getpeername()[:2]
    except OSError:
        return False  # The server has already closed it; reading will notice.


def read_exactly(size):
    data = b""
    while len(data) < size:
        piece = os.read(0, size - len(data))
        if not piece:
            sys.exit(0)
        data += piece
    return data


def main():
    port, path = int(sys.argv[1]), sys.argv[2]
    (size,) = struct.unpack(">I", read_exactly(4))
    certificates = read_exactly(size)
    try:
        os.unlink(path)  # The file of the previous run, if the sandbox had one.
    except FileNotFoundError:
        pass
    if certificates:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444)
        with os.fdopen(descriptor, "wb") as file:
            file.write(certificates)
    Forwarder(port).run()


main()
