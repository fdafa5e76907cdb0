import { readHostAddresses, readNodeVersion, plantVariable } from "../config/host/host.ts";
import { readPackageVersion } from "../config/host/own-package.ts";
import { peerFolder } from "../config/host/host-paths.ts";
import { isOnlyByName, productEngines } from "../engines/engine-table.ts";
import { openHostScene, type HostScene } from "../workloads/proof/host-scene.ts";
import type { OperationCall, RequestOf } from "./contract/operation-contract.ts";
import { handle } from "./handler.ts";
import { checkChoice } from "../policy/request/invalid-value.ts";
import { proveContract, type ProvenEngine, type ProveResponse, type ProvenAttack } from "./prove-contract.ts";
import { probeEngine } from "../engines/unavailability.ts";
import type { Capabilities } from "../engines/capabilities.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { isWall } from "../policy/isolation.ts";
import {
  attackJob,
  parametersOf,
  parseSaid,
  readAttackProgram,
  saidAlone,
  soloProgram,
  type AttackParameters,
  type AttackRow,
  type Said,
} from "../workloads/proof/attack-programs.ts";
import type { Attack } from "../workloads/proof/attack.ts";
import {
  bombAttacks,
  directAttacks,
  programAttacks,
  declaredAt,
  isDoubtful,
  judgeAttack,
  type JudgedAttack,
} from "../workloads/proof/attack-groups.ts";
import { executeCodeContract, type ExecuteResponse } from "./execute-contract.ts";
import { executeRequest, type ExecuteNeeds } from "./execute-handler.ts";
import type { Engines } from "../engines/discover.ts";

export type ProveNeeds = ExecuteNeeds & {
  readonly engines: Engines;
  /** Engine for requests that name none; overrides the configuration's. */
  readonly defaultEngine: string | undefined;
};

/** What to prove about which engine, and where. */
interface EngineProof {
  readonly engine: string;
  readonly oci_runtime?: string | undefined;
  readonly bombs?: boolean | undefined;
  /** Sets up the targets that the attacks look for. */
  readonly openScene: () => Promise<HostScene>;
  readonly call: OperationCall;
}

type OpenProof = EngineProof & { readonly scene: AttackParameters };

/** For all attacks in one sandbox together; each has at most 10 s. */
const timeoutSeconds = 240;
const bombSeconds = 60;
/** Limits under which programs that exhaust resources run. */
const bombLimits = { memory_mb: 96, pids: 64 };

/** Runs the attacks on one engine; an unusable engine is a result. @throws CANCELLED */
async function proveEngine(platform: ProveNeeds, proof: EngineProof): Promise<ProvenEngine> {
  const { engine: name, oci_runtime: ociRuntime, call } = proof;
  const { signal } = call;
  const startedMs = platform.monotonicMs();
  const notTried = (reason: string): ProvenEngine => ({
    ...{ name, verdict: "not_tried", reason, counts: {}, attacks: [] },
    duration_ms: Math.round(platform.monotonicMs() - startedMs),
  });
  const engine = await platform.engines.get(name);
  const probe = await probeEngine(engine, signal);
  if (!probe.available) return notTried(probe.reason);
  try {
    const capabilities = await engine.capabilities({ signal, ociRuntime });
    if (!isWall(capabilities.isolation)) return notTried(`Isolation ${capabilities.isolation} is no wall.`);
    // By then its image exists, and so does the socket by which Glovebox's processes reach each other.
    await execute(platform, proof, { code: "pass", timeout_seconds: 60 });
    await using scene = await proof.openScene();
    const judged = await tryAll(platform, { ...proof, scene: scene.parameters }, capabilities);
    const attacks = judged.map(toWire);
    return {
      name,
      verdict: verdictOf(attacks),
      version: probe.version,
      ...(ociRuntime === undefined ? {} : { oci_runtime: ociRuntime }),
      isolation: capabilities.isolation,
      components: (probe.components ?? []).map(({ ociRuntime: _, ...component }) => component),
      counts: countsOf(attacks),
      duration_ms: Math.round(platform.monotonicMs() - startedMs),
      attacks,
    };
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.errorType === "CANCELLED") throw error;
    return notTried(`${error.message} ${error.suggestion}`);
  }
}

/** An attack that should have been denied and was not is tried a second time. */
async function tryAll(
  platform: ProveNeeds,
  proof: OpenProof,
  capabilities: Capabilities,
): Promise<readonly JudgedAttack[]> {
  const { engine, bombs = false } = proof;
  const judge = (attack: Attack, tries: readonly string[]): JudgedAttack =>
    judgeAttack(attack, declaredAt(attack, engine, capabilities), tries);
  const inOne = await attackTwice([...programAttacks, ...directAttacks], judge, (attacks) =>
    attackTogether(platform, proof, attacks),
  );
  const alone = bombs ? await attackTwice(bombAttacks, judge, (attacks) => attackAlone(platform, proof, attacks)) : [];
  return [...inOne, ...alone];
}

async function attackTwice(
  attacks: readonly Attack[],
  judge: (attack: Attack, tries: readonly string[]) => JudgedAttack,
  attempt: (attacks: readonly Attack[]) => Promise<Said>,
): Promise<readonly JudgedAttack[]> {
  const first = await attempt(attacks);
  const triesOf = (said: Said, { id }: Attack): readonly string[] => [said.get(id) ?? "it said nothing"];
  const isMissing = ({ id }: Attack): boolean => first.get(id)?.startsWith(missing) === true;
  const judged = attacks.map((attack) => judge(attack, triesOf(first, attack)));
  const doubtful = judged.filter((each) => isDoubtful(each) && !isMissing(each.attack)).map(({ attack }) => attack);
  const second = doubtful.length === 0 ? new Map<string, string>() : await attempt(doubtful);
  return judged.map((each): JudgedAttack => {
    const { attack } = each;
    if (isMissing(attack)) return { attack, verdict: "not_tried", said: first.get(attack.id) ?? "" };
    return doubtful.includes(attack) ? judge(attack, [...triesOf(first, attack), ...triesOf(second, attack)]) : each;
  });
}

const missing = "This machine has no ";

/** Runs attacks one after another in one sandbox. */
async function attackTogether(platform: ProveNeeds, proof: OpenProof, attacks: readonly Attack[]): Promise<Said> {
  const { call, engine, scene } = proof;
  await call.onEvent?.({ type: "progress", message: `Trying ${attacks.length} attacks on ${engine}`, fraction: null });
  const said = new Map<string, string>();
  const rows: AttackRow[] = [];
  const programs = await Promise.all(attacks.map(async ({ id }) => ({ id, code: await readAttackProgram(id) })));
  for (const { id, code } of programs) {
    const lacking = parametersOf(code).find((name) => !(name in scene));
    if (lacking === undefined) rows.push({ id, code, parameters: {} });
    else said.set(id, `${missing}${lacking} to show it by.`);
  }
  const stdin = attackJob(await readAttackProgram("prelude"), rows, scene);
  const code = await readAttackProgram("driver");
  const { stdout } = await execute(platform, proof, { code, stdin, timeout_seconds: timeoutSeconds });
  return new Map([...parseSaid(stdout), ...said]);
}

/** Runs programs that exhaust resources, each in its own sandbox, one after another. */
async function attackAlone(platform: ProveNeeds, proof: EngineProof, attacks: readonly Attack[]): Promise<Said> {
  const { call, engine } = proof;
  const prelude = await readAttackProgram("prelude");
  const said = new Map<string, string>();
  for (const { id, tries } of attacks) {
    await call.onEvent?.({ type: "progress", message: `Trying on ${engine} to ${tries}`, fraction: null });
    const code = soloProgram({ prelude, code: await readAttackProgram(id) });
    const request = { code, args: ["{}"], timeout_seconds: bombSeconds, limits: bombLimits };
    const { stdout, outcome, truncated } = await execute(platform, proof, request);
    said.set(id, saidAlone({ stdout, outcome, truncated }));
  }
  return said;
}

/** The caller gets nothing of what attacks print. */
function execute(
  platform: ProveNeeds,
  { engine, oci_runtime: ociRuntime, call }: EngineProof,
  request: Record<string, unknown>,
): Promise<ExecuteResponse> {
  const { principal, signal } = call;
  const runtime = ociRuntime === undefined ? {} : { oci_runtime: ociRuntime };
  const whole = executeCodeContract.request.parse({ language: "python", engine, ...runtime, ...request });
  return executeRequest(platform, whole, { call: { principal, signal } });
}

function toWire({ attack, verdict, said }: JudgedAttack): ProvenAttack {
  const { id, group, tries, deniedBy } = attack;
  return { id, group, tries, declared_by: deniedBy, verdict, said };
}

function countsOf(attacks: readonly ProvenAttack[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { verdict } of attacks) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return counts;
}

function verdictOf(attacks: readonly ProvenAttack[]): ProvenEngine["verdict"] {
  const has = (verdict: ProvenAttack["verdict"]): boolean => attacks.some((each) => each.verdict === verdict);
  if (has("got_through")) return "broken";
  return has("unclear") || !has("denied") ? "unclear" : "held";
}

/** `prove`: the attacks of the threat model, run on this machine. */
export const proveHandler = handle(proveContract, run);

async function run(
  platform: ProveNeeds,
  request: RequestOf<typeof proveContract>,
  call: OperationCall,
): Promise<ProveResponse> {
  const { host, engines, now, config, defaultEngine } = platform;
  const known = productEngines.filter((name) => engines.names.includes(name));
  const named = request.engine === undefined ? null : checkChoice(request.engine, known, "engine");
  const openScene = (): Promise<HostScene> =>
    openHostScene({
      ...host,
      addresses: readHostAddresses(),
      peerFolder: peerFolder(host),
      plantVariable: (value) => plantVariable("GLOVEBOX_PROOF", value),
    });
  const proven: ProvenEngine[] = [];
  // One after another: the load of one would distort the other's result.
  const configured = defaultEngine ?? config.containerRuntime;
  for (const name of named === null ? enginesToProve(known, configured) : [named]) {
    proven.push(await proveEngine(platform, { ...request, engine: name, openScene, call }));
  }
  const tried = proven.filter(({ verdict }) => verdict !== "not_tried");
  return {
    version: readPackageVersion(),
    node_version: readNodeVersion(),
    platform: `${host.platform} ${host.architecture}`,
    kernel: host.kernelRelease,
    date: new Date(now()).toISOString(),
    held: tried.length > 0 && tried.every(({ verdict }) => verdict === "held"),
    engines: proven,
  };
}

/** Those that attacks run on when none is named: a cluster that a configuration happens to name may be others'. */
export function enginesToProve(known: readonly string[], configured: string): readonly string[] {
  return known.filter((name) => name === configured || !isOnlyByName(name));
}
