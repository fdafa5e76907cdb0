import type { AgentEvent, ReadAgentEvents } from "../agent-protocol.ts";
import type { AgentFact } from "./agent-fact.ts";
import type { AgentName } from "../../../policy/agent-names.ts";
import { agentTable } from "./agent-table.ts";

/** What people are shown of that agent's JSON mode. */
export function readEventsOf(name: AgentName): ReadAgentEvents {
  const { readFacts } = agentTable[name];
  return (line) => readFacts(line).flatMap(eventsOf);
}

function eventsOf(fact: AgentFact): readonly AgentEvent[] {
  switch (fact.kind) {
    case "says":
      return [{ kind: "says", text: fact.text }];
    case "calls":
      return [{ kind: "does", text: [fact.tool, fact.input].filter((part) => part !== "").join(": ") }];
    case "returns":
      return fact.failed ? [{ kind: "note", text: `${fact.tool || "the tool"} failed` }] : [];
    case "note":
      return [{ kind: "note", text: fact.text }];
    case "fails":
      return [{ kind: "note", text: `failed: ${fact.message}` }];
    // The session, the usage and the whole answer come with the result.
    case "session":
    case "usage":
    case "answers":
      return [];
  }
}
