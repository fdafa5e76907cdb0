import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import {
  createGlovebox,
  type ExecuteRequest,
  type ExecuteResponse,
  type Glovebox,
  type OperationEvent,
} from "../helpers/wire-glovebox.ts";
import { getProgram, openNetworkScene, tlsProgram } from "../helpers/network-scene.ts";
import { places, useGlovebox } from "../helpers/open-glovebox.ts";

const scene = await openNetworkScene();
const { web, tls, webAt, settings } = scene;
afterAll(() => scene[Symbol.dispose]());

describe.each(places)("network on $name", ({ engine, runtime }) => {
  const glovebox = useGlovebox(engine, { settings }, runtime);
  afterEach(() => {
    web.forget();
    tls.forget();
  });
  const run = (
    request: Partial<ExecuteRequest> & { readonly code: string },
    options?: Parameters<Glovebox["execute"]>[1],
  ): Promise<ExecuteResponse> =>
    glovebox().execute({ language: "python", timeout_seconds: 60, ...runtime, ...request }, options);

  it("reaches a listed name over HTTP, from each language", async () => {
    const url = `http://${webAt}/`;
    const python = await run({ code: getProgram, args: [url], network: [webAt] });
    expect(python.stderr).toBe("");
    expect(python).toMatchObject({ outcome: "completed", stdout: `hello from ${webAt}\n` });
    expect(python.warnings.join()).not.toContain("refused");
    const javascript = await run({
      language: "javascript",
      code: "console.log(await (await fetch(process.argv[2])).text())",
      args: [url],
      network: [webAt],
    });
    expect(javascript.stderr).toBe("");
    expect(javascript.stdout).toBe(`hello from ${webAt}\n`);
    // With a way out, none of a program's processes is alive when the answer is sent.
    const there = (await glovebox().sandboxes({ engine })).map(({ sandbox_id }) => sandbox_id);
    expect(there).not.toContain(javascript.sandbox_id);
  });

  it("carries bodies both ways, and several connections at once", async () => {
    const code = `
import concurrent.futures, hashlib, sys, urllib.request
body = bytes(range(256)) * 2048
def send(index):
    return hashlib.sha256(urllib.request.urlopen(sys.argv[1] + "/echo", data=body, timeout=60).read()).hexdigest()
with concurrent.futures.ThreadPoolExecutor(20) as pool:
    print(set(pool.map(send, range(40))) == {hashlib.sha256(body).hexdigest()})
`;
    const response = await run({ code, args: [`http://${webAt}`], network: [webAt], limits: { memory_mb: 1024 } });
    expect(response.stderr).toBe("");
    expect(response.stdout).toBe("True\n");
  });

  it("lets TLS through whose hello names what was asked for, and nothing else", async () => {
    const network = [`tls.test:${tls.port}`];
    const speak = (said: string): Promise<ExecuteResponse> =>
      run({ code: tlsProgram, args: ["tls.test", String(tls.port), said], network });
    expect(await speak("tls.test")).toMatchObject({
      outcome: "completed",
      stdout: "HTTP/1.1 200 Connection Established\nhello over TLS\n",
    });
    for (const said of ["other.test", ""]) {
      const refused = await speak(said);
      expect(refused).toMatchObject({
        outcome: "policy_denied",
        error: { error_type: "NETWORK_ERROR", context: { denials: [{ rule: "server_name" }] } },
      });
      expect(refused.stderr).toMatch(/unrecognized name/i);
    }
    expect(tls.requests.length).toBe(1);
  });

  it("explains a refusal inside, as an event, and in the result", async () => {
    const events: OperationEvent[] = [];
    const code = `
import sys, urllib.request, urllib.error
try: urllib.request.urlopen("http://refused.test/x", timeout=10)
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
    sys.exit(7)
`;
    const response = await run({ code, network: ["web.test"] }, { onEvent: (event) => void events.push(event) });
    expect(response.stdout).toBe(
      "403 Glovebox refused the connection to refused.test:80.\nRule: not_allowed. The run's network policy allows only the listed domains, and refused.test is not one of them.\nThe program chose this host: if you trust it, add \"refused.test\" to the run's network.\n\n",
    );
    expect(response).toMatchObject({
      outcome: "policy_denied",
      exit_code: 7,
      error: {
        error_type: "NETWORK_ERROR",
        suggestion: 'The program chose this host: if you trust it, add "refused.test" to the run\'s network.',
        context: { denial_count: 1, denials: [{ target: "refused.test:80", rule: "not_allowed" }] },
      },
    });
    expect(events).toContainEqual({
      type: "denied",
      denial: expect.objectContaining({ target: "refused.test:80", rule: "not_allowed" }),
    });
  });

  it("does not fail a program that continues after a refusal, and says so", async () => {
    const code = `import urllib.request\ntry: urllib.request.urlopen("http://refused.test/", timeout=10)\nexcept OSError: print("went on")`;
    const response = await run({ code, network: ["web.test"] });
    expect(response).toMatchObject({ outcome: "completed", stdout: "went on\n" });
    expect(response.error).toBeUndefined();
    expect(response.warnings.join()).toContain("refused.test:80 (not_allowed)");
  });

  it("takes names in any case", async () => {
    const response = await run({
      code: getProgram,
      args: [`http://WEB.Test:${web.port}/`],
      network: [`wEb.test:${web.port}`],
    });
    expect(response.stdout).toBe(`hello from ${webAt}\n`);
  });

  it("leaves no other way out: no address, no name, no datagram", async () => {
    const code = `
import socket
def attempt(what, act):
    try: act(); print(what, "REACHED")
    except OSError as error: print(what, "failed")
attempt("host", lambda: socket.create_connection(("127.0.0.1", ${web.port}), 5))
attempt("public", lambda: socket.create_connection(("1.1.1.1", 80), 5))
attempt("public6", lambda: socket.create_connection(("2606:4700::1111", 80), 5))
attempt("name", lambda: socket.getaddrinfo("web.test", 80))
attempt("datagram", lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.53", 53)) and socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("1.1.1.1", 53)))
`;
    const response = await run({ code, network: [webAt] });
    expect(response.stdout).toBe("host failed\npublic failed\npublic6 failed\nname failed\ndatagram failed\n");
  });

  it("has no such port and no variable of the proxy without a policy", async () => {
    const code =
      "import os, socket\nprint([n for n in os.environ if 'proxy' in n.lower()])\nsocket.create_connection(('127.0.0.1', 3128), 5)";
    for (const network of [undefined, "none", []]) {
      const response = await run({ code, network });
      expect(response).toMatchObject({ outcome: "failed", stdout: "[]\n", error: { error_type: "NETWORK_ERROR" } });
    }
  });

  it("keeps the policies of two sandboxes apart", async () => {
    const [one, other] = await Promise.all([
      run({ code: getProgram, args: [`http://${webAt}/`], network: [webAt] }),
      run({ code: getProgram, args: [`http://${webAt}/`], network: ["elsewhere.test"] }),
    ]);
    expect(one).toMatchObject({ outcome: "completed", stdout: `hello from ${webAt}\n` });
    expect(other).toMatchObject({ outcome: "policy_denied" });
  });

  it("ends a run's connections at its byte budget, and counts each sandbox separately", async () => {
    const small = await createGlovebox({
      engine,
      settings: { ...settings, network: { ...settings.network, max_bytes: 300_000 } },
    });
    try {
      const code = `
import sys, urllib.request
for _ in range(2):
    try: print(len(urllib.request.urlopen("http://${webAt}/big", timeout=10).read()))
    except Exception as error: print(type(error).__name__)
sys.exit(3)
`;
      const response = await small.execute({ language: "python", code, network: [webAt], ...runtime });
      expect(response).toMatchObject({
        outcome: "policy_denied",
        error: { context: { denials: [{ rule: "budget" }, { rule: "budget" }] } },
      });
      expect(response.stdout).toMatch(/^(IncompleteRead|ConnectionResetError)\nHTTPError\n$/);
      const next = await small.execute({
        language: "python",
        code: getProgram,
        args: [`http://${webAt}/`],
        network: [webAt],
        ...runtime,
      });
      expect(next.outcome).toBe("completed");
    } finally {
      await small.close();
    }
  });

  it("refuses open unless the deployment allows it", async () => {
    await expect(run({ code: "pass", network: "open" })).rejects.toMatchObject({
      errorType: "POLICY_DENIED",
      context: { setting: "network.allow_open" },
    });
    const open = await createGlovebox({
      engine,
      settings: { ...settings, network: { ...settings.network, allow_open: true } },
    });
    try {
      const response = await open.execute({
        language: "python",
        code: getProgram,
        args: ["http://hidden.test/"],
        network: "open",
        ...runtime,
      });
      expect(response).toMatchObject({ error: { context: { denials: [{ rule: "private_address" }] } } });
    } finally {
      await open.close();
    }
  });
});

it("the channel's socket is of no use without a token", async (context) => {
  const glovebox = await createGlovebox({ engine: "local", settings });
  try {
    const response = await glovebox.execute({ language: "python", code: "pass", network: ["web.test"] });
    if (process.platform !== "linux") context.skip("abstract sockets are Linux's");
    expect(response.outcome).toBe("completed");
    const names = execFileSync("cat", ["/proc/net/unix"], { encoding: "utf8" }).match(/@glovebox-egress-\w+/g) ?? [];
    expect(names.length).toBeGreaterThan(0);
    const socket = connectTcp({ path: `\0${names[0]?.slice(1)}` });
    socket.on("error", () => undefined);
    await once(socket, "connect");
    socket.write("x".repeat(64));
    await once(socket, "close");
  } finally {
    await glovebox.close();
  }
});
