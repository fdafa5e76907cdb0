import { afterAll, beforeAll, beforeEach } from "vitest";
import { connectMcp, type McpConnection } from "./mcp-client.ts";
import type { TestedOwner } from "./owner-table.ts";
import { useOwnSandboxes } from "./own-sandboxes.ts";
import { skipOrFail } from "./require.ts";
import { runCommand, type CommandOptions, type CommandResult } from "./run-command.ts";
import { sessionImages } from "./test-images.ts";

/** A sandbox in a separate process, as an agent would have it. */
export interface OwnedSandbox {
  readonly id: string;
  readonly connection: McpConnection;
  /** Starts a program of the owner's that runs this shell line, and does not wait for its end. */
  readonly start: (line: string) => Promise<unknown>;
  /** Runs `glovebox` beside it. */
  readonly glovebox: (argv: readonly string[], options?: CommandOptions) => Promise<CommandResult>;
  readonly environment: Readonly<Record<string, string>>;
}

/** A live sandbox of another process for the tests of a `describe`; `renew` makes a new one when a test has ended it. */
export function useOwnedSandbox(owner: TestedOwner): {
  readonly current: () => OwnedSandbox;
  readonly renew: () => Promise<void>;
} {
  const own = useOwnSandboxes();
  let sandbox: OwnedSandbox | undefined;
  let problem: string | null = null;
  const renew = async (): Promise<void> => {
    const environment = { ...own.environment(), GLOVEBOX_IMAGE_SESSION: sessionImages.session };
    const connection = await connectMcp({ mode: "legacy" }, ["--engine", owner.engine], environment).catch(failureText);
    if (typeof connection === "string") {
      problem = connection;
      return;
    }
    const made = await connection.call(...owner.make);
    if (made.isError === true) {
      await connection.client.close();
      problem = JSON.stringify(made.structuredContent ?? made.content);
      return;
    }
    const listed = await runCommand(["ps", "--json"], { environment });
    const { sandboxes } = JSON.parse(listed.stdout) as { sandboxes: { sandbox_id: string; owner: string }[] };
    const id = sandboxes.findLast((row) => row.owner === "living")?.sandbox_id ?? "none";
    sandbox = {
      id,
      connection,
      environment,
      start: (line) => connection.call(...owner.start(line), { timeout: 600_000 }).catch((error: unknown) => error),
      glovebox: (argv, options) => runCommand(argv, { ...options, environment }),
    };
  };
  beforeAll(renew);
  beforeEach((context) => {
    if (problem !== null) skipOrFail(context, owner.engine, problem);
  });
  afterAll(() => sandbox?.connection.client.close());
  return {
    current: () => {
      if (sandbox === undefined) throw new Error("The sandbox is there only while tests run.");
      return sandbox;
    },
    renew,
  };
}

function failureText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
