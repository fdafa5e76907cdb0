call("io_setup", 64, ctypes.byref(ctypes.c_ulong(0)))
escaped("some of the contexts that the machine has for everybody")
