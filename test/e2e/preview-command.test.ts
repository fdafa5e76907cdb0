import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { gloveboxCommand } from "../helpers/glovebox-command.ts";
import { gloveboxEnvironment } from "../helpers/mcp-client.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";

const server = `require("node:http").createServer((q, s) => { console.log("asked", q.url); s.end("page"); if (q.url === "/exit") process.exit(4); }).listen(3000)`;

describe("glovebox preview on local", () => {
  useGlovebox("local");

  it("shows the address and the output until Ctrl-C, and an error where the command ends", async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-preview-"));
    writeFileSync(path.join(folder, "server.js"), server);
    const start = () => {
      const argv = ["preview", "--engine", "local", "--", "node", "server.js"];
      const child = spawn(gloveboxCommand, argv, {
        cwd: folder,
        env: gloveboxEnvironment(),
        stdio: ["ignore", "pipe", "pipe"],
      });
      let text = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += String(chunk)));
      const url = async (): Promise<string> => {
        for (;;) {
          const found = /running: .*directly: (http:\S+)\)/.exec(text)?.[1];
          if (found !== undefined) return found;
          if (child.exitCode !== null) throw new Error(text);
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      };
      return { child, ended: once(child, "exit"), url, text: () => text };
    };
    const stopped = start();
    expect(await (await fetch(`${await stopped.url()}a`)).text()).toBe("page");
    await expect.poll(() => stopped.text(), { timeout: 60_000 }).toContain("asked /a");
    stopped.child.kill("SIGINT");
    expect((await stopped.ended)[0]).toBe(0);
    await expect(fetch(await stopped.url())).rejects.toThrow("fetch failed");
    const failing = start();
    await fetch(`${await failing.url()}exit`).catch(() => undefined);
    expect((await failing.ended)[0]).toBe(1);
    expect(failing.text()).toContain("exit code 4");
    rmSync(folder, { recursive: true });
  });

  it("needs no arguments: it finds the dev script, follows its port, and says so", async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-preview-"));
    const page = `require("node:http").createServer((q, s) => s.setHeader("content-type", "text/html").end("page")).listen(3999)`;
    writeFileSync(path.join(folder, "dev.js"), page);
    writeFileSync(path.join(folder, "package.json"), JSON.stringify({ scripts: { dev: "node dev.js" } }));
    const serve = async (...argv: readonly string[]): Promise<string> => {
      const child = spawn(gloveboxCommand, ["preview", "--engine", "local", ...argv], {
        cwd: folder,
        env: gloveboxEnvironment(),
        stdio: ["ignore", "ignore", "pipe"],
      });
      let text = "";
      child.stderr.on("data", (chunk) => (text += String(chunk)));
      const ended = once(child, "exit");
      await expect.poll(() => text, { timeout: 60_000 }).toContain("Ctrl-C ends it.");
      expect(await (await fetch(/directly: (http:\S+)\)/.exec(text)?.[1] ?? "")).text()).toBe("page");
      child.kill("SIGINT");
      expect((await ended)[0]).toBe(0);
      return text;
    };
    const found = await serve();
    expect(found).toContain(
      "glovebox: No command was given, so this serves `npm run dev`: package.json has a script `dev`",
    );
    expect(found).not.toContain("--port");
    expect(await serve("--port", "3000")).toContain(
      "glovebox: The command does not listen on port 3000 but on 3999, which the preview follows; name it with --port 3999.\n",
    );
    rmSync(folder, { recursive: true });
  });
});
