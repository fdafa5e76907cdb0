/** The result of a program. */
export type Result<Response> = Response & {
  /** Whether it ended by itself with exit code 0; of a test run: whether its verdict is `passed`. */
  readonly ok: boolean;
};

/** The fields in which results say how a program ended, whatever kind it was. */
interface Ending {
  readonly outcome?: string;
  readonly exitCode?: number | null;
  readonly verdict?: string;
  readonly reason?: string;
  readonly error?: { readonly message: string; readonly suggestion: string } | undefined;
}

/** A program that failed, for callers that asked for an exception (`throwOnError`). */
export class ProgramError<Response = unknown> extends Error {
  override readonly name = "ProgramError";
  /** Everything known about it, including its output. */
  readonly result: Result<Response>;

  constructor(result: Result<Response>) {
    super(describeEnd(result));
    this.result = result;
  }
}

/** @throws ProgramError for a program that failed, if asked to */
export function resultOf<Response>(response: Response, throwOnError: boolean): Result<Response> {
  const { outcome, exitCode, verdict } = response as Ending;
  const hasEnded = outcome === undefined ? exitCode === 0 : outcome === "completed";
  const ok = verdict === undefined ? hasEnded : verdict === "passed";
  const result = { ...response, ok };
  if (throwOnError && !ok) throw new ProgramError(result);
  return result;
}

function describeEnd(result: object): string {
  const { outcome = "failed", exitCode, error, verdict, reason } = result as Ending;
  if (error !== undefined) return `${error.message} ${error.suggestion}`;
  if (verdict !== undefined) return `The tests ended: ${verdict}. ${reason ?? ""}`.trim();
  return exitCode === null || exitCode === undefined
    ? `The program ended: ${outcome}.`
    : `The program ended with exit code ${exitCode}.`;
}
