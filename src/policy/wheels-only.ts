/** What the output of pip has where it would have started a process, which is how it builds and how it runs git. */
export const wheelsOnlyMark = "glovebox: only wheels are installed";

/**
 * Python's text that is pip without processes; its arguments are pip's. pip builds what a package names by an address, whatever
 * it is told of wheels (`--only-binary`), and a build is code of that package. Everything that is not a wheel, of any
 * version of pip, takes a process: its build backend, its `setup.py`, git. So none is started; that needs no name of pip's inside.
 * Processes that pip itself likes to have (`lsb_release`, `rustc --version`) are not needed: it goes on without them. On musl
 * it asks the loader for its version, which is the one process that it gets. An interpreter without audit hooks, or whose
 * hooks do nothing, installs nothing.
 */
export const wheelsOnlyPip = `
import os, runpy, sys
os.environ["PIP_CONFIG_FILE"] = os.devnull
starts = {"subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.system", "pty.spawn", "_winapi.CreateProcess"}
def asks_musl(event, values):
    words = values[1] if event == "subprocess.Popen" else None
    return isinstance(words, list) and len(words) == 1 and str(words[0]).startswith("/lib/ld-musl-")
def refuse(event, values):
    if event in starts and not asks_musl(event, values):
        raise OSError("${wheelsOnlyMark}, and this package would have to be built or cloned")
try:
    sys.addaudithook(refuse)
    sys.audit("os.system", b"")
    sys.exit("ERROR: ${wheelsOnlyMark}, and this Python cannot keep pip from building others")
except AttributeError:
    sys.exit("ERROR: ${wheelsOnlyMark}, which takes Python 3.8 or later")
except OSError:
    pass
sys.argv[0] = "pip"
runpy.run_module("pip", run_name="__main__", alter_sys=True)
`;
