import { GloveboxError } from "../../errors/glovebox-error.ts";

/**
 * Options and arguments of commands that correspond to a request's field; where several do, each command has one of
 * them.
 */
const optionsOf: Readonly<Record<string, readonly string[]>> = {
  agent: ["AGENT"],
  args: ["ARGS"],
  artifacts: ["--artifact"],
  code: ["--code", "FILE"],
  command: ["COMMAND"],
  context_files: ["--file"],
  cwd: ["--cwd"],
  dockerfile: ["--dockerfile"],
  engine: ["--engine"],
  environment: ["--env"],
  filename: ["FILE"],
  image: ["--image"],
  include_ignored: ["--include-ignored"],
  language: ["--language"],
  "limits.cpus": ["--cpus"],
  "limits.disk_mb": ["--disk"],
  "limits.memory_mb": ["--memory"],
  "limits.pids": ["--pids"],
  "limits.timeout_seconds": ["--timeout"],
  ids: ["IDS"],
  id: ["ID"],
  min_isolation: ["--min-isolation"],
  name: ["--name"],
  network: ["--network"],
  oci_runtime: ["--oci-runtime"],
  only_tests: ["--only"],
  packages: ["--packages"],
  port: ["--port"],
  project_path: ["--project", "PATH"],
  project_root: ["--project"],
  read_only: ["--read-only"],
  report_file: ["--report-file"],
  runtime: ["--runtime"],
  sandbox_id: ["ID"],
  secrets: ["--secret"],
  setup_command: ["--setup"],
  test_command: ["COMMAND"],
  timeout_seconds: ["--timeout"],
  trusted_files: ["--trusted"],
};

/** What a command takes: its options as typed, its arguments in capitals. */
export type TypedWords = ReadonlySet<string>;

const place = String.raw`(?:\[(?:\d+|"[^"]*")\]|\.\w+)*`;
const names = Object.keys(optionsOf).map((name) => name.replaceAll(".", String.raw`\.`));
/** Names that are not English words: they mean the field wherever they occur. */
const unmistakable = names.filter((name) => /[_.]/.test(name));
const anywhere = new RegExp(String.raw`(?<![\w.-])(${unmistakable.join("|")})(?:\[\d+\])?(?![\w.]*\w)`, "g");
const atStart = new RegExp(String.raw`^(Correct |Set |)(${names.join("|")})${place}(?=: |\.|,| to | and )`);

/** Values that advice spells as in a request, as typed on the command line. */
const spelled: readonly (readonly [text: RegExp, option: string, value: string])[] = [
  [/\bpackages: (?:\["([^"\s]+)"\]|"(auto)")/g, "--packages", "$1$2"],
  [/\bpackages: \[\]/g, "--packages", "none"],
  [/\bengine: "(\w+)"/g, "--engine", "$1"],
  [/\bport: (\d+)/g, "--port", "$1"],
];

/** The text with the field's name replaced by the option that was typed; `typed` null: by that of any command. */
export function withOptionWords(text: string, typed: TypedWords | null): string {
  const option = (field: string): string => {
    const options = optionsOf[field] ?? [];
    return (typed === null ? options[0] : options.find((each) => typed.has(each))) ?? field;
  };
  const inOptions = spelled.reduce((words, [pattern, name, value]) => {
    if (typed !== null && !typed.has(name)) return words;
    return words.replaceAll(pattern, `${name} ${value}`);
  }, text);
  return inOptions
    .replace(/^The request is not valid: /, "")
    .replace(
      /(?<=The program chose this host: if you trust it, add "[^"]{1,300}" to |hosts that it needs in )the run's network(?=\.$|, )/,
      (whole) => {
        const name = option("network");
        return name === "network" ? whole : name;
      },
    )
    .replace(atStart, (whole, verb: string, field: string) => {
      const name = option(field);
      return name === field ? whole : `${verb}${name}`;
    })
    .replaceAll(anywhere, (whole, field: string) => {
      const name = option(field);
      return name === field ? whole : name;
    })
    .replace(/ and send (?:it|the request) again\.$/, ".");
}

/** The error in terms of the command that was typed. */
export function inOptionWords(error: GloveboxError, typed: TypedWords | null): GloveboxError {
  const { errorType, message, suggestion, context, cause } = error;
  return new GloveboxError(errorType, withOptionWords(message, typed), {
    suggestion: withOptionWords(suggestion, typed),
    context,
    cause,
  });
}

/** The option by which a command names what it starts, and what it says. */
export const nameOption = [
  "--name <name>",
  "your own word for it, by which ps, logs, exec, shell, cp, stats and rm find it",
] as const;

/** How commands about a live sandbox take it. */
export const sandboxWords = "its name or id as glovebox ps shows them, or the first characters of the id";

/** The option that leaves out everything but a command's results and errors. */
export const quietOption = [
  "-q, --quiet",
  "no progress, warnings or refused connections on stderr; errors stay",
] as const;
