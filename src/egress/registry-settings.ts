import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { toolCommand } from "../base/shell-words.ts";
import type { Registry } from "./proxy-messages.ts";

interface RegistrySettingsOptions {
  /** The host's own environment: it may configure the tools. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/** The registries that the host's tools are configured for; the first of a kind is the one that they ask first. */
export interface RegistrySettings {
  readonly registries: readonly Registry[];
  /** The file with the certificates that pip trusts instead of its own, by its settings or a variable; null: none is named. */
  readonly pythonCertificates: string | null;
  /** What could not be asked, one sentence each. */
  readonly problems: readonly string[];
}

const answerMs = 20_000;

/**
 * Asks the host's npm and pip which registries they use, independent of any project: a project's files must not add
 * trusted hosts.
 */
export async function readRegistrySettings(options: RegistrySettingsOptions): Promise<RegistrySettings> {
  const [npm, help, pip] = await Promise.all([
    npmRegistries(options),
    askPip(["download", "--help"], options),
    askPip(["config", "list"], options),
  ]);
  const python = pythonIndexes(help ?? "", pip ?? "");
  const problems = [
    ...(npm.length === 0 ? ["npm was not found or did not answer, so no npm registry is allowed."] : []),
    ...(python.length === 0 ? ["pip was not found or did not answer, so no Python index is allowed."] : []),
  ];
  return { registries: [...npm, ...python], pythonCertificates: pythonCertificates(pip ?? "", options), problems };
}

/** Variables that lead npm, Bun and pip to the registries, without their passwords. */
export function registryVariables(registries: readonly Registry[]): Readonly<Record<string, string>> {
  return {
    ...npmVariables(registries.find(({ kind }) => kind === "npm")),
    ...pipVariables(registries.filter(({ kind }) => kind === "python")),
  };
}

function npmVariables(registry: Registry | undefined): Record<string, string> {
  const url = registry === undefined ? null : withoutPassword(registry.url);
  return url === null ? {} : { npm_config_registry: url, BUN_CONFIG_REGISTRY: url };
}

function pipVariables(registries: readonly Registry[]): Record<string, string> {
  const [first, ...further] = registries.flatMap(({ url }) => withoutPassword(url) ?? []);
  if (first === undefined) return {};
  const plain = [first, ...further].filter((url) => url.startsWith("http:")).map((url) => new URL(url).hostname);
  return {
    PIP_INDEX_URL: first,
    ...(further.length === 0 ? {} : { PIP_EXTRA_INDEX_URL: further.join(" ") }),
    ...(plain.length === 0 ? {} : { PIP_TRUSTED_HOST: plain.join(" ") }),
  };
}

/** A registry's password is the operator's, not the program's (SPEC EN3). */
function withoutPassword(text: string): string | null {
  const url = URL.parse(text);
  if (url === null) return null;
  url.username = "";
  url.password = "";
  return url.href;
}

/** `registry` and those of scopes, such as `@company:registry`. */
async function npmRegistries(options: RegistrySettingsOptions): Promise<readonly Registry[]> {
  const text = await ask("npm", ["config", "list", "--json"], options);
  if (text === null) return [];
  const settings = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const names = Object.keys(settings).filter((name) => name.endsWith(":registry"));
  return ["registry", ...names].flatMap((name) => {
    const url = settings[name];
    return typeof url === "string" ? [{ kind: "npm", url } as const] : [];
  });
}

/** pip shows in its help which index it would ask, wherever that is configured, and lists further ones as settings. */
function pythonIndexes(help: string, settings: string): readonly Registry[] {
  const first = /--index-url <url>.{0,500}?\(default\s{1,100}(\S{1,2000}?)\)/s.exec(help)?.[1];
  const further = [...settings.matchAll(/^(?:\S+\.)\.?extra-index-url='([^']*)'$/gm)].flatMap(([, urls = ""]) =>
    urls.split(/\\n|\s+/),
  );
  return [first ?? "", ...further].filter((url) => /^https?:/.test(url)).map((url) => ({ kind: "python", url }));
}

/** In pip's own order: its settings, of which a variable counts more than a file, then the variables that it knows. */
function pythonCertificates(settings: string, { environment }: RegistrySettingsOptions): string | null {
  const set = [...settings.matchAll(/^(:env:|global|install)\.\.?cert='([^']{1,4096})'$/gm)];
  const first = [":env:", "install", "global"].flatMap((place) => set.filter(([, from]) => from === place))[0]?.[2];
  const variables = ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"];
  return [first, ...variables.map((name) => environment[name])].find((file) => (file ?? "") !== "") ?? null;
}

async function askPip(args: readonly string[], options: RegistrySettingsOptions): Promise<string | null> {
  const wide = { ...options, environment: { ...options.environment, COLUMNS: "1000" } };
  const module = ["-m", "pip", ...args];
  return (
    (await ask("pip", args, wide)) ??
    (await ask("pip3", args, wide)) ??
    (await ask("python3", module, wide)) ??
    // Windows knows Python by this name.
    ask("python", module, wide)
  );
}

async function ask(
  program: string,
  args: readonly string[],
  { environment, platform }: RegistrySettingsOptions,
): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(...toolCommand(program, args, platform), {
      // No project lies there.
      cwd: "/",
      env: { ...environment },
      timeout: answerMs,
      maxBuffer: 4 * 1024 * 1024,
    });
    return stdout;
  } catch {
    // Missing or broken: then the host is configured for none of that kind.
    return null;
  }
}
