import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import type { ExecuteRequest, ExecuteResponse, Glovebox } from "../../helpers/wire-glovebox.ts";
import { testImages } from "../../helpers/test-images.ts";

/** What the programs are told of the host, so that they know what to look for. */
export type AttackParameters = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** One attack to run. */
export interface AttackRun {
  readonly id: string;
  /** Name of its program in `test/fixtures/attacks`; default: its id. */
  readonly program?: string;
  /** Text of a program that stands elsewhere. */
  readonly code?: string;
  /** What it is told besides the parameters of all. */
  readonly parameters?: AttackParameters;
}

/** What an attack said: `BLOCKED: why`, `ESCAPED: what`, or neither, which fails its test. */
export type Verdicts = ReadonlyMap<string, string>;

const folder = new URL("../../fixtures/attacks/", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, folder), "utf8");

/** The program that runs the attacks of a job, each in a process of its own. */
export function readDriver(): string {
  return read("driver.py");
}

/** A program of `test/fixtures/attacks` that runs by itself, with its parameters as JSON in its argument. */
export function soloProgram(name: string): string {
  return `${read("prelude.py")}\nparameters = json.loads(sys.argv[1])\n${read(`${name}.py`)}`;
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

/** Runs attacks in a process of this machine; `descriptors` are left open in it from the fourth on. */
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
  return JSON.stringify({ prelude: read("prelude.py"), parameters, attacks: rows });
}

function parseVerdicts(stdout: string, stderr: string): Verdicts {
  const lines = stdout.split("\n").filter((line) => line !== "");
  if (lines.length === 0) throw new Error(`The attacks did not run: ${stderr}`);
  const rows = lines.map((line) => JSON.parse(line) as { readonly id: string; readonly said: string });
  return new Map(rows.map(({ id, said }) => [id, said]));
}
