import type { Sabotage } from "./sabotage.ts";

export const previewsSabotages: readonly Sabotage[] = [
  {
    id: "previews: cookies reach other previews",
    file: "src/ingress/headers/response-headers.ts",
    find: 'if (lower === "set-cookie") return [name, withoutDomain(value)];',
    replace: 'if (lower === "set-cookies") return [name, withoutDomain(value)];',
    test: "test/security/preview-proxy.test.ts",
    name: "cookies are for this preview alone",
  },
  {
    id: "previews: interim answers without end",
    file: "src/ingress/send-inside.ts",
    find: "if (++interim > max.interim)",
    replace: "if (++interim < 0)",
    test: "test/security/preview-proxy.test.ts",
    name: "endless interim answers is 502",
  },
  {
    id: "previews: API keys reach the program",
    file: "src/ingress/headers/request-headers.ts",
    find: "const ownKey = /^bearer +gbx_/i;",
    replace: "const ownKey = /^bearer +none_/i;",
    test: "test/security/preview-proxy.test.ts",
    name: "requests come from localhost",
  },
  {
    id: "previews: any Host reaches a preview's own listener",
    file: "src/ingress/direct-listener.ts",
    find: "const isOwn = isNamed || isDirectHost(host, portOf(server));",
    replace: 'const isOwn = isNamed || isDirectHost(host, portOf(server)) || host !== "";',
    test: "test/security/preview-proxy.test.ts",
    name: "only its own names lead",
  },
  {
    id: "previews: paths lead out of /api",
    file: "src/ingress/preview-gate.ts",
    find: "if (isBackendPath(url) && leadsUp(url)) return unclearRequest;",
    replace: "if (isBackendPath(url) && leadsUp(url)) return null;",
    test: "test/security/preview-proxy.test.ts",
    name: "go to the backend with the page's own origin",
  },
  {
    id: "previews: WebSockets of foreign pages",
    file: "src/ingress/direct-listener.ts",
    find: "else if (origin !== undefined && origin !== originText(outer))",
    replace: 'else if (origin === "")',
    test: "test/security/preview-sockets.test.ts",
    name: "are refused as the program refuses them, and to foreign pages",
  },
];
