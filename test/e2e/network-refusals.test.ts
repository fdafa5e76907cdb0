import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { ExecuteRequest, ExecuteResponse } from "../helpers/wire-glovebox.ts";
import { getProgram, openNetworkScene, rawProgram } from "../helpers/network-scene.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { rareTagOnPodman } from "../lanes/lanes.ts";

const scene = await openNetworkScene();
const { web, webAt, settings } = scene;
afterAll(() => scene[Symbol.dispose]());

describe.each(engines)("what the network of a sandbox refuses on %s", (engine) => {
  const lane = rareTagOnPodman(engine);
  const glovebox = useGlovebox(engine, { settings });
  afterEach(() => web.forget());
  const run = (request: Partial<ExecuteRequest> & { readonly code: string }): Promise<ExecuteResponse> =>
    glovebox().execute({ language: "python", timeout_seconds: 30, ...request });

  const request = (target: string): string => `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
  const connect = (target: string): string => `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`;
  const p = web.port;
  it.each([
    ["a private address behind an allowed name", request(`http://hidden.test:${p}/`), 403, "private_address"],
    ["an IPv6 loopback address", request(`http://hidden6.test:${p}/`), 403, "private_address"],
    ["an IPv4-mapped address", request(`http://mapped.test:${p}/`), 403, "private_address"],
    ["a private address behind an alias", request(`http://alias.test:${p}/`), 403, "private_address"],
    ["the metadata service by name", request(`http://metadata.test:${p}/`), 403, "private_address"],
    ["the metadata service", request("http://169.254.169.254/latest/"), 403, "address"],
    ["loopback by address", request(`http://127.0.0.1:${p}/`), 403, "address"],
    ["loopback in decimal", request(`http://2130706433:${p}/`), 403, "address"],
    ["loopback in octal", request(`http://0177.0.0.1:${p}/`), 403, "address"],
    ["loopback in hexadecimal", request(`http://0x7f000001:${p}/`), 403, "address"],
    ["loopback in IPv6", request(`http://[::1]:${p}/`), 403, "address"],
    ["a tunnel to loopback", connect(`127.0.0.1:${p}`), 403, "address"],
    ["a tunnel to loopback in IPv6", connect(`[::ffff:127.0.0.1]:${p}`), 403, "address"],
    ["a tunnel to a private address", connect(`hidden.test:${p}`), 403, "private_address"],
    ["localhost by name", request(`http://localhost:${p}/`), 403, "not_allowed"],
    ["a dot at the end", request(`http://web.test.:${p}/`), 403, "name"],
    ["a NUL in the name", connect(`web.test\0.evil.test:${p}`), 400, "protocol"],
    ["an encoded NUL in the name", request(`http://web.test%00.evil.test:${p}/`), 403, "name"],
    ["a name before an @", request(`http://web.test@hidden.test:${p}/`), 403, "protocol"],
    ["another port", request(`http://web.test:${p === 9 ? 10 : 9}/`), 403, "port"],
    ["a port too many", connect(`web.test:${p}:80`), 403, "address"],
    ["https without a tunnel", request(`https://web.test:${p}/`), 403, "protocol"],
    ["a request for the proxy itself", request("/"), 403, "protocol"],
    [
      "ambiguous lengths",
      `POST http://${webAt}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
      "protocol",
    ],
    ["no HTTP at all", "SSH-2.0-x\r\n\r\n", 400, "protocol"],
  ])("refuses %s", lane, async (_, bytes, status, rule) => {
    const names = ["hidden.test", "hidden6.test", "mapped.test", "alias.test", "metadata.test", "web.test"];
    const response = await run({
      code: `${rawProgram}\nsys.exit(1)`,
      args: [Buffer.from(bytes, "latin1").toString("hex")],
      network: names.map((name) => `${name}:${p}`),
    });
    expect(response.stdout).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(response).toMatchObject({ outcome: "policy_denied", error: { context: { denials: [{ rule }] } } });
    expect(web.connections).toBe(0);
  });

  it("refuses what would be asked for within an open connection, and in a tunnel of plain HTTP", lane, async () => {
    const within = request(`http://${webAt}/`).replace("close", "keep-alive") + request("http://hidden.test/");
    const first = await run({ code: rawProgram, args: [Buffer.from(within).toString("hex")], network: [webAt] });
    expect(first.stdout).toMatch(/hello from web\.test.*403 Forbidden.*hidden\.test/s);
    const inTunnel = `${connect(webAt)}GET / HTTP/1.1\r\nHost: hidden.test\r\nConnection: close\r\n\r\n`;
    const second = await run({ code: rawProgram, args: [Buffer.from(inTunnel).toString("hex")], network: [webAt] });
    expect(second.stdout).toContain(`hello from ${webAt}`);
    const elsewhere = `${connect(webAt)}${request("http://hidden.test/")}`;
    const third = await run({ code: rawProgram, args: [Buffer.from(elsewhere).toString("hex")], network: [webAt] });
    expect(third.stdout).toMatch(/403 Forbidden/);
  });

  it("sends a request on under the target's own name", lane, async () => {
    const bytes = `GET http://${webAt}/ HTTP/1.1\r\nHost: evil.test\r\nProxy-Authorization: x\r\nConnection: close\r\n\r\n`;
    await run({ code: rawProgram, args: [Buffer.from(bytes).toString("hex")], network: [webAt] });
    expect(web.requests).toEqual([`GET ${webAt}/`]);
  });

  it("treats a redirect as a separate request", lane, async () => {
    const response = await run({
      code: getProgram,
      args: [`http://${webAt}/redirect`],
      network: [webAt, "metadata.test"],
    });
    expect(response).toMatchObject({
      outcome: "policy_denied",
      error: { context: { denials: [{ target: "metadata.test:80", rule: "private_address" }] } },
    });
  });

  it("dials the address that was checked, even if the name then resolves to another one", lane, async () => {
    const name = `rebind-${engine}.test:${web.port}`;
    const ask = (): Promise<ExecuteResponse> => run({ code: getProgram, args: [`http://${name}/`], network: [name] });
    expect(await ask()).toMatchObject({ outcome: "failed" });
    expect(await ask()).toMatchObject({ outcome: "policy_denied" });
    expect(web.connections).toBe(0);
  });
});
