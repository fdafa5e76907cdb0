# TCP_MD5SIG: a peer's address in 128 bytes, and a key in 80 after its length.
peer = struct.pack("=HH4s120x", socket.AF_INET, 0, socket.inet_aton("10.0.0.1"))
key = struct.pack("=BBHi80s", 0, 0, 3, 0, b"key")
socket.socket().setsockopt(socket.IPPROTO_TCP, 14, peer + key)
escaped("a key")
