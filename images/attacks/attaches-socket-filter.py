# SO_ATTACH_FILTER with one instruction that lets everything pass.
code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0xFFFF))
program = struct.pack("HxxxxxxQ", 1, ctypes.addressof(code))
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).setsockopt(socket.SOL_SOCKET, 26, program)
escaped("code in the kernel, in memory that all filters share")
