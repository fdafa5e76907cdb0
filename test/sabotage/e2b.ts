import type { Sabotage } from "./sabotage.ts";

const control = "test/e2e/e2b-control.test.ts";
const files = "test/e2e/e2b-files.test.ts";
const processes = "test/e2e/e2b-processes.test.ts";

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
    id: "e2b: programs need no token",
    file: "src/e2b/envd/serve-sandbox.ts",
    find: 'if (typeof token !== "string" || !context.sandboxes.isToken(sandbox, token)) {',
    replace: 'if (typeof token !== "string") {',
    test: processes,
    name: "are closed without their sandbox's token",
  },
  {
    id: "e2b: an envelope may say another length",
    file: "src/e2b/envd/rpc/envelope.ts",
    find: "if (length !== body.length - headBytes) {",
    replace: "if (length > 2 ** 32) {",
    test: "src/e2b/envd/rpc/envelope.test.ts",
    name: "are refused with",
  },
  {
    id: "e2b: another user is not refused",
    file: "src/e2b/envd/rpc/serve-rpc.ts",
    find: 'if (user !== "" && user !== "user")',
    replace: 'if (user === "nobody")',
    test: processes,
    name: "are closed without their sandbox's token",
  },
  {
    id: "e2b: a sandbox has processes without end",
    file: "src/e2b/envd/processes/process-table.ts",
    find: "this.live(sandbox).length < maxLive",
    replace: "this.live(sandbox).length >= 0",
    test: "src/e2b/envd/processes/process-table.test.ts",
    name: "are bounded in each sandbox",
  },
  {
    id: "e2b: a compressed upload counts as little as it was sent",
    file: "src/e2b/envd/files/read-upload.ts",
    find: "inFlight.hold(principal, maxBytes)",
    replace: "inFlight.hold(principal)",
    test: "src/e2b/envd/files/read-upload.test.ts",
    name: "counts what a compressed upload may become",
  },
];
