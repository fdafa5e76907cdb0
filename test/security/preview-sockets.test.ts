import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { answering, openPreviewScene, type PreviewScene } from "../helpers/preview-scene.ts";
import { until } from "../helpers/until.ts";

const hostOf = ({ direct }: PreviewScene): string => `Host: ${direct.host}\r\n`;

describe("WebSockets of previews", () => {
  const accept = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Own: 1\r\n\r\n";
  const ask = (scene: PreviewScene, more = ""): string =>
    `GET /ws HTTP/1.1\r\n${hostOf(scene)}Connection: Upgrade\r\nUpgrade: websocket\r\n${more}\r\n`;

  it("carry bytes both ways, from the program's own origin", async () => {
    const heads: string[] = [];
    using scene = await openPreviewScene((socket: Socket) => {
      socket.once("data", (head) => {
        heads.push(head.toString());
        socket.write(`${accept}early`);
        socket.on("data", (bytes) => socket.end(bytes));
      });
    });
    const text = await scene.raw(`${ask(scene, `Origin: ${scene.direct.origin}\r\n`)}first`);
    expect(text).toContain("X-Own: 1");
    expect(text.endsWith("earlyfirst")).toBe(true);
    expect(heads[0]).toContain(`Host: ${scene.inner}\r\n`);
    expect(heads[0]).toContain(`Origin: http://${scene.inner}\r\n`);
    expect(heads[0]).toContain("Upgrade: websocket\r\n");
  });

  it("are refused as the program refuses them, and to foreign pages", async () => {
    using scene = await openPreviewScene(answering("HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\nnope"));
    expect(await scene.raw(ask(scene))).toMatch(/^HTTP\/1\.1 404 [\s\S]*nope$/);
    expect(await scene.raw(ask(scene, "Origin: https://evil.example\r\n"))).toMatch(/^HTTP\/1\.1 403 /);
    expect(await scene.raw(ask(scene, "Origin: null\r\n"))).toMatch(/^HTTP\/1\.1 403 /);
    expect(await scene.raw(ask(scene).replace("websocket", "h2c"))).toMatch(/^HTTP\/1\.1 400 /);
  });

  it("are 502 where the program agrees to something else", async () => {
    using scene = await openPreviewScene(answering(accept.replace("websocket", "other")));
    expect(await scene.raw(ask(scene))).toMatch(/^HTTP\/1\.1 502 /);
  });

  it("end with the preview", async () => {
    const opened = Promise.withResolvers<Socket>();
    const scene = await openPreviewScene((socket) => {
      socket.once("data", () => {
        socket.write(accept);
        opened.resolve(socket);
      });
    });
    const text = scene.raw(ask(scene));
    const inside = await opened.promise;
    scene.end();
    await text;
    await until(() => inside.destroyed);
    expect(inside.destroyed).toBe(true);
  });
});
