import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import net, { type AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { until } from "./until.ts";

const sshd = "/usr/sbin/sshd";

/** Why there can be no server here; null when there can. */
export const whyNoSshServer: string | null = existsSync(sshd) ? null : `there is no ${sshd}`;

/** Host names for this machine in the `ssh` configuration that comes with the server, and what goes wrong with each. */
const hosts = {
  box: {},
  /** Its host key is unknown. */
  stranger: { UserKnownHostsFile: "/dev/null" },
  /** The server accepts a different key than this one. */
  locked: { IdentityFile: "other" },
  /** Nothing listens there. */
  silent: { Port: "1" },
};

/**
 * A real `sshd` for this user on loopback, and a folder for the `PATH` whose `ssh` uses a separate configuration. The real
 * program finds the user's configuration through the account, and so never in a folder of a test.
 */
export class SshServer implements AsyncDisposable {
  readonly folder: string = mkdtempSync(path.join(tmpdir(), "glovebox-ssh-"));
  #server: ChildProcess | undefined;

  /** `variables` are set for commands that run there. */
  static async start(variables: Readonly<Record<string, string>> = {}): Promise<SshServer> {
    const server = new SshServer();
    try {
      await server.#start(variables);
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
    return server;
  }

  /** Contains `ssh`. */
  get bin(): string {
    return path.join(this.folder, "bin");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const server = this.#server;
    if (server !== undefined && server.exitCode === null && server.signalCode === null) {
      server.kill("SIGKILL");
      await once(server, "exit");
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #start(variables: Readonly<Record<string, string>>): Promise<void> {
    for (const key of ["host", "own", "other"]) {
      execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", this.#at(key)]);
    }
    const port = await freePort();
    writeFileSync(this.#at("authorized"), readFileSync(this.#at("own.pub")));
    writeFileSync(this.#at("known"), `[127.0.0.1]:${port} ${readFileSync(this.#at("host.pub"), "utf8")}`);
    writeFileSync(this.#at("config"), this.#config(port));
    mkdirSync(this.bin);
    const real = execFileSync("sh", ["-c", "command -v ssh"], { encoding: "utf8" }).trim();
    writeFileSync(path.join(this.bin, "ssh"), `#!/bin/sh\nexec ${real} -F ${this.#at("config")} "$@"\n`);
    chmodSync(path.join(this.bin, "ssh"), 0o755);
    // Its root folder while it has no privileges.
    if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
    const settings = {
      ...{
        Port: port,
        ListenAddress: "127.0.0.1",
        HostKey: this.#at("host"),
        AuthorizedKeysFile: this.#at("authorized"),
      },
      ...{ StrictModes: "no", UsePAM: "no", PermitRootLogin: "yes", PidFile: "none" },
      ...{ PasswordAuthentication: "no", KbdInteractiveAuthentication: "no" },
      ...Object.fromEntries(Object.entries(variables).map(([name, value]) => ["SetEnv", `${name}=${value}`])),
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
    this.#server = spawn(sshd, ["-D", "-f", "/dev/null", ...options], { stdio: "ignore" });
    await until(() => answers(port));
  }

  #at(name: string): string {
    return path.join(this.folder, name);
  }

  #config(port: number): string {
    return Object.entries(hosts)
      .map(([host, changes]) => {
        const settings = {
          ...{ HostName: "127.0.0.1", Port: String(port), User: userInfo().username, IdentityAgent: "none" },
          ...{
            IdentityFile: "own",
            IdentitiesOnly: "yes",
            UserKnownHostsFile: "known",
            GlobalKnownHostsFile: "/dev/null",
          },
          ...changes,
        };
        const files = new Set(["own", "other", "known"]);
        const lines = Object.entries(settings).map(
          ([name, value]) => `  ${name} ${files.has(value) ? this.#at(value) : value}`,
        );
        return [`Host ${host}`, ...lines, ""].join("\n");
      })
      .join("\n");
  }
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function answers(port: number): Promise<boolean> {
  const socket = net.connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
