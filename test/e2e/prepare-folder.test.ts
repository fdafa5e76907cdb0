import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bunTargetHere, fetchBun } from "../../src/base/bun-packages.ts";
import { toolsImagesOf } from "../../src/engines/tools-image.ts";
import { npmRegistryFault } from "../helpers/npm-registry.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { runCommand, type CommandResult } from "../helpers/run-command.ts";

const npmFault = npmRegistryFault();
const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-carry-")));
const image = `glovebox-carry/${path.basename(folder).toLowerCase()}:1`;
const exported = path.join(folder, "exported");

const environment = {
  XDG_STATE_HOME: path.join(folder, "state"),
  GLOVEBOX_IMAGE_PYTHON: image,
  GLOVEBOX_IMAGE_JAVASCRIPT: image,
  GLOVEBOX_IMAGE_TYPESCRIPT: image,
  GLOVEBOX_IMAGE_SESSION: image,
};
const prepare = (...argv: readonly string[]): Promise<CommandResult> =>
  runCommand(["prepare", ...argv], { environment });
const engine = (name: string, ...argv: readonly string[]): string =>
  execFileSync(name, argv, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
const idOf = (name: string): string => engine(name, "image", "inspect", "--format", "{{.Id}}", image).trim();

interface Row {
  file: string;
  reference: string;
}

/** A copy of the export, with changes. */
function changed(name: string, change: (copy: string, rows: Row[]) => void): string {
  const copy = path.join(folder, name);
  cpSync(exported, copy, { recursive: true });
  const list = path.join(copy, "glovebox-prepared.json");
  const manifest = JSON.parse(readFileSync(list, "utf8")) as { files: Row[] };
  change(copy, manifest.files);
  if (!name.startsWith("raw")) writeFileSync(list, JSON.stringify(manifest));
  return copy;
}

describe("images and Bun, carried in a folder", () => {
  useGlovebox("docker");
  useGlovebox("podman");
  beforeAll(() => {
    engine("docker", "tag", process.env["GLOVEBOX_TEST_IMAGE_MINIMAL"] ?? "glovebox-test/minimal:1", image);
  });
  afterAll(() => {
    for (const name of ["docker", "podman"]) {
      try {
        engine(name, "rmi", image);
      } catch {
        // It is never used.
      }
    }
    rmSync(folder, { recursive: true });
  });

  it("are loaded into the engine that lacks them, and into another one", { timeout: 180_000 }, async () => {
    const before = idOf("docker");
    const { exitCode, stdout } = await prepare("--engine", "docker", "--export", exported, "--json");
    expect(exitCode).toBe(0);
    const { files } = JSON.parse(stdout) as { files: readonly { file: string; sha256: string }[] };
    expect(files).toMatchObject([
      { what: `image ${image} (docker)`, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
    ]);
    expect(statSync(path.join(exported, "image-1.tar")).mode & 0o777).toBe(0o600);
    engine("docker", "rmi", image);
    const imported = await prepare("--engine", "docker", "--import", exported);
    expect(imported).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining(`imported: image ${image}`) as string,
    });
    expect(idOf("docker")).toBe(before);
    expect((await prepare("--engine", "podman", "--import", exported)).exitCode).toBe(0);
    expect(idOf("podman")).toMatch(/^(?:sha256:)?[0-9a-f]{64}$/);
    const again = await prepare("--engine", "docker", "--export", exported);
    expect(again).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("is not empty") as string });
  });

  it("have those of the templates of E2B's clients, which are then not built", { timeout: 180_000 }, async () => {
    const templates = Object.values(toolsImagesOf(image));
    const carried = path.join(folder, "with-templates");
    const shown = (name: string): string => engine("docker", "image", "inspect", "--format", "{{.Id}}", name).trim();
    try {
      // Whatever they have: what counts is that they arrive by their names.
      for (const name of templates) engine("docker", "tag", image, name);
      const { exitCode, stdout } = await prepare("--engine", "docker", "--e2b", "--export", carried, "--json");
      expect(exitCode).toBe(0);
      const { files } = JSON.parse(stdout) as { files: readonly { what: string }[] };
      expect(files.map(({ what }) => what)).toEqual([image, ...templates].map((name) => `image ${name} (docker)`));
      for (const name of templates) {
        engine("docker", "rmi", name);
        expect(() => shown(name)).toThrow("Command failed");
      }
      expect((await prepare("--engine", "docker", "--import", carried)).exitCode).toBe(0);
      expect(templates.map(shown)).toEqual(templates.map(() => idOf("docker")));
      const again = await prepare("--engine", "docker", "--e2b");
      expect(again.exitCode, again.stderr).toBe(0);
      expect(again.stdout + again.stderr).not.toMatch(/build/i);
    } finally {
      for (const name of templates) engine("docker", "rmi", "--force", name);
    }
  });

  it.each([
    [
      "another byte",
      "another SHA-256",
      (copy: string, [row]: Row[]): void => {
        const file = path.join(copy, row?.file ?? "");
        const bytes = readFileSync(file);
        // In the padding at the end: the archive is still valid.
        bytes[bytes.length - 1] = 1;
        writeFileSync(file, bytes, { mode: 0o600 });
      },
    ],
    [
      "another image's name",
      "names",
      (_: string, [row]: Row[]): void => void Object.assign(row ?? {}, { reference: "python:3-slim" }),
    ],
    [
      "a path out of it",
      "not what an export writes",
      (_: string, [row]: Row[]): void => void Object.assign(row ?? {}, { file: "../exported/image-1.tar" }),
    ],
    [
      "a link",
      "cannot be read",
      (copy: string, [row]: Row[]): void => {
        renameSync(path.join(copy, row?.file ?? ""), path.join(folder, "elsewhere.tar"));
        symlinkSync(path.join(folder, "elsewhere.tar"), path.join(copy, row?.file ?? ""));
      },
    ],
    [
      "raw text for a list",
      "not what an export writes",
      (copy: string): void => writeFileSync(path.join(copy, "glovebox-prepared.json"), "{"),
    ],
    [
      "raw file that others may change",
      "others may change it",
      (copy: string): void => chmodSync(path.join(copy, "image-1.tar"), 0o666),
    ],
    ["raw folder that is open to others", "open to other users", (copy: string): void => chmodSync(copy, 0o777)],
    [
      "raw folder without a list",
      "cannot be read",
      (copy: string): void => rmSync(path.join(copy, "glovebox-prepared.json")),
    ],
  ])("are refused with %s, before the engine sees them", async (name, words, change) => {
    const copy = changed(name.replaceAll(" ", "-").replaceAll("'", ""), change);
    const { exitCode, stderr } = await prepare("--engine", "docker", "--import", copy);
    expect([2, 125]).toContain(exitCode);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain("Loading");
  });

  it("let Bun be had without a network, by its pinned hash", { timeout: 180_000 }, async (context) => {
    if (npmFault !== null) context.skip(npmFault);
    const target = bunTargetHere({ platform: process.platform, architecture: process.arch });
    if (target === null) return context.skip("There is no Bun for this machine.");
    const carried = path.join(folder, "bun");
    expect(await prepare("--engine", "local", "--export", carried)).toMatchObject({ exitCode: 0 });
    expect(await prepare("--engine", "local", "--import", carried)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("imported: Bun ") as string,
    });
    const bunArchives = path.join(folder, "state", "glovebox", "bun-archives");
    const options = { temporaryDirectory: os.tmpdir(), platform: process.platform, environment: { PATH: "/nowhere" } };
    expect((await fetchBun(target, { ...options, bunArchives })).length).toBeGreaterThan(1_000_000);
    await expect(fetchBun(target, options)).rejects.toThrow("npm was not found");
    writeFileSync(
      path.join(carried, `bun-${target}.tgz`),
      Buffer.alloc(statSync(path.join(carried, `bun-${target}.tgz`)).size),
    );
    expect(await prepare("--engine", "local", "--import", carried)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("a different hash than the pinned one") as string,
    });
  });
});
