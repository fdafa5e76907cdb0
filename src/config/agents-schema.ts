import * as z from "zod";
import { maxDurationMs } from "../base/duration.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { checkGroupName } from "../policy/chosen-names.ts";
import { parseNetwork } from "../policy/network/network.ts";
import type { AgentsConfig } from "./config.ts";
import { hostPath, imageReference, principalList, variableNames, wholeNumber } from "./leaf-schemas.ts";

const section = "an object";
const maxGroups = 1_024;
const maxMounts = 64;
const maxArguments = 64;
const names = "a list of names of domains such as example.com, or the one word none, registries or open";

/** The section `agents`. */
export function agentsSection(): z.ZodPrefault<z.ZodObject<AgentsShape, z.core.$strict>> {
  return z
    .strictObject(
      {
        directory: folder().describe(
          "Folder that contains the groups' folders (`groups/NAME`, `data/pi/NAME`, `data/ipc/NAME`); unset: none for the server, the working directory on the user's own machine.",
        ),
        project: folder().describe(
          "Folder mounted at `/workspace/project` for the main group; unset: `agents.directory`.",
        ),
        main_group: groupName().default("main").describe("The only group that may run as the main group."),
        main_workspace: hostPath().default("~/nano").describe("The main group's workspace; created if missing."),
        image: imageReference()
          .default("glovebox-agent")
          .describe("Image for agents whose group does not set one; Glovebox builds the default image."),
        image_base: imageReference()
          .default("node:24-slim")
          .describe("Base image of the agent image: a Linux with Node."),
        agent: agentName()
          .default("pi")
          .describe("The agent for groups that do not set one: a name from the table in docs/agents.md."),
        network: domains()
          .default([])
          .describe(
            "Hosts that agents may reach besides their model's, for groups without their own list: domains, or just `none`, `registries` or `open`.",
          ),
        variables: variableNames()
          .default([])
          .describe("Names of this machine's variables that agents get besides those in the table in docs/agents.md."),
        memory: z
          .strictObject(
            {
              min_relevance: z
                .number("a number from 0 to 1")
                .min(0, "a number from 0 to 1")
                .max(1, "a number from 0 to 1")
                .default(0.3)
                .describe(
                  "Minimum relevance to the prompt, from 0 to 1, of the memory passages that agents are given.",
                ),
              max_characters: wholeNumber("characters", 0, 1_000_000)
                .default(8_000)
                .describe("Maximum total length of these passages in characters; 0 gives none."),
            },
            section,
          )
          .prefault({}),
        max_logs: wholeNumber("logs", 1, 100_000)
          .default(100)
          .describe("Number of run logs kept for each group; older ones are removed when a run starts."),
        farm_state: folder().describe("Folder mounted at `/workspace/farm-state` for every agent; unset: none."),
        dashboard: folder().describe("Folder mounted at `/workspace/dashboard` for every agent; unset: none."),
        groups: groups().default({}).describe("Settings of individual groups by name; the variable takes JSON."),
      },
      section,
    )
    .prefault({});
}

type Folder = z.ZodDefault<z.ZodNullable<z.ZodString>>;
type AgentsShape = {
  directory: Folder;
  project: Folder;
  main_group: z.ZodDefault<z.ZodString>;
  main_workspace: z.ZodDefault<z.ZodString>;
  image: z.ZodDefault<z.ZodString>;
  image_base: z.ZodDefault<z.ZodString>;
  agent: z.ZodDefault<z.ZodString>;
  network: z.ZodDefault<z.ZodArray<z.ZodString>>;
  variables: z.ZodDefault<z.ZodArray<z.ZodString>>;
  memory: z.ZodPrefault<
    z.ZodObject<{ min_relevance: z.ZodDefault<z.ZodNumber>; max_characters: z.ZodDefault<z.ZodNumber> }, z.core.$strict>
  >;
  max_logs: z.ZodDefault<z.ZodNumber>;
  farm_state: Folder;
  dashboard: Folder;
  groups: z.ZodDefault<z.ZodType<Readonly<Record<string, ParsedGroup>>>>;
};

interface ParsedGroup {
  readonly containerConfig?:
    | {
        readonly timeout?: number | undefined;
        readonly image?: string | undefined;
        readonly additionalMounts?:
          | readonly {
              readonly hostPath: string;
              readonly containerPath?: string | undefined;
              readonly readonly?: boolean | undefined;
            }[]
          | undefined;
      }
    | undefined;
  readonly network?: readonly string[] | undefined;
  readonly agent?: { readonly name: string; readonly command?: readonly string[] | undefined } | undefined;
  readonly principals?: readonly string[] | undefined;
}

/** The section's values as they are used inside. */
export function toAgents(keys: z.output<z.ZodObject<AgentsShape>>): AgentsConfig {
  return {
    directory: keys.directory,
    project: keys.project,
    mainGroup: keys.main_group,
    mainWorkspace: keys.main_workspace,
    image: keys.image,
    imageBase: keys.image_base,
    agent: keys.agent,
    network: toPolicyWords(keys.network),
    variables: keys.variables,
    memory: { minRelevance: keys.memory.min_relevance, maxCharacters: keys.memory.max_characters },
    maxLogs: keys.max_logs,
    farmState: keys.farm_state,
    dashboard: keys.dashboard,
    groups: Object.fromEntries(Object.entries(keys.groups).map(([name, group]) => [name, toGroup(group)])),
  };
}

function toGroup({ containerConfig = {}, network, agent, principals }: ParsedGroup): AgentsConfig["groups"][string] {
  const { timeout, image, additionalMounts = [] } = containerConfig;
  return {
    timeoutMs: timeout ?? null,
    image: image ?? null,
    additionalMounts: additionalMounts.map(({ hostPath: path, containerPath, readonly = true }) => ({
      path,
      target: containerPath,
      readOnly: readonly,
    })),
    network: network === undefined ? null : toPolicyWords(network),
    agent: agent ?? null,
    principals: principals ?? null,
  };
}

/** As requests write it. */
function toPolicyWords(list: readonly string[]): string | readonly string[] {
  const [first, ...rest] = list;
  const isWord = first === "none" || first === "registries" || first === "open";
  return rest.length === 0 && isWord ? first : list;
}

function folder(): Folder {
  return hostPath().nullable().default(null);
}

function groupName(): z.ZodString {
  const words = "the name of a group: lower-case letters, digits, - and _, such as main";
  return z.string(words).refine((name) => isAccepted(() => checkGroupName(name)), words);
}

function agentName(): z.ZodString {
  const words = "the name of an agent, such as pi";
  return z.string(words).regex(/^[a-z0-9][a-z0-9-]{0,63}$/, words);
}

function domains(): z.ZodArray<z.ZodString> {
  return z
    .array(z.string(names), names)
    .max(256, names)
    .refine((list) => isAccepted(() => parseNetwork(toPolicyWords(list))), names);
}

const group = z.strictObject(
  {
    containerConfig: z
      .strictObject(
        {
          timeout: wholeNumber("milliseconds", 100, maxDurationMs).optional(),
          image: imageReference().optional(),
          additionalMounts: z
            .array(
              z.strictObject(
                {
                  hostPath: hostPath(),
                  containerPath: z.string("a relative path below /workspace/extra").optional(),
                  readonly: z.boolean("true or false").optional(),
                },
                "an object with hostPath",
              ),
              "a list of mounts",
            )
            .max(maxMounts, `at most ${maxMounts} mounts`)
            .optional(),
        },
        section,
      )
      .optional(),
    network: domains().optional(),
    agent: z
      .strictObject(
        {
          name: agentName(),
          command: z
            .array(z.string("text").min(1, "no empty text"), "a program and its arguments")
            .min(1, "a program and its arguments")
            .max(maxArguments, `at most ${maxArguments} arguments`)
            .optional(),
        },
        section,
      )
      .optional(),
    principals: principalList().optional(),
  },
  section,
);

function groups(): z.ZodType<Readonly<Record<string, ParsedGroup>>> {
  return z.record(z.string(), group, "an object of groups by their names").superRefine((given, context) => {
    if (Object.keys(given).length > maxGroups)
      context.addIssue({ code: "custom", message: `at most ${maxGroups} groups` });
    for (const name of Object.keys(given)) {
      if (isAccepted(() => checkGroupName(name))) continue;
      const message = "a name of lower-case letters, digits, - and _ that is not taken, such as family-chat";
      context.addIssue({ code: "custom", path: [name], message });
    }
  });
}

function isAccepted(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof GloveboxError) return false;
    throw error;
  }
}
