import type { VNode } from "preact";
import { Untrusted, UntrustedOutput } from "../text/untrusted.tsx";
import type { TestLeaf } from "./test-tree.ts";

/** Lines of a failure's details that are drawn. */
const maxLines = 200;

/** Why a test failed: where, its message, and the rest as it came. */
export function FailureDetails({ test }: { readonly test: TestLeaf }): VNode {
  const { file, line, message, details } = test;
  // Most stacks begin with the message.
  const isTold = details.includes(message.trim());
  return (
    <div class="failure-details">
      {file !== null && (
        <p class="place">
          <Untrusted text={line === null ? file : `${file}:${line}`} max={500} />
        </p>
      )}
      {message.trim() !== "" && !isTold && <Lines text={message.trimEnd()} />}
      {details.trim() !== "" && <Lines text={details.trimEnd()} />}
    </div>
  );
}

function Lines({ text }: { readonly text: string }): VNode {
  const lines = text.slice(0, 100_000).split("\n");
  return (
    <pre tabIndex={0}>
      {lines.slice(0, maxLines).map((line, index) => (
        <div key={index} class={classOf(line)}>
          <UntrustedOutput text={line.slice(0, 2_000)} />
        </div>
      ))}
      {lines.length > maxLines && <div class="mark">{lines.length - maxLines} more lines</div>}
    </pre>
  );
}

/** Expected and actual, as runners mark them. */
function classOf(line: string): string {
  if (/^\s*\+(?!\+\+)/.test(line)) return "diff-added";
  if (/^\s*-(?!--)/.test(line)) return "diff-removed";
  return "";
}
