import type { Sabotage } from "./sabotage.ts";

const control = "test/e2e/e2b-control.test.ts";

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
];
