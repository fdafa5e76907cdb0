import type { VNode } from "preact";
import { session } from "../session.ts";
import { startLines, type StartLines } from "../start-lines.ts";
import { CopyButton } from "./copy-button.tsx";

const advice: Readonly<Record<StartLines["proof"], string | null>> = {
  token: "Both read your token from its file: run them on the server's machine. Elsewhere use an API key.",
  key: "Put your API key into the variable GLOVEBOX_KEY first.",
  none: null,
};

/** Lines to copy that run a program on this server, and give it to an agent. */
export function StartHere(): VNode {
  const { curl, mcp, mcpAddress, proof } = startLines({ origin: location.origin, token: session.value.token });
  return (
    <div class="start">
      <Snippet title="Run a program" label="Copy the curl line" text={curl} />
      <Snippet title="Give it to an agent, here Claude Code" label="Copy the MCP line" text={mcp} />
      <p class="hint">
        Other MCP clients: <code>{mcpAddress}</code>
        {proof !== "none" && ", with the same header"}. {advice[proof]}
      </p>
    </div>
  );
}

function Snippet({ title, label, text }: { readonly title: string; readonly label: string; readonly text: string }) {
  return (
    <section class="snippet" aria-label={title}>
      <div class="snippet-head">
        <h3>{title}</h3>
        <CopyButton text={text} label={label} />
      </div>
      <pre tabIndex={0}>{text}</pre>
    </section>
  );
}
