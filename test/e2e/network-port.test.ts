import { execFileSync } from "node:child_process";
import { afterAll, describe, expect, it } from "vitest";
import type { ExecuteRequest, ExecuteResponse, Glovebox } from "../helpers/wire-glovebox.ts";
import { getProgram, openNetworkScene } from "../helpers/network-scene.ts";
import { places, useGlovebox } from "../helpers/open-glovebox.ts";

const scene = await openNetworkScene();
const { webAt, settings } = scene;
afterAll(() => scene[Symbol.dispose]());

/** The proxy process that this test's process started. */
function proxyProcess(): number {
  const children = execFileSync("ps", ["-ww", "--ppid", String(process.pid), "-o", "pid=,args="], { encoding: "utf8" });
  const line = children.split("\n").find((each) => each.includes("proxy-main"));
  return Number(line?.trim().split(/\s+/)[0]);
}

describe.each(places)("the network's port and the proxy on $name", ({ engine, runtime }) => {
  const glovebox = useGlovebox(engine, { settings }, runtime);
  const run = (
    request: Partial<ExecuteRequest> & { readonly code: string },
    options?: Parameters<Glovebox["execute"]>[1],
  ): Promise<ExecuteResponse> =>
    glovebox().execute({ language: "python", timeout_seconds: 60, ...runtime, ...request }, options);

  const attack = `
import os, socket, urllib.request
def fails(action, *arguments):
    try: action(*arguments)
    except OSError as error: return type(error).__name__
for entry in os.listdir("/proc"):
    if not entry.isdigit() or int(entry) in (1, os.getpid()): continue
    if b"3128" not in open(f"/proc/{entry}/cmdline", "rb").read(): continue
    print("a process of the network", entry)
certificates = os.environ["SSL_CERT_FILE"]
print(fails(open, certificates, "w"), fails(os.remove, certificates))
thief = socket.socket()
for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT): thief.setsockopt(socket.SOL_SOCKET, option, 1)
print(fails(thief.bind, ("127.0.0.1", 3128)) or fails(thief.listen))
thief.close()
print(urllib.request.urlopen("http://${webAt}/", timeout=10).read().decode())
`;
  it("has no process inside, and gives no program its port or its certificates", async () => {
    const response = await run({ code: attack, network: [webAt] });
    expect(response.stderr).toBe("");
    expect(response.stdout).toBe(`PermissionError PermissionError\nOSError\nhello from ${webAt}\n`);
  });

  it("fails a run clearly whose proxy is killed, and nothing else", async () => {
    const code = `
import sys, time, urllib.request
url = "http://${webAt}/"
urllib.request.urlopen(url, timeout=10).read()
print("ready", flush=True)
sys.stdin.read()
urllib.request.urlopen(url, timeout=10)
`;
    const killed = Promise.withResolvers<void>();
    let wasKilled = false;
    async function* stdin(): AsyncGenerator<Uint8Array> {
      await killed.promise;
      yield Buffer.from("go");
    }
    const without = run({ code: "import time\ntime.sleep(2)\nprint('undisturbed')" });
    const failing = await run(
      { code, network: [webAt] },
      {
        stdin: stdin(),
        onEvent: (event) => {
          if (event.type !== "output" || wasKilled) return;
          wasKilled = true;
          process.kill(proxyProcess(), "SIGKILL");
          killed.resolve();
        },
      },
    );
    expect(failing).toMatchObject({
      outcome: "failed",
      error: { error_type: "NETWORK_ERROR", context: { reason: "egress_proxy_failed", retryable: true } },
    });
    expect(await without).toMatchObject({ outcome: "completed", stdout: "undisturbed\n" });
    expect(await run({ code: getProgram, args: [`http://${webAt}/`], network: [webAt] })).toMatchObject({
      outcome: "completed",
    });
  });
});
