import { invalidField } from "../../errors/glovebox-error.ts";
import { definedOnly, limitsOfOptions, parseNetworkOption, parseVariable, secretsOf } from "../run/run-options.ts";
import { toShellLine } from "../run/shell-line.ts";

/** Options of `glovebox preview` as the parser leaves them. */
export interface PreviewCommandOptions {
  readonly port?: string;
  readonly open?: true;
  readonly name?: string;
  readonly quiet?: boolean;
  readonly engine?: string;
  readonly image?: string;
  readonly dockerfile?: boolean;
  readonly setup?: string;
  readonly timeout?: string;
  readonly memory?: string;
  readonly cpus?: string;
  readonly disk?: string;
  readonly env: readonly string[];
  readonly secret: readonly string[];
  readonly includeIgnored?: boolean;
  readonly network?: string;
  readonly minIsolation?: string;
  readonly json?: boolean;
}

/** The request that the options ask for, without the project's folder; values are checked by the operation. @throws INVALID_REQUEST naming the option */
export function requestOfPreview(command: readonly string[], options: PreviewCommandOptions): Record<string, unknown> {
  return definedOnly({
    command: command.length === 0 ? undefined : toShellLine(command),
    port: parsePort(options.port),
    setup_command: options.setup,
    name: options.name,
    environment: options.env.length > 0 ? Object.fromEntries(options.env.map(parseVariable)) : undefined,
    secrets: options.secret.length > 0 ? secretsOf(options.secret) : undefined,
    include_ignored: options.includeIgnored,
    limits: limitsOfOptions(options),
    network: parseNetworkOption(options.network),
    image: options.image,
    dockerfile: options.dockerfile,
    engine: options.engine,
    min_isolation: options.minIsolation,
    wait_seconds: 0,
  });
}

function parsePort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw invalidField("--port", "a port from 1 to 65535, such as 5173", text);
  return port;
}
