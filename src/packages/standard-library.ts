/**
 * Public modules of Python 3.9 to 3.14, all systems together: `sys.stdlib_module_names` of 3.10 to 3.13, the files of
 * 3.9's library, and `Python/stdlib_module_names.h` of 3.14. Names with an underscore in front need no place here: no
 * distribution is called so.
 */
const current = `
abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii
binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys
compileall compression concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses
datetime dbm decimal difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp
fileinput fnmatch formatter fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip
hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3
linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing
netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev parser pathlib pdb pickle
pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr
pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select
selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile
sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau symbol symtable sys sysconfig
syslog tabnanny tarfile telnetlib tempfile termios test textwrap this threading time timeit tkinter token tokenize
tomllib trace traceback tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib uu uuid venv
warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc xxlimited xxsubtype zipapp zipfile zipimport
zlib zoneinfo
`;

/** Modules of Python 2.7, which programs still import as a fallback; what the index holds under these names is not them. */
const former = `
BaseHTTPServer CGIHTTPServer ConfigParser Cookie DocXMLRPCServer HTMLParser Queue SimpleHTTPServer SimpleXMLRPCServer
SocketServer StringIO Tix Tkinter UserDict UserList UserString anydbm cPickle cStringIO commands compiler cookielib
copy_reg dummy_thread dummy_threading exceptions future_builtins htmlentitydefs httplib macpath
mimetools popen2 rfc822 robotparser sets sgmllib sha thread tkFileDialog tkFont tkMessageBox tkSimpleDialog ttk urllib2
urlparse whichdb xmlrpclib
`;

/** Top-level modules that need no installation. */
export const standardLibrary: ReadonlySet<string> = new Set(`${current}${former}`.trim().split(/\s+/));
