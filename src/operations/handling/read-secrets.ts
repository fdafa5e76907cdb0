import { readSecret } from "../../config/secrets/read-secret.ts";
import type { PlatformParts } from "./platform-parts.ts";
import type { LimitKind } from "../../policy/limits/limits.ts";
import { checkEnvironment } from "../../policy/request/environment.ts";
import { chooseSecrets, type RequestedSecrets } from "../../policy/secrets.ts";
import type { ProgramSecret } from "../../sandbox/secrets/program-secret.ts";

/** Who asks for secrets, and for what. */
export interface SecretsAsker {
  readonly principal: string;
  readonly kind: LimitKind;
  /** Variables that the request sets by itself. */
  readonly taken: readonly string[];
}

/**
 * The values that a request names, as their sources have them now.
 * @throws INVALID_REQUEST for a name that is not offered to it and for too many bytes in all, UNSUPPORTED for a secret that has no value
 */
export async function readSecrets(
  { config, host }: Pick<PlatformParts, "config" | "host">,
  requested: RequestedSecrets,
  asker: SecretsAsker,
): Promise<readonly ProgramSecret[]> {
  const chosen = chooseSecrets(requested, config.secrets, asker);
  const secrets = await Promise.all(
    chosen.map(async ({ variable, offer }) => ({
      variable,
      name: offer.name,
      value: await readSecret(offer, host),
    })),
  );
  checkEnvironment(Object.fromEntries(secrets.map(({ variable, value }) => [variable, value])), "secrets");
  return secrets;
}
