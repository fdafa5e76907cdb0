import { execFile, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "../test/helpers/project-folder.ts";

/** Python packages that speak E2B's protocol, and what their tests need; the repository's tests are of E2B's SDK. */
export const pythonPackages = [
  "e2b==2.63.0",
  "e2b-code-interpreter==2.11.5",
  "langchain-e2b==0.0.6",
  "deepagents==0.6.12",
  "langchain-tests==1.1.9",
  "smolagents==1.26.0",
  "openai-agents==0.24.0",
  "pytest==9.2.0",
  "pytest-asyncio==1.5.0",
  "pytest-timeout>=2.4,<3",
  "pytest-xdist==3.8.0",
];
const nodePackages = [
  "e2b@2.51.0",
  "@openai/agents@0.20.0",
  "@openai/agents-extensions@0.18.0",
  "@computesdk/e2b@1.7.52",
  "@mastra/core@1.71.0",
  "@mastra/e2b@0.8.0",
];

export const clientPrograms = join(projectFolder, "test/fixtures/foreign-clients");

/** A short program that uses a client of others as its users do. */
export interface ClientProgram {
  /** The client and its language. */
  readonly name: string;
  readonly package: string;
  readonly file: string;
  /** What it prints on a sandbox that serves it. */
  readonly prints: string;
  /** Why it cannot run here, with a part of the error that it ends with; undefined: it runs. */
  readonly refused?: { readonly error: string; readonly reason: string };
}

const pauses = "autoPause, autoPauseMemory and autoResume is not served";

export const programs: readonly ClientProgram[] = [
  { name: "E2B's SDK, Python", package: "e2b==2.63.0", file: "e2b_sdk.py", prints: "hello\nabc\n" },
  { name: "E2B's SDK, JavaScript", package: "e2b@2.51.0", file: "e2b-sdk.mjs", prints: "abc\n" },
  {
    ...{ name: "smolagents, E2B executor", package: "smolagents==1.26.0" },
    ...{ file: "smolagents_executor.py", prints: "42\n42\nTrue\n" },
  },
  {
    ...{ name: "OpenAI Agents, Python", package: "openai-agents==0.24.0" },
    ...{ file: "openai_agents.py", prints: "abc\nabc\nTrue\n" },
  },
  {
    ...{ name: "OpenAI Agents, JavaScript", package: "@openai/agents-extensions@0.18.0" },
    ...{ file: "openai-agents.mjs", prints: "true true\ntrue false\n" },
  },
  {
    ...{ name: "computesdk", package: "@computesdk/e2b@1.7.52" },
    ...{ file: "computesdk.mjs", prints: "hello 3\nabc false\n" },
  },
  {
    ...{ name: "Mastra", package: "@mastra/e2b@0.8.0", file: "mastra.mjs", prints: "hello 3\n" },
    refused: { error: pauses, reason: "asks for a pause at the end of the time, always" },
  },
];

/** What clients find a server by. */
export function clientEnvironment(key: string, url: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    // Some clients insist on keys of E2B's form.
    E2B_API_KEY: `e2b_${key}`,
    E2B_API_URL: url,
    E2B_SANDBOX_URL: url,
    // Beyond the form, they are not like E2B's.
    E2B_VALIDATE_API_KEY: "false",
  };
}

/** Why a folder has no packages of clients; null: it has those above. */
export function lackOfClients(folder: string | undefined): string | null {
  if (folder === undefined || folder === "") return "GLOVEBOX_TEST_CLIENTS names no folder; npm run clients makes one";
  const stamp = join(folder, "packages.json");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return null;
  return `${folder} has not the packages of scripts/foreign-clients.ts; npm run clients installs them`;
}

const wanted = JSON.stringify([pythonPackages, nodePackages]);

/** Installs the packages into a folder outside of the checkout, unless they are there. */
export function installClients(folder: string): void {
  if (lackOfClients(folder) === null) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  runOrThrow("python3", ["-m", "venv", join(folder, "venv")]);
  runOrThrow(join(folder, "venv/bin/pip"), ["install", "--quiet", ...pythonPackages]);
  const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--no-save"];
  runOrThrow("npm", ["install", ...quiet, "--prefix", folder, ...nodePackages]);
  writeFileSync(join(folder, "packages.json"), wanted);
}

/** Runs a program of the table, which finds its packages beside it, until it ends; `exitCode` may be the signal that ended it. */
export function runProgram(
  folder: string,
  { file }: Pick<ClientProgram, "file">,
  environment: NodeJS.ProcessEnv,
): Promise<{ readonly exitCode: number | string | null; readonly stdout: string; readonly stderr: string }> {
  const program = join(folder, "programs", file);
  cpSync(clientPrograms, join(folder, "programs"), { recursive: true });
  const command = file.endsWith(".py") ? join(folder, "venv/bin/python") : process.execPath;
  return new Promise((resolve) => {
    execFile(command, [program], { env: environment, timeout: 110_000 }, (error, stdout, stderr) =>
      resolve({ exitCode: error === null ? 0 : (error.code ?? error.signal ?? null), stdout, stderr }),
    );
  });
}

function runOrThrow(command: string, words: readonly string[]): void {
  const { status, error } = spawnSync(command, words, { stdio: ["ignore", "inherit", "inherit"] });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ended with ${status}`);
}
