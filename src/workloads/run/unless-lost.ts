import type { CallOptions } from "../../engines/engine.ts";
import { isSandboxLoss } from "../../errors/glovebox-error.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

/**
 * What is read from a sandbox; null when that ends meanwhile. The helper that reads dies with it, which can look as if
 * there were less to read. @throws as `read`, and CANCELLED
 */
export async function unlessLost<T>(
  sandbox: Pick<Sandbox, "isAlive">,
  read: Promise<T>,
  options: CallOptions,
): Promise<T | null> {
  try {
    const found = await read;
    return (await sandbox.isAlive(options)) ? found : null;
  } catch (error) {
    if (isSandboxLoss(error)) return null;
    throw error;
  }
}
