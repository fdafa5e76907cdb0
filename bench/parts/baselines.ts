import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import type { BenchPlan } from "./report.ts";

export const runFile = promisify(execFile);

export const benchLanguages = ["python", "javascript", "typescript"] as const;
export type BenchLanguage = (typeof benchLanguages)[number];

/** The smallest program of each language that proves that it ran. */
export const codeOf: Readonly<Record<BenchLanguage, string>> = {
  python: "print(42)",
  javascript: "console.log(42)",
  typescript: "const answer: number = 42;\nconsole.log(answer);",
};

/** Program and arguments that run it without Glovebox. */
export function bareCommand(language: BenchLanguage, interpreters: Interpreters): readonly string[] {
  if (language === "python") return [interpreters.python, "-c", codeOf.python];
  if (language === "javascript") return [interpreters.node, "-e", codeOf.javascript];
  // CommonJS as in Glovebox: the program has neither imports nor exports.
  return [interpreters.node, "--input-type=commonjs-typescript", "-e", codeOf.typescript];
}

export interface Interpreters {
  readonly python: string;
  readonly node: string;
}

/** In images. */
export const insideInterpreters: Interpreters = { python: "python3", node: "node" };

/** On this machine: the interpreter itself, because a version manager's shim would take most of the time. */
export async function hostInterpreters(): Promise<Interpreters> {
  const { stdout } = await runFile("python3", ["-c", "import sys; print(sys.executable)"]);
  return { python: stdout.trim(), node: process.execPath };
}

/** A container that idles, for `docker exec`. */
export async function idleContainer(image: string): Promise<AsyncDisposable & { readonly name: string }> {
  const name = `glovebox-bench-${randomUUID()}`;
  await runFile("docker", ["run", "--detach", "--rm", "--network", "none", "--name", name, image, "sleep", "3600"]);
  return { name, [Symbol.asyncDispose]: async () => void (await runFile("docker", ["rm", "--force", name])) };
}

/** How one does without Glovebox what it does on that engine, by the name of the row. */
export function byHandName(engine: string): string {
  return engine === "local" ? "bubblewrap by hand" : `${engine} run --rm`;
}

/** What a command by hand has besides its image. */
interface ByHandPlace {
  /** Mounted at `/project`, read-only, and where the command starts; default: none. */
  readonly project?: string | undefined;
  /** Whether it has this machine's network; only on `local`. Default false. */
  readonly hasNetwork?: boolean | undefined;
}

/**
 * A command in a fresh sandbox without a network, made by hand: a container of the same image, or on `local` bubblewrap's
 * own namespaces with this machine's files.
 */
export function byHand(
  engine: string,
  image: string,
  command: readonly string[],
  { project, hasNetwork = false }: ByHandPlace = {},
): readonly string[] {
  if (engine === "local") {
    const place = project === undefined ? [] : ["--chdir", project];
    const root = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/dev/shm"];
    const apart = ["--unshare-all", ...(hasNetwork ? ["--share-net"] : []), "--die-with-parent", "--new-session"];
    return ["bwrap", ...apart, ...root, ...place, ...command];
  }
  const place = project === undefined ? [] : ["--volume", `${project}:/project:ro`, "--workdir", "/project"];
  return [engine, "run", "--rm", "--network", "none", ...place, image, ...command];
}

/** The program of that language by hand on that engine, with the interpreter that Glovebox uses there. */
export async function programByHand(
  language: BenchLanguage,
  engine: string,
  { images }: Pick<BenchPlan, "images">,
): Promise<() => Promise<unknown>> {
  const interpreters = engine === "local" ? await hostInterpreters() : insideInterpreters;
  const [file = "", ...argv] = byHand(engine, images[language], bareCommand(language, interpreters));
  return () => runFile(file, argv);
}
