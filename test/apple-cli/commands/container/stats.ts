import type { Context, Work } from "../../context.ts";
import type { Found } from "../../docker/containers.ts";
import { CommandError } from "../../output/command-error.ts";
import type { JsonObject } from "../../output/swift-json.ts";
import { tableOf } from "../../output/table.ts";
import { printList } from "../print-list.ts";

interface DockerStats {
  readonly cpu_stats: { readonly cpu_usage: { readonly total_usage: number } };
  readonly memory_stats: { readonly usage?: number };
  readonly pids_stats: { readonly current?: number };
  readonly networks?: Readonly<Record<string, { readonly rx_bytes: number; readonly tx_bytes: number }>>;
  readonly blkio_stats: { readonly io_service_bytes_recursive: readonly { op: string; value: number }[] | null };
}

/** Time between the two samples that Apple's command takes. */
const betweenSamplesMs = 2000;

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, betweenSamplesMs));

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

async function sample({ api }: Context, { name, configuration }: Found): Promise<JsonObject> {
  const stats = await api.json<DockerStats>("GET", `/containers/${name}/stats?stream=false&one-shot=true`);
  const networks = Object.values(stats.networks ?? {});
  const blocks = (op: string): number =>
    sum((stats.blkio_stats.io_service_bytes_recursive ?? []).filter((row) => row.op === op).map(({ value }) => value));
  return {
    blockReadBytes: blocks("Read"),
    blockWriteBytes: blocks("Write"),
    cpuUsageUsec: Math.floor(stats.cpu_stats.cpu_usage.total_usage / 1000),
    id: configuration.id,
    memoryLimitBytes: configuration.memoryBytes,
    memoryUsageBytes: stats.memory_stats.usage,
    networkRxBytes: sum(networks.map(({ rx_bytes: bytes }) => bytes)),
    networkTxBytes: sum(networks.map(({ tx_bytes: bytes }) => bytes)),
    numProcesses: stats.pids_stats.current,
  };
}

async function namedContainers({ containers, options }: Context): Promise<readonly Found[]> {
  const ids = options.arguments;
  const found = ids.length === 0 ? await containers.list() : await Promise.all(ids.map((id) => containers.find(id)));
  const missing = found.findIndex((each) => each === undefined);
  if (missing >= 0) throw new CommandError("notFound", `no such container: ${ids[missing]}`);
  return found.filter((each) => each !== undefined).filter(({ status }) => status.state === "running");
}

const header = ["Container ID", "Cpu %", "Memory Usage", "Net Rx/Tx", "Block I/O", "Pids"];

const rowOf = (json: JsonObject): readonly string[] => [
  json["id"] as string,
  "0.00%",
  `${json["memoryUsageBytes"] as number} B / ${json["memoryLimitBytes"] as number} B`,
  `${json["networkRxBytes"] as number} / ${json["networkTxBytes"] as number}`,
  `${json["blockReadBytes"] as number} / ${json["blockWriteBytes"] as number}`,
  `${json["numProcesses"] as number}`,
];

/** Shows what running containers use; by default as an endless table. */
export const stats: Work = async (context) => {
  const { options, say } = context;
  const found = await namedContainers(context);
  await pause();
  for (;;) {
    const json = await Promise.all(found.map((each) => sample(context, each)));
    if (options.has("no-stream") || options.one("format") === "json") {
      printList(context, { json, names: [], header, rows: json.map(rowOf) });
      return;
    }
    say.out(`\u001b[?1049h\u001b[H${tableOf(header, json.map(rowOf))}`);
    await pause();
  }
};
