import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { ExecuteResponse } from "../../helpers/wire-glovebox.ts";
import { resultAttacks } from "./resource-attacks.ts";
import { soloProgram } from "./run-attacks.ts";
import type { UsedPlace } from "./use-place.ts";

const mebibyte = 2 ** 20;
const limits = { file: 10 * mebibyte, together: 20 * mebibyte, files: 200 };
const secret = "what the host keeps";
const traps = resultAttacks.map(({ id }) => id).filter((id) => id.endsWith(".txt"));

/** A host file that results point to. */
export interface ResultScene extends Disposable {
  /** Runs the programs in sandboxes, collects their results, and returns the verdict for each attack's id. */
  fromSandbox(used: UsedPlace): Promise<ReadonlyMap<string, string>>;
  /** The same in a folder of the host that is read without precautions. */
  fromHost(): ReadonlyMap<string, string>;
}

export function openResultScene(): ResultScene {
  const folder = mkdtempSync(path.join(tmpdir(), "glovebox-results-"));
  const hostFile = path.join(folder, "private.txt");
  writeFileSync(hostFile, secret);
  const parameters = JSON.stringify({ hostFile });
  return {
    fromSandbox: async ({ glovebox, request }) => {
      const results = async (program: string, artifacts: string[]): Promise<Artifacts> =>
        (
          await glovebox().execute({
            ...{ language: "python", code: soloProgram(program), args: [parameters], artifacts },
            ...{ timeout_seconds: 60, limits: { memory_mb: 256 } },
            ...request,
          })
        ).artifacts ?? [];
      const trapped = await results("leaves-traps-as-results", traps);
      return new Map([
        ...traps.map((id) => [id, judgeFile(trapped.find((each) => each.path === id)?.content ?? "")] as const),
        ["many-results", judgeCount((await results("leaves-many-results", ["*.txt"])).length)],
        ["big-results", judgeTogether(bytesOf(await results("leaves-big-results", ["*.bin"])))],
      ]);
    },
    fromHost: () => {
      const made = (program: string): string => {
        const own = path.join(folder, program);
        mkdirSync(own);
        execFileSync("python3", ["-c", soloProgram(program), parameters], { cwd: own });
        return own;
      };
      const trapped = made("leaves-traps-as-results");
      const big = made("leaves-big-results");
      return new Map([
        ...traps.map((id) => [id, readNaively(path.join(trapped, id))] as const),
        ["many-results", judgeCount(readdirSync(made("leaves-many-results")).length)],
        ["big-results", judgeTogether(sum(readdirSync(big).map((name) => statSync(path.join(big, name)).size)))],
      ]);
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

type Artifacts = NonNullable<ExecuteResponse["artifacts"]>;

/** Reads a file as a program that expects one would: for 2 seconds, and only as much as needed to show the effect. */
function readNaively(file: string): string {
  const { stdout, error } = spawnSync("head", ["--bytes", String(limits.file + 1), file], {
    timeout: 2000,
    maxBuffer: limits.file + 2,
    encoding: "utf8",
  });
  return error === undefined ? judgeFile(stdout) : "ESCAPED: held up";
}

function judgeFile(content: string): string {
  if (content.includes(secret)) return "ESCAPED: the host's file";
  return content.length > limits.file ? "ESCAPED: more than a file may have" : "BLOCKED";
}

function judgeCount(files: number): string {
  return files > limits.files ? `ESCAPED: ${files} files` : `BLOCKED: ${files} files`;
}

function judgeTogether(bytes: number): string {
  return bytes > limits.together ? `ESCAPED: ${bytes} bytes` : `BLOCKED: ${bytes} bytes`;
}

function bytesOf(artifacts: Artifacts): number {
  return sum(artifacts.map(({ content, encoding }) => Buffer.byteLength(content, encoding)));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
