# SO_ATTACH_REUSEPORT_CBPF with one instruction that chooses the first socket.
code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))
program = struct.pack("HxxxxxxQ", 1, ctypes.addressof(code))
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
server.bind(("127.0.0.1", 0))
server.setsockopt(socket.SOL_SOCKET, 51, program)
escaped("code in the kernel, in memory that all filters share")
