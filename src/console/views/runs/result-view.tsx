import type { VNode } from "preact";
import type { SandboxStateAnswer } from "../../../operations/sandboxes/sandbox-state-schema.ts";
import { durationText } from "../../text/amounts.ts";
import { Untrusted, UntrustedOutput } from "../../text/untrusted.tsx";
import { verdictOfAnswer } from "./verdict-of-answer.ts";

/** Lines of an output that are shown: the log has all of them. */
const maxLines = 400;
/** Warnings that are shown. */
const maxWarnings = 50;

/** What a run produced: its error, its warnings, the end of its output, of a failed one what it complained of first, and its facts. */
export function ResultView({ answer }: { readonly answer: SandboxStateAnswer }): VNode {
  const { error, stored } = answer;
  const result = (typeof answer.result === "object" ? answer.result : null) as Readonly<Record<string, unknown>> | null;
  const told = error ?? asError(result?.["error"]);
  const facts = [...Object.entries(result ?? {}), ...Object.entries(stored ?? {})].flatMap(([name, value]) =>
    factOf(name, value),
  );
  const { tone } = verdictOfAnswer(answer);
  const warnings = texts(result?.["warnings"]);
  const written = [
    ["stdout", text(result?.["stdout"]) ?? text(result?.["stdout_tail"]) ?? answer.stdout_tail],
    ["stderr", text(result?.["stderr"]) ?? text(result?.["stderr_tail"]) ?? answer.stderr_tail],
    ["output", text(result?.["output"]) ?? ""],
  ] as const;
  const outputs = tone === "bad" || tone === "warn" ? [written[1], written[0], written[2]] : written;
  return (
    <div class="result">
      {told !== null && (
        <div class="failure">
          <div>
            <p>
              <strong>
                <Untrusted text={told.error_type} max={80} />
              </strong>{" "}
              <Untrusted text={told.message} />
            </p>
            <p class="hint">
              <Untrusted text={told.suggestion} />
            </p>
          </div>
        </div>
      )}
      {warnings.length > 0 && (
        <ul class="warnings" aria-label="Warnings">
          {warnings.slice(0, maxWarnings).map((warning, index) => (
            <li key={index}>
              <Untrusted text={warning} />
            </li>
          ))}
        </ul>
      )}
      {outputs.map(([name, output]) => (output === "" ? null : <Output key={name} name={name} output={output} />))}
      {facts.length > 0 && (
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
      )}
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
      <pre tabIndex={0} ref={showEnd}>
        {lines.map((line, index) => (
          <div key={index}>
            <UntrustedOutput text={line.slice(0, 4_000)} />
          </div>
        ))}
      </pre>
    </section>
  );
}

/** What a program wrote last says most. */
function showEnd(element: HTMLElement | null): void {
  if (element !== null) element.scrollTop = element.scrollHeight;
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

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
