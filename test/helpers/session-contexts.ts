import type { Glovebox, RunCodeRequest, RunCodeResponse } from "./wire-glovebox.ts";

/** Makes a call in a context, in Python unless it says otherwise; undefined: that of its language. */
type Run = (context: string | undefined, code: string, more?: Partial<RunCodeRequest>) => Promise<RunCodeResponse>;

/** Calls in contexts of a new session, which has had one in that of Python. */
export async function openContexts(
  glovebox: Glovebox,
  runtime: Pick<RunCodeRequest, "oci_runtime">,
): Promise<{ readonly run: Run; readonly session_id: string }> {
  const { session_id } = await glovebox.openSession({ keep_variables: true, ...runtime });
  const run: Run = (context, code, more = {}) => glovebox.runCode({ ...python(code), session_id, context, ...more });
  await run(undefined, "pass");
  return { run, session_id };
}

/** What the call's value looks like, or what went wrong. */
export const shown = ({ displays, stderr }: RunCodeResponse): string => displays?.[0]?.content ?? stderr;

export function python(code: string): RunCodeRequest {
  return { language: "python", code, packages: [] };
}
