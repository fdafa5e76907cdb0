# IPC_CREAT and SHM_HUGETLB with SHM_NORESERVE.
identifier = call("shmget", 0, 2 << 20, 0o600 | 0o1000 | 0o4000 | 0o10000)
libc.shmctl(identifier, 0, None)
escaped("huge pages, which no memory limit counts")
