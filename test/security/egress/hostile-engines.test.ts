import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { ExecuteResponse } from "../../helpers/wire-glovebox.ts";
import { DnsServer } from "../../helpers/dns-server.ts";
import { getProgram, rawProgram } from "../../helpers/network-scene.ts";
import { places, useGlovebox } from "../../helpers/open-glovebox.ts";
import { testImages } from "../../helpers/test-images.ts";
import { hostileAnswers } from "./hostile-answers.ts";
import { RawServer, sendPieces } from "./raw-server.ts";

const worst = [
  ...["status 099", "status 000", "a control character in the reason", "a DEL in a field", "fields of 1 MB"],
  ...["a length and chunks", "a chunk of a negative size", "a body that is too short", "early hints without end"],
  ...["a switch of protocols", "another protocol", "a length that overflows"],
];
const dns = await DnsServer.start(() => [{ a: "127.0.0.1" }]);
const server = await RawServer.start((head, socket) => {
  const [, number = ""] = /^\S+ \/(\d+)/.exec(head) ?? [];
  const answer = hostileAnswers[worst[Number(number)] ?? ""];
  if (number !== "" && answer !== undefined) return sendPieces(socket, answer.pieces);
  if (!head.includes("/slow")) return void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell");
  socket.write("HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n");
  let sent = 0;
  const more = setInterval(() => (sent++ < 60 ? socket.write(".") : socket.end()), 100);
  socket.once("close", () => clearInterval(more));
});
const at = `web.test:${server.port}`;
afterAll(() => {
  server[Symbol.dispose]();
  dns.close();
});

/** Requests each, several times at once, and prints what came back, one line each. */
const victim = `
import concurrent.futures, sys, urllib.request
def get(number):
    try: return f"{number} {urllib.request.urlopen(f'{sys.argv[1]}/{number}', timeout=20).status}"
    except Exception as error: return f"{number} {getattr(error, 'code', type(error).__name__)}"
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    for line in pool.map(get, [*range(int(sys.argv[2]))] * 3): print(line)
print("after", urllib.request.urlopen(sys.argv[1] + "/well", timeout=20).read().decode())
`;

describe.each(places)("on $name", ({ engine, runtime }) => {
  const settings = { images: testImages, network: { dns_servers: [dns.address], private_hosts: [at] } };
  const glovebox = useGlovebox(engine, { settings }, runtime);
  afterEach(() => server.forget());
  const run = (code: string, ...args: readonly string[]): Promise<ExecuteResponse> =>
    glovebox().execute({ language: "python", code, args: [...args], network: [at], timeout_seconds: 90, ...runtime });

  it("the worst answers of an allowed host harm neither the program that asked nor its neighbour", async () => {
    const [asked, neighbour] = await Promise.all([
      run(victim, `http://${at}`, String(worst.length)),
      run(getProgram, `http://${at}/slow`),
    ]);
    expect(neighbour).toMatchObject({ outcome: "completed", stdout: `${".".repeat(60)}\n` });
    expect(asked).toMatchObject({ outcome: "completed", stderr: "" });
    const lines = asked.stdout.trim().split("\n");
    expect(lines.at(-1)).toBe("after well");
    expect(lines).toHaveLength(3 * worst.length + 1);
    const refusals = new Set(["502", "RemoteDisconnected", "ConnectionResetError"]);
    const unexpected = lines.slice(0, -1).filter((line) => {
      const [number, outcome = ""] = line.split(" ");
      const isWellFormedUpToItsBody = hostileAnswers[worst[Number(number)] ?? ""]?.becomes === "broken";
      return !refusals.has(outcome) && !(isWellFormedUpToItsBody && outcome === "200");
    });
    expect(unexpected).toEqual([]);
  });

  it("a request cannot carry a second one past the check of names", async () => {
    const second = "GET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n";
    const first = `GET http://${at}/ HTTP/1.1\r\nHost: x\r\nConnection: close, content-length\r\nContent-Length: ${second.length}\r\n\r\n`;
    const response = await run(rawProgram, Buffer.from(first + second, "latin1").toString("hex"));
    expect(response.stdout).toMatch(/^HTTP\/1\.1 400 .*names content-length/s);
    expect(Buffer.concat(server.received).toString("latin1")).toBe("");
  });
});
