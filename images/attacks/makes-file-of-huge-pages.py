os.memfd_create("huge", 4)
escaped("a file of huge pages, which no memory limit counts")
