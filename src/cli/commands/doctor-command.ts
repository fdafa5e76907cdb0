import type { Command } from "commander";
import { openCalls } from "../open-calls.ts";
import {
  doctorContract,
  type DoctorChoice,
  type DoctorEngine,
  type DoctorResponse,
} from "../../operations/doctor-contract.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { coloured } from "../output/error-report.ts";
import { exitCodes } from "../exit-code.ts";
import type { ProveOptions } from "../prove-command.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import { isWall } from "../../policy/isolation.ts";
import { escapeLine, indented } from "../output/terminal-text.ts";

interface DoctorOptions extends ProveOptions {
  readonly all?: boolean;
  readonly verbose?: boolean;
  readonly prove?: boolean;
}

const ofProofs = { engine: "--engine", ociRuntime: "--oci-runtime", bombs: "--bombs" } as const;

/** `glovebox doctor`: what can be used here, what is wrong, and the effective configuration. */
export function addDoctorCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("doctor")
    .option("--verbose", "also show the parts, abilities and notes of each engine, and why one is chosen")
    .option("--all", "show all settings, not only changed ones")
    .option("--prove", "run the attacks of the threat model on the available engines, and report the result of each")
    .option("--engine <engine>", "with --prove: only this one")
    .option("--oci-runtime <name>", "with --prove: OCI runtime of the engine")
    .option("--bombs", "with --prove: also the attacks that load the machine")
    .option("--json", "print everything as one JSON object")
    .addHelpText(
      "after",
      "\nExit code: 0 if `glovebox run` has an engine that isolates, 125 if not, 2 if the configuration is wrong." +
        "\nWith --prove: 0 when every engine that was tried has held, 1 when an attack got through that it is declared to deny, 125 when nothing was proven.",
    )
    .action(async (options: DoctorOptions) => {
      const alone = Object.entries(ofProofs).find(([name]) => options[name as keyof typeof ofProofs] !== undefined);
      if (options.prove !== true && alone !== undefined) throw invalidField(alone[1], "--prove beside it", undefined);
      await using calls = await openCalls();
      if (options.prove === true) {
        if (calls.isRemote) throw onThisMachine();
        const { prove } = await import("../prove-command.ts");
        return setExitCode(await prove(calls, options, io));
      }
      const response = await calls.send(doctorContract, {}, { signal: io.signal });
      const text = options.json === true ? JSON.stringify(response) : withColours(doctorReport(response, options), io);
      io.stdout.write(`${text}\n`);
      setExitCode(isHealthy(response) ? 0 : exitCodes.platformFailed);
    });
}

function onThisMachine(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "doctor --prove is for this machine, and GLOVEBOX_URL names a server.", {
    suggestion: "Run it on the server's machine, or unset GLOVEBOX_URL.",
  });
}

/** Prefixes that its lines begin with. */
function withColours(report: string, { stdout }: CommandIo): string {
  return report
    .replaceAll(/^(?:\[ok\]|Ready)/gm, (word) => coloured(word, "green", stdout))
    .replaceAll(/^(?:\[--\]|Not ready)/gm, (word) => coloured(word, "yellow", stdout))
    .replaceAll(/^ +danger(?=:)/gm, (word) => coloured(word, "red", stdout));
}

/** Whether a run that names no engine is accepted, by one that really isolates, which level `preload` does not. */
export function isHealthy(response: DoctorResponse): boolean {
  if (response.refused !== undefined) return false;
  const chosen = chosenEngine(response);
  return chosen !== undefined && chosen.usable && isWall(chosen.isolation);
}

function chosenEngine({ chosen_engine: { default: chosen }, engines }: DoctorResponse): DoctorEngine | undefined {
  return engines.find(({ name }) => name === chosen.engine);
}

/** How much of it is shown. */
interface DoctorReportOptions {
  /** Include settings at their defaults. */
  readonly all?: boolean;
  /** Include each engine's components, capabilities and notes, and why it is chosen. */
  readonly verbose?: boolean;
}

/** What `doctor` found, for people, its verdict first: plain ASCII, 80 columns where words allow. */
export function doctorReport(
  response: DoctorResponse,
  { all = false, verbose = false }: DoctorReportOptions = {},
): string {
  const { version, node_version: nodeVersion, platform, engines, chosen_engine: chosen } = response;
  const blocks = [
    [`Glovebox ${version}, Node ${nodeVersion}, ${platform}`],
    [verdict(response), ...field("why", response.refused?.why), ...field("to do", response.refused?.fix)],
    ...engines.flatMap((engine) => [engineBlock(engine, verbose), ...runtimeBlocks(engine, verbose)]),
    verbose
      ? [
          "Which engine is used",
          ...choiceLines("no engine named", chosen.default),
          ...choiceLines("auto, this machine", chosen.own_machine),
          ...choiceLines("auto, container mode", chosen.container_mode),
        ]
      : [],
    configurationBlock(response, all),
    verbose ? [] : ["Parts, abilities and notes of each engine: glovebox doctor --verbose"],
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map(escapeLine).join("\n"))
    .join("\n\n");
}

function verdict(response: DoctorResponse): string {
  if (response.refused !== undefined) return "Not ready: `glovebox run` refuses every run.";
  const { asked, engine } = response.chosen_engine.default;
  if (isHealthy(response)) return `Ready: \`glovebox run\` uses ${engine}.`;
  const chosen = chosenEngine(response);
  if (chosen?.usable === true && !isWall(chosen.isolation))
    return `Not ready: \`glovebox run\` uses ${engine} at isolation preload, which is accepted here but is not a security boundary.`;
  if (engine !== null) return `Not ready: ${engine} answers, but refuses runs; what it says below tells why.`;
  return asked === "auto"
    ? "Not ready: no engine can be used. Start or install one of those below."
    : `Not ready: the configured engine ${asked} cannot be used.`;
}

function engineBlock(engine: DoctorEngine, verbose: boolean): string[] {
  const { name, available, usable, version, isolation, findings } = engine;
  const state = !available
    ? "cannot be used"
    : [version, isolation && `isolation ${isolation}`].filter(Boolean).join(", ");
  return [
    `${usable && isWall(engine.isolation) ? "[ok]" : "[--]"} ${name}: ${state}`,
    ...field("why", engine.reason),
    ...field("start", engine.how_to_start),
    ...(verbose ? detailLines(engine) : []),
    ...findingLines(
      findings.filter(({ only_with: part }) => part === undefined),
      verbose,
    ),
  ];
}

/** What concerns only runs that ask for another OCI runtime of the engine, a block for each. */
function runtimeBlocks({ name, findings }: DoctorEngine, verbose: boolean): string[][] {
  const runtimes = new Map(
    findings.flatMap(({ only_with: part }) => (part === undefined ? [] : [[part.part, part.oci_runtime]])),
  );
  return [...runtimes].flatMap(([part, runtime]) => {
    const lines = findingLines(
      findings.filter(({ only_with: own }) => own?.part === part),
      verbose,
    );
    return lines.length === 0
      ? []
      : [[`[!!] ${part}: only for runs with --oci-runtime ${runtime} on ${name}`, ...lines]];
  });
}

function findingLines(findings: DoctorEngine["findings"], verbose: boolean): string[] {
  return findings
    .filter(({ severity }) => verbose || severity !== "note")
    .flatMap(({ severity, what, why, fix }) => [
      ...indented(what, `     ${severity}: `, "       "),
      ...indented(why, "       "),
      ...indented(fix, "       To do: ", "       "),
    ]);
}

function detailLines({ components, reached_by: reachedBy, capabilities = {} }: DoctorEngine): string[] {
  return [
    ...field("parts", components?.map((part) => `${part.name} ${part.version}`).join(", ")),
    ...field("reached by", reachedBy),
    ...abilityLines(capabilities),
  ];
}

/** Readable names for capabilities whose wire names are not clear. */
const abilityNames: Readonly<Record<string, string>> = {
  images: "container images",
  no_new_privileges: "no-new-privileges",
  setuid_refusal: "no setuid files",
  read_only_root: "read-only root",
  cpu_limit: "CPU limit",
  oom_reporting: "out-of-memory reports",
  exec_user: "several users",
  exec_network: "loopback",
};

function abilityLines(capabilities: Readonly<Record<string, string>>): string[] {
  const rows = Object.entries(capabilities).map(
    ([name, ability]) => [abilityNames[name] ?? name.replaceAll("_", " "), ability] as const,
  );
  const named = (wanted: string): string =>
    rows.flatMap(([name, ability]) => (ability === wanted ? [name] : [])).join(", ");
  const isKind = (ability: string): boolean => !ability.includes(" ");
  const others = rows.filter(([, ability]) => ability !== "yes" && ability !== "no");
  return [
    ...field("can", named("yes")),
    ...field("cannot", named("no")),
    ...others.flatMap(([name, ability]) =>
      isKind(ability) ? field(name, ability) : field("in part", `${name}: ${ability}`),
    ),
  ];
}

function choiceLines(title: string, { engine, why }: DoctorChoice): string[] {
  return indented(`${engine ?? "none"}. ${why}`, `     ${`${title}:`.padEnd(22)}`, " ".repeat(27));
}

function configurationBlock({ configuration: { file, settings } }: DoctorResponse, all: boolean): string[] {
  const shown = all ? settings : settings.filter(({ source }) => source !== "default");
  const width = Math.max(0, ...shown.map(({ key }) => key.length));
  const hidden = settings.length - shown.length;
  return [
    "Configuration",
    ...indented(file ?? "none", "     file: "),
    ...shown.flatMap(({ key, variable, value, source }) => {
      const from = source === "environment" ? `environment, ${variable}` : source;
      return indented(`${JSON.stringify(value)} (${from})`, `     ${key.padEnd(width)}  `, " ".repeat(width + 7));
    }),
    ...(hidden > 0 ? [`     ${hidden} settings at their defaults: glovebox doctor --all`] : []),
  ];
}

function field(name: string, text: string | undefined): string[] {
  return text === undefined || text === "" ? [] : indented(text, `     ${`${name}:`.padEnd(12)}`, " ".repeat(17));
}
