import type { Context, Work } from "../context.ts";
import { CommandError, ProgramEnd } from "../output/command-error.ts";
import { indented, oneLine, type JsonObject } from "../output/swift-json.ts";
import { tableOf } from "../output/table.ts";
import { isAtLeast } from "../parser/version.ts";
import { isStopped, mendByRestart, setStopped } from "../state/faults.ts";

const commit = "0190097d1c2b3a4f5e6d7c8b9a0f1e2d3c4b5a69";

/** What `--version` prints, and what the daemon says about itself. */
export function versionLine(program: string, version: string): string {
  return `${program} version ${version} (build: release, commit: ${commit.slice(0, 7)})`;
}

/** Whether the daemon answers; `unregistered` after it has been stopped. */
export function daemonState({
  fault,
  folder,
}: Pick<Context, "fault" | "folder">): "running" | "not running" | "unregistered" {
  if (isStopped(folder)) return "unregistered";
  return fault === "daemon-down" || fault === "daemon-broken" ? "not running" : "running";
}

function statusJson({ settings, folder }: Context, status: string): JsonObject {
  const { version } = settings;
  const isUp = status === "running";
  const [appRoot, installRoot, logRoot] = [`${folder}/app/`, `${folder}/`, `${folder}/log/`];
  if (isAtLeast(version, "1.4.1")) {
    if (!isUp) return { status };
    const server = { version, build: "release", commit, appName: "container-apiserver" };
    return { status, paths: { appRoot, installRoot, logRoot }, server };
  }
  const about = (text: string): string => (isUp ? text : "");
  return {
    apiServerAppName: about("container-apiserver"),
    apiServerBuild: about("release"),
    apiServerCommit: about(commit),
    apiServerVersion: about(versionLine("container-apiserver", version)),
    appRoot: about(appRoot),
    installRoot: about(installRoot),
    ...(isAtLeast(version, "1.0.0") ? { logRoot: about(logRoot) } : {}),
    status,
  };
}

/** Says whether the daemon answers: exit 1 when it does not. */
export const status: Work = async (context) => {
  const { options, say } = context;
  const state = daemonState(context);
  if (options.one("format") === "json") say.out(oneLine(statusJson(context, state)));
  else if (state === "unregistered") say.out("apiserver is not running and not registered with launchd");
  else if (state === "not running") say.out("apiserver is not running");
  else {
    const rows = Object.entries(statusJson(context, state)).map(([name, value]) => [name, value as string]);
    say.out(tableOf(["FIELD", "VALUE"], rows));
  }
  if (state !== "running") throw new ProgramEnd(1);
};

/** Names the versions of the command and, if it answers, of the daemon. */
export const version: Work = async (context) => {
  const { options, say, settings } = context;
  const own = { appName: "container", buildType: "release", commit, version: settings.version };
  const daemon = isAtLeast(settings.version, "1.4.1")
    ? settings.version
    : versionLine("container-apiserver", settings.version);
  const server = { appName: "container-apiserver", buildType: "release", commit, version: daemon };
  const all = daemonState(context) === "running" ? [own, server] : [own];
  if (options.one("format") === "json") say.out(oneLine(all));
  else {
    const rows = all.map((each) => [each.appName, each.version, each.buildType, each.commit]);
    say.out(tableOf(["COMPONENT", "VERSION", "BUILD", "COMMIT"], rows));
  }
};

/** Starts the daemon; it does not ask any questions, because a kernel is always there. */
export const startDaemon: Work = async ({ fault, folder, say, settings }) => {
  const line = (text: string): void => (isAtLeast(settings.version, "1.0.0") ? say.err(text) : say.out(text));
  line("Launching container-apiserver...");
  line("Testing access to container-apiserver...");
  if (fault === "daemon-broken") {
    throw new CommandError(
      "internalError",
      "failed to get a response from apiserver: XPC timeout for request to com.apple.container.apiserver/ping",
    );
  }
  setStopped(folder, false);
  mendByRestart(folder);
  line("Verifying machine API server is running...");
};

/** Stops all containers, and the daemon. */
export const stopDaemon: Work = async ({ api, containers, folder, say }) => {
  say.out("stopping containers");
  const running = (await containers.list()).filter(({ status }) => status.state === "running");
  await Promise.all(
    running.map(async ({ name, configuration }) => {
      await api.json("POST", `/containers/${name}/stop?t=5`);
      say.out(configuration.id);
    }),
  );
  setStopped(folder, true);
  say.out("stopping service: com.apple.container.apiserver");
};

/** Roughly what containers, images and volumes use on disk. */
export const diskUsage: Work = async ({ containers, images, options, say }) => {
  const all = await containers.list();
  const active = all.filter(({ status }) => status.state === "running").length;
  const of = (total: number, used: number): JsonObject => ({ active: used, reclaimable: 0, sizeInBytes: 0, total });
  const usage = {
    containers: of(all.length, active),
    images: of((await images.references()).length, 0),
    volumes: of(0, 0),
  };
  if (options.one("format") === "json") say.out(indented(usage));
  else {
    const rows = Object.entries(usage).map(([name, { total }]) => [name, `${total as number}`]);
    say.out(tableOf(["TYPE", "TOTAL"], rows));
  }
};
