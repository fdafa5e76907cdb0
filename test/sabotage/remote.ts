import type { Sabotage } from "./sabotage.ts";

export const remoteSabotages: readonly Sabotage[] = [
  {
    id: "remote: a key reaches another's sandbox",
    file: "src/operations/live-sandbox-handler.ts",
    find: "const isOwn = isOperator ||",
    replace: "const isOwn = principal !== null ||",
    test: "test/security/remote-attacks.test.ts",
    name: "excludes everyone else",
  },
  {
    id: "remote: a key sees the values of secrets in what it runs",
    file: "src/operations/live-sandbox-handler.ts",
    find: "{ withSecrets: isOperator }",
    replace: "{ withSecrets: id.length > 0 }",
    test: "test/security/remote-attacks.test.ts",
    name: "does not see the values of secrets",
  },
  {
    id: "remote: output does not wait for its reader",
    file: "src/live/live-connection.ts",
    find: "this.#credit -= piece.length;",
    replace: "this.#credit -= 0;",
    test: "test/security/remote-attacks.test.ts",
    name: "by reading nothing holds its program up",
  },
  {
    id: "remote: input beside that of the request is lost",
    file: "src/live/live-connection.ts",
    find: "else if (this.#bringsInput) this.#refuseInput();",
    replace: "else if (this.#bringsInput) return;",
    test: "test/security/remote-attacks.test.ts",
    name: "by input beside a request that has it",
  },
];
