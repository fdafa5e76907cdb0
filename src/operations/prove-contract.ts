import { z } from "zod";
import { defineOperation } from "./contract/operation-contract.ts";
import { isolationLevels } from "./contract/wire-values.ts";

const attack = z.object({
  id: z.string(),
  group: z.string(),
  tries: z.string().describe('To be read after "A program tries to".'),
  declared_by: z.string().describe("The engine's capability that is to deny it; isolation: the sandbox as such."),
  verdict: z
    .enum(["denied", "contained", "open", "got_through", "unclear", "not_tried"])
    .describe(
      "contained: it got what its own sandbox has; open: as the threat model says of this engine; got_through: though it is declared to be denied, twice.",
    ),
  said: z.string().describe("What happened, in the program's words; why it is open or was not tried."),
});

const engine = z.object({
  name: z.string(),
  verdict: z
    .enum(["held", "broken", "unclear", "not_tried"])
    .describe("broken: an attack got through that it is declared to deny."),
  reason: z.string().optional().describe("Why it was not tried."),
  version: z.string().optional(),
  oci_runtime: z.string().optional(),
  isolation: z.enum(isolationLevels).optional(),
  components: z.array(z.object({ name: z.string(), version: z.string(), build: z.string().optional() })).optional(),
  counts: z.record(z.string(), z.number()).describe("Attacks by verdict."),
  duration_ms: z.number(),
  attacks: z.array(attack),
});

const proveResponseSchema = z.object({
  version: z.string(),
  node_version: z.string(),
  platform: z.string().describe("System and architecture, as Node names them."),
  kernel: z.string().describe("Release of this machine's kernel."),
  date: z.string(),
  held: z.boolean().describe("Whether an engine was tried, and each that was has held."),
  engines: z.array(engine),
});

/** `prove`: the attacks of the threat model, run on this machine (SPEC SC7). */
export const proveContract = defineOperation({
  name: "prove",
  audience: "local",
  description: "Runs the attacks of the threat model on this machine's engines, and reports the result of each.",
  request: z.strictObject({
    engine: z.string().optional().describe("Only this one; default: every engine that can be used."),
    oci_runtime: z.string().optional().describe("OCI runtime by the name that the engine has for it."),
    bombs: z.boolean().optional().describe("Also those that load the machine; default false."),
  }),
  response: proveResponseSchema,
  routes: [],
});

/** One attack of `ProveResponse`. */
export type ProvenAttack = z.output<typeof attack>;
/** One engine of `ProveResponse`. */
export type ProvenEngine = z.output<typeof engine>;
export type ProveResponse = z.output<typeof proveResponseSchema>;
