import type { Sabotage } from "./sabotage.ts";

export const consoleSabotages: readonly Sabotage[] = [
  {
    id: "console: characters act that turn or hide what stands around them",
    file: "src/console/text/visible-text.ts",
    find: "parts.push({ text: nameOf(character), isMark: true });",
    replace: "parts.push({ text: character, isMark: true });",
    test: "src/console/text/visible-text.test.ts",
    name: "names what acts or hides",
  },
  {
    id: "console: a page holds all lines of a log",
    file: "src/console/log/log-window.ts",
    find: "lines.length - first > windowBounds.lines ||",
    replace: "",
    test: "src/console/log/log-window.test.ts",
    name: "holds the newest of a million lines",
  },
  {
    id: "console: the token stays in the address",
    file: "src/console/session.ts",
    find: 'history.replaceState(null, "", `${location.pathname}#/`);',
    replace: "",
    test: "test/e2e/console.test.ts",
    name: "is the fragment's token",
  },
  {
    id: "console: the token goes to whoever listens on the port",
    file: "src/cli/console/console-address.ts",
    find: "if (proof !== serverProof(key, { nonce, port })) throw foreignServer(page.origin);",
    replace: "if (proof === serverProof(key, { nonce, port: 0 })) throw foreignServer(page.origin);",
    test: "test/e2e/console-command.test.ts",
    name: "is given no token",
  },
  {
    id: "console: every page may frame it",
    file: "src/http/console/console-routes.ts",
    find: "    \"frame-ancestors 'none'\",\n",
    replace: "",
    test: "test/e2e/console.test.ts",
    name: "is framed by no other page",
  },
  {
    id: "console: pages of any origin on loopback call the API",
    file: "src/base/http/judge-request.ts",
    find: "=== host.toLowerCase()",
    replace: "!== undefined",
    test: "src/base/http/judge-request.test.ts",
    name: "takes pages of its own name and port",
  },
];
