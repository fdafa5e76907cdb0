import type { VNode } from "preact";
import { ansiSpans } from "./ansi-spans.ts";
import { visibleParts } from "./visible-text.ts";

/** A name, a message or the like that an untrusted program chose. */
export function Untrusted({ text, max = 2_000 }: { readonly text: string; readonly max?: number }): VNode {
  const shown = text.length > max ? text.slice(0, max) : text;
  return (
    <bdi class="untrusted">
      {marked(shown)}
      {shown.length < text.length && <span class="mark">+{text.length - shown.length} characters</span>}
    </bdi>
  );
}

/** Lines of a program's output, in its colours. */
export function UntrustedOutput({ text }: { readonly text: string }): VNode {
  return (
    <bdi class="untrusted">
      {ansiSpans(text).map(({ text: part, style }, index) => (
        <span key={index} class={style}>
          {marked(part)}
        </span>
      ))}
    </bdi>
  );
}

function marked(text: string): (VNode | string)[] {
  return visibleParts(text).map(({ text: part, isMark }, index) =>
    isMark ? (
      <span key={index} class="mark">
        {part}
      </span>
    ) : (
      part
    ),
  );
}
