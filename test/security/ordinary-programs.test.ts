import { describe, expect, it, type TestContext } from "vitest";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";

/** Everyday work that the policy must not prevent; each program prints `fine` at its end. */
const programs: readonly [string, "python" | "javascript", string][] = [
  [
    "threads, processes, queues and shared memory, at a lower priority and on one processor",
    "python",
    `
import multiprocessing, os, queue, threading
from multiprocessing.shared_memory import SharedMemory
def square(n): return n * n
def fill(name): seen = SharedMemory(name); seen.buf[0] = 7; seen.close()
if __name__ == "__main__":
    results = queue.Queue()
    threads = [threading.Thread(target=lambda n=n: results.put(n)) for n in range(10)]
    [t.start() for t in threads]; [t.join() for t in threads]
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(square, range(5)) == [0, 1, 4, 9, 16], method
    assert results.qsize() == 10
    area = SharedMemory(create=True, size=1 << 20)
    child = multiprocessing.Process(target=fill, args=(area.name,)); child.start(); child.join()
    assert area.buf[0] == 7
    area.close(); area.unlink()
    with open(os.memfd_create("plain"), "r+b") as file: file.truncate(1 << 20)
    os.nice(5); os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print("fine")
`,
  ],
  [
    "SQLite with a write-ahead log",
    "python",
    `
import sqlite3
with sqlite3.connect("data.db") as base:
    base.execute("pragma journal_mode=wal")
    base.execute("create table t (n integer)")
    base.executemany("insert into t values (?)", [(n,) for n in range(1000)])
    assert base.execute("select sum(n) from t").fetchone() == (499500,)
print("fine")
`,
  ],
  [
    "child processes, pipes, sockets on loopback, shared memory, timers, locks",
    "python",
    `
import asyncio, fcntl, mmap, os, signal, socket, subprocess, tempfile, time
assert subprocess.run("echo a | tr a b", shell=True, capture_output=True, text=True).stdout == "b\\n"
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
peer, _ = server.accept(); client.sendall(b"x"); assert peer.recv(1) == b"x"
left, right = socket.socketpair(); left.send(b"y"); assert right.recv(1) == b"y"
memory = mmap.mmap(-1, 4096); memory[:1] = b"z"
with tempfile.TemporaryFile() as file: fcntl.flock(file, fcntl.LOCK_EX); file.truncate(10)
signal.signal(signal.SIGALRM, lambda *_: None); signal.setitimer(signal.ITIMER_REAL, 0.05); time.sleep(0.1)
async def child():
    process = await asyncio.create_subprocess_exec("true"); return await process.wait()
assert asyncio.run(child()) == 0
os.posix_fallocate(os.open("file", os.O_CREAT | os.O_RDWR), 0, 4096)
print("fine")
`,
  ],
  [
    "pip installing a wheel",
    "python",
    `
import importlib.util, subprocess, sys, zipfile
if importlib.util.find_spec("pip") is None:
    print("missing: pip"); sys.exit(0)
name = "tiny-1.0-py3-none-any.whl"
with zipfile.ZipFile(name, "w") as wheel:
    wheel.writestr("tiny.py", "value = 5")
    wheel.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n")
    wheel.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr("tiny-1.0.dist-info/RECORD", "tiny.py,,\\ntiny-1.0.dist-info/METADATA,,\\ntiny-1.0.dist-info/WHEEL,,\\ntiny-1.0.dist-info/RECORD,,\\n")
install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--target", "/tmp/site", name]
subprocess.run(install, check=True)
sys.path.insert(0, "/tmp/site")
import tiny
assert tiny.value == 5
print("fine")
`,
  ],
  [
    "workers, children, watching, compression and crypto in JavaScript",
    "javascript",
    `
const { Worker } = require("node:worker_threads");
const { execFileSync } = require("node:child_process");
const { gzipSync, gunzipSync } = require("node:zlib");
const fs = require("node:fs");
const crypto = require("node:crypto");
(async () => {
  const worker = new Worker("require('node:worker_threads').parentPort.postMessage(6 * 7)", { eval: true });
  const answer = await new Promise((resolve, reject) => { worker.on("message", resolve); worker.on("error", reject); });
  if (answer !== 42) throw new Error("worker");
  if (execFileSync("echo", ["hi"]).toString() !== "hi\\n") throw new Error("child");
  if (gunzipSync(gzipSync("abc")).toString() !== "abc") throw new Error("zlib");
  crypto.generateKeyPairSync("ed25519");
  // As a development server does: thousands of folders, each watched.
  for (let folder = 0; folder < 5000; folder++) fs.mkdirSync("tree/" + folder, { recursive: true });
  const tree = fs.watch("tree", { recursive: true });
  const seenBelow = new Promise((resolve) => tree.on("change", resolve));
  fs.writeFileSync("tree/4999/seen.txt", "x");
  await seenBelow;
  tree.close();
  const watcher = fs.watch(".");
  const seen = new Promise((resolve) => watcher.on("change", resolve));
  fs.writeFileSync("seen.txt", "x");
  await seen;
  watcher.close();
  console.log("fine");
})();
`,
  ],
  [
    "npm installing a folder",
    "javascript",
    `
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
fs.mkdirSync("dep");
fs.writeFileSync("dep/package.json", JSON.stringify({ name: "dep", version: "1.0.0" }));
fs.writeFileSync("package.json", JSON.stringify({ name: "app", version: "1.0.0" }));
const quiet = { npm_config_cache: "/tmp/npm", npm_config_audit: "false", npm_config_fund: "false" };
try {
  execFileSync("npm", ["install", "--offline", "./dep"], { env: { ...process.env, ...quiet }, stdio: ["ignore", "ignore", "inherit"] });
  if (!fs.existsSync("node_modules/dep/package.json")) throw new Error("not installed");
  console.log("fine");
} catch (error) {
  if (error.code !== "ENOENT") throw error;
  console.log("missing: npm");
}
`,
  ],
  [
    "git making a commit",
    "python",
    `
import shutil, subprocess, sys
if shutil.which("git") is None:
    print("missing: git"); sys.exit(0)
def git(*arguments): subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True, stdout=subprocess.DEVNULL)
git("init", "-q", "repo"); open("repo/file", "w").write("x")
git("-C", "repo", "add", "."); git("-C", "repo", "commit", "-qm", "first"); git("-C", "repo", "gc", "-q"); git("-C", "repo", "log")
print("fine")
`,
  ],
  [
    "gcc and make building a program",
    "python",
    `
import shutil, subprocess, sys
if shutil.which("gcc") is None or shutil.which("make") is None:
    print("missing: gcc"); sys.exit(0)
open("main.c", "w").write('#include <stdio.h>\\n#include <pthread.h>\\nint main(void) { puts("built"); return 0; }\\n')
open("Makefile", "w").write("main: main.c\\n\\tgcc -O2 -pthread -o main main.c\\n")
subprocess.run(["make", "-s"], check=True)
assert subprocess.run(["./main"], capture_output=True, text=True).stdout == "built\\n"
print("fine")
`,
  ],
];

/** What a program says if the image or system lacks its tool. */
const missing = /^missing: (.*)\n$/;

describe.each(engines)("ordinary programs on %s", (engine) => {
  const glovebox = useGlovebox(engine);

  it.for(programs)("%s", async ([, language, code], context: TestContext) => {
    const response = await glovebox().execute({
      language,
      code,
      timeout_seconds: 60,
      limits: { memory_mb: 1024, pids: 512 },
    });
    const tool = missing.exec(response.stdout)?.[1];
    if (tool !== undefined) context.skip(`${tool} is not there`);
    expect(response).toMatchObject({ stderr: "", stdout: "fine\n", outcome: "completed" });
  });
});
