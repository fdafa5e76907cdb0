import { readdirSync, readlinkSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { failureOf } from "../helpers/failure-of.ts";
import { getProgram, openNetworkScene } from "../helpers/network-scene.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages } from "../helpers/test-images.ts";

const scene = await openNetworkScene();
const { webAt } = scene;
afterAll(() => scene[Symbol.dispose]());

/** Processes of this machine in a network namespace (`net:[NUMBER]`), and descriptors of this process that hold it. */
function holdersOf(namespace: string): readonly string[] {
  const links = [
    ...readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((id) => `/proc/${id}/ns/net`),
    ...readdirSync("/proc/self/fd").map((descriptor) => `/proc/self/fd/${descriptor}`),
  ];
  return links.filter((link) => {
    try {
      return readlinkSync(link) === namespace;
    } catch {
      return false;
    }
  });
}

/** Prints its network namespace, and hands it and a listening socket to any program that asks at an abstract socket. */
const hands = `
import array, os, socket
namespace = os.open("/proc/self/ns/net", os.O_RDONLY)
server = socket.create_server(("127.0.0.1", 8000))
meeting = socket.socket(socket.AF_UNIX)
meeting.bind("\\0meeting")
meeting.listen()
print(os.readlink("/proc/self/ns/net"), flush=True)
while True:
    meeting.accept()[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [namespace, server.fileno()]))])
`;

/** Receives both and keeps them. */
const keeps = `
import array, os, signal, socket, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(number, signal.SIG_IGN)
giver = socket.socket(socket.AF_UNIX)
giver.connect("\\0meeting")
taken = giver.recvmsg(1, 100)[1]
print("kept", len(taken[0][2]) // 4, flush=True)
time.sleep(1000)
`;

/** Tries each way into the network of another session. */
const joins = `
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def said(result): return "joined" if result == 0 else os.strerror(ctypes.get_errno())
print(said(libc.setns(os.open("/proc/self/ns/net", os.O_RDONLY), 0x40000000)))
print(said(libc.unshare(0x40000000)))
for family, address in ((socket.AF_INET, ("127.0.0.1", 8000)), (socket.AF_INET6, ("::1", 8000)), (socket.AF_UNIX, "\\0meeting")):
    try: socket.socket(family).connect(address); print("reached")
    except OSError as error: print(error.strerror)
`;

/** Listens at the network's port. */
const listens = `
import socket
socket.create_server(("127.0.0.1", 3128))
print("listens", flush=True)
import time; time.sleep(1000)
`;

describe("attacks on the network of a session on local", () => {
  const settings = { ...scene.settings, images: sessionImages };
  const glovebox = useGlovebox("local", { settings });
  const other = useGlovebox("local", { settings });
  const start = (program: string) => glovebox().processes.start({ command: ["python3", "-c", program] });
  const said = async (id: string): Promise<string | undefined> =>
    (await glovebox().processes.list({ process_id: id })).processes[0]?.stdout?.text;

  it("is not kept by its programs, nor reached from another session", async () => {
    const first = await start(hands);
    await expect.poll(() => said(first.process_id)).toMatch(/^net:\[\d+\]\n$/);
    const namespace = (await said(first.process_id))?.trim() ?? "";
    const second = await start(keeps);
    await expect.poll(() => said(second.process_id)).toBe("kept 2\n");
    expect(holdersOf(namespace).filter((link) => link.endsWith("/ns/net"))).not.toEqual([]);
    const { stdout, stderr } = await other().runCode({ language: "python", code: joins, packages: [] });
    expect(stderr).toBe("");
    const denied = "Operation not permitted\n";
    expect(stdout).toBe(`${denied}${denied}${"Connection refused\n".repeat(3)}`);
    await glovebox().endSession();
    expect(holdersOf(namespace)).toEqual([]);
  });

  it("gives no way out to a program that listens in the network's place, and no other session notices", async () => {
    const thief = await start(listens);
    await expect.poll(() => said(thief.process_id)).toBe("listens\n");
    const call = {
      language: "python" as const,
      code: getProgram,
      args: [`http://${webAt}/`],
      packages: [],
      network: [webAt],
    };
    const refused = await failureOf(glovebox().runCode(call), "POLICY_DENIED");
    expect(refused.context).toMatchObject({ rule: "one-network" });
    const reached = { outcome: "completed", stdout: `hello from ${webAt}\n` };
    expect(await other().runCode(call)).toMatchObject(reached);
    await glovebox().processes.stop({ process_id: thief.process_id });
    expect(await glovebox().runCode(call)).toMatchObject(reached);
  });
});
