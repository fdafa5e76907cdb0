/** What came of a program. */
export type Result<Response> = Response & {
  /** Whether it ended by itself with exit code 0; of a test run: whether its verdict is `passed`. */
  readonly ok: boolean;
};

/** The fields of results that tell how a program ended, whichever kind it was. */
interface Ending {
  readonly outcome?: string;
  readonly exitCode?: number | null;
  readonly verdict?: string;
  readonly reason?: string;
  readonly error?: { readonly message: string; readonly suggestion: string } | undefined;
}

/** A program that did not end well, for those who asked for an exception (`throwOnError`). */
export class ProgramError<Response = unknown> extends Error {
  override readonly name = "ProgramError";
  /** Everything that is known of it, its output included. */
  readonly result: Result<Response>;

  constructor(result: Result<Response>) {
    super(describeEnd(result));
    this.result = result;
  }
}

/** @throws ProgramError when asked to, for a program that did not end well */
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
