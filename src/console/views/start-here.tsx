import type { VNode } from "preact";
import { session } from "../ask.ts";
import { CopyButton } from "./copy-button.tsx";

/** Lines for a terminal by which somebody starts to use the server. */
interface StartLines {
  /** Runs a program. */
  readonly curl: string;
  /** Registers the server with an agent's program. */
  readonly mcp: string;
  /** Where the server's tools are, for other programs. */
  readonly mcpAddress: string;
  /** By what the lines prove who asks: the user's token, which they read from its file, an API key, or nothing. */
  readonly proof: "token" | "key" | "none";
}

/** Prefix of all API keys. */
const keyPrefix = "gbx_";
/** Of the shell that runs the line; the token and the key themselves are never in it. */
const bearers = {
  token: '$(cat "${XDG_CONFIG_HOME:-$HOME/.config}/glovebox/token")',
  key: "$GLOVEBOX_KEY",
} as const;

/** The lines for a server at an origin, in the form of what the page itself was let in with. */
export function startLines({ origin, token }: { readonly origin: string; readonly token: string }): StartLines {
  const proof = token === "" ? "none" : token.startsWith(keyPrefix) ? "key" : "token";
  const header = proof === "none" ? null : `"Authorization: Bearer ${bearers[proof]}"`;
  const program = `'{"language": "python", "code": "print(6 * 7)", "name": "first-run"}'`;
  const mcpAddress = `${origin}/mcp`;
  return {
    proof,
    mcpAddress,
    curl: [
      `curl -sS ${origin}/api/sandbox/execute`,
      ...(header === null ? [] : [`-H ${header}`]),
      '-H "Content-Type: application/json"',
      `-d ${program}`,
    ].join(" \\\n  "),
    mcp: [
      `claude mcp add --transport http glovebox ${mcpAddress}`,
      ...(header === null ? [] : [`--header ${header}`]),
    ].join(" \\\n  "),
  };
}

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
