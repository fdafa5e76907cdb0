import { GloveboxError, toGloveboxError } from "../errors/glovebox-error.ts";
import type {
  CallOperation,
  OperationCall,
  GrantOf,
  Grant,
  OperationContract,
  RequestOf,
  ResponseOf,
} from "./contract/operation-contract.ts";
import type { Config } from "../config/config.ts";
import type { NetworkAccess } from "../egress/network-access.ts";
import type { Sandboxes } from "../sandbox/sandboxes.ts";
import type { MountNeeds, StartNeeds, EngineChooser, EngineNeeds } from "./settle.ts";
import { existingPlace, expandHome } from "../config/host/host-paths.ts";
import type { LoadedMountPolicy } from "../config/load-mount-policy.ts";
import { assertImageGranted, assertNetworkGranted, grantRefused } from "../policy/grants.ts";
import { grantedCeilings } from "../policy/limits.ts";
import { agentImageFor } from "../workloads/agent/agent-image.ts";
import type { ChosenEngine } from "../engines/discover.ts";
import type { ServerMetrics } from "../telemetry/server-metrics.ts";
import type { SpanStart } from "../base/tracer.ts";
import type { Tracing } from "../telemetry/tracing.ts";

/** What an operation does, with the parts of the platform that it needs. */
export interface Handler<Contract extends OperationContract = OperationContract, Needs = unknown> {
  readonly contract: Contract;
  run(needs: Needs, request: RequestOf<Contract>, call: OperationCall): Promise<ResponseOf<Contract>>;
}

/** The handler of a contract, whose schemas define its input and its answer. */
export function handle<Contract extends OperationContract, Needs>(
  contract: Contract,
  run: Handler<Contract, Needs>["run"],
): Handler<Contract, Needs> {
  return { contract, run };
}

/** What loads a handler when its operation is first asked for. */
export type LoadHandler<Needs> = () => Promise<Handler<OperationContract, Needs>>;

/** What loads each handler, by its operation's name. */
export type HandlerTable<Needs> = ReadonlyMap<string, LoadHandler<Needs>>;

/** The parts that a grant narrows. */
interface GrantedParts extends StartNeeds, MountNeeds, Pick<EngineChooser, "chooseSessionEngine"> {
  readonly network: Pick<NetworkAccess, "grant">;
  readonly sandboxes: Pick<Sandboxes, "setMaximum">;
}

/**
 * The front ends' way to the handlers. A caller's grant is applied only here, so that no front end can forget it:
 * handlers get the platform as the grant allows, and operations reserved for the operator are refused.
 */
export function operationCaller<Needs extends GrantedParts>(
  handlers: HandlerTable<Needs>,
  parts: Needs,
  grantOf: GrantOf,
): CallOperation {
  return async (contract, request, call) => {
    const load = handlers.get(contract.name);
    if (load === undefined) throw new TypeError(`${contract.name} has no handler.`);
    const grant = grantOf(call.principal);
    if (grant !== null) {
      if (contract.audience !== "everyone") throw operatorsOnly(contract.name);
      parts.sandboxes.setMaximum(call.principal, grant.maxSandboxes);
    }
    const granted = grant === null ? parts : grantedParts(parts, grant);
    const handler = await load();
    return handler.run(granted, request, call) as Promise<ResponseOf<typeof contract>>;
  };
}

/**
 * The platform as one call sees it under its grant: handlers see only the engines, ceilings, networks, secrets and
 * folders that it allows, so none has to check. Where the grant says nothing, the deployment's settings apply.
 */
export function grantedParts<Parts extends GrantedParts>(parts: Parts, grant: Grant): Parts {
  const { config, network } = parts;
  const { networks, secrets } = grant;
  const images = {
    configured: configuredImages(config),
    granted: grant.images ?? [...config.allowedImages, ...config.templates.map(({ image }) => image)],
  };
  return {
    ...parts,
    ...(grant.engines === null ? {} : grantedEngines(parts, grant.engines)),
    config: {
      ...config,
      ceilings: grantedCeilings(config.ceilings, grant.ceilings),
      secrets: secrets === null ? config.secrets : config.secrets.filter(({ name }) => secrets.includes(name)),
    },
    assertNetworkAllowed: (policy, field) => {
      parts.assertNetworkAllowed(policy, field);
      if (networks !== null) assertNetworkGranted(policy, networks, field);
    },
    checkImage: (reference, field = "image") => {
      assertImageGranted(parts.checkImage(reference, field), images, field);
      return reference;
    },
    // Also for what a project's files name: a devcontainer, the FROM of a Dockerfile.
    provideImage: async (needed, ...rest) => {
      if (needed.origin === "configured") return parts.provideImage(needed, ...rest);
      assertImageGranted(
        needed.image,
        images,
        needed.origin === "project" ? "the image of the project's files" : "image",
      );
      return parts.provideImage({ ...needed, origin: "request" }, ...rest);
    },
    // Every network access goes through it, including those of an environment's preparation.
    network: {
      grant: async (policy, principal) => {
        if (networks !== null) assertNetworkGranted(policy, networks);
        return network.grant(policy, principal);
      },
    },
    loadMountPolicy: async () => boundMounts(await parts.loadMountPolicy(), grant.mountRoots, parts.host.homeDirectory),
  };
}

type Choose = (name: string | undefined, needs?: EngineNeeds) => Promise<ChosenEngine>;

/** Chooses among the engines that a grant names; a call that names none gets the first of them that answers. */
export function grantedEngines(
  chooser: Pick<EngineChooser, "chooseEngine" | "chooseSessionEngine">,
  granted: readonly string[],
): Pick<EngineChooser, "chooseEngine" | "chooseSessionEngine"> {
  const refuse = (value: string): GloveboxError =>
    grantRefused({ field: "engine", value, rule: "engines", allowed: granted });
  const within =
    (choose: Choose): Choose =>
    async (name, needs) => {
      if (name !== undefined && name !== "auto") {
        if (!granted.includes(name)) throw refuse(name);
        return choose(name, needs);
      }
      const usual = await choose(name, needs).catch((error: unknown) => error);
      if (isChosen(usual) && granted.includes(usual.engine.name)) return usual;
      let problem: unknown = isChosen(usual) ? refuse(usual.engine.name) : usual;
      for (const each of granted) {
        try {
          return await choose(each, needs);
        } catch (error) {
          problem = error;
        }
      }
      throw problem;
    };
  return {
    chooseEngine: within((name, needs) => chooser.chooseEngine(name, needs)),
    chooseSessionEngine: within((name, needs) => chooser.chooseSessionEngine(name, needs)),
  };
}

/** What is measured about calls, and by which clock. */
interface CallObservation {
  readonly serverMetrics: ServerMetrics;
  readonly tracing: Tracing;
  readonly monotonicMs: () => number;
}

/**
 * The same way to the handlers; measures the duration and outcome of each call, and traces it as part of its request.
 */
export function observedCaller(
  call: CallOperation,
  { serverMetrics, tracing, monotonicMs }: CallObservation,
): CallOperation {
  return async (contract, request, options) => {
    const startedMs = monotonicMs();
    const operation = contract.name;
    const end = (errorType: string | null): void =>
      serverMetrics.operationEnded({
        operation,
        isTool: contract.tool !== undefined,
        errorType,
        durationMs: monotonicMs() - startedMs,
      });
    const traced = (): ReturnType<typeof work> => tracing.inSpan(spanOf(contract), work);
    const work = (): ReturnType<typeof call<typeof contract>> => call(contract, request, options);
    try {
      const response = await (options.within?.(traced) ?? traced());
      end(null);
      return response;
    } catch (error) {
      end(toGloveboxError(error).errorType);
      throw error;
    }
  };
}

/** Operations that agents have as tools follow the conventions for tools, at every front end. */
function spanOf({ name, tool }: OperationContract): SpanStart {
  const attributes = { "glovebox.operation.name": name };
  if (tool === undefined) return { name, kind: "internal", attributes };
  return {
    name: `execute_tool ${name}`,
    kind: "internal",
    attributes: { ...attributes, "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name },
  };
}

function operatorsOnly(name: string): GloveboxError {
  return new GloveboxError("PERMISSION_DENIED", `${name} is for the operator of this server, not for API keys.`);
}

/** Those of single groups are their own, and so are templates that only this deployment has. */
function configuredImages({ images, templates, sessionBaseImage, agents }: Config): readonly string[] {
  const usual = templates.filter(({ isUsual }) => isUsual).map(({ image }) => image);
  const own = [...usual, sessionBaseImage];
  return [...new Set([...Object.values(images), ...own, agentImageFor(agents.agent, agents.image)])];
}

async function boundMounts(
  loaded: LoadedMountPolicy,
  mountRoots: Grant["mountRoots"],
  homeDirectory: string,
): Promise<LoadedMountPolicy> {
  if (mountRoots === null) return loaded;
  const places = await Promise.all(mountRoots.map((root) => existingPlace(expandHome(root, homeDirectory))));
  const within = places.filter((place) => place !== null);
  return { ...loaded, policy: { ...loaded.policy, within } };
}

function isChosen(value: unknown): value is ChosenEngine {
  return typeof value === "object" && value !== null && "engine" in value;
}
