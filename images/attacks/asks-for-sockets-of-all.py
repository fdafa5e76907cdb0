socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)
escaped("the kernel's list of sockets (sock_diag)")
