import { readSecret } from "../../config/read-secret.ts";
import type { PlatformParts } from "./platform-parts.ts";
import type { LimitKind } from "../../policy/limits.ts";
import { checkEnvironment } from "../../policy/request/environment.ts";
import { chooseSecrets, type RequestedSecrets } from "../../policy/secrets.ts";
import type { ProgramSecret } from "../../sandbox/program-secret.ts";

/** Who requests secrets, and for what. */
export interface SecretsAsker {
  readonly principal: string;
  readonly kind: LimitKind;
  /** Variables that the request itself sets. */
  readonly taken: readonly string[];
}

/**
 * The current values of the secrets that a request names.
 * @throws INVALID_REQUEST for a name that is not available to it and for too many bytes in total, UNSUPPORTED for a
 * secret without a value
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
