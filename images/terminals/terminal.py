# Gives a program a terminal. Arguments: rows, columns, the command.
# Standard input carries frames (src/base/mux/frames.ts): connection 0 is typed into the terminal, connection 1 is its size,
# as two numbers of two bytes. What the program writes goes to standard output. The exit code is the program's.
import errno
import fcntl
import os
import select
import signal
import struct
import sys
import termios

HEADER = struct.Struct(">BII")
MOST_WAITING = 65536


def set_size(terminal, rows, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def become(command, slave):
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for descriptor in (0, 1, 2):
        os.dup2(slave, descriptor)
    if slave > 2:
        os.close(slave)
    # Python ignores them, and ignored signals are inherited.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, ("%s: %s\r\n" % (command[0], error.strerror)).encode())
        os._exit(127 if error.errno == errno.ENOENT else 126)


def write_all(descriptor, data):
    while data:
        data = data[os.write(descriptor, data):]


def read_some(terminal):
    """Empty when no program has the terminal any more, None when there is no output yet."""
    try:
        return os.read(terminal, MOST_WAITING)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def take_frames(held, terminal, typed):
    while len(held) >= HEADER.size:
        _, connection, length = HEADER.unpack_from(held)
        end = HEADER.size + length
        if len(held) < end:
            break
        payload = bytes(held[HEADER.size:end])
        del held[:end]
        if connection == 0:
            typed.extend(payload)
        elif length == 4:
            set_size(terminal, *struct.unpack(">HH", payload))


def serve(child, terminal, wake):
    held, typed = bytearray(), bytearray()
    reads = [wake, terminal]
    while True:
        wanted = reads + ([0] if len(typed) < MOST_WAITING else [])
        readable, writable, _ = select.select(wanted, [terminal] if typed else [], [])
        if 0 in readable:
            data = os.read(0, MOST_WAITING)
            if not data:
                return 129
            held.extend(data)
            take_frames(held, terminal, typed)
        if terminal in writable:
            try:
                del typed[:os.write(terminal, bytes(typed[:4096]))]
            except BlockingIOError:
                pass
            except OSError:
                typed.clear()
        if terminal in readable:
            data = read_some(terminal)
            if data:
                write_all(1, data)
            elif data is not None:
                reads = [wake]
        if wake in readable:
            os.read(wake, 64)
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                data = read_some(terminal)
                while data:
                    write_all(1, data)
                    data = read_some(terminal)
                return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def main():
    rows, columns, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    terminal, slave = os.openpty()
    set_size(terminal, rows, columns)
    wake, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    child = os.fork()
    if child == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        become(command, slave)
    os.close(slave)
    os.set_blocking(terminal, False)
    # Not through sys.exit: Python has nothing left to clean up.
    os._exit(serve(child, terminal, wake))


main()
