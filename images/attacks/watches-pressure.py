watch = os.open("/proc/pressure/memory", os.O_RDWR)
os.write(watch, b"some 150000 2000000\0")
escaped("a watch")
