import { createHash } from "node:crypto";
import type { Engine, CallOptions } from "../../engines/engine.ts";
import type { Packages } from "../../packages/packages.ts";
import type { ProjectSet } from "../../packages/project-sets.ts";
import { workFolder } from "../../policy/scratch.ts";
import { CopyBudget } from "../../sandbox/copy/copy-budget.ts";
import type { NewTreeEntry, TreeEntry } from "../../sandbox/files/file-way.ts";
import { encodeTar } from "../../sandbox/files/tree-archive.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { SandboxPlan } from "../../sandbox/sandbox-plan.ts";
import type { Caller, Sandboxes } from "../../sandbox/sandboxes.ts";
import { copyFolder } from "../project/copy-project.ts";
import type { InputFiles, InstallerName, KeptInstallation } from "./installers.ts";
import { dirname, join } from "node:path/posix";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { counted } from "../../sandbox/copy/copy-out.ts";
import type { SandboxFiles } from "../../sandbox/files/sandbox-files.ts";

/** The sandbox of an installer, not yet opened. */
export interface InstallerPlan extends AsyncDisposable {
  readonly plan: SandboxPlan;
  /** Watches what it writes to this machine's disk; null: it cannot write there. */
  readonly scratch: { watch(sandbox: Sandbox): void } | null;
}

/** Where dependencies are kept, and what installs them. */
export interface Keeping {
  readonly packages: Pick<Packages, "projects">;
  readonly engine: Engine;
  readonly ociRuntime: string | undefined;
  /** Maximum bytes of all files of one set. */
  readonly diskBytes: number;
  /**
   * Plans a sandbox like the one that gets them, with its own scratch, which is removed when the plan is disposed of.
   */
  readonly planLike: () => Promise<InstallerPlan>;
}

/** One installation to keep. */
export interface KeptRequest extends Keeping, KeptInstallation {
  readonly image: string;
  readonly installer: InstallerName;
  /** All the files that the installer reads, as in the project. */
  readonly inputs: InputFiles;
  readonly environment: Readonly<Record<string, string>>;
  /** Runs a line in the installer's sandbox, with access to the registries. @throws if it fails */
  readonly install: (sandbox: Sandbox, line: string) => Promise<void>;
  readonly onProgress: (message: string) => void;
}

/** Maximum files, folders and links of one set. */
const maxEntries = 200_000;

/**
 * The kept dependencies of a project, as an archive for `putKept`. If they are not kept yet, they are installed first,
 * in a sandbox that has only the installer's files of the project. @throws what installing, packing and opening a
 * sandbox throw
 */
export async function provideKept(request: KeptRequest, caller: Caller): Promise<ProjectSet> {
  const { packages, engine, image, ociRuntime, ecosystem, interpreter, installer, onProgress } = request;
  const inputs = [...Object.keys(request.inputs), digestOf(request)];
  const manager = `project/${installer}` as const;
  const set = { engine, image, ociRuntime, interpreter, ecosystem, manager, inputs };
  return packages.projects.provide(set, caller, {
    make: (sandboxes, digest) => installApart(sandboxes, { ...request, image: digest }, caller),
    onWait: () => onProgress("Waiting for another installation of the same dependencies"),
  });
}

/** Unpacks them into a project's copy, which then owns them. @throws POLICY_DENIED if they do not fit */
export async function putKept(sandbox: Pick<Sandbox, "files">, kept: ProjectSet, { signal }: Caller): Promise<void> {
  await sandbox.files.unpack(workFolder, kept.archive(), { signal });
}

/** Contains none of the files' content, so that a list of sets does not reveal it. */
function digestOf({ installer, line, kept, inputs, environment }: KeptRequest): string {
  const sorted = (table: InputFiles): readonly (readonly string[])[] =>
    Object.entries(table).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const text = JSON.stringify([1, installer, line, kept, sorted(inputs), sorted(environment)]);
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

async function* installApart(
  sandboxes: Sandboxes,
  { engine, image, diskBytes, planLike, files, line, kept, install, onProgress }: KeptRequest,
  caller: Caller,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { signal } = caller;
  await using planned = await planLike();
  await using sandbox = await sandboxes.open(engine, { ...planned.plan, image, kind: "install" }, caller);
  planned.scratch?.watch(sandbox);
  await sandbox.files.writeTree(copyFolder, newFiles(files), { signal });
  await install(sandbox, line);
  onProgress("Keeping the dependencies for later runs");
  const budget = new CopyBudget({ maxBytes: diskBytes, maxEntries });
  yield* encodeTar(keptEntries(sandbox.files, kept, { budget, signal }));
}

function* newFiles(files: InputFiles): Generator<NewTreeEntry, void, undefined> {
  for (const [path, text] of Object.entries(files)) {
    const bytes = Buffer.from(text);
    const chunks = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
      yield bytes;
    };
    yield { kind: "file", path, mode: 0o644, modifiedAtMs: 0, sizeBytes: bytes.length, chunks: chunks() };
  }
}

/** Segments of a path. */
const maxDepth = 64;

/**
 * What is kept of an installer's working folder: files, folders and links at and below `kept`, within the budget,
 * without setuid and setgid bits. Each is read separately, so that no file is a hard link to a download next to them.
 * The tree was created by untrusted code.
 * @throws POLICY_DENIED for more than the budget or for deeper folders, what `SandboxFiles.readTree` throws
 */
export async function* keptEntries(
  files: Pick<SandboxFiles, "readTree">,
  kept: readonly string[],
  { budget, signal }: CallOptions & { readonly budget: CopyBudget },
): AsyncGenerator<NewTreeEntry, void, undefined> {
  for (const place of kept) {
    try {
      let base: string | undefined;
      for await (const entry of files.readTree(`${workFolder}/${place}`, { signal })) {
        // Anything but a folder comes as a single entry, under its own name.
        base ??= entry.path === "" ? place : dirname(place);
        yield* placed(entry, base, budget);
      }
    } catch (error) {
      if (!(error instanceof GloveboxError) || error.errorType !== "NOT_FOUND") throw error;
    }
  }
}

/** The entry below the working folder; none if it is left out. */
function* placed(entry: TreeEntry, base: string, budget: CopyBudget): Generator<NewTreeEntry, void, undefined> {
  const path = join(base, entry.path);
  if (path.split("/").length > maxDepth) throw tooDeep(path);
  if (entry.kind === "other") budget.skip(path, "neither a file, a folder nor a link");
  else if (entry.kind === "file") yield { ...counted(entry, budget), path, mode: entry.mode & 0o777 };
  else {
    budget.take(0);
    const target = entry.kind === "hard-link" ? { target: join(base, entry.target) } : {};
    // A folder that its owner cannot enter could not be filled again.
    yield { ...entry, ...target, path, mode: (entry.mode & 0o777) | (entry.kind === "folder" ? 0o700 : 0) };
  }
}

function tooDeep(path: string): GloveboxError {
  return new GloveboxError(
    "POLICY_DENIED",
    `${JSON.stringify(path.slice(0, 200))} has folders more than ${maxDepth} deep.`,
  );
}
