import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { openNetworkScene, getProgram } from "../helpers/network-scene.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { runCommand } from "../helpers/run-command.ts";

const scene = await openNetworkScene();
const { webAt, settings } = scene;
afterAll(() => scene[Symbol.dispose]());
const environment = {
  GLOVEBOX_NETWORK_PRIVATE_HOSTS: settings.network["private_hosts"]?.join(",") ?? "",
  GLOVEBOX_NETWORK_DNS_SERVERS: settings.network["dns_servers"]?.join(",") ?? "",
};

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch {
    return false;
  }
}

describe.each(engines)("glovebox run --network on %s", (engine) => {
  useGlovebox(engine);

  it("reaches what the list names", async () => {
    const argv = [
      "run",
      "--engine",
      engine,
      "--network",
      `other.example, ${webAt}`,
      "-c",
      getProgram,
      "--",
      `http://${webAt}/`,
    ];
    const result = await runCommand(argv, { environment });
    expect(result).toMatchObject({ exitCode: 0, stdout: `hello from ${webAt}\n`, stderr: "" });
  });

  it("reports a refusal when it happens, its reason once, and keeps the program's exit code", async () => {
    const code = `import sys, urllib.request\ntry: urllib.request.urlopen("http://refused.test/", timeout=10)\nexcept OSError: sys.exit(9)`;
    const result = await runCommand(["run", "--engine", engine, "--network", "web.test", "-c", code], { environment });
    expect(result.exitCode).toBe(9);
    expect(result.stderr).toContain("glovebox: refused a connection to refused.test:80: ");
    expect(result.stderr).toContain(
      'glovebox: NETWORK_ERROR: The program failed after its connection to refused.test:80 was refused. The program chose this host: if you trust it, add "refused.test" to --network.\n',
    );
    expect(result.stderr.match(/is not one of them/g)).toHaveLength(1);
    expect(result.stderr.match(/refused\.test:80/g)).toHaveLength(2);
    const handled = `import urllib.request\ntry: urllib.request.urlopen("http://refused.test/", timeout=10)\nexcept OSError: pass`;
    const argv = ["run", "--engine", engine, "--network", "web.test", "-c", handled];
    const completed = await runCommand(argv, { environment });
    expect(completed.exitCode).toBe(0);
    expect(completed.stderr.match(/refused\.test:80/g)).toHaveLength(1);
  });

  it("leaves no proxy behind when it is killed", async () => {
    let proxy = 0;
    const code = "import time\nprint('ready', flush=True)\ntime.sleep(60)";
    const result = await runCommand(["run", "--engine", engine, "--network", "web.test", "-c", code], {
      environment,
      onOutput: (child) => {
        if (proxy !== 0) return;
        const children = execFileSync("ps", ["-ww", "--ppid", String(child.pid), "-o", "pid=,args="], {
          encoding: "utf8",
        });
        proxy = Number(/^\s*(\d+) .*proxy-main/m.exec(children)?.[1]);
        child.kill("SIGKILL");
      },
    });
    expect(result.signal).toBe("SIGKILL");
    expect(proxy).toBeGreaterThan(0);
    for (let tries = 0; tries < 100 && isRunning(proxy); tries++) await sleep(50);
    expect(isRunning(proxy)).toBe(false);
  });
});
