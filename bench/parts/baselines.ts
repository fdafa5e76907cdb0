import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";

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
  return [interpreters.node, "--input-type=module-typescript", "-e", codeOf.typescript];
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
