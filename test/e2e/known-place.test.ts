import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { describe, expect, it } from "vitest";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages } from "../helpers/test-images.ts";

const asks = `import getpass, os, pathlib, pwd, socket
me = pwd.getpwuid(os.getuid())
print(getpass.getuser(), me.pw_name, me.pw_gid == os.getgid(), os.access(pathlib.Path.home(), os.W_OK))
print(socket.gethostbyname(socket.gethostname()))
print(pathlib.Path('/etc/hosts').read_text())`;

/** Tries to become somebody, or to be found by another name. */
const attacks = `import os, pathlib
for path in ('/etc/passwd', '/etc/group', '/etc/hosts'):
    for attempt in (lambda: open(path, 'a'), lambda: os.unlink(path), lambda: os.chmod(path, 0o666), lambda: os.rename(path, '/tmp/x')):
        try:
            attempt()
            print('changed', path)
        except OSError:
            pass
for line in pathlib.Path('/etc/passwd').read_text().splitlines():
    name, _, uid = line.split(':')[:3]
    if name not in ('root', 'nobody', 'glovebox') or (uid == '0') != (name == 'root'):
        print('unexpected', line)`;

/** Nobody's names: what every machine has. */
const usual = new Set(["127.0.0.1", "::1", "localhost", "ip6-localhost", "ip6-loopback"]);

describe.each(engines)("a program on %s", (engine) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } });

  it("knows its user, its home and its host, and nothing of the machine's", async () => {
    const { stdout, stderr } = await glovebox().execute({ language: "python", code: asks });
    expect(stderr).toBe("");
    const [who, address, ...hosts] = stdout.split("\n");
    expect([who, address]).toEqual(["glovebox glovebox True True", "127.0.0.1"]);
    const names = new Set(hosts.flatMap((line) => line.split(/\s+/)).filter((name) => name !== ""));
    const lines = readFileSync("/etc/hosts", "utf8").split("\n");
    const ofMachine = lines.flatMap((line) => line.replace(/#.*/, "").split(/\s+/)).filter((name) => name !== "");
    expect([...ofMachine, hostname()].filter((name) => names.has(name) && !usual.has(name))).toEqual([]);
    expect([...names].filter((name) => name.includes(".internal"))).toEqual([]);
  });

  it("knows them in JavaScript and in a session", async () => {
    const code = "console.log(require('node:os').userInfo().username, require('node:os').homedir())";
    expect(await glovebox().execute({ language: "javascript", code })).toMatchObject({ stdout: "glovebox /tmp\n" });
    const called = await glovebox().runCode({ language: "python", code: asks, packages: [] });
    expect(called.stdout).toMatch(/^glovebox glovebox True True\n127\.0\.0\.1\n/);
  });

  it("can change none of these files, which name nobody else", async () => {
    expect(await glovebox().execute({ language: "python", code: attacks })).toMatchObject({ stdout: "", stderr: "" });
  });
});

describe.each(engines.filter((engine) => engine !== "local"))("a command of an environment on %s", (engine) => {
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } });

  it("knows its user, and can write into its folder and its home where there is no project", async () => {
    const { environments } = glovebox();
    const { env_id: id } = await environments.create({ image: sessionImages.session });
    const command = ["sh", "-c", "whoami && id -gn && touch /workdir/made ~/made && echo written"];
    expect(await environments.runCommand({ env_id: id, command })).toMatchObject({
      stdout_tail: "glovebox\nglovebox\nwritten\n",
    });
    await environments.destroy({ env_id: id });
  });
});
