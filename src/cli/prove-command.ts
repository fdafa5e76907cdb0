import {
  proveContract,
  type ProvenAttack,
  type ProvenEngine,
  type ProveResponse,
} from "../operations/prove-contract.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { CommandIo } from "./command-io.ts";
import { exitCodes } from "./exit-code.ts";
import type { CommandCalls } from "./open-calls.ts";
import { LiveEvents } from "./output/live-events.ts";
import { escapeLine } from "./output/terminal-text.ts";

/** The options of `glovebox doctor` that apply to a proof. */
export interface ProveOptions {
  readonly engine?: string;
  readonly ociRuntime?: string;
  readonly bombs?: boolean;
  readonly json?: boolean;
}

/** `glovebox doctor --prove`: the attacks of the threat model, run here. Resolves to the exit code. */
export async function prove(
  calls: CommandCalls,
  options: ProveOptions,
  { stdout, stderr, signal }: CommandIo,
): Promise<number> {
  const { engine, ociRuntime, bombs } = options;
  using live = new LiveEvents(stderr);
  const response = await calls.send(
    proveContract,
    {
      ...(engine === undefined || engine === "auto" ? {} : { engine }),
      ...(ociRuntime === undefined ? {} : { oci_runtime: ociRuntime }),
      ...(bombs === undefined ? {} : { bombs }),
    },
    { onEvent: live.onEvent, signal },
  );
  live[Symbol.dispose]();
  stdout.write(`${options.json === true ? JSON.stringify(response) : proofReport(response)}\n`);
  if (response.held) return 0;
  return response.engines.some(({ verdict }) => verdict === "broken") ? exitCodes.refused : exitCodes.platformFailed;
}

/** The result for people: each engine with the outcome of each attack, then the verdicts. */
function proofReport({ version, node_version: node, platform, kernel, date, engines }: ProveResponse): string {
  const blocks = [
    [`Glovebox ${version}, Node ${node}, ${platform}, kernel ${kernel}, ${date}`],
    ...engines.map(engineLines),
    engines.map(verdictLine),
  ];
  return blocks.map((lines) => lines.map(escapeLine).join("\n")).join("\n\n");
}

const words: Readonly<Record<ProvenAttack["verdict"], string>> = {
  denied: "denied",
  contained: "contained",
  open: "open",
  got_through: "GOT THROUGH",
  unclear: "unclear",
  not_tried: "not tried",
};

function engineLines({ name, version, isolation, components = [], attacks }: ProvenEngine): string[] {
  const parts = [version, isolation, ...components.map((part) => `${part.name} ${part.version}`)].filter(Boolean);
  const width = 12;
  return [
    [name, parts.join(", ")].filter(Boolean).join(": "),
    ...attacks.map(({ verdict, tries, said }) => `  ${words[verdict].padEnd(width)}${tries}: ${said}`),
  ];
}

/** An attack that is open succeeds, but no promise is broken. */
function countWords(verdict: string, count: number): string {
  const meaning = verdict === "open" ? " (gets through, as docs/threat-model.md says of this engine)" : "";
  return `${count} ${verdict.replaceAll("_", " ")}${meaning}`;
}

function verdictLine({ name, verdict, reason, counts, attacks }: ProvenEngine): string {
  const counted = Object.entries(counts).map(([each, count]) => countWords(each, count));
  const through = attacks.filter((each) => each.verdict === "got_through").map(({ tries }) => tries);
  switch (verdict) {
    case "held":
      return `${name} held: ${counted.join(", ")}.`;
    case "broken":
      return `${name} DID NOT HOLD: a program could ${through.join("; ")} (${counted.join(", ")}).`;
    case "unclear":
      return `${name}: not proven, since some attacks did not report a result (${counted.join(", ")}).`;
    case "not_tried":
      return `${name} was not tried. ${reason ?? ""}`.trim();
  }
}

/**
 * Runs the attacks on every engine that can be used, before a server begins.
 * @throws POLICY_DENIED if one succeeded that its engine is declared to deny
 */
export async function assertHeld(
  send: (request: object) => Promise<ProveResponse>,
  { stderr }: CommandIo,
): Promise<void> {
  const response = await send({});
  for (const engine of response.engines) stderr.write(`${escapeLine(`glovebox: ${verdictLine(engine)}`)}\n`);
  const broken = response.engines.filter(({ verdict }) => verdict === "broken").map(({ name }) => name);
  if (broken.length === 0) return;
  throw new GloveboxError("POLICY_DENIED", `Nothing is served: attacks got through on ${broken.join(" and ")}.`, {
    suggestion:
      "Look at `glovebox doctor --prove` and `glovebox doctor`, which names known dangers of versions and settings.",
    context: { engines: broken },
  });
}
