import { readServerAddress, type ServerAddress } from "../config/server-access.ts";
import type { OperationCall, OperationContract, ResponseOf } from "../operations/contract/operation-contract.ts";
import { parseRequest } from "../operations/contract/parse-request.ts";
import type { Caller } from "../library/objects/calls.ts";
import { plainLog } from "./command-io.ts";
import path from "node:path";
import { invalidField } from "../errors/glovebox-error.ts";

/** A command's request, with the wire's names, which `--json` uses too. */
export interface CommandCalls extends AsyncDisposable {
  /** Whether a server does the work. */
  readonly isRemote: boolean;
  /**
   * A project's folder as whoever does the work knows it; left out: the current folder, where that is the same machine.
   * @throws INVALID_REQUEST for a folder that only this machine could know
   */
  readonly projectPath: (given: string | undefined) => string;
  /** @throws GloveboxError */
  readonly send: <Contract extends OperationContract>(
    contract: Contract,
    request: unknown,
    call: Omit<OperationCall, "principal" | "connection">,
  ) => Promise<ResponseOf<Contract>>;
}

/**
 * Opens the server of `GLOVEBOX_URL`, or else this process's own Glovebox.
 * @throws INVALID_REQUEST when the configuration is not valid
 */
export async function openCalls(): Promise<CommandCalls> {
  const address = await readServerAddress();
  const { call, principal, close } = address === null ? await openOwn() : await openRemote(address);
  return {
    isRemote: address !== null,
    projectPath: (given) => (address === null ? (given ?? ".") : pathOnServer(given, address)),
    send: async (contract, request, how) => call(contract, parseRequest(contract, request), { ...how, principal }),
    [Symbol.asyncDispose]: close,
  };
}

// Each is loaded on use: a client needs no engine, and a machine's own Glovebox no client.
async function openOwn(): Promise<Caller> {
  const { openEmbeddedCaller } = await import("../library/embedded-caller.ts");
  // It ends before there could be another run.
  return openEmbeddedCaller({ keepsWarm: false, openLog: () => plainLog(process.stderr) });
}

async function openRemote(address: { readonly url: string; readonly key: string | undefined }): Promise<Caller> {
  const { openHttpCaller } = await import("../client/http-caller.ts");
  const { withCopies } = await import("../transfer/copy-with-server.ts");
  return withCopies(openHttpCaller(address), { platform: process.platform, workingDirectory: process.cwd() });
}

/**
 * A folder as a server knows it, whose own current folder is not the user's: on this machine a relative path, and none,
 * mean what they mean here.
 * @throws INVALID_REQUEST for a path that is not absolute, on another machine
 */
export function pathOnServer(given: string | undefined, { isLoopback }: Pick<ServerAddress, "isLoopback">): string {
  if (given !== undefined && (path.posix.isAbsolute(given) || path.win32.isAbsolute(given))) return given;
  if (isLoopback) return path.resolve(given ?? ".");
  throw invalidField("PATH", "an absolute path of a folder on the server of GLOVEBOX_URL", given ?? "nothing");
}
