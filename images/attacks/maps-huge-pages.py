libc.mmap.restype = ctypes.c_void_p
# PROT_READ; MAP_PRIVATE, MAP_ANONYMOUS, MAP_NORESERVE and MAP_HUGETLB, of the default size and of 2 MiB.
for flags in (0x44022, 0x44022 | 21 << 26):
    ctypes.set_errno(0)
    area = libc.mmap(None, ctypes.c_size_t(2 << 20), 1, flags, -1, ctypes.c_long(0))
    if area != ctypes.c_void_p(-1).value:
        escaped("huge pages, which no memory limit counts")
raise OSError(ctypes.get_errno(), "mmap")
