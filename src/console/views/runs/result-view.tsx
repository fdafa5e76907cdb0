import type { VNode } from "preact";
import type { SandboxStateAnswer } from "../../../operations/sandboxes/sandbox-state-schema.ts";
import { durationText } from "../../text/amounts.ts";
import { Untrusted, UntrustedOutput } from "../../text/untrusted.tsx";

/** Lines of an output that are shown: the log has all of them. */
const maxLines = 400;

/** What a run produced: its facts, its error, and the end of its output. */
export function ResultView({ answer }: { readonly answer: SandboxStateAnswer }): VNode {
  const { error, stored } = answer;
  const result = (typeof answer.result === "object" ? answer.result : null) as Readonly<Record<string, unknown>> | null;
  const told = error ?? asError(result?.["error"]);
  const facts = [...Object.entries(result ?? {}), ...Object.entries(stored ?? {})].flatMap(([name, value]) =>
    factOf(name, value),
  );
  const outputs = [
    ["stdout", text(result?.["stdout"]) ?? answer.stdout_tail],
    ["stderr", text(result?.["stderr"]) ?? answer.stderr_tail],
    ["output", text(result?.["output"]) ?? ""],
  ] as const;
  return (
    <div class="result">
      {told !== null && (
        <div class="failure">
          <div>
            <p>
              <strong>{told.error_type}</strong> <Untrusted text={told.message} />
            </p>
            <p class="hint">
              <Untrusted text={told.suggestion} />
            </p>
          </div>
        </div>
      )}
      <dl class="fact-table">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name.replaceAll("_", " ")}</dt>
            <dd>
              <Untrusted text={value} max={300} />
            </dd>
          </div>
        ))}
      </dl>
      {outputs.map(([name, output]) => (output === "" ? null : <Output key={name} name={name} output={output} />))}
    </div>
  );
}

function Output({ name, output }: { readonly name: string; readonly output: string }): VNode {
  // Only the end is split: an output may have millions of lines.
  const end = output.slice(-200_000).replace(/\n$/, "");
  const lines = end.split("\n").slice(-maxLines);
  return (
    <section class="output" aria-label={name}>
      <h3>{name}</h3>
      <pre tabIndex={0}>
        {lines.map((line, index) => (
          <div key={index}>
            <UntrustedOutput text={line.slice(0, 4_000)} />
          </div>
        ))}
      </pre>
    </section>
  );
}

const shownFacts = new Set(
  "outcome verdict reason exit_code duration_ms memory_used_mb engine isolation oci_runtime image setup_command coverage policy_digest started_at ended_at session_id env_id interrupted truncated".split(
    " ",
  ),
);

/** A fact that is worth a line; none for what says nothing. */
function factOf(name: string, value: unknown): [string, string][] {
  if (!shownFacts.has(name) || value === null || value === false || value === "") return [];
  if (name === "duration_ms" && typeof value === "number") return [["duration", durationText(value)]];
  return [[name, typeof value === "string" ? value : JSON.stringify(value)]];
}

interface ToldError {
  readonly error_type: string;
  readonly message: string;
  readonly suggestion: string;
}

function asError(value: unknown): ToldError | null {
  const { error_type: type, message, suggestion } = (value ?? {}) as Partial<ToldError>;
  return type === undefined ? null : { error_type: type, message: message ?? "", suggestion: suggestion ?? "" };
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
