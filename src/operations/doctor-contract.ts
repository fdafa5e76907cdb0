import { z } from "zod";
import { defineOperation } from "./contract/operation-contract.ts";
import { isolationLevels } from "./contract/wire-values.ts";

/**
 * Severity: `danger` if programs may break out of a sandbox, `warning` if someone should look into it, `note` for
 * information.
 */
export const severities = ["danger", "warning", "note"] as const;
export type Severity = (typeof severities)[number];

/** Something that an operator should know about an engine; each part is one or two sentences. */
export interface Finding {
  readonly severity: Severity;
  readonly what: string;
  readonly why: string;
  /** What to do about it. */
  readonly fix: string;
  /** The part that it is about, if only runs that ask for one OCI runtime use it. */
  readonly only_with?: { readonly oci_runtime: string; readonly part: string } | undefined;
}

const finding = z.object({
  severity: z.enum(severities).describe("danger: programs may escape; warning: look into it; note: good to know."),
  what: z.string(),
  why: z.string(),
  fix: z.string().describe("What to do about it."),
  only_with: z
    .object({ oci_runtime: z.string(), part: z.string().describe("Its product and version.") })
    .optional()
    .describe("If only runs that ask for this OCI runtime are concerned."),
});

const engine = z.object({
  name: z.string(),
  available: z.boolean().describe("Whether it answers."),
  usable: z.boolean().describe("Whether it answers and accepts a run that asks for nothing special."),
  version: z.string().optional(),
  isolation: z.enum(isolationLevels).optional(),
  capabilities: z
    .record(z.string(), z.string())
    .optional()
    .describe("What it can enforce: yes, no, the substitute that stands in, or a kind."),
  components: z
    .array(z.object({ name: z.string(), version: z.string(), build: z.string().optional() }))
    .optional()
    .describe("Its parts with their versions."),
  reached_by: z.string().optional().describe("How its API is reached, and who named the endpoint."),
  reason: z.string().optional().describe("Why it cannot be used."),
  how_to_start: z.string().optional().describe("What starts or installs it."),
  findings: z.array(finding),
});

const choice = z.object({
  asked: z.string(),
  engine: z.string().nullable().describe("Null when none can be used."),
  why: z.string(),
});

/** What `doctor` found. */
export const doctorResponseSchema = z.object({
  version: z.string(),
  node_version: z.string(),
  platform: z.string().describe("System and architecture, as Node names them."),
  refused: z
    .object({ why: z.string(), fix: z.string().describe("What to do about it.") })
    .optional()
    .describe("Why every run is refused, whatever the engine."),
  engines: z.array(engine),
  chosen_engine: z.object({
    default: choice.describe("For a request that names no engine."),
    own_machine: choice.describe("What auto takes on the command line and in the library."),
    container_mode: choice.describe("What auto takes in container mode, where the embedded engine does not stand in."),
  }),
  configuration: z.object({
    file: z.string().nullable().describe("Path of the configuration file that was read."),
    settings: z.array(
      z.object({
        key: z.string(),
        variable: z.string().nullable().describe("Environment variable that sets it."),
        value: z.unknown().describe("Effective value; secrets are masked."),
        source: z.enum(["flag", "environment", "file", "default"]),
      }),
    ),
  }),
});

/** For the operator only: it shows the configuration and its file's path. */
export const doctorContract = defineOperation({
  name: "doctor",
  audience: "local",
  description:
    "Shows which engines can be used here, what each enforces, known dangers, and the effective configuration.",
  request: z.strictObject({}),
  response: doctorResponseSchema,
  routes: [],
});

/** One engine of `DoctorResponse`. */
export type DoctorEngine = z.output<typeof engine>;
/** The engine that was chosen, or why none was. */
export type DoctorChoice = z.output<typeof choice>;
export type DoctorResponse = z.output<typeof doctorResponseSchema>;
