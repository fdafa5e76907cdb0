import { containerEngineChoices, embeddedEngine } from "../../config/engine-words.ts";
import { Option, type Command } from "commander";
import { openCalls, type CommandCalls } from "../open-calls.ts";
import {
  buildImagesContract,
  listImagesContract,
  pullImagesContract,
  exportPreparedContract,
  importPreparedContract,
  type ImageRow,
  type PreparedResponse,
} from "../../operations/images-contract.ts";
import { ProgressLine, type CommandIo, type SetExitCode } from "../command-io.ts";
import { formatTable, escapeLine, indented } from "../output/terminal-text.ts";
import { LiveEvents } from "../output/live-events.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import { executeCodeContract } from "../../operations/execute-contract.ts";
import {
  checkMountContract,
  listMountsContract,
  type CheckMountResponse,
  type ListMountsResponse,
  type CheckMountRequest,
} from "../../operations/mounts-contract.ts";
import { mountUses } from "../../operations/contract/wire-values.ts";
import type { MountUse } from "../../policy/mounts/mount-policy.ts";
import { checkChoice } from "../../policy/request/invalid-value.ts";
import { exitCodes } from "../exit-code.ts";
import { listPackagesContract, prunePackagesContract, type PackageSetRow } from "../../operations/packages-contract.ts";
import { mebibyte, parseBytes } from "../../base/bytes.ts";

interface ImagesOptions {
  readonly engine?: string;
  readonly json?: boolean;
}

/** `glovebox images`: lists the default images and whether they are here, and gets them. */
export function addImagesCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  const images = program
    .command("images")
    // Its options may also come after its subcommands.
    .enablePositionalOptions(false)
    .option("--engine <engine>", `${containerEngineChoices} (default: auto)`)
    .option("--json", "print one JSON object")
    .action(async (options: ImagesOptions) => {
      await withProgress(io, async (calls, call) => {
        printImages((await calls.send(listImagesContract, imagesRequest(options), call)).images, options, io);
      });
      setExitCode(0);
    });
  images
    .command("pull")
    .description("Pull images; default: the default images that are missing.")
    .argument("[references...]", "images to pull")
    .action(async (references: string[], _: unknown, command: Command) => {
      const options = command.optsWithGlobals<ImagesOptions>();
      await withProgress(io, async (calls, call) => {
        const asked = references.length > 0 ? { images: references } : {};
        const { images: pulled } = await calls.send(pullImagesContract, { ...imagesRequest(options), ...asked }, call);
        printImages(pulled, options, io);
      });
      setExitCode(0);
    });
  images
    .command("build")
    .description("Rebuild Glovebox's own images; default: the session image.")
    .argument("[images...]", "bun-runner-base, glovebox-agent, or glovebox-agent:NAME for another agent")
    .action(async (named: string[], _: unknown, command: Command) => {
      const options = command.optsWithGlobals<ImagesOptions>();
      await withProgress(io, async (calls, call) => {
        const asked = named.length > 0 ? { images: named } : {};
        printImages(
          (await calls.send(buildImagesContract, { ...imagesRequest(options), ...asked }, call)).images,
          options,
          io,
        );
      });
      setExitCode(0);
    });
}

type Work = (
  calls: CommandCalls,
  call: Pick<LiveEvents, "onEvent"> & { readonly signal: AbortSignal },
) => Promise<void>;

interface PrepareOptions {
  readonly export?: string;
  readonly import?: string;
  readonly engine?: string | undefined;
  readonly e2b?: true | undefined;
  readonly json?: boolean;
}

/** What was prepared, and what this machine has no engine for. */
interface Prepared {
  readonly ready: readonly string[];
  readonly left_out: readonly string[];
  /** What was exported to a folder, or imported from one. */
  readonly files?: PreparedResponse["files"];
}

type Prepare = (calls: CommandCalls, call: Parameters<CommandCalls["send"]>[2]) => Promise<readonly string[]>;

/** `glovebox prepare`: fetches ahead of time what would otherwise be fetched when first needed. */
export function addPrepareCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("prepare")
    .addOption(new Option("--engine <engine>", "prepare only this engine (default: every engine used here)"))
    .option("--e2b", "also the images of the templates of E2B's clients (docs/clients.md)")
    .option("--export <folder>", "also write it all into this new folder, for a machine without a network")
    .option("--import <folder>", "take it from such a folder, checked by its digests, instead of fetching it")
    .option("--json", "print one JSON object")
    .action(async ({ engine, json, e2b, ...folders }: PrepareOptions) => {
      if (folders.export !== undefined && folders.import !== undefined) {
        throw invalidField("--import", "to be left out beside --export", folders.import);
      }
      const progress = new ProgressLine(io.stderr);
      await using calls = await openCalls();
      if (calls.isRemote) throw onThisMachine();
      try {
        const prepared = await prepareWith(folders, { engine, e2b }, calls, {
          signal: io.signal,
          onEvent: (event) => {
            if (event.type === "progress") progress.show(event.message, event.fraction);
          },
        });
        const { ready, left_out, files = [] } = prepared;
        progress.clear();
        if (json === true) io.stdout.write(`${JSON.stringify(prepared)}\n`);
        else {
          const verb = folders.export === undefined ? "imported" : "exported";
          const rows = files.map(({ what, sha256 }) => `${escapeLine(`${verb}: ${what}, sha256 ${sha256}`)}\n`);
          io.stdout.write([...ready.map((each) => `ready: ${each}\n`), ...rows].join(""));
          io.stderr.write(left_out.map((each) => `glovebox: left out: ${each}\n`).join(""));
        }
        setExitCode(0);
      } finally {
        progress.clear();
      }
    });
}

interface CheckOptions {
  readonly as?: string;
  readonly readOnly?: boolean;
  readonly readWrite?: boolean;
  readonly main?: boolean;
  readonly target?: string;
  readonly json?: boolean;
}

/** `glovebox mounts check` and `list`: which paths of this machine sandboxes may get, and why. */
export function addMountsCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  const mounts = program.command("mounts");
  mounts
    .command("check")
    .description("Say whether a sandbox can get a path, by which rule, and what would allow it.")
    .argument("<path>", "file or folder")
    .option("--as <use>", "project (including files in one) or additional (default: both)")
    .option("--read-only", "ask for reading only")
    .option("--read-write", "ask for writing too")
    .option("--main", "ask for the main group")
    .option("--target <path>", "relative path below /workspace/extra")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nExit code: 0 if it is allowed (with --read-write: writable) for one of the requested uses, else 1.",
    )
    .action(async (path: string, options: CheckOptions) => {
      const request = checkRequest(path, options);
      await using calls = await openCalls();
      const response = await calls.send(checkMountContract, request, { signal: io.signal });
      io.stdout.write(options.json === true ? `${JSON.stringify(response)}\n` : mountCheckReport(response));
      setExitCode(isGranted(response, options) ? 0 : exitCodes.refused);
    });
  mounts
    .command("list")
    .description("Show the allowlist, the allowed folders, the blocked patterns and the protected places.")
    .option("--json", "print one JSON object")
    .action(async ({ json }: { readonly json?: boolean }) => {
      await using calls = await openCalls();
      const response = await calls.send(listMountsContract, {}, { signal: io.signal });
      io.stdout.write(json === true ? `${JSON.stringify(response)}\n` : mountsReport(response));
      setExitCode(0);
    });
}

interface PackagesOptions {
  readonly json?: boolean;
  readonly to?: string;
  readonly all?: boolean;
}

/** `glovebox packages`: the cache of packages that were installed for runs. */
export function addPackagesCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  const packages = program
    .command("packages")
    // Its options may also come after its subcommands.
    .enablePositionalOptions(false)
    .option("--json", "print one JSON object");
  const add = (
    name: string,
    description: string,
    work: (calls: CommandCalls, options: PackagesOptions) => Promise<void>,
  ): Command =>
    packages
      .command(name, { isDefault: name === "list" })
      .description(description)
      .action(async (_: unknown, command: Command) => {
        await using calls = await openCalls();
        await work(calls, command.optsWithGlobals<PackagesOptions>());
        setExitCode(0);
      });
  const print = (value: object, text: string, { json }: PackagesOptions): void => {
    io.stdout.write(json === true ? `${JSON.stringify(value)}\n` : text);
  };

  add("list", "List them, most recently used first.", async (calls, options) => {
    const response = await calls.send(listPackagesContract, {}, {});
    print(response, packageTable(response.sets) || "No packages are kept yet.\n", options);
  });
  add("size", "Show how much disk they use, and the limit.", async (calls, options) => {
    const { sets, size_mb, max_mb } = await calls.send(listPackagesContract, {}, {});
    const text = `${size_mb} MB of ${max_mb} MB in ${sets.length} ${sets.length === 1 ? "set" : "sets"}\n`;
    print({ sets: sets.length, size_mb, max_mb }, text, options);
  });
  add("prune", "Remove the least recently used ones, never one in use.", async (calls, options) => {
    const to =
      options.all === true ? 0 : options.to === undefined ? undefined : parseBytes(options.to, "--to") / mebibyte;
    const response = await calls.send(prunePackagesContract, { max_mb: to }, {});
    const { removed, size_mb } = response;
    print(response, `${packageTable(removed)}${removed.length} removed, ${size_mb} MB left\n`, options);
  })
    .option("--to <size>", "remove until at most this much is left, such as 500m (default: packages.max_mb)")
    .option("--all", "remove all that are not in use");
}

/** Characters of a digest that are shown. */
const shortDigest = 12;

/** Sets of packages, a line each: sets of the same packages differ in what installed them, for what, and for whom. */
export function packageTable(sets: readonly PackageSetRow[]): string {
  if (sets.length === 0) return "";
  const cells = sets.map((set) => [
    set.requested.map((name) => withVersion(name, set.packages)).join(" "),
    set.installed_by,
    set.platform,
    `${set.engine} ${imageWords(set.image)}`,
    ownerWords(set.principal),
    `${set.size_mb} MB`,
    set.last_used_at.slice(0, 16).replace("T", " "),
    set.in_use ? "yes" : "no",
  ]);
  return formatTable(["PACKAGES", "BY", "FOR", "INSTALLED ON", "OWNER", "SIZE", "LAST USED", "IN USE"], cells);
}

/** Fetches and exports to a folder; or imports from one, and then fetches only what is missing. */
async function prepareWith(
  folders: Pick<PrepareOptions, "export" | "import">,
  { engine, e2b }: Pick<PrepareOptions, "engine" | "e2b">,
  calls: CommandCalls,
  call: Parameters<Prepare>[1],
): Promise<Prepared> {
  const named = engine === undefined || engine === "auto" ? {} : { engine };
  if (folders.import !== undefined) {
    const { files } = await calls.send(importPreparedContract, { folder: folders.import, ...named }, call);
    const steps = files.some(({ file }) => file.endsWith(".tgz")) ? [bun] : [];
    // What was imported is there, whether or not this machine can run Bun now.
    return { ...(await prepare(steps, calls, call, true)), files };
  }
  const prepared = await prepare(stepsFor({ engine, e2b }), calls, call);
  if (folders.export === undefined) return prepared;
  const { files } = await calls.send(exportPreparedContract, { folder: folders.export, ...named, e2b }, call);
  return { ...prepared, files };
}

/** Bun comes with the first program that runs under it, which also shows that it does. */
const bun: Prepare = async (calls, call) => {
  const program = { language: "javascript", code: "0", engine: embeddedEngine, runtime: "bun" };
  const { outcome, error } = await calls.send(executeCodeContract, program, call);
  if (outcome === "completed") return [`JavaScript and TypeScript on engine ${embeddedEngine}`];
  throw new GloveboxError(
    "ENGINE_UNAVAILABLE",
    `A program on engine ${embeddedEngine} ended: ${outcome}. ${error?.message ?? ""}`,
  );
};

const images =
  (asked: Pick<PrepareOptions, "engine" | "e2b">): Prepare =>
  async (calls, call) =>
    (await calls.send(pullImagesContract, asked, call)).images.map((row) => `image ${row.image} (${row.engine})`);

function stepsFor({ engine, e2b }: Pick<PrepareOptions, "engine" | "e2b">): readonly Prepare[] {
  if (engine === embeddedEngine) return [bun];
  return engine === undefined || engine === "auto" ? [images({ e2b }), bun] : [images({ engine, e2b })];
}

/**
 * Prepares everything; engines that this machine does not have are skipped, as long as there is one.
 * @throws the error of a failed fetch, or of the first engine if there is none
 */
async function prepare(
  steps: readonly Prepare[],
  calls: CommandCalls,
  call: Parameters<Prepare>[1],
  mayLackAll = false,
): Promise<Prepared> {
  const missing: GloveboxError[] = [];
  const attempt = async (step: Prepare): Promise<readonly string[]> => {
    try {
      return await step(calls, call);
    } catch (error) {
      if (!isAbsentEngine(error)) throw error;
      missing.push(error);
      return [];
    }
  };
  const ready = (await Promise.all(steps.map(attempt))).flat();
  if (!mayLackAll && ready.length === 0 && missing[0] !== undefined) throw missing[0];
  return { ready, left_out: missing.map(({ message }) => message) };
}

function isAbsentEngine(error: unknown): error is GloveboxError {
  if (!(error instanceof GloveboxError) || error.context["missing"] === "bun") return false;
  return error.errorType === "ENGINE_UNAVAILABLE" || error.errorType === "UNSUPPORTED";
}

function onThisMachine(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "prepare is for this machine, and GLOVEBOX_URL names a server.", {
    suggestion: "Run it on the server's machine, or unset GLOVEBOX_URL.",
  });
}

function imagesRequest({ engine }: ImagesOptions): { engine?: string } {
  return engine === undefined ? {} : { engine };
}

async function withProgress(io: CommandIo, work: Work): Promise<void> {
  using live = new LiveEvents(io.stderr);
  await using calls = await openCalls();
  await work(calls, { signal: io.signal, onEvent: live.onEvent });
}

function printImages(rows: readonly ImageRow[], { json }: ImagesOptions, io: CommandIo): void {
  if (json === true) {
    io.stdout.write(`${JSON.stringify({ images: rows })}\n`);
    return;
  }
  const cells = rows.map((row) => [row.image, row.present ? "yes" : "no", row.used_for.join(", ")]);
  io.stdout.write(formatTable(["IMAGE", "PRESENT", "USED FOR"], cells));
}

type Verdict = CheckMountResponse["verdicts"][number];

const titles: Readonly<Record<Verdict["use"], string>> = {
  project: "As a project or a file of one",
  additional: "As an additional mount",
};

/** The gate's verdict on a path, for people. */
function mountCheckReport({ path, real_path: realPath, kind, verdicts, notices }: CheckMountResponse): string {
  const lines = [
    ...notices.flatMap((notice) => indented(notice, "note: ", "      ")),
    path,
    ...(realPath === null ? [] : [`     real path:  ${realPath} (${kind ?? "unknown"})`]),
    ...verdicts.flatMap(verdictLines),
  ];
  return `${lines.map(escapeLine).join("\n")}\n`;
}

function verdictLines(verdict: Verdict): string[] {
  const answer = verdict.allowed ? `allowed, ${verdict.read_only ? "read-only" : "read-write"}` : "refused";
  return [
    `${verdict.allowed ? "[ok]" : "[--]"} ${titles[verdict.use]}: ${answer}`,
    ...field("rule", verdict.rule),
    ...field("root", verdict.root === null ? null : `${verdict.root} (${verdict.listed_as ?? ""})`),
    ...field("why", verdict.explanation),
    ...field("target", verdict.target),
    ...field(verdict.allowed ? "for more" : "allowed by", verdict.what_would_allow),
  ];
}

function field(name: string, text: string | null): string[] {
  return text === null ? [] : indented(text, `     ${`${name}:`.padEnd(12)}`, " ".repeat(17));
}

/** The mount policy in force, for people. */
function mountsReport(response: ListMountsResponse): string {
  const { allowlist, looked_for: lookedFor, roots, blocked_patterns: patterns, notices } = response;
  const whats = [...new Set(patterns.map(({ what }) => what))];
  const blocked = whats.flatMap((what) => [
    `     ${what ?? "of the mount allowlist"}`,
    ...indented(patterns.flatMap((row) => (row.what === what ? [row.pattern] : [])).join(", "), "       "),
  ]);
  const rows = roots.map((root) => [
    root.exists ? root.path : `${root.path} (missing)`,
    root.allow_read_write ? "read-write" : "read-only",
    root.listed_as,
    root.description ?? "",
  ]);
  return [
    ...notices.map((notice) => `${indented(notice, "note: ", "      ").join("\n")}\n`),
    `Mount allowlist: ${escapeLine(allowlist ?? `none (looked for ${lookedFor.join(", ")})`)}\n`,
    `Additional mounts of other groups than the main one: ${response.non_main_read_only ? "read-only" : "as the root says"}\n`,
    "\nFolders that may be used\n",
    rows.length === 0 ? "     none\n" : formatTable(["FOLDER", "ACCESS", "LISTED AS", "DESCRIPTION"], rows),
    "\nBlocked patterns, in any component of a path\n",
    `${blocked.map(escapeLine).join("\n")}\n`,
    "\nPlaces that no sandbox gets, nor a folder that holds one\n",
    formatTable(
      ["PLACE", "WHAT"],
      response.protected_places.map(({ path, what }) => [path, what]),
    ),
  ].join("");
}

function checkRequest(path: string, options: CheckOptions): CheckMountRequest {
  if (options.readOnly === true && options.readWrite === true) {
    throw new GloveboxError("INVALID_REQUEST", "--read-only and --read-write: expected one of them.", {
      suggestion: "Leave one of them out.",
      context: { field: "--read-only" },
    });
  }
  const use: MountUse | undefined = options.as === undefined ? undefined : checkChoice(options.as, mountUses, "--as");
  return {
    path,
    use,
    access: options.readOnly === true ? "read-only" : "read-write",
    is_main: options.main === true,
    target: options.target,
  };
}

function isGranted({ verdicts }: CheckMountResponse, { readWrite }: CheckOptions): boolean {
  return verdicts.some((verdict) => verdict.allowed && !(readWrite === true && verdict.read_only));
}

/** A name that was asked for without a version, with the one it got; of a project's files the digest is cut. */
function withVersion(requested: string, packages: readonly string[]): string {
  const found = packages.find((each) => each.startsWith(`${requested}@`) || each.startsWith(`${requested}==`));
  return found ?? requested.replace(/^(sha256:[0-9a-f]{12})[0-9a-f]+$/, "$1");
}

/** An image is a digest; without images the host's own interpreters have one. */
function imageWords(image: string): string {
  const [, kind = "", digest = image] = /^(sha256|host):([0-9a-f]+)$/.exec(image) ?? [];
  return `${kind === "host" ? "host " : ""}${digest.slice(0, shortDigest)}`;
}

function ownerWords(principal: string | null): string {
  if (principal === null) return "all";
  return principal === "local" ? "you" : principal.replace(/^key:/, "key ");
}
