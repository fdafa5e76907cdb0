listener = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15)
listener.bind((0, 1))
escaped("what happens to devices")
