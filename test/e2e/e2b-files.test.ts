import { createHash } from "node:crypto";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { FileNotFoundError, Sandbox } from "e2b";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openE2bScene, type E2bScene, type SandboxAddress } from "../helpers/e2b-scene.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";

const bytes = { "content-type": "application/octet-stream" };

describe("E2B's files on local", () => {
  useGlovebox("local");
  let scene: E2bScene;
  let sandbox: Sandbox;
  let address: SandboxAddress;
  beforeAll(async () => {
    scene = await openE2bScene();
    sandbox = await Sandbox.create({ envs: { WORD: "x" } });
    const { body } = await scene.ask(`GET /sandboxes/${sandbox.sandboxId}`);
    address = { id: sandbox.sandboxId, token: String(body["envdAccessToken"]) };
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  const statusOf = async (
    route: string,
    more: Parameters<E2bScene["askSandbox"]>[2] = {},
    to = address,
  ): Promise<number> => {
    const response = await scene.askSandbox(to, route, more);
    const text = await response.text();
    // The SDKs read the code in the body.
    if (response.status >= 400) expect((JSON.parse(text) as { code: number }).code).toBe(response.status);
    return response.status;
  };

  it("are written and read by the unmodified SDK, as text and as bytes, one and several", async () => {
    const info = await sandbox.files.write("notes/a b.txt", "grüße");
    expect(info).toMatchObject({ name: "a b.txt", path: "/home/user/notes/a b.txt", type: "file" });
    expect(await sandbox.files.read("/home/user/notes/a b.txt")).toBe("grüße");
    const large = Buffer.alloc(3_000_000, "0123456789");
    await sandbox.files.write("large.bin", new Blob([large]));
    const read = await sandbox.files.read("large.bin", { format: "bytes" });
    expect(Buffer.from(read).equals(large)).toBe(true);
    await sandbox.files.write([
      { path: "one.txt", data: "1" },
      { path: "/tmp/two.txt", data: "2" },
      { path: "empty.txt", data: "" },
    ]);
    expect(await sandbox.files.read("/tmp/two.txt")).toBe("2");
    expect(await sandbox.files.read("empty.txt")).toBe("");
    await expect(sandbox.files.read("missing.txt")).rejects.toThrow(FileNotFoundError);
    await expect(sandbox.files.read("missing.txt")).rejects.toThrow("path '/home/user/missing.txt' does not exist");
  });

  it("are of any size, streamed both ways by the unmodified SDK", async () => {
    const piece = Buffer.alloc(1024 * 1024, "0123456789");
    const expected = createHash("sha256");
    const content = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (let index = 0; index < 40; index += 1) {
          const bytes = Buffer.concat([Buffer.from(String(index)), piece]);
          expected.update(bytes);
          controller.enqueue(bytes);
        }
        controller.close();
      },
    });
    const written = sandbox.files.write("forty.bin", content, { useOctetStream: true });
    await expect(written).resolves.toMatchObject({ name: "forty.bin" });
    const read = createHash("sha256");
    for await (const chunk of await sandbox.files.read("forty.bin", { format: "stream" })) read.update(chunk);
    expect(read.digest("hex")).toBe(expected.digest("hex"));
    await sandbox.files.remove("forty.bin");
  });

  it("stay as they are when an upload breaks off, and take no byte of the next request", async () => {
    await sandbox.files.write("kept.txt", "old");
    const { hostname, port } = new URL(scene.server.e2bUrl);
    const head = (announced: string): string =>
      [
        "POST /files?path=kept.txt HTTP/1.1",
        `host: ${hostname}:${port}`,
        ...[`e2b-sandbox-id: ${address.id}`, "e2b-sandbox-port: 49983", `x-access-token: ${address.token}`],
        ...["content-type: application/octet-stream", announced, "", ""],
      ].join("\r\n");
    const begun = [head("content-length: 100") + "new", head("transfer-encoding: chunked") + "3\r\nnew\r\n"];
    for (const text of begun) {
      const socket = connect(Number(port), hostname);
      await new Promise((resolve) => socket.write(text, resolve));
      await new Promise((resolve) => setTimeout(resolve, 300));
      socket.destroy();
    }
    const two = connect(Number(port), hostname);
    const next = head("content-length: 3").replace("kept", "next");
    const last = head("content-length: 0").replace("kept", "last");
    two.write(`${next}new${last}`);
    let answers = "";
    for await (const chunk of two) answers += String(chunk);
    expect(answers.match(/HTTP\/1\.1 \d+/g), answers).toEqual(["HTTP/1.1 200"]);
    expect(await sandbox.files.read("kept.txt")).toBe("old");
    expect(await sandbox.files.read("next.txt")).toBe("new");
    // What came behind a body is not taken as a request.
    expect(await sandbox.files.exists("last.txt")).toBe(false);
    // A refusal in the middle of a large body is answered.
    const large = Buffer.alloc(4 * 1024 * 1024);
    expect(await statusOf("POST /files?path=/home/user", { headers: bytes, body: large })).toBe(400);
    expect(await statusOf("POST /files?path=/proc/x", { headers: bytes, body: large })).toBeGreaterThanOrEqual(400);
  });

  it("are taken as a form, with the path in the query or as each file's name", async () => {
    const form = new FormData();
    form.append("file", new Blob(["b"]), "d/b.txt");
    form.append("file", new Blob(["c"]), "/home/user/c.txt");
    const answer = await scene.askSandbox(address, "POST /files", { body: form });
    expect(await answer.json()).toEqual([
      { path: "/home/user/d/b.txt", name: "b.txt", type: "file" },
      { path: "/home/user/c.txt", name: "c.txt", type: "file" },
    ]);
    const twice = new FormData();
    twice.append("file", new Blob(["b"]), "b.txt");
    twice.append("file", new Blob(["c"]), "./b.txt");
    expect(await statusOf("POST /files", { body: twice })).toBe(400);
    const many = new FormData();
    for (let index = 0; index < 300; index += 1) many.append("file", new Blob(["x"]), `${index}.txt`);
    expect(await statusOf("POST /files", { body: many })).toBe(400);
    const odd = { "content-type": "multipart/form-data; boundary=x" };
    expect(await statusOf("POST /files", { headers: odd, body: "--x\r\nnonsense" })).toBe(400);
    expect(await statusOf("POST /files", { headers: { "content-type": "text/plain" }, body: "x" })).toBe(400);
  });

  it("have links that are good for one file and its time, and for nothing else", async () => {
    await sandbox.files.write("linked.txt", "linked");
    const link = await sandbox.downloadUrl("linked.txt", { useSignatureExpiration: 60 });
    const read = await fetch(link);
    expect([read.status, await read.text()]).toEqual([200, "linked"]);
    const other = await Sandbox.create({ apiKey: scene.other.text });
    await other.files.write("linked.txt", "theirs");
    const altered: readonly (readonly [string, RegExp])[] = [
      [link.replace("linked.txt", "notes.txt"), /invalid signature/],
      [link.replace(/signature=v1_./, "signature=v1_*"), /invalid signature/],
      [link.replace(/signature_expiration=\d+/, "signature_expiration=9999999999"), /invalid signature/],
      [link.replace(/&signature_expiration=\d+/, ""), /invalid signature/],
      [link.replace(/signature=[^&]+/, "signature="), /missing signature/],
    ];
    for (const [url, message] of altered) {
      const refused = await fetch(url);
      expect([url, refused.status, await refused.text()]).toEqual([url, 401, expect.stringMatching(message)]);
    }
    // Replayed for writing, and at another sandbox.
    const written = await fetch(link, { method: "POST", headers: bytes, body: "x" });
    expect(written.status).toBe(401);
    const replayed = await fetch(link, {
      headers: { "e2b-sandbox-id": other.sandboxId, "e2b-sandbox-port": "49983" },
    });
    expect(replayed.status).toBe(401);
    const late = await sandbox.downloadUrl("linked.txt", { useSignatureExpiration: -5 });
    const expired = await fetch(late);
    expect([expired.status, await expired.text()]).toEqual([
      401,
      JSON.stringify({ code: 401, message: "signature is already expired" }),
    ]);
    const upload = await sandbox.uploadUrl("up.txt", { useSignatureExpiration: 60 });
    const uploaded = await fetch(upload, { method: "POST", headers: bytes, body: "up" });
    expect([uploaded.status, await sandbox.files.read("up.txt")]).toEqual([200, "up"]);
    await other.kill();
  });

  it("are closed without the sandbox's token, and to another sandbox's", async () => {
    const other = await scene.ask("POST /v2/sandboxes", { templateID: "base" }, { key: scene.other.text });
    const theirs = String(other.body["envdAccessToken"]);
    for (const token of ["", "x", theirs, scene.mine.text]) {
      const to = { ...address, token };
      for (const route of ["GET /files?path=linked.txt", "GET /envs", "GET /metrics"]) {
        expect([route, await statusOf(route, {}, to)]).toEqual([route, 401]);
      }
      expect(await statusOf("POST /files?path=x.txt", { headers: bytes, body: "x" }, to)).toBe(401);
    }
    const gone = { ...address, id: "i0123456789" };
    expect(await statusOf("GET /files?path=linked.txt", {}, gone)).toBe(502);
    expect(await statusOf("GET /health", {}, { ...address, port: 8080 })).toBe(502);
    const half = await scene.ask("GET /health", undefined, { headers: { "e2b-sandbox-id": address.id } });
    expect(half.status).toBe(400);
  });

  it("stay inside the sandbox and within bounds, and other users' are refused by name", async () => {
    expect(await statusOf("GET /files?path=../../../../etc/shadow")).toBeGreaterThanOrEqual(400);
    const passwd = await scene.askSandbox(address, "GET /files?path=../etc/passwd");
    const text = await passwd.text();
    expect(text).not.toMatch(/daemon/);
    expect(await statusOf("GET /files?path=/home/user")).toBe(400);
    expect(await statusOf("GET /files?path=")).toBe(400);
    expect(await statusOf("GET /files?path=a%00b")).toBe(400);
    expect(await statusOf("GET /files?path=linked.txt&username=root")).toBe(401);
    expect(await statusOf("POST /files", { headers: bytes, body: "x" })).toBe(400);
    const huge = new FormData();
    huge.append("file", new Blob([Buffer.alloc(33 * 1024 * 1024)]), "h.bin");
    expect(await statusOf("POST /files", { body: huge })).toBe(413);
    const zipped = { ...bytes, "content-encoding": "gzip" };
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    expect(await statusOf("POST /files?path=h.bin", { headers: zipped, body: bomb })).toBe(413);
    expect(await statusOf("POST /files?path=z.txt", { headers: zipped, body: gzipSync("zipped") })).toBe(200);
    expect(await sandbox.files.read("z.txt")).toBe("zipped");
    expect(await statusOf("POST /files?path=z.txt", { headers: zipped, body: "x" })).toBe(400);
  });

  it("have attributes of an upload, of programs, and of nothing that is refused", async () => {
    const info = await sandbox.files.write("marked.txt", "x", { metadata: { author: "mish" } });
    expect(info.metadata).toEqual({ author: "mish" });
    const moved = await sandbox.files.rename("marked.txt", "marks/moved.txt");
    expect(moved.metadata).toEqual({ author: "mish" });
    const setter = "import os; os.setxattr('/home/user/marks/moved.txt', 'user.e2b.more', b'a&b=c%0A\\n\\xff')";
    await sandbox.commands.run(`python3 -c "${setter}"`);
    const [listed] = await sandbox.files.list("marks");
    expect(listed?.metadata).toEqual({ author: "mish", more: "a&b=c%0A\n\u{fffd}" });
    const again = await sandbox.files.write("marks/moved.txt", "y");
    expect([again.metadata, (await sandbox.files.getInfo("marks/moved.txt")).metadata]).toEqual([undefined, undefined]);
    const refused = [
      { "x-metadata-": "no name" },
      { "x-metadata-a": "b".repeat(4096) },
      { "x-metadata-a": "caf\u{e9}" },
      { [`x-metadata-${"n".repeat(247)}`]: "long" },
    ];
    for (const headers of refused) {
      expect(await statusOf("POST /files?path=no.txt", { headers: { ...bytes, ...headers }, body: "x" })).toBe(400);
    }
    expect(await sandbox.files.exists("no.txt")).toBe(false);
    const marked = { ...bytes, "x-metadata-a": "b" };
    expect(await statusOf("POST /files?path=no.txt", { headers: marked, body: "x" }, { ...address, token: "x" })).toBe(
      401,
    );
  });

  it("come with the variables and the numbers of their sandbox", async () => {
    const variables = await scene.askSandbox(address, "GET /envs");
    expect(await variables.json()).toMatchObject({ WORD: "x", E2B_SANDBOX: "true", E2B_SANDBOX_ID: address.id });
    await expect.poll(() => statusOf("GET /metrics")).toBe(200);
  });
});
