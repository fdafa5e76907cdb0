import { gibibyte, mebibyte, kibibyte } from "../base/bytes.ts";
import { withinCeilings, type Limits } from "../policy/limits.ts";
import { temporaryFolder, workFolder } from "../policy/scratch.ts";
import type { SandboxPlan } from "../sandbox/sandbox-plan.ts";
import type { RuntimeName } from "../languages/language-table.ts";
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { untilCancelled } from "../base/abort.ts";
import { createId } from "../base/id.ts";
import type { Engine } from "../engines/engine.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { runSandboxCommand } from "../sandbox/sandbox-command.ts";
import type { Caller, Sandboxes } from "../sandbox/sandboxes.ts";
import type { PackageManager } from "./package-manager.ts";

const temporaryBytes = 64 * mebibyte;
/** Time beyond the installation's own before any sweep may take the sandbox. */
const lifetimeMarginMs = 300_000;

/** What an installation may use, within the deployment's ceilings: packages lie in memory until they are in the cache. */
export function installerLimits(ceilings: Limits): Limits {
  return withinCeilings(
    { cpus: 1, memoryBytes: 3 * gibibyte, timeoutMs: 300_000, pids: 512, diskBytes: 1.5 * gibibyte },
    ceilings,
  );
}

/** The sandbox of an installation. */
export function installerPlan(
  { image, ociRuntime }: { readonly image: string; readonly ociRuntime: string | undefined },
  limits: Limits,
): SandboxPlan {
  const sizeBytes = Math.min(limits.diskBytes, Math.floor(limits.memoryBytes / 2));
  return {
    kind: "install",
    image,
    ociRuntime,
    limits,
    scratch: [
      { path: workFolder, sizeBytes },
      { path: temporaryFolder, sizeBytes: temporaryBytes },
    ],
    workingDirectory: workFolder,
    lifetimeMs: limits.timeoutMs + lifetimeMarginMs,
  };
}

/** What installs for an image's interpreter, and for what. */
interface Installer {
  /** Null when there is none. */
  readonly manager: PackageManager | null;
  /** The interpreter's version as far as packages depend on it, operating system, processor and C library: its own words. */
  readonly platform: string;
  /** Names of the packages that the interpreter finds without any installation. */
  readonly own: readonly string[];
}

/** What an image may call its platform: it is kept and shown to people. */
const platformForm = /^[\w.+-]+(?: [\w.+-]+)*$/;
const maxPlatformCharacters = 200;

interface InstallerQuestion {
  readonly engine: Engine;
  /** Of the engine's `images.identity`. */
  readonly image: string;
  readonly ociRuntime: string | undefined;
  readonly interpreter: RuntimeName;
  /** Whether it is the host that installs, outside a sandbox: what it installs is kept apart. */
  readonly onHost: boolean;
}

const javascript = `
const { platform, arch, versions } = process;
const { readdirSync, existsSync } = require("node:fs");
const unlessClosed = (look, otherwise) => { try { return look(); } catch { return otherwise(); } };
const musl = platform === "linux" && unlessClosed(
  () => readdirSync("/lib").some((name) => name.startsWith("ld-musl-")),
  () => process.report.getReport().header.glibcVersionRuntime === undefined,
);
const runtime = versions.bun === undefined ? "node-" + versions.modules : "bun-" + versions.bun.split(".").slice(0, 2).join(".");
const paths = (process.env.PATH ?? "").split(":");
const has = (name) => unlessClosed(() => paths.some((folder) => existsSync(folder + "/" + name)), () => false);
const manager = ["bun", "npm"].find(has) ?? null;
const list = (folder) => unlessClosed(() => readdirSync(folder), () => []).filter((name) => /^[\\w@]/.test(name));
const own = list("/node_modules").flatMap((name) => name[0] === "@" ? list("/node_modules/" + name).map((part) => name + "/" + part) : [name]);
console.log(JSON.stringify({ own: own.slice(0, 3000), manager, platform: [runtime, platform, arch, musl ? "musl" : "gnu"].join(" ") }));
`;

const python = `
import importlib.metadata, importlib.util, json, platform, sys, sysconfig
manager = None if importlib.util.find_spec("pip") is None else "pip"
parts = [sys.implementation.cache_tag, sysconfig.get_platform(), str(sysconfig.get_config_var("SOABI")), *platform.libc_ver()]
own = [str(each.metadata["Name"])[:80] for each in importlib.metadata.distributions() if each.metadata is not None]
print(json.dumps({"own": own[:3000], "manager": manager, "platform": " ".join(filter(None, parts))}))
`;

const answerMs = 30_000;

/**
 * Asks in a sandbox what an image installs with, once for each content of an image: the answers are kept in `folder`,
 * and those of a host, which may get another tool at any time, in memory.
 */
export class FindInstaller {
  readonly #sandboxes: Sandboxes;
  readonly #limits: Limits;
  readonly #folder: string;
  readonly #known = new Map<string, Promise<Installer>>();

  constructor(options: { readonly sandboxes: Sandboxes; readonly limits: Limits; readonly folder: string }) {
    this.#sandboxes = options.sandboxes;
    this.#limits = options.limits;
    this.#folder = options.folder;
  }

  /** @throws what opening a sandbox throws, INTERNAL when the interpreter does not answer */
  async find(question: InstallerQuestion, caller: Caller): Promise<Installer> {
    const { engine, image, interpreter, onHost } = question;
    const { images } = await engine.capabilities({ signal: caller.signal });
    const id = createHash("sha256")
      .update(JSON.stringify([3, engine.name, image, interpreter, onHost]))
      .digest("hex")
      .slice(0, 32);
    let known = this.#known.get(id);
    if (known === undefined) {
      const file = images ? path.join(this.#folder, `${id}.json`) : null;
      // Shared by all callers, so one caller's cancellation must not end it; a failure is retried.
      known = this.#findNew(question, file, { principal: caller.principal });
      this.#known.set(id, known);
      known.catch(() => this.#known.delete(id));
    }
    return untilCancelled(known, caller.signal);
  }

  async #findNew(question: InstallerQuestion, file: string | null, caller: Caller): Promise<Installer> {
    const kept = file === null ? null : await read(file);
    if (kept !== null) return kept;
    const installer = await this.#ask(question, caller);
    if (file !== null) await write(file, installer);
    return installer;
  }

  async #ask(question: InstallerQuestion, caller: Caller): Promise<Installer> {
    const { engine, image, ociRuntime, interpreter, onHost } = question;
    const plan = installerPlan({ image, ociRuntime }, this.#limits);
    await using sandbox = await this.#sandboxes.open(engine, plan, caller);
    const limits = { maxOutputBytes: 512 * kibibyte, timeLimitMs: answerMs };
    const hasBun = async (): Promise<boolean> => {
      const asked = runSandboxCommand(sandbox, { command: ["bun", "--version"], ...limits }, caller);
      return (await asked.catch(() => null))?.exitCode === 0;
    };
    // Where there are no images, Bun may come when it is first asked for, and no other program brings npm.
    if (!sandbox.capabilities.images && interpreter === "node" && !onHost) await hasBun();
    const { stdout, stderr } = await runSandboxCommand(sandbox, { command: questionFor(question), ...limits }, caller);
    const installer = parseInstaller(stdout.text());
    if (installer === null) {
      throw new GloveboxError("INTERNAL", `The image's ${interpreter} does not say which packages fit it.`, {
        context: { image, interpreter },
        cause: new Error(stderr.text()),
      });
    }
    if (!onHost) return installer;
    const manager = interpreter === "python" ? installer.manager : (await hasBun()) ? "bun" : null;
    return { ...installer, manager, platform: `${installer.platform} outside a sandbox` };
  }
}

/** Parses an image's answer; null if it is not one of our form. Pure. */
export function parseInstaller(text: string): Installer | null {
  try {
    const { manager, platform, own } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const isKnown = manager === null || manager === "bun" || manager === "npm" || manager === "pip";
    if (!isKnown || typeof platform !== "string" || platform.length > maxPlatformCharacters) return null;
    if (!platformForm.test(platform) || !Array.isArray(own ?? [])) return null;
    return { manager, platform, own: ((own ?? []) as unknown[]).filter((name) => typeof name === "string") };
  } catch {
    return null;
  }
}

async function read(file: string): Promise<Installer | null> {
  return parseInstaller(await readFile(file, "utf8").catch(() => ""));
}

async function write(file: string, installer: Installer): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${createId("new")}`;
  await writeFile(unfinished, JSON.stringify(installer), { mode: 0o600 });
  await rename(unfinished, file);
}

function questionFor({ interpreter, onHost }: InstallerQuestion): readonly string[] {
  if (interpreter !== "python") return [interpreter, "-e", javascript];
  // A guard replaces isolation.
  return ["python3", ...(onHost ? [] : ["-I"]), "-c", python];
}
