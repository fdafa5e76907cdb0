import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import type { ExecuteRequest, ExecuteResponse, Glovebox } from "../../helpers/wire-glovebox.ts";
import {
  attackJob,
  parseSaid,
  soloProgram as aloneProgram,
  type AttackParameters,
  type Said,
} from "../../../src/workloads/proof/attack-programs.ts";
import { testImages } from "../../helpers/test-images.ts";

export type { AttackParameters } from "../../../src/workloads/proof/attack-programs.ts";

/** One attack to run. */
export interface AttackRun {
  readonly id: string;
  /** Name of its program in `images/attacks` or `test/fixtures/attacks`; default: its id. */
  readonly program?: string;
  /** Text of a program that is elsewhere. */
  readonly code?: string;
  /** Parameters of this attack alone, in addition to the shared ones. */
  readonly parameters?: AttackParameters;
}

/** What an attack said; its test fails unless that is `BLOCKED` or `ESCAPED`. */
export type Verdicts = Said;

const folders = ["../../../images/attacks/", "../../fixtures/attacks/"].map((each) => new URL(each, import.meta.url));
/** Attacks that are shipped come first. */
function read(file: string): string {
  const found = folders.map((folder) => new URL(file, folder)).find((each) => existsSync(each));
  if (found === undefined) throw new Error(`There is no attack ${file}.`);
  return readFileSync(found, "utf8");
}

/** The program that runs the attacks of a job, each in a separate process. */
export function readDriver(): string {
  return read("driver.py");
}

/** A standalone program from `images/attacks` or `test/fixtures/attacks`, with its parameters as JSON in its argument. */
export function soloProgram(name: string): string {
  return aloneProgram({ prelude: read("prelude.py"), code: read(`${name}.py`) });
}

/** Runs attacks one after another in one sandbox. */
export async function attackFromSandbox(
  glovebox: Glovebox,
  attacks: readonly AttackRun[],
  parameters: AttackParameters,
  request: Partial<ExecuteRequest> = {},
): Promise<{ readonly verdicts: Verdicts; readonly response: ExecuteResponse }> {
  const response = await glovebox.execute({
    language: "python",
    code: readDriver(),
    stdin: jobOf(attacks, parameters),
    timeout_seconds: 240,
    ...request,
  });
  return { verdicts: parseVerdicts(response.stdout, response.stderr), response };
}

/** Runs attacks in a container of plain `docker run` with these options. */
export function attackFromContainer(
  options: readonly string[],
  attacks: readonly AttackRun[],
  parameters: AttackParameters,
): Promise<Verdicts> {
  const argv = ["run", "--rm", "--interactive", ...options, testImages.python, "python3", "-c", readDriver()];
  return attackFrom("docker", argv, attacks, parameters);
}

/** Runs attacks in a process on this machine; `descriptors` are left open in it, starting at number 3. */
export async function attackFrom(
  file: string,
  argv: readonly string[],
  attacks: readonly AttackRun[],
  parameters: AttackParameters,
  descriptors: readonly number[] = [],
): Promise<Verdicts> {
  const child = spawn(file, argv, { stdio: ["pipe", "pipe", "pipe", ...descriptors] });
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("No pipes.");
  stdin.end(jobOf(attacks, parameters));
  const [said, complaints] = await Promise.all([text(stdout), text(stderr), once(child, "close")]);
  return parseVerdicts(said, complaints);
}

function jobOf(attacks: readonly AttackRun[], parameters: AttackParameters): string {
  const rows = attacks.map(({ id, program = id, code, parameters: own = {} }) => ({
    id,
    code: code ?? read(`${program}.py`),
    parameters: own,
  }));
  return attackJob(read("prelude.py"), rows, parameters);
}

function parseVerdicts(stdout: string, stderr: string): Verdicts {
  const said = parseSaid(stdout);
  if (said.size === 0) throw new Error(`The attacks did not run: ${stderr}`);
  return said;
}
