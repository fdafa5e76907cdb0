import type { Sabotage } from "./sabotage.ts";

const control = "test/e2e/e2b-control.test.ts";
const files = "test/e2e/e2b-files.test.ts";

export const e2bSabotages: readonly Sabotage[] = [
  {
    id: "e2b: a sandbox belongs to every key",
    file: "src/e2b/sandboxes/e2b-sandboxes.ts",
    find: "return sandbox?.caller.principal === principal ? sandbox : null;",
    replace: "return principal === '' ? null : sandbox;",
    test: control,
    name: "closes every id of one key to another key",
  },
  {
    id: "e2b: a list shows every key's sandboxes",
    file: "src/e2b/control/control-routes.ts",
    find: "const own = sandboxes.list(caller.principal);",
    replace: "const own = caller.principal === '' ? [] : sandboxes.list();",
    test: control,
    name: "closes every id of one key to another key",
  },
  {
    id: "e2b: pages of other origins may call",
    file: "src/e2b/e2b-server.ts",
    find: "if (refusal !== null) throw",
    replace: "if (refusal !== null && rules.allowedHosts.includes('x')) throw",
    test: control,
    name: "answers nothing without a key of its own",
  },
  {
    id: "e2b: what a client asks for and does not get is ignored",
    file: "src/e2b/control/create-request.ts",
    find: "  refuseUnserved(asked, asksForInternet);\n",
    replace: "  if (asked.templateID === '') refuseUnserved(asked, asksForInternet);\n",
    test: control,
    name: "refuses by name what it does not have",
  },
  {
    id: "e2b: sandboxes outlive the key that made them",
    file: "src/cli/commands/serve-command.ts",
    find: "      forE2b?.endPrincipal(principal);\n      void platform.endPrincipal(principal);\n",
    replace: "      if (principal === '') forE2b?.endPrincipal(principal);\n",
    test: control,
    name: "ends the sandboxes of a key that is revoked",
  },
  {
    id: "e2b: a file needs no token",
    file: "src/e2b/envd/files/file-access.ts",
    find: "if (!isRight) throw",
    replace: "if (!isRight && named === null) throw",
    test: files,
    name: "are closed without the sandbox's token",
  },
  {
    id: "e2b: a link is good for ever",
    file: "src/e2b/envd/files/file-access.ts",
    find: "if (hasExpired(file, platform.now())) throw",
    replace: "if (hasExpired(file, 0)) throw",
    test: files,
    name: "have links that are good for one file and its time",
  },
  {
    id: "e2b: a signature is good for every file",
    file: "src/e2b/envd/files/signature.ts",
    find: "return secretCheck(signatureOf(file, token))(shown);",
    replace: "return shown.startsWith('v1_') || secretCheck(signatureOf(file, token))(shown);",
    test: "src/e2b/envd/files/signature.test.ts",
    name: "are good for one path",
  },
  {
    id: "e2b: what an upload unpacks to has no bound",
    file: "src/e2b/envd/files/read-upload.ts",
    find: "{ maxOutputLength: maxBytes }",
    replace: "{ maxOutputLength: 100 * maxBytes }",
    test: files,
    name: "stay inside the sandbox and within bounds",
  },
];
