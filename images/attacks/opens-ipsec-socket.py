socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 6)
escaped("IPsec's policies and states (XFRM)")
