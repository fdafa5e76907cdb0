# Every second byte, so that none can be joined to the next.
with open(scratch_file(), "r+b") as file:
    for place in range(2000):
        fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * place)
    escaped("2000 locks in memory that no group counts")
