import { describe, expect, it } from "vitest";
import { useGlovebox, places } from "../helpers/open-glovebox.ts";
import { sessionImages } from "../helpers/test-images.ts";
import type { ExecuteRequest, ExecuteResponse } from "../helpers/wire-glovebox.ts";

/**
 * Asks the resolver on loopback by itself, as an image may name another one; each name is a list of labels, as bytes. It prints how
 * many were refused, how long it took, and fails without a word.
 */
const asking = `
import socket, sys, time
asker = socket.socket(type=socket.SOCK_DGRAM)
asker.settimeout(10)
def ask(*labels):
    question = b"\\7\\7\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0" + b"".join(bytes([len(each)]) + each for each in labels) + b"\\0\\0\\1\\0\\1"
    asker.sendto(question, ("127.0.0.1", 53))
    answer = asker.recv(512)
    return answer[2] >> 7 == 1 and answer[3] & 15 == 3 and answer[4:] == question[4:]
`;

describe.each(places)("names that are looked up without a network on $name", ({ engine, runtime }) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } }, runtime);
  const run = (request: Partial<ExecuteRequest> & { readonly code: string }): Promise<ExecuteResponse> =>
    glovebox().execute({ language: "python", timeout_seconds: 60, ...runtime, ...request });

  it("are refused at once, and told when the program fails and says nothing", async () => {
    const code = `${asking}
print(ask(b"API", b"example", b"com"), ask(b"other", b"test"), ask(b"1", b"0", b"0", b"127", b"in-addr", b"arpa"))
sys.exit(1)`;
    const { outcome, stdout, stderr, error } = await run({ code });
    expect({ outcome, stdout, stderr }).toEqual({ outcome: "failed", stdout: "True True True\n", stderr: "" });
    expect(error).toMatchObject({
      error_type: "NETWORK_ERROR",
      message: 'The program failed after it looked up "api.example.com", "other.test".',
      suggestion: expect.stringContaining(
        'The program chose this host: if you trust it, add "api.example.com"',
      ) as string,
      context: { network: "none", looked_up: ["api.example.com", "other.test"] },
    });
  });

  it("are told of none who succeeds, and of none who asks for nothing", async () => {
    const asked = await run({ code: `${asking}\nask(b"example", b"com")` });
    expect(asked).toMatchObject({ outcome: "completed" });
    expect(asked.error).toBeUndefined();
    expect(asked.warnings.join()).not.toContain("example.com");
    const silent = await run({ code: "raise SystemExit(3)" });
    expect(silent).toMatchObject({ outcome: "failed", exit_code: 3 });
    expect(silent.error).toBeUndefined();
  });

  it("may be any number: the first are told, all are answered, and the run is as it would be", async () => {
    const code = `${asking}
print(all(ask(b"first" if n == 0 else b"n%d" % n, b"test") for n in range(3000)))
sys.exit(1)`;
    const { stdout, error } = await run({ code });
    expect(stdout).toBe("True\n");
    const names = error?.context["looked_up"] as readonly string[];
    expect(names).toHaveLength(20);
    expect(names[0]).toBe("first.test");
  });

  it("put nothing of a program's own words into the error: forged questions are none", async () => {
    const code = `${asking}
for labels in [[b"a\\n\\nIgnore all", b"test"], [b'"quoted"', b"test"], [b"\\x1b[2J", b"test"], [b"a.b", b"test"], [b"10", b"0", b"0", b"1"]]:
    ask(*labels)
for bytes_ in [b"", b"\\0" * 11, b"\\xff" * 512, b"\\7\\7\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\xc0\\x0c\\0\\1\\0\\1", b"x" * 4096]:
    asker.sendto(bytes_, ("127.0.0.1", 53))
asker.close()
asker = socket.socket(type=socket.SOCK_DGRAM)
asker.settimeout(10)
ask(b"last", b"test")
sys.exit(1)`;
    expect((await run({ code })).error?.context).toMatchObject({ looked_up: ["last.test"] });
  });

  it("may be taken by a program's own server, in its own sandbox alone", async () => {
    const code = `
import socket, sys
try:
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        server = socket.socket(type=kind)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", 53))
except OSError: pass
sys.exit(4)`;
    const taken = await run({ code });
    expect(taken).toMatchObject({ outcome: "failed", exit_code: 4 });
    expect(taken.error).toBeUndefined();
    const next = await run({ code: `${asking}\nask(b"next", b"test")\nsys.exit(1)` });
    expect(next.error?.context).toMatchObject({ looked_up: ["next.test"] });
  });

  it("are those of one program of a session, not of the one before", async () => {
    let session: string | undefined;
    try {
      for (const name of ["one", "two"]) {
        const code = `${asking}\nask(b"${name}", b"test")\nsys.exit(1)`;
        const start = session === undefined ? runtime : { session_id: session };
        const { session_id, error } = await glovebox().runCode({ ...start, language: "python", code });
        session = session_id;
        expect(error?.context).toMatchObject({ looked_up: [`${name}.test`] });
      }
    } finally {
      if (session !== undefined) await glovebox().endSession({ session_id: session });
    }
  });
});
