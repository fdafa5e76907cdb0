import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { GloveboxError } from "../helpers/wire-glovebox.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { testImages } from "../helpers/test-images.ts";
import { expectedAt, places } from "../../src/workloads/proof/attack.ts";
import { mountAttacks, pathOfMountAttack } from "./attacks/mount-attacks.ts";
import { usePlace } from "./attacks/use-place.ts";

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-mounts-")));
const project = path.join(folder, "project");
afterAll(() => rmSync(folder, { recursive: true }));

for (const file of [
  ...["outside/a.txt", "project/.env", "project/keys/.ssh/config", "project/odd/.SsH/config"],
  ...["project/odd/.\u017fsh/config", "project/odd/Credentials/deep/er/a.txt"],
]) {
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  writeFileSync(path.join(folder, file), "private");
}
for (const [name, target] of [
  ["out.txt", "../outside/a.txt"],
  ["away", "../outside"],
  ["chain.txt", "out.txt"],
  ["innocent.txt", ".env"],
  ["harmless", "keys/.ssh"],
  ["socket", "/var/run/docker.sock"],
] as const) {
  symlinkSync(target, path.join(project, name));
}
linkSync(path.join(folder, "outside/a.txt"), path.join(project, "hard.txt"));

const find =
  "import os\nfor top, _, files in os.walk('.'):\n for f in files:\n  print(open(os.path.join(top, f)).read())";

describe.each(places)("a file of the host named to a sandbox of %s", (place) => {
  const { glovebox, request } = usePlace(place, { workingDirectory: project });
  const rows = mountAttacks.map((attack) => ({ ...attack, ...expectedAt(attack, place) }));

  it.each(rows)("$id ($tries): $verdict", async ({ id, verdict }) => {
    const said = await glovebox()
      .execute({ language: "python", code: find, context_files: [pathOfMountAttack(id, folder)], ...request })
      .then(
        ({ stdout }) => (stdout.includes("private\n") ? "ESCAPED" : `BROKEN: ${stdout}`),
        (error: unknown) => (error instanceof GloveboxError ? `BLOCKED: ${error.message}` : `BROKEN: ${String(error)}`),
      );
    expect(said).toMatch(verdict === "denied" ? /^BLOCKED/ : /^ESCAPED/);
  });
});

describe("without our policy", () => {
  useGlovebox("docker");

  it.each(mountAttacks)("$id ($tries): gets through", ({ id }) => {
    const mount = `${path.resolve(project, pathOfMountAttack(id, folder))}:/given`;
    const look = "test -S /given && echo private || cat /given";
    const argv = ["run", "--rm", "--network", "none", "--volume", mount, testImages.python, "sh", "-c", look];
    expect(execFileSync("docker", argv, { encoding: "utf8" })).toContain("private");
  });
});
