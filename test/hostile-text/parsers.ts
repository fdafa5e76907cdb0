import { z } from "zod";

/** A function of the sources, whatever it takes. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Call = (...values: readonly any[]) => unknown;
/** How a function is given a text of 1 MiB; `other` loads another function of the same file. */
export type Feed = (call: Call, text: string, other: (name: string) => Call) => unknown;

const asText: Feed = (call, text) => call(text);
const asBytes: Feed = (call, text) => call(Buffer.from(text));
const asLines: Feed = (call, text) => call(text.split("\n"));
/** As a caller cuts a text that it gives bit by bit. */
const inPieces =
  (characters: number, feed: Feed): Feed =>
  (call, text, other) => {
    for (let at = 0; at < text.length; at += characters) feed(call, text.slice(at, at + characters), other);
  };
/** Where texts are refused that are longer. */
const upTo =
  (characters: number, feed: Feed): Feed =>
  (call, text, other) =>
    feed(call, text.slice(0, characters), other);
const inFiles =
  (...names: readonly string[]): Feed =>
  (call, text) =>
    call(Object.fromEntries(names.map((name) => [name, text])), "npm ci");

const request = z.strictObject({ limits: z.strictObject({ memory_mb: z.number() }), code: z.string() });
const range = { bytes: new Uint8Array([127, 0, 0, 1]), bits: 8 };
const failure = (text: string): object => ({ stderr: text, files: new Map() });

/** Functions that take the text alone. */
const ofText = [
  "src/base/id.ts isCreatedId",
  "src/base/mount-table.ts parseMountTable",
  "src/base/packaged-script.ts unixLines",
  "src/cli/output/terminal-text.ts escapeControls",
  "src/cli/output/terminal-text.ts escapeLine",
  "src/base/process-stat.ts parseProcessStat",
  "src/base/shell-words.ts shellQuoted",
  "src/base/streams/utf8.ts utf8Length",
  "src/base/upstream-version.ts parseUpstreamVersion",
  "src/config/json-error-position.ts jsonErrorPosition",
  "src/config/section-schemas.ts readDomain",
  "src/e2b/envd/file-entries.ts parseAttributes",
  "src/e2b/serve-interpreter.ts parseShownJson",
  "src/e2b/interpreter-execution.ts findLanguage",
  "src/engines/apple/command-format.ts parseContainers",
  "src/engines/apple/command-format.ts parseObject",
  "src/engines/apple/command-format.ts parseObjects",
  "src/engines/apple/command-format.ts isServiceRunning",
  "src/engines/apple/command-format.ts parseVersion",
  "src/engines/apple/command-format.ts parseVolumes",
  "src/engines/apple/apple-errors.ts failureKind",
  "src/engines/apple/apple-errors.ts failureWords",
  "src/engines/apple/apple-errors.ts isServiceFailure",
  "src/engines/apple/open-apple.ts looksLikeNetworkTimeout",
  "src/engines/control-groups.ts parseCpuTimeMs",
  "src/engines/control-groups.ts parseDiskBytes",
  "src/engines/control-groups.ts parseCacheBytes",
  "src/engines/control-groups.ts parseOomKills",
  "src/engines/docker-api/engine.ts parseGvisorVersion",
  "src/engines/docker-api/http/client-settings.ts parseSshAddress",
  "src/engines/image-errors.ts pullReason",
  "src/engines/local/bubblewrap/bubblewrap-host.ts explainFailure",
  "src/engines/local/group-owner.ts parseGroupOwner",
  "src/engines/local/preload/preload-run.ts parseStatus",
  "src/engines/local/preload/preload-run.ts parsePs",
  "src/http/http-server.ts digest",
  "src/ingress/upstream.ts isBackendPath",
  "src/ingress/upstream.ts mayLeaveApi",
  "src/ingress/http-heads.ts referrerPolicy",
  "src/ingress/http-heads.ts withoutForeignReports",
  "src/ingress/own-credentials.ts percentDecoded",
  "src/ingress/http-heads.ts namedByConnection",
  "src/keys/key-record.ts parseKeysFile",
  "src/keys/key-record.ts digestOf",
  "src/keys/key-record.ts idOf",
  "src/library/objects/base64.ts fromBase64",
  "src/mcp/install-server.ts readJson",
  "src/mcp/install-server.ts readToml",
  "src/base/plain-text.ts plainText",
  "src/mcp/tools/tool-profiles.ts parseProfiles",
  "src/operations/contract/request-schemas.ts splitLabel",
  "src/packages/install.ts cannotReachRegistry",
  "src/packages/install.ts findsNoVersion",
  "src/packages/find-installer.ts parseInstaller",
  "src/policy/image-reference.ts isRegistry",
  "src/policy/image-reference.ts spellingOf",
  "src/policy/mounts/blocked-pattern.ts isPattern",
  "src/policy/network/ip-address.ts addressKind",
  "src/policy/principal.ts isPrincipal",
  "src/policy/network/ip-address.ts parseAddressRange",
  "src/policy/network/domain-names.ts canonicalName",
  "src/policy/network/domain-names.ts parsePort",
  "src/policy/network/ip-address.ts parseAddress",
  "src/policy/network/upstream-proxy.ts parseNoProxy",
  "src/policy/request/requested-program.ts checkCode",
  "src/policy/git-files.ts gitConfigPaths",
  "src/sandbox/copy/copy-out.ts nothingInside",
  "src/sandbox/files/inside-path.ts insidePath",
  "src/workloads/agent/agent-protocol.ts parseAgentOutput",
  "src/workloads/agent/commands/json-fields.ts parseJsonObject",
  "src/workloads/agent/memory-index.ts passagesOf",
  "src/workloads/agent/runner-input.ts readInput",
  "src/workloads/dependencies/dockerfile/provide-project-image.ts contextIgnore",
  "src/workloads/dependencies/dockerfile/parse-dockerfile.ts parseDockerfile",
  "src/workloads/dependencies/dockerfile/path-pattern.ts parsePattern",
  "src/workloads/dependencies/dockerfile/parse-dockerfile.ts splitDockerfile",
  "src/workloads/dependencies/installers.ts pyprojectPackages",
  "src/workloads/manifest.ts parseManifest",
  "src/workloads/preview/watch-server.ts parseListeningPorts",
  "src/workloads/project/read-project.ts readManifest",
  "src/workloads/preview/error-scanner.ts headOf",
  "src/workloads/preview/error-scanner.ts isRecovery",
  "src/workloads/preview/error-scanner.ts provesError",
  "src/languages/imported-modules.ts importedModules",
  "src/languages/python.ts codingNotices",
  "src/workloads/program/typescript-compiler.ts needsExperimentalDecorators",
  "src/workloads/proof/attack-programs.ts parametersOf",
  "src/workloads/run/explain-program.ts explainFailure",
  "src/workloads/session/variables/notebook-code.ts readMappings",
  "src/workloads/tests/command-variables.ts choosesNodeReporter",
  "src/workloads/tests/report/summarise-reports.ts parseBunReport",
  "src/workloads/tests/report/parse-tool-report.ts parseCargoReport",
  "src/workloads/tests/runner-table.ts countBunSummaries",
  "src/workloads/tests/verdict.ts firstLine",
  "src/workloads/tests/runner-table.ts runnerNamedIn",
];

/** The same as bytes. */
const ofBytes = [
  "src/base/json-text.ts assertBoundedJson",
  "src/e2b/envd/file-entries.ts parseEntries",
  "src/e2b/envd/rpc-stream.ts parseEnvelope",
  "src/base/streams/utf8.ts invalidUtf8Offset",
  "src/base/streams/utf8.ts leadingPart",
  "src/base/streams/utf8.ts trailingPart",
  "src/engines/supervised/container/supervised-container.ts questionName",
  "src/library/objects/base64.ts toBase64",
  "src/mcp/json-rpc.ts parseJsonRpc",
  "src/mcp/serve-over-stdio.ts parseMessage",
  "src/egress/message-head.ts readClientHello",
  "src/workloads/project/ignore-rules.ts parseGitIgnore",
  "src/policy/git-files.ts gitIndexLinks",
  "src/sandbox/files/tree-archive.ts parsePaxRecords",
  "src/workloads/session/variables/read-report.ts readReport",
];

/** Those that take more. */
const others: Readonly<Record<string, Feed>> = {
  "src/base/bytes.ts parseBytes": (call, text) => call(text, "field"),
  "src/base/id.ts findNamed": (call, text) => call(text, [{ id: text, name: null }, { id: "sbx-abcd" }], "sandbox"),
  "src/e2b/e2b-sandbox.ts findTemplate": (call, text) =>
    call({ templates: [{ name: "base" }, { name: text }] }, `${text}?`),
  "src/cli/output/error-report.ts coloured": (call, text) => call(text, "red", process.stderr),
  "src/cli/output/option-words.ts withOptionWords": (call, text) => call(text, null),
  "src/cli/output/terminal-text.ts indented": (call, text) => call(text, "  "),
  "src/languages/language-table.ts codeNotices": (call, text) => call(text, "python"),
  "src/languages/language-table.ts languageNamed": asText,
  "src/workloads/program/compile-files.ts withPlainSpecifiers": (call, text) =>
    call("a.ts", Buffer.from(`npm:${text}`)),
  "src/workloads/project/tracked-tree.ts ewahPositions": (call, text) => [
    ...(call(Buffer.from(text), 1_000_000) as Iterable<number>),
  ],
  "src/workloads/run/describe-work.ts describeWork": (call, text) =>
    call("run", text, { text: (words: string) => words }),
  "src/operations/settle.ts decodeBase64": (call, text) => call(text, "field"),
  "src/base/duration.ts parseDuration": (call, text) => call(text, "field"),
  "src/config/host/host-paths.ts expandHome": (call, text) => call(text, "/home/x"),
  "src/config/load-mount-policy.ts parseAllowlist": (call, text) => call(text, "allowlist"),
  "src/engines/apple/apple-images.ts parseImage": (call, text) => call(text, "arm64"),
  "src/engines/apple/apple-place.ts parseStats": (call, text) => call(text, "id"),
  "src/engines/control-groups.ts parseCgroupPlaces": (call, text) => call(text, text),
  "src/engines/control-groups.ts findGroup": (call, text) => call(text, "id", { version1: new Map(), version2: null }),
  "src/engines/docker-api/http/ssh-stream.ts sshFailure": (call, text) => call({ exitCode: 1, said: text }),
  "src/engines/image-errors.ts pullFailed": (call, text) => call("image:1", text),
  "src/engines/local/bubblewrap/bubblewrap-host.ts namespacesUnavailable": (call, text) => call(text, {}),
  "src/engines/local/preload/guard-command.ts splitRunner": asLines,
  "src/e2b/serve-interpreter.ts outputEvent": (call, text) => call("stdout", text, 0),
  "src/e2b/interpreter-execution.ts inInterpreter": (call, text) => [call("bash", text), call("python", text)],
  "src/http/byte-routes.ts readRange": (call, text) => call({ range: text }),
  "src/egress/message-head.ts readHead": (call, text) => call(["host", text, "via", text], "1.1"),
  "src/ingress/http-heads.ts pairsOf": asLines,
  "src/library/objects/camel.ts toCamelPath": (call, text) => call(text, request),
  "src/library/objects/camel.ts toCamelText": (call, text) => call(text, request),
  "src/mcp/install-server.ts mergeToml": (call, text) => call(text, ["a", "b"], { c: 1 }),
  "src/base/shell-words.ts wordsAsShellLine": (call, text) => [call([text]), call(text.split("\n"))],
  "src/engines/supervised/channel/stream.ts shownText": (call, text) => call(Buffer.from(text)),
  "src/engines/supervised/folder-files.ts firstRecord": (call, text) => call(Buffer.from(text)),
  "src/engines/supervised/container/program-request.ts parseUser": (call, text) => call(text),
  "src/operations/wrap-server-handler.ts insidePath": (call, text) =>
    call(text, [{ hostPaths: ["/a"], target: "/b" }], "linux"),
  "src/operations/wrap-server-handler.ts readServerCommand": (call, text) => call(["npx", "-y", text]),
  "src/packages/find-imports.ts mayNeedPackages": (call, text) => [
    call({ path: "a.ts", content: text }, "typescript"),
    call({ path: "a.py", content: text }, "python"),
  ],
  "src/packages/install.ts explainInstallFailure": (call, text) =>
    ["npm", "pip", "bun"].map((manager) =>
      call({ manager, ecosystem: manager === "pip" ? "python" : "npm", specs: ["a"], output: text, exitCode: 1 }),
    ),
  "src/packages/python-package.ts pythonPackage": asText,
  "src/policy/known-agents.ts secretAgentVariables": (call, text) =>
    call({ OPENAI_BASE_URL: `http://${text}`, HA_URL: text }),
  "src/policy/image-reference.ts parseImageReference": (call, text) => call(text),
  // Paths, lines of patterns and secrets are no longer than this where they come in.
  "src/policy/mounts/blocked-pattern.ts findBlocked": upTo(4_096, (call, text, other) =>
    call(`/${text}`, other("blockedPatterns")([".ssh", "*.pem"])),
  ),
  "src/workloads/project/ignore-rules.ts parseWild": upTo(16_384, asText),
  "src/policy/redaction.ts secretSpellings": upTo(65_536, asText),
  "src/policy/network/ip-address.ts isAmong": (call, text) => call(text, [range]),
  "src/policy/network/ip-address.ts isOfThisMachine": (call, text) => call(text, [range]),
  "src/policy/network/domain-names.ts matchesName": (call, text) => call({ name: "a.test", subdomains: true }, text),
  "src/policy/network/domain-names.ts parseDomainPattern": (call, text) => call(text, "domains"),
  "src/policy/network/domain-names.ts parseAuthority": (call, text) => call(text, 80),
  "src/policy/install-policy.ts checkPackages": (call, text) => [
    ["npm", "python"].map((each) => attempt(call, text, each)),
  ],
  "src/policy/glob.ts matchesGlob": (call, text) => call(text, [{ alternatives: [["**", "*a*b*", "**", "c*"]] }]),
  "src/policy/glob.ts parseGlobs": (call, text) => call([text]),
  "src/workloads/project/ignore-rules.ts matchesWild": (call, text, other) =>
    call(text, other("parseWild")("*a*/*b*[c-e]*")),
  "src/policy/glob.ts matchesWildcard": (call, text) => call(text, "*a*/*b*c*"),
  "src/policy/request/request-paths.ts checkRelativePath": (call, text) => call(text, "path"),
  "src/sandbox/files/file-error.ts fileError": (call, text) => call("/a", text),
  "src/sandbox/files/tree-archive.ts parseTarHeader": inPieces(512, (call, text) =>
    call(Buffer.from(text.padEnd(512))),
  ),
  "src/sandbox/added-program.ts userNamed": (call, text) => {
    for (const asked of ["app", "a"]) call(asked, text);
  },
  "src/sandbox/files/tree-archive.ts parseTarWords": (call, text) => {
    for (const flag of ["x", "L", "K"]) attempt(call, flag, Buffer.from(text));
  },
  "src/workloads/dependencies/dockerfile/parse-dockerfile.ts expandWords": (call, text) => call(text, () => "value"),
  "src/workloads/dependencies/dockerfile/path-pattern.ts matchesName": (call, text) => call("*a*b?[c-e]*", text),
  "src/workloads/dependencies/choose-image.ts imageOf": (call, text) => call(text, "devcontainer.json"),
  "src/workloads/dependencies/installers.ts keepNodeModules": inFiles(
    ...["package.json", "package-lock.json", "pnpm-workspace.yaml", "pnpm-lock.yaml", ".yarnrc.yml"],
  ),
  "src/workloads/dependencies/installers.ts keepPoetry": inFiles("pyproject.toml"),
  "src/workloads/dependencies/installers.ts keepRequirements": inFiles("requirements.txt"),
  "src/workloads/dependencies/installers.ts keepUv": inFiles("pyproject.toml"),
  "src/workloads/dependencies/installers.ts manifestOf": inFiles("package.json"),
  "src/workloads/dependencies/tool-variables.ts shellLine": (call, text) => call(text, { readsInput: true }),
  "src/workloads/environment/environment-command.ts lockWarnings": (call, text) => call([".git/hooks", "a"], text),
  "src/workloads/execute/artifacts.ts describeContent": (call, text) => call("a.txt", Buffer.from(text)),
  "src/workloads/place/place-files.ts editText": (call, text) =>
    [text.slice(0, 1000), `${text.slice(0, 5000)}x`].map((oldText) =>
      attempt(call, text, { oldText, newText: "y", all: true }),
    ),
  // The scanner takes 500 characters of a line and 30 lines of an error.
  "src/workloads/preview/error-scanner.ts placeOfError": inPieces(500, asLines),
  "src/workloads/preview/watch-server.ts likeliestFirst": upTo(65_536, (call, text) => call([3000, 5173], text)),
  "src/workloads/preview/find-server.ts serverPort": (call, text) => call("npm run dev", { dev: text }),
  "src/workloads/program/typescript-compiler.ts firstCompilerError": (call, text) => call(text, { path: "a.ts" }),
  "src/workloads/program/program-failure.ts missingModule": (call, text) =>
    ["python", "node", "bun"].map((toolchain) => call(toolchain, text)),
  "src/languages/javascript.ts findBunSyntaxError": (call, text) => call(failure(text)),
  "src/languages/javascript.ts findNodeSyntaxError": (call, text) => call(failure(text)),
  "src/languages/python.ts findPythonSyntaxError": (call, text) => call(failure(text)),
  "src/workloads/tests/report/summarise-reports.ts parseFileReport": (call, text) => call(text, "/work"),
  "src/workloads/tests/report/parse-tool-report.ts parseGoReport": (call, text) => call(text, "/work"),
  "src/workloads/tests/report/test-report.ts parseReport": (call, text) => call(text, "/work"),
  "src/workloads/tests/test-phase.ts verifiedReport": (call, text) => call(Buffer.from(text), "key"),
  "src/workloads/tests/test-phase.ts verifiedText": (call, text) => call(Buffer.from(text), "key"),
  "src/workloads/tests/runner-table.ts findSummary": (call, text) =>
    ["pytest", "jest", "vitest", "mocha", "node:test", "bun", "unittest"].map((runner) => call(runner, text)),
};

/** Goes on after a refusal: it is an answer. */
function attempt(call: Call, ...values: readonly unknown[]): unknown {
  try {
    return call(...values);
  } catch (error) {
    if (error instanceof TypeError) throw error;
    return error;
  }
}

/** Every function that is fed, by file and name. */
export const fed: ReadonlyMap<string, Feed> = new Map([
  ...ofText.map((name) => [name, asText] as const),
  ...ofBytes.map((name) => [name, asBytes] as const),
  ...Object.entries(others),
]);

const makesError = "makes an error or an answer of ours; reads nothing";
const asks = "asks an engine, a file system or a sandbox; takes no text apart";
const separate = "runs in a process of its own with a deadline and limits";

/** Functions with a text that is not fed, and why not. */
export const notFed: Readonly<Record<string, string>> = {
  "src/base/http/connections.ts answerAndClose": makesError,
  "src/base/streams/chunks.ts textBytes": "encodes a text of ours",
  "src/egress/proxy-process.ts proxyError": makesError,
  "src/engines/docker-api/http/client-settings.ts parseAddress": "an address of the operator's",
  "src/engines/docker/docker-engine.ts parseDockerHost": "an address of the operator's",
  "src/engines/kubernetes/pod-terms.ts noRuntime": makesError,
  "src/engines/local/bubblewrap/host-tools.ts findHostTools": "the PATH of the process itself",
  "src/engines/local/host-bun.ts findBunBinary": asks,
  "src/mcp/install-server.ts mergeJson": "the person's own settings, read by the person's own command",
  "src/mcp/json-rpc.ts failure": makesError,
  "src/operations/contract/program-schema.ts programText": "joins lines of ours",
  "src/operations/sandboxes-handler.ts findSandboxes": asks,
  "src/packages/set-folder.ts linkFile": asks,
  "src/packages/npm-packages.ts findSpecifiers": separate,
  "src/packages/parse-javascript.ts parseJavaScript": separate,
  "src/packages/python-packages.ts findModules": separate,
  "src/policy/network/egress-policy.ts denyAuthority": makesError,
  "src/transfer/local-files.ts saveFile": asks,
  "src/workloads/dependencies/install-dependencies.ts withPackageInfo": "puts a line of ours before a line",
  "src/sandbox/copy/archive.ts archiveOf": asks,
  "src/sandbox/copy/on-host.ts findOnHost": asks,
  "src/sandbox/copy/copy-out.ts treeOut": asks,
  "src/workloads/dependencies/install-dependencies.ts explainInstallation": makesError,
  "src/workloads/proof/attack-programs.ts parseSaid": "what attacks of our own print",
  "src/workloads/session/variables/notebook-code.ts notebookCode": separate,
};
